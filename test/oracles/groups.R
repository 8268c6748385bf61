# Makes splits.json and paper-groups.json, in R, from the survival package's own copies of the tables:
#   Rscript test/oracles/groups.R
# Splits: set.seed(seed); sample(n); the first floor(0.6 n) are training rows (t), half of the rest validation (v), the others
# test (x); one character per row. Groups: values of single columns with at least 100 training rows, by decreasing size (ties:
# listing order, values ascending), left out when they hold more than 80 % of an earlier group, where "all" and the
# named groups are the earliest; each with its number of training rows.
library(survival)
library(jsonlite)
folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))

settings <- list(
  nwtco = list(
    columns = c("histol", "instit", "stage", "study"),
    named = list("age < 24" = quote(age < 24), "24 <= age < 48" = quote(age >= 24 & age < 48), "age >= 48" = quote(age >= 48))
  ),
  flchain = list(
    columns = c("sex", "flc.grp", "mgus", "sample.yr"),
    named = list(
      "sex = F" = quote(sex == "F"), "sex = M" = quote(sex == "M"), "age < 60" = quote(age < 60),
      "60 <= age < 70" = quote(age >= 60 & age < 70), "70 <= age < 80" = quote(age >= 70 & age < 80), "age >= 80" = quote(age >= 80)
    )
  )
)
tables <- list(nwtco = nwtco, flchain = flchain)

split_rows <- function(n, seed) {
  set.seed(seed)
  shuffled <- sample(n)
  n_train <- floor(0.6 * n)
  n_valid <- floor((n - n_train) / 2)
  set <- rep("x", n)
  set[shuffled[1:n_train]] <- "t"
  set[shuffled[n_train + 1:n_valid]] <- "v"
  set
}

choose_groups <- function(table, setting, train) {
  rows <- table[train, ]
  named <- lapply(setting$named, function(test) eval(test, rows))
  earlier <- c(list(all = rep(TRUE, nrow(rows))), named)
  candidates <- list()
  for (column in setting$columns) {
    for (value in sort(unique(rows[[column]]))) {
      candidates[[paste(column, "=", value)]] <- rows[[column]] == value
    }
  }
  size <- sapply(candidates, sum)
  automatic <- list()
  for (k in order(-size)) { # stable
    if (size[k] < 100) next
    share <- sapply(earlier, function(group) sum(group & candidates[[k]]) / sum(group))
    if (any(share > 0.8)) next
    automatic[[names(candidates)[k]]] <- unname(size[k])
    earlier <- c(earlier, candidates[k])
  }
  c(list(all = nrow(rows)), lapply(named, sum), automatic)
}

splits <- list()
groups <- list()
for (name in names(tables)) {
  for (seed in 1:5) {
    set <- split_rows(nrow(tables[[name]]), seed)
    key <- as.character(seed)
    splits[[name]][[key]] <- paste(set, collapse = "")
    groups[[name]][[key]] <- choose_groups(tables[[name]], settings[[name]], set == "t")
  }
}
write_json(splits, file.path(folder, "splits.json"), auto_unbox = TRUE, pretty = 1)
write_json(groups, file.path(folder, "paper-groups.json"), auto_unbox = TRUE)
