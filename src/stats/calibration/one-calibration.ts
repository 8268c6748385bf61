/**
 * One-calibration at a chosen bin t: rows are sorted by predicted risk 1 − S(t|x), highest first (ties in row order),
 * and cut into K groups of sizes as equal as possible, the larger ones first. In each group the mean predicted risk e
 * is compared with the observed risk o = 1 − Kaplan-Meier(t) (D'Agostino & Nam 2003): Σ n(o−e)²/(e(1−e)), χ² with K−1
 * degrees of freedom for K ≤ 15, else K−2. Conventions as in SurvivalEVAL. Kaplan-Meier is carried flat in a group
 * whose follow-up ends before t, and the variance is not corrected for censoring: a group observed to the end has no
 * more weight than one that is not.
 */

import { logChiSquareUpperTail } from "../../core/distributions.ts";
import { exp, square } from "../../core/elementary.ts";
import { absent, type Measured } from "../../core/measured.ts";
import type { RowWeights } from "../../data/outcomes/outcomes.ts";
import type { BinnedRightCensoredInput, CurvesInput } from "../../data/plain-input.ts";
import { kaplanMeierBinned } from "../kaplan-meier.ts";
import { matchOutcomes } from "./calibration.ts";

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

/** Hosmer and Lemeshow's test at one time, with Kaplan-Meier in each tenth of risk. */
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
