// e^−a from a table and a short series against Math.exp: over the table, at its end, beyond it, and where there is
// nothing to compute.
import { expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { expMinus } from "../../src/objectives/exponential.ts";

/** Relative: two last bits of a float64. */
const TOLERANCE = 5e-16;

test("within two last bits of Math.exp", () => {
  const random = createRandom(5);
  let worst = 0;
  for (let i = 0; i < 200_000; i++) {
    // Half spread over the table and a little beyond, half of every magnitude from 1e-20.
    const a = i % 2 === 0 ? 42 * random.uniform() : 40 * 10 ** (-20 * random.uniform());
    const truth = Math.exp(-a);
    worst = Math.max(worst, Math.abs(expMinus(a) - truth) / truth);
  }
  expect(worst).toBeLessThan(TOLERANCE);
});

test("at every step of the table, and midway between two", () => {
  let worst = 0;
  for (let half = 0; half / 2 < (40 * 64) / Math.LN2; half++) {
    const a = ((half / 2) * Math.LN2) / 64;
    worst = Math.max(worst, Math.abs(expMinus(a) / Math.exp(-a) - 1));
  }
  expect(worst).toBeLessThan(TOLERANCE);
});

test("the ends", () => {
  expect(expMinus(0)).toBe(1);
  expect(expMinus(40 - 2 ** -47) / Math.exp(-40)).toBeCloseTo(1, 13);
  expect(expMinus(40)).toBe(Math.exp(-40));
  expect(expMinus(745)).toBe(5e-324);
  expect(expMinus(Number.POSITIVE_INFINITY)).toBe(0);
  expect(expMinus(Number.NaN)).toBeNaN();
});
