/**
 * Remarks on a model's features as a whole, before it is fitted: how many cells are missing and what replaces them, and
 * which feature alone orders people far better than the others do; it may be the one that matters, or one that was
 * known only later. These are notes, not alarms: honest tables have both. A feature's order is Harrell's C-index of its
 * own, turned so that it is at least .5, on a sample of rows; numbers stand for themselves (the median where missing),
 * categories for their rate of events, with missing as one more. The C-index of stats/concordance is out of reach here,
 * because data imports nothing of stats; it also weighs and compares risks that this check does not have.
 */

import { countBelow } from "../../core/ascending.ts";
import { joinSaid, say, share } from "../../core/sentence.ts";
import { countOf } from "../../core/text.ts";
import type { RightCensored } from "../outcomes/outcomes.ts";
import type { InspectedOutcomes } from "../outcomes/read-outcomes.ts";
import { type Column, countMissing, findColumn, type Table } from "../table.ts";
import { createFinding, type Finding } from "./findings.ts";

/** Most columns that a sentence on missing cells names, those with the most missing cells first. */
const MAX_COLUMNS_NAMED = 6;
/** A C-index below this is nothing special for one feature, however little the others do … */
const LEAST_ALONE = 0.65;
/** … and this much above the next is more than the luck of the sample. */
const FAR_ABOVE = 0.05;
/** At most this many features can lead the rest together; more do not stand out. */
const MAX_LEADERS = 3;
/** For one feature without a model: an honest one would need a hazard ratio in the hundreds per standard deviation. */
const EXTREME = 0.95;

/** Missing cells and leading features, as findings. */
export function checkFeatures(
  table: Table,
  features: readonly string[],
  { outcomes, usable }: InspectedOutcomes,
): Finding[] {
  const used = features.map((name) => findColumn(table, name));
  const missing = findMissing(used, table.rows);
  const alone = outcomes === null ? [] : findLeaders(concordanceAlone(used, outcomes, usable));
  return [...(missing === null ? [] : [missing]), ...alone];
}

function findMissing(columns: readonly Column[], rows: number): Finding | null {
  const counted = columns
    .map((column) => ({ column, missing: countMissing(column) }))
    .filter(({ missing }) => missing > 0)
    .sort((a, b) => b.missing - a.missing);
  if (counted.length === 0) return null;
  const named = counted
    .slice(0, MAX_COLUMNS_NAMED)
    .map(({ column, missing }) => say`${column.name} ${share(missing, rows, { percent: true })}`);
  const more = counted.length - named.length;
  const rest = more > 0 ? ` and ${countOf(more, "column")} with fewer` : "";
  const isCategory = ({ column }: { readonly column: Column }) => column.type === "category";
  const filled = [
    ...(counted.every(isCategory)
      ? []
      : ["the training median stands in for numbers (the majority for true/false)"]),
    ...(counted.some(isCategory) ? ["missing is a level of its own in a category"] : []),
  ];
  const said = say`missing cells: ${joinSaid(named, ", ")}${rest}; ${filled.join(", and ")}`;
  const evidence = {
    columns: counted.length,
    cells: counted.reduce((sum, { missing }) => sum + missing, 0),
    most: counted[0].column.name,
    mostCells: counted[0].missing,
    rows,
  };
  return createFinding({ code: "cells.missing", level: "note", column: null, said, evidence });
}

/** The features before the first wide gap, where they are few and their C-indices high. */
export function findLeaders(features: readonly { readonly name: string; readonly c: number }[]): Finding[] {
  const sorted = [...features].sort((a, b) => b.c - a.c);
  const end = sorted.findIndex(
    ({ c }, k) => k + 1 < sorted.length && c >= LEAST_ALONE && c - sorted[k + 1].c >= FAR_ABOVE,
  );
  if (end < 0 || end >= MAX_LEADERS) return [];
  const next = sorted[end + 1];
  return sorted.slice(0, end + 1).map(({ name, c }) =>
    createFinding({
      code: "feature.alone",
      level: c >= EXTREME ? "warning" : "note",
      column: name,
      said:
        `${name} alone gives a C-index of ${c.toFixed(3)}, ` +
        `the best of the rest (${next.name}) ${next.c.toFixed(3)}: make sure that it was known at the start`,
      evidence: { c, next: next.name, nextC: next.c },
    }),
  );
}

export interface FeatureConcordance {
  readonly name: string;
  /** .5 to 1. */
  readonly c: number;
}

/** Rows in the sample: the standard error of a C-index is about .01. Tables with very many columns use fewer rows. */
const SAMPLE_ROWS = 4000;
const MANY_COLUMNS = 1000;
const SAMPLE_ROWS_OF_MANY = 500;
/** With fewer events, nothing can be ordered. */
const MIN_EVENTS = 20;
/** Category levels with fewer rows get everybody's rate: their own would be a fit to noise. */
const MIN_LEVEL_ROWS = 20;

interface SampledRows {
  readonly rows: Int32Array; // by decreasing time; at equal times, censored rows before events
  readonly time: Float64Array; // [n], of these rows
  readonly event: Uint8Array; // [n]
  readonly hazard: Float64Array; // [n], everybody's cumulative hazard at the row's time
}

/**
 * The C-index of every column by itself, in column order; none where there are too few events. Nothing is fitted, and
 * combinations are not searched.
 */
export function concordanceAlone(
  columns: readonly Column[],
  outcomes: RightCensored,
  usable: Uint8Array,
): FeatureConcordance[] {
  const sampled = sampleRows(
    outcomes,
    usable,
    columns.length > MANY_COLUMNS ? SAMPLE_ROWS_OF_MANY : SAMPLE_ROWS,
  );
  if (sampled === null) return [];
  return columns.map((column) => ({ name: column.name, c: orderBy(scoreRows(column, sampled), sampled) }));
}

function sampleRows({ time, event }: RightCensored, usable: Uint8Array, size: number): SampledRows | null {
  const all: number[] = [];
  for (let row = 0; row < usable.length; row++) if (usable[row] === 1) all.push(row);
  const n = Math.min(all.length, size);
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

function scoreRows(column: Column, sampled: SampledRows): Float64Array {
  if (column.type === "category") return scoreLevels(column.codes, column.levels.length, sampled);
  if (column.type === "boolean") return scoreLevels(column.values, 2, sampled);
  const { rows } = sampled;
  const scores = new Float64Array(rows.length);
  let missing = 0;
  for (let i = 0; i < rows.length; i++) {
    scores[i] = column.values[rows[i]];
    if (Number.isNaN(scores[i])) missing++;
  }
  if (missing === 0) return scores;
  const known = scores.filter((value) => !Number.isNaN(value)).sort();
  const median = known.length > 0 ? known[known.length >> 1] : 0;
  for (let i = 0; i < scores.length; i++) if (Number.isNaN(scores[i])) scores[i] = median;
  return scores;
}

/** Each level's events over its expected events; codes that are no level (−1, 255) are missing, one more level. */
function scoreLevels(
  codes: Int32Array | Uint8Array,
  levels: number,
  { rows, event, hazard }: SampledRows,
): Float64Array {
  const counts = new Int32Array(levels + 1);
  const events = new Float64Array(levels + 1);
  const expected = new Float64Array(levels + 1);
  const places = new Int32Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    const code = codes[rows[i]];
    const place = code >= 0 && code < levels ? code : levels;
    places[i] = place;
    counts[place]++;
    events[place] += event[i];
    expected[place] += hazard[i];
  }
  const scores = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    const place = places[i];
    const isRated = counts[place] >= MIN_LEVEL_ROWS && expected[place] > 0;
    scores[i] = isRated ? events[place] / expected[place] : 1;
  }
  return scores;
}

/** Ranks from 1 for the smallest score; only equal scores share a rank. */
function rankScores(scores: Float64Array): Int32Array {
  const sorted = Float64Array.from(scores).sort();
  return Int32Array.from(scores, (score) => countBelow(sorted, score) + 1);
}

/** Harrell's C-index of the scores with ties counted half, or 1 minus it where that is larger. */
function orderBy(scores: Float64Array, { time, event }: SampledRows): number {
  const ranks = rankScores(scores);
  const tree = new Int32Array(scores.length + 1); // later rows by rank, as sums over powers of two
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
    // Rows of one time: the censored outlived the events, so they come first.
    const add = (isEvent: number) => {
      for (let i = first; i < end; i++) {
        if (event[i] !== isEvent) continue;
        seen++;
        for (let k = ranks[i]; k < tree.length; k += k & -k) tree[k]++;
      }
    };
    add(0);
    for (let i = first; i < end; i++) {
      if (event[i] === 0) continue;
      pairs += seen;
      inOrder += seenUpTo(ranks[i] - 1) + seenUpTo(ranks[i]);
    }
    add(1);
    first = end;
  }
  const c = pairs > 0 ? inOrder / (2 * pairs) : 0.5;
  return Math.max(c, 1 - c);
}
