/**
 * The ranked probability score as a training loss (Kamran & Wiens 2021), mean over rows:
 *   event in bin t_i     Σ_t (S(t) − 1[t < t_i])²
 *   censored in bin t_i  Σ_{t≤t_i} (S(t) − 1)²
 * and the ranking kernel added to it, a mean over the pairs of uncensored rows with t_i < t_j of exp(−(F_i(t_i) −
 * F_j(t_i))/σ). F = 1 − S, so a pair's term is e^{S_i(t)/σ} · e^{−S_j(t)/σ} at t = t_i and the sum over pairs is Σ_t
 * (sum over the rows dying in t) × (sum over those dying later): events × T, not events². The score of finished curves
 * is stats/scores/rps.ts.
 */

import type { Floats } from "../compute/backend.ts";
import { exp } from "../core/elementary.ts";
import { InputError } from "../core/errors.ts";
import type { BinnedRightCensored } from "../data/outcomes/outcomes.ts";
import { backThroughCurve, fillCurve, openLoss } from "./curves.ts";

/** Mean over rows; adds scale × its gradient to dLogits. */
export function rankedProbability(
  logits: Floats, // [N,T]
  binned: BinnedRightCensored,
  dLogits: Floats | null, // [N,T]
  scale: number,
): number {
  const { N, T, bin, event } = openLoss("the ranked probability score", logits, binned, dLogits);
  if (N === 0) return 0;
  const hazard = new Float64Array(T);
  const survival = new Float64Array(T);
  const dSurvival = new Float64Array(T);
  let score = 0;
  for (let i = 0; i < N; i++) {
    const isEvent = event[i] === 1;
    const through = isEvent ? T : bin[i];
    fillCurve(logits, i * T, through, hazard, survival, 0);
    for (let t = 1; t <= through; t++) {
      const alive = isEvent && t >= bin[i] ? 0 : 1;
      const residual = survival[t - 1] - alive;
      score += residual * residual;
      dSurvival[t - 1] = 2 * residual;
    }
    if (dLogits !== null) {
      backThroughCurve(hazard, survival, 0, dSurvival, through, dLogits, i * T, scale / N);
    }
  }
  return score / N;
}

/** Scale of the ranking term. */
export interface RankingOptions {
  /** Scale σ of the differences in survival. */
  readonly sigma: number;
}

/** The dying and the later-dying of each bin t = 1…T (index t−1); exponentials are relative to the bin's extreme. */
interface PairSums {
  readonly dying: Float64Array; // Σ_i e^{(S_i(t) − high)/σ}, t_i = t
  readonly later: Float64Array; // Σ_j e^{(low − S_j(t))/σ}, t_j > t
  /** Largest S(t) among the dying, −∞ if there are none. */
  readonly high: Float64Array;
  /** Smallest S(t) among those dying later, ∞ if there are none. */
  readonly low: Float64Array;
  readonly pairs: number;
}

function sumPairs(logits: Floats, binned: BinnedRightCensored, sigma: number): PairSums {
  const { T, bin, event } = binned;
  const hazard = new Float64Array(T);
  const survival = new Float64Array(T);
  const dying = new Float64Array(T);
  const later = new Float64Array(T);
  const high = new Float64Array(T).fill(Number.NEGATIVE_INFINITY);
  const low = new Float64Array(T).fill(Number.POSITIVE_INFINITY);
  const deaths = new Float64Array(T);
  for (let i = 0; i < bin.length; i++) {
    if (event[i] !== 1) continue;
    const own = bin[i] - 1;
    deaths[own]++;
    fillCurve(logits, i * T, bin[i], hazard, survival, 0);
    high[own] = Math.max(high[own], survival[own]);
    for (let t = 0; t < own; t++) low[t] = Math.min(low[t], survival[t]);
  }
  // A second pass over the curves: relative to the extremes no exponential can overflow, whatever σ.
  for (let i = 0; i < bin.length; i++) {
    if (event[i] !== 1) continue;
    const own = bin[i] - 1;
    fillCurve(logits, i * T, bin[i], hazard, survival, 0);
    dying[own] += exp((survival[own] - high[own]) / sigma);
    for (let t = 0; t < own; t++) {
      if (deaths[t] > 0) later[t] += exp((low[t] - survival[t]) / sigma);
    }
  }
  let pairs = 0;
  let afterwards = 0;
  for (let t = T - 1; t >= 0; t--) {
    pairs += deaths[t] * afterwards;
    afterwards += deaths[t];
  }
  return { dying, later, high, low, pairs };
}

/** Mean over pairs, 0 if there are no pairs; adds scale × its gradient to dLogits. */
export function rankingKernel(
  logits: Floats, // [N,T]
  binned: BinnedRightCensored,
  options: RankingOptions,
  dLogits: Floats | null, // [N,T]
  scale: number,
): number {
  const { sigma } = options;
  if (!(sigma > 0)) throw new InputError(`sigma is not positive: ${sigma}`, { code: "option.invalid" });
  const { N, T, bin, event } = openLoss("the ranking loss", logits, binned, dLogits);
  const { dying, later, high, low, pairs } = sumPairs(logits, binned, sigma);
  if (pairs === 0) return 0;
  let kernel = 0;
  const level = new Float64Array(T); // e^{(high − low)/σ}, 0 in a bin without pairs
  for (let t = 0; t < T; t++) {
    if (dying[t] === 0 || later[t] === 0) continue;
    level[t] = exp((high[t] - low[t]) / sigma);
    kernel += level[t] * dying[t] * later[t];
  }
  if (dLogits !== null) {
    const hazard = new Float64Array(T);
    const survival = new Float64Array(T);
    const dSurvival = new Float64Array(T);
    for (let i = 0; i < N; i++) {
      if (event[i] !== 1) continue;
      const own = bin[i] - 1;
      fillCurve(logits, i * T, bin[i], hazard, survival, 0);
      for (let t = 0; t < own; t++) {
        dSurvival[t] = level[t] === 0 ? 0 : -level[t] * dying[t] * exp((low[t] - survival[t]) / sigma);
      }
      dSurvival[own] =
        level[own] === 0 ? 0 : level[own] * later[own] * exp((survival[own] - high[own]) / sigma);
      backThroughCurve(hazard, survival, 0, dSurvival, bin[i], dLogits, i * T, scale / (sigma * pairs));
    }
  }
  return kernel / pairs;
}
