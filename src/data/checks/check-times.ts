/**
 * Times that are numbers and yet no times: dates written as numbers (20010118), codes for "missing" (9999), and one
 * time far beyond all others (a slip of the unit or the keyboard). An error each, since one such time moves the end of
 * every curve; --as-written says that the values are meant. The rules and their rate of false alarms on honest tables
 * are in docs/decisions/022-nothing-misread.md.
 */
import { log } from "../../core/elementary.ts";
import { count, named, personal, say } from "../../core/sentence.ts";
import type { Column } from "../table.ts";
import { type Problem, problem } from "./findings.ts";

/** Share of the times that must be dates as numbers: of other times of that size, one in thirty is a date. */
const MOSTLY_DATES = 0.5;
const FIRST_YEAR = 1850;
const LAST_YEAR = 2150;

/** 999, 9999, …, 8888, …: what stands for "missing" or "never". */
const CODE_OF_TIME = /^(9{3,8}|8{4,8})$/;
/** A code this many times the next time is one, … */
const CODE_BEYOND = 1.5;
/** … or, where at least so many rows have it, this many times. */
const SPIKE_ROWS = 3;
const SPIKE_BEYOND = 1.1;

/** The largest time is a slip if it is at least so many times the next one, … */
const FAR = 10;
/** … and on the scale of logarithms more than so many times as far from it as that is from the median. */
const GAPS = 2;
/** With fewer times the scale is a guess: only so many times the next one is far. */
const FEWEST_TIMES = 40;
const ENORMOUS = 1000;

/** The two largest times, and how many rows have the largest. */
interface LargestTimes {
  readonly n: number;
  readonly largest: number;
  readonly rows: number;
  readonly next: number;
}

/** `values` are the times of every row, NaN where there is none. */
export function checkTimes(column: Column, values: Float64Array): readonly Problem[] {
  if (column.asWritten === true) return [];
  const found = findLargest(values);
  if (found.rows === found.n) return [];
  const dates = findNumberDates(column, values, found);
  return dates.length > 0 ? dates : findFarTime(column, values, found);
}

/** In one pass: a table may have ten million rows. */
function findLargest(values: Float64Array): LargestTimes {
  let [n, largest, rows, next] = [0, 0, 0, 0];
  for (const value of values) {
    if (!(value > 0)) continue;
    n++;
    if (value > largest) {
      next = largest;
      largest = value;
      rows = 1;
    } else if (value === largest) rows++;
    else if (value > next) next = value;
  }
  return { n, largest, rows, next };
}

function isNumberDate(value: number): boolean {
  const year = Math.floor(value / 10_000);
  if (!Number.isInteger(value) || year < FIRST_YEAR || year > LAST_YEAR) return false;
  const month = Math.floor(value / 100) % 100;
  const day = value % 100;
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function rowsOf(values: Float64Array, isIt: (value: number) => boolean): number[] {
  const rows: number[] = [];
  for (let row = 0; row < values.length; row++) if (isIt(values[row])) rows.push(row + 1);
  return rows;
}

function findNumberDates(
  column: Column,
  values: Float64Array,
  { n, largest, next }: LargestTimes,
): readonly Problem[] {
  if (!isNumberDate(largest) && !isNumberDate(next)) return [];
  const rows = rowsOf(values, isNumberDate);
  if (rows.length < MOSTLY_DATES * n) return [];
  const example = personal(` (${values[rows[0] - 1]})`);
  const said = say`times of ${column.name} are dates written as numbers in ${count(rows.length, "row")}${example}`;
  const hint = `write dates as 2001-01-18 and name the date that times are counted from with --origin; ${mean(column)}`;
  return [problem("time.doubtful", "error", column, said, {}, rows, hint)];
}

function findFarTime(column: Column, values: Float64Array, found: LargestTimes): readonly Problem[] {
  const { largest, next, rows } = found;
  const ratio = largest / next;
  const isCode =
    CODE_OF_TIME.test(String(largest)) &&
    (ratio >= CODE_BEYOND || (rows >= SPIKE_ROWS && ratio >= SPIKE_BEYOND));
  if (!isCode && !(rows === 1 && isFar(found, values))) return [];
  const places = rowsOf(values, (value) => value === largest);
  const times =
    ratio >= 2 ? `${Number(ratio.toPrecision(2))} times the next largest` : "far beyond the next largest";
  const example = personal(`: ${largest}, ${times} (${next})`);
  const what = isCode ? 'a time that looks like a code for "missing"' : "a time far beyond all others";
  const said = say`${column.name} has ${what} in ${named(places)}${example}`;
  const hint = `correct or remove these rows; ${mean(column)}`;
  return [problem("time.doubtful", "error", column, said, { largest, next }, places, hint)];
}

function isFar({ n, largest, next }: LargestTimes, values: Float64Array): boolean {
  const ratio = largest / next;
  if (ratio < (n < FEWEST_TIMES ? ENORMOUS : FAR)) return false;
  const median = values.filter((value) => value > 0).sort()[n >> 1];
  return log(ratio) > GAPS * log(next / median);
}

function mean({ name }: Column): string {
  return `if the values are meant as they are, say --as-written ${name}`;
}
