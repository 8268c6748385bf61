/**
 * The rows a Cox model is fitted to: validated, sorted by stratum into groups of tied times, with covariates
 * centred by the median and scaled by the median distance from it. This conditions Newton's method, cannot overflow by
 * squaring, and keeps a column's digits for its many values, not for one extreme value.
 */
import { present } from "../../core/present.ts";
import { joinOutcomeTimes, observedFrom } from "../../data/outcomes/intervals.ts";
import { type Outcomes, refuseBeyondCensoring } from "../../data/outcomes/outcomes.ts";
import { groupRowsByTime, type RowsByTimeOptions } from "../../data/outcomes/rows-by-time.ts";
import { type SingleCauseInput, toEvents, toFloat64 } from "../../data/plain-input.ts";
import { type CoxIntervals, placeIntervals, type Staying } from "./intervals.ts";

/** How tied event times share the likelihood. */
export type CoxTies = "efron" | "breslow";

/**
 * Rows by stratum and, in each, by ascending time in groups of tied times. Ties follow R's rule (core/ascending.ts) or
 * exact equality.
 */
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

/** Rows sorted by stratum and time into groups of tied times, covariates centred and scaled. */
export interface CoxRows extends CoxOrder {
  readonly N: number;
  readonly D: number;
  readonly ties: CoxTies;
  readonly x: Float64Array; // [N,D], centred and scaled, sorted
  readonly event: Uint8Array; // [N], sorted
  readonly weight: Float64Array; // [N], sorted
  /** Deaths per group of ties. */
  readonly deaths: Uint32Array; // [K]
  /** Which groups each row is at risk in, where that is not all groups up to its own. */
  readonly intervals?: CoxIntervals;
}

/** Outcomes and features of the rows a Cox model is fitted to; a row is at risk after its entry, if it has one. */
export interface CoxInput extends SingleCauseInput {
  /** The features, row by row. */
  readonly x: ArrayLike<number>; // [N,D] row-major
  /** Columns of x. */
  readonly D: number;
  /** Column names for messages and results; "x1", "x2", … where not given. */
  readonly names?: readonly string[]; // [D]
  /** Not allowed here: rows of several strata are a StratifiedCoxInput. */
  readonly strata?: undefined;
}

/**
 * Rows that share coefficients but not a baseline hazard: only rows of the same stratum are compared with each other.
 */
export interface StratifiedCoxInput extends Omit<CoxInput, "strata"> {
  /** 0, 1, … */
  readonly strata: ArrayLike<number>; // [N]
}

/** Either kind of input, as typed arrays. */
interface TypedCoxInput extends Outcomes {
  readonly x: Float64Array; // [N,D]
  readonly D: number;
  readonly names?: readonly string[];
  readonly strata?: ArrayLike<number> | undefined;
}

export interface CoxRowOptions {
  readonly ties: CoxTies;
  readonly timefix: boolean;
  readonly weights: ArrayLike<number> | undefined;
  /** Rows that stay at risk after their time. */
  readonly staying?: Staying | undefined;
}

/** A column on the scale of Newton's method: (value − centre) / scale. */
export interface CoxScaling {
  /** (Weighted) column means: the covariates of the person the baseline hazard describes. */
  readonly means: Float64Array; // [D]
  readonly centres: Float64Array; // [D]
  readonly scales: Float64Array; // [D]
  /** Largest minus smallest value, scaled. */
  readonly ranges: Float64Array; // [D]
}

export interface PreparedCoxRows extends CoxScaling {
  readonly rows: CoxRows;
}

/** Validates the input of every function that takes the rows of a Cox model. */
export function toCoxRows(input: CoxInput | StratifiedCoxInput): TypedCoxInput {
  refuseBeyondCensoring(input, "Cox's model", ["entry", "weight"]);
  const { time, event, x, D, names, strata } = input;
  const entry = input.entry && toFloat64(input.entry);
  const weight = input.weight && toFloat64(input.weight);
  const more = present({ names, strata, entry, weight });
  return { time: toFloat64(time), event: toEvents(event), x: toFloat64(x), D, ...more };
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

/** Rows that are prepared already, or what to prepare them from. */
export type CoxSource = CoxInput | StratifiedCoxInput | PreparedCoxRows;

/** Rows as they are, if they are prepared. */
export function toPreparedRows(source: CoxSource, options: CoxRowOptions): PreparedCoxRows {
  return "rows" in source ? source : prepareRows(source, options);
}

export function prepareRows(given: CoxInput | StratifiedCoxInput, options: CoxRowOptions): PreparedCoxRows {
  return arrangeRows(toCoxRows(given), options, gatherRows);
}

/** The same in the memory of `x`, which then holds the sorted and scaled rows: a long table has one design, not two. */
export function takeRows(
  given: (CoxInput | StratifiedCoxInput) & { readonly x: Float64Array },
  options: Omit<CoxRowOptions, "weights">,
): PreparedCoxRows {
  const rows = toCoxRows(given);
  // Rows without weight take no part: the others do not fill the memory as a permutation would.
  const sortRows = rows.weight?.some((own) => own === 0) === true ? gatherRows : permuteRows;
  return arrangeRows(rows, { ...options, weights: undefined }, sortRows);
}

function gatherRows(x: Float64Array, D: number, order: Int32Array): Float64Array {
  const sorted = new Float64Array(order.length * D);
  for (let i = 0, at = 0; i < order.length; i++, at += D) {
    for (let j = 0, from = order[i] * D; j < D; j++) sorted[at + j] = x[from + j];
  }
  return sorted;
}

/** Row order[i] comes to place i, along each cycle of the permutation, which is all rows in some order. */
function permuteRows(x: Float64Array, D: number, order: Int32Array): Float64Array {
  const isPlaced = new Uint8Array(order.length);
  const kept = new Float64Array(D);
  for (let first = 0; first < order.length; first++) {
    if (isPlaced[first] === 1 || order[first] === first) continue;
    for (let j = 0; j < D; j++) kept[j] = x[first * D + j];
    let to = first;
    for (let from = order[to]; from !== first; from = order[to]) {
      for (let j = 0; j < D; j++) x[to * D + j] = x[from * D + j];
      isPlaced[to] = 1;
      to = from;
    }
    for (let j = 0; j < D; j++) x[to * D + j] = kept[j];
    isPlaced[to] = 1;
  }
  return x;
}

function arrangeRows(
  given: TypedCoxInput,
  { ties, timefix, staying, ...options }: CoxRowOptions,
  sortRows: (x: Float64Array, D: number, order: Int32Array) => Float64Array,
): PreparedCoxRows {
  const { weights = given.weight } = options;
  const input = given.entry === undefined || !timefix ? given : joinOutcomeTimes(given);
  const { D } = input;
  const weightOf = (row: number) => weights?.[row] ?? 1;
  const ordered = orderRows(input.time, input.strata, { weights, timefix });
  const { order, times, start, firstGroup } = ordered;
  const N = order.length;
  const event = Uint8Array.from(order, (row) => input.event[row]);
  const weight = Float64Array.from(order, weightOf);
  const deaths = new Uint32Array(times.length);
  for (let k = 0; k < deaths.length; k++) for (let i = start[k]; i < start[k + 1]; i++) deaths[k] += event[i];

  const means = new Float64Array(D);
  const total = weight.reduce((sum, w) => sum + w, 0);
  for (let row = 0, at = 0; row < input.time.length; row++, at += D) {
    const share = weightOf(row) / total;
    for (let j = 0; j < D; j++) means[j] += share * input.x[at + j];
  }
  const { centres, scales } = chooseScales(input.x, D, order);
  const x = sortRows(input.x, D, order);
  const low = new Float64Array(D).fill(Number.POSITIVE_INFINITY);
  const high = new Float64Array(D).fill(Number.NEGATIVE_INFINITY);
  for (let at = 0; at < x.length; at += D) {
    for (let j = 0; j < D; j++) {
      const value = (x[at + j] - centres[j]) / scales[j];
      x[at + j] = value;
      if (value < low[j]) low[j] = value;
      if (value > high[j]) high[j] = value;
    }
  }
  const ranges = high.map((top, j) => top - low[j]);
  const from = input.entry && observedFrom(input.entry);
  const intervals =
    from === undefined && staying === undefined ? undefined : placeIntervals(ordered, from, staying);
  const places = { order, times, start, deaths, firstGroup, ...present({ intervals }) };
  const rows: CoxRows = { N, D, ties, x, event, weight, ...places };
  return { rows, means, centres, scales, ranges };
}

/** The number of values a column's median is computed from: every k-th row, which is exact enough for a scale. */
const SCALE_SAMPLE = 1000;

/**
 * The median, and the median distance from it: one extreme value moves neither, so the others keep their digits. If
 * half of the values are equal, the mean distance is used; if all are, 1.
 */
function chooseScales(x: Float64Array, D: number, order: Int32Array) {
  const N = order.length;
  const every = Math.ceil(N / SCALE_SAMPLE);
  const sample = new Float64Array(Math.ceil(N / every));
  const middle = sample.length >> 1;
  const centres = new Float64Array(D);
  const scales = new Float64Array(D);
  for (let j = 0; j < D; j++) {
    for (let i = 0; i < sample.length; i++) sample[i] = x[order[i * every] * D + j];
    centres[j] = sample.sort()[middle];
    for (let i = 0; i < sample.length; i++) sample[i] = Math.abs(sample[i] - centres[j]);
    scales[j] = sample.sort()[middle];
    if (scales[j] > 0) continue;
    for (let i = 0; i < N; i++) scales[j] += Math.abs(x[order[i] * D + j] - centres[j]) / N;
    if (scales[j] === 0) scales[j] = 1;
  }
  return { centres, scales };
}
