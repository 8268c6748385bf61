/** Simulated people beside their truth: at which times a group's error counts. */
import type { Outcomes } from "graduate/data";

/** Fewer rows of a group that are at risk at a time do not count there. */
const LEAST_AT_RISK = 10;

/** At how many of the times, at least one, ten of a group's rows that were learnt from are at risk. */
export function supportOf({ entry, time }: Outcomes, rows: Int32Array, times: Float64Array): number {
  const atRisk = (t: number) => rows.filter((row) => (entry?.[row] ?? 0) < t && time[row] >= t).length;
  let support = times.length;
  while (support > 1 && atRisk(times[support - 1]) < LEAST_AT_RISK) support--;
  return support;
}
