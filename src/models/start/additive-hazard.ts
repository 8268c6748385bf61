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
      const gradient = new Float64Array(P);
      const information = new Float64Array(P * P);
      const slopes = createOuterSum(own);
      for (let i = 0; i < N; i++) {
        openRow(i, theta);
        value += sumBins(i);
        for (let j = 0; j < own; j++) features[j] = x[i * D + j];
        addRow({ residual, weights, members, count }, features, slopes, gradient, information);
      }
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

/** Adds a row to the gradient and the information, and its features to the outer products of the slopes. */
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
  const sums = new Float64Array(K);
  let all = 0;
  let gap = 0;
  for (let k = 0; k < K; k++) {
    for (let l = 0; l < K; l++) sums[k] += weights[k * K + l];
    all += sums[k];
    gap += residual[k];
  }
  for (let j = 0; j < own; j++) gradient[j] += gap * features[j];
  addOuter(slopes, all, features, 0, own);
  for (let c = 0; c < count; c++) {
    for (let k = 0; k < K; k++) {
      const at = own + members[c] * K + k;
      gradient[at] += residual[k];
      for (let j = 0; j < own; j++) information[at * P + j] += sums[k] * features[j];
      for (let d = 0; d <= c; d++) {
        const other = own + members[d] * K;
        const last = Math.min(k + 1, d < c ? K - 1 : k);
        for (let l = Math.max(k - 1, 0); l <= last; l++) {
          information[at * P + other + l] += weights[k * K + l];
        }
      }
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
