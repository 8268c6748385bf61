/**
 * The penalty of X-Cal (Goldstein et al. 2020): Σ_b (frac_b − 1/B)², frac_b the mean over rows of a soft membership of
 * F = 1 − S(t_i) in the bin [lo, hi] of probability, m_b = σ(γ(F−a)(b−F)), where a = lo and b = hi, except a = −1 in
 * the first bin and b = 2 in the last, so that F = 0 and F = 1 are included. An event counts m_b; a censored row's mass
 * lies beyond F: m_b (hi−F)/(1−F) + σ(γ(lo−F)) (1/B)/(1−F). The GRADUATE paper prints /F in the second term (§6.6),
 * which is not a probability; X-Cal's own formula has 1 − F. S is read at the end of the row's bin. The hard-binned
 * test is stats/calibration/d-calibration.ts.
 */

import type { Floats } from "../compute/backend.ts";
import { exp, square } from "../core/elementary.ts";
import { InputError } from "../core/errors.ts";
import type { BinnedRightCensored } from "../data/outcomes/outcomes.ts";
import { fillCurve, openLoss } from "./curves.ts";

/** Bins and steepness of the X-Cal term. */
export interface XCalOptions {
  /** Bins of predicted probability; 20 unless given. */
  readonly bins?: number;
  /** Steepness of the membership; the reference's 1e4. */
  readonly gamma?: number;
}

export const XCAL_BINS = 20;
export const XCAL_GAMMA = 1e4;
/** A censored row with F above this counts as an event: 1/(1−F) could otherwise give one row unlimited weight. */
export const XCAL_CERTAIN = 1 - 1e-4;
/** Edges outside [0, 1] for the first and last bin, as far as the reference puts them. */
const FIRST_EDGE = -1;
const LAST_EDGE = 2;

/** One row's share in each bin; its derivative with respect to F is written to slope[offset …]. */
function fillMembership(
  F: number,
  asEvent: boolean,
  gamma: number,
  share: Float64Array, // [B]
  slope: Float64Array,
  offset: number,
): void {
  const B = share.length;
  const width = 1 / B;
  const rest = 1 - F;
  for (let b = 0; b < B; b++) {
    const lo = b * width;
    const hi = lo + width;
    const left = b === 0 ? FIRST_EDGE : lo;
    const right = b === B - 1 ? LAST_EDGE : hi;
    // σ(x) = 1/(1+u) or u/(1+u) and σ'(x) = u/(1+u)², u = e^{−|x|}: one exponential for both.
    const x = gamma * (F - left) * (right - F);
    const u = exp(-Math.abs(x));
    const member = (x >= 0 ? 1 : u) / (1 + u);
    const memberSlope = (u / square(1 + u)) * gamma * (left + right - 2 * F);
    if (asEvent) {
      share[b] = member;
      slope[offset + b] = memberSlope;
      continue;
    }
    const y = gamma * (lo - F);
    const v = exp(-Math.abs(y));
    const later = (y >= 0 ? 1 : v) / (1 + v);
    const laterSlope = (-gamma * v) / square(1 + v);
    share[b] = (member * (hi - F) + later * width) / rest;
    slope[offset + b] = (memberSlope * (hi - F) - member + laterSlope * width + share[b]) / rest;
  }
}

/** Σ_b (frac_b − 1/B)²; adds scale × its gradient to dLogits. */
export function xcalPenalty(
  logits: Floats, // [N,T]
  binned: BinnedRightCensored,
  options: XCalOptions,
  dLogits: Floats | null, // [N,T]
  scale: number,
): number {
  const { bins: B = XCAL_BINS, gamma = XCAL_GAMMA } = options;
  if (!(Number.isInteger(B) && B >= 1)) {
    throw new InputError(`X-Cal needs at least one bin: ${B}`, { code: "option.invalid" });
  }
  const { N, T, bin, event } = openLoss("X-Cal", logits, binned, dLogits);
  if (N === 0) return 0;
  const hazard = new Float64Array(T);
  const survival = new Float64Array(T);
  const share = new Float64Array(B);
  const slope = new Float64Array(N * B);
  const fraction = new Float64Array(B);
  for (let i = 0; i < N; i++) {
    fillCurve(logits, i * T, bin[i], hazard, survival, 0);
    const F = 1 - survival[bin[i] - 1];
    fillMembership(F, event[i] === 1 || F > XCAL_CERTAIN, gamma, share, slope, i * B);
    for (let b = 0; b < B; b++) fraction[b] += share[b] / N;
  }
  let penalty = 0;
  for (let b = 0; b < B; b++) penalty += square(fraction[b] - 1 / B);
  if (dLogits === null) return penalty;
  for (let i = 0; i < N; i++) {
    let dF = 0;
    for (let b = 0; b < B; b++) dF += (2 * (fraction[b] - 1 / B) * slope[i * B + b]) / N;
    fillCurve(logits, i * T, bin[i], hazard, survival, 0);
    // ∂F/∂z_l = h_l S(t_i) for l ≤ t_i.
    const factor = scale * dF * survival[bin[i] - 1];
    for (let l = 0; l < bin[i]; l++) dLogits[i * T + l] += factor * hazard[l];
  }
  return penalty;
}
