/**
 * What the solved model misses because it has no products of columns (models/uncertainty/missed-products.ts): one Newton
 * step from its curves towards a model that has them, under a normal prior of one variance for all. The variance is
 * estimated from the same rows (MacKay's fixed point), with a few pseudo-parameters of a first guess, because some
 * hundred events say little of it. Columns and groups' levels answer to a product under the priors that they were fitted
 * with; offsets by time block do not, since a product here is the same at all times. Chosen and judged on simulated laws:
 * docs/decisions/019-bands.md.
 */
import { log, square } from "../../core/elementary.ts";
import {
  addOuter,
  type CholeskyFactor,
  createOuterSum,
  factorCholesky,
  flushOuter,
  invertCholesky,
  solveCholesky,
} from "../../core/linear-algebra.ts";
import { packLower } from "../../models/uncertainty/layer-uncertainty.ts";
import type { MissedProducts } from "../../models/uncertainty/missed-products.ts";
import type { RowScores } from "./sums.ts";

/** Beyond this many pairs, those of the strongest columns are taken. */
export const MOST_PRODUCTS = 120;
/** The first guess of the standard deviation of all products together, and how many parameters it counts as. */
export const FIRST_MISSED = { deviation: 0.06, parameters: 6 } as const;
/** A product with less than this left, once columns have explained it, is no product. */
const LEAST_DEVIATION = 0.01;
/** Of the intercept: it keeps the matrix positive. */
const INTERCEPT_PRECISION = 0.01;
const MOST_ROUNDS = 12;
/** The variance is settled when a round moves its logarithm by less. */
const SETTLED = 0.02;

export interface ProductRows extends RowScores {
  readonly N: number;
  readonly x: ArrayLike<number>; // [N,stride], of which the first D are the model's
  readonly stride: number;
  readonly D: number;
  /** Only every so many rows are looked at. */
  readonly every: number;
}

export interface ProductColumns {
  /** Columns that may be multiplied: neither splines nor groups. */
  readonly main: readonly number[];
  /** Slopes of the columns, which say how strong they are; null where there are none. */
  readonly slopes: ArrayLike<number> | null;
  /** Of the priors of slopes and of groups' levels. */
  readonly precisions: ArrayLike<number>; // [D]
}

/** Null where no two columns can be multiplied. */
export function measureProducts(rows: ProductRows, columns: ProductColumns): MissedProducts | null {
  const moments = measureMoments(rows);
  const pairs = choosePairs(rows, columns, moments.deviations);
  if (pairs.length === 0) return null;
  const { D } = rows;
  const wide = sumProducts(rows, moments.means, pairs);
  const explained = explainProducts(wide, pairs.length, columns.precisions, D);
  const deviations = measureLeft(rows, moments.means, pairs, explained);
  const kept = pairs.map((_, k) => k).filter((k) => deviations[k] > LEAST_DEVIATION);
  if (kept.length === 0) return null;
  const K = kept.length;
  const information = new Float64Array(K * K);
  const gradient = new Float64Array(K);
  kept.forEach((k, a) => {
    gradient[a] = wide.gradient[k] / deviations[k];
    for (let b = 0; b <= a; b++) {
      const l = kept[b];
      let left = wide.matrix[(1 + D + k) * wide.width + 1 + D + l];
      for (let c = 0; c <= D; c++)
        left -= wide.matrix[(1 + D + k) * wide.width + c] * explained[l * (1 + D) + c];
      information[a * K + b] = left / (deviations[k] * deviations[l]);
    }
  });
  const { factor, slopes } = estimateSlopes(information, gradient, K);
  return {
    first: kept.map((k) => pairs[k].first),
    second: kept.map((k) => pairs[k].second),
    means: toSingle(moments.means),
    scales: toSingle(kept.map((k) => 1 / deviations[k])),
    explained: kept.flatMap((k) =>
      toSingle(explained.subarray(k * (1 + D), (k + 1) * (1 + D)).map((one) => one / deviations[k])),
    ),
    slopes: toSingle(slopes),
    factor: toSingle(packLower(factor)),
  };
}

interface Pair {
  readonly first: number;
  readonly second: number;
}

function measureMoments({ N, x, stride, D, every }: ProductRows) {
  const means = new Float64Array(D);
  const deviations = new Float64Array(D);
  const count = Math.ceil(N / every);
  for (let n = 0; n < N; n += every) for (let j = 0; j < D; j++) means[j] += x[n * stride + j] / count;
  for (let n = 0; n < N; n += every)
    for (let j = 0; j < D; j++) deviations[j] += square(x[n * stride + j] - means[j]) / count;
  return { means, deviations: deviations.map(Math.sqrt) };
}

/** Pairs of which some row has both: not two levels of one category. The strongest first where there are too many. */
function choosePairs(
  rows: ProductRows,
  { main, slopes }: ProductColumns,
  deviations: Float64Array,
): readonly Pair[] {
  const strengthOf = (j: number) => Math.abs(slopes === null ? 1 : slopes[j]) * deviations[j];
  const pairs = main.flatMap((first, a) => main.slice(a + 1).map((second) => ({ first, second })));
  const strongest =
    pairs.length <= MOST_PRODUCTS
      ? pairs
      : pairs
          .map((pair) => ({ pair, strength: strengthOf(pair.first) * strengthOf(pair.second) }))
          .sort((a, b) => b.strength - a.strength)
          .map(({ pair }) => pair);
  const chosen: Pair[] = [];
  for (const pair of strongest) {
    if (chosen.length === MOST_PRODUCTS) break;
    if (meets(rows, pair)) chosen.push(pair);
  }
  return chosen;
}

function meets({ N, x, stride, every }: ProductRows, { first, second }: Pair): boolean {
  for (let n = 0; n < N; n += every)
    if (x[n * stride + first] !== 0 && x[n * stride + second] !== 0) return true;
  return false;
}

/** [1, x − μ, products] of a row. */
function fillRow(
  { x, stride, D }: ProductRows,
  n: number,
  means: Float64Array,
  pairs: readonly Pair[],
  into: Float64Array,
): void {
  into[0] = 1;
  for (let j = 0; j < D; j++) into[1 + j] = x[n * stride + j] - means[j];
  for (let k = 0; k < pairs.length; k++)
    into[1 + D + k] = into[1 + pairs[k].first] * into[1 + pairs[k].second];
}

interface WideSums {
  readonly width: number;
  readonly matrix: Float64Array; // [width,width], lower triangle
  readonly gradient: Float64Array; // [K], of the log-likelihood
}

function sumProducts(rows: ProductRows, means: Float64Array, pairs: readonly Pair[]): WideSums {
  const size = 1 + rows.D + pairs.length;
  const outer = createOuterSum(size);
  const gradient = new Float64Array(pairs.length);
  const own = new Float64Array(size);
  for (let n = 0; n < rows.N; n += rows.every) {
    fillRow(rows, n, means, pairs, own);
    addOuter(outer, rows.information[n], own, 0, size);
    for (let k = 0; k < pairs.length; k++) gradient[k] += rows.gap[n] * own[1 + rows.D + k];
  }
  flushOuter(outer);
  return { width: outer.width, matrix: outer.matrix, gradient };
}

/** What intercept, columns and groups' levels take on for each product, under their priors. */
function explainProducts(
  { width, matrix }: WideSums,
  K: number,
  precisions: ArrayLike<number>,
  D: number,
): Float64Array {
  const size = 1 + D;
  const base = new Float64Array(size * size);
  for (let c = 0; c < size; c++) {
    for (let d = 0; d <= c; d++) base[c * size + d] = matrix[c * width + d];
    base[c * size + c] += c === 0 ? INTERCEPT_PRECISION : precisions[c - 1];
  }
  const factor = factorCholesky(base, size, new Float64Array(size));
  const explained = new Float64Array(K * size);
  for (let k = 0; k < K; k++) {
    const row = (size + k) * width;
    explained.set(solveCholesky(factor, matrix.subarray(row, row + size)), k * size);
  }
  return explained;
}

/** The standard deviation over the rows of what is left of each product. */
function measureLeft(
  rows: ProductRows,
  means: Float64Array,
  pairs: readonly Pair[],
  explained: Float64Array,
): Float64Array {
  const size = 1 + rows.D;
  const [sums, squares] = [new Float64Array(pairs.length), new Float64Array(pairs.length)];
  const own = new Float64Array(size + pairs.length);
  for (let n = 0; n < rows.N; n += rows.every) {
    fillRow(rows, n, means, pairs, own);
    for (let k = 0; k < pairs.length; k++) {
      let left = own[size + k];
      for (let c = 0; c < size; c++) left -= explained[k * size + c] * own[c];
      sums[k] += left;
      squares[k] += left * left;
    }
  }
  const count = Math.ceil(rows.N / rows.every);
  return sums.map((sum, k) => Math.sqrt(Math.max(squares[k] / count - square(sum / count), 0)));
}

/** Slopes and the factor of their information, under the variance that the rows and the first guess agree on. */
function estimateSlopes(information: Float64Array, gradient: Float64Array, K: number) {
  const first = square(FIRST_MISSED.deviation) / K;
  let variance = first;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { factor, slopes } = solveSlopes(information, gradient, K, variance);
    const covariance = invertCholesky(factor);
    let trace = 0;
    for (let k = 0; k < K; k++) trace += covariance[k * K + k];
    const determined = K - trace / variance;
    const squares = slopes.reduce((sum, one) => sum + one * one, 0);
    const next =
      (squares + FIRST_MISSED.parameters * first) / (Math.max(determined, 0) + FIRST_MISSED.parameters);
    const moved = Math.abs(log(next / variance));
    variance = next;
    if (moved < SETTLED) break;
  }
  return solveSlopes(information, gradient, K, variance);
}

function solveSlopes(
  information: Float64Array,
  gradient: Float64Array,
  K: number,
  variance: number,
): { readonly factor: CholeskyFactor; readonly slopes: Float64Array } {
  const penalised = information.slice();
  for (let k = 0; k < K; k++) penalised[k * K + k] += 1 / variance;
  const factor = factorCholesky(penalised, K, new Float64Array(K));
  return { factor, slopes: solveCholesky(factor, gradient) };
}

function toSingle(list: ArrayLike<number>): number[] {
  return Array.from(list, Math.fround);
}
