// Distribution functions against R's (test/oracles/distributions.R), and the limits R is not asked about.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  betaQuantile,
  betaRegularised,
  binomialUpperTail,
  chiSquareUpperTail,
  logChiSquareUpperTail,
  logGamma,
  normalQuantile,
  normalUpperTail,
  studentTwoSidedTail,
} from "../../src/core/distributions.ts";

interface OracleTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly number[])[];
}

const oracle: Record<string, OracleTable> = JSON.parse(
  readFileSync(new URL("../oracles/distributions.json", import.meta.url), "utf8"),
);

/** The row of the oracle table that is furthest off, relatively; the last column is R's value. */
function worst(name: string, compute: (...values: number[]) => number, keep = (_expected: number) => true) {
  let largest = { gap: 0, row: "" };
  for (const row of oracle[name].rows) {
    const expected = row[row.length - 1];
    if (!keep(expected)) continue;
    const actual = compute(...row.slice(0, -1));
    const gap = actual === expected ? 0 : Math.abs(actual / expected - 1);
    if (!(gap <= largest.gap)) largest = { gap, row: `${row.join(", ")}: ${actual}` };
  }
  return largest;
}

describe("against R, relative", () => {
  test("log of the chi-square upper tail, x from 1e-10 to 1e5, df 1 to 100", () => {
    const { gap, row } = worst("chisq", logChiSquareUpperTail);
    expect(gap, row).toBeLessThan(2e-13);
  });

  test("chi-square upper tail", () => {
    const tails = worst(
      "chisq",
      (x, df) => Math.log(chiSquareUpperTail(x, df)),
      (logP) => logP > -700 && logP < -1e-3,
    );
    expect(tails.gap, tails.row).toBeLessThan(1e-12);
  });

  test("normal upper tail", () => {
    // R says 0 from 37.5193 on; the tail there is still a (denormal) number.
    const { gap, row } = worst("normal_upper", normalUpperTail, (p) => p > 0);
    expect(gap, row).toBeLessThan(2e-15);
    expect(normalUpperTail(38)).toBeCloseTo(2.8854283e-316, 320);
  });

  test("normal quantile from 1e-300 to 1 − 2⁻⁵³", () => {
    const { gap, row } = worst("normal_quantile", normalQuantile);
    expect(gap, row).toBeLessThan(1e-15);
  });

  test("two-sided t tail, df 1 to 100000", () => {
    const { gap, row } = worst("t_two_sided", studentTwoSidedTail);
    expect(gap, row).toBeLessThan(5e-12);
  });

  test("binomial upper tail, n up to a million", () => {
    const { gap, row } = worst("binomial_upper", binomialUpperTail);
    expect(gap, row).toBeLessThan(5e-13);
  });

  test("beta quantile", () => {
    const { gap, row } = worst("beta_quantile", betaQuantile);
    expect(gap, row).toBeLessThan(1e-13);
  });

  test("log gamma: absolute 1e-14 where it is small, relative elsewhere", () => {
    for (const [x, expected] of oracle.log_gamma.rows)
      expect(Math.abs(logGamma(x) - expected), `log Γ(${x})`).toBeLessThan(
        1e-14 * Math.max(1, Math.abs(expected)),
      );
  });
});

describe("limits and identities", () => {
  test("ends of the chi-square", () => {
    expect(chiSquareUpperTail(0, 3)).toBe(1);
    expect(logChiSquareUpperTail(Number.POSITIVE_INFINITY, 3)).toBe(Number.NEGATIVE_INFINITY);
    expect(chiSquareUpperTail(1e5, 1)).toBe(0);
    // df = 2 is exponential
    expect(logChiSquareUpperTail(5000, 2)).toBeCloseTo(-2500, 9);
  });

  test("ends of the normal", () => {
    expect(normalUpperTail(0)).toBe(0.5);
    expect(normalUpperTail(Number.POSITIVE_INFINITY)).toBe(0);
    expect(normalUpperTail(Number.NEGATIVE_INFINITY)).toBe(1);
    expect(normalQuantile(0.5)).toBe(0);
    expect(normalQuantile(0)).toBe(Number.NEGATIVE_INFINITY);
    expect(normalQuantile(1)).toBe(Number.POSITIVE_INFINITY);
    expect(normalQuantile(-0.1)).toBeNaN();
    for (const z of [-37, -12, -3, -0.2, 0.3, 1, 2, 3.9]) {
      const p = 1 - normalUpperTail(z);
      expect(normalQuantile(z < 0 ? normalUpperTail(-z) : p)).toBeCloseTo(z, 10);
    }
  });

  test("the incomplete beta's two ends and its reflection", () => {
    expect(betaRegularised(0, 2, 3)).toBe(0);
    expect(betaRegularised(1, 2, 3)).toBe(1);
    // I_x(2,3) = 6x² − 8x³ + 3x⁴
    expect(betaRegularised(0.25, 2, 3)).toBeCloseTo(6 / 16 - 8 / 64 + 3 / 256, 15);
    expect(betaRegularised(0.3, 7, 4) + betaRegularised(0.7, 4, 7)).toBeCloseTo(1, 15);
  });

  test("t with one degree of freedom is Cauchy; t = ±Infinity has no tail", () => {
    expect(studentTwoSidedTail(1, 1)).toBeCloseTo(0.5, 15);
    expect(studentTwoSidedTail(-1, 1)).toBeCloseTo(0.5, 15);
    expect(studentTwoSidedTail(0, 4)).toBe(1);
    expect(studentTwoSidedTail(Number.POSITIVE_INFINITY, 4)).toBe(0);
  });

  test("binomial: certain and impossible counts", () => {
    expect(binomialUpperTail(0, 5, 0.3)).toBe(1);
    expect(binomialUpperTail(6, 5, 0.3)).toBe(0);
    expect(binomialUpperTail(5, 5, 0.5)).toBeCloseTo(1 / 32, 16);
    expect(binomialUpperTail(2, 3, 1)).toBe(1);
    expect(binomialUpperTail(2, 3, 0)).toBe(0);
  });
});
