# Natural cubic splines of R's splines package on the knots of src/data/spline.ts: the same curves in another basis.
#   Rscript test/oracles/splines.R > test/oracles/splines.json
library(splines)
knots <- qnorm(c(0.05, 0.275, 0.5, 0.725, 0.95))
z <- seq(-2.5, 2.5, by = 0.25)
basis <- ns(z, knots = knots[2:4], Boundary.knots = knots[c(1, 5)])
row <- function(values) paste0("[", paste(format(values, digits = 17, trim = TRUE), collapse = ","), "]")
columns <- apply(basis, 2, row)
cat(sprintf('{"r":"%s","z":%s,"basis":[%s]}\n', R.version.string, row(z), paste(columns, collapse = ",")))
