/**
 * How a number enters a model besides or instead of as it is written, decided by its training values alone:
 *   logarithm      a number whose values are strongly skewed enters as log(x − k), with k below all of them and such
 *                  that the logarithms are not skewed (Stata's lnskew0); skewed to the left, as −log(k − x)
 *   codes          a number with three to six values (a stage, a grade, a dose) has a 0/1 column for each value with
 *                  enough rows, beside the number: the step from 1 to 2 need not be that from 3 to 4
 * Neither depends on the number's unit, on its zero or on its sign. Neither is used unless it is asked for.
 * docs/decisions/015-a-default-that-decides.md and 025-order-of-things.md have the measurements.
 */
import { exp, log, square } from "../../core/elementary.ts";
import type { Encoder, NumberEncoding } from "./encoder.ts";

/** Skewness from which a number enters by its logarithm; that of an exponential variable is 2. */
const SKEWED = 1.5;
/** Where no k makes it vanish, the logarithms must have at most this share of the skewness. */
const LESS_SKEWED = 0.5;
/** How often the stretch of c is halved; it is a few dozen units of log(c) long. */
const HALVINGS = 40;
/** The least c, as a share of the way from the outermost value to the median: low values must not be spread out. */
const LEAST_SHARE = 0.25;
/** Values that decide c: of more, as many quantiles. */
const MOST_VALUES = 4096;
/** Fewer values than this are counts or codes, not measurements. */
const FEWEST_VALUES = 10;
/** Codes have at least and at most this many values. */
const FEWEST_CODES = 3;
const MOST_CODES = 6;
/** Training rows that a code needs for a column of its own. */
const CODE_ROWS = 20;

/** How a number enters, as its encoding keeps it. */
export type NumberShape = Pick<NumberEncoding, "logFloor" | "logFrom" | "logSign">;

/** The number as it enters before it is scaled. */
export function shapeNumber(value: number, { logFloor, logFrom = 0, logSign }: NumberShape): number {
  if (logFloor === undefined) return value;
  const sign = logSign ?? 1;
  return sign * log(Math.max(sign * (value - logFrom), logFloor));
}

/** The number that enters so. */
export function unshapeNumber(shaped: number, { logFloor, logFrom = 0, logSign }: NumberShape): number {
  const sign = logSign ?? 1;
  return logFloor === undefined ? shaped : logFrom + sign * exp(sign * shaped);
}

/**
 * The logarithm that a number enters by; null where it enters as it is. `sorted` are the training values, ascending.
 * The distance c of k from the outermost value on the short side is the floor: values beyond that count as it.
 */
export function fitLog(sorted: Float64Array): NumberShape | null {
  const N = sorted.length;
  if (!hasValues(sorted, FEWEST_VALUES)) return null;
  // Divided first: the range of values near the largest float64 would overflow.
  const middle = sorted[N >> 1] / 2 + sorted[(N - 1) >> 1] / 2;
  const before = skewness(sorted.map((value) => value / 2 - middle / 2));
  if (!(Math.abs(before) > SKEWED)) return null;
  const logSign = before > 0 ? 1 : -1;
  const edge = logSign === 1 ? sorted[0] : sorted[N - 1];
  const gaps = thinValues(sorted).map((value) => logSign * (value - edge));
  const length = logSign * ((logSign === 1 ? sorted[N - 1] : sorted[0]) - edge);
  if (!(length < Number.POSITIVE_INFINITY)) return null;
  const skewAt = (c: number) => skewness(gaps.map((gap) => log(gap + c)));
  let least = length;
  for (const gap of gaps) if (gap > 0) least = Math.min(least, gap);
  // The skewness rises with c, towards that of the number itself.
  let [low, high] = [log(Math.max(least / 2, LEAST_SHARE * logSign * (middle - edge))), log(length)];
  if (skewAt(exp(low)) > 0) high = low;
  for (let k = 0; k < HALVINGS && low < high; k++) {
    const between = (low + high) / 2;
    if (skewAt(exp(between)) > 0) high = between;
    else low = between;
  }
  const c = exp(high);
  if (skewAt(c) > LESS_SKEWED * Math.abs(before)) return null;
  return { logFloor: c, logFrom: edge - logSign * c, ...(logSign === -1 && { logSign }) };
}

/** The values with a column of their own; null where the number is not a code. */
export function findCodes(sorted: Float64Array): number[] | null {
  const codes: { readonly value: number; rows: number }[] = [];
  for (const value of sorted) {
    const last = codes.at(-1);
    if (last?.value === value) last.rows++;
    else if (codes.length === MOST_CODES) return null;
    else codes.push({ value: value + 0, rows: 1 }); // no −0
  }
  if (codes.length < FEWEST_CODES) return null;
  const frequent = codes.filter(({ rows }) => rows >= CODE_ROWS).map(({ value }) => value);
  return frequent.length < 2 ? null : frequent;
}

/** Quantiles of sorted values, as far from the smallest as from the largest. */
function thinValues(sorted: Float64Array): Float64Array {
  const N = sorted.length;
  if (N <= MOST_VALUES) return sorted;
  const placeOf = (k: number) => Math.floor(((k + 0.5) * N) / MOST_VALUES);
  return Float64Array.from({ length: MOST_VALUES }, (_, k) =>
    2 * k < MOST_VALUES ? sorted[placeOf(k)] : sorted[N - 1 - placeOf(MOST_VALUES - 1 - k)],
  );
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
