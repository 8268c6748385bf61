// Splines of a number: normal scores by hand, scales and logarithms, the spline against R's in another basis, and the
// columns of an encoder.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { normalQuantile } from "../../src/core/distributions.ts";
import { createRandom } from "../../src/core/random.ts";
import { encode } from "../../src/data/encode/encode.ts";
import { findSplines } from "../../src/data/encode/encoder.ts";
import { fitEncoder } from "../../src/data/encode/fit-encoder.ts";
import {
  fillSplines,
  fitScoreLine,
  KNOTS,
  MIRRORED,
  PLAIN,
  type ScoreLine,
  SPLINE_COLUMNS,
} from "../../src/data/encode/spline.ts";
import type { Table } from "../../src/data/table.ts";

function columnsOf(line: ScoreLine, value: number): number[] {
  const values = new Float64Array(SPLINE_COLUMNS);
  fillSplines(line, value, values, 0);
  return [...values];
}

/** The textbook's columns, as models of 0.2.0 have them, before they are scaled. */
function plainColumnsOf({ at, scores }: ScoreLine, value: number): number[] {
  return columnsOf({ at, scores }, value).map((column, j) => column * PLAIN[j].sd + PLAIN[j].mean);
}

function lineOf(values: readonly number[]): ScoreLine {
  const line = fitScoreLine(Float64Array.from(values).sort());
  if (line === null) throw new Error("no line");
  return line;
}

const normal = Array.from({ length: 5000 }, (_, i) => normalQuantile((i + 0.5) / 5000));

describe("the normal score", () => {
  test("of a tie is that of its middle, between values a straight line, beyond them the outermost", () => {
    // 2 zeros, then 1 … 8: the zeros are 2 of 10 values, their middle at a share of .1
    const line = lineOf([0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const score = (value: number) => plainColumnsOf(line, value)[0];
    expect(score(0)).toBeCloseTo(normalQuantile(0.1), 12);
    expect(score(1)).toBeCloseTo(normalQuantile(0.25), 12);
    expect(score(8)).toBeCloseTo(normalQuantile(0.95), 12);
    expect(score(0.5)).toBeCloseTo((normalQuantile(0.1) + normalQuantile(0.25)) / 2, 12);
    expect([score(-1e300), score(1e300)]).toEqual([score(0), score(8)]);
  });

  test("of a normal number is the number itself, to the width of a step", () => {
    const line = lineOf(normal);
    for (const z of [-2.4, -1.1, 0, 0.33, 1.9]) expect(plainColumnsOf(line, z)[0]).toBeCloseTo(z, 2);
    expect(plainColumnsOf(line, 3)[0]).toBeCloseTo(2.5, 1);
  });

  test("does not know the scale: a number and its exponential have the same splines at training values", () => {
    const random = createRandom(3, 1);
    const values = Array.from({ length: 400 }, () => random.normal());
    const [plain, exponential] = [lineOf(values), lineOf(values.map(Math.exp))];
    expect(exponential.scores).toEqual(plain.scores);
    for (const value of plain.at)
      expect(columnsOf(exponential, Math.exp(value))).toEqual(columnsOf(plain, value));
  });

  test("needs five different values", () => {
    expect(fitScoreLine(Float64Array.from([1, 1, 2, 2, 3, 3, 4, 4]))).toBeNull();
    expect(fitScoreLine(Float64Array.from([1, 2, 3, 4, 5]))?.at).toEqual([1, 2, 3, 4, 5]);
    expect(fitScoreLine(new Float64Array(0))).toBeNull();
  });
});

describe("the bends", () => {
  const line: ScoreLine = { at: [-2.5, 2.5], scores: [-2.5, 2.5], mirrored: true };

  test("are the restricted cubic spline of the textbook: zero before their knot, straight beyond the last", () => {
    const [k1, , , k4, k5] = KNOTS;
    const plus = (z: number) => Math.max(z, 0) ** 3;
    for (const z of [-2, -1, -0.3, 0.2, 0.9, 1.5, 2.2]) {
      const [score, ...bends] = plainColumnsOf(line, z);
      expect(score).toBeCloseTo(z, 12);
      bends.forEach((bend, j) => {
        const kj = KNOTS[j];
        const expected =
          plus(z - kj) - (plus(z - k4) * (k5 - kj)) / (k5 - k4) + (plus(z - k5) * (k4 - kj)) / (k5 - k4);
        expect(bend).toBeCloseTo(expected, 10);
      });
    }
    expect(plainColumnsOf(line, k1 - 0.1).slice(1)).toEqual([0, 0, 0].map(() => expect.closeTo(0, 12)));
    for (const j of [1, 2, 3]) {
      const [a, b, c] = [1.7, 2, 2.3].map((z) => plainColumnsOf(line, z)[j]);
      expect(c - b).toBeCloseTo(b - a, 10);
    }
  });

  test("with the score and a constant they make R's natural splines: each of its columns is a sum of ours", () => {
    const oracle = JSON.parse(readFileSync(new URL("../oracles/splines.json", import.meta.url), "utf8"));
    const z: number[] = oracle.z;
    const product = (a: readonly number[], b: readonly number[]) =>
      a.reduce((sum, one, i) => sum + one * b[i], 0);
    /** What is left of a column when the directions are taken out of it. */
    const remove = (column: readonly number[], directions: readonly (readonly number[])[]) =>
      directions.reduce<readonly number[]>((left, one) => {
        const share = product(left, one);
        return left.map((value, i) => value - share * one[i]);
      }, column);
    const own = [z.map(() => 1), ...[0, 1, 2, 3].map((j) => z.map((value) => columnsOf(line, value)[j]))];
    const directions: (readonly number[])[] = [];
    for (const column of own) {
      const left = remove(column, directions);
      const length = Math.sqrt(product(left, left));
      expect(length).toBeGreaterThan(1e-3);
      directions.push(left.map((value) => value / length));
    }
    expect(oracle.basis).toHaveLength(4);
    for (const column of oracle.basis) {
      for (const rest of remove(column, directions)) expect(Math.abs(rest)).toBeLessThan(1e-10);
    }
  });

  test("of a textbook have mean 0 and variance 1 over a normal sample", () => {
    const { at, scores } = lineOf(normal);
    const own = { at, scores };
    const sums = normal.map((z) => columnsOf(own, z));
    for (let j = 0; j < SPLINE_COLUMNS; j++) {
      const mean = sums.reduce((sum, row) => sum + row[j], 0) / normal.length;
      const variance = sums.reduce((sum, row) => sum + (row[j] - mean) ** 2, 0) / normal.length;
      expect(Math.abs(mean)).toBeLessThan(0.01);
      expect(Math.abs(variance - 1)).toBeLessThan(0.01);
    }
  });
});

describe("a number and its negative", () => {
  const random = createRandom(5, 2);
  const values = Array.from({ length: 401 }, () => Math.round(20 * Math.exp(random.normal())) / 4);

  test.each([401, 400, 37])("have mirrored lines: %i values", (N) => {
    const [line, negative] = [lineOf(values.slice(0, N)), lineOf(values.slice(0, N).map((value) => -value))];
    expect(negative.at).toEqual(line.at.map((value) => -value).reverse());
    negative.scores.forEach((score, k) => {
      expect(score).toBeCloseTo(-line.scores[line.scores.length - 1 - k], 12);
    });
  });

  test("have the same columns, two of them with the other sign", () => {
    const [line, negative] = [lineOf(values), lineOf(values.map((value) => -value))];
    for (const value of [-3, 0, 0.5, 1.23, 5, 7, 80]) {
      const [a, b, c, d] = columnsOf(line, value);
      const mirrored = columnsOf(negative, -value);
      [-a, -b, c, d].forEach((column, j) => {
        expect(mirrored[j]).toBeCloseTo(column, 9);
      });
    }
  });

  test("have one prior, the mean of the textbook basis' own and its mirror image", () => {
    const line: ScoreLine = { at: [-2.5, 2.5], scores: [-2.5, 2.5] };
    const product = (a: readonly number[], b: readonly number[]) =>
      a.reduce((sum, one, j) => sum + one * b[j], 0);
    const plain = (z: number) => columnsOf(line, z);
    const own = (z: number) => columnsOf({ ...line, mirrored: true }, z);
    for (const [z, y] of [
      [-2.1, 1.3],
      [0.4, 0.4],
      [2.2, 0.7],
    ]) {
      // Columns have mean 0 over the scores of a normal variable; the textbook's have it too.
      const expected = (product(plain(z), plain(y)) + product(plain(-z), plain(-y))) / 2;
      expect(product(own(z), own(y))).toBeCloseTo(expected, 8);
    }
    expect(MIRRORED[0]).toMatchObject({ mix: [0, 1, 2].map(() => expect.closeTo(0, 9)) });
  });
});

test("an encoder has them beside the number and its missing indicator, the median's where it is missing", () => {
  const ages = [30, 35, Number.NaN, 45, 50, 55, 62];
  const table: Table = {
    name: "t.csv",
    rows: 7,
    columns: [
      { name: "age", type: "number", values: Float64Array.from(ages) },
      { name: "few", type: "number", values: Float64Array.from([1, 2, 1, 2, 1, 2, 3]) },
    ],
  };
  const encoder = fitEncoder(table, { features: ["age", "few"], missingIndicator: true, splines: true });
  const splines = ["age.score", "age.bend1", "age.bend2", "age.bend3"];
  expect(encoder.names).toEqual(["age", "age.missing", ...splines, "few"]);
  expect(findSplines(encoder)).toEqual([2, 3, 4, 5]);
  const { values, D } = encode(encoder, table);
  const line = encoder.columns[0].type === "number" ? encoder.columns[0].spline : undefined;
  if (line === undefined) throw new Error("no line");
  ages.forEach((age, i) => {
    const own = [...values.subarray(i * D + 2, i * D + 6)];
    expect(own).toEqual(columnsOf(line, Number.isNaN(age) ? 47.5 : age));
  });
  const plain = fitEncoder(table, { features: ["age", "few"], missingIndicator: true });
  expect(plain.names).toEqual(["age", "age.missing", "few"]);
  expect(findSplines(plain)).toEqual([]);
});
