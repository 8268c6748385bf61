/**
 * How a number enters a model besides or instead of as it is written, decided by its training values alone:
 *   logarithm      a number from 0 up whose values are strongly skewed to the right, and whose logarithms are much less
 *                  so, enters as log(max(value, floor)), where the floor is half the least value above 0
 *   codes          a number with three to six values, all of them whole (a stage, a grade), has a 0/1 column for each
 *                  value with enough rows, beside the number: the step from 1 to 2 need not be that from 3 to 4
 * Neither is used unless it is asked for. docs/decisions/015-a-default-that-decides.md has the measurements.
 */
import { log, square } from "../../core/elementary.ts";
import type { Encoder, NumberEncoding } from "./encoder.ts";

/** Skewness from which a number enters by its logarithm; that of an exponential variable is 2. */
const SKEWED = 1.5;
/** The logarithms must have at most this share of the skewness, in either direction. */
const LESS_SKEWED = 0.5;
/** Fewer values than this are counts or codes, not measurements. */
const FEWEST_VALUES = 10;
/** Codes have at least and at most this many values. */
const FEWEST_CODES = 3;
const MOST_CODES = 6;
/** Training rows that a code needs for a column of its own. */
const CODE_ROWS = 20;

/** The number as it enters before it is scaled. */
export function shapeNumber(value: number, logFloor: number | undefined): number {
  return logFloor === undefined ? value : log(Math.max(value, logFloor));
}

/** The floor of the logarithm; null where the number enters as it is. `sorted` are the training values, ascending. */
export function fitLogFloor(sorted: Float64Array): number | null {
  if (!(sorted[0] >= 0) || !hasValues(sorted, FEWEST_VALUES)) return null;
  const floor = (sorted.find((value) => value > 0) ?? 0) / 2;
  if (!(floor > 0)) return null;
  const before = skewness(sorted);
  if (!(before > SKEWED)) return null;
  const after = skewness(sorted.map((value) => shapeNumber(value, floor)));
  return Math.abs(after) <= LESS_SKEWED * before ? floor : null;
}

/** The values with a column of their own; null where the number is not a code. */
export function findCodes(sorted: Float64Array): number[] | null {
  const codes: { readonly value: number; rows: number }[] = [];
  for (const value of sorted) {
    const last = codes.at(-1);
    if (last?.value === value) last.rows++;
    else if (codes.length === MOST_CODES || !Number.isInteger(value)) return null;
    else codes.push({ value: value + 0, rows: 1 }); // no −0
  }
  if (codes.length < FEWEST_CODES) return null;
  const frequent = codes.filter(({ rows }) => rows >= CODE_ROWS).map(({ value }) => value);
  return frequent.length < 2 ? null : frequent;
}

function hasValues(sorted: Float64Array, fewest: number): boolean {
  let values = 0;
  for (let i = 0; i < sorted.length && values < fewest; i++) {
    if (i === 0 || sorted[i] > sorted[i - 1]) values++;
  }
  return values === fewest;
}

/** The third standardised moment; 0 for values that are all the same. */
function skewness(values: Float64Array): number {
  const N = values.length;
  // Divided first: sums of values near the largest float64 would overflow.
  const scale = Math.max(Math.abs(values[0]), Math.abs(values[N - 1])) || 1;
  let mean = 0;
  for (const value of values) mean += value / scale / N;
  let [second, third] = [0, 0];
  for (const value of values) {
    const gap = value / scale - mean;
    second += square(gap) / N;
    third += (square(gap) * gap) / N;
  }
  return second > 0 ? third / (second * Math.sqrt(second)) : 0;
}

/** Most columns that a sentence names for each shape. */
const MOST_NAMED = 5;

/** One sentence on the numbers that enter in another form than as they are written; none where there are none. */
export function describeShapes({ columns }: Encoder): string[] {
  const numbers = columns.filter(({ type }) => type === "number" || type === "date") as NumberEncoding[];
  const parts = [
    nameColumns(
      "splines of",
      numbers.filter(({ spline }) => spline),
    ),
    nameColumns(
      "the logarithm of",
      numbers.filter(({ logFloor }) => logFloor !== undefined),
    ),
    nameColumns(
      "a column for each value of",
      numbers.filter(({ codes }) => codes),
    ),
  ].flat();
  return parts.length === 0 ? [] : [`how numbers enter: ${parts.join("; ")}`];
}

function nameColumns(what: string, columns: readonly NumberEncoding[]): string[] {
  if (columns.length === 0) return [];
  const named = columns.slice(0, MOST_NAMED).map(({ column }) => column);
  const more = columns.length - named.length;
  return [`${what} ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`];
}
