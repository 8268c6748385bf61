/** Small cohorts with logits that need not fit them, and the two ways every objective's gradient is checked. */
import { expect } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import type { BinnedRightCensored } from "../../src/data/outcomes/outcomes.ts";
import type { NamedRows } from "../../src/objectives/constraints.ts";

export interface LogitCohort {
  readonly N: number;
  readonly T: number;
  readonly logits: Float64Array; // [N,T]
  readonly binned: BinnedRightCensored;
  /** Everyone, two overlapping parts, and a small one. */
  readonly groups: readonly NamedRows[];
}

export function rowsWhere(N: number, belongs: (row: number) => boolean): Int32Array {
  return Int32Array.from({ length: N }, (_, row) => row).filter(belongs);
}

export function createCohort(N: number, T: number, seed: number, eventShare = 0.6): LogitCohort {
  const random = createRandom(seed, 5);
  const logits = Float64Array.from({ length: N * T }, () => random.normal() - 1.5);
  const bin = Int32Array.from({ length: N }, () => 1 + random.integer(T));
  const event = Uint8Array.from({ length: N }, () => (random.uniform() < eventShare ? 1 : 0));
  const groups = [
    { name: "all", rows: rowsWhere(N, () => true) },
    { name: "even", rows: rowsWhere(N, (row) => row % 2 === 0) },
    { name: "first two thirds", rows: rowsWhere(N, (row) => 3 * row < 2 * N) },
    { name: "every fifth", rows: rowsWhere(N, (row) => row % 5 === 1) },
  ];
  return { N, T, logits, binned: { T, bin, event }, groups };
}

/** Every entry within `tolerance` × the largest expected one; where all are 0, within the tolerance itself. */
export function expectEntries(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance: number,
  what = "entry",
): void {
  expect(actual.length, `${what}: length`).toBe(expected.length);
  let largest = 0;
  for (let k = 0; k < expected.length; k++) largest = Math.max(largest, Math.abs(expected[k]));
  const allowed = tolerance * (largest > 0 ? largest : 1);
  for (let k = 0; k < expected.length; k++) {
    const gap = Math.abs(actual[k] - expected[k]);
    // One assertion per failing entry only: thousands of passing ones cost seconds.
    if (!(gap <= allowed)) expect(actual[k], `${what} ${k}`).toBe(expected[k]);
  }
}

/** Central differences with a step of 1e-5: truncation and rounding both near 1e-10 of a smooth value of order 1. */
export function centralDifferences(
  logits: Float64Array,
  value: (logits: Float64Array) => number,
): Float64Array {
  const step = 1e-5;
  const moved = logits.slice();
  return logits.map((z, k) => {
    moved[k] = z + step;
    const above = value(moved);
    moved[k] = z - step;
    const below = value(moved);
    moved[k] = z;
    return (above - below) / (2 * step);
  });
}

export const DIFFERENCE_TOLERANCE = 2e-7;

export type Objective = (
  logits: Float32Array | Float64Array,
  dLogits: Float64Array | null,
  scale: number,
) => number;

/**
 * The gradient is added, scaled, is that of the value, and the value does not depend on whether a gradient is asked
 * for.
 */
export function expectGradientOf(objective: Objective, logits: Float64Array): void {
  const dLogits = new Float64Array(logits.length).fill(1);
  const value = objective(logits, dLogits, 2);
  expect(objective(logits, null, 2)).toBe(value);
  const differences = centralDifferences(logits, (moved) => objective(moved, null, 1));
  expectEntries(
    dLogits.map((d) => (d - 1) / 2),
    differences,
    DIFFERENCE_TOLERANCE,
    "dLogits",
  );
  const single = Float32Array.from(logits);
  expect(Math.abs(objective(single, null, 1) - value)).toBeLessThanOrEqual(
    1e-6 * Math.max(1, Math.abs(value)),
  );
}
