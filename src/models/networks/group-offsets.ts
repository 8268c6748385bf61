/**
 * What each group adds to the logits over time (not in the paper): Σ_g x_g a_g(t), where x_g are the 0/1 columns of
 * group membership and a_g is piecewise linear between knots with equal shares of the expected events between them. It
 * gives every constraint a direct way to be met, in level and in shape, so that the shared slopes and LSTM need not
 * bend for it. The group columns are the last of x. This file places the knots; the sum is an operation of the backend
 * (additive.ts).
 */
import type { GroupOffsetsShape } from "../../compute/shapes.ts";

/** Knots over the bins: with time blocks of a tenth of the events, enough for an early, a middle and a late part. */
export const GROUP_KNOTS = 6;
/**
 * Offsets are this many times their parameter, so that one step of an adaptive optimiser moves them that many times
 * further than other weights: the constraints are then met before the LSTM has memorised rows.
 */
export const OFFSET_SCALE = 5;

/**
 * The knot before each bin and the fraction of the way to the next one, measured in the events expected under a
 * baseline hazard.
 */
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

/** In the form that the backend's operations take. */
export function describeGroupOffsets(
  groups: number,
  T: number,
  baselineHazard: ArrayLike<number> | undefined,
): GroupOffsetsShape {
  return { G: groups, K: GROUP_KNOTS, ...placeKnots(T, baselineHazard), scale: OFFSET_SCALE };
}
