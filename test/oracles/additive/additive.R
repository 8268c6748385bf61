# The additive hazard model of src/models/additive-start.ts without priors, as a logistic regression of person-periods with R's glm.
# Reads the rows the test simulates (rows.json: T, knot, share, base, bin, event, x [N][2], g [N][2]); writes additive.json.
suppressMessages(library(jsonlite))
here <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
r <- fromJSON(file.path(here, "rows.json"))
K <- 6
B <- matrix(0, r$T, K)
for (t in seq_len(r$T)) { B[t, r$knot[t] + 1] <- 1 - r$share[t]; B[t, r$knot[t] + 2] <- B[t, r$knot[t] + 2] + r$share[t] }
rows <- do.call(rbind, lapply(seq_along(r$bin), function(i) {
  t <- seq_len(r$bin[i])
  cbind(y = as.numeric(r$event[i] == 1 & t == r$bin[i]), offset = r$base[t], matrix(r$x[i, ], length(t), 2, byrow = TRUE),
    r$g[i, 1] * B[t, , drop = FALSE], r$g[i, 2] * B[t, , drop = FALSE], B[t, , drop = FALSE])
}))
fit <- glm.fit(rows[, -(1:2)], rows[, 1], offset = rows[, 2], family = binomial(), control = list(epsilon = 1e-14, maxit = 100))
eta <- fit$linear.predictors
value <- sum(log1p(exp(eta))) - sum(rows[, 1] * eta)
write(toJSON(list(coefficients = unname(fit$coefficients), negativeLogLikelihood = value), digits = NA, auto_unbox = TRUE), file.path(here, "additive.json"))
