# What the scripts of R in this folder begin with: learn.csv and people.csv of a folder, read, missing numbers filled in
# by the median of the rows learnt from and missing words by the commonest, with a linear formula of all columns that
# differ; the scores of people and the steps of a baseline under a Cox model. `folder` and `outcome` are set before.
file_of <- function(name) file.path(folder, name)
learn <- read.csv(file_of("learn.csv"), stringsAsFactors = TRUE, na.strings = c("NA", ""))
people <- read.csv(file_of("people.csv"), stringsAsFactors = TRUE, na.strings = c("NA", ""))
times <- scan(file_of("times.csv"), quiet = TRUE)
features <- setdiff(names(learn), outcome)

for (name in features) {
  known <- learn[[name]][!is.na(learn[[name]])]
  if (is.factor(learn[[name]])) {
    people[[name]] <- factor(people[[name]], levels = levels(learn[[name]]))
    value <- names(which.max(table(known)))
  } else value <- median(known)
  learn[[name]][is.na(learn[[name]])] <- value
  people[[name]][is.na(people[[name]])] <- value
}
features <- features[sapply(features, function(name) length(unique(learn[[name]])) > 1)]
linear <- paste(features, collapse = " + ")

# The hazard's steps at x = 0 and the scores of the people.
score <- function(fit) {
  fit$coefficients[is.na(fit$coefficients)] <- 0
  design <- model.matrix(as.formula(paste("~", linear)), people)[, names(fit$coefficients), drop = FALSE]
  drop(design %*% fit$coefficients)
}
steps_of <- function(fit) {
  base <- basehaz(fit, centered = FALSE)
  list(time = base$time, step = diff(c(0, base$hazard)))
}
