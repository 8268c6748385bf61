# Makes curve-readings.json: risks, quantiles and restricted means of two piecewise linear curves, Kaplan-Meier of the
# lung study by sex read at uneven edges, with R's approxfun, uniroot and integrate.
# Run from the root of the repository: Rscript test/oracles/curve-readings.R   (survival)
library(survival)
edges <- c(0, 50, 120, 200, 270, 350, 480, 600, 800)
times <- c(0, 50, 100, 365, 730, 800)
shares <- c(.1, .25, .5, .75, .9)
until <- c(90, 365, 800)

read_curve <- function(S) {
  curve <- approxfun(edges, c(1, S))
  quantile <- sapply(shares, function(p) {
    if (tail(S, 1) > 1 - p) return(NA)
    uniroot(function(t) curve(t) - (1 - p), c(0, 800), tol = 1e-13)$root
  })
  # straight between the edges, so integrated piece by piece
  area <- sapply(until, function(end) {
    cuts <- c(edges[edges < end], end)
    sum(mapply(function(a, b) integrate(curve, a, b, rel.tol = 1e-13)$value, head(cuts, -1), cuts[-1]))
  })
  list(survival = S, risk = 1 - curve(times), quantile = quantile, mean = area)
}

fit <- survfit(Surv(time, status == 2) ~ sex, data = lung)
read <- lapply(1:2, function(k) read_curve(summary(fit[k], times = edges[-1])$surv))
write_numbers <- function(x) {
  paste0("[", paste(ifelse(is.na(x), "null", sprintf("%.17g", x)), collapse = ", "), "]")
}
write_fields <- function(fields) {
  paste0("{ ", paste(sprintf('"%s": %s', names(fields), sapply(fields, write_numbers)), collapse = ",\n      "), " }")
}
source <- sprintf("%s, survival %s", R.version.string, packageVersion("survival"))
text <- c("{", '  "about": "made by curve-readings.R",', sprintf('  "source": "%s",', source),
  sprintf('  "%s": %s,', c("edges", "times", "shares", "until"),
    sapply(list(edges, times, shares, until), write_numbers)),
  '  "curves": [', paste0("    ", sapply(read, write_fields), c(",", "")), "  ]", "}")
writeLines(text, "test/oracles/curve-readings.json")
