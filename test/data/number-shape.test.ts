// Numbers that enter by their logarithms or with a column for each value: which do, worked by hand, and what an encoder
// makes of them.
import { describe, expect, test } from "vitest";
import { log } from "../../src/core/elementary.ts";
import { encode } from "../../src/data/encode/encode.ts";
import { findSplines } from "../../src/data/encode/encoder.ts";
import { fitEncoder } from "../../src/data/encode/fit-encoder.ts";
import { describeShapes, findCodes, fitLogFloor } from "../../src/data/encode/number-shape.ts";
import type { Table } from "../../src/data/table.ts";

const sorted = (values: readonly number[]) => Float64Array.from(values).sort();
const repeated = (rows: readonly (readonly [number, number])[]) =>
  sorted(rows.flatMap(([value, count]) => Array<number>(count).fill(value)));
/** 1, 2, 4, … 2¹¹: skewness 2.2, and 0 of the logarithms. */
const powers = Array.from({ length: 12 }, (_, k) => 2 ** k);

describe("the logarithm", () => {
  test("is for values from 0 up that are skewed as written and not as logarithms", () => {
    expect(fitLogFloor(sorted(powers))).toBe(0.5);
    expect(fitLogFloor(sorted(powers.map((value) => value / 64)))).toBe(0.5 / 64);
    // Of counts with zeros the floor is half the least count.
    expect(fitLogFloor(sorted([0, ...powers]))).toBe(0.5);
    expect(fitLogFloor(sorted(powers.map((_, k) => k)))).toBeNull();
    expect(fitLogFloor(sorted(powers.map((value) => -value)))).toBeNull();
    expect(fitLogFloor(sorted([-0.1, ...powers]))).toBeNull();
    expect(fitLogFloor(sorted(powers.slice(0, 9)))).toBeNull();
    // One value far out is not a shape: the logarithms are as skewed.
    expect(fitLogFloor(sorted([...Array.from({ length: 40 }, (_, k) => 1000 + k), 1e6]))).toBeNull();
  });

  test("does not overflow", () => {
    expect(fitLogFloor(sorted(powers.map((value) => value * 1e304)))).toBe(0.5e304);
    expect(fitLogFloor(sorted(Array<number>(20).fill(0)))).toBeNull();
  });
});

describe("codes", () => {
  test("are three to six whole numbers, each with twenty rows for a column", () => {
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
    ).toBeNull();
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
  expect(encoder.columns[0]).toMatchObject({ logFloor: 0.5, median: 64 });
  const { values, D } = encode(encoder, table);
  const column = (d: number) => Array.from({ length: N }, (_, i) => values[i * D + d]);
  const mean = (of: readonly number[]) => of.reduce((sum, value) => sum + value, 0) / N;
  expect(mean(column(0))).toBeCloseTo(0, 12);
  expect(mean(column(0).map((value) => value * value))).toBeCloseTo(1, 12);
  // Equal steps of the logarithm are equal steps; the missing one has the median's.
  const [first] = encoder.columns;
  if (first.type !== "number") throw new Error("not a number");
  expect(column(0)[1] - column(0)[0]).toBeCloseTo(log(2) / first.sd, 12);
  expect(column(0)[5]).toBeCloseTo((log(64) - first.mean) / first.sd, 12);
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
