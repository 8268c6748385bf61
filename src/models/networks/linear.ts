/**
 * The logistic-hazard model: logit_t = b_t + wᵀx, a baseline per bin and one slope per feature for all bins. That is
 * proportional odds of the hazard, close to Cox where hazards per bin are small. Slopes start at 0, the baseline at the logit
 * of the given hazards, or at 0 (hazard ½, hundreds of steps away from most cohorts) without them. The baseline is exempt from
 * weight decay, which would pull every hazard to ½ (measured: C .696 against .719).
 * So are the slopes, which may start at a penalised fit of their own (linear-start.ts). With group columns, each group's offset
 * over time is added (group-offsets.ts).
 * `createBaselineAndSkip` is the same sum for networks that add something to it. Slopes that differ by bin: an MLP of depth 0.
 */
import type { Backend, Floats } from "../../compute/backend.ts";
import { createGroupOffsets } from "./group-offsets.ts";
import { checkRows, checkSize, createParameter, fillLogits } from "./initialise.ts";
import type { Network, Parameter } from "./network.ts";

export interface LinearOptions {
  readonly D: number;
  readonly T: number;
  /** As from anchorHazards. */
  readonly baselineHazard?: ArrayLike<number>; // [T]
  /** How many of the last columns of x say who is in a group; default 0. */
  readonly groups?: number;
}

export interface BaselineAndSkip {
  readonly parameters: readonly Parameter[];
  /** Overwrites the logits. */
  forward(x: Floats, N: number, logits: Floats): void;
  backward(x: Floats, N: number, dLogits: Floats): void;
}

/** Plain loops in float64 on every backend: D + T numbers per row are nothing beside an LSTM. */
export function createBaselineAndSkip(
  backend: Backend,
  { D, T, baselineHazard, groups = 0 }: LinearOptions,
): BaselineAndSkip {
  checkSize("D", D);
  checkSize("T", T);
  const baseline = createParameter(backend, "baseline", [T], false);
  const skip = createParameter(backend, "skip", [D], false);
  if (baselineHazard !== undefined) fillLogits(baseline.values, baselineHazard);
  const offsets = groups > 0 ? createGroupOffsets(backend, { D, T, G: groups }, baselineHazard) : null;
  return {
    parameters: [baseline, skip, ...(offsets === null ? [] : [offsets.parameter])],
    forward(x, N, logits) {
      for (let n = 0; n < N; n++) {
        let risk = 0;
        for (let d = 0; d < D; d++) risk += skip.values[d] * x[n * D + d];
        for (let t = 0; t < T; t++) logits[n * T + t] = baseline.values[t] + risk;
      }
      offsets?.forward(x, N, logits);
    },
    backward(x, N, dLogits) {
      // Summed over rows in float64, because the parameters' own memory may be float32.
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
      for (let t = 0; t < T; t++) baseline.gradient[t] += dBaseline[t];
      for (let d = 0; d < D; d++) skip.gradient[d] += dSkip[d];
      offsets?.backward(x, N, dLogits);
    },
  };
}

/** A logit a bin plus a linear function of the features. */
export function createLinear(backend: Backend, options: LinearOptions): Network {
  const { D, T } = options;
  const { parameters, forward, backward } = createBaselineAndSkip(backend, options);
  return {
    kind: "linear",
    D,
    T,
    parameters,
    async forward(x, N, logits) {
      checkRows(options, x, N, logits);
      forward(x, N, logits);
    },
    async backward(x, N, dLogits) {
      checkRows(options, x, N, dLogits);
      backward(x, N, dLogits);
    },
  };
}
