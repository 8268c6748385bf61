# Writes the public tables of the study of late entry, changing covariates and weights (paper/plans/follow.json) as CSV.
# All are data of R's package survival. Start-stop rows have id, start, time and event; late entries entry, time, event;
# a case-cohort has weight, 0 for those outside of it.
#   Rscript follow-tables.R FOLDER
suppressMessages(library(survival))
folder <- commandArgs(trailingOnly = TRUE)[1]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
write <- function(name, outcome, features)
  write.csv(data.frame(outcome, features), file.path(folder, paste0(name, ".csv")), row.names = FALSE, na = "")
columns <- function(table, without) table[, setdiff(names(table), without)]

# Stanford's heart transplants: a person's row ends when the heart comes.
write("heart", with(heart, data.frame(id, start, time = stop, event)),
  heart[, c("age", "year", "surgery", "transplant")])

# Primary biliary cirrhosis: a row from each visit to the next, the last to death, transplantation or the end.
last <- !duplicated(pbcseq$id, fromLast = TRUE)
stops <- ifelse(last, pbcseq$futime, c(pbcseq$day[-1], NA))
write("pbcseq", data.frame(id = pbcseq$id, start = pbcseq$day, time = stops,
  event = as.integer(last & pbcseq$status == 2)),
  columns(pbcseq, c("id", "futime", "status", "day", "chol")))

# Chronic granulomatous disease: infections recur, and a row begins after each; `before` counts those before.
write("cgd", with(cgd, data.frame(id, start = tstart, time = tstop, event = status)),
  data.frame(before = cgd$enum - 1, cgd[, c("treat", "sex", "age", "height", "weight", "inherit", "steroids",
    "propylac", "hos.cat")]))

# Age is the clock, and the diagnosis is the entry. Ages are whole years; everybody is followed for a day at least.
days <- pmax(mgus2$futime * 30.4375, 1)
write("mgus2-age", with(mgus2, data.frame(entry = age, time = round(age + days / 365.25, 4), event = death)),
  mgus2[, c("sex", "dxyr", "hgb", "creat", "mspike")])

# Myeloma: time runs from the diagnosis, and many came to the clinic later.
write("myeloma", with(myeloma, data.frame(entry, time = futime, event = death)), data.frame(year = myeloma$year))

# Wilms tumour as a case-cohort: all with a relapse, and a random part of the others, which stands for all of them.
control <- nwtco$rel == 0
taken <- nwtco$in.subcohort | !control
share <- sum(taken & control) / sum(control)
weight <- ifelse(!taken, 0, ifelse(control, round(1 / share, 6), 1))
write("nwtco-cohort", with(nwtco, data.frame(time = edrel, event = rel, weight)),
  nwtco[, c("instit", "histol", "stage", "study", "age")])
