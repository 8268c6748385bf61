/**
 * The additive part of a network on the host: logit = b_t + wᵀx + Σ_g x_g·scale·a_g(t), forward and backward. Plain
 * loops in float64 on any memory: D + T numbers per row are nothing beside an LSTM. Gradients are summed over rows in
 * float64, because the memory they are added to may be float32.
 */
import type { Backend, Floats } from "../backend.ts";
import {
  type AdditiveShape,
  type AdditiveWeights,
  additiveWeightShapes,
  type GroupOffsetsShape,
  type Weights,
} from "../shapes.ts";
import type { HandleTable } from "./memory.ts";

/** The two operations over a backend's handles. */
export function additiveOnHost(
  handles: HandleTable<Floats>,
): Pick<Backend, "additiveForward" | "additiveBackward"> {
  const viewsOf = (name: string, shape: AdditiveShape, weights: AdditiveWeights): AdditiveViews =>
    handles.findWeights(
      name,
      weights as Weights<"baseline" | "skip">,
      additiveWeightShapes(shape, shape.groups),
    );
  return {
    async additiveForward(shape, weights, x, N, logits) {
      const views = viewsOf("weights", shape, weights);
      const { D, T } = shape;
      addUp(shape, views, handles.find("x", x, N * D), N, handles.find("logits", logits, N * T));
    },
    async additiveBackward(shape, x, N, dLogits, gradient) {
      const views = viewsOf("gradient", shape, gradient);
      const { D, T } = shape;
      const [rows, slopes] = [handles.find("x", x, N * D), handles.find("dLogits", dLogits, N * T)];
      differentiate(shape, rows, N, slopes, views);
      if (shape.groups !== null && views.groupOffsets)
        differentiateOffsets(shape, shape.groups, rows, N, slopes, views.groupOffsets);
    },
  };
}

type AdditiveViews = Record<"baseline" | "skip", Floats> & { readonly groupOffsets?: Floats };

function addUp(
  { D, T, groups }: AdditiveShape,
  weights: AdditiveViews,
  x: Floats,
  N: number,
  logits: Floats,
): void {
  const { baseline, skip, groupOffsets } = weights;
  for (let n = 0; n < N; n++) {
    let risk = 0;
    for (let d = 0; d < D; d++) risk += skip[d] * x[n * D + d];
    for (let t = 0; t < T; t++) logits[n * T + t] = baseline[t] + risk;
  }
  if (groups === null || groupOffsets === undefined) return;
  const { G, K, knot, share, scale } = groups;
  const atKnots = new Float64Array(K);
  for (let n = 0; n < N; n++) {
    atKnots.fill(0);
    for (let g = 0; g < G; g++) {
      const member = x[n * D + D - G + g] * scale;
      if (member === 0) continue;
      for (let k = 0; k < K; k++) atKnots[k] += member * groupOffsets[g * K + k];
    }
    for (let t = 0; t < T; t++) {
      const k = knot[t];
      logits[n * T + t] += atKnots[k] + share[t] * (atKnots[k + 1] - atKnots[k]);
    }
  }
}

function differentiate(
  { D, T }: AdditiveShape,
  x: Floats,
  N: number,
  dLogits: Floats,
  gradient: AdditiveViews,
): void {
  const dBaseline = new Float64Array(T);
  const dSkip = new Float64Array(D);
  for (let n = 0; n < N; n++) {
    let dRisk = 0;
    for (let t = 0; t < T; t++) {
      dBaseline[t] += dLogits[n * T + t];
      dRisk += dLogits[n * T + t];
    }
    for (let d = 0; d < D; d++) dSkip[d] += dRisk * x[n * D + d];
  }
  for (let t = 0; t < T; t++) gradient.baseline[t] += dBaseline[t];
  for (let d = 0; d < D; d++) gradient.skip[d] += dSkip[d];
}

function differentiateOffsets(
  { D, T }: AdditiveShape,
  { G, K, knot, share, scale }: GroupOffsetsShape,
  x: Floats,
  N: number,
  dLogits: Floats,
  gradient: Floats,
): void {
  const atKnots = new Float64Array(K);
  const sums = new Float64Array(G * K);
  for (let n = 0; n < N; n++) {
    atKnots.fill(0);
    for (let t = 0; t < T; t++) {
      const dLogit = dLogits[n * T + t];
      atKnots[knot[t]] += (1 - share[t]) * dLogit;
      atKnots[knot[t] + 1] += share[t] * dLogit;
    }
    for (let g = 0; g < G; g++) {
      const member = x[n * D + D - G + g] * scale;
      if (member === 0) continue;
      for (let k = 0; k < K; k++) sums[g * K + k] += member * atKnots[k];
    }
  }
  for (let i = 0; i < G * K; i++) gradient[i] += sums[i];
}
