# Cumulative hazards of people under a Cox model of R's survival (Efron), for the study in paper/src/follow. The folder
# holds learn.csv (time, event, entry where rows do not begin at 0, weight where they have one, features), people.csv
# (the same features) and times.csv; H.csv is written, a row a person, H(t) at every time.
#   Rscript follow.R FOLDER
suppressMessages(library(survival))
folder <- commandArgs(trailingOnly = TRUE)[1]
outcome <- c("time", "event", "entry", "weight")
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "columns.R"))

left <- if (is.null(learn$entry)) "Surv(time, event)" else "Surv(entry, time, event)"
of <- if (is.null(learn$weight)) rep(1, nrow(learn)) else learn$weight
fit <- coxph(as.formula(paste(left, "~", linear)), data = learn, weights = of)
base <- steps_of(fit)
passed <- c(0, cumsum(base$step))[findInterval(times, base$time) + 1]
H <- outer(exp(score(fit)), passed)
write.table(signif(H, 10), file_of("H.csv"), sep = ",", row.names = FALSE, col.names = FALSE)
