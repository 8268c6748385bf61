/**
 * Scores of curves that hold where people enter late: concordance among those who had entered, the likelihood of
 * hazards that are constant within intervals, observed and expected events. Every row counts while it is at risk.
 */
import { isAbsent, log } from "graduate-survival/core";
import { binOutcomes, type Outcomes, pickOutcomes, type TimeGrid } from "graduate-survival/data";
import { atRiskShare, concordanceHarrell, logrankIndividual, mortalityRisk } from "graduate-survival/stats";
import { round } from "../studies/lines.ts";
import type { FollowTableLine, GroupEvents } from "./plan.ts";

/** Outcomes of one kind of event. */
export type OneCause = Outcomes & { readonly cause?: never };

export interface FollowTest {
  /** Of the test rows. */
  readonly outcomes: OneCause;
  /** Of the rows that were learnt from. */
  readonly learnt: OneCause;
  readonly grid: TimeGrid;
  /** S at the ends of the bins. */
  readonly survival: Float64Array; // [N,T]
  readonly intervals: TimeGrid;
  /** S at the ends of the intervals. */
  readonly atIntervals: Float64Array; // [N,I]
  /** The least rate that an interval counts as. */
  readonly leastRate: number;
  /** Rows are positions among the test rows. */
  readonly members: readonly { readonly name: string; readonly rows: Int32Array }[];
}

export function scoreFollowed(
  test: FollowTest,
): Pick<FollowTableLine, "concordance" | "likelihood" | "groups" | "events"> {
  const { outcomes, learnt, grid, survival } = test;
  const { T } = grid;
  const horizon = grid.edges[T];
  const curves = { N: outcomes.time.length, T, survival };
  const binned = binOutcomes(outcomes, grid);
  const risk = mortalityRisk(curves, atRiskShare(binOutcomes(learnt, grid)));
  const until = endAt(outcomes, horizon);
  // Who enters after the horizon is in no pair.
  const seen = Int32Array.from(outcomes.time.keys()).filter((row) => (outcomes.entry?.[row] ?? 0) < horizon);
  const { c } = concordanceHarrell(
    pickOutcomes(until, seen),
    Array.from(seen, (row) => risk[row]),
  );
  const groups = test.members.map(({ name, rows }): [string, GroupEvents] => {
    const found = logrankIndividual(curves, binned, rows);
    const { observed, expected, variance } = isAbsent(found)
      ? { observed: 0, expected: 0, variance: 0 }
      : found;
    return [
      name,
      { observed: round(observed, 6), expected: round(expected, 6), variance: round(variance, 6) },
    ];
  });
  const events = until.event.reduce((sum, one) => sum + one, 0);
  return {
    events,
    concordance: round(isAbsent(c) ? Number.NaN : c, 6),
    likelihood: round(logLikelihood(test) / events, 6),
    groups: Object.fromEntries(groups),
  };
}

/** A later event is a censoring at the horizon. */
function endAt(outcomes: OneCause, horizon: number): OneCause {
  const { time, event } = outcomes;
  return {
    ...outcomes,
    time: time.map((one) => Math.min(one, horizon)),
    event: event.map((one, row) => (time[row] > horizon ? 0 : one)),
  };
}

/** Σ over rows of δ log rate at the time, less the sum of rate × time at risk over the intervals. */
export function logLikelihood({
  outcomes: { time, event, entry },
  intervals: { T, edges },
  atIntervals,
  leastRate,
}: Pick<FollowTest, "outcomes" | "intervals" | "atIntervals" | "leastRate">): number {
  let sum = 0;
  for (let row = 0; row < time.length; row++) {
    const from = entry?.[row] ?? 0;
    let before = 1;
    for (let t = 0; t < T; t++) {
      const [start, end] = [edges[t], edges[t + 1]];
      const after = atIntervals[row * T + t];
      const rate = Math.max(after > 0 ? log(before / after) / (end - start) : 0, leastRate);
      before = after;
      if (time[row] <= start) break;
      const atRisk = Math.min(time[row], end) - Math.max(from, start);
      if (atRisk > 0) sum -= rate * atRisk;
      if (event[row] === 1 && time[row] <= end) sum += log(rate);
    }
  }
  return sum;
}
