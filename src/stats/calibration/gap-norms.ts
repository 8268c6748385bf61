/**
 * The calibration gap Δ(t) = mean predicted curve − Kaplan-Meier, t = 0…T, and the norms of it that an upper bound can
 * be built on:
 *   ece       Σ_m |Σ_{t∈B_m} Δ(t)| / (L+1), t = 0…L, the probability bins B_m held at those of the estimate
 *   l2Root    √( Σ_{t=1…L} Δ(t)² / L ), the r.m.s. gap: the root of the paper's L2 distance
 *   variance  max_{t≤L} |Δ(t)| / σ̂(t) over bins with σ̂ > 0, σ̂ Greenwood's standard error of the estimate
 * With B_m, σ̂ and L fixed each is a seminorm of Δ, so ‖Δ‖ ≤ ‖Δ̂‖ + ‖Δ − Δ̂‖, and at Δ̂ each equals the score of the
 * same name in calibration.ts (l2Root, its root). L is T, or the group's support τ̂. Nothing is resampled here.
 */

import type { BinnedKaplanMeier } from "../kaplan-meier.ts";
import { PROBABILITY_BINS, probabilityBin } from "./calibration.ts";

/** The estimate on all rows, held fixed while the rows are resampled. */
export interface GapReference {
  readonly gap: Float64Array; // [T+1], Δ̂
  /** Probability bin 1…10 of the mean predicted S(t). */
  readonly probabilityBin: Uint8Array; // [T+1]
  /** 1/σ̂(t), 0 where σ̂ is undefined or 0: such bins are skipped. */
  readonly precision: Float64Array; // [T+1]
  /** τ̂, 0 when no bin has support. */
  readonly supportedBins: number;
}

/** NaN where the norm is undefined (L = 0, or no bin with a standard error). */
export interface GapNorms {
  readonly ece: number;
  readonly l2Root: number;
  readonly variance: number;
}

export function subtractCurves(mean: ArrayLike<number>, km: ArrayLike<number>): Float64Array {
  const gap = new Float64Array(mean.length);
  for (let t = 0; t < gap.length; t++) gap[t] = mean[t] - km[t];
  return gap;
}

export function referGap(
  mean: ArrayLike<number>, // [T+1]
  km: Pick<BinnedKaplanMeier, "survival" | "variance">,
  supportedBins: number,
): GapReference {
  const length = mean.length;
  const bin = new Uint8Array(length);
  const precision = new Float64Array(length);
  for (let t = 0; t < length; t++) {
    bin[t] = probabilityBin(mean[t], PROBABILITY_BINS);
    if (km.variance[t] > 0) precision[t] = 1 / Math.sqrt(km.variance[t]);
  }
  return { gap: subtractCurves(mean, km.survival), probabilityBin: bin, precision, supportedBins };
}

/** The three norms of a gap curve over t ≤ last. */
export function measureGap(gap: ArrayLike<number>, reference: GapReference, last: number): GapNorms {
  if (last < 1) return { ece: Number.NaN, l2Root: Number.NaN, variance: Number.NaN };
  const { probabilityBin: bin, precision } = reference;
  const sum = new Float64Array(PROBABILITY_BINS + 1);
  let squares = 0;
  let largest = Number.NaN;
  for (let t = 0; t <= last; t++) {
    sum[bin[t]] += gap[t];
    if (t > 0) squares += gap[t] * gap[t];
    if (precision[t] === 0) continue;
    const standardised = Math.abs(gap[t]) * precision[t];
    if (!(standardised <= largest)) largest = standardised;
  }
  let ece = 0;
  for (const total of sum) ece += Math.abs(total);
  return { ece: ece / (last + 1), l2Root: Math.sqrt(squares / last), variance: largest };
}
