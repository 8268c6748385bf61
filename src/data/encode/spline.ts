/**
 * Splines of a number, so that its effect may bend: its normal score z, which is where it stands among the training
 * values on the scale of a standard normal variable, and a restricted cubic spline of z (linear beyond the outer knots;
 * five knots at the quantiles of Harrell, Regression Modeling Strategies, 2.4.6). A number and its logarithm have the
 * same splines, and an outlier is no further out than the outermost score. The four columns have mean 0 and variance 1
 * where z is normal.
 */
import { normalQuantile, normalUpperTail } from "../../core/distributions.ts";
import { square } from "../../core/elementary.ts";

/** A number's normal score as a broken line through training quantiles; constant beyond them. */
export interface ScoreLine {
  readonly at: readonly number[]; // ascending
  readonly scores: readonly number[]; // ascending
}

/** z and its three bends. */
export const SPLINE_COLUMNS = 4;
/** The fewest points of a line: a number with fewer values has no shape to find. */
const FEWEST_POINTS = 5;
/** The outermost score, that of one value in 160. */
const OUTERMOST = 2.5;
/** Points of the line are this far apart in scores. */
const SPACING = 0.25;

export const KNOTS: readonly number[] = [0.05, 0.275, 0.5, 0.725, 0.95].map(normalQuantile);

/** "age.score", "age.bend1" … */
export function nameSplines(column: string): string[] {
  return [`${column}.score`, ...[1, 2, 3].map((k) => `${column}.bend${k}`)];
}

/** `sorted` are the training values, ascending; null where too few of them differ. */
export function fitScoreLine(sorted: Float64Array): ScoreLine | null {
  const N = sorted.length;
  const at: number[] = [];
  for (let score = -OUTERMOST; score <= OUTERMOST; score += SPACING) {
    const value = sorted[Math.min(N - 1, Math.floor(N * normalUpperTail(-score)))];
    if (at.length === 0 || value > at[at.length - 1]) at.push(value);
  }
  if (at.length < FEWEST_POINTS) return null;
  return { at, scores: at.map((value) => scoreAmong(sorted, value)) };
}

/** The normal score of a value; ties share the score of their middle. */
function scoreAmong(sorted: Float64Array, value: number): number {
  const below = sorted.indexOf(value);
  const upTo = sorted.lastIndexOf(value) + 1;
  const score = normalQuantile((below + upTo) / 2 / sorted.length);
  return Math.max(-OUTERMOST, Math.min(OUTERMOST, score));
}

function readScore({ at, scores }: ScoreLine, value: number): number {
  const last = at.length - 1;
  if (value <= at[0]) return scores[0];
  if (value >= at[last]) return scores[last];
  let k = 0;
  while (at[k + 1] < value) k++;
  return scores[k] + ((value - at[k]) / (at[k + 1] - at[k])) * (scores[k + 1] - scores[k]);
}

/** The columns of a value, into `values` from `start` on. */
export function fillSplines(line: ScoreLine, value: number, values: Float64Array, start: number): void {
  const z = readScore(line, value);
  for (let j = 0; j < SPLINE_COLUMNS; j++) {
    const { mean, sd } = SCALES[j];
    values[start + j] = ((j === 0 ? z : bend(z, BEND_WEIGHTS[j - 1])) - mean) / sd;
  }
}

/** Cubic between the knots and linear beyond. */
function bend(z: number, weights: readonly number[]): number {
  let sum = 0;
  for (let k = 0; k < KNOTS.length && z > KNOTS[k]; k++) sum += weights[k] * cube(z - KNOTS[k]);
  return sum;
}

/** The weight of each knot's cube in each bend. */
export const BEND_WEIGHTS: readonly (readonly number[])[] = [0, 1, 2].map((j) => {
  const [nextToLast, last] = KNOTS.slice(-2);
  const weights = KNOTS.map((_, k) => (k === j ? 1 : 0));
  weights[3] -= (last - KNOTS[j]) / (last - nextToLast);
  weights[4] += (nextToLast - KNOTS[j]) / (last - nextToLast);
  return weights;
});

function cube(gap: number): number {
  return gap * gap * gap;
}

/** Mean and standard deviation of each column of a normal z, by the midpoint rule. */
export const SCALES: readonly { readonly mean: number; readonly sd: number }[] = Array.from(
  { length: SPLINE_COLUMNS },
  (_, j) => {
    const n = 2000;
    let [sum, squares] = [0, 0];
    for (let i = 0; i < n; i++) {
      const z = normalQuantile((i + 0.5) / n);
      const within = Math.max(-OUTERMOST, Math.min(OUTERMOST, z));
      const value = j === 0 ? within : bend(within, BEND_WEIGHTS[j - 1]);
      sum += value;
      squares += value * value;
    }
    return { mean: sum / n, sd: Math.sqrt(squares / n - square(sum / n)) };
  },
);
