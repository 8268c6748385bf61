import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { type EncodedFeatures, encode, encodeBlocks } from "../../src/data/encode/encode.ts";
import type { Encoder } from "../../src/data/encode/encoder.ts";
import { fitEncoder } from "../../src/data/encode/fit-encoder.ts";
import { describePooling, fewestLevelRows } from "../../src/data/encode/rare-levels.ts";
import { plainText } from "../../src/core/sentence.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { type Column, type Table, tableBlocks } from "../../src/data/table.ts";
import oracle from "../oracles/encode-and-grid.json" with { type: "json" };

const NA = null;
const numbers = (name: string, ...values: (number | null)[]): Column => ({
  name,
  type: "number",
  values: Float64Array.from(values, (value) => value ?? Number.NaN),
});
const dates = (name: string, ...values: (number | null)[]): Column => ({
  name,
  type: "date",
  values: Float64Array.from(values, (value) => value ?? Number.NaN),
});
const booleans = (name: string, ...values: (boolean | null)[]): Column => ({
  name,
  type: "boolean",
  values: Uint8Array.from(values, (value) => (value === null ? 255 : Number(value))),
});
const categories = (name: string, ...values: (string | null)[]): Column => {
  const levels = [...new Set(values.filter((value) => value !== null))].sort();
  return {
    name,
    type: "category",
    levels,
    codes: Int32Array.from(values, (value) => levels.indexOf(value ?? "\0")),
  };
};
const tableOf = (...columns: Column[]): Table => {
  const [first] = columns;
  return { name: "new.csv", rows: (first.type === "category" ? first.codes : first.values).length, columns };
};
const rowsOf = ({ N, D, values }: EncodedFeatures) =>
  Array.from({ length: N }, (_, i) => [...values.subarray(i * D, (i + 1) * D)]);

function refusal(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return error;
  }
  throw new Error("was not refused");
}

describe("numbers and dates", () => {
  test("by hand: missing gets the median 4, then mean 4 and sd √(10/5) of the imputed column", () => {
    const table = tableOf(numbers("x", 2, 6, NA, 3, 5));
    const encoder = fitEncoder(table, { features: ["x"] });
    const sd = Math.SQRT2;
    expect(encoder.columns).toEqual([
      {
        column: "x",
        type: "number",
        median: 4,
        mean: 4,
        sd,
        missingIndicator: false,
        range: { minimum: 2, maximum: 6 },
        // Of 2, 3, 5, 6: three quarters of the way from 2 to 3, and a quarter of the way from 5 to 6.
        quartiles: { lower: 2.75, upper: 5.25 },
      },
    ]);
    expect(rowsOf(encode(encoder, table))).toEqual([[-2 / sd], [2 / sd], [0], [-1 / sd], [1 / sd]]);
  });

  test("an odd number of values has the middle one as median", () => {
    const [encoding] = fitEncoder(tableOf(numbers("x", 9, 1, 4, NA)), { features: ["x"] }).columns;
    expect(encoding).toMatchObject({ median: 4 });
  });

  test("an indicator is given on request, and only where training had missing values", () => {
    const table = tableOf(numbers("x", 2, NA, 4), numbers("y", 1, 2, 3), dates("day", 10, 12, NA));
    const encoder = fitEncoder(table, {
      features: ["x", "y", "day"],
      missingIndicator: true,
      standardise: false,
    });
    expect(encoder.names).toEqual(["x", "x.missing", "y", "day", "day.missing"]);
    const later = tableOf(numbers("x", NA), numbers("y", NA), dates("day", 20));
    expect(rowsOf(encode(encoder, later))).toEqual([[3, 1, 2, 20, 0]]);
  });

  test("a constant becomes 0, even one that is no binary fraction", () => {
    const table = tableOf(
      numbers("x", ...new Array<number>(10).fill(0.1)),
      numbers("y", ...new Array(10).fill(3)),
    );
    const encoder = fitEncoder(table, { features: ["x", "y"] });
    expect(encoder.columns).toMatchObject([
      { mean: 0.1, sd: 1 },
      { mean: 3, sd: 1 },
    ]);
    expect(rowsOf(encode(encoder, table, [0, 9]))).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  test("infinity, and a column without any value, are refused", () => {
    const infinite = tableOf(dates("x", 1, Number.POSITIVE_INFINITY, 2));
    expect(refusal(() => fitEncoder(infinite, { features: ["x"] }))).toMatchObject({
      message: "not a finite number: Infinity",
      where: 'new.csv, row 2, column "x"',
    });
    const encoder = fitEncoder(infinite, { features: ["x"], rows: [0, 2] });
    expect(refusal(() => encode(encoder, infinite))).toMatchObject({ code: "number.infinite" });
    const empty = tableOf(numbers("x", NA, NA, 1));
    expect(refusal(() => fitEncoder(empty, { features: ["x"], rows: [0, 1] }))).toMatchObject({
      message: 'no value in the training rows: "x"',
      where: 'new.csv, column "x"',
    });
    const huge = tableOf(numbers("x", 1e308, -1e308, 1e308));
    expect(refusal(() => fitEncoder(huge, { features: ["x"] }))).toMatchObject({ code: "number.scale" });
  });
});

describe("booleans", () => {
  test("are 0 and 1, missing the majority with its own indicator", () => {
    const table = tableOf(booleans("b", true, false, NA, true));
    const encoder = fitEncoder(table, { features: ["b"] });
    expect(encoder.names).toEqual(["b", "b.missing"]);
    expect(rowsOf(encode(encoder, table))).toEqual([
      [1, 0],
      [0, 0],
      [1, 1],
      [1, 0],
    ]);
  });

  test("without missing values in training have no indicator, and a tie is false", () => {
    const encoder = fitEncoder(tableOf(booleans("b", true, false)), { features: ["b"] });
    expect(encoder.names).toEqual(["b"]);
    expect(rowsOf(encode(encoder, tableOf(booleans("b", NA, true))))).toEqual([[0], [1]]);
  });
});

describe("categories", () => {
  const table = tableOf(categories("sex", "M", "F", "M"), categories("stage", "2", NA, "1"));

  test("are one-hot over the training levels, ascending, missing last", () => {
    const encoder = fitEncoder(table, { features: ["sex", "stage"] });
    expect(encoder.names).toEqual(["sexF", "sexM", "stage1", "stage2", "stage(missing)"]);
    expect(rowsOf(encode(encoder, table))).toEqual([
      [0, 1, 0, 1, 0],
      [1, 0, 0, 0, 1],
      [0, 1, 1, 0, 0],
    ]);
  });

  test("drop their first level on request, as R's treatment contrasts", () => {
    const encoder = fitEncoder(table, { features: ["sex", "stage"], reference: "drop" });
    expect(encoder.names).toEqual(["sexM", "stage2", "stage(missing)"]);
    expect(rowsOf(encode(encoder, table))).toEqual([
      [1, 1, 0],
      [0, 0, 1],
      [1, 0, 0],
    ]);
  });

  test("have only the levels that the training rows have", () => {
    const encoder = fitEncoder(table, { features: ["sex", "stage"], rows: [0, 2] });
    expect(encoder.names).toEqual(["sexM", "stage1", "stage2"]);
  });

  test("refuse unknown levels with rows, levels and column, unless allowed", () => {
    const training = tableOf(categories("stage", "1", "2", "1"));
    const later = tableOf(categories("stage", "1", "5", "4", "2", "5"));
    expect(refusal(() => encode(fitEncoder(training, { features: ["stage"] }), later))).toMatchObject({
      message: 'level of "stage" not seen in training: "5", "4"',
      code: "level.unknown",
      where: 'new.csv, rows 2, 3 and 5, column "stage"',
      hint: 'training had "1", "2"; correct these rows or leave them out (in code, unknownLevels "allow" encodes them as zeros)',
    });
    const lenient = fitEncoder(training, { features: ["stage"], unknownLevels: "allow" });
    expect(rowsOf(encode(lenient, later))).toEqual([
      [1, 0],
      [0, 0],
      [0, 0],
      [0, 1],
      [0, 0],
    ]);
  });

  test("mind unknown levels only in the rows asked for", () => {
    const later = tableOf(categories("stage", "1", "5", "2"));
    const encoder = fitEncoder(later, { features: ["stage"], rows: [0, 2] });
    expect(rowsOf(encode(encoder, later, [2, 0]))).toEqual([
      [0, 1],
      [1, 0],
    ]);
  });

  test("name twenty rows at most", () => {
    const encoder = fitEncoder(tableOf(categories("c", "a")), { features: ["c"] });
    const later = tableOf(categories("c", ...new Array<string>(25).fill("z")));
    expect(refusal(() => encode(encoder, later))).toMatchObject({
      where: expect.stringMatching(/^new\.csv, rows 1, 2, .* 19, 20 \(and 5 more\), column "c"$/),
    });
  });

  test("refuse missing where training had none, unless allowed", () => {
    const training = tableOf(categories("stage", "1", "2"));
    const later = tableOf(categories("stage", "1", NA));
    expect(refusal(() => encode(fitEncoder(training, { features: ["stage"] }), later))).toMatchObject({
      message: 'missing value where training had none: "stage"',
      code: "level.missing",
      where: 'new.csv, row 2, column "stage"',
    });
    const lenient = fitEncoder(training, { features: ["stage"], unknownLevels: "allow" });
    expect(rowsOf(encode(lenient, later))).toEqual([
      [1, 0],
      [0, 0],
    ]);
  });
});

describe("a column of another type than in training", () => {
  const encoderOf = (column: Column): Encoder =>
    fitEncoder(tableOf(column), { features: [column.name], standardise: false });
  const encodeAs = (encoder: Encoder, column: Column) => rowsOf(encode(encoder, tableOf(column)));

  test("a category read as numbers goes by the number's text, or its value where that is unique", () => {
    const encoder = encoderOf(categories("c", "1", "2", "10"));
    expect(encoder.names).toEqual(["c1", "c10", "c2"]);
    expect(encodeAs(encoder, numbers("c", 2, 10))).toEqual([
      [0, 0, 1],
      [0, 1, 0],
    ]);
    expect(encodeAs(encoderOf(categories("c", "01", "2.0")), numbers("c", 2, 1))).toEqual([
      [0, 1],
      [1, 0],
    ]);
    expect(refusal(() => encodeAs(encoder, numbers("c", 2, 3)))).toMatchObject({
      message: 'level of "c" not seen in training: "3"',
      where: 'new.csv, row 2, column "c"',
    });
    const ambiguous = encoderOf(categories("c", "01", "001"));
    expect(refusal(() => encodeAs(ambiguous, numbers("c", 1)))).toMatchObject({ code: "level.unknown" });
  });

  test("a category read as booleans or dates goes by its text", () => {
    const encoder = encoderOf(categories("c", "TRUE", "FALSE", "unknown"));
    expect(encodeAs(encoder, booleans("c", true, false))).toEqual([
      [0, 1, 0],
      [1, 0, 0],
    ]);
    expect(encodeAs(encoderOf(categories("c", "1970-01-02", "none")), dates("c", 1))).toEqual([[1, 0]]);
  });

  test("a number read as a category is taken where it spells numbers", () => {
    const encoder = encoderOf(numbers("x", 1, 2, 6));
    expect(encodeAs(encoder, categories("x", "7", NA, "1e3"))).toEqual([[7], [2], [1000]]);
    expect(refusal(() => encodeAs(encoder, categories("x", "7", "old", "3", "n/k")))).toMatchObject({
      message: 'not a number, as "x" was in training: "old", "n/k"',
      code: "column.type",
      where: 'new.csv, rows 2 and 4, column "x"',
    });
  });

  test("numbers, dates and booleans do not stand for each other, but 0 and 1 for booleans", () => {
    const number = encoderOf(numbers("x", 1, 2));
    expect(refusal(() => encodeAs(number, dates("x", 3)))).toMatchObject({ code: "column.type" });
    expect(refusal(() => encodeAs(number, booleans("x", true)))).toMatchObject({ code: "column.type" });
    const date = encoderOf(dates("x", 1, 2));
    expect(refusal(() => encodeAs(date, numbers("x", 3)))).toMatchObject({
      message: 'not a date, as "x" was in training: "3"',
    });
    const boolean = encoderOf(booleans("x", true, true, false));
    expect(encodeAs(boolean, numbers("x", 0, NA, 1))).toEqual([[0], [1], [1]]);
    expect(encodeAs(boolean, categories("x", "True", "false", "0"))).toEqual([[1], [0], [0]]);
    expect(refusal(() => encodeAs(boolean, numbers("x", 0, 2)))).toMatchObject({
      message: 'not a boolean, as "x" was in training: "2"',
      where: 'new.csv, row 2, column "x"',
    });
  });

  test("a column that is missing throughout is filled in whatever its type", () => {
    expect(encodeAs(encoderOf(dates("x", 4, 6)), numbers("x", NA))).toEqual([[5]]);
    expect(encodeAs(encoderOf(booleans("x", true)), numbers("x", NA))).toEqual([[1]]);
    expect(encodeAs(encoderOf(numbers("x", 3)), categories("x", NA))).toEqual([[3]]);
  });
});

describe("encoders", () => {
  test("equal R on flchain: medians, means, population sd and treatment contrasts", async () => {
    const bytes = readFileSync(new URL("../../datasets/flchain/flchain.csv", import.meta.url));
    const table = await readTable(tableSourceFromBytes("flchain.csv", bytes), { category: ["flc.grp"] });
    const rows = Array.from({ length: Math.ceil(table.rows / 40) }, (_, i) => 40 * i);
    const { scales, names, others, values } = oracle.encoding;
    const features = [...Object.keys(scales), "sex", "flc.grp"];
    const encoder = fitEncoder(table, { features, rows, reference: "drop" });
    expect(encoder.names).toEqual(names);
    Object.entries(scales).forEach(([name, scale], i) => {
      const encoding = encoder.columns[i];
      if (encoding.type !== "number") throw new Error(`${name} was read as ${encoding.type}`);
      expect(encoding.median).toBe(scale.median);
      expect(encoding.mean).toBeCloseTo(scale.mean, 12);
      expect(encoding.sd).toBeCloseTo(scale.sd, 12);
    });
    const encoded = encode(
      encoder,
      table,
      others.map((row) => row - 1),
    );
    values.flat().forEach((value, i) => {
      expect(encoded.values[i]).toBeCloseTo(value, 12);
    });
  });

  const wild = fc.record({
    x: fc.array(fc.option(fc.double({ noNaN: true, min: -1e6, max: 1e6 })), { minLength: 12, maxLength: 12 }),
    b: fc.array(fc.option(fc.boolean()), { minLength: 12, maxLength: 12 }),
    c: fc.array(fc.option(fc.constantFrom("p", "q", "r")), { minLength: 12, maxLength: 12 }),
  });
  const training = [0, 2, 3, 5, 7, 11];
  const keepTraining = <V>(values: readonly V[], other: V) =>
    values.map((value, row) => (training.includes(row) ? value : other));

  test("come from the training rows alone", () => {
    const options = { features: ["x", "b", "c"], rows: training, missingIndicator: true };
    const property = fc.property(wild, ({ x, b, c }) => {
      const [first] = training;
      const withValue = { x: x.with(first, 1), b: b.with(first, true), c: c.with(first, "p") };
      const table = tableOf(
        numbers("x", ...withValue.x),
        booleans("b", ...withValue.b),
        categories("c", ...withValue.c),
      );
      const changed = tableOf(
        numbers("x", ...keepTraining(withValue.x, 1e300)),
        booleans("b", ...keepTraining(withValue.b, null)),
        categories("c", ...keepTraining(withValue.c, "another level")),
      );
      const encoder = fitEncoder(table, options);
      expect(fitEncoder(changed, options)).toEqual(encoder);
      // As JSON it encodes the same, and what it encodes is finite and, over the training rows, standardised.
      const restored: Encoder = JSON.parse(JSON.stringify(encoder));
      expect(restored).toEqual(encoder);
      const features = encode(restored, table, training);
      expect(features).toEqual(encode(encoder, table, training));
      expect(features.names.length * training.length).toBe(features.values.length);
      expect(features.values.every(Number.isFinite)).toBe(true);
      const column = rowsOf(features).map((row) => row[0]);
      const mean = column.reduce((sum, value) => sum + value, 0) / column.length;
      const square = column.reduce((sum, value) => sum + value * value, 0) / column.length;
      expect(mean).toBeCloseTo(0, 9);
      if (column.some((value) => value !== 0)) expect(square).toBeCloseTo(1, 9);
    });
    fc.assert(property, { seed: 31, numRuns: 200 });
  });

  test("encode many rows as they encode them one by one", () => {
    const N = 1500; // several blocks
    const values = Array.from({ length: N }, (_, i) => (i % 7 === 0 ? null : Math.sin(i)));
    const table = tableOf(
      numbers("x", ...values),
      categories("c", ...values.map((_, i) => ["p", "q", null][i % 3])),
      booleans("b", ...values.map((_, i) => [true, false, null, true][i % 4])),
    );
    const encoder = fitEncoder(table, { features: ["b", "c", "x"], missingIndicator: true });
    const all = rowsOf(encode(encoder, table));
    for (let row = 0; row < N; row += 13) expect(rowsOf(encode(encoder, table, [row]))).toEqual([all[row]]);
    expect(rowsOf(encode(encoder, table, [9, 9, 3]))).toEqual([all[9], all[9], all[3]]);
  });

  test("refuse a missing column, no features, no rows, rows that are none and a feature named twice", () => {
    const table = tableOf(numbers("x", 1, 2));
    const encoder = fitEncoder(table, { features: ["x"] });
    expect(() => encode(encoder, tableOf(numbers("X", 1)))).toThrow('missing column: "x" (have X)');
    expect(() => fitEncoder(table, { features: ["y"] })).toThrow('missing column: "y"');
    expect(() => fitEncoder(table, { features: [] })).toThrow("no features to encode");
    expect(() => fitEncoder(table, { features: ["x"], rows: [] })).toThrow("no training rows");
    expect(() => fitEncoder(table, { features: ["x", "x"] })).toThrow('feature named more than once: "x"');
    expect(() => encode(encoder, table, [2])).toThrow("no such row in a table of 2: 3");
    expect(() => encode(encoder, table, [-1])).toThrow(InputError);
    expect(encode(encoder, table, []).N).toBe(0);
  });
});

describe("rare levels", () => {
  // 200 rows: fewer than 2 are rare; 100 times a, 96 times b, c and d once each, e in rows 199 and 200, which do not
  // train.
  const texts = Array.from({ length: 200 }, (_, k) =>
    k < 100 ? "a" : k === 100 ? "c" : k === 101 ? "d" : "b",
  );
  const site = categories("site", ...texts.slice(0, 198), "e", "e");
  const table = tableOf(site);
  const rows = Int32Array.from({ length: 198 }, (_, k) => k);
  const fitted = (options: Partial<Parameters<typeof fitEncoder>[1]> = {}) =>
    fitEncoder(table, { features: ["site"], rows, rareLevels: "pool", ...options });

  test("are taken as one, and so are those that no training row has", () => {
    const encoder = fitted();
    expect(encoder.names).toEqual(["sitea", "siteb", "site(other)"]);
    expect(encoder.columns[0]).toMatchObject({
      levels: ["a", "b"],
      pooled: ["c", "d", "e"],
      otherLevel: true,
    });
    expect(rowsOf(encode(encoder, table, [0, 100, 150, 199]))).toEqual([
      [1, 0, 0],
      [0, 0, 1],
      [0, 1, 0],
      [0, 0, 1],
    ]);
    expect(describePooling(encoder, 198).map((parts) => plainText({ parts }))).toEqual([
      "site: 3 of 5 levels have fewer than 2 training rows, taken as site(other)",
    ]);
  });

  test("without a training row among them they are zeros, and a level that the table lacked is refused", () => {
    const few = Int32Array.from(rows).filter((row) => row !== 100 && row !== 101);
    const encoder = fitted({ rows: few });
    expect(encoder.names).toEqual(["sitea", "siteb"]);
    expect(rowsOf(encode(encoder, table, [100, 199]))).toEqual([
      [0, 0],
      [0, 0],
    ]);
    expect(() => encode(encoder, tableOf(categories("site", "a", "z")))).toThrow('not seen in training: "z"');
  });

  test("a dropped reference comes before them, a missing level after", () => {
    const codes = Int32Array.from(texts, (_, k) => (k === 3 ? -1 : k < 100 ? 0 : k === 100 ? 2 : 1));
    const withMissing = tableOf({ name: "site", type: "category", levels: ["a", "b", "c"], codes });
    const encoder = fitEncoder(withMissing, { features: ["site"], rareLevels: "pool", reference: "drop" });
    expect(encoder.names).toEqual(["siteb", "site(other)", "site(missing)"]);
    expect(rowsOf(encode(encoder, withMissing, [0, 3, 100, 150]))).toEqual([
      [0, 0, 0],
      [0, 0, 1],
      [0, 1, 0],
      [1, 0, 0],
    ]);
  });

  test.each([
    [6, 2],
    [200, 2],
    [300, 3],
    [1000, 10],
    [1_000_000, 10],
  ])("of %d rows, a level of fewer than %d is rare", (N, fewest) => {
    expect(fewestLevelRows(N)).toBe(fewest);
  });
});

describe("encoding by blocks", () => {
  const N = 37;
  const table: Table = {
    name: "blocks.csv",
    rows: N,
    columns: [
      {
        name: "age",
        type: "number",
        values: Float64Array.from({ length: N }, (_, i) => (i % 9 === 4 ? NaN : i * i)),
      },
      {
        name: "sex",
        type: "category",
        codes: Int32Array.from({ length: N }, (_, i) => (i % 4) - 1),
        levels: ["a", "b", "c"],
      },
      {
        name: "smoker",
        type: "boolean",
        values: Uint8Array.from({ length: N }, (_, i) => (i % 5 === 0 ? 255 : i % 2)),
      },
    ],
  };
  const encoder = fitEncoder(table, {
    features: ["sex", "age", "smoker"],
    missingIndicator: true,
    splines: true,
  });
  const rows = Int32Array.from({ length: 30 }, (_, i) => (i * 11) % N);

  test.each([1, 7, 30, 1000])("blocks of %i rows hold the bits of all rows at once", (size) => {
    const whole = encode(encoder, table, rows);
    const blocks = [...encodeBlocks(encoder, table, rows, size)];
    expect(blocks.map((block) => block.N)).toEqual(
      Array.from({ length: Math.ceil(30 / size) }, (_, k) => Math.min(size, 30 - k * size)),
    );
    expect(blocks.flatMap((block) => [...block.values])).toEqual([...whole.values]);
    expect(blocks.flatMap((block) => [...block.rows])).toEqual([...rows]);
    expect(blocks.every(({ D, names }) => D === whole.D && names === whole.names)).toBe(true);
  });

  test("all rows without a choice, none of an empty one, and tables by blocks", () => {
    const all = [...encodeBlocks(encoder, table, undefined, 10)];
    expect(all.flatMap((block) => [...block.values])).toEqual([...encode(encoder, table).values]);
    expect([...encodeBlocks(encoder, table, [], 10)]).toEqual([]);
    const parts = [...tableBlocks(table, rows, 8)];
    expect(parts.map((part) => part.rows)).toEqual([8, 8, 8, 6]);
    expect(parts.flatMap((part) => [...encode(encoder, part).values])).toEqual([
      ...encode(encoder, table, rows).values,
    ]);
  });

  test("a cell that training could not have had is refused before the first block", () => {
    const other = { ...table, columns: table.columns.map((one) => (one.name === "sex" ? odd : one)) };
    expect(() => encodeBlocks(encoder, other, rows, 5).next()).toThrow(InputError);
    expect(() => encodeBlocks(encoder, table, rows, 0).next()).toThrow(
      "rows of a block are not a whole number, 1 or more: 0",
    );
  });
  const odd: Table["columns"][number] = {
    name: "sex",
    type: "category",
    codes: new Int32Array(N).fill(0, 1).fill(1, 0, 1),
    levels: ["a", "z"],
  };
});
