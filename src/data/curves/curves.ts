/**
 * Predicted survival curves on a grid of T bins: S(t|x) at the upper edge of bin t, t = 1…T, and S(0) = 1 understood.
 */

export interface Curves {
  readonly N: number;
  readonly T: number;
  /** Row-major [N,T]; entry [i*T + t−1] is S(t|x_i). */
  readonly survival: Float64Array | Float32Array;
}

/** Whether every value is a probability; NaN is not. */
export function isSurvival({ survival }: Pick<Curves, "survival">): boolean {
  for (let k = 0; k < survival.length; k++) if (!(survival[k] >= 0 && survival[k] <= 1)) return false;
  return true;
}
