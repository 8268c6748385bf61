/**
 * What each group adds to the logits over time (not in the paper): Σ_g x_g a_g(t), x_g the 0/1 columns that say who is in a group,
 * a_g piecewise linear between knots that have equal shares of the expected events between them. It gives every constraint a
 * short way to be met, in level and in shape, so that the slopes and the LSTM, which everyone shares, need not bend for it.
 * The group columns are the last of x. Adds to logits that are there; knows nothing of what a group is.
 */
import type { Backend, Floats } from "../../compute/backend.ts";
import { createParameter } from "./initialise.ts";
import type { Parameter } from "./network.ts";

/** Knots over the bins: with time blocks of a tenth of the events, enough for an early, a middle and a late part. */
export const GROUP_KNOTS = 6;
/**
 * Offsets are this many times their parameter, so that one step of an adaptive optimiser moves them as many times further than
 * other weights: the constraints are then met before the LSTM has learned rows by heart.
 */
export const OFFSET_SCALE = 5;

export interface GroupOffsetsShape {
  readonly D: number;
  readonly T: number;
  /** Group columns, the last ones of x. */
  readonly G: number;
}

export interface GroupOffsets {
  readonly parameter: Parameter;
  forward(x: Floats, N: number, logits: Floats): void;
  backward(x: Floats, N: number, dLogits: Floats): void;
}

/** Knot before each bin and how far the bin lies to the next one, in shares of the events a baseline hazard leads to expect. */
export function placeKnots(
  T: number,
  baselineHazard: ArrayLike<number> | undefined,
): { readonly knot: Int32Array; readonly share: Float64Array } {
  const expected = new Float64Array(T);
  let survival = 1;
  let sum = 0;
  for (let t = 0; t < T; t++) {
    const hazard = baselineHazard?.[t] ?? 1 / T;
    sum += survival * hazard;
    survival *= 1 - hazard;
    expected[t] = sum;
  }
  const place = expected.map((events) => (events / sum) * (GROUP_KNOTS - 1));
  const knot = Int32Array.from(place, (at) => Math.min(Math.floor(at), GROUP_KNOTS - 2));
  return { knot, share: place.map((at, t) => at - knot[t]) };
}

export function createGroupOffsets(
  backend: Backend,
  { D, T, G }: GroupOffsetsShape,
  baselineHazard: ArrayLike<number> | undefined,
): GroupOffsets {
  const K = GROUP_KNOTS;
  const parameter = createParameter(backend, "groupOffsets", [G, K], true);
  const { knot, share } = placeKnots(T, baselineHazard);
  const atKnots = new Float64Array(K);
  return {
    parameter,
    forward(x, N, logits) {
      for (let n = 0; n < N; n++) {
        atKnots.fill(0);
        for (let g = 0; g < G; g++) {
          const member = x[n * D + D - G + g] * OFFSET_SCALE;
          if (member === 0) continue;
          for (let k = 0; k < K; k++) atKnots[k] += member * parameter.values[g * K + k];
        }
        for (let t = 0; t < T; t++) {
          const k = knot[t];
          logits[n * T + t] += atKnots[k] + share[t] * (atKnots[k + 1] - atKnots[k]);
        }
      }
    },
    backward(x, N, dLogits) {
      // Summed over rows in float64, because the parameter's own memory may be float32.
      const sums = new Float64Array(G * K);
      for (let n = 0; n < N; n++) {
        atKnots.fill(0);
        for (let t = 0; t < T; t++) {
          const gradient = dLogits[n * T + t];
          atKnots[knot[t]] += (1 - share[t]) * gradient;
          atKnots[knot[t] + 1] += share[t] * gradient;
        }
        for (let g = 0; g < G; g++) {
          const member = x[n * D + D - G + g] * OFFSET_SCALE;
          if (member === 0) continue;
          for (let k = 0; k < K; k++) sums[g * K + k] += member * atKnots[k];
        }
      }
      for (let i = 0; i < G * K; i++) parameter.gradient[i] += sums[i];
    },
  };
}
