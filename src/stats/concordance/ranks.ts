/**
 * Sorting without comparators: distinct values in ascending order, a row's rank among them by binary search, and rows
 * grouped by time. Everything in this folder that walks over times or scores starts here. Ties are exact equality unless
 * `timefix` is asked for, as Kaplan-Meier and the logrank test do: then times apart by rounding are one (core/near-times.ts).
 */
import { InputError, nameRows } from "../../core/errors.ts";
import { countAtMost, joinNearTimes } from "../../core/near-times.ts";
import type { Outcomes, RowWeights } from "../../data/outcomes/outcomes.ts";

/** Rows of positive weight grouped by distinct time, ascending; group k is rows[start[k]] … rows[start[k+1] − 1]. */
export interface RowsByTime {
  readonly time: Float64Array; // [K], distinct
  readonly start: Int32Array; // [K+1]
  readonly rows: Int32Array;
}

function refuseNaN(values: ArrayLike<number>, what: string): never {
  const rows: number[] = [];
  for (let row = 0; row < values.length; row++) if (Number.isNaN(values[row])) rows.push(row + 1);
  throw new InputError(`${what} is not a number: ${nameRows(rows)}`, { code: "value.nan" });
}

/** The distinct values, ascending; −0 and 0 are one value. */
export function distinctAscending(values: ArrayLike<number>, what: string): Float64Array {
  const sorted = Float64Array.from(values).sort();
  // A typed array sorts NaN last, so one look finds it.
  if (Number.isNaN(sorted[sorted.length - 1])) refuseNaN(values, what);
  let distinct = 0;
  for (let i = 0; i < sorted.length; i++) {
    if (i === 0 || sorted[i] !== sorted[distinct - 1]) sorted[distinct++] = sorted[i];
  }
  return sorted.subarray(0, distinct);
}

/** How many of `ascending` are below the value: its rank when it is one of them. */
export function countBelow(ascending: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Throws unless there is one non-negative finite weight per row. */
export function checkWeights(weights: RowWeights | undefined, N: number): void {
  if (weights === undefined) return;
  checkLength("weights", weights.length, N);
  for (let row = 0; row < N; row++) {
    if (!(weights[row] >= 0 && weights[row] < Number.POSITIVE_INFINITY)) {
      throw new InputError(`a row weight is not a non-negative number: ${weights[row]}`, {
        code: "weights.invalid",
        where: `row ${row + 1}`,
      });
    }
  }
}

export function checkLength(what: string, length: number, N: number): void {
  if (length === N) return;
  throw new InputError(`${what}: ${length} values for ${N} rows`, { code: "rows.mismatch" });
}

export function groupRowsByTime(outcomes: Outcomes, weights?: RowWeights, timefix = false): RowsByTime {
  const N = outcomes.time.length;
  checkLength("event", outcomes.event.length, N);
  checkWeights(weights, N);
  // Rows of weight 0 are absent: a time at which only they stand must not appear.
  const used = weights === undefined ? outcomes.time : outcomes.time.filter((_, row) => weights[row] > 0);
  const distinct = distinctAscending(used, "time");
  const time = timefix ? joinNearTimes(distinct) : distinct;
  const rank = new Int32Array(N);
  const start = new Int32Array(time.length + 1);
  for (let row = 0; row < N; row++) {
    if (weights !== undefined && weights[row] === 0) continue;
    rank[row] = countAtMost(time, outcomes.time[row]) - 1;
    start[rank[row] + 1]++;
  }
  for (let k = 0; k < time.length; k++) start[k + 1] += start[k];
  const rows = new Int32Array(used.length);
  const next = start.slice(0, time.length);
  for (let row = 0; row < N; row++) {
    if (weights !== undefined && weights[row] === 0) continue;
    rows[next[rank[row]]++] = row;
  }
  return { time, start, rows };
}
