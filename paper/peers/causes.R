# Incidences of competing causes by models of R, for the study in paper/src/causes: cause-specific Cox models and
# Fine-Gray models, of all columns as they are (words as factors). The folder holds learn.csv (time, cause, entry where
# people come late, features), people.csv (the same features) and times.csv; F.csv is written, a row a person, F_k at
# every time, cause after cause. Missing numbers have the median of the rows learnt from, missing words the commonest.
#   Rscript causes.R cox|fine-gray FOLDER
suppressMessages(library(survival))
arguments <- commandArgs(trailingOnly = TRUE)
system <- arguments[1]
folder <- arguments[2]
outcome <- c("time", "cause", "entry")
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "columns.R"))
K <- max(learn$cause)

# dF_k = S(t-) dL_k, S the product over all event times of 1 - sum of the causes' steps.
cox <- function() {
  left <- if (is.null(learn$entry)) "Surv(time, cause == k)" else "Surv(entry, time, cause == k)"
  fits <- lapply(1:K, function(cause) {
    learn$k <<- cause
    coxph(as.formula(paste(left, "~", linear)), data = learn)
  })
  scores <- sapply(fits, function(fit) exp(score(fit)))
  steps <- lapply(fits, steps_of)
  at <- sort(unique(unlist(lapply(steps, function(one) one$time[one$step > 0]))))
  jump <- sapply(steps, function(one) {
    found <- match(at, one$time)
    ifelse(is.na(found), 0, one$step[found])
  })
  S <- rep(1, nrow(people))
  F <- matrix(0, nrow(people), K)
  out <- array(0, c(nrow(people), length(times), K))
  t <- 1
  for (e in seq_along(at)) {
    while (t <= length(times) && times[t] < at[e]) { out[, t, ] <- F; t <- t + 1 }
    gained <- scores * rep(jump[e, ], each = nrow(people))
    # Where the steps of a person exceed what is left, they share it.
    over <- pmax(1, rowSums(gained))
    gained <- gained / over
    F <- F + S * gained
    S <- S * (1 - rowSums(gained))
  }
  while (t <= length(times)) { out[, t, ] <- F; t <- t + 1 }
  out
}

# F_k = 1 - exp(-L_k exp(score)), of the subdistribution.
fine_gray <- function() {
  out <- array(0, c(nrow(people), length(times), K))
  learn$state <- factor(learn$cause, 0:K)
  for (k in 1:K) {
    weighted <- finegray(as.formula(paste("Surv(time, state) ~", linear)), data = learn, etype = k)
    fit <- coxph(as.formula(paste("Surv(fgstart, fgstop, fgstatus) ~", linear)),
      data = weighted, weights = fgwt)
    base <- steps_of(fit)
    passed <- c(0, cumsum(base$step))[findInterval(times, base$time) + 1]
    out[, , k] <- 1 - exp(-outer(exp(score(fit)), passed))
  }
  out
}

F <- switch(system, cox = cox(), `fine-gray` = fine_gray())
wide <- do.call(cbind, lapply(1:K, function(k) round(matrix(F[, , k], nrow(people)), 7)))
write.table(wide, file_of("F.csv"), sep = ",", row.names = FALSE, col.names = FALSE)
