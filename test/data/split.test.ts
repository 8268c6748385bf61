import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { type Split, splitFromTable, splitRows } from "../../src/data/outcomes/split.ts";
import type { Table } from "../../src/data/table.ts";

const sizes = (split: Split) => [split.train.length, split.validation.length, split.test.length];
const isAscending = (rows: Int32Array) => rows.every((row, i) => i === 0 || row > rows[i - 1]);

describe("splitRows", () => {
  test.each([
    ["nwtco", 4028, [2416, 806, 806]],
    ["flchain", 7874, [4724, 1575, 1575]],
  ])("gives %s (%i rows) the usual sizes", (_, rows, expected) => {
    expect(sizes(splitRows(rows, { seed: 1 }))).toEqual(expected);
  });

  test("puts every row in one set, ascending, and stratifies within one row of each share", () => {
    const property = fc.property(
      fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 10, maxLength: 200 }),
      fc.integer(),
      fc.constantFrom([0.6, 0.2, 0.2] as const, [0.5, 0.25, 0.25] as const, [0.34, 0.33, 0.33] as const),
      (events, seed, fractions) => {
        const stratifyBy = Uint8Array.from(events);
        const plain = splitRows(events.length, { seed, fractions });
        const split = splitRows(events.length, { seed, fractions, stratifyBy });
        expect(sizes(split)).toEqual(sizes(plain));
        for (const one of [plain, split]) {
          const all = [...one.train, ...one.validation, ...one.test].sort((a, b) => a - b);
          expect(all).toEqual(events.map((_, row) => row));
          for (const set of [one.train, one.validation, one.test]) expect(isAscending(set)).toBe(true);
        }
        const nEvents = events.filter((event) => event === 1).length;
        for (const set of [split.train, split.validation, split.test]) {
          const inSet = set.filter((row) => stratifyBy[row] === 1).length;
          expect(Math.abs(inSet - (nEvents * set.length) / events.length)).toBeLessThan(1);
        }
      },
    );
    fc.assert(property, { seed: 21, numRuns: 300 });
  });

  test("is the same for a seed and another for another", () => {
    const split = (seed: number) => [...splitRows(100, { seed }).test];
    expect(split(3)).toEqual(split(3));
    expect(split(3)).not.toEqual(split(4));
  });

  test("of a seed never changes: published results name seeds", () => {
    const { train, validation: valid, test } = splitRows(10, { seed: 1 });
    expect([[...train], [...valid], [...test]]).toEqual([
      [1, 3, 4, 5, 7, 8],
      [2, 9],
      [0, 6],
    ]);
  });

  test("is uniform: over 4000 seeds each of 10 rows tests about 800 times", () => {
    const counts = new Array<number>(10).fill(0);
    for (let seed = 0; seed < 4000; seed++) for (const row of splitRows(10, { seed }).test) counts[row]++;
    // 2 of 10 rows each: mean 800, standard deviation √(4000·.2·.8) = 25.3
    for (const count of counts) expect(Math.abs(count - 800)).toBeLessThan(4 * 25.3);
  });

  test("may leave sets out", () => {
    expect(sizes(splitRows(10, { seed: 1, fractions: [0.7, 0, 0.3] }))).toEqual([7, 0, 3]);
    expect(sizes(splitRows(10, { seed: 1, fractions: [0.75, 0.25, 0] }))).toEqual([7, 3, 0]);
    expect(sizes(splitRows(7, { seed: 1, fractions: [1, 0, 0] }))).toEqual([7, 0, 0]);
  });

  test("takes 0.29 of 100 rows as 29, though the product is 28.999…", () => {
    expect(0.29 * 100).toBeLessThan(29);
    expect(sizes(splitRows(100, { seed: 1, fractions: [0.29, 0.36, 0.35] }))).toEqual([29, 36, 35]);
  });

  test("refuses impossible requests", () => {
    expect(() => splitRows(10, { seed: 1, fractions: [0.6, 0.2, 0.3] })).toThrow("do not sum to 1");
    expect(() => splitRows(10, { seed: 1, fractions: [1.2, -0.1, -0.1] })).toThrow(InputError);
    expect(() => splitRows(10, { seed: 1, fractions: [0, 0.5, 0.5] })).toThrow("train has none: 0, 0.5, 0.5");
    expect(() => splitRows(2, { seed: 1 })).toThrow("too few rows to split by 0.6, 0.2, 0.2: 2");
    expect(() => splitRows(10, { seed: 1, stratifyBy: new Uint8Array(9) })).toThrow("9 for 10 rows");
  });
});

const splitTable = (rows: readonly number[], sets: readonly string[]): Table => {
  const levels = [...new Set(sets)].filter((set) => set !== "").sort();
  return {
    name: "split.csv",
    rows: rows.length,
    columns: [
      { name: "row", type: "number", values: Float64Array.from(rows) },
      { name: "set", type: "category", levels, codes: Int32Array.from(sets, (set) => levels.indexOf(set)) },
    ],
  };
};

function refusal(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return error;
  }
  throw new Error("was not refused");
}

describe("splitFromTable", () => {
  test("reads rows in any order, and validation as valid", () => {
    const table = splitTable([3, 1, 5, 2, 4], ["valid", "train", "validation", "test", "train"]);
    const split = splitFromTable(table, 5);
    expect([[...split.train], [...split.validation], [...split.test]]).toEqual([[0, 3], [2, 4], [1]]);
  });

  test("names rows that are no rows", () => {
    const table = splitTable([1, 0, 7, 2.5, Number.NaN], ["train", "train", "train", "train", "train"]);
    expect(refusal(() => splitFromTable(table, 6))).toMatchObject({
      message: 'row number is not between 1 and 6: "0"',
      code: "split.row",
      where: 'split.csv, rows 2, 3, 4 and 5, column "row"',
    });
  });

  test("names rows listed twice", () => {
    const table = splitTable([1, 2, 2, 3, 3], ["train", "train", "test", "test", "test"]);
    expect(refusal(() => splitFromTable(table, 3))).toMatchObject({
      message: "listed more than once in the split: rows 2 and 3",
      code: "split.duplicate",
    });
  });

  test("names rows in no set", () => {
    const table = splitTable([1, 4], ["train", "test"]);
    expect(refusal(() => splitFromTable(table, 5))).toMatchObject({
      message: "in no set of the split: rows 2, 3 and 5",
      code: "split.missing",
      where: "split.csv",
    });
    expect(refusal(() => splitFromTable(table, 104))).toMatchObject({
      message: expect.stringMatching(/^in no set of the split: rows 2, 3, 5, .* 21, 22 \(and 82 more\)$/),
    });
  });

  test("names rows of an unknown or missing set", () => {
    const table = splitTable([1, 2, 3], ["train", "dev", ""]);
    expect(refusal(() => splitFromTable(table, 3))).toMatchObject({
      message: 'unknown set: "dev"',
      code: "split.set",
      where: 'split.csv, rows 2 and 3, column "set"',
    });
  });

  test("asks for both columns", () => {
    const table: Table = {
      ...splitTable([1], ["train"]),
      columns: splitTable([1], ["train"]).columns.slice(0, 1),
    };
    expect(() => splitFromTable(table, 1)).toThrow('missing column: "set" (have row)');
  });
});
