// Paired tests, win counts and adjusted p-values against R (test/oracles/comparison.R) and by hand.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { absent, isAbsent, type Measured } from "../../src/core/measured.ts";
import {
  benjaminiHochberg,
  binomialRange,
  correctedResampledT,
  countWins,
  holm,
  type PairedTest,
  pairedT,
} from "../../src/stats/comparison.ts";

const oracle = JSON.parse(readFileSync(new URL("../oracles/comparison.json", import.meta.url), "utf8"));

function present(test: Measured<PairedTest>): PairedTest {
  if (isAbsent(test)) throw new Error(test.absent);
  return test;
}

const near = (actual: Measured, expected: number, tolerance = 1e-12) => {
  if (isAbsent(actual)) throw new Error(actual.absent);
  expect(Math.abs(actual - expected), `${actual} against ${expected}`).toBeLessThanOrEqual(
    tolerance * Math.abs(expected),
  );
};

describe("t tests", () => {
  test.each([0, 1, 2])("R's t.test and the corrected form, case %i", (k) => {
    const expected = oracle.t[k];
    const plain = present(pairedT(expected.differences));
    near(plain.mean, expected.mean);
    near(plain.standardError, expected.se);
    near(plain.t, expected.t);
    near(plain.p, expected.p);
    expect(plain.df).toBe(expected.differences.length - 1);
    const corrected = present(correctedResampledT(expected.differences, { testSize: 20, trainSize: 80 }));
    near(corrected.standardError, expected.corrected_se);
    near(corrected.t, expected.corrected_t);
    near(corrected.p, expected.corrected_p);
  });

  test("differences that hardly vary are still tested: 1e-3 ± 1e-9", () => {
    const expected = oracle.t[3];
    near(present(pairedT(expected.differences)).p, expected.p, 1e-7); // 1e-3 + 1e-9 itself is rounded at 1e-10 of the spread
  });

  test("without variance: p 1 at zero, p 0 elsewhere and no t", () => {
    expect(pairedT([0, 0, 0])).toEqual({ mean: 0, standardError: 0, t: 0, df: 2, p: 1 });
    expect(pairedT([0.25, 0.25])).toEqual({
      mean: 0.25,
      standardError: 0,
      t: absent("no variance"),
      df: 1,
      p: 0,
    });
    // 0.1 three times does not average to 0.1 exactly
    expect(pairedT([0.1, 0.1, 0.1])).toMatchObject({ t: absent("no variance"), p: 0 });
    expect(correctedResampledT([-1, -1], { testSize: 1, trainSize: 1 })).toMatchObject({ p: 0, mean: -1 });
  });

  test("too few or missing scores are absent, impossible sizes refused", () => {
    expect(pairedT([])).toEqual(absent("a t test needs at least two paired scores, not 0"));
    expect(pairedT([1])).toEqual(absent("a t test needs at least two paired scores, not 1"));
    expect(pairedT([1, Number.NaN])).toEqual(absent("a paired score is missing"));
    expect(() => correctedResampledT([1, 2], { testSize: 5, trainSize: 0 })).toThrow(InputError);
  });
});

describe("wins, losses, draws", () => {
  const items = [
    { name: "better", a: [0.8, 0.82, 0.81], b: [0.7, 0.71, 0.72] },
    { name: "worse", a: [0.5, 0.51, 0.5], b: [0.7, 0.7, 0.7] },
    { name: "same", a: [0.7, 0.6], b: [0.6, 0.7] },
    { name: "equal", a: [0.7, 0.7], b: [0.7, 0.7] },
    { name: "constant", a: [0.75, 0.75], b: [0.5, 0.5] },
    { a: [0.7], b: [0.6] },
  ];

  test("higher is better", () => {
    const { details, ...counts } = countWins(items, { higherIsBetter: true, test: "paired" });
    expect(counts).toEqual({ wins: 2, losses: 1, draws: 2, untested: 1 });
    expect(details.map(({ name, verdict }) => `${name} ${verdict}`)).toEqual([
      "better win",
      "worse loss",
      "same draw",
      "equal draw",
      "constant win",
      "6 untested",
    ]);
  });

  test("lower is better turns wins and losses round; a stricter level makes draws", () => {
    expect(countWins(items, { higherIsBetter: false, test: "paired" })).toMatchObject({ wins: 1, losses: 2 });
    expect(countWins(items, { higherIsBetter: true, test: "paired", level: 1e-6 })).toMatchObject({
      wins: 1,
      losses: 0,
      draws: 4,
    });
  });

  test("the corrected test is the more cautious one", () => {
    const close = [{ a: [0.71, 0.73, 0.72, 0.75], b: [0.7, 0.71, 0.71, 0.71] }];
    // differences .01 .02 .01 .04: mean .02, variance 2e-4, t 2.83 on 3 df; corrected by 1/4 + 1/2 instead of 1/4: 1.63
    const differences = [0.01, 0.02, 0.01, 0.04];
    near(present(pairedT(differences)).t, Math.sqrt(8));
    near(present(correctedResampledT(differences, { testSize: 1, trainSize: 2 })).t, Math.sqrt(8 / 3));
    expect(countWins(close, { higherIsBetter: true, test: "paired", level: 0.1 }).wins).toBe(1);
    const sizes = { testSize: 1, trainSize: 2 };
    expect(countWins(close, { higherIsBetter: true, test: "corrected", level: 0.1, ...sizes }).draws).toBe(1);
  });

  test("unequal pairs are refused by name", () => {
    const unequal = [{ name: "stage 4", a: [1, 2], b: [1] }];
    expect(() => countWins(unequal, { higherIsBetter: true, test: "paired" })).toThrow(
      "paired scores of unequal length: 2 and 1",
    );
  });
});

describe("many tests", () => {
  const measured = (values: readonly (number | null)[]): Measured[] =>
    values.map((value) => value ?? absent("not tested"));

  test.each(oracle.adjust.map((_: unknown, k: number) => k) as number[])("p.adjust, case %i", (k) => {
    const { p, holm: expectedHolm, bh } = oracle.adjust[k];
    for (const [actual, expected] of [
      [holm(measured(p)), expectedHolm],
      [benjaminiHochberg(measured(p)), bh],
    ]) {
      expect(actual.length).toBe(p.length);
      expected.forEach((value: number | null, i: number) => {
        if (value === null) expect(actual[i]).toEqual(absent("not tested"));
        else near(actual[i], value, 1e-15);
      });
    }
  });

  test("numbers in, numbers out; what is no p-value is refused", () => {
    const adjusted: number[] = holm([0.01, 0.04]);
    expect(adjusted).toEqual([0.02, 0.04]);
    expect(() => holm([0.5, 1.5])).toThrow("not a p-value: 1.5");
    expect(() => benjaminiHochberg([Number.NaN])).toThrow(InputError);
  });

  test("the range of rejections by chance is R's qbinom", () => {
    for (const [n, p, level, low, high] of oracle.binomial)
      expect(binomialRange(n, p, level), `n ${n}, p ${p}, level ${level}`).toEqual({ low, high });
    // the two bundled tables' groups at the 5 % level
    expect(binomialRange(12, 0.05)).toEqual({ low: 0, high: 2 });
    expect(binomialRange(25, 0.05)).toEqual({ low: 0, high: 4 });
    expect(() => binomialRange(1.5, 0.1)).toThrow(InputError);
  });
});
