// The proxy of the protected group: its law, its strengths on people they were not chosen on, and the regression that
// measures them.
import { createRandom, InputError } from "graduate-survival/core";
import { findColumn } from "graduate-survival/data";
import { beforeAll, describe, expect, test } from "vitest";
import { areaUnderRoc, fitLogistic } from "../../src/eye/membership.ts";
import {
  addProxy,
  drawProxy,
  measureProxy,
  PROXY_LEVELS,
  protectedMembers,
  proxyFeatures,
  proxyLevel,
} from "../../src/eye/proxy.ts";
import { type EyeCohort, simulateEye } from "../../src/eye/simulate.ts";

const draw = (seed: number, n: number) => simulateEye({ seed, n, level: 2, censoring: "dependent" });

describe("the regression", () => {
  test("two by two: the log odds of each half", () => {
    // 3 of 4 members where x = 1, 1 of 4 where x = 0.
    const beta = fitLogistic(Float64Array.of(1, 1, 1, 1, 0, 0, 0, 0), 1, [1, 1, 1, 0, 1, 0, 0, 0]);
    // The ridge takes less than a hundredth off.
    expect(Math.abs(beta[0] + Math.log(3))).toBeLessThan(0.01);
    expect(Math.abs(beta[0] + beta[1] - Math.log(3))).toBeLessThan(0.01);
  });

  test("it finds the coefficients that drew the members; a column twice does no harm", () => {
    const random = createRandom(8);
    const N = 40_000;
    const x = new Float64Array(N * 3);
    const member = new Uint8Array(N);
    for (let i = 0; i < N; i++) {
      x[3 * i] = random.normal();
      x[3 * i + 1] = random.normal();
      x[3 * i + 2] = x[3 * i];
      member[i] = random.uniform() < 1 / (1 + Math.exp(2 - 0.8 * x[3 * i] + 0.5 * x[3 * i + 1])) ? 1 : 0;
    }
    const [intercept, first, second, twice] = fitLogistic(x, 3, member);
    expect(Math.abs(intercept + 2)).toBeLessThan(0.06);
    expect(Math.abs(first + twice - 0.8)).toBeLessThan(0.06);
    expect(Math.abs(second + 0.5)).toBeLessThan(0.06);
  });

  test("members that the features tell without fail leave it finite", () => {
    const beta = fitLogistic(Float64Array.of(-2, -1, 1, 2), 1, [0, 0, 1, 1]);
    expect(beta.every(Number.isFinite)).toBe(true);
    expect(beta[1]).toBeGreaterThan(1);
  });

  test("areas by hand; ties count half", () => {
    expect(areaUnderRoc(Float64Array.of(1, 2, 3, 4), [0, 1, 0, 1])).toBe(0.75);
    expect(areaUnderRoc(Float64Array.of(1, 1, 1), [0, 1, 0])).toBe(0.5);
    expect(areaUnderRoc(Float64Array.of(1, 2, 2), [0, 1, 0])).toBe(0.75);
  });
});

describe("the column", () => {
  const { table } = draw(31, 2000);

  test("noise is the same at every strength, and members are moved by it", () => {
    const member = protectedMembers(table);
    const noise = drawProxy(table, 31, 0).values;
    const moved = drawProxy(table, 31, 1.5).values;
    expect(member.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(30);
    moved.forEach((value, row) => {
      expect(value).toBe(1.5 * member[row] + noise[row]);
    });
    const mean = noise.reduce((sum, one) => sum + one, 0) / noise.length;
    expect(Math.abs(mean)).toBeLessThan(0.07);
    expect(drawProxy(table, 32, 0).values[0]).not.toBe(noise[0]);
  });

  test("a smaller cohort has the first values of a larger one", () => {
    const smaller = draw(31, 500).table;
    expect(drawProxy(smaller, 31, 0.7).values).toEqual(drawProxy(table, 31, 0.7).values.subarray(0, 500));
  });

  test("34 features and the proxy; nothing protected, no outcome", () => {
    const features = proxyFeatures(addProxy(table, drawProxy(table, 31, 0.7)));
    expect(features).toHaveLength(35);
    for (const name of features)
      expect(["race", "housing", "visits", "bmi", "time", "event"]).not.toContain(name);
    expect(features).toContain("proxy");
    expect(findColumn(table, "race").type).toBe("category");
  });

  test("an unknown level is refused", () => expect(() => proxyLevel(0.6)).toThrow(InputError));
});

describe("people the strengths were not chosen on", () => {
  let fitted: EyeCohort;
  let judged: EyeCohort;
  beforeAll(() => {
    fitted = draw(41, 20_000);
    judged = draw(42, 40_000);
  });

  test.each(PROXY_LEVELS)("area $area with strength $strength", ({ area, strength, measured }) => {
    const found = measureProxy(strength, fitted, judged);
    expect(Math.abs(found - measured)).toBeLessThan(0.02);
    expect(Math.abs(found - area)).toBeLessThan(0.02);
  });
});
