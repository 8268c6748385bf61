/**
 * Tails of the Poisson distribution by the incomplete gamma function: P(X ≤ k) = Q(k + 1, m), P(X ≥ k) = P(k, m). Each
 * tail is computed as such where it is small, never as one minus the other. Checked against R's ppois in
 * test/stats/clash.test.ts.
 */
import { logGamma, logGammaUpper } from "./distributions.ts";
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

/** Twice the smaller tail of a count, at most 1: the exact test of a mean without mid-p, which is conservative. */
export function poissonTwoSided(count: number, mean: number): number {
  return Math.min(1, 2 * Math.min(poissonLowerTail(count, mean), poissonUpperTail(count, mean)));
}
