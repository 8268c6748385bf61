// Columns in cells: what a run of cells is described as is who is in it, for every kind of column.
import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { cutColumn } from "../../src/data/groups/candidate-groups.ts";
import { formatGroup } from "../../src/data/groups/group-expression.ts";
import { evaluateGroup } from "../../src/data/groups/group-members.ts";
import { type Column, isMissing, MISSING_BOOLEAN, MISSING_CODE } from "../../src/data/table.ts";

const N = 400;
const random = createRandom(5);
const draw = (one: () => number) => Float64Array.from({ length: N }, one);
const sometimes = (share: number, value: () => number) => () =>
  random.uniform() < share ? Number.NaN : value();

const COLUMNS: readonly Column[] = [
  { type: "number", name: "normal", values: draw(sometimes(0.1, () => random.normal())) },
  {
    type: "number",
    name: "mostly zero",
    values: draw(() => Math.max(0, Math.round(10 * random.normal() - 6))),
  },
  { type: "number", name: "tiny", values: draw(() => 1e-9 * random.uniform()) },
  { type: "number", name: "far", values: draw(() => 1e9 + random.integer(1000)) },
  { type: "number", name: "stage", values: draw(sometimes(0.05, () => 1 + random.integer(4))) },
  { type: "date", name: "visit", values: draw(sometimes(0.1, () => 12000 + random.integer(900))) },
  { type: "date", name: "hour", values: draw(() => 12000 + 3 * random.uniform()) },
  {
    type: "category",
    name: "site, or so",
    codes: Int32Array.from({ length: N }, () => random.integer(5) - 1),
    levels: ["1", "not in", 'say "yes"', "50%"],
  },
  {
    type: "boolean",
    name: "smoker",
    values: Uint8Array.from({ length: N }, () => [0, 1, MISSING_BOOLEAN][random.integer(3)]),
  },
];
const table = { name: "people", rows: N, columns: COLUMNS };

describe("cutColumn", () => {
  test.each(COLUMNS.map((column) => [column.name, column] as const))(
    "%s: every run is its expression",
    (_, column) => {
      const cut = cutColumn(column, { cells: 8 });
      if (cut === null) throw new Error("no cells");
      expect(cut.runs.length).toBeGreaterThan(1);
      for (const run of cut.runs) {
        const members = evaluateGroup(formatGroup(cut.describe(run)), table);
        const inRun = Uint8Array.from(cut.codes, (cell) => (cell >= run.first && cell <= run.last ? 1 : 0));
        expect(members.join(""), formatGroup(cut.describe(run))).toBe(inRun.join(""));
        expect(inRun.some((member) => member === 1)).toBe(true);
      }
    },
  );

  test("many values are cut near quantiles, at round numbers", () => {
    const values = Float64Array.from({ length: 1001 }, (_, i) => 20 + (i * 60) / 1000); // 20 … 80, evenly
    const cut = cutColumn({ type: "number", name: "age", values }, { cells: 4 });
    const texts = cut?.runs.map((run) => formatGroup(cut.describe(run)));
    // The quarters are at 35, 50 and 65; 50 is also the roundest within a sixteenth.
    expect(texts).toEqual([
      "age < 35",
      "age < 50",
      "age < 65",
      "35 <= age < 50",
      "35 <= age < 65",
      "age >= 35",
      "50 <= age < 65",
      "age >= 50",
      "age >= 65",
    ]);
  });

  test("few values are named, runs of them as ranges, missing apart", () => {
    const values = Float64Array.of(1, 2, 3, 1, 2, 3, Number.NaN);
    const cut = cutColumn({ type: "number", name: "stage", values }, { cells: 8 });
    expect(cut?.runs.map((run) => formatGroup(cut.describe(run)))).toEqual([
      "stage = 1",
      "stage <= 2",
      "stage = 2",
      "stage >= 2",
      "stage = 3",
      "stage is missing",
    ]);
  });

  test("the rows given decide the cuts; others fall into the cells", () => {
    const values = Float64Array.from({ length: 100 }, (_, i) => i);
    const rows = Int32Array.from({ length: 50 }, (_, i) => i);
    const cut = cutColumn({ type: "number", name: "x", values }, { cells: 2, rows });
    expect(cut?.runs.map((run) => formatGroup(cut.describe(run)))).toEqual(["x < 30", "x >= 30"]);
    expect(cut?.codes[99]).toBe(1); // half of 0 … 49 is 25; a quarter of a cell allows 20 and 30
  });

  test("a column without two cells is none", () => {
    expect(
      cutColumn({ type: "number", name: "x", values: Float64Array.of(3, 3, 3) }, { cells: 8 }),
    ).toBeNull();
    const codes = Int32Array.of(0, 0, MISSING_CODE);
    const column: Column = { type: "category", name: "c", codes, levels: ["a"] };
    const cut = cutColumn(column, { cells: 8 });
    expect(cut?.runs.map((run) => formatGroup(cut.describe(run)))).toEqual(["c = a", "c is missing"]);
    expect(isMissing(column, 2)).toBe(true);
  });
});
