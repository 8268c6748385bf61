/**
 * The rows a Cox model is fitted to: checked at the door, sorted into groups of equal times, their covariates centred by the
 * (weighted) mean and scaled by the mean absolute deviation, which conditions Newton's method and cannot overflow by squaring.
 * Times are tied only when exactly equal: rounding that should tie is the caller's business.
 */
import { InputError, nameRows } from "../core/errors.ts";

/** How tied event times share the likelihood. */
export type CoxTies = "efron" | "breslow";

/** Rows sorted by time into groups of equal times, covariates centred and scaled. */
export interface CoxRows {
  readonly N: number;
  readonly D: number;
  readonly ties: CoxTies;
  readonly x: Float64Array; // [N,D], centred and scaled, sorted by time
  readonly event: Uint8Array; // [N], sorted
  readonly weight: Float64Array; // [N], sorted
  /** Distinct times, ascending. */
  readonly times: Float64Array; // [K]
  /** Group k is the rows start[k] … start[k+1]−1. */
  readonly start: Uint32Array; // [K+1]
  /** Deaths per distinct time. */
  readonly deaths: Uint32Array; // [K]
}

/** Outcomes and features of the rows a Cox model is fitted to. */
export interface CoxInput {
  readonly time: Float64Array; // [N]
  readonly event: Uint8Array; // [N], 1 = event, 0 = censored
  readonly x: Float64Array; // [N,D] row-major
  readonly D: number;
  /** Column names for messages and results; "x1", "x2", … where not given. */
  readonly names?: readonly string[]; // [D]
}

export function prepareRows(input: CoxInput, ties: CoxTies, weights: ArrayLike<number> | undefined) {
  const { D } = input;
  const weightOf = (row: number) => weights?.[row] ?? 1;
  const { order, times, start } = sortByTime(input.time, (row) => weightOf(row) > 0);
  const N = order.length;
  const event = Uint8Array.from(order, (row) => input.event[row]);
  const weight = Float64Array.from(order, weightOf);
  const deaths = new Uint32Array(times.length);
  for (let k = 0; k < deaths.length; k++) for (let i = start[k]; i < start[k + 1]; i++) deaths[k] += event[i];

  const means = new Float64Array(D);
  const scales = new Float64Array(D);
  const total = weight.reduce((sum, w) => sum + w, 0);
  for (let row = 0, at = 0; row < input.time.length; row++, at += D) {
    const share = weightOf(row) / total;
    for (let j = 0; j < D; j++) means[j] += share * input.x[at + j];
  }
  for (let row = 0, at = 0; row < input.time.length; row++, at += D) {
    const share = weightOf(row) / total;
    for (let j = 0; j < D; j++) scales[j] += share * Math.abs(input.x[at + j] - means[j]);
  }
  for (let j = 0; j < D; j++) if (!(scales[j] > 0)) scales[j] = 1;
  const x = new Float64Array(N * D);
  const low = new Float64Array(D).fill(Number.POSITIVE_INFINITY);
  const high = new Float64Array(D).fill(Number.NEGATIVE_INFINITY);
  for (let i = 0, at = 0; i < N; i++, at += D) {
    const from = order[i] * D;
    for (let j = 0; j < D; j++) {
      const value = (input.x[from + j] - means[j]) / scales[j];
      x[at + j] = value;
      if (value < low[j]) low[j] = value;
      if (value > high[j]) high[j] = value;
    }
  }
  const ranges = high.map((top, j) => top - low[j]);
  const rows: CoxRows = { N, D, ties, x, event, weight, times, start, deaths };
  return { rows, means, scales, ranges };
}

export function checkInput({ time, event, x, D, names }: CoxInput, weights?: ArrayLike<number>): void {
  const N = time.length;
  const refuse = (message: string, where?: string, hint?: string) => {
    const details = { ...(where === undefined ? {} : { where }), ...(hint === undefined ? {} : { hint }) };
    throw new InputError(message, { code: "cox.input", ...details });
  };
  if (N === 0) refuse("no rows: a Cox model needs at least one");
  if (event.length !== N) refuse(`event has ${event.length} entries, time has ${N}`);
  if (x.length !== N * D) refuse(`x has ${x.length} entries, expected ${N} rows × ${D} columns`);
  if (names && names.length !== D) refuse(`${names.length} names for ${D} columns`);
  if (weights && weights.length !== N) refuse(`weights has ${weights.length} entries, time has ${N}`);
  const refuseRows = (
    value: (row: number) => number,
    good: (value: number) => boolean,
    what: string,
    hint: string,
  ) => {
    const bad: number[] = [];
    for (let row = 0; row < N; row++) if (!good(value(row))) bad.push(row);
    if (bad.length > 0) refuse(`${what}: ${value(bad[0])}`, nameRows(bad.map((row) => row + 1)), hint);
  };
  refuseRows(
    (row) => time[row],
    Number.isFinite,
    "time is not a finite number",
    "leave rows without a time out",
  );
  refuseRows(
    (row) => event[row],
    (e) => e <= 1,
    "event is neither 0 nor 1",
    "1 = event, 0 = censored",
  );
  for (let j = 0; j < D; j++)
    refuseRows(
      (row) => x[row * D + j],
      Number.isFinite,
      `column "${nameColumn(names, j)}" is not a finite number`,
      "encode or fill missing values first",
    );
  if (weights)
    refuseRows(
      (row) => weights[row],
      (w) => w >= 0 && w < Number.POSITIVE_INFINITY,
      "weight is not ≥ 0",
      "use 0 to leave a row out",
    );
}

/** Columns without names are called x1, x2, … */
export function nameColumn(names: readonly string[] | undefined, j: number): string {
  return names?.[j] ?? `x${j + 1}`;
}

/** The position of each row when sorted by time, without a comparator: native sort, then a search per row. */
export function sortByTime(
  time: Float64Array,
  use: (row: number) => boolean,
): { readonly order: Uint32Array; readonly times: Float64Array; readonly start: Uint32Array } {
  const sorted = time.filter((_, row) => use(row)).sort();
  let K = 0;
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[K - 1]) sorted[K++] = sorted[i];
  const order = new Uint32Array(sorted.length);
  const times = sorted.slice(0, K);
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

/** How many of the ascending values are ≤ limit. */
export function countAtMost(values: Float64Array, limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
