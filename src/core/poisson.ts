/**
 * Tails of a count that is Poisson, by the incomplete gamma function: P(X ≤ k) = Q(k + 1, m), P(X ≥ k) = P(k, m). Where
 * the mean itself is uncertain, gamma distributed with mean m and variance V, the count is negative binomial of size
 * r = m²/V, by the incomplete beta function: P(X ≤ k) = I_q(r, k + 1), P(X ≥ k) = I_{1−q}(k, r), q = r/(r + m). Each
 * tail is computed as such where it is small, never as one minus the other. Checked against R's ppois and pnbinom in
 * test/stats/clash.test.ts.
 */
import { betaRegularised, logGamma, logGammaUpper } from "./distributions.ts";
import { exp, expm1, log } from "./elementary.ts";

/** A term of this share of the sum no longer changes it. */
const NEGLIGIBLE = 1.1e-16;

/** P(X ≤ k) for X Poisson with this mean. */
export function poissonLowerTail(k: number, mean: number): number {
  return k < 0 ? 0 : exp(logGammaUpper(k + 1, mean));
}

/** P(X ≥ k) for X Poisson with this mean. */
export function poissonUpperTail(k: number, mean: number): number {
  if (k <= 0) return 1;
  if (mean === 0) return 0;
  if (k <= mean) return -expm1(logGammaUpper(k, mean));
  // Above the mean every term is smaller than the one before it: Σ e^−m m^j / j!, j = k, k + 1, …
  let term = 1;
  let sum = 1;
  for (let j = k + 1; term > sum * NEGLIGIBLE; j++) {
    term *= mean / j;
    sum += term;
  }
  return exp(k * log(mean) - mean - logGamma(k + 1)) * sum;
}

/** P(X ≤ k) for X negative binomial of this size and mean. */
export function negativeBinomialLowerTail(k: number, size: number, mean: number): number {
  return k < 0 ? 0 : betaRegularised(size / (size + mean), size, k + 1, mean / (size + mean));
}

/** P(X ≥ k) for X negative binomial of this size and mean. */
export function negativeBinomialUpperTail(k: number, size: number, mean: number): number {
  return k <= 0 ? 1 : betaRegularised(mean / (size + mean), k, size, size / (size + mean));
}

/**
 * A mean whose variance is at most this share of it is taken as certain: the count's own variance is the mean, so the
 * tails differ by about this share. The incomplete beta function has ten digits up to a size of 10⁶ and loses one with
 * every further factor of ten, so below this share the Poisson tails are the better ones.
 */
export const CERTAIN_UP_TO = 1e-8;

/**
 * Twice the smaller tail of a count, at most 1: the exact test of a mean, which may have a variance of its own. It is
 * without mid-p, and so conservative. A mean of 0 is certain, whatever its variance: no gamma distribution has it.
 */
export function countTwoSided(count: number, mean: number, varianceOfMean: number): number {
  if (mean === 0 || varianceOfMean <= CERTAIN_UP_TO * mean)
    return twiceSmaller(poissonLowerTail(count, mean), poissonUpperTail(count, mean));
  const size = (mean / varianceOfMean) * mean;
  return twiceSmaller(
    negativeBinomialLowerTail(count, size, mean),
    negativeBinomialUpperTail(count, size, mean),
  );
}

function twiceSmaller(lower: number, upper: number): number {
  return Math.min(1, 2 * Math.min(lower, upper));
}
