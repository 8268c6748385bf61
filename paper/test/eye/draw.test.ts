// Draws against their distribution functions: Kolmogorov-Smirnov for the continuous ones, Pearson's chi-square for
// counts, and the first two moments. Ten streams are pooled; the levels are such that right samplers fail anywhere
// here with probability .01.

import {
  chiSquareUpperTail,
  createRandom,
  logGamma,
  logGammaUpper,
  normalQuantile,
  type Random,
} from "graduate-survival/core";
import { describe, expect, test } from "vitest";
import { drawExponential, drawGamma, drawPoisson } from "../../src/eye/draw.ts";

const STREAMS = 10;
const N = STREAMS * 8000;
/** Three tests of each of nine samplers. */
const LEVEL = 0.01 / 27;
const LARGEST_Z = normalQuantile(1 - LEVEL / 2);
/** Upper point of √n·D: P(√n·D > d) is 2 exp(−2d²) but for terms below 1e-13 here (Kolmogorov). */
const LARGEST_D = Math.sqrt(-Math.log(LEVEL / 2) / 2);

function sample(draw: (random: Random) => number): Float64Array {
  const streams = Array.from({ length: STREAMS }, (_, seed) => createRandom(seed, 5));
  return Float64Array.from({ length: N }, (_, i) => draw(streams[i % STREAMS]));
}

function kolmogorovSmirnov(values: Float64Array, cdf: (value: number) => number): number {
  const sorted = values.slice().sort();
  let largest = 0;
  sorted.forEach((value, k) => {
    const F = cdf(value);
    largest = Math.max(largest, F - k / N, (k + 1) / N - F);
  });
  return Math.sqrt(N) * largest;
}

/** z of the mean, given the distribution's own mean and variance. */
function zOfMean(values: Float64Array, mean: number, variance: number): number {
  return (values.reduce((sum, value) => sum + value, 0) / N - mean) / Math.sqrt(variance / N);
}

/** z of the mean square deviation, given the fourth central moment too. */
function zOfVariance(values: Float64Array, mean: number, variance: number, fourth: number): number {
  const square = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / N;
  return (square - variance) / Math.sqrt((fourth - variance * variance) / N);
}

test("exponential", () => {
  const values = sample(drawExponential);
  expect(kolmogorovSmirnov(values, (value) => -Math.expm1(-value))).toBeLessThan(LARGEST_D);
  expect(Math.abs(zOfMean(values, 1, 1))).toBeLessThan(LARGEST_Z);
  expect(Math.abs(zOfVariance(values, 1, 1, 9))).toBeLessThan(LARGEST_Z);
});

describe("gamma", () => {
  test.each([0.3, 1, 2.2, 40])("shape %d", (shape) => {
    const values = sample((random) => drawGamma(random, shape));
    // logGammaUpper is the log of the upper tail, regularised or not; the complete one settles which.
    const complete = logGammaUpper(shape, 0);
    const cdf = (value: number) => -Math.expm1(logGammaUpper(shape, value) - complete);
    expect(kolmogorovSmirnov(values, cdf)).toBeLessThan(LARGEST_D);
    expect(Math.abs(zOfMean(values, shape, shape))).toBeLessThan(LARGEST_Z);
    const fourth = 3 * shape * shape + 6 * shape;
    expect(Math.abs(zOfVariance(values, shape, shape, fourth))).toBeLessThan(LARGEST_Z);
  });
});

describe("Poisson", () => {
  test.each([0.2, 1.7, 11, 75])("mean %d", (mean) => {
    const values = sample((random) => drawPoisson(random, mean));
    expect(values.every((value) => Number.isInteger(value) && value >= 0)).toBe(true);
    expect(Math.abs(zOfMean(values, mean, mean))).toBeLessThan(LARGEST_Z);
    expect(Math.abs(zOfVariance(values, mean, mean, mean + 3 * mean * mean))).toBeLessThan(LARGEST_Z);
    expect(pearson(values, mean)).toBeGreaterThan(LEVEL);
  });

  test("mean 0 is 0", () => {
    expect(drawPoisson(createRandom(1), 0)).toBe(0);
  });

  /** p of the counts, cells of fewer than 10 expected merged upwards. */
  function pearson(values: Float64Array, mean: number): number {
    const largest = Math.max(...values);
    const observed = new Float64Array(largest + 1);
    for (const value of values) observed[value]++;
    let chiSquare = 0;
    let cells = 0;
    let o = 0;
    let e = 0;
    let left = N;
    for (let k = 0; k <= largest; k++) {
      const expected = N * Math.exp(k * Math.log(mean) - mean - logGamma(k + 1));
      o += observed[k];
      e += expected;
      left -= expected;
      if (e < 10 || (left < 10 && k < largest)) continue;
      if (k === largest) e += left;
      chiSquare += (o - e) ** 2 / e;
      cells++;
      o = 0;
      e = 0;
    }
    return chiSquareUpperTail(chiSquare, cells - 1);
  }
});
