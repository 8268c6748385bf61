/**
 * Splines of a number, so that its effect may bend: its normal score z, which is where it stands among the training
 * values on the scale of a standard normal variable, and a restricted cubic spline of z (linear beyond the outer knots;
 * five knots at the quantiles of Harrell, Regression Modeling Strategies, 2.4.6). A number and its logarithm have the
 * same splines, and an outlier is no further out than the outermost score. The columns are two odd and two even
 * functions of z, so that a number and its negative have the same columns but for signs. They span what the textbook's
 * basis spans (`PLAIN`, whose columns models of 0.2.0 have), and independent normal slopes of equal variance make the
 * prior that is the mean of that basis' own and its mirror image.
 */
import { normalQuantile, normalUpperTail } from "../../core/distributions.ts";
import { square } from "../../core/elementary.ts";
import { factorCholesky, solveCholesky } from "../../core/linear-algebra.ts";

/** A number's normal score as a broken line through training quantiles; constant beyond them. */
export interface ScoreLine {
  readonly at: readonly number[]; // ascending
  readonly scores: readonly number[]; // ascending
  /** Whether the columns are odd and even functions of the score; not in models of 0.2.0. */
  readonly mirrored?: true;
}

/** The columns of a score z: (linear·z + Σ_j mix_j·bend_j(z) − mean) / sd. */
export interface SplineColumn {
  readonly linear: number;
  readonly mix: readonly number[]; // [bends]
  readonly mean: number;
  readonly sd: number;
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
  if (N === 0) return null;
  // As far from the smallest value as from the largest, so that the line of the negative is the mirror image.
  const places: number[] = [];
  for (let score = OUTERMOST; score >= 0; score -= SPACING) {
    const below = Math.min((N - 1) >> 1, Math.floor(N * normalUpperTail(score)));
    places.push(below, N - 1 - below);
  }
  const at = [...new Set(places.sort((a, b) => a - b).map((place) => sorted[place] + 0))]; // no −0
  if (at.length < FEWEST_POINTS) return null;
  return { at, scores: at.map((value) => scoreAmong(sorted, value)), mirrored: true };
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
  const columns = columnsOf(line);
  const bends = BEND_WEIGHTS.map((weights) => bend(z, weights));
  for (let j = 0; j < SPLINE_COLUMNS; j++) values[start + j] = fillColumn(columns[j], z, bends);
}

/** The columns of a line: PLAIN or MIRRORED. */
export function columnsOf({ mirrored }: Pick<ScoreLine, "mirrored">): readonly SplineColumn[] {
  return mirrored ? MIRRORED : PLAIN;
}

function fillColumn({ linear, mix, mean, sd }: SplineColumn, z: number, bends: readonly number[]): number {
  let sum = linear * z;
  for (let j = 0; j < bends.length; j++) sum += mix[j] * bends[j];
  return (sum - mean) / sd;
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

/** Scores of a normal variable, by the midpoint rule; as many below 0 as above. */
const NORMAL: readonly number[] = Array.from({ length: 2000 }, (_, i) => {
  const z = normalQuantile((i + 0.5) / 2000);
  return Math.max(-OUTERMOST, Math.min(OUTERMOST, z));
});

const product = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, one, i) => sum + one * b[i], 0) / a.length;
const meanOf = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;

/** The score and its bends as the textbook has them, each with mean 0 and variance 1 where z is normal. */
export const PLAIN: readonly SplineColumn[] = Array.from({ length: SPLINE_COLUMNS }, (_, j) => {
  const values = NORMAL.map((z) => (j === 0 ? z : bend(z, BEND_WEIGHTS[j - 1])));
  const mean = meanOf(values);
  const squares = values.reduce((sum, value) => sum + value * value, 0);
  const sd = Math.sqrt(squares / NORMAL.length - square(mean));
  return { linear: j === 0 ? 1 : 0, mix: BEND_WEIGHTS.map((_, b) => (b === j - 1 ? 1 : 0)), mean, sd };
});

/**
 * Two odd columns, the score first, and two even ones. Independent slopes b of the plain columns p give the effect
 * Σ b_j p_j(z); its odd part has the covariance Σ_j o_j(z) o_j(z′), where o_j = (p_j(z) − p_j(−z))/2, and its even part
 * one like it. Each is a sum over two columns again.
 */
export const MIRRORED: readonly SplineColumn[] = mirror();

function mirror(): readonly SplineColumn[] {
  const bendsAt = NORMAL.map((z) => BEND_WEIGHTS.map((weights) => bend(z, weights)));
  const plain = PLAIN.map((column) => NORMAL.map((z, i) => fillColumn(column, z, bendsAt[i])));
  const last = NORMAL.length - 1;
  const parts = (sign: 1 | -1) => plain.map((of) => of.map((value, i) => (value + sign * of[last - i]) / 2));
  const columns = [...factorParts(parts(-1), 0, 1), ...factorParts(parts(1), 1, 3)];
  // Each is a sum of 1, z and the bends.
  const terms = [NORMAL.map(() => 1), NORMAL, ...BEND_WEIGHTS.map((_, b) => bendsAt.map((row) => row[b]))];
  const P = terms.length;
  const gram = Float64Array.from({ length: P * P }, (_, k) =>
    product(terms[Math.floor(k / P)], terms[k % P]),
  );
  const factor = factorCholesky(gram, P, new Float64Array(P));
  return columns.map((column) => {
    const [constant, linear, ...mix] = solveCholesky(
      factor,
      Float64Array.from(terms, (term) => product(term, column)),
    );
    return { linear, mix, mean: -constant, sd: 1 };
  });
}

/** Two columns c with Σ c(z) c(z′) = Σ_j part_j(z) part_j(z′), the first along one of the parts. */
function factorParts(parts: readonly (readonly number[])[], one: number, other: number): number[][] {
  const scale = (values: readonly number[]) => {
    const length = Math.sqrt(product(values, values));
    return values.map((value) => value / length);
  };
  const first = scale(parts[one]);
  const along = product(parts[other], first);
  const second = scale(parts[other].map((value, i) => value - along * first[i]));
  const sums = (a: readonly number[], b: readonly number[]) =>
    parts.reduce((sum, part) => sum + product(part, a) * product(part, b), 0);
  const [ofFirst, ofBoth, ofSecond] = [sums(first, first), sums(first, second), sums(second, second)];
  const root = Math.sqrt(ofSecond);
  const left = Math.sqrt(ofFirst - square(ofBoth) / ofSecond);
  return [
    first.map((value) => left * value),
    first.map((value, i) => (ofBoth / root) * value + root * second[i]),
  ];
}
