/**
 * Rows in the order of their times, and who was at risk at each: every estimator and test that walks over raw times
 * starts here, and so does the product-limit estimate S(t) = Π (1 − d/n) with Greenwood's sum Σ d/(n(n−d)). Ties are
 * exact equality unless `timefix` is asked for, as Kaplan-Meier, the logrank test and Cox's model do: then times that
 * differ only by rounding are one (core/ascending.ts). Weights are multiplicities: 2 is the row twice, 0 the row
 * absent.
 */
import { countAtMost, joinNearTimes, keepDistinct } from "../../core/ascending.ts";
import { InputError, nameRows } from "../../core/errors.ts";
import { observedFrom } from "./intervals.ts";
import type { Outcomes, RightCensored, RowWeights } from "./outcomes.ts";

/** Rows of positive weight grouped by distinct time, ascending; group k is rows[start[k]] … rows[start[k+1] − 1]. */
export interface RowsByTime {
  readonly time: Float64Array; // [K], distinct
  readonly start: Int32Array; // [K+1]
  readonly rows: Int32Array;
}

/** Who was at risk, and what happened, at each distinct time. */
export interface RiskTable {
  readonly time: Float64Array; // [K], distinct, ascending
  readonly atRisk: Float64Array;
  readonly events: Float64Array;
  readonly censored: Float64Array;
}

/** Which rows take part, and which times are one. */
export interface RowsByTimeOptions {
  readonly weights?: RowWeights | undefined;
  /** Whether times that differ only by rounding are one, by R's rule; default false. */
  readonly timefix?: boolean;
}

/** The product-limit estimate at each time of a risk table. */
export interface ProductLimit {
  readonly survival: Float64Array; // [K]
  /** Σ d/(n(n−d)), the variance of log S; Infinity where S = 0. */
  readonly greenwood: Float64Array; // [K]
}

/** The distinct values, ascending; `what` names them where one is not a number. */
export function distinctAscending(values: ArrayLike<number>, what: string): Float64Array {
  const sorted = Float64Array.from(values).sort();
  // A typed array sorts NaN last, so one look finds it.
  if (Number.isNaN(sorted[sorted.length - 1])) refuseNaN(values, what);
  return keepDistinct(sorted);
}

function refuseNaN(values: ArrayLike<number>, what: string): never {
  const rows: number[] = [];
  for (let row = 0; row < values.length; row++) if (Number.isNaN(values[row])) rows.push(row + 1);
  throw new InputError(`${what} is not a number: ${nameRows(rows)}`, { code: "value.nan" });
}

/** Beyond these the sums of a fit lose digits, or Newton's method stops too early: the largest weight lies between. */
export const WEIGHT_RANGE = { least: 1e-9, most: 1e12 } as const;

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

/** Throws unless there are as many values as rows. */
export function checkLength(what: string, length: number, N: number): void {
  if (length === N) return;
  throw new InputError(`${what}: ${length} values for ${N} rows`, { code: "rows.mismatch" });
}

/** Sorts rows by time without a comparator: the times are sorted, then each row finds its place by binary search. */
export function groupRowsByTime(rowTimes: Float64Array, options: RowsByTimeOptions = {}): RowsByTime {
  const { weights, timefix = false } = options;
  const N = rowTimes.length;
  checkWeights(weights, N);
  // Rows of weight 0 are absent: a time that only they have must not appear.
  const used = weights === undefined ? rowTimes : rowTimes.filter((_, row) => weights[row] > 0);
  const distinct = distinctAscending(used, "time");
  const time = timefix ? joinNearTimes(distinct) : distinct;
  const rank = new Int32Array(N);
  const start = new Int32Array(time.length + 1);
  for (let row = 0; row < N; row++) {
    if (weights !== undefined && weights[row] === 0) continue;
    rank[row] = countAtMost(time, rowTimes[row]) - 1;
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

/** Counts who is at risk, has the event and is censored at each distinct time; a row is at risk after its entry. */
export function tallyRisk(
  { time: times, event, entry }: RightCensored | Pick<Outcomes, "time" | "event" | "entry">,
  options: RowsByTimeOptions = {},
): RiskTable {
  const { weights } = options;
  const { time, start, rows } = groupRowsByTime(times, options);
  const K = time.length;
  const atRisk = new Float64Array(K);
  const events = new Float64Array(K);
  const censored = new Float64Array(K);
  let later = 0;
  // From the last time backwards: nothing is subtracted, so "everyone left has the event" is exact for any weights.
  for (let k = K - 1; k >= 0; k--) {
    for (let i = start[k]; i < start[k + 1]; i++) {
      const weight = weights === undefined ? 1 : weights[rows[i]];
      if (event[rows[i]] === 1) events[k] += weight;
      else censored[k] += weight;
    }
    later += events[k] + censored[k];
    atRisk[k] = later;
  }
  const table = { time, atRisk, events, censored };
  if (entry !== undefined) leaveOutLate(table, { event, entry, weights }, { time, start, rows });
  return table;
}

/**
 * Takes those who have not entered yet out of the numbers at risk. Where everyone at risk has the event, rounding must
 * not leave anyone: the number at risk is then that of the events.
 */
function leaveOutLate(
  { atRisk, events }: RiskTable,
  { event, entry, weights }: { event: Uint8Array; entry: Float64Array; weights: RowWeights | undefined },
  { time, start, rows }: RowsByTime,
): void {
  const K = time.length;
  const late = new Float64Array(K + 1); // the weight of rows that enter at or after time k, and not at or after k+1
  const lateRows = new Int32Array(K + 1);
  const from = observedFrom(entry);
  for (const row of rows) {
    const passed = countAtMost(time, from[row]); // at risk at time[passed] and later
    if (passed === 0) continue;
    late[passed - 1] += weights === undefined ? 1 : weights[row];
    lateRows[passed - 1]++;
  }
  let outside = 0;
  let outsideRows = 0;
  for (let k = K - 1; k >= 0; k--) {
    outside += late[k];
    outsideRows += lateRows[k];
    let dying = 0;
    for (let i = start[k]; i < start[k + 1]; i++) dying += event[rows[i]];
    const present = rows.length - start[k] - outsideRows;
    atRisk[k] = present === dying ? events[k] : atRisk[k] - outside;
  }
}

/** Kaplan-Meier without its confidence limits, which stats/kaplan-meier.ts adds. */
export function productLimit({ atRisk, events }: Pick<RiskTable, "atRisk" | "events">): ProductLimit {
  const survival = new Float64Array(events.length);
  const greenwood = new Float64Array(events.length);
  let S = 1;
  let sum = 0;
  for (let k = 0; k < events.length; k++) {
    const n = atRisk[k];
    const d = events[k];
    if (d > 0) {
      S *= (n - d) / n;
      sum += d / (n * (n - d));
    }
    survival[k] = S;
    greenwood[k] = sum;
  }
  return { survival, greenwood };
}
