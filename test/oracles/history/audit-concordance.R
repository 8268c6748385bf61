# Concordance of curves on a grid under late entry and weights: survival::concordance with Surv(entry, time, event).
# Times are bins and entries are the bins before the first at risk, so R's pairs are those of the grid; R also compares
# an event with a censoring at the same time. Written to audit-concordance.json.
library(survival)
set.seed(3)
n <- 120
risk <- round(rnorm(n), 1)
time <- sample(2:12, n, TRUE)
entry <- pmax(0, time - sample(1:12, n, TRUE))
event <- rbinom(n, 1, .6)
weight <- round(rexp(n) + .1, 2)
count <- function(...) {
  fit <- concordance(Surv(entry, time, event) ~ risk, reverse = TRUE, ...)
  as.list(fit$count[c("concordant", "discordant", "tied.x")])
}
numbers <- function(x) paste0("[", paste(format(x, digits = 17, trim = TRUE), collapse = ","), "]")
pairs <- function(x) sprintf('{"concordant":%s,"discordant":%s,"tied":%s}',
  format(x[[1]], digits = 17), format(x[[2]], digits = 17), format(x[[3]], digits = 17))
cat(sprintf('{"risk":%s,"time":%s,"entry":%s,"event":%s,"weight":%s,"plain":%s,"weighted":%s}\n',
  numbers(risk), numbers(time), numbers(entry), numbers(event), numbers(weight),
  pairs(count()), pairs(count(weights = weight))), file = "audit-concordance.json")
