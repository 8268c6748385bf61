/**
 * Scores of incidences on the test rows of a table: the integrated Brier score of each cause, as riskRegression::Score
 * defines it, from 0 to the last time; and its calibration, the mean over groups of the root mean square over time of a
 * group's mean F_k less its Aalen-Johansen curve, over the times at which ten of the group are at risk.
 */
import { isAbsent } from "graduate-survival/core";
import { type Outcomes, pickOutcomes } from "graduate-survival/data";
import { type CausesInput, calibrateIncidence, scoreIncidence } from "graduate-survival/stats";
import { round } from "../studies/lines.ts";
import { mean } from "../summaries/summary.ts";
import type { TableLine } from "./plan.ts";

export interface TestRows {
  readonly outcomes: Outcomes;
  readonly rows: Int32Array;
  /** Rows are positions among `rows`. */
  readonly members: readonly { readonly rows: Int32Array }[];
  readonly times: Float64Array;
  readonly F: Float64Array; // [N,K,T]
  readonly K: number;
}

export function scoreTestRows(test: TestRows): Pick<TableLine, "brier" | "gap"> {
  const { rows, times, F, K } = test;
  const T = times.length;
  const outcomes = pickOutcomes(test.outcomes, rows) as CausesInput;
  const causes = Array.from({ length: K }, (_, k) => {
    const incidence = new Float64Array(rows.length * T);
    for (let i = 0; i < rows.length; i++)
      incidence.set(F.subarray((i * K + k) * T, (i * K + k + 1) * T), i * T);
    return { cause: k + 1, incidence };
  });
  return {
    brier: causes.map((one) => round(integratedBrierOf(outcomes, times, one), 8)),
    gap: causes.map((one) =>
      round(mean(test.members.flatMap((group) => gapOf({ outcomes, times, ...one }, group.rows))), 6),
    ),
  };
}

/** Nobody has had an event at 0, so the score there is 0: it is added before the times given. */
function integratedBrierOf(
  outcomes: CausesInput,
  times: Float64Array,
  { cause, incidence }: { readonly cause: number; readonly incidence: Float64Array },
): number {
  const T = times.length;
  const N = incidence.length / T;
  const fromZero = new Float64Array(N * (T + 1));
  for (let i = 0; i < N; i++) fromZero.set(incidence.subarray(i * T, (i + 1) * T), i * (T + 1) + 1);
  const scores = scoreIncidence({ outcomes, cause, times: [0, ...times], incidence: fromZero });
  if (isAbsent(scores)) return Number.NaN;
  const last = scores.integratedBrier[T];
  return isAbsent(last) ? Number.NaN : last;
}

/** None for a group of fewer people than a curve is drawn for. */
function gapOf(input: Parameters<typeof calibrateIncidence>[0], rows: Int32Array): number[] {
  const found = calibrateIncidence(input, rows);
  return isAbsent(found) || found.supportedBins < 1 ? [] : [found.norms.l2Root];
}
