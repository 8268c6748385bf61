// exp, log, … against mpmath's 60 digits (test/oracles/elementary.py), against their identities, and at the edges
// against Math.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as elementary from "../../src/core/elementary.ts";

const { exp, expm1, log, log1p, log10, log2, power, powerOfTen, square, tanh } = elementary;

/** Arguments, the nearest float64, and what it leaves of the true value in units of its last bit. */
const oracle: Record<string, readonly (readonly number[])[]> = JSON.parse(
  readFileSync(new URL("../oracles/elementary.json", import.meta.url), "utf8"),
);

type Elementary = (...values: number[]) => number;
const functions: Record<string, Elementary> = { exp, expm1, log, log1p, log10, log2, power, tanh } as never;

/** The distance to the next larger float64. */
function lastBit(value: number): number {
  const bits = new Float64Array([Math.abs(value)]);
  new BigInt64Array(bits.buffer)[0]++;
  return bits[0] - Math.abs(value);
}

/** Units in the last place; powers that are subnormal are rounded twice. */
const LARGEST_ERROR: Record<string, number> = { expm1: 0.53, tanh: 0.53, power: 0.52 };

describe("within so many units in the last place of the true value", () => {
  test.each(Object.keys(oracle))("%s", (name) => {
    let worst = { error: 0, row: "" };
    for (const row of oracle[name]) {
      const [nearest, rest] = row.slice(-2);
      const actual = functions[name](...row.slice(0, -2));
      const error = Math.abs((actual - nearest) / lastBit(nearest) - rest);
      if (!(error <= worst.error)) worst = { error, row: `${row.join(", ")}: ${actual}` };
    }
    expect(worst.error, worst.row).toBeLessThan(LARGEST_ERROR[name] ?? 0.51);
  });
});

describe("against Math, whose last digits are the engine's", () => {
  const edges = [0, -0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1e-320, 5e-324, 1e300, -1e300, 710, -746].concat(
    [9007199254740992, -9007199254740991, Number.MAX_VALUE, Number.POSITIVE_INFINITY],
    [Number.NEGATIVE_INFINITY, Number.NaN],
  );
  const agree = (actual: number, expected: number, what: string) => {
    if (Object.is(actual, expected)) return;
    expect(Math.abs(actual - expected), `${what}: ${actual}, ${expected}`).toBeLessThanOrEqual(
      3 * lastBit(expected),
    );
  };

  test.each(["exp", "expm1", "log", "log1p", "log10", "log2", "tanh"] as const)("%s at the edges", (name) => {
    for (const x of edges) agree(functions[name](x), Math[name](x), `${name}(${x})`);
  });

  test("powers at the edges, infinities, zeros and negative bases among them", () => {
    for (const x of edges) for (const y of edges) agree(power(x, y), x ** y, `${x} ** ${y}`);
  });

  test("everywhere between", () => {
    for (let k = 0; k < 20_000; k++) {
      const x = ((k * 0.6180339887498949) % 1) * 40 - 20;
      for (const name of ["exp", "expm1", "tanh"] as const)
        agree(functions[name](x), Math[name](x), `${name}(${x})`);
      const positive = Math.exp(x);
      for (const name of ["log", "log1p", "log10", "log2"] as const) {
        agree(functions[name](positive), Math[name](positive), `${name}(${positive})`);
      }
    }
  });
});

test("exact where the true value is a float64", () => {
  for (let k = -1074; k <= 1023; k++) {
    const two = k < -1022 ? Number.MIN_VALUE * 2 ** (k + 1074) : 2 ** k;
    expect(log2(two)).toBe(k);
    expect(power(2, k)).toBe(two);
  }
  for (let k = -20; k <= 22; k++) expect(log10(powerOfTen(k))).toBe(k);
  for (let k = 0; k <= 22; k++) expect(power(10, k)).toBe(powerOfTen(k));
  for (let x = -100; x <= 100; x++) expect(power(x, 3)).toBe(x * x * x);
  expect([powerOfTen(-5), powerOfTen(308), square(-1.5)]).toEqual([1e-5, 1e308, 2.25]);
  expect([exp(0), log(1), power(7, 0), tanh(-30)]).toEqual([1, 0, 1, -1]);
});

test("rising arguments give rising values across the seams of tables and series", () => {
  const seams = [0.125, 0.00390625, Math.LN2 / 128, (3 * Math.LN2) / 128, 1, 22, 45, 0.705078125, 1.41015625];
  const falling: string[] = [];
  for (const seam of [...seams, ...seams.slice(0, 4).map((one) => -one)]) {
    for (const name of ["exp", "expm1", "log1p", "tanh", ...(seam > 0 ? ["log"] : [])]) {
      let before = Number.NEGATIVE_INFINITY;
      for (let k = -2000; k <= 2000; k++) {
        const x = seam + Math.abs(seam) * k * 2.5e-16;
        const now = functions[name](x);
        if (!(now >= before)) falling.push(`${name}(${x}): ${before} then ${now}`);
        before = now;
      }
    }
  }
  expect(falling).toEqual([]);
});
