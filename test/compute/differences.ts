// Central differences of fourth order, (f(−2s) − 8 f(−s) + 8 f(s) − f(2s)) / 12s: at s = 2e-4 their own error, s⁴/30
// times the fifth derivative (up to 1e6 here), and the rounding of f, 1e-16/s per summand, both stay below 1e-10.
import type { Floats } from "../../src/compute/backend.ts";

const STEP = 2e-4;

/** Largest difference allowed, per summand of the scalar that is differentiated. */
export const GRADIENT = 1e-10;

/** Calls `compare` with the slope of the scalar along each entry of `values`, which end as they began. */
export async function differentiate(
  values: Floats,
  scalar: () => Promise<number>,
  compare: (i: number, slope: number) => void,
): Promise<void> {
  for (let i = 0; i < values.length; i++) {
    const kept = values[i];
    const at = async (offset: number) => {
      values[i] = kept + offset * STEP;
      return scalar();
    };
    const slope = ((await at(-2)) - 8 * (await at(-1)) + 8 * (await at(1)) - (await at(2))) / (12 * STEP);
    values[i] = kept;
    compare(i, slope);
  }
}
