/**
 * The additive part of networks: b_t + wᵀx, a baseline per bin and one slope per feature for all bins, and with group
 * columns each group's offset over time (group-offsets.ts). The baseline starts at the logit of the given hazards, or
 * without them at 0 (hazard ½, hundreds of steps away from most cohorts). Slopes and offsets start at 0, unless a
 * separate fit sets them (models/start). The baseline is exempt from weight decay, which would pull every hazard to ½
 * (measured: C .696 against .719), and so are slopes. Every competing cause has a baseline, slopes and offsets of its
 * own; the knots of the offsets are common to them.
 */
import type { Backend, DeviceArray } from "../../compute/backend.ts";
import { type AdditiveShape, additiveWeightShapes } from "../../compute/shapes.ts";
import { describeGroupOffsets, GROUP_KNOTS } from "./group-offsets.ts";
import { checkSize, logitsOfHazards, totalHazards } from "./initialise.ts";
import type { Parameter, ParameterShape } from "./network.ts";
import { createLayer, type LayerShapes, listShapes } from "./parameters.ts";

export interface AdditiveOptions {
  readonly D: number;
  readonly T: number;
  /** Competing causes; default 1. */
  readonly causes?: number;
  /** For example from anchorHazards. */
  readonly baselineHazard?: ArrayLike<number>; // [K,T]
  /** How many of the last columns of x give group membership; default 0. */
  readonly groups?: number;
}

export interface Additive {
  readonly parameters: readonly Parameter[];
  /** Overwrites the logits. */
  forward(x: DeviceArray, N: number, logits: DeviceArray): Promise<void>;
  backward(x: DeviceArray, N: number, dLogits: DeviceArray): Promise<void>;
}

function additiveLayer({
  D,
  T,
  causes: K = 1,
  groups = 0,
}: AdditiveOptions): LayerShapes<"baseline" | "skip"> {
  const offsets = groups > 0 ? { G: groups, K: GROUP_KNOTS } : null;
  const decays: readonly string[] = ["groupOffsets"];
  return {
    prefix: "",
    shapes: additiveWeightShapes({ D, T, K }, offsets),
    decays: decays as LayerShapes<"baseline" | "skip">["decays"],
  };
}

export function additiveParameters(options: AdditiveOptions): ParameterShape[] {
  return listShapes(additiveLayer(options));
}

export function createAdditive(backend: Backend, options: AdditiveOptions): Additive {
  const { D, T, causes: K = 1, baselineHazard, groups = 0 } = options;
  checkSize("D", D);
  checkSize("T", T);
  checkSize("causes", K);
  const start = baselineHazard && logitsOfHazards(T, baselineHazard, K);
  const total = baselineHazard && totalHazards(T, K, baselineHazard);
  const shape: AdditiveShape = {
    D,
    T,
    K,
    groups: groups > 0 ? describeGroupOffsets(groups, T, total) : null,
  };
  const { parameters, weights, gradient } = createLayer(backend, additiveLayer(options));
  if (start !== undefined) backend.write(weights.baseline, start);
  return {
    parameters,
    forward: (x, N, logits) => backend.additiveForward(shape, weights, x, N, logits),
    backward: (x, N, dLogits) => backend.additiveBackward(shape, x, N, dLogits, gradient),
  };
}
