/**
 * From logits to curves and back: h_t = σ(z_t), log S(t) = Σ_{l≤t} −softplus(z_l), and ∂S(t)/∂z_l = −h_l S(t) for l ≤
 * t, so dL/dz_l = −h_l Σ_{t≥l} S(t) dL/dS(t): one scan from the last bin. One exponential per bin: with u = e^{−|z|},
 * softplus(z) = max(z,0) + log(1+u), and Σ log(1+u_l) = log1p(Q) with Q ← Q + u(1+Q). Every term is positive, so log S
 * keeps its relative precision down to S = 1 − 1e-300 and needs one logarithm per value read, not one per bin; S itself
 * is the product of 1 − h, exact to the last few bits however small. Arithmetic is float64 whatever the arrays hold.
 * This file holds no objective.
 */

import type { Floats } from "../compute/backend.ts";
import { log1p } from "../core/elementary.ts";
import { InputError } from "../core/errors.ts";
import { type BinnedSingleCause, type RowWeights, refuseBeyondCensoring } from "../data/outcomes/outcomes.ts";
import { expMinus } from "./exponential.ts";
import type { GroupKernels } from "./group-kernels.ts";

/** Where the product of (1 + u) ≤ 2 per bin is turned into a logarithm and restarted; reached only beyond 990 bins. */
export const FOLD_PRODUCT_AT = 1e300;

/** log(1 + e^z). */
export function softplus(z: number): number {
  return Math.max(z, 0) + log1p(expMinus(Math.abs(z)));
}

/** 1 / (1 + e^−z), with full relative precision on both sides. */
export function sigmoid(z: number): number {
  const u = expMinus(Math.abs(z));
  const larger = 1 / (1 + u);
  return z >= 0 ? larger : u * larger;
}

/**
 * Checks the arguments of every loss: plain outcomes but for what it handles, and room for N·T logits and their
 * gradients.
 */
export function openLoss(
  what: string,
  logits: Floats, // [N,T]
  binned: BinnedSingleCause,
  dLogits: Floats | null, // [N,T]
  handled: readonly ("firstBin" | "weight")[] = [],
) {
  refuseBeyondCensoring(binned, what, handled);
  const { T, bin, event } = binned;
  const N = bin.length;
  checkRoom("logits", logits, N, T);
  checkRoom("dLogits", dLogits, N, T);
  return { N, T, bin, event };
}

/** Throws unless the array has room for N rows of T bins; it may be longer, as a workspace for the largest batch is. */
export function checkRoom(what: string, array: ArrayLike<number> | null, N: number, T: number): void {
  if (array === null || array.length >= N * T) return;
  throw new InputError(`${what}: ${array.length} values for ${N} rows of ${T} bins`, {
    code: "rows.mismatch",
  });
}

/** log S(t) from logits. */
export function logSurvival(logits: Floats, N: number, T: number, out: Floats): void {
  checkRoom("logits", logits, N, T);
  checkRoom("log survival", out, N, T);
  for (let i = 0; i < N; i++) {
    let total = 0;
    let Q = 0;
    for (let k = i * T; k < (i + 1) * T; k++) {
      const z = logits[k];
      if (z > 0) total += z;
      Q += expMinus(Math.abs(z)) * (1 + Q);
      if (Q > FOLD_PRODUCT_AT) {
        total += log1p(Q);
        Q = 0;
      }
      out[k] = -(total + log1p(Q));
    }
  }
}

/** Hazards and survival of one row's bins 1…through, reading logits from `start` and writing results from `offset`. */
export function fillCurve(
  logits: Floats,
  start: number,
  through: number,
  hazard: Float64Array,
  survival: Float64Array,
  offset: number,
): void {
  let S = 1;
  for (let l = 0; l < through; l++) {
    const z = logits[start + l];
    const u = expMinus(Math.abs(z));
    const larger = 1 / (1 + u);
    const smaller = u * larger;
    if (z >= 0) {
      hazard[offset + l] = larger;
      S *= smaller;
    } else {
      hazard[offset + l] = smaller;
      S *= larger;
    }
    survival[offset + l] = S;
  }
}

/** Hazards and survival of every row; allocated once per training run, filled once per forward pass. */
export interface CurveWorkspace {
  readonly hazard: Float64Array; // [N,T]
  readonly survival: Float64Array; // [N,T]
  /** Sums over groups in the memory of a backend, for curves that lie there. */
  readonly kernels?: GroupKernels;
}

/** Room for hazards and survival of N rows. */
export function createCurveWorkspace(N: number, T: number): CurveWorkspace {
  return { hazard: new Float64Array(N * T), survival: new Float64Array(N * T) };
}

/** Hazards and survival from logits. */
export function fillCurves(logits: Floats, N: number, T: number, curves: CurveWorkspace): void {
  checkRoom("logits", logits, N, T);
  checkRoom("hazard", curves.hazard, N, T);
  checkRoom("survival", curves.survival, N, T);
  for (let i = 0; i < N; i++) fillCurve(logits, i * T, T, curves.hazard, curves.survival, i * T);
}

/** S(t) alone. */
export function survivalCurves(logits: Floats, N: number, T: number, out: Floats): void {
  checkRoom("logits", logits, N, T);
  checkRoom("survival", out, N, T);
  for (let i = 0; i < N; i++) {
    let S = 1;
    for (let k = i * T; k < (i + 1) * T; k++) {
      S *= sigmoid(-logits[k]);
      out[k] = S;
    }
  }
}

/** Of these rows, in their order; how many there are where none has a weight. */
export function sumWeights(weight: Float64Array | undefined, rows: Int32Array): number {
  if (weight === undefined) return rows.length;
  let total = 0;
  for (let n = 0; n < rows.length; n++) total += weight[rows[n]];
  return total;
}

/** Each group's mean curve over its rows; zeros for a group without rows or weight. */
export function groupMeans(
  survival: Floats, // [N,T]
  T: number,
  groups: readonly Int32Array[],
  weights?: RowWeights, // [N]
): Float64Array {
  const means = new Float64Array(groups.length * T);
  groups.forEach((rows, g) => {
    const sum = means.subarray(g * T, (g + 1) * T);
    let total = 0;
    for (let k = 0; k < rows.length; k++) {
      const weight = weights === undefined ? 1 : weights[rows[k]];
      if (weight === 0) continue;
      total += weight;
      const start = rows[k] * T;
      if (weight === 1) for (let t = 0; t < T; t++) sum[t] += survival[start + t];
      else for (let t = 0; t < T; t++) sum[t] += weight * survival[start + t];
    }
    if (total > 0) for (let t = 0; t < T; t++) sum[t] /= total;
  });
  return means; // [G,T]
}

/**
 * One row's scan: adds scale · dL/dz of its bins 1…through to dLogits from `start`. `dSurvival` is read from index 0,
 * curves from `offset`.
 */
export function backThroughCurve(
  hazard: Float64Array,
  survival: Float64Array,
  offset: number,
  dSurvival: Float64Array,
  through: number,
  dLogits: Floats,
  start: number,
  scale: number,
): void {
  let sum = 0;
  for (let l = through - 1; l >= 0; l--) {
    sum += survival[offset + l] * dSurvival[l];
    dLogits[start + l] -= scale * hazard[offset + l] * sum;
  }
}

/** Adds scale · dL/dz to dLogits, given dL/dS(t) of every row. */
export function backThroughSurvival(
  logits: Floats,
  survival: Floats, // [N,T], of the same logits
  dSurvival: Floats, // [N,T]
  N: number,
  T: number,
  dLogits: Floats,
  scale: number,
): void {
  checkRoom("logits", logits, N, T);
  checkRoom("survival", survival, N, T);
  checkRoom("dSurvival", dSurvival, N, T);
  checkRoom("dLogits", dLogits, N, T);
  for (let i = 0; i < N; i++) {
    let sum = 0;
    for (let k = (i + 1) * T - 1; k >= i * T; k--) {
      sum += survival[k] * dSurvival[k];
      dLogits[k] -= scale * sigmoid(logits[k]) * sum;
    }
  }
}
