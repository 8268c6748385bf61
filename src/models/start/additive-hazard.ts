/**
 * The discrete likelihood of an additive hazard model, logit h_t = b_t + wᵀx + Σ_g x_g a_g(t), as a function of slopes
 * and offsets: value, gradient and information (expected and observed are the same). A row's bins enter only through
 * its knots: with B the hat functions over the bins, a row needs only Σ_t (h−y) B_k and Σ_t h(1−h) B_k B_l, and since
 * Σ_k B_k = 1 the slopes' sums follow from them. Parameters: w [D−G], then a [G+1,K] with everyone last. Rows have G
 * membership columns, 0 or 1, at the end of x.
 */
import { exp, log, sumLogs } from "../../core/elementary.ts";
import { addOuter, createOuterSum, flushOuter, type OuterSum } from "../../core/linear-algebra.ts";
import { GROUP_KNOTS, placeKnots } from "../networks/group-offsets.ts";
import type { LinearStartInput } from "./linear-start.ts";

export interface HazardMeasurement {
  /** Negative log-likelihood. */
  readonly value: number;
  readonly gradient: Float64Array; // [P]
  readonly information: Float64Array; // [P,P], lower triangle
}

export interface HazardFit {
  readonly P: number;
  measure(theta: Float64Array): HazardMeasurement;
  /** Only the value. */
  evaluate(theta: Float64Array): number;
}

export function createHazardFit(
  { T, bin, event, x, D, groups: G, knotHazard }: LinearStartInput,
  baselineHazard: ArrayLike<number>, // [T]
): HazardFit {
  const K = GROUP_KNOTS;
  const N = bin.length;
  const own = D - G;
  const P = own + (G + 1) * K;
  const { knot, share } = placeKnots(T, knotHazard ?? baselineHazard);
  const base = Float64Array.from({ length: T }, (_, t) => log(baselineHazard[t] / (1 - baselineHazard[t])));
  const factors = new Float64Array(T);
  const atKnots = new Float64Array(K);
  const members = new Int32Array(G + 1);
  let slope = 0;
  let count = 0;

  /** The row's groups, what they add at the knots, and wᵀx. */
  const openRow = (i: number, theta: Float64Array) => {
    slope = 0;
    for (let j = 0; j < own; j++) slope += theta[j] * x[i * D + j];
    count = 0;
    for (let g = 0; g < G; g++) if (x[i * D + own + g] !== 0) members[count++] = g;
    members[count++] = G;
    atKnots.fill(0);
    for (let m = 0; m < count; m++) {
      for (let k = 0; k < K; k++) atKnots[k] += theta[own + members[m] * K + k];
    }
  };

  const features = new Float64Array(own);
  const residual = new Float64Array(K);
  const weights = new Float64Array(K * K);
  /** Fills the row's sums over its bins; returns its negative log-likelihood. */
  const sumBins = (i: number) => {
    let value = 0;
    residual.fill(0);
    weights.fill(0);
    for (let t = 0; t < bin[i]; t++) {
      const k = knot[t];
      const z = base[t] + slope + atKnots[k] + share[t] * (atKnots[k + 1] - atKnots[k]);
      const isEvent = event[i] === 1 && t === bin[i] - 1;
      const e = exp(-z);
      const hazard = 1 / (1 + e);
      value += Math.max(z, 0) - (isEvent ? z : 0);
      factors[t] = 1 + (z >= 0 ? e : 1 / e);
      addBin(k, share[t], hazard - (isEvent ? 1 : 0), hazard * (1 - hazard), residual, weights);
    }
    for (let k = 1; k < K; k++) weights[k * K + k - 1] = weights[(k - 1) * K + k];
    return value + sumLogs(factors, bin[i]);
  };

  return {
    P,
    measure(theta) {
      let value = 0;
      const gradient = new Float64Array(P);
      const information = new Float64Array(P * P);
      const slopes = createOuterSum(own);
      const waiting = Array.from({ length: G + 1 }, (): WaitingRows => createWaiting(own, K));
      for (let i = 0; i < N; i++) {
        openRow(i, theta);
        value += sumBins(i);
        for (let j = 0; j < own; j++) features[j] = x[i * D + j];
        addRow({ residual, weights, members, count }, features, slopes, gradient, information);
        for (let m = 0; m < count; m++) {
          const group = members[m];
          if (addWaiting(waiting[group], weights, features))
            flushWaiting(waiting[group], group, information, P);
        }
      }
      waiting.forEach((rows, group) => {
        flushWaiting(rows, group, information, P);
      });
      placeSlopes(slopes, own, information, P);
      return { value, gradient, information };
    },
    evaluate(theta) {
      let value = 0;
      for (let i = 0; i < N; i++) {
        openRow(i, theta);
        value += sumBins(i);
      }
      return value;
    },
  };
}

/**
 * Adds a bin between knots k and k + 1, at fraction `far` of the way to the second, to the upper half of a row's sums.
 */
function addBin(
  k: number,
  far: number,
  gap: number,
  weight: number,
  residual: Float64Array, // [K]
  weights: Float64Array, // [K,K]
): void {
  const K = residual.length;
  const near = 1 - far;
  residual[k] += near * gap;
  residual[k + 1] += far * gap;
  weights[k * K + k] += near * near * weight;
  weights[k * K + k + 1] += near * far * weight;
  weights[(k + 1) * K + k + 1] += far * far * weight;
}

/** A row's sums over its bins, and the groups it is in. */
interface RowSums {
  readonly residual: Float64Array; // [K]
  readonly weights: Float64Array; // [K,K]
  readonly members: Int32Array;
  readonly count: number;
}

/** Adds a row to the gradient, to the information of the offsets, and its features to the outer products of the slopes. */
function addRow(
  { residual, weights, members, count }: RowSums,
  features: Float64Array, // [own]
  slopes: OuterSum,
  gradient: Float64Array, // [P]
  information: Float64Array, // [P,P]
): void {
  const own = features.length;
  const K = residual.length;
  const P = gradient.length;
  let all = 0;
  let gap = 0;
  for (let k = 0; k < K; k++) {
    all += sumRow(weights, K, k);
    gap += residual[k];
  }
  for (let j = 0; j < own; j++) gradient[j] += gap * features[j];
  addOuter(slopes, all, features, 0, own);
  for (let c = 0; c < count; c++) {
    const first = own + members[c] * K;
    for (let k = 0; k < K; k++) gradient[first + k] += residual[k];
    for (let d = 0; d <= c; d++) addPair(weights, K, information, P, first, own + members[d] * K, d < c);
  }
}

/** Adds a row's weights, 0 but for neighbouring knots, where two groups meet; of a group with itself the lower half. */
function addPair(
  weights: Float64Array, // [K,K]
  K: number,
  information: Float64Array, // [P,P]
  P: number,
  first: number,
  other: number,
  isWhole: boolean,
): void {
  for (let k = 0; k < K; k++) {
    const at = (first + k) * P + other + k;
    const from = k * K + k;
    if (k > 0) information[at - 1] += weights[from - 1];
    information[at] += weights[from];
    if (isWhole && k + 1 < K) information[at + 1] += weights[from + 1];
  }
}

/** Σ_l of a row of the weights, which are 0 but for neighbouring knots. */
function sumRow(weights: Float64Array, K: number, k: number): number {
  let sum = 0;
  for (let l = Math.max(k - 1, 0); l <= Math.min(k + 1, K - 1); l++) sum += weights[k * K + l];
  return sum;
}

/**
 * Rows of a group that wait to be added to its products with the slopes: four at a time, an entry of the information is
 * read and written once, and its sum still goes row by row.
 */
interface WaitingRows {
  readonly features: Float64Array; // [4,own]
  readonly sums: Float64Array; // [4,K]
  filled: number;
}

/** How many rows wait at most; flushWaiting is written for this number. */
const WAITING = 4;

function createWaiting(own: number, K: number): WaitingRows {
  return { features: new Float64Array(WAITING * own), sums: new Float64Array(WAITING * K), filled: 0 };
}

/** Returns whether the rows are complete. */
function addWaiting(waiting: WaitingRows, weights: Float64Array, features: Float64Array): boolean {
  const own = features.length;
  const K = waiting.sums.length / WAITING;
  const { filled } = waiting;
  for (let j = 0; j < own; j++) waiting.features[filled * own + j] = features[j];
  for (let k = 0; k < K; k++) waiting.sums[filled * K + k] = sumRow(weights, K, k);
  waiting.filled++;
  return waiting.filled === WAITING;
}

/** information[g·K + k, j] += Σ over the rows of sums_k · feature_j, from the first row to the last. */
function flushWaiting(waiting: WaitingRows, group: number, information: Float64Array, P: number): void {
  const { features: f, sums, filled } = waiting;
  const own = f.length / WAITING;
  const K = sums.length / WAITING;
  waiting.filled = 0;
  for (let k = 0; k < K; k++) {
    const at = (own + group * K + k) * P;
    if (filled < WAITING) {
      for (let r = 0; r < filled; r++) {
        for (let j = 0; j < own; j++) information[at + j] += sums[r * K + k] * f[r * own + j];
      }
      continue;
    }
    const [s0, s1, s2, s3] = [sums[k], sums[K + k], sums[2 * K + k], sums[3 * K + k]];
    for (let j = 0; j < own; j++) {
      information[at + j] =
        information[at + j] + s0 * f[j] + s1 * f[own + j] + s2 * f[2 * own + j] + s3 * f[3 * own + j];
    }
  }
}

/** The outer products of the slopes, in the first rows of the information. */
function placeSlopes(slopes: OuterSum, own: number, information: Float64Array, P: number): void {
  flushOuter(slopes);
  for (let j = 0; j < own; j++) {
    for (let m = 0; m <= j; m++) information[j * P + m] = slopes.matrix[j * slopes.width + m];
  }
}
