/**
 * How far a group's mean predicted curve is from its Kaplan-Meier curve, on the bins t = 0…T (index t, S(0) = 1): the
 * paper's expected calibration error, its L2 and variance-adjusted distances, its total score, and KM-calibration
 * (SurvivalEVAL; α = 1 as in hazardous). `bins: τ` restricts any of them to t ≤ τ, the bins with follow-up; without it
 * the Kaplan-Meier curve is carried flat to T, as in the paper. Kaplan-Meier itself is in kaplan-meier.ts; row weights
 * enter through it and through `meanCurve`. NaN in a variance array means "undefined there" and such bins are skipped.
 */

import { square } from "../../core/elementary.ts";
import { InputError } from "../../core/errors.ts";
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { BinnedRightCensored, BinnedSingleCause, RowWeights } from "../../data/outcomes/outcomes.ts";
import { checkLength, checkWeights } from "../../data/outcomes/rows-by-time.ts";
import {
  type BinnedRightCensoredInput,
  type BinnedSingleCauseInput,
  type CurvesInput,
  toBinnedRightCensored,
  toBinnedSingleCause,
  toCurves,
} from "../../data/plain-input.ts";

/** The paper's number of probability bins. */
export const PROBABILITY_BINS = 10;
/** A mean this little above an edge m/M is on it: the order of a sum must not move a t to another bin. */
export const EDGE_TOLERANCE = 1e-12;

/** The bin m = 1…M with S in ((m−1)/M, m/M]; 0 goes to bin 1. */
export function probabilityBin(S: number, M: number): number {
  return Math.min(Math.max(Math.ceil(S * M - EDGE_TOLERANCE), 1), M);
}

export interface Supported {
  /** Use t ≤ bins only; all T if omitted. */
  readonly bins?: number;
}

/** Curves and outcomes of the same rows, as typed arrays. */
export interface MatchedOutcomes {
  readonly curves: Curves; // [N,T]
  readonly binned: BinnedRightCensored; // [N]
}

/**
 * Validates the input of every score that reads a curve at a bin: converts both, refuses outcomes other than
 * right-censored ones (the message names `what`), and throws unless curves, outcomes and weights have the same rows and
 * grid.
 */
export function matchOutcomes(
  predicted: CurvesInput,
  observed: BinnedRightCensoredInput,
  what: string,
  weights?: RowWeights,
): MatchedOutcomes {
  const curves = toCurves(predicted);
  const binned = toBinnedRightCensored(observed, what);
  checkMatching(curves, binned, weights);
  return { curves, binned };
}

/** The same for statistics that take late entry and weights. */
export function matchHistories(
  predicted: CurvesInput,
  observed: BinnedSingleCauseInput,
  what: string,
  weights?: RowWeights,
): { readonly curves: Curves; readonly binned: BinnedSingleCause } {
  const curves = toCurves(predicted);
  const binned = toBinnedSingleCause(observed, what);
  checkMatching(curves, binned, weights);
  return { curves, binned };
}

export function checkMatching(curves: Curves, binned: BinnedSingleCause, weights?: RowWeights): void {
  const { N, T } = curves;
  checkLength("bin", binned.bin.length, N);
  checkLength("event", binned.event.length, N);
  checkWeights(weights, N);
  checkWeights(binned.weight, N);
  if (binned.T !== T) {
    throw new InputError(`curves and outcomes are on different grids: ${T} and ${binned.T} bins`, {
      code: "grid.mismatch",
    });
  }
  for (let row = 0; row < N; row++) {
    const t = binned.bin[row];
    if (t >= 1 && t <= T) continue;
    throw new InputError(`bin outside 1…${T}: ${t}`, { code: "bin.range", where: `row ${row + 1}` });
  }
}

/**
 * Mean survival over the rows (all, or the 0-based `rows`), [T+1]; `weights` has one entry per row of `curves`, chosen
 * or not.
 */
export function meanCurve(
  predicted: CurvesInput,
  weights?: RowWeights,
  rows?: ArrayLike<number>,
): Measured<Float64Array> {
  const curves = toCurves(predicted);
  const { T, survival } = curves;
  checkWeights(weights, curves.N);
  const mean = new Float64Array(T + 1);
  const count = rows === undefined ? curves.N : rows.length;
  let total = 0;
  for (let k = 0; k < count; k++) {
    const row = rows === undefined ? k : rows[k];
    const weight = weights === undefined ? 1 : weights[row];
    if (weight === 0) continue;
    total += weight;
    const start = row * T - 1;
    if (weight === 1) for (let t = 1; t <= T; t++) mean[t] += survival[start + t];
    else for (let t = 1; t <= T; t++) mean[t] += weight * survival[start + t];
  }
  if (total === 0) return absent("no rows to average");
  for (let t = 1; t <= T; t++) mean[t] /= total;
  mean[0] = 1;
  return mean;
}

export interface CalibrationBin {
  /** Bin m holds the t whose mean predicted S(t) is in ((m−1)/M, m/M]; 0 goes to bin 1. */
  readonly m: number;
  /** How many t it holds. */
  readonly size: number;
  readonly meanKm: number;
  readonly meanPredicted: number;
}

export interface ExpectedCalibrationError {
  readonly ece: number;
  /** Mean over t of |predicted − Kaplan-Meier|; never smaller than `ece`, where signs cancel within a bin. */
  readonly meanAbsoluteGap: number;
  /** The bins that hold any t, ascending. */
  readonly bins: readonly CalibrationBin[];
}

export interface ExpectedCalibrationErrorOptions extends Supported {
  /** Number of probability bins. */
  readonly M?: number;
}

/** Σ_m |B_m|/(T+1) · |mean Kaplan-Meier − mean predicted| over t = 0…T (paper, §Metrics). */
export function expectedCalibrationError(
  mean: ArrayLike<number>, // [T+1]
  km: ArrayLike<number>, // [T+1]
  options: ExpectedCalibrationErrorOptions = {},
): Measured<ExpectedCalibrationError> {
  const M = options.M ?? PROBABILITY_BINS;
  const last = options.bins ?? mean.length - 1;
  if (last < 1) return absent("no bin with follow-up");
  const size = new Int32Array(M + 1);
  const sumKm = new Float64Array(M + 1);
  const sumPredicted = new Float64Array(M + 1);
  let absolute = 0;
  for (let t = 0; t <= last; t++) {
    const m = probabilityBin(mean[t], M);
    size[m]++;
    sumKm[m] += km[t];
    sumPredicted[m] += mean[t];
    absolute += Math.abs(mean[t] - km[t]);
  }
  let ece = 0;
  const bins: CalibrationBin[] = [];
  for (let m = 1; m <= M; m++) {
    if (size[m] === 0) continue;
    const meanKm = sumKm[m] / size[m];
    const meanPredicted = sumPredicted[m] / size[m];
    ece += (size[m] / (last + 1)) * Math.abs(meanKm - meanPredicted);
    bins.push({ m, size: size[m], meanKm, meanPredicted });
  }
  return { ece, meanAbsoluteGap: absolute / (last + 1), bins };
}

/** (1/T) Σ_{t=1…T} (mean − Kaplan-Meier)², a mean of squares: its root is the r.m.s. gap. */
export function distanceL2(
  mean: ArrayLike<number>, // [T+1]
  km: ArrayLike<number>, // [T+1]
  options: Supported = {},
): Measured {
  const last = options.bins ?? mean.length - 1;
  if (last < 1) return absent("no bin with follow-up");
  let sum = 0;
  for (let t = 1; t <= last; t++) sum += square(mean[t] - km[t]);
  return sum / last;
}

export interface VarianceDistance {
  /** Largest |gap| in standard errors. */
  readonly value: number;
  /** The (first) bin where it is reached. */
  readonly t: number;
}

/** max_t |mean − Kaplan-Meier| / √variance over the bins where the variance is defined and positive. */
export function distanceVariance(
  mean: ArrayLike<number>, // [T+1]
  km: ArrayLike<number>, // [T+1]
  variance: ArrayLike<number>, // [T+1], NaN = undefined
  options: Supported = {},
): Measured<VarianceDistance> {
  const last = options.bins ?? mean.length - 1;
  let value = Number.NEGATIVE_INFINITY;
  let at = -1;
  for (let t = 0; t <= last; t++) {
    if (!(variance[t] > 0)) continue;
    const gap = Math.abs(mean[t] - km[t]) / Math.sqrt(variance[t]);
    if (gap > value) {
      value = gap;
      at = t;
    }
  }
  if (at < 0) return absent("no bin with a defined, positive variance");
  return { value, t: at };
}

/**
 * The variance Kaplan-Meier would have if the mean curve were true: S̄(t)² Σ_{s≤t} h̄_s/(k_s(1−h̄_s)), where h̄ are the
 * hazards of the mean curve and k the rows at risk. NaN from the first bin where nobody is at risk of a positive
 * hazard, or where S̄ is 0.
 */
export function modelVariance(
  mean: ArrayLike<number>, // [T+1]
  atRisk: ArrayLike<number>, // [T+1]
): Float64Array {
  const variance = new Float64Array(mean.length);
  let sum = 0;
  for (let t = 1; t < mean.length; t++) {
    const hazard = 1 - mean[t] / mean[t - 1];
    // 0/0 with nobody at risk and no hazard adds nothing; a hazard that nobody faces has no variance (→ ∞ → NaN).
    if (hazard > 0) sum += hazard / (atRisk[t] * (1 - hazard));
    variance[t] = mean[t] > 0 && Number.isFinite(sum) ? mean[t] * mean[t] * sum : Number.NaN;
  }
  return variance;
}

/** Harmonic mean of a C-index and 1 − ECE, the paper's total score; absent if either is. */
export function totalScore(c: Measured, ece: Measured): Measured {
  if (isAbsent(c)) return c;
  if (isAbsent(ece)) return ece;
  const calibrated = 1 - ece;
  // The limit of the harmonic mean when one of the two is 0, also when both are.
  if (c === 0 || calibrated === 0) return 0;
  return (2 * c * calibrated) / (c + calibrated);
}

export interface KmCalibration {
  /** ∫ (mean − Kaplan-Meier)² / last event time (SurvivalEVAL). */
  readonly squared: number;
  /** ∫ |mean − Kaplan-Meier| / last event time (hazardous, α = 1). */
  readonly absolute: number;
}

/**
 * KM-calibration on bins: trapezoids over 0 and the bins with events, divided by the last of them. Event-free bins in
 * between are ignored: the curves are joined by straight lines from one event bin to the next, which is SurvivalEVAL's
 * reading.
 */
export function kmCalibration(
  mean: ArrayLike<number>, // [T+1]
  km: { readonly survival: ArrayLike<number>; readonly events: ArrayLike<number> }, // [T+1] each
  options: Supported = {},
): Measured<KmCalibration> {
  const last = options.bins ?? mean.length - 1;
  let previous = 0;
  let gapBefore = 0;
  let squared = 0;
  let absolute = 0;
  for (let t = 1; t <= last; t++) {
    if (!(km.events[t] > 0)) continue;
    const gap = Math.abs(mean[t] - km.survival[t]);
    squared += ((t - previous) * (gapBefore * gapBefore + gap * gap)) / 2;
    absolute += ((t - previous) * (gapBefore + gap)) / 2;
    previous = t;
    gapBefore = gap;
  }
  if (previous === 0) return absent("no events");
  return { squared: squared / previous, absolute: absolute / previous };
}
