/**
 * Is a column the time? Only rows that had the event are looked at: a date of entry honestly gives the time of
 * everybody censored at the end of a study, but not the time of an event. The signs are that its values put those times
 * in order without one exception, or nearly so (rank correlation), whatever the unit, rounding or transform; or that
 * the difference of two columns does (dates of entry and death, the ages at both), neither of which is a copy alone; or
 * that many rows hold the time itself, to the digit, in some unit (another outcome of the same people). Non-monotone
 * transforms and sums of three columns are not looked for.
 */

import { log, log1p, tanh } from "../../core/elementary.ts";
import { count, say } from "../../core/sentence.ts";
import { createFinding, type Finding, type FindingParts } from "../checks/findings.ts";
import { compareIntervals, compareOrder, equalTimes, rankCorrelation } from "./copies.ts";
import { askWhenKnown } from "./later.ts";
import { type LeakColumn, type LeakRows, MOST, SAMPLE_ROWS, SOME, sampleOf } from "./rows.ts";

/** With fewer events, their order alone is not looked at: a strong predictor sorts a handful. */
const MIN_EVENTS = 20;
/**
 * From this few events on, perfect order of all rows counts: a date of entry is out of order with every early event.
 */
const MIN_EVENTS_AMONG_ALL = 5;
/**
 * How unlikely a perfect order must be by chance, as a log: a trillion to one, so that no strong predictor gets there.
 */
const ORDER_EVIDENCE = log(1e12);
/** Rank correlation with event times beyond any predictor: 0.95 takes a hazard ratio of 50 per sd … */
const NEAR_CORRELATION = 0.95;
/** … and 0.99 one in the thousands: what is left of a copy after rounding or a little noise. */
const COPY_CORRELATION = 0.99;
/** The lower confidence limit (1 in 1000, Fisher's z) may fall short of them by no more than this. */
const CORRELATION_SHORTFALL = 0.05;
const QUANTILE_1_IN_1000 = 3.09;
/** Fisher's z needs a correlation below 1. */
const LARGEST_CORRELATION = 1 - 1e-12;
/** Most values that can stand for stretches of time; more are names, and two rows of one patient share their time. */
const MAX_INTERVALS = 50;

/** A finding that a column is the time, before the column is named. */
export type TimeLeak = Pick<FindingParts, "level" | "said" | "hint" | "evidence">;

/** `unit` is the `commonQuotient` of a column of numbers. */
export function findTimeLeak(column: LeakColumn, unit: number | null, leak: LeakRows): Finding | null {
  const { numbers, name } = column;
  const found =
    numbers === null
      ? [intervalsOfValues(column, leak)]
      : [
          orderOfNumbers(numbers, name, leak),
          intervalsOfMissing(column, numbers, leak),
          equalTimes(numbers, name, unit, leak),
        ];
  const worst = found.find((one) => one?.level === "error") ?? found.find((one) => one !== null);
  return worst ? createFinding({ ...worst, code: "leak.time", column: name }) : null;
}

/** `what` is the column, or "death − entry" for a difference; `name` is the column that would be dropped. */
export function orderOfNumbers(
  numbers: Float64Array,
  what: string,
  leak: LeakRows,
  name = what,
): TimeLeak | null {
  if (leak.events < MIN_EVENTS_AMONG_ALL) return null;
  const among = leak.events >= MIN_EVENTS ? "events" : "all";
  const rows = among === "events" ? leak.eventsByTime() : leak.byTime();
  const isKnown = (row: number) => !Number.isNaN(numbers[row]);
  const sample = sampleOf(rows, SAMPLE_ROWS).filter(isKnown);
  if (sample.length < MIN_EVENTS) return null;
  const isInOrder = compareOrder(numbers, leak.time, sample).inOrder;
  const correlation = rankCorrelation(numbers, leak.time, sample);
  const size = Math.min(Math.abs(correlation), LARGEST_CORRELATION);
  const lower = tanh(
    0.5 * log1p((2 * size) / (1 - size)) - QUANTILE_1_IN_1000 / Math.sqrt(sample.length - 3),
  );
  const reaches = (limit: number) => size >= limit && lower >= limit - CORRELATION_SHORTFALL;
  const isNear = among === "events" && reaches(NEAR_CORRELATION);
  if (!isInOrder && !isNear) return null;

  const known = rows.filter(isKnown);
  const coverage = known.length / rows.length;
  const share = say`${count(known.length, "row")}${among === "events" ? " that had the event" : ""}`;
  const full = compareOrder(numbers, leak.time, known);
  if (full.inOrder && full.evidence > ORDER_EVIDENCE - leak.logAlpha && coverage >= SOME) {
    const where = coverage < 1 ? " (where it is known)" : "";
    return {
      level: coverage >= MOST ? "error" : "warning",
      said: say`${what} puts the times of all ${share} in order${where}`,
      evidence: { rows: known.length, among },
    };
  }
  if (!isNear || coverage < MOST) return null;
  const said = say`${what} has rank correlation ${correlation.toFixed(3)} with the time in ${share}`;
  const evidence = { rows: known.length, among, rankCorrelation: correlation };
  if (reaches(COPY_CORRELATION)) return { level: "error", said, evidence };
  return { level: "warning", said, hint: askWhenKnown(name), evidence };
}

/** Known for early events only, or for late ones only: a measurement at a fixed time after entry. */
function intervalsOfMissing(column: LeakColumn, numbers: Float64Array, leak: LeakRows): TimeLeak | null {
  if (column.counts.knownEvents === 0 || column.counts.knownEvents === leak.events) return null;
  const codes = new Int32Array(numbers.length);
  for (let row = 0; row < codes.length; row++) codes[row] = Number.isNaN(numbers[row]) ? 0 : 1;
  return disjointIntervals(codes, 2, leak, column.name, (code) => (code === 1 ? "a value" : "no value"));
}

/** Values that come one after the other in time: "within a year", "one to five years". */
function intervalsOfValues(column: LeakColumn, leak: LeakRows): TimeLeak | null {
  const K = column.counts.values.length;
  const codes = (column.codes ?? new Int32Array()).map((code) => (code < 0 ? K : code));
  const label = (code: number) => (code < K ? column.label(code) : "no value");
  return disjointIntervals(codes, K + 1, leak, column.name, label);
}

function disjointIntervals(
  codes: Int32Array,
  K: number,
  leak: LeakRows,
  name: string,
  label: (code: number) => string,
): TimeLeak | null {
  if (leak.events < MIN_EVENTS || K > MAX_INTERVALS + 1) return null; // one more for missing
  const eventRows = leak.eventsByTime();
  // If a sample already overlaps, the rest need not be compared.
  if (compareIntervals(codes, K, leak.time, sampleOf(eventRows, SAMPLE_ROWS)).evidence === 0) return null;
  const found = compareIntervals(codes, K, leak.time, eventRows);
  if (found.evidence <= ORDER_EVIDENCE - leak.logAlpha) return null;
  const first = label(found.codes[0]);
  const last = label(found.codes[found.codes.length - 1]);
  const more = found.codes.length > 2 ? ` (${found.codes.length} values, no two overlap)` : "";
  return {
    level: "error",
    said: `${name} tells early events from late ones: all with ${first} come before all with ${last}${more}`,
    evidence: { rows: eventRows.length, values: found.codes.length },
  };
}

export type PairColumn = Pick<LeakColumn, "name" | "type" | "numbers">;

const PAIR_SAMPLE_ROWS = 200;
/** Fewer known rows than this in the sample say nothing. */
const MIN_SAMPLE_ROWS = 20;
/** A date pair rounded to years still correlates 0.99 with the time; honest differences stay far below. */
const PAIR_SCREEN = 0.9;
/** Differences are tried only among the first so many columns: the number of pairs grows with the square. */
const MAX_PAIR_COLUMNS = 400;

/**
 * Pairs of columns whose difference is the time. Pairs are screened on a sample of event rows by plain correlation (a
 * difference in one unit is linear in the time) and judged like a single column. The finding is on the column that
 * grows with the time, which is the one that was filled in last.
 */
export function findTimePairs(columns: readonly PairColumn[], leak: LeakRows): Finding[] {
  const candidates = columns.filter((column) => column.numbers !== null).slice(0, MAX_PAIR_COLUMNS);
  if (candidates.length < 2 || leak.events < MIN_SAMPLE_ROWS) return [];
  const rows = sampleOf(leak.eventsByTime(), PAIR_SAMPLE_ROWS);
  const time = Float64Array.from(rows, (row) => leak.time[row]);
  const samples = candidates.map(({ numbers }) =>
    Float64Array.from(rows, (row) => numbers?.[row] ?? Number.NaN),
  );
  const findings: Finding[] = [];
  for (let a = 0; a < candidates.length; a++) {
    for (let b = a + 1; b < candidates.length; b++) {
      if (candidates[a].type !== candidates[b].type) continue; // days minus something else is no length of time
      const correlation = correlateDifference(samples[a], samples[b], time);
      if (Math.abs(correlation) < PAIR_SCREEN) continue;
      const [late, early] = correlation > 0 ? [a, b] : [b, a];
      const [x, y] = [candidates[late].numbers, candidates[early].numbers];
      if (x === null || y === null) continue;
      const what = `${candidates[late].name} − ${candidates[early].name}`;
      const difference = x.map((value, row) => value - y[row]);
      const found = orderOfNumbers(difference, what, leak, candidates[late].name);
      if (found === null) continue;
      const evidence = { ...found.evidence, partner: candidates[early].name };
      findings.push(createFinding({ ...found, code: "leak.time", column: candidates[late].name, evidence }));
    }
  }
  return findings;
}

/** Pearson correlation of x − y with t over rows where both are known; 0 where too few are. */
function correlateDifference(x: Float64Array, y: Float64Array, t: Float64Array): number {
  let n = 0;
  let meanX = 0;
  let meanT = 0;
  let xx = 0;
  let tt = 0;
  let xt = 0;
  for (let i = 0; i < t.length; i++) {
    const value = x[i] - y[i];
    if (Number.isNaN(value)) continue;
    n++;
    const dx = value - meanX;
    const dt = t[i] - meanT;
    meanX += dx / n;
    meanT += dt / n;
    xx += dx * (value - meanX);
    tt += dt * (t[i] - meanT);
    xt += dx * (t[i] - meanT);
  }
  return n >= MIN_SAMPLE_ROWS && xx > 0 && tt > 0 ? xt / Math.sqrt(xx * tt) : 0;
}
