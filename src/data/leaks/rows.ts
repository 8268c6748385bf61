/**
 * What the leak detectors look at: the usable rows of a table (time, event) and one column restricted to them, either
 * as numbers (numbers and dates, NaN = missing) or as codes (categories and booleans, −1 = missing), with the counts
 * of rows and events per distinct value; and the ways in which one value sets its rows apart from all others. Numbers
 * are sorted once per class with the engine's own sort of typed arrays, which is what keeps a million rows a matter of
 * seconds.
 */
import { logGamma } from "../../core/distributions.ts";
import { log } from "../../core/elementary.ts";
import { groupRowsByTime } from "../outcomes/rows-by-time.ts";
import { type Column, type ColumnType, cellText, MISSING_BOOLEAN } from "../table.ts";

/** The usable rows. */
export interface LeakRows {
  readonly rows: Int32Array; // [N], 0-based rows of the table
  readonly time: Float64Array; // [N]
  readonly event: Uint8Array; // [N]
  readonly events: number;
  /** Rows, and rows with the event, by increasing time (indices into the arrays above), made when first asked for. */
  readonly byTime: () => Int32Array; // [N]
  readonly eventsByTime: () => Int32Array; // [events]
  /** log of the error probability left to one test: ALPHA over the number of columns. */
  readonly logAlpha: number;
}

export interface LeakColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** NaN = missing; null for codes. */
  readonly numbers: Float64Array | null; // [N]
  /** −1 = missing; null for numbers. */
  readonly codes: Int32Array | null; // [N]
  readonly counts: ValueCounts;
  readonly label: (value: number) => string;
}

/** Rows and events per distinct value; values ascend for numbers, and are codes otherwise. */
export interface ValueCounts {
  readonly values: Float64Array; // [K]
  readonly rows: Int32Array; // [K]
  readonly events: Int32Array; // [K]
  readonly known: number;
  readonly knownEvents: number;
}

/**
 * Chance of one false leak per table that the tests against chance allow, over all columns together. The rules that
 * follow them ask for far more; this only keeps small tables quiet.
 */
const ALPHA = 1e-3;
/** A column that gives away about half of the rows (less the luck of the draw) gives away too many people: an error. */
export const MOST = 0.45;
/** Below this share a column is left alone: the rows are few, and honest columns have such corners. */
export const SOME = 0.1;
/** Rows that contradict a rule about times, as a share of those that support it: slips of the pen. */
export const MAX_SLIPS = 0.02;
/** Rows of a sample: enough to drop every column that is not a copy, few enough to be free. */
export const SAMPLE_ROWS = 2000;

export function collectLeakRows(
  time: Float64Array,
  event: Uint8Array,
  usable: Uint8Array,
  columns: number,
): LeakRows {
  let N = 0;
  for (const one of usable) N += one;
  const rows = new Int32Array(N);
  const times = new Float64Array(N);
  const flags = new Uint8Array(N);
  let events = 0;
  for (let row = 0, i = 0; row < usable.length; row++) {
    if (usable[row] === 0) continue;
    rows[i] = row;
    times[i] = time[row];
    flags[i] = event[row];
    events += event[row];
    i++;
  }
  let order: Int32Array | null = null;
  const byTime = () => {
    order ??= groupRowsByTime(times).rows;
    return order;
  };
  let eventOrder: Int32Array | null = null;
  const eventsByTime = () => {
    eventOrder ??= byTime().filter((row) => flags[row] === 1);
    return eventOrder;
  };
  const logAlpha = log(ALPHA / Math.max(1, columns));
  return { rows, time: times, event: flags, events, byTime, eventsByTime, logAlpha };
}

export function collectLeakColumn(column: Column, leak: LeakRows): LeakColumn {
  const N = leak.rows.length;
  const named = { name: column.name, type: column.type };
  if (column.type === "number" || column.type === "date") {
    const numbers =
      N === column.values.length ? column.values : Float64Array.from(leak.rows, (row) => column.values[row]);
    const one = (value: number) => cellText({ ...column, values: Float64Array.of(value) }, 0);
    return { ...named, numbers, codes: null, counts: countNumbers(numbers, leak), label: one };
  }
  const codes = new Int32Array(N);
  for (let i = 0; i < N; i++) {
    const row = leak.rows[i];
    if (column.type === "category") codes[i] = column.codes[row];
    else codes[i] = column.values[row] === MISSING_BOOLEAN ? -1 : column.values[row];
  }
  const levels = column.type === "category" ? column.levels : ["false", "true"];
  const counts = countCodes(codes, levels.length, leak);
  return { ...named, numbers: null, codes, counts, label: (code) => levels[code] };
}

function countCodes(codes: Int32Array, levels: number, leak: LeakRows): ValueCounts {
  const rows = new Int32Array(levels);
  const events = new Int32Array(levels);
  let known = 0;
  let knownEvents = 0;
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] < 0) continue;
    rows[codes[i]]++;
    events[codes[i]] += leak.event[i];
    known++;
    knownEvents += leak.event[i];
  }
  const values = Float64Array.from(rows.keys());
  return { values, rows, events, known, knownEvents };
}

function countNumbers(numbers: Float64Array, leak: LeakRows): ValueCounts {
  const N = numbers.length;
  const sides = [new Float64Array(N - leak.events), new Float64Array(leak.events)]; // censored, events
  const filled = [0, 0];
  for (let i = 0; i < N; i++) {
    if (Number.isNaN(numbers[i])) continue;
    const side = leak.event[i];
    sides[side][filled[side]++] = numbers[i];
  }
  const censored = sides[0].subarray(0, filled[0]).sort();
  const event = sides[1].subarray(0, filled[1]).sort();
  const known = censored.length + event.length;
  const values = new Float64Array(known);
  const rows = new Int32Array(known);
  const events = new Int32Array(known);
  let K = 0;
  for (let c = 0, e = 0; c < censored.length || e < event.length; K++) {
    const value = e >= event.length || censored[c] < event[e] ? censored[c] : event[e];
    const from = c + e;
    while (c < censored.length && censored[c] === value) c++;
    const eventsFrom = e;
    while (e < event.length && event[e] === value) e++;
    values[K] = value;
    rows[K] = c + e - from;
    events[K] = e - eventsFrom;
  }
  return {
    values: values.subarray(0, K),
    rows: rows.subarray(0, K),
    events: events.subarray(0, K),
    known,
    knownEvents: event.length,
  };
}

/** log of n over k. */
export function logChoose(n: number, k: number): number {
  return logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1);
}

/** So many of the rows, evenly spread; all of them where there are no more. */
export function sampleOf(rows: Int32Array, size: number): Int32Array {
  if (rows.length <= size) return rows;
  const sample = new Int32Array(size);
  for (let i = 0; i < size; i++) sample[i] = rows[Math.floor((i * rows.length) / size)];
  return sample;
}

/** Rows with one value, or without any, against all others. */
export interface ValueSplit {
  /** Index among the places of `codeSplits`. */
  readonly code: number;
  readonly rows: number;
  readonly events: number;
  /** "with 1", "without a value" */
  readonly text: string;
  /** Of the other side: "with 0", "with another value or none" */
  readonly otherText: string;
}

export interface CodedSplits {
  /** [N], the code of the row's value, −1 for values too rare to be looked at. */
  readonly codes: Int8Array;
  readonly splits: readonly ValueSplit[];
}

/** A side of fewer rows says nothing that chance could not. */
const MIN_SIDE_ROWS = 10;
/** Values of one column that are looked at, the most frequent first; with missing they fit into a code of one byte. */
const MAX_VALUES = 50;

export function splitByValues(column: LeakColumn, leak: LeakRows): CodedSplits {
  const { counts, label } = column;
  const N = leak.rows.length;
  const frequent = listFrequent(counts.rows, N);
  const missing = N - counts.known;
  const hasMissing = missing >= MIN_SIDE_ROWS && counts.known >= MIN_SIDE_ROWS;
  const splits: ValueSplit[] = [];
  const isBinary = counts.rows.length === 2 && missing === 0;
  frequent.forEach((k, code) => {
    if (isBinary && code > 0) return; // the same cut, from its other side
    splits.push({
      code,
      rows: counts.rows[k],
      events: counts.events[k],
      text: `with ${label(counts.values[k])}`,
      otherText: isBinary
        ? `with ${label(counts.values[1 - k])}`
        : otherThan(label(counts.values[k]), missing),
    });
  });
  if (hasMissing) {
    splits.push({
      code: frequent.length,
      rows: missing,
      events: leak.events - counts.knownEvents,
      text: "without a value",
      otherText: "with a value",
    });
  }
  const codes = splits.length === 0 ? new Int8Array(0) : codeRows(column, frequent, N);
  return { codes, splits };
}

function otherThan(value: string, missing: number): string {
  return missing > 0 ? `with another value than ${value} or none` : `with another value than ${value}`;
}

/** Places of the values whose rows, and all other rows, are enough; most frequent first. */
function listFrequent(rows: Int32Array, N: number): number[] {
  const frequent: number[] = [];
  for (let k = 0; k < rows.length; k++) {
    if (rows[k] >= MIN_SIDE_ROWS && N - rows[k] >= MIN_SIDE_ROWS) frequent.push(k);
  }
  return frequent.sort((a, b) => rows[b] - rows[a]).slice(0, MAX_VALUES);
}

function codeRows({ numbers, codes, counts }: LeakColumn, frequent: readonly number[], N: number): Int8Array {
  const coded = new Int8Array(N).fill(-1);
  const missing = frequent.length;
  if (numbers === null) {
    const place = new Int8Array(counts.values.length).fill(-1);
    frequent.forEach((k, code) => {
      place[k] = code;
    });
    for (let row = 0; row < N; row++) {
      const code = codes?.[row] ?? -1;
      coded[row] = code < 0 ? missing : place[code];
    }
    return coded;
  }
  const place = new Map(frequent.map((k, code) => [counts.values[k], code]));
  for (let row = 0; row < N; row++) {
    coded[row] = Number.isNaN(numbers[row]) ? missing : (place.get(numbers[row]) ?? -1);
  }
  return coded;
}
