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
  input: LinearStartInput,
  baselineHazard: ArrayLike<number>, // [T]
): HazardFit {
  const { T, bin, event, firstBin, weight, x, D, groups: G, knotHazard } = input;
  const K = GROUP_KNOTS;
  const [N, own] = [bin.length, D - G];
  const P = own + (G + 1) * K;
  const { knot, share } = placeKnots(T, knotHazard ?? baselineHazard);
  const base = Float64Array.from({ length: T }, (_, t) => log(baselineHazard[t] / (1 - baselineHazard[t])));
  const factors = new Float64Array(T);
  const atKnots = new Float64Array(K);
  const members = new Int32Array(G + 1);
  let [slope, count] = [0, 0];

  /** The row's groups, what they add at the knots, and wᵀx. */
  const openRow = (i: number, theta: Float64Array) => {
    slope = 0;
    for (let j = 0; j < own; j++) slope += theta[j] * x[i * D + j];
    count = 0;
    for (let g = 0; g < G; g++) if (x[i * D + own + g] !== 0) members[count++] = g;
    members[count++] = G;
    atKnots.fill(0);
    for (let m = 0; m < count; m++) for (let k = 0; k < K; k++) atKnots[k] += theta[own + members[m] * K + k];
  };
  const logitAt = (t: number) => {
    const k = knot[t];
    return base[t] + slope + atKnots[k] + share[t] * (atKnots[k + 1] - atKnots[k]);
  };

  const features = new Float64Array(own);
  const residual = new Float64Array(K);
  const weights = new Float64Array(K * K);
  /** Fills the row's sums over its bins; returns its negative log-likelihood. */
  const sumBins = (i: number) => {
    let value = 0;
    residual.fill(0);
    weights.fill(0);
    const begin = firstBin === undefined ? 0 : firstBin[i] - 1;
    for (let t = begin; t < bin[i]; t++) {
      const z = logitAt(t);
      const isEvent = event[i] === 1 && t === bin[i] - 1;
      const e = exp(-z);
      const hazard = 1 / (1 + e);
      value += Math.max(z, 0) - (isEvent ? z : 0);
      factors[t - begin] = 1 + (z >= 0 ? e : 1 / e);
      addBin(knot[t], share[t], hazard - (isEvent ? 1 : 0), hazard * (1 - hazard), residual, weights);
    }
    for (let k = 1; k < K; k++) weights[k * K + k - 1] = weights[(k - 1) * K + k];
    value += sumLogs(factors, Math.max(0, bin[i] - begin));
    return weight === undefined ? value : weighRow(value, [residual, weights], weight[i]);
  };

  return {
    P,
    measure(theta) {
      let value = 0;
      const sums = createSums(own, G + 1, K);
      for (let i = 0; i < N; i++) {
        openRow(i, theta);
        value += sumBins(i);
        for (let j = 0; j < own; j++) features[j] = x[i * D + j];
        addRow({ residual, weights, members, count }, features, sums);
      }
      flushSums(sums);
      return { value, gradient: sums.gradient, information: sums.information };
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

/** A row's value and sums, by its weight. */
function weighRow(value: number, sums: readonly Float64Array[], weight: number): number {
  for (const own of sums) for (let k = 0; k < own.length; k++) own[k] *= weight;
  return weight * value;
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

/** Sums over rows, as far as they have been added up. */
interface InformationSums {
  readonly gradient: Float64Array; // [P]
  readonly information: Float64Array; // [P,P], lower triangle
  /** The outer products of the features. */
  readonly slopes: OuterSum;
  /** Of each group, everyone last: the rows whose products with the features wait to be added. */
  readonly waiting: readonly WaitingRows[];
}

/**
 * Rows of a group: four at a time, an entry of the information is read and written once, while its sum still goes row
 * by row, so that the bits are those of adding each row by itself.
 */
interface WaitingRows {
  readonly features: Float64Array; // [4,own]
  readonly sums: Float64Array; // [4,K]
  filled: number;
}

/** How many rows wait at most; flushWaiting is written for this number. */
const WAITING = 4;

function createSums(own: number, groups: number, K: number): InformationSums {
  const P = own + groups * K;
  return {
    gradient: new Float64Array(P),
    information: new Float64Array(P * P),
    slopes: createOuterSum(own),
    waiting: Array.from({ length: groups }, () => ({
      features: new Float64Array(WAITING * own),
      sums: new Float64Array(WAITING * K),
      filled: 0,
    })),
  };
}

function addRow(
  { residual, weights, members, count }: RowSums,
  features: Float64Array, // [own]
  { gradient, information, slopes, waiting }: InformationSums,
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
    const rows = waiting[members[c]];
    for (let j = 0; j < own; j++) rows.features[rows.filled * own + j] = features[j];
    for (let k = 0; k < K; k++) rows.sums[rows.filled * K + k] = sumRow(weights, K, k);
    rows.filled++;
    if (rows.filled === WAITING) flushWaiting(rows, first, information, P);
  }
}

/** Σ_l of a row of the weights, which are 0 but for neighbouring knots. */
function sumRow(weights: Float64Array, K: number, k: number): number {
  let sum = 0;
  for (let l = Math.max(k - 1, 0); l <= Math.min(k + 1, K - 1); l++) sum += weights[k * K + l];
  return sum;
}

/** Adds a row's weights where the offsets of two groups meet; of a group with itself, the lower half. */
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

/** information[first + k, j] += sums_k · feature_j of every row that waits, from the first to the last. */
function flushWaiting(waiting: WaitingRows, first: number, information: Float64Array, P: number): void {
  const { features: f, sums, filled } = waiting;
  const own = f.length / WAITING;
  const K = sums.length / WAITING;
  waiting.filled = 0;
  for (let k = 0; k < K; k++) {
    const at = (first + k) * P;
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

/** Adds the rows that still wait, and the outer products of the features as the first rows of the information. */
function flushSums({ gradient, information, slopes, waiting }: InformationSums): void {
  const P = gradient.length;
  const K = waiting[0].sums.length / WAITING;
  const own = P - waiting.length * K;
  waiting.forEach((rows, group) => {
    flushWaiting(rows, own + group * K, information, P);
  });
  flushOuter(slopes);
  for (let j = 0; j < own; j++) {
    for (let m = 0; m <= j; m++) information[j * P + m] = slopes.matrix[j * slopes.width + m];
  }
}
