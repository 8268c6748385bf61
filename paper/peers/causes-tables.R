# Writes the public tables of the study of competing causes (paper/plans/causes.json) as CSV, each with time, event (a
# word, "censored" or a cause) and features. They are data of the R packages survival, riskRegression and timereg.
#   Rscript causes-tables.R FOLDER
suppressMessages({
  library(survival)
  library(riskRegression)
  library(timereg)
})
folder <- commandArgs(trailingOnly = TRUE)[1]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
write <- function(name, time, event, features)
  write.csv(data.frame(time = time, event = event, features),
    file.path(folder, paste0(name, ".csv")), row.names = FALSE, na = "")
word <- function(code, words) c("censored", words)[code + 1]

progressed <- mgus2$pstat == 1
write("mgus2", ifelse(progressed, mgus2$ptime, mgus2$futime),
  ifelse(progressed, "progression", word(mgus2$death, "death")),
  mgus2[, c("age", "sex", "hgb", "creat", "mspike")])

trial <- pbc[1:312, ]
write("pbc", trial$time, word(trial$status, c("transplant", "death")),
  trial[, setdiff(names(trial), c("id", "time", "status"))])

data(Paquid, package = "riskRegression")
write("paquid", Paquid$time, word(Paquid$status, c("dementia", "death")), Paquid[, c("DSST", "MMSE")])

data(bmt, package = "timereg")
write("bmt", bmt$time, word(bmt$cause, c("relapse", "death")), bmt[, c("platelet", "age", "tcell")])

data(Melanoma, package = "riskRegression")
write("melanoma", Melanoma$time, word(Melanoma$status, c("melanoma", "other")),
  Melanoma[, c("invasion", "ici", "epicel", "ulcer", "thick", "sex", "age")])
