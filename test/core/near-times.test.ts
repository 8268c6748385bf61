// Which times R's aeqSurv takes for one: the examples are what survival 3.5-3 answers.
import { describe, expect, test } from "vitest";
import { joinNearTimes, joinTimes, TIED_TIMES } from "../../src/core/ascending.ts";
import { fitCox } from "../../src/models/cox/cox.ts";
import { kaplanMeier } from "../../src/stats/kaplan-meier.ts";
import { logrank } from "../../src/stats/logrank.ts";

const joined = (...times: number[]) => Array.from(joinTimes(Float64Array.from(times)));

describe("times apart by rounding", () => {
  test("0.1 + 0.2 is 0.3; the smaller stands for both", () => {
    expect(joined(0.1 + 0.2, 1, 0.3)).toEqual([0.3, 1, 0.3]);
  });

  test("the tolerance is absolute, and relative to the mean of the distinct times", () => {
    expect(TIED_TIMES).toBe(Math.sqrt(Number.EPSILON));
    expect(joined(0, 2 ** -26, 1)).toEqual([0, 0, 1]);
    expect(joined(0, 2 ** -25, 1)).toEqual([0, 2 ** -25, 1]);
    // mean 1000.0000…: 1e-5 apart is 1e-8 of it
    expect(joined(1000, 1000.00001)).toEqual([1000, 1000]);
    expect(joined(1000, 1000.0001)).toEqual([1000, 1000.0001]);
  });

  test("a run of near times is one, however long", () => {
    expect(joined(1, 1 + 1e-8, 1 + 2e-8, 1 + 3e-8, 2)).toEqual([1, 1, 1, 1, 2]);
  });

  test("nothing to join: the very same array; no rows; infinite times stay", () => {
    const time = Float64Array.of(3, 1, 2);
    expect(joinTimes(time)).toBe(time);
    expect(joined()).toEqual([]);
    expect(joined(1, Number.POSITIVE_INFINITY)).toEqual([1, Number.POSITIVE_INFINITY]);
    expect(Array.from(joinNearTimes(Float64Array.of(5)))).toEqual([5]);
  });
});

describe("timefix", () => {
  const outcomes = { time: Float64Array.of(0.3, 0.1 + 0.2, 1, 1), event: Uint8Array.of(1, 1, 0, 1) };

  test("kaplanMeier and logrank tie by default, and not when asked", () => {
    expect(Array.from(kaplanMeier(outcomes).time)).toEqual([0.3, 1]);
    expect(Array.from(kaplanMeier(outcomes).survival)).toEqual([0.5, 0.25]);
    expect(Array.from(kaplanMeier(outcomes, { timefix: false }).time)).toEqual([0.3, 0.1 + 0.2, 1]);
    const group = Int32Array.of(0, 1, 0, 1);
    // tied: E₀ = 2·2/4 + 1/2, V = 2·½·½·2/3 + ½·½; apart: E₀ = 2/4 + 1/3 + 1/2
    expect(logrank(outcomes, group, 2)).toMatchObject({ expected: Float64Array.of(1.5, 1.5) });
    const apart = logrank(outcomes, group, 2, { timefix: false });
    expect("expected" in apart && apart.expected[0]).toBeCloseTo(4 / 3, 14);
  });

  test("fitCox: Efron's ties are those of equal times", () => {
    const x = Float64Array.of(0.5, 2, 1, -1);
    const equal = fitCox({ ...outcomes, time: Float64Array.of(0.3, 0.3, 1, 1), x, D: 1 });
    expect(fitCox({ ...outcomes, x, D: 1 }).coefficients).toEqual(equal.coefficients);
    const apart = fitCox({ ...outcomes, x, D: 1 }, { timefix: false });
    expect(apart.coefficients[0]).not.toBe(equal.coefficients[0]);
  });
});
