/**
 * Two χ² tests of people's own curves. D-calibration (Haider et al. 2020): if the curves are right, S(T_i|x_i) is
 * uniform on [0, 1]. A censored row spreads its unit of mass uniformly below its S(C_i|x_i). Bins are [k/K, (k+1)/K),
 * the last closed; χ² against n/K with K−1 degrees of freedom; under censoring the test is conservative. mlr3proba's
 * published values miscount the lowest bin, which is why the mass is checked here. Also the X-Cal paper's score Σ_b
 * (frac_b − width_b)² on F = 1 − S with hard bins; the soft form that can be trained on is an objective.
 * One-calibration compares the risks predicted for one time with the observed, see oneCalibration.
 */

import { logChiSquareUpperTail } from "../../core/distributions.ts";
import { exp, square } from "../../core/elementary.ts";
import { NumericalError } from "../../core/errors.ts";
import { absent, type Measured } from "../../core/measured.ts";
import type { RowWeights } from "../../data/outcomes/outcomes.ts";
import type { BinnedRightCensoredInput, CurvesInput } from "../../data/plain-input.ts";
import { kaplanMeierBinned } from "../kaplan-meier.ts";
import { type MatchedOutcomes, matchOutcomes } from "./calibration.ts";

/** Haider et al.'s number of bins. */
export const D_CALIBRATION_BINS = 10;
/** X-Cal's number of bins. */
export const X_CAL_BINS = 20;
/** Relative loss of mass that rounding can explain; more means an error, in the curves (NaN) or here. */
export const MASS_TOLERANCE = 1e-9;
/** X-Cal counts a censored row with S below this as an event: its mass has nowhere left to spread. */
export const X_CAL_CENSORED_AS_EVENT_BELOW = 1e-4;

export interface DCalibrationOptions {
  readonly bins?: number;
  readonly weights?: RowWeights;
  /** Only these rows (0-based); weights stay indexed by table row. */
  readonly rows?: ArrayLike<number>;
}

export interface DCalibration {
  /** Mass per bin of predicted survival, lowest first; sums to the number of rows. */
  readonly counts: Float64Array;
  /** Mass per bin if the curves were right. */
  readonly expected: number;
  readonly chi2: number;
  readonly df: number;
  readonly p: number;
  /** log p, where p itself underflows. */
  readonly logP: number;
}

/** Where one row's unit of mass goes: `own` to its bin, `lower` to every bin below it. */
export interface DCalibrationShare {
  /** 0-based, lowest survival first. */
  readonly bin: number;
  readonly own: number;
  readonly lower: number;
}

/** The share of a row with predicted survival `survival` at its own time; a censored row at 0 is in the lowest bin. */
export function dCalibrationShare(
  survival: number,
  event: boolean,
  bins: number = D_CALIBRATION_BINS,
): DCalibrationShare {
  if (survival <= 0) return { bin: 0, own: 1, lower: 0 };
  const bin = Math.min(Math.floor(survival * bins), bins - 1);
  if (event) return { bin, own: 1, lower: 0 };
  return { bin, own: (survival - bin / bins) / survival, lower: 1 / bins / survival };
}

/**
 * The histogram from what each bin keeps (`own`) and what it gives to every bin below it (`lower`), [K] each, in one
 * pass from the top: adding row by row would cost N·K. Throws unless it holds one unit per row.
 */
function spreadMass(own: ArrayLike<number>, lower: ArrayLike<number>, n: number): Float64Array {
  const counts = Float64Array.from(own);
  let carried = 0;
  let mass = 0;
  for (let b = counts.length - 1; b >= 0; b--) {
    counts[b] += carried;
    carried += lower[b];
    mass += counts[b];
  }
  if (Math.abs(mass - n) <= MASS_TOLERANCE * n) return counts;
  throw new NumericalError(`D-calibration histogram does not hold one unit per row: ${mass} for ${n} rows`, {
    code: "d-calibration.mass",
    hint: "look for survival values that are not numbers between 0 and 1",
  });
}

/** The test from summed shares: `own` and `lower` per bin, [K] each, over n rows. */
export function testDCalibration(
  own: ArrayLike<number>,
  lower: ArrayLike<number>,
  n: number,
): Measured<DCalibration> {
  if (n === 0) return absent("no rows");
  const K = own.length;
  if (K < 2) return absent("fewer than two bins");
  const counts = spreadMass(own, lower, n);
  const expected = n / K;
  let chi2 = 0;
  for (const count of counts) chi2 += square(count - expected) / expected;
  const df = K - 1;
  const logP = logChiSquareUpperTail(chi2, df);
  return { counts, expected, chi2, df, p: exp(logP), logP };
}

/** Sums over rows what each keeps for its own bin and gives to each bin below it: `own` and `lower`, [K] each. */
function sumShares(
  { curves, binned }: MatchedOutcomes,
  K: number,
  { weights, rows }: DCalibrationOptions,
  shareOf: (survival: number, event: boolean, weight: number) => DCalibrationShare,
): { readonly own: Float64Array; readonly lower: Float64Array; readonly n: number } {
  const { N, T, survival } = curves;
  const own = new Float64Array(K);
  const lower = new Float64Array(K);
  let n = 0;
  const count = rows === undefined ? N : rows.length;
  for (let i = 0; i < count; i++) {
    const row = rows === undefined ? i : rows[i];
    const weight = weights === undefined ? 1 : weights[row];
    if (weight === 0) continue;
    n += weight;
    const share = shareOf(survival[row * T + binned.bin[row] - 1], binned.event[row] === 1, weight);
    own[share.bin] += share.own;
    lower[share.bin] += share.lower;
  }
  return { own, lower, n };
}

/** Tests whether S at the event times is uniform. */
export function dCalibration(
  predicted: CurvesInput,
  observed: BinnedRightCensoredInput,
  options: DCalibrationOptions = {},
): Measured<DCalibration> {
  const { bins: K = D_CALIBRATION_BINS, weights } = options;
  const matched = matchOutcomes(predicted, observed, "D-calibration", weights);
  const { own, lower, n } = sumShares(matched, K, options, (s, event, weight) => {
    const share = dCalibrationShare(s, event, K);
    return { bin: share.bin, own: weight * share.own, lower: weight * share.lower };
  });
  return testDCalibration(own, lower, n);
}

export interface DCalScore {
  /** Σ_b (frac_b − width_b)². */
  readonly score: number;
  /** Share of the rows per bin of F = 1 − S, lowest F first. */
  readonly fractions: Float64Array;
}

/** The X-Cal paper's D-Cal: bins [lo, hi) of F, the last closed; a censored row spreads uniformly over [F, 1]. */
export function dCalScore(
  predicted: CurvesInput,
  observed: BinnedRightCensoredInput,
  options: DCalibrationOptions = {},
): Measured<DCalScore> {
  const { bins: K = X_CAL_BINS, weights } = options;
  const matched = matchOutcomes(predicted, observed, "D-calibration", weights);
  // Filled by predicted survival, lowest first, as above, but with bins (lo, hi]: the mirror image of F's [lo, hi),
  // taken on S itself because 1 − S would round values off the edges.
  const { own, lower, n } = sumShares(matched, K, options, (s, event, weight) => {
    const bin = Math.min(Math.max(Math.ceil(s * K), 1), K) - 1;
    if (event || s < X_CAL_CENSORED_AS_EVENT_BELOW) return { bin, own: weight, lower: 0 };
    return { bin, own: (weight * (s - bin / K)) / s, lower: weight / K / s };
  });
  if (n === 0) return absent("no rows");
  const fractions = spreadMass(own, lower, n)
    .map((count) => count / n)
    .reverse();
  let score = 0;
  for (const fraction of fractions) score += square(fraction - 1 / K);
  return { score, fractions };
}

/** Hosmer and Lemeshow's deciles of risk. */
export const ONE_CALIBRATION_GROUPS = 10;
/** Up to this many groups the statistic is referred to χ² with K−1 degrees of freedom, beyond it with K−2. */
export const LARGEST_K_WITH_K_MINUS_ONE = 15;

export interface OneCalibrationOptions {
  /** The bin at whose upper edge risk is compared, 1…T. */
  readonly t: number;
  readonly groups?: number;
  readonly weights?: RowWeights;
}

export interface RiskGroup {
  readonly n: number;
  /** 1 − Kaplan-Meier(t) of the group's rows. */
  readonly observed: number;
  /** Mean predicted risk. */
  readonly expected: number;
}

export interface OneCalibration {
  readonly t: number;
  readonly chi2: number;
  readonly df: number;
  readonly p: number;
  readonly logP: number;
  /** Highest risk first; groups without rows (fewer rows than groups) are left out. */
  readonly groups: readonly RiskGroup[];
}

/**
 * Hosmer and Lemeshow's test at a chosen bin t: rows are sorted by predicted risk 1 − S(t|x), highest first (ties in
 * row order), and cut into K groups of sizes as equal as possible, the larger ones first. In each group the mean
 * predicted risk e is compared with the observed risk o = 1 − Kaplan-Meier(t) (D'Agostino & Nam 2003): Σ
 * n(o−e)²/(e(1−e)), χ² with K−1 degrees of freedom for K ≤ 15, else K−2. Conventions as in SurvivalEVAL. Kaplan-Meier
 * is carried flat in a group whose follow-up ends before t, and the variance is not corrected for censoring: a group
 * observed to the end has no more weight than one that is not.
 */
export function oneCalibration(
  predicted: CurvesInput,
  input: BinnedRightCensoredInput,
  options: OneCalibrationOptions,
): Measured<OneCalibration> {
  const { t, weights } = options;
  const K = options.groups ?? ONE_CALIBRATION_GROUPS;
  const { curves, binned } = matchOutcomes(predicted, input, "one-calibration", weights);
  const { N, T, survival } = curves;
  if (!(t >= 1 && t <= T)) return absent(`bin ${t} is outside the grid 1…${T}`);

  const rows: number[] = [];
  let n = 0;
  for (let i = 0; i < N; i++) {
    const weight = weights === undefined ? 1 : weights[i];
    if (weight === 0) continue;
    rows.push(i);
    n += weight;
  }
  if (n === 0) return absent("no rows");
  // Lowest survival first is highest risk first; sort is stable, so ties stay in row order.
  rows.sort((a, b) => survival[a * T + t - 1] - survival[b * T + t - 1]);

  // Group k ends after size·k + min(k, left over) rows: the first `left over` groups hold one row more. A row of
  // weight w is w rows, so it may be divided between neighbouring groups.
  const size = Math.floor(n / K);
  const leftOver = n - size * K;
  const groups: RiskGroup[] = [];
  const share = new Float64Array(N);
  let next = 0;
  let remaining = weights === undefined ? 1 : weights[rows[0]];
  let chi2 = 0;
  for (let k = 0; k < K; k++) {
    const wanted = size + Math.min(k + 1, leftOver) - Math.min(k, leftOver);
    if (wanted === 0) continue;
    share.fill(0);
    let filled = 0;
    let risk = 0;
    while (filled < wanted && next < rows.length) {
      const row = rows[next];
      const taken = Math.min(remaining, wanted - filled);
      share[row] += taken;
      risk += taken * (1 - survival[row * T + t - 1]);
      filled += taken;
      remaining -= taken;
      if (remaining > 0) continue;
      next++;
      if (next < rows.length) remaining = weights === undefined ? 1 : weights[rows[next]];
    }
    const expected = risk / filled;
    const observed = 1 - kaplanMeierBinned(binned, share).survival[t];
    groups.push({ n: filled, observed, expected });
    const variance = expected * (1 - expected);
    if (!(variance > 0)) {
      return absent(`mean predicted risk of risk group ${k + 1} is ${expected}: its variance is 0`);
    }
    chi2 += (filled * square(observed - expected)) / variance;
  }
  const df = groups.length <= LARGEST_K_WITH_K_MINUS_ONE ? groups.length - 1 : groups.length - 2;
  if (df < 1) return absent("fewer than two risk groups with rows");
  const logP = logChiSquareUpperTail(chi2, df);
  return { t, chi2, df, p: exp(logP), logP, groups };
}
