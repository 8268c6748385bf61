/**
 * The individual logrank where people have several rows: O − E as always, with its variance by person, V = Σ_p (Σ_{i of
 * p} (δ_i − E_i))², the sandwich of a sum over independent people. Rows of one person may depend on each other in any
 * way. V is floored at the rows' own Σ h(1−h): with few people the sandwich is noisy, and a test by person should not
 * detect more than one by row.
 */

import { logChiSquareUpperTail } from "../core/distributions.ts";
import { exp, square } from "../core/elementary.ts";
import type { Curves } from "../data/curves/curves.ts";
import type { BinnedRightCensored } from "../data/outcomes/outcomes.ts";
import { groupByPerson, type People } from "../data/outcomes/people.ts";
import { totalHazards } from "./hazard-totals.ts";
import type { Scores } from "./scores/scores.ts";

/** The test of a group's rows, by person; an absent result stays absent. */
export function logrankByPerson(
  byRow: Scores["logrankIndividual"],
  { T, survival }: Curves,
  { bin, event }: BinnedRightCensored,
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
      totalHazards(survival, row * T, bin[row], totals);
      rest += event[row] - totals.expected[bin[row]];
    }
    sandwich += square(rest);
  }
  const variance = Math.max(byRow.variance, sandwich);
  const chi2 = square(observed - expected) / variance;
  return { observed, expected, variance, chi2, p: exp(logChiSquareUpperTail(chi2, 1)) };
}
