/**
 * The order in which a Cox model goes through its rows: stratum after stratum, each by ascending time, in groups of tied
 * times. Which times are tied is R's rule (core/near-times.ts) or exact equality.
 */
import { countAtMost, joinNearTimes } from "../../core/near-times.ts";

export interface SortedRows {
  readonly order: Uint32Array; // [N]
  /** Time of each group, ascending within a stratum. */
  readonly times: Float64Array; // [K]
  readonly start: Uint32Array; // [K+1]
}

/** The position of each row when sorted by time, without a comparator: native sort, then a search per row. */
export function sortByTime(time: Float64Array, use: (row: number) => boolean, timefix: boolean): SortedRows {
  const sorted = time.filter((_, row) => use(row)).sort();
  let distinct = 0;
  for (let i = 0; i < sorted.length; i++)
    if (i === 0 || sorted[i] !== sorted[distinct - 1]) sorted[distinct++] = sorted[i];
  const order = new Uint32Array(sorted.length);
  const ascending = sorted.slice(0, distinct);
  const times = timefix ? joinNearTimes(ascending) : ascending;
  const K = times.length;
  const group = new Uint32Array(time.length);
  const start = new Uint32Array(K + 1);
  for (let row = 0; row < time.length; row++) {
    if (!use(row)) continue;
    group[row] = countAtMost(times, time[row]) - 1;
    start[group[row] + 1]++;
  }
  for (let k = 0; k < K; k++) start[k + 1] += start[k];
  const next = start.slice();
  for (let row = 0; row < time.length; row++) if (use(row)) order[next[group[row]]++] = row;
  return { order, times, start };
}

/** The same rows stratum after stratum, each in the order of its times. */
export function splitByStratum(
  sorted: SortedRows,
  strata: ArrayLike<number> | undefined,
): SortedRows & { readonly firstGroup: Uint32Array } {
  const { order, times, start } = sorted;
  if (strata === undefined) return { ...sorted, firstGroup: Uint32Array.of(0, times.length) };
  const stratumOf = strata;
  const counts: number[] = [];
  for (const row of order) counts[stratumOf[row]] = (counts[stratumOf[row]] ?? 0) + 1;
  const next: number[] = [];
  let placed = 0;
  for (let s = 0; s < counts.length; s++) {
    next[s] = placed;
    placed += counts[s] ?? 0;
  }
  const N = order.length;
  const rows = new Uint32Array(N);
  const timeIndex = new Uint32Array(N);
  for (let k = 0; k < times.length; k++)
    for (let i = start[k]; i < start[k + 1]; i++) {
      const to = next[stratumOf[order[i]]]++;
      rows[to] = order[i];
      timeIndex[to] = k;
    }
  const starts: number[] = [];
  const firstGroup: number[] = [];
  for (let i = 0; i < N; i++) {
    const isNew = i === 0 || stratumOf[rows[i]] !== stratumOf[rows[i - 1]];
    if (isNew) firstGroup.push(starts.length);
    if (isNew || timeIndex[i] !== timeIndex[i - 1]) starts.push(i);
  }
  return {
    order: rows,
    times: Float64Array.from(starts, (i) => times[timeIndex[i]]),
    start: Uint32Array.from([...starts, N]),
    firstGroup: Uint32Array.from([...firstGroup, starts.length]),
  };
}
