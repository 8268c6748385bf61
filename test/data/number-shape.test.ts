// Numbers that enter by their logarithms or with a column for each value: which do, worked by hand, and what an encoder
// makes of them.
import { describe, expect, test } from "vitest";
import { normalQuantile } from "../../src/core/distributions.ts";
import { log } from "../../src/core/elementary.ts";
import { encode } from "../../src/data/encode/encode.ts";
import { findSplines } from "../../src/data/encode/encoder.ts";
import { fitEncoder } from "../../src/data/encode/fit-encoder.ts";
import {
  describeShapes,
  findCodes,
  fitLog,
  shapeNumber,
  unshapeNumber,
} from "../../src/data/encode/number-shape.ts";
import type { Table } from "../../src/data/table.ts";

const sorted = (values: readonly number[]) => Float64Array.from(values).sort();
const repeated = (rows: readonly (readonly [number, number])[]) =>
  sorted(rows.flatMap(([value, count]) => Array<number>(count).fill(value)));
/** 1, 2, 4, … 2¹¹: skewness 2.2, and 0 of the logarithms. */
const powers = Array.from({ length: 12 }, (_, k) => 2 ** k);

describe("the logarithm", () => {
  const skewnessOf = (values: readonly number[]) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const moment = (k: number) => values.reduce((sum, value) => sum + (value - mean) ** k, 0) / values.length;
    return moment(3) / moment(2) ** 1.5;
  };
  /** Quantiles of a log-normal variable, 7 above 0. */
  const skewed = Array.from({ length: 400 }, (_, k) => 7 + Math.exp(0.52 * normalQuantile((k + 0.5) / 400)));

  test("is for values that are skewed, from where their logarithms are not", () => {
    const shape = fitLog(sorted(skewed));
    if (shape === null) throw new Error("no logarithm");
    expect(skewnessOf(skewed)).toBeGreaterThan(1.5);
    expect(Math.abs(skewnessOf(skewed.map((value) => shapeNumber(value, shape))))).toBeLessThan(1e-6);
    expect(shape.logFrom).toBeCloseTo(7, 6);
    expect(fitLog(sorted(powers.map((_, k) => k)))).toBeNull();
    expect(fitLog(sorted(powers.slice(0, 9)))).toBeNull();
    // One value far out is not a shape: the logarithms are as skewed.
    expect(fitLog(sorted([...Array.from({ length: 40 }, (_, k) => 1000 + k), 1e6]))).toBeNull();
  });

  test("of 1, 2, 4 … 2048, of which no k makes the skewness vanish, leaves a quarter of the way to the median", () => {
    // Median 48, a quarter of the way from 1: 11.75, which is above half of the least gap.
    const shape = fitLog(sorted(powers));
    expect(shape?.logFloor).toBeCloseTo(11.75, 9);
    expect(shape?.logFrom).toBeCloseTo(1 - 11.75, 9);
    expect(shapeNumber(32, shape ?? {})).toBeCloseTo(Math.log(42.75), 12);
    // Beyond the training values on the short side a value counts as the outermost.
    expect(shapeNumber(-5, shape ?? {})).toBe(shapeNumber(1, shape ?? {}));
  });

  test("does not depend on the unit, the zero and the sign", () => {
    const shape = fitLog(sorted(skewed)) ?? {};
    const shapes = (values: readonly number[], of: (value: number) => number) => {
      const own = fitLog(sorted(values.map(of))) ?? {};
      return values.map((value) => shapeNumber(of(value), own));
    };
    const plain = skewed.map((value) => shapeNumber(value, shape));
    shapes(skewed, (value) => value + 100).forEach((value, k) => {
      expect(value).toBeCloseTo(plain[k], 6);
    });
    shapes(skewed, (value) => 1000 * value).forEach((value, k) => {
      expect(value - Math.log(1000)).toBeCloseTo(plain[k], 6);
    });
    shapes(skewed, (value) => -value).forEach((value, k) => {
      expect(-value).toBeCloseTo(plain[k], 6);
    });
  });

  test("is undone", () => {
    for (const own of [skewed, skewed.map((value) => -value)]) {
      const shape = fitLog(sorted(own)) ?? {};
      for (const value of own.slice(0, 20)) {
        expect(unshapeNumber(shapeNumber(value, shape), shape)).toBeCloseTo(value, 9);
      }
    }
    // As models of 0.2.0 have it.
    expect(shapeNumber(0.1, { logFloor: 0.5 })).toBe(log(0.5));
    expect(unshapeNumber(log(3), { logFloor: 0.5 })).toBeCloseTo(3, 14);
  });

  test("does not overflow", () => {
    const shape = fitLog(sorted(powers.map((value) => value * 1e304)));
    expect((shape?.logFloor ?? 0) / 1e304).toBeCloseTo(11.75, 9);
    expect(
      fitLog(sorted([...powers.map((value) => -value * 8e304), ...powers.map(() => 1.7e308)])),
    ).toBeNull();
    expect(fitLog(sorted(Array<number>(20).fill(0)))).toBeNull();
  });
});

describe("codes", () => {
  test("are three to six values in any unit, each with twenty rows for a column", () => {
    const rows = (...counts: number[]) => repeated(counts.map((count, k) => [k + 1, count] as const));
    expect(findCodes(rows(20, 30, 40))).toEqual([1, 2, 3]);
    expect(findCodes(rows(20, 30, 19, 40, 50, 60))).toEqual([1, 2, 4, 5, 6]);
    expect(findCodes(rows(50, 50))).toBeNull();
    expect(findCodes(rows(50, 50, 50, 50, 50, 50, 50))).toBeNull();
    expect(findCodes(rows(50, 19, 19))).toBeNull();
    expect(
      findCodes(
        repeated([
          [1, 50],
          [1.5, 50],
          [2, 50],
        ]),
      ),
    ).toEqual([1, 1.5, 2]);
    expect(
      findCodes(
        repeated([
          [-1, 50],
          [-0, 50],
          [1, 50],
        ]),
      ),
    ).toEqual([-1, 0, 1]);
  });
});

const N = 84;
const table: Table = {
  name: "t.csv",
  rows: N,
  columns: [
    {
      name: "marker",
      type: "number",
      values: Float64Array.from({ length: N }, (_, i) => (i === 5 ? Number.NaN : powers[i % 12])),
    },
    { name: "stage", type: "number", values: Float64Array.from({ length: N }, (_, i) => 1 + (i % 4)) },
    {
      name: "seen",
      type: "date",
      values: Float64Array.from({ length: N }, (_, i) => powers[i % 12]),
    },
  ],
};
const features = ["marker", "stage", "seen"];

test("an encoder scales the logarithms and puts the columns of a code beside it, neither of a date", () => {
  const encoder = fitEncoder(table, { features, logs: true, codes: true, missingIndicator: true });
  const codes = ["stage=1", "stage=2", "stage=3", "stage=4"];
  expect(encoder.names).toEqual(["marker.log", "marker.missing", "stage", ...codes, "seen"]);
  expect(findSplines(encoder)).toEqual([3, 4, 5, 6]);
  const { values, D } = encode(encoder, table);
  const column = (d: number) => Array.from({ length: N }, (_, i) => values[i * D + d]);
  const mean = (of: readonly number[]) => of.reduce((sum, value) => sum + value, 0) / N;
  expect(mean(column(0))).toBeCloseTo(0, 12);
  expect(mean(column(0).map((value) => value * value))).toBeCloseTo(1, 12);
  // The missing one has the median's.
  const [first] = encoder.columns;
  if (first.type !== "number") throw new Error("not a number");
  const { logFloor = Number.NaN, logFrom = Number.NaN } = first;
  expect([first.median, logFloor + logFrom]).toEqual([64, expect.closeTo(1, 12)]);
  expect(column(0)[1]).toBeCloseTo((log(2 - logFrom) - first.mean) / first.sd, 12);
  expect(column(0)[5]).toBeCloseTo((log(64 - logFrom) - first.mean) / first.sd, 12);
  for (let i = 0; i < N; i++) {
    expect([...values.subarray(i * D + 3, i * D + 7)]).toEqual([0, 1, 2, 3].map((k) => Number(i % 4 === k)));
  }
});

test("values that training did not have: below the floor the floor's, another code in no column", () => {
  const encoder = fitEncoder(table, { features, logs: true, codes: true });
  const other: Table = {
    ...table,
    rows: 3,
    columns: [
      { name: "marker", type: "number", values: Float64Array.of(0, 0.5, -7) },
      { name: "stage", type: "number", values: Float64Array.of(5, 2.5, 4) },
      { name: "seen", type: "date", values: Float64Array.of(1, 2, 3) },
    ],
  };
  const { values, D } = encode(encoder, other);
  expect(new Set([0, 1, 2].map((i) => values[i * D])).size).toBe(1);
  expect([0, 1, 2].map((i) => [...values.subarray(i * D + 2, i * D + 6)])).toEqual([
    [0, 0, 0, 0],
    [0, 0, 0, 0],
    [0, 0, 0, 1],
  ]);
});

test("with splines too: the logarithm's number keeps its splines, the code has none; one sentence says all", () => {
  const encoder = fitEncoder(table, { features, logs: true, codes: true, splines: true });
  const bends = (name: string) => ["score", "bend1", "bend2", "bend3"].map((part) => `${name}.${part}`);
  const codes = ["stage=1", "stage=2", "stage=3", "stage=4"];
  expect(encoder.names).toEqual([
    "marker.log",
    ...bends("marker"),
    "stage",
    ...codes,
    "seen",
    ...bends("seen"),
  ]);
  expect(findSplines(encoder)).toEqual([1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14]);
  expect(describeShapes(encoder)).toEqual([
    "how numbers enter: splines of marker, seen; the logarithm of marker; a column for each value of stage",
  ]);
  const plain = fitEncoder(table, { features });
  expect([plain.names, describeShapes(plain)]).toEqual([features, []]);
});
