// The automatic rule, worked by hand on fourteen rows, then against a slow twin on random tables.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { evaluateGroup } from "../../src/data/groups/group-members.ts";
import {
  type AutomaticGroupOptions,
  type OverlapDefinition,
  selectGroups,
} from "../../src/data/groups/group-selection.ts";
import type { Column, Table } from "../../src/data/table.ts";

const NA = Number.NaN;

// row     1 2 3 4 5 6 7 8 9 10 11 12 | 13 14 (not training)
// ward    A A A A A A B B B B  C  C  |  C  C
// drug    x x x x x y y y y y  y  -  |  y  y
// grade   1 1 1 1 - 2 1 2 2 2  2  2  |  2  2
const wards: Table = {
  name: "wards",
  rows: 14,
  columns: [
    {
      name: "ward",
      type: "category",
      codes: Int32Array.of(0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2),
      levels: ["A", "B", "C"],
    },
    {
      name: "drug",
      type: "category",
      codes: Int32Array.of(0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, -1, 1, 1),
      levels: ["x", "y"],
    },
    { name: "grade", type: "number", values: Float64Array.of(1, 1, 1, 1, NA, 2, 1, 2, 2, 2, 2, 2, 2, 2) },
  ],
};
const training = Array.from({ length: 12 }, (_, row) => row);
const names = (options: AutomaticGroupOptions, table = wards, rows: number[] = training) =>
  selectGroups(table, rows, options).map((group) => group.name);

// Candidates of at least 3 training rows, in order (ward = C has 2; with the rows that are not training it would have
// 4):   size 6  ward = A {1-6}   drug = y {6-11}   grade = 2 {6,8-12}      (equal sizes: listing order)   size 5  drug
// = x {1-5}   grade = 1 {1-4,7}   size 4  ward = B {7-10}
describe("single columns by hand", () => {
  test("share of the new group", () => {
    // ward = A    first                                               chosen
    // drug = y    {6} of it in A: 1/6                                 chosen
    // grade = 2   {6,8-11} in drug = y: 5/6 > 0.8                     rejected
    // drug = x    {1-5} in A: 5/5                                     rejected
    // grade = 1   {1-4} in A: 4/5 = 0.8, not above; {7} in y: 1/5     chosen
    // ward = B    {7-10} in drug = y: 4/4                             rejected
    expect(names({ minRows: 3, overlap: "new" })).toEqual(["ward = A", "drug = y", "grade = 1"]);
  });

  test("share of the earlier group", () => {
    // ward = A    first                                               chosen
    // drug = y    1/6 of A                                            chosen
    // grade = 2   5/6 of drug = y                                     rejected
    // drug = x    5/6 of A                                            rejected
    // grade = 1   4/6 of A, 1/6 of drug = y                           chosen
    // ward = B    4/6 of drug = y, 1/5 of grade = 1                   chosen
    const expected = ["ward = A", "drug = y", "grade = 1", "ward = B"];
    expect(names({ minRows: 3, overlap: "earlier" })).toEqual(expected);
    expect(names({ minRows: 3 })).toEqual(expected);
  });

  test("Jaccard", () => {
    // ward = A    first                                               chosen
    // drug = y    with A 1/11                                         chosen
    // grade = 2   with A 1/11, with drug = y 5/7                      chosen
    // drug = x    with A 5/6                                          rejected
    // grade = 1   with A 4/7, with drug = y 1/10, with grade = 2 0    chosen
    // ward = B    with drug = y 4/6, with grade = 2 3/7, with grade = 1 1/8  chosen
    expect(names({ minRows: 3, overlap: "jaccard" })).toEqual([
      "ward = A",
      "drug = y",
      "grade = 2",
      "grade = 1",
      "ward = B",
    ]);
  });

  test("the bound is strict: 4/5 passes at 0.8 and not at 0.79", () => {
    expect(names({ minRows: 3, overlap: "new", maxOverlap: 0.79 })).toEqual(["ward = A", "drug = y"]);
  });

  test("nothing overlaps more than 1", () => {
    expect(names({ minRows: 3, maxOverlap: 1 })).toEqual([
      "ward = A",
      "drug = y",
      "grade = 2",
      "drug = x",
      "grade = 1",
      "ward = B",
    ]);
  });

  test("the listing order of the columns settles ties", () => {
    // grade = 2 first; drug = y holds 5/6 of it: rejected; ward = A 1/6; grade = 1 4/6 of A; drug = x 5/6 of A:
    // rejected; ward = B 3/6 of grade = 2, 1/5 of grade = 1
    expect(names({ minRows: 3, columns: ["grade", "drug", "ward"] })).toEqual([
      "grade = 2",
      "ward = A",
      "grade = 1",
      "ward = B",
    ]);
    expect(names({ minRows: 3, columns: ["drug"] })).toEqual(["drug = y", "drug = x"]);
  });

  test("groups already chosen come first", () => {
    // with drug = x {1-5} chosen: ward = A holds 5/5 of it, rejected; drug = y 0; grade = 2 5/6 of drug = y, rejected;
    // drug = x 5/5, rejected; grade = 1 4/5 = 0.8, not above; ward = B 4/6 of drug = y
    const chosen = [{ name: "on x", expression: "drug = x" }];
    expect(names({ minRows: 3, chosen })).toEqual(["drug = y", "grade = 1", "ward = B"]);
    // "all" is 12 training rows: the largest group is 6/12 of it, but of any new group all rows are in it
    const all = [{ name: "all", expression: "all" }];
    expect(names({ minRows: 3, chosen: all })).toEqual(["ward = A", "drug = y", "grade = 1", "ward = B"]);
    expect(names({ minRows: 3, chosen: all, overlap: "new" })).toEqual([]);
    // no training row is a member: no overlap with anything
    const nobody = [{ name: "nobody", expression: "grade > 5" }];
    expect(names({ minRows: 3, chosen: nobody })).toEqual(["ward = A", "drug = y", "grade = 1", "ward = B"]);
  });

  test("minRows and limit", () => {
    expect(names({ minRows: 5 })).toEqual(["ward = A", "drug = y", "grade = 1"]);
    expect(names({ minRows: 6 })).toEqual(["ward = A", "drug = y"]);
    expect(names({ minRows: 7 })).toEqual([]);
    expect(names({})).toEqual([]); // 100
    expect(names({ minRows: 3, limit: 2 })).toEqual(["ward = A", "drug = y"]);
    expect(names({ minRows: 3, limit: 0 })).toEqual([]);
  });

  test("only training rows are looked at", () => {
    // ward = C has 4 rows of all, 2 of the training rows
    const everyone = Array.from({ length: 14 }, (_, row) => row);
    expect(names({ minRows: 3, columns: ["ward"] }, wards, everyone)).toEqual([
      "ward = A",
      "ward = B",
      "ward = C",
    ]);
    expect(names({ minRows: 3, columns: ["ward"] })).toEqual(["ward = A", "ward = B"]);
  });
});

// Crosses of two columns with at least 3 training rows (equal sizes: fewer columns first, then listing order):
//   size 5  after the single columns: A&x {1-5}   y&2 {6,8-11}
//   size 4  after ward = B: B&y {7-10}   A&1 {1-4}   x&1 {1-4}
//   size 3  B&2 {8-10}
describe("crosses by hand", () => {
  test("share of the earlier group", () => {
    // ward = A, drug = y, grade = 1, ward = B as above, and in between and after:
    // A&x   5/6 of A                                             rejected
    // y&2   5/6 of drug = y                                      rejected
    // B&y   4/4 of ward = B                                      rejected
    // A&1   4/6 of A, 4/5 of grade = 1 (not above)               chosen
    // x&1   4/4 of A&1                                           rejected
    // B&2   3/6 of drug = y, 3/4 of ward = B                     chosen
    expect(names({ minRows: 3, maxCross: 2 })).toEqual([
      "ward = A",
      "drug = y",
      "grade = 1",
      "ward = B",
      "ward = A & grade = 1",
      "ward = B & grade = 2",
    ]);
  });

  test("share of the new group: a cross lies wholly inside its parents", () => {
    expect(names({ minRows: 3, maxCross: 2, overlap: "new" })).toEqual(["ward = A", "drug = y", "grade = 1"]);
  });

  test("Jaccard", () => {
    // A&x with A 5/6, y&2 with drug = y 5/6, B&y with B 4/4: rejected; A&1 with A 4/6, with grade = 1 4/5 (not above):
    // chosen; x&1 with A&1 4/4: rejected; B&2 with drug = y 3/6, with grade = 2 3/6, with B 3/4: chosen
    expect(names({ minRows: 3, maxCross: 2, overlap: "jaccard" })).toEqual([
      "ward = A",
      "drug = y",
      "grade = 2",
      "grade = 1",
      "ward = B",
      "ward = A & grade = 1",
      "ward = B & grade = 2",
    ]);
  });

  test("three columns", () => {
    // of three columns only A&x&1 {1-4} and B&y&2 {8-10} reach 3 rows; both equal a cross of two: 4/4 of A&1, 3/3 of
    // B&2
    expect(names({ minRows: 3, maxCross: 3 })).toEqual(names({ minRows: 3, maxCross: 2 }));
    // with nothing rejected they come last of their size
    const everything = names({ minRows: 3, maxCross: 3, maxOverlap: 1 });
    expect(everything.slice(7)).toEqual([
      "ward = B",
      "ward = B & drug = y",
      "ward = A & grade = 1",
      "drug = x & grade = 1",
      "ward = A & drug = x & grade = 1",
      "ward = B & grade = 2",
      "ward = B & drug = y & grade = 2",
    ]);
  });
});

describe("columns", () => {
  const column = (name: string, values: number[]): Column => ({
    name,
    type: "number",
    values: Float64Array.from(values),
  });
  const mixed: Table = {
    name: "mixed",
    rows: 13,
    columns: [
      column("twelve", [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
      column("thirteen", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
      column("half", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5]),
      column("death", [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]),
      { name: "visit", type: "date", values: new Float64Array(13) },
      { name: "ok", type: "boolean", values: Uint8Array.of(1, 1, 1, 1, 0, 0, 0, 0, 0, 255, 255, 255, 255) },
      { name: "old code", type: "category", codes: new Int32Array(13), levels: ["007"] },
      {
        name: "all",
        type: "category",
        codes: new Int32Array(13).fill(0, 5).fill(-1, 0, 5),
        levels: ["true"],
      },
    ],
  };
  const rows = Array.from({ length: 13 }, (_, row) => row);

  test("default: categories, booleans, and numbers of at most 12 whole values", () => {
    expect(names({ minRows: 2, maxOverlap: 1, exclude: ["death"] }, mixed, rows)).toEqual([
      '"old code" = "007"', // 13
      '"all" = "true"', // 8
      "ok = false", // 5
      "ok = true", // 4
      "twelve = 0", // 2
    ]);
    // "thirteen" has twelve values in the first twelve rows
    expect(names({ minRows: 1, maxOverlap: 1 }, mixed, rows.slice(0, 12))).toContain("thirteen = 11");
    expect(names({ minRows: 2, maxOverlap: 1 }, mixed, rows)).toContain("death = 1");
  });

  test("a named column is used whatever it holds, save dates", () => {
    expect(names({ minRows: 1, columns: ["half"] }, mixed, rows)).toEqual(["half = 0", "half = 0.5"]);
    expect(() => names({ columns: ["visit"] }, mixed, rows)).toThrow(
      'automatic groups: "visit" is a date column',
    );
    expect(() => names({ columns: ["nothing"] }, mixed, rows)).toThrow('missing column: "nothing"');
    expect(() => names({ columns: ["ok", "ok"] }, mixed, rows)).toThrow('column "ok" is named twice');
  });

  test.each([
    { maxCross: 0 },
    { maxCross: 1.5 },
    { minRows: 0 },
    { minRows: NA },
    { maxOverlap: 80 },
    { maxOverlap: NA },
    { limit: -1 },
  ])("option %j is refused", (options) => {
    expect(() => names(options)).toThrow(InputError);
  });
});

describe("against a slow twin", () => {
  interface Twin {
    readonly key: string;
    readonly members: ReadonlySet<number>;
  }

  /** Every subset of columns, every combination of their values, all by sets. */
  function selectSlowly(
    table: Table,
    rows: number[],
    maxCross: number,
    minRows: number,
    overlap: OverlapDefinition,
  ): string[] {
    const candidates: { twin: Twin; order: number[] }[] = [];
    const D = table.columns.length;
    for (let subset = 1; subset < 1 << D; subset++) {
      const chosen = Array.from({ length: D }, (_, d) => d).filter((d) => subset & (1 << d));
      if (chosen.length > maxCross) continue;
      const combinations = chosen.reduce<number[][]>(
        (all, d) => {
          const column = table.columns[d];
          const codes = column.type === "category" ? column.levels.map((_, code) => code) : [];
          return all.flatMap((codesBefore) => codes.map((code) => [...codesBefore, code]));
        },
        [[]],
      );
      for (const codes of combinations) {
        const isIn = (row: number) =>
          chosen.every((d, i) => {
            const column = table.columns[d];
            return column.type === "category" && column.codes[row] === codes[i];
          });
        const members = new Set(rows.filter(isIn));
        if (members.size < minRows) continue;
        const key = chosen.map((d, i) => `c${d} = v${codes[i]}`).join(" & ");
        candidates.push({
          twin: { key, members },
          order: [-members.size, chosen.length, ...chosen, ...codes],
        });
      }
    }
    candidates.sort((a, b) => {
      const k = a.order.findIndex((value, i) => value !== b.order[i]);
      return k < 0 ? 0 : a.order[k] - b.order[k];
    });
    const selected: Twin[] = [];
    for (const { twin } of candidates) {
      const rejected = selected.some((earlier) => {
        const common = [...twin.members].filter((row) => earlier.members.has(row)).length;
        const union = new Set([...twin.members, ...earlier.members]).size;
        const base =
          overlap === "new" ? twin.members.size : overlap === "earlier" ? earlier.members.size : union;
        return common / base > 0.8;
      });
      if (!rejected) selected.push(twin);
    }
    return selected.map(({ key }) => key);
  }

  test("on random tables, and every group is what its expression says", () => {
    const tables = fc
      .record({ rows: fc.integer({ min: 1, max: 40 }), D: fc.integer({ min: 1, max: 4 }) })
      .chain(({ rows, D }) =>
        fc.array(fc.array(fc.integer({ min: -1, max: 2 }), { minLength: rows, maxLength: rows }), {
          minLength: D,
          maxLength: D,
        }),
      )
      .map((codes): Table => {
        const columns = codes.map(
          (column, d): Column => ({
            name: `c${d}`,
            type: "category",
            codes: Int32Array.from(column),
            levels: ["v0", "v1", "v2"],
          }),
        );
        return { name: "random", rows: codes[0].length, columns };
      });
    const property = fc.property(
      tables,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 6 }),
      fc.constantFrom<OverlapDefinition>("new", "earlier", "jaccard"),
      (table, maxCross, minRows, overlap) => {
        const rows = Array.from({ length: table.rows }, (_, row) => row).filter((row) => row % 5 !== 3);
        const groups = selectGroups(table, rows, { maxCross, minRows, overlap });
        expect(groups.map((group) => group.expression)).toEqual(
          selectSlowly(table, rows, maxCross, minRows, overlap),
        );
        for (const group of groups) {
          const isMember = evaluateGroup(group.expression, table);
          expect(rows.filter((row) => isMember[row] === 1).length).toBeGreaterThanOrEqual(minRows);
        }
      },
    );
    fc.assert(property, { seed: 3, numRuns: 500 });
  });
});
