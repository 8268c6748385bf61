/**
 * The logrank test of predicted curves against each row's own hazards: O = Σ w δ, E = Σ w Σ_s h_s(x_i) over the bins s
 * in which the row is at risk, V = Σ w² Σ_s h_s(1 − h_s), χ² = (O − E)²/V with 1 df. It is valid when censoring depends
 * on x, and under late entry, as a row counts only where it is at risk: in the bins from its first to its own. The form
 * is the binned one, h_s = 1 − S(s)/S(s−1) on the grid of the curves. Weights w of the outcomes enter V squared: a
 * weight of 2 is not two people seen. Where people have several rows, V = Σ_p (Σ_{i of p} w_i (δ_i − E_i))².
 */
import { logChiSquareUpperTail } from "../core/distributions.ts";
import { exp, square } from "../core/elementary.ts";
import type { Measured } from "../core/measured.ts";
import type { Curves } from "../data/curves/curves.ts";
import type { BinnedSingleCause, RowWeights } from "../data/outcomes/outcomes.ts";
import { groupByPerson, type People } from "../data/outcomes/people.ts";
import type { BinnedSingleCauseInput, CurvesInput } from "../data/plain-input.ts";
import { matchHistories } from "./calibration/calibration.ts";
import { type OneSampleLogrank, oneSample } from "./logrank.ts";
import type { Scores } from "./scores/scores.ts";

/** Tests against each row's own hazards over the bins it was at risk. */
export function logrankIndividual(
  predicted: CurvesInput,
  input: BinnedSingleCauseInput,
  rows?: ArrayLike<number>,
  weights?: RowWeights,
): Measured<OneSampleLogrank> {
  const { curves, binned: outcomes } = matchHistories(predicted, input, "the logrank test", weights);
  const { N, T, survival } = curves;
  const totals = { expected: new Float64Array(T + 1), variance: new Float64Array(T + 1) };
  let observed = 0;
  let expected = 0;
  let variance = 0;
  const count = rows === undefined ? N : rows.length;
  for (let i = 0; i < count; i++) {
    const row = rows === undefined ? i : rows[i];
    const own = outcomes.weight === undefined ? 1 : outcomes.weight[row];
    const weight = (weights === undefined ? 1 : weights[row]) * own;
    const before = outcomes.firstBin === undefined ? 0 : outcomes.firstBin[row] - 1;
    const last = outcomes.bin[row];
    if (weight === 0 || before >= last) continue;
    if (outcomes.event[row] === 1) observed += weight;
    totalHazards(survival, row * T, last, totals);
    expected += weight * (totals.expected[last] - totals.expected[before]);
    variance += weight * own * (totals.variance[last] - totals.variance[before]);
  }
  return oneSample(observed, expected, variance);
}

/** One row's own predicted hazards h_s = 1 − S(s)/S(s−1), summed from the start. */
interface HazardTotals {
  /** E(t) = Σ_{s≤t} h_s, the events a row observed through bin t was expected to have; E(0) = 0. */
  readonly expected: Float64Array; // [T+1]
  /** V(t) = Σ_{s≤t} h_s(1 − h_s), their variance. */
  readonly variance: Float64Array; // [T+1]
}

/**
 * Fills `totals` for the curve that starts at survival[start]; bins beyond `through` are left untouched. The bootstrap
 * and the noise floor need the totals per row, where the test itself gives no result for a row without variance. A bin
 * that starts at S(s−1) = 0 adds nothing: by the curve nobody is left there, so there is no hazard.
 */
export function totalHazards(
  survival: Float64Array | Float32Array,
  start: number,
  through: number,
  totals: HazardTotals,
): void {
  const { expected, variance } = totals;
  let before = 1;
  let E = 0;
  let V = 0;
  expected[0] = 0;
  variance[0] = 0;
  for (let t = 1; t <= through; t++) {
    if (before > 0) {
      const now = survival[start + t - 1];
      const hazard = 1 - now / before;
      E += hazard;
      V += hazard * (1 - hazard);
      before = now;
    }
    expected[t] = E;
    variance[t] = V;
  }
}

/**
 * Events that the curves expect of the rows while they are at risk, whatever the rows weigh; where people have several
 * rows, the number of people expected to have the event, at most one each.
 */
export function expectedEvents(
  { T, survival }: Curves,
  { bin, firstBin }: Pick<BinnedSingleCause, "bin" | "firstBin">,
  rows: ArrayLike<number>,
  people?: People,
): number {
  const totals = { expected: new Float64Array(T + 1), variance: new Float64Array(T + 1) };
  const each = Float64Array.from(rows, (row) => {
    const before = (firstBin?.[row] ?? 1) - 1;
    if (before >= bin[row]) return 0;
    totalHazards(survival, row * T, bin[row], totals);
    return totals.expected[bin[row]] - totals.expected[before];
  });
  return sumByPerson(each, rows, people);
}

/** The sum over rows or, where people have several, over people, at most one each. */
export function sumByPerson(each: Float64Array, rows: ArrayLike<number>, people?: People): number {
  if (people === undefined) return each.reduce((sum, one) => sum + one, 0);
  const own = new Float64Array(people.count);
  for (let i = 0; i < rows.length; i++) own[people.of[rows[i]]] += each[i];
  return own.reduce((sum, one) => sum + Math.min(one, 1), 0);
}

/**
 * The individual logrank by person, the sandwich of a sum over independent people: rows of one person may depend on
 * each other in any way. V is floored at the rows' own Σ w² h(1−h): with few people the sandwich is noisy, and a test
 * by person should not detect more than one by row. An absent result stays absent.
 */
export function logrankByPerson(
  byRow: Scores["logrankIndividual"],
  { T, survival }: Curves,
  { bin, event, firstBin, weight }: BinnedSingleCause,
  people: People,
  rows: Int32Array,
): Scores["logrankIndividual"] {
  const { observed, expected } = byRow;
  if (byRow.variance === null || observed === null || expected === null) return byRow;
  const totals = { expected: new Float64Array(T + 1), variance: new Float64Array(T + 1) };
  let sandwich = 0;
  for (const own of groupByPerson(people, rows)) {
    let rest = 0;
    for (const row of own) {
      const before = firstBin === undefined ? 0 : firstBin[row] - 1;
      if (before >= bin[row]) continue;
      totalHazards(survival, row * T, bin[row], totals);
      const left = event[row] - (totals.expected[bin[row]] - totals.expected[before]);
      rest += weight === undefined ? left : weight[row] * left;
    }
    sandwich += square(rest);
  }
  const variance = Math.max(byRow.variance, sandwich);
  const chi2 = square(observed - expected) / variance;
  return { observed, expected, variance, chi2, p: exp(logChiSquareUpperTail(chi2, 1)) };
}
