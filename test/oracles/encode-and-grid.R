# Makes encode-and-grid.json: R's own treatment contrasts, medians, means and product limits on the bundled tables.
# Run from the root of the repository: Rscript test/oracles/encode-and-grid.R   (survival, jsonlite)
library(survival)
library(jsonlite)
nwtco <- read.csv("datasets/nwtco/nwtco.csv")
flchain <- read.csv("datasets/flchain/flchain.csv")

bins <- function(time, T, horizon) pmin(pmax(ceiling(time * T / horizon), 1), T)
end <- function(time, event) {
  fit <- survfit(Surv(time, event) ~ 1)
  last <- summary(fit, times = max(time))
  list(survival = last$surv, standardError = last$std.err)
}
gaps <- function(time, event, Ts) list(
  raw = end(time, event),
  binned = lapply(Ts, function(T) c(list(T = T), end(bins(time, T, max(time)), event))))

# Rows 1, 41, 81, … of flchain train; ten others are encoded.
population_sd <- function(x) sqrt(mean((x - mean(x))^2))
encoding <- function(d, train, others) {
  numbers <- c("age", "kappa", "lambda", "creatinine")
  scales <- lapply(setNames(numbers, numbers), function(name) {
    x <- d[[name]][train]; m <- median(x, na.rm = TRUE); x[is.na(x)] <- m
    list(median = m, mean = mean(x), sd = population_sd(x))
  })
  encoded <- sapply(numbers, function(name) {
    x <- d[[name]][others]; s <- scales[[name]]; x[is.na(x)] <- s$median; (x - s$mean) / s$sd
  })
  list(scales = scales, values = cbind(encoded, mm(d[others, ], d[train, ])))
}
# One-hot by model.matrix with treatment contrasts, levels from the training rows.
mm <- function(new, training) {
  f <- data.frame(sex = factor(new$sex, levels = sort(unique(training$sex))),
                  flc.grp = factor(new$flc.grp, levels = sort(unique(training$flc.grp))))
  model.matrix(~ sex + flc.grp, f)[, -1]
}
train <- seq(1, nrow(flchain), by = 40)
others <- setdiff(seq_len(nrow(flchain)), train)[c(1:5, 3001:3005)]
e <- encoding(flchain, train, others)

cat(toJSON(list(
  about = "made by encode-and-grid.R",
  source = paste0("R ", getRversion(), ", survival ", packageVersion("survival")),
  nwtco = gaps(nwtco$edrel, nwtco$rel, c(10, 102)),
  flchain = gaps(flchain$futime, flchain$death, c(10, 102)),
  encoding = list(others = others, scales = e$scales, names = colnames(e$values), values = unname(e$values))
), auto_unbox = TRUE, digits = NA, pretty = TRUE), file = "test/oracles/encode-and-grid.json")
