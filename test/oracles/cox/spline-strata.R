# Cox with natural splines of every number and a baseline for each stratum of three groups, on gbsg: by ns(x, 4), and by
# the basis of paper/src/studies/cox-strata.ts, whose coefficients can be compared.
#   Rscript test/oracles/cox/spline-strata.R > test/oracles/cox/spline-strata.json
library(survival)
library(splines)
d <- read.csv("test/tables/gbsg.csv")
d$g1 <- as.integer(d$meno == 1)
d$g2 <- as.integer(d$hormon == 1)
d$g3 <- as.integer(d$grade == 3)
bend <- function(x, k) {
  q <- quantile(x, 0:4 / 4, names = FALSE)
  u <- (x - q[1]) / (q[5] - q[1])
  q <- (q - q[1]) / (q[5] - q[1])
  p <- function(v) pmax(v, 0)^3
  p(u - q[k]) - p(u - q[4]) * (q[5] - q[k]) / (q[5] - q[4]) + p(u - q[5]) * (q[4] - q[k]) / (q[5] - q[4])
}
control <- coxph.control(eps = 1e-13, iter.max = 100, toler.chol = 1e-14)
basis <- coxph(
  Surv(rfstime, status) ~ age + size + nodes + pgr + er +
    bend(age, 1) + bend(age, 2) + bend(age, 3) + bend(size, 1) + bend(size, 2) + bend(size, 3) +
    bend(pgr, 1) + bend(pgr, 2) + bend(pgr, 3) + bend(er, 1) + bend(er, 2) + bend(er, 3) + strata(g1, g2, g3),
  data = d, control = control
)
spline <- coxph(
  Surv(rfstime, status) ~ ns(age, 4) + ns(size, 4) + nodes + ns(pgr, 4) + ns(er, 4) + strata(g1, g2, g3),
  data = d, control = control
)
terms <- coxph(
  Surv(rfstime, status) ~ ns(age, 4) + ns(size, 4) + nodes + ns(pgr, 4) + ns(er, 4) + g1 + g2 + g3,
  data = d, control = control
)
# The first person of every stratum and the last, at times of the whole follow-up.
key <- paste0(d$g1, d$g2, d$g3)
rows <- sort(unique(c(match(unique(key), key), nrow(d) + 1 - match(unique(key), rev(key)))))
times <- c(100, 300, 500, 900, 1500, 2000, 2500)
curves <- function(fit) {
  lapply(rows, function(i) summary(survfit(fit, newdata = d[i, ]), times = times, extend = TRUE)$surv)
}
strata <- lapply(sort(unique(key)), function(k) c(sum(key == k), sum(d$status[key == k])))
row <- function(values) paste0("[", paste(format(values, digits = 17, trim = TRUE), collapse = ","), "]")
rowsof <- function(lists) paste(sapply(lists, row), collapse = ",")
cat(sprintf(
  paste0(
    '{"r":"%s","survival":"%s","coefficients":%s,"logLikelihood":%s,"rows":%s,"times":%s,"strata":[%s],',
    '"curves":[%s],"curvesOfTerms":[%s]}\n'
  ),
  R.version.string, packageVersion("survival"), row(unname(coef(basis))),
  row(c(basis$loglik[2], spline$loglik[2], terms$loglik[2])),
  row(rows - 1), row(times), rowsof(strata), rowsof(curves(spline)), rowsof(curves(terms))
))
