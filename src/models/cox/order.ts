/**
 * The order in which a Cox model goes through its rows: stratum after stratum, each by ascending time, in groups of
 * tied times. Ties follow R's rule (core/ascending.ts) or exact equality.
 */
import { groupRowsByTime, type RowsByTimeOptions } from "../../data/outcomes/rows-by-time.ts";

/** Rows by stratum and time. */
export interface CoxOrder {
  /** Each row's index in the input. */
  readonly order: Int32Array; // [N]
  /** Time of each group of ties, ascending within a stratum. */
  readonly times: Float64Array; // [K]
  /** Group k consists of the rows start[k] … start[k+1]−1. */
  readonly start: Int32Array; // [K+1]
  /** A stratum's groups are firstGroup[s] … firstGroup[s+1]−1; strata without a row are left out. */
  readonly firstGroup: Int32Array; // [S+1]
}

/** Orders the rows of positive weight by stratum and, within each, by time; tied rows stay in the order given. */
export function orderRows(
  rowTimes: Float64Array,
  strata: ArrayLike<number> | undefined,
  options: RowsByTimeOptions,
): CoxOrder {
  const { rows: order, time: times, start } = groupRowsByTime(rowTimes, options);
  if (strata === undefined) return { order, times, start, firstGroup: Int32Array.of(0, times.length) };
  const counts: number[] = [];
  for (const row of order) counts[strata[row]] = (counts[strata[row]] ?? 0) + 1;
  const next: number[] = [];
  let placed = 0;
  for (let s = 0; s < counts.length; s++) {
    next[s] = placed;
    placed += counts[s] ?? 0;
  }
  const N = order.length;
  const rows = new Int32Array(N);
  const timeIndex = new Int32Array(N);
  for (let k = 0; k < times.length; k++)
    for (let i = start[k]; i < start[k + 1]; i++) {
      const to = next[strata[order[i]]]++;
      rows[to] = order[i];
      timeIndex[to] = k;
    }
  const starts: number[] = [];
  const firstGroup: number[] = [];
  for (let i = 0; i < N; i++) {
    const isNew = i === 0 || strata[rows[i]] !== strata[rows[i - 1]];
    if (isNew) firstGroup.push(starts.length);
    if (isNew || timeIndex[i] !== timeIndex[i - 1]) starts.push(i);
  }
  return {
    order: rows,
    times: Float64Array.from(starts, (i) => times[timeIndex[i]]),
    start: Int32Array.from([...starts, N]),
    firstGroup: Int32Array.from([...firstGroup, starts.length]),
  };
}
