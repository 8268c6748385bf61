/**
 * Ranked probability score of right-censored rows on the bins (Kamran & Wiens 2021): an event in bin z scores Σ_t (S(t)
 * − 1[t < z])², a censoring in bin c scores Σ (1 − S(t))² over t ≤ c, as in their code, or over t < c. The score is not
 * divided by anything unless the name says so. A curve that never falls scores 0 on a censored row, which is the
 * score's weakness (test/worked/counterexamples.test.ts, example 3). The ranking kernel of their training loss is not
 * here.
 */

import { square } from "../../core/elementary.ts";
import { absent, type Measured } from "../../core/measured.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { RowWeights } from "../../data/outcomes/outcomes.ts";
import type { BinnedRightCensoredInput, CurvesInput } from "../../data/plain-input.ts";
import { matchOutcomes } from "../calibration/calibration.ts";

export interface RankedProbabilityScoreOptions {
  /** Which bins a row censored in bin c is scored on. */
  readonly censored?: "t<=c" | "t<c";
  readonly weights?: RowWeights;
  /** Only these rows (0-based); weights stay indexed by table row. */
  readonly rows?: ArrayLike<number>;
}

export interface RankedProbabilityScore {
  readonly sum: number;
  readonly meanPerRow: number;
  readonly meanPerRowAndBin: number;
}

/** One row's score; the row's curve begins after survival[start]. */
export function scoreRow(
  survival: Curves["survival"],
  start: number,
  T: number,
  bin: number,
  isEvent: boolean,
  censoredIncludesOwnBin = true,
): number {
  const aliveThrough = isEvent || !censoredIncludesOwnBin ? bin - 1 : bin;
  let row = 0;
  for (let t = 1; t <= aliveThrough; t++) row += square(1 - survival[start + t]);
  if (isEvent) for (let t = aliveThrough + 1; t <= T; t++) row += square(survival[start + t]);
  return row;
}

/** Squared error of the curve against the outcome, summed over time. */
export function rankedProbabilityScore(
  predicted: CurvesInput,
  observed: BinnedRightCensoredInput,
  options: RankedProbabilityScoreOptions = {},
): Measured<RankedProbabilityScore> {
  const { weights, rows } = options;
  const censoredIncludesOwnBin = (options.censored ?? "t<=c") === "t<=c";
  const { curves, binned } = matchOutcomes(predicted, observed, "the ranked probability score", weights);
  const { N, T, survival } = curves;
  let n = 0;
  let sum = 0;
  const count = rows === undefined ? N : rows.length;
  for (let i = 0; i < count; i++) {
    const row = rows === undefined ? i : rows[i];
    const weight = weights === undefined ? 1 : weights[row];
    if (weight === 0) continue;
    n += weight;
    const isEvent = binned.event[row] === 1;
    sum += weight * scoreRow(survival, row * T - 1, T, binned.bin[row], isEvent, censoredIncludesOwnBin);
  }
  if (n === 0) return absent("no rows");
  return { sum, meanPerRow: sum / n, meanPerRowAndBin: sum / n / T };
}
