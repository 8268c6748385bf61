import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { createRandom, shuffle } from "../../src/core/random.ts";
import { type Split, splitByOrder, splitFromTable, splitTable } from "../../src/data/outcomes/split.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { cellText, selectRows, type Table } from "../../src/data/table.ts";

const sizes = (split: Split) => [split.train.length, split.validation.length, split.test.length];
const isAscending = (rows: Int32Array) => rows.every((row, i) => i === 0 || row > rows[i - 1]);

describe("splitByOrder, and what every draw does", () => {
  test.each([
    ["nwtco", 4028, [2416, 806, 806]],
    ["flchain", 7874, [4724, 1575, 1575]],
  ])("gives %s (%i rows) the usual sizes", (_, rows, expected) => {
    expect(sizes(splitByOrder(rows, { seed: 1 }))).toEqual(expected);
  });

  test("puts every row in one set, ascending, and stratifies within one row of each share", () => {
    const property = fc.property(
      fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 10, maxLength: 200 }),
      fc.integer(),
      fc.constantFrom([0.6, 0.2, 0.2] as const, [0.5, 0.25, 0.25] as const, [0.34, 0.33, 0.33] as const),
      (events, seed, fractions) => {
        const stratifyBy = Uint8Array.from(events);
        const plain = splitByOrder(events.length, { seed, fractions });
        const split = splitByOrder(events.length, { seed, fractions, stratifyBy });
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
    const split = (seed: number) => [...splitByOrder(100, { seed }).test];
    expect(split(3)).toEqual(split(3));
    expect(split(3)).not.toEqual(split(4));
  });

  test("of a seed never changes: published results name seeds", () => {
    const { train, validation: valid, test } = splitByOrder(10, { seed: 1 });
    expect([[...train], [...valid], [...test]]).toEqual([
      [1, 3, 4, 5, 7, 8],
      [2, 9],
      [0, 6],
    ]);
  });

  test("is uniform: over 4000 seeds each of 10 rows tests about 800 times", () => {
    const counts = new Array<number>(10).fill(0);
    for (let seed = 0; seed < 4000; seed++) for (const row of splitByOrder(10, { seed }).test) counts[row]++;
    // 2 of 10 rows each: mean 800, standard deviation √(4000·.2·.8) = 25.3
    for (const count of counts) expect(Math.abs(count - 800)).toBeLessThan(4 * 25.3);
  });

  test("may leave sets out", () => {
    expect(sizes(splitByOrder(10, { seed: 1, fractions: [0.7, 0, 0.3] }))).toEqual([7, 0, 3]);
    expect(sizes(splitByOrder(10, { seed: 1, fractions: [0.75, 0.25, 0] }))).toEqual([7, 3, 0]);
    expect(sizes(splitByOrder(7, { seed: 1, fractions: [1, 0, 0] }))).toEqual([7, 0, 0]);
  });

  test("takes 0.29 of 100 rows as 29, though the product is 28.999…", () => {
    expect(0.29 * 100).toBeLessThan(29);
    expect(sizes(splitByOrder(100, { seed: 1, fractions: [0.29, 0.36, 0.35] }))).toEqual([29, 36, 35]);
  });

  test("refuses impossible requests", () => {
    expect(() => splitByOrder(10, { seed: 1, fractions: [0.6, 0.2, 0.3] })).toThrow("do not sum to 1");
    expect(() => splitByOrder(10, { seed: 1, fractions: [1.2, -0.1, -0.1] })).toThrow(InputError);
    expect(() => splitByOrder(10, { seed: 1, fractions: [0, 0.5, 0.5] })).toThrow(
      "train has none: 0, 0.5, 0.5",
    );
    expect(() => splitByOrder(2, { seed: 1 })).toThrow("too few rows to split by 0.6, 0.2, 0.2: 2");
    expect(() => splitByOrder(10, { seed: 1, stratifyBy: new Uint8Array(9) })).toThrow("9 for 10 rows");
  });
});

const listSets = (rows: readonly number[], sets: readonly string[]): Table => {
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

const COLUMNS = { time: "time", event: "event" };

/** Many ties in time and event, missing cells, and rows that differ in one column alone. */
function patients(rows = 60, seed = 8): Table {
  const random = createRandom(seed);
  const draw = (n: number) => Float64Array.from({ length: rows }, () => random.integer(n));
  return {
    name: "patients.csv",
    rows,
    columns: [
      { name: "time", type: "number", values: draw(6) },
      { name: "event", type: "number", values: draw(2) },
      { name: "age", type: "number", values: draw(30).map((age) => (age === 3 ? Number.NaN : age)) },
      {
        name: "sex",
        type: "category",
        levels: ["F", "M"],
        codes: Int32Array.from(draw(3), (level) => level - 1),
      },
      { name: "frail", type: "boolean", values: Uint8Array.from(draw(2)) },
    ],
  };
}

/** The rows of each set as a person would write them, in no order of theirs: equal rows are as good as each other. */
function contents(table: Table, split: Split): string[][] {
  const text = (row: number) =>
    table.columns
      .map((column) => `${column.name}: ${cellText(column, row)}`)
      .sort()
      .join(", ");
  return [split.train, split.validation, split.test].map((rows) => Array.from(rows, text).sort());
}

function shuffled(length: number, seed: number): Int32Array {
  const order = Int32Array.from({ length }, (_, k) => k);
  shuffle(order, createRandom(seed));
  return order;
}

describe("splitTable", () => {
  const table = patients();

  test("does not depend on the order of rows and of columns", () => {
    const property = fc.property(fc.nat(), fc.nat(1000), fc.boolean(), (order, seed, stratify) => {
      const rows = shuffled(table.rows, order);
      const mixed = selectRows(table, rows);
      const columns = [...shuffled(table.columns.length, order)].map((k) => mixed.columns[k]);
      const eventOf = ({ columns }: Table) => {
        const event = columns.find(({ name }) => name === "event");
        return event?.type === "number" ? { stratifyBy: Uint8Array.from(event.values) } : {};
      };
      const draw = (one: Table) =>
        contents(one, splitTable(one, COLUMNS, { seed, ...(stratify && eventOf(one)) }));
      expect(draw({ ...mixed, columns })).toEqual(draw(table));
    });
    fc.assert(property, { seed: 31, numRuns: 100 });
  });

  test("has the usual sizes, and shares of the events where it is stratified", () => {
    const seen = patients(101);
    expect(sizes(splitTable(seen, COLUMNS, { seed: 4 }))).toEqual(sizes(splitByOrder(101, { seed: 4 })));
    const stratifyBy = Uint8Array.from({ length: 101 }, (_, row) => (row % 3 === 0 ? 1 : 0));
    const { train, validation } = splitTable(seen, COLUMNS, { seed: 4, stratifyBy });
    const events = (rows: Int32Array) => rows.filter((row) => stratifyBy[row] === 1).length;
    // 34 events of 101 rows in sets of 60, 20 and 21: 20.2, 6.7 and 7.1 of them.
    expect([events(train), events(validation)]).toEqual([20, 7]);
  });

  test("goes by the outcome: other values in other columns move no row that has an outcome of its own", () => {
    const times = {
      name: "time",
      type: "number",
      values: Float64Array.from({ length: 60 }, (_, k) => k),
    } as const;
    const apart = { ...table, columns: [times, ...table.columns.slice(1)] };
    const alone = { ...apart, columns: apart.columns.slice(0, 2) };
    for (const seed of [1, 2, 3]) {
      expect(splitTable(apart, COLUMNS, { seed })).toEqual(splitTable(alone, COLUMNS, { seed }));
    }
  });

  test("spreads rows with the same outcome over the sets", () => {
    const rows = 1000;
    const same: Table = {
      name: "same.csv",
      rows,
      columns: [
        { name: "time", type: "number", values: new Float64Array(rows).fill(60) },
        { name: "event", type: "number", values: Float64Array.from({ length: rows }, (_, k) => k % 2) },
      ],
    };
    const { train } = splitTable(same, COLUMNS, { seed: 1 });
    const events = train.filter((row) => row % 2 === 1).length;
    // 600 of 1000 rows, 500 of them events: standard deviation √(600·.25·.4) = 7.7
    expect(Math.abs(events - 300)).toBeLessThan(4 * 7.7);
  });

  test("is uniform: over 4000 seeds each of 10 rows tests about 800 times", () => {
    const ten = patients(10);
    const counts = new Array<number>(10).fill(0);
    for (let seed = 0; seed < 4000; seed++) {
      for (const row of splitTable(ten, COLUMNS, { seed }).test) counts[row]++;
    }
    for (const count of counts) expect(Math.abs(count - 800)).toBeLessThan(4 * 25.3);
  });

  test("goes by the id where there is one, and keeps the rows of a person together", () => {
    const id = Float64Array.from({ length: 60 }, (_, row) => row % 20);
    const people: Table = {
      ...table,
      columns: [...table.columns, { name: "id", type: "number", values: id }],
    };
    const ids = (one: Table, seed: number) => {
      const column = one.columns.find(({ name }) => name === "id");
      const split = splitTable(one, { ...COLUMNS, id: "id" }, { seed });
      const of = (rows: Int32Array) =>
        [...new Set(Array.from(rows, (row) => (column === undefined ? "" : cellText(column, row))))].sort();
      return [of(split.train), of(split.validation), of(split.test)];
    };
    const mixed = selectRows(people, shuffled(60, 5));
    // Another outcome, and the same ids as texts.
    const texts = {
      name: "id",
      type: "category",
      levels: Array.from({ length: 20 }, (_, k) => `${k}`),
    } as const;
    const other = {
      ...patients(60, 9),
      columns: [...patients(60, 9).columns, { ...texts, codes: Int32Array.from(id) }],
    };
    for (const seed of [1, 2, 3]) {
      const sets = ids(people, seed);
      expect(sets.map(({ length }) => length)).toEqual([12, 4, 4]);
      expect(ids(mixed, seed)).toEqual(sets);
      expect(ids(other, seed)).toEqual(sets);
    }
  });

  test("is the same for CSV, gzip and Parquet", async () => {
    const csv = await readFile("datasets/nwtco/nwtco.csv");
    const read = (name: string, bytes: Uint8Array) =>
      readTable(tableSourceFromBytes(name, new Uint8Array(bytes)));
    const fromCsv = await read("nwtco.csv", csv);
    const columnData = fromCsv.columns.map((column) => ({
      name: column.name,
      data: Array.from({ length: fromCsv.rows }, (_, row) =>
        column.type === "number" ? column.values[row] : cellText(column, row),
      ),
    }));
    const parquet = await read("nwtco.parquet", new Uint8Array(parquetWriteBuffer({ columnData })));
    const columns = { time: "edrel", event: "rel" };
    const split = splitTable(fromCsv, columns, { seed: 1 });
    expect(splitTable(await read("nwtco.csv.gz", gzipSync(csv)), columns, { seed: 1 })).toEqual(split);
    expect(splitTable(parquet, columns, { seed: 1 })).toEqual(split);
  });

  test("of a seed never changes: results name seeds", () => {
    const { train, validation, test: tested } = splitTable(patients(10), COLUMNS, { seed: 1 });
    expect([[...train], [...validation], [...tested]]).toMatchInlineSnapshot(`
      [
        [
          0,
          1,
          5,
          7,
          8,
          9,
        ],
        [
          2,
          3,
        ],
        [
          4,
          6,
        ],
      ]
    `);
  });
});

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
    const table = listSets([3, 1, 5, 2, 4], ["valid", "train", "validation", "test", "train"]);
    const split = splitFromTable(table, 5);
    expect([[...split.train], [...split.validation], [...split.test]]).toEqual([[0, 3], [2, 4], [1]]);
  });

  test("names rows that are no rows", () => {
    const table = listSets([1, 0, 7, 2.5, Number.NaN], ["train", "train", "train", "train", "train"]);
    expect(refusal(() => splitFromTable(table, 6))).toMatchObject({
      message: 'row number is not between 1 and 6: "0"',
      code: "split.row",
      where: 'split.csv, rows 2, 3, 4 and 5, column "row"',
    });
  });

  test("names rows listed twice", () => {
    const table = listSets([1, 2, 2, 3, 3], ["train", "train", "test", "test", "test"]);
    expect(refusal(() => splitFromTable(table, 3))).toMatchObject({
      message: "listed more than once in the split: rows 2 and 3",
      code: "split.duplicate",
    });
  });

  test("names rows in no set", () => {
    const table = listSets([1, 4], ["train", "test"]);
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
    const table = listSets([1, 2, 3], ["train", "dev", ""]);
    expect(refusal(() => splitFromTable(table, 3))).toMatchObject({
      message: 'unknown set: "dev"',
      code: "split.set",
      where: 'split.csv, rows 2 and 3, column "set"',
    });
  });

  test("asks for both columns", () => {
    const table: Table = {
      ...listSets([1], ["train"]),
      columns: listSets([1], ["train"]).columns.slice(0, 1),
    };
    expect(() => splitFromTable(table, 1)).toThrow('missing column: "set" (have row)');
  });
});
