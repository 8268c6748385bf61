/**
 * Three people's own curves, for a report that shows rows: one at low, one at middle and one at high predicted risk.
 * People who had the event are preferred where there are any.
 */
import type { GatherInput } from "./gather-report.ts";
import type { ExampleCurve } from "./report-data.ts";
import { orderByRisk } from "./risk-bands.ts";

/** The percentiles of predicted risk of the people whose curves are shown, when rows are asked for. */
const EXAMPLES = [
  { risk: "low", percentile: 10 },
  { risk: "middle", percentile: 50 },
  { risk: "high", percentile: 90 },
] as const;

/** The person whose predicted risk is nearest to the percentile, among those with the event if there are any. */
export function chooseExamples(
  { curves, binned, outcomes, rowNumbers }: GatherInput,
  times: Float64Array,
  last: number,
): ExampleCurve[] {
  const { N, T, survival } = curves;
  const event = outcomes?.event ?? binned.event;
  if (last === 0) return [];
  const order = orderByRisk(N, (row) => 1 - survival[row * T + last - 1]);
  const candidates = Array.from(order, (row, rank) => ({ row, rank }));
  const withEvent = candidates.filter(({ row }) => event[row] === 1);
  const pool = withEvent.length >= EXAMPLES.length ? withEvent : candidates;
  const taken = new Set<number>();
  return EXAMPLES.flatMap(({ risk: level, percentile }) => {
    const wanted = (percentile / 100) * (N - 1);
    const free = pool.filter(({ row }) => !taken.has(row));
    if (free.length === 0) return [];
    const { row, rank } = free.reduce((best, one) =>
      Math.abs(one.rank - wanted) < Math.abs(best.rank - wanted) ? one : best,
    );
    taken.add(row);
    return [
      {
        risk: level,
        row: rowNumbers?.[row] ?? row + 1,
        percentile: Math.round((100 * rank) / Math.max(N - 1, 1)),
        time: times[row],
        event: event[row] === 1,
        survival: [1, ...survival.subarray(row * T, row * T + last)],
      },
    ];
  });
}
