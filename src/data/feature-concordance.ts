/**
 * How well each feature orders people by itself: Harrell's C-index of the feature alone, over .5 in whichever direction it
 * goes. Numbers stand for themselves (missing for the median), categories for their rate of events, missing being one of
 * them. A feature far above the rest deserves a word before a model is fitted: it may be the one that matters, or one that was
 * known only later. A sample of rows will do; nothing is fitted, and combinations are not looked at.
 */
import type { Outcomes } from "./outcomes.ts";
import type { Column } from "./table.ts";
import { MISSING_BOOLEAN } from "./table.ts";

export interface FeatureConcordance {
  readonly name: string;
  /** .5 to 1. */
  readonly c: number;
}

/** Rows that are looked at: the standard error of a C-index is below .01. */
const SAMPLE_ROWS = 4000;
/** Fewer events order nothing. */
const MIN_EVENTS = 20;
/** Levels of a category with fewer rows stand for everybody: their own rate would be a fit to noise. */
const MIN_LEVEL_ROWS = 20;

interface SampledRows {
  readonly rows: Int32Array; // by decreasing time, censored rows of a time before its events
  readonly time: Float64Array; // [n], of these rows
  readonly event: Uint8Array; // [n]
  readonly hazard: Float64Array; // [n], everybody's cumulative hazard at the row's time
}

/** The C-index of every column by itself, in their order; none where there are too few events. */
export function concordanceAlone(
  columns: readonly Column[],
  outcomes: Outcomes,
  usable: Uint8Array,
): FeatureConcordance[] {
  const sampled = sampleRows(outcomes, usable);
  if (sampled === null) return [];
  return columns.map((column) => ({ name: column.name, c: orderBy(scoreRows(column, sampled), sampled) }));
}

function sampleRows({ time, event }: Outcomes, usable: Uint8Array): SampledRows | null {
  const all: number[] = [];
  for (let row = 0; row < usable.length; row++) if (usable[row] === 1) all.push(row);
  const n = Math.min(all.length, SAMPLE_ROWS);
  const rows = Int32Array.from({ length: n }, (_, i) => all[Math.floor((i * all.length) / n)]);
  rows.sort((a, b) => time[b] - time[a] || event[a] - event[b]);
  const times = Float64Array.from(rows, (row) => time[row]);
  const events = Uint8Array.from(rows, (row) => event[row]);
  if (events.reduce((sum, one) => sum + one, 0) < MIN_EVENTS) return null;
  const hazard = new Float64Array(n);
  for (let last = n, sum = 0; last > 0; ) {
    let first = last;
    let atTime = 0;
    while (first > 0 && times[first - 1] === times[last - 1]) atTime += events[--first];
    sum += atTime / last; // those at or before a place in this order are at risk
    hazard.fill(sum, first, last);
    last = first;
  }
  return { rows, time: times, event: events, hazard };
}

function scoreRows(column: Column, { rows, event, hazard }: SampledRows): Float64Array {
  if (column.type === "number" || column.type === "date") {
    const values = Float64Array.from(rows, (row) => column.values[row]);
    const known = values.filter((value) => !Number.isNaN(value)).sort();
    const median = known.length > 0 ? known[known.length >> 1] : 0;
    return values.map((value) => (Number.isNaN(value) ? median : value));
  }
  const levels = column.type === "category" ? column.levels.length : 2;
  const codes = Int32Array.from(rows, (row) => {
    const code = column.type === "category" ? column.codes[row] : column.values[row];
    return code < 0 || (code === MISSING_BOOLEAN && column.type === "boolean") ? levels : code;
  });
  const counts = new Int32Array(levels + 1);
  const events = new Float64Array(levels + 1);
  const expected = new Float64Array(levels + 1);
  codes.forEach((code, i) => {
    counts[code]++;
    events[code] += event[i];
    expected[code] += hazard[i];
  });
  const rate = events.map((count, code) => (counts[code] < MIN_LEVEL_ROWS ? 1 : count / expected[code]));
  return Float64Array.from(codes, (code) => rate[code]);
}

/** Harrell's C-index of the scores, ties half, or 1 less it where that is larger. */
function orderBy(scores: Float64Array, { time, event }: SampledRows): number {
  const distinct = Float64Array.from(new Set(scores)).sort();
  const rank = new Map(Array.from(distinct, (score, k) => [score, k + 1]));
  const tree = new Int32Array(distinct.length + 1); // later rows by rank, as sums over powers of two
  const seenUpTo = (last: number) => {
    let sum = 0;
    for (let k = last; k > 0; k &= k - 1) sum += tree[k];
    return sum;
  };
  let seen = 0;
  let pairs = 0;
  let inOrder = 0; // twice the lower scores among later rows, and once the tied ones
  for (let first = 0; first < time.length; ) {
    let end = first;
    while (end < time.length && time[end] === time[first]) end++;
    // Rows of one time: the censored outlived the events, and are in front of them.
    const add = (isEvent: number) => {
      for (let i = first; i < end; i++) {
        if (event[i] !== isEvent) continue;
        seen++;
        for (let k = rank.get(scores[i]) ?? 1; k < tree.length; k += k & -k) tree[k]++;
      }
    };
    add(0);
    for (let i = first; i < end; i++) {
      if (event[i] === 0) continue;
      const k = rank.get(scores[i]) ?? 1;
      pairs += seen;
      inOrder += seenUpTo(k - 1) + seenUpTo(k);
    }
    add(1);
    first = end;
  }
  const c = pairs > 0 ? inOrder / (2 * pairs) : 0.5;
  return Math.max(c, 1 - c);
}
