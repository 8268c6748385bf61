/**
 * Hazards and curves of K competing causes from logits [N,K,T], a row of T for each person and cause:
 *   h_k = e^{z_k}/(1 + Σ_j e^{z_j}),   S(t) = Π (1 − Σ_k h_k),   F_k(t) = Σ_{s≤t} S(s−1) h_k(s),
 * so that Σ_k F_k + S = 1. With the other causes given, cause k is an ordinary hazard: h_k = σ(u_k) with the
 * conditional logit u_k = z_k − log(1 + Σ_{j≠k} e^{z_j}). So whatever is measured of hazards of one cause is measured
 * here on u, as N·K rows of one kind of event, and its gradient comes back by dz_j = du_j − Σ_{k≠j} du_k h_j/(1 − h_k).
 * What is measured of incidences has every cause in it. With f_k(t) = S(t−1) h_k(t) and C_k(s) = Σ_{t≥s} dL/dF_k(t),
 *   dz_j(s) = f_j(s) C_j(s) − h_j(s) Σ_k Σ_{t≥s} f_k(t) C_k(t):
 * one scan from the last bin. Arithmetic is float64.
 */
import type { Floats } from "../../compute/backend.ts";
import { type CurveWorkspace, checkRoom } from "../curves.ts";
import { expMinus } from "../exponential.ts";

/** Fills h_k of one person and bin; z_k lie `T` apart from `at`. Returns 1 − Σ h_k. */
export function fillHazards(logits: Floats, at: number, T: number, hazard: Float64Array): number {
  const K = hazard.length;
  let most = 0;
  for (let k = 0; k < K; k++) most = Math.max(most, logits[at + k * T]);
  // Hazards below one half have negative logits: nothing to scale, and one exponential less.
  const none = most === 0 ? 1 : expMinus(most);
  let sum = none;
  for (let k = 0; k < K; k++) {
    hazard[k] = expMinus(most - logits[at + k * T]);
    sum += hazard[k];
  }
  for (let k = 0; k < K; k++) hazard[k] /= sum;
  return none / sum;
}

/** Sizes of a pass over people with causes. */
export interface CauseShape {
  readonly N: number;
  readonly K: number;
  readonly T: number;
}

/** Hazards of every person and cause, and Π (1 − h_k) of each cause by itself, as rows of one kind of event. */
export function fillCauseCurves(logits: Floats, { N, K, T }: CauseShape, curves: CurveWorkspace): void {
  checkRoom("logits", logits, N * K, T);
  checkRoom("hazard", curves.hazard, N * K, T);
  checkRoom("survival", curves.survival, N * K, T);
  const hazard = new Float64Array(K);
  const left = new Float64Array(K);
  for (let n = 0; n < N; n++) {
    left.fill(1);
    for (let t = 0; t < T; t++) {
      const at = n * K * T + t;
      fillHazards(logits, at, T, hazard);
      for (let k = 0; k < K; k++) {
        curves.hazard[at + k * T] = hazard[k];
        left[k] *= 1 - hazard[k];
        curves.survival[at + k * T] = left[k];
      }
    }
  }
}

/**
 * Adds dL/dz to dLogits, given dL/du; `hazard` has h_k of the same rows. No slope pulls nothing, even beside a hazard
 * that has rounded to 1.
 */
export function backThroughConditional(
  hazard: Float64Array, // [N,K,T]
  dConditional: Float64Array, // [N,K,T]
  { N, K, T }: CauseShape,
  dLogits: Floats, // [N,K,T]
): void {
  checkRoom("dLogits", dLogits, N * K, T);
  for (let n = 0; n < N; n++) {
    for (let t = 0; t < T; t++) {
      const at = n * K * T + t;
      let pulled = 0; // Σ_k du_k / (1 − h_k)
      for (let k = 0; k < K; k++) pulled += pullOf(dConditional[at + k * T], hazard[at + k * T]);
      for (let j = 0; j < K; j++) {
        const own = dConditional[at + j * T];
        const others = pulled - pullOf(own, hazard[at + j * T]);
        dLogits[at + j * T] += own - hazard[at + j * T] * others;
      }
    }
  }
}

function pullOf(slope: number, hazard: number): number {
  return slope === 0 ? 0 : slope / (1 - hazard);
}

/** Hazards and 1 − F_k, what is free of each cause: in group statistics it takes the place of survival. */
export function fillFreeCurves(
  logits: Floats,
  shape: CauseShape,
  { hazard, survival }: CurveWorkspace,
): void {
  checkRoom("hazard", hazard, shape.N * shape.K, shape.T);
  incidenceCurves(logits, shape, survival, hazard);
  for (let k = 0; k < shape.N * shape.K * shape.T; k++) survival[k] = 1 - survival[k];
}

/** Adds dL/dz to dLogits, given dL/d(1 − F_k(t)); `hazard` has h_k of the same rows. */
export function backThroughFreeCurves(
  hazard: Float64Array, // [N,K,T]
  dFree: Float64Array, // [N,K,T]
  { N, K, T }: CauseShape,
  dLogits: Floats, // [N,K,T]
): void {
  checkRoom("hazard", hazard, N * K, T);
  checkRoom("dFree", dFree, N * K, T);
  checkRoom("dLogits", dLogits, N * K, T);
  const before = new Float64Array(T); // S(t−1)
  const later = new Float64Array(K); // −C_k
  for (let n = 0; n < N; n++) {
    let S = 1;
    for (let t = 0; t < T; t++) {
      before[t] = S;
      let any = 0;
      for (let k = 0; k < K; k++) any += hazard[(n * K + k) * T + t];
      S *= 1 - any;
    }
    later.fill(0);
    let pulled = 0;
    for (let t = T - 1; t >= 0; t--) {
      const at = n * K * T + t;
      for (let k = 0; k < K; k++) {
        later[k] += dFree[at + k * T];
        pulled += before[t] * hazard[at + k * T] * later[k];
      }
      for (let j = 0; j < K; j++) dLogits[at + j * T] += hazard[at + j * T] * (pulled - before[t] * later[j]);
    }
  }
}

/** F_k(t) of every person and cause; h_k too where there is room for them. */
export function incidenceCurves(
  logits: Floats,
  { N, K, T }: CauseShape,
  out: Float64Array,
  hazards?: Float64Array,
): void {
  checkRoom("logits", logits, N * K, T);
  checkRoom("incidence", out, N * K, T);
  const hazard = new Float64Array(K);
  const reached = new Float64Array(K);
  for (let n = 0; n < N; n++) {
    let S = 1;
    reached.fill(0);
    for (let t = 0; t < T; t++) {
      const at = n * K * T + t;
      const left = fillHazards(logits, at, T, hazard);
      for (let k = 0; k < K; k++) {
        reached[k] += S * hazard[k];
        out[at + k * T] = reached[k];
        if (hazards) hazards[at + k * T] = hazard[k];
      }
      S *= left;
    }
  }
}

/** S(t) of every person: nothing of any cause has happened. */
export function survivalOfCauses(logits: Floats, { N, K, T }: CauseShape, out: Floats): void {
  checkRoom("logits", logits, N * K, T);
  checkRoom("survival", out, N, T);
  const hazard = new Float64Array(K);
  for (let n = 0; n < N; n++) {
    let S = 1;
    for (let t = 0; t < T; t++) {
      S *= fillHazards(logits, n * K * T + t, T, hazard);
      out[n * T + t] = S;
    }
  }
}
