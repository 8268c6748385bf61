// --auto-groups: turns, bands and limits by hand on a small table; as many as are asked for on real ones.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { chooseAutomaticGroups } from "../../src/data/groups/automatic-groups.ts";
import { evaluateGroup } from "../../src/data/groups/group-members.ts";
import { ALL_GROUP } from "../../src/data/groups/groups.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import type { Table } from "../../src/data/table.ts";

const N = 40;
const all = Int32Array.from({ length: N }, (_, row) => row);
const number = (name: string, value: (row: number) => number) => ({
  name,
  type: "number" as const,
  values: Float64Array.from(all, value),
});
/** Ages 30 … 69 and pulses 60 … 99, one row each, in different orders; sex by halves, stage 1 for nearly everybody. */
const table: Table = {
  name: "small",
  rows: N,
  columns: [
    number("pulse", (row) => 60 + ((row * 7) % N)),
    number("stage", (row) => (row < 36 ? 1 : 2)),
    number("age", (row) => 30 + row),
    { name: "sex", type: "category", levels: ["F", "M"], codes: Int32Array.from(all, (row) => row % 2) },
    number("patient_id", (row) => (row * 17) % 1000),
  ],
};
const names = (limit: number, options = {}, event: Uint8Array = new Uint8Array(N).fill(1)) =>
  chooseAutomaticGroups(table, all, event, {
    columns: ["pulse", "stage", "age", "sex", "patient_id"],
    chosen: [ALL_GROUP],
    limit,
    minRows: 5,
    minEvents: 2,
    ...options,
  }).map(({ name }) => name);

describe("by hand", () => {
  test("categories and numbers take turns, ages before other numbers; round bands; nothing of an id", () => {
    // Turns: stage, age, sex, pulse. stage = 1 holds 36 of 40 people, over 80 % of everyone; stage = 2 has 4 rows.
    expect(names(3)).toEqual(["age < 40", "sex = F", "pulse < 70"]);
    expect(names(100)).toEqual([
      "age < 40",
      "sex = F",
      "pulse < 70",
      "40 <= age < 50",
      "sex = M",
      "70 <= pulse < 80",
      "50 <= age < 60",
      "80 <= pulse < 90",
      "age >= 60",
      "pulse >= 90",
    ]);
  });

  test("rows and events decide how fine the bands are", () => {
    // Quarters have 10 rows, thirds (cut at 50 and 60) 20, 10 and 10, halves 20.
    const ages = (options: object, event?: Uint8Array) =>
      names(100, options, event).filter((name) => name.includes("age"));
    expect(ages({ minRows: 12 })).toEqual(["age < 50", "age >= 50"]);
    expect(ages({ minRows: 21 })).toEqual([]);
    // Events of people up to 49 alone: two quarters have some, one third and one half.
    const early = Uint8Array.from(all, (row) => (row < 20 ? 1 : 0));
    expect(ages({}, early)).toEqual(["age < 40", "40 <= age < 50"]);
    expect(names(0)).toEqual([]);
  });

  test("missing values form no group, and levels that are numerals are written as such", () => {
    const codes = Int32Array.from(all, (row) => (row < 15 ? -1 : row % 2));
    const coded: Table = {
      ...table,
      columns: [{ name: "grade", type: "category", levels: ["2", "3"], codes }],
    };
    const groups = chooseAutomaticGroups(coded, all, new Uint8Array(N).fill(1), {
      columns: ["grade"],
      limit: 9,
      minRows: 5,
    });
    expect(groups.map(({ name }) => name)).toEqual(["grade = 3", "grade = 2"]);
  });
});

async function read(path: string): Promise<Table> {
  const bytes = readFileSync(new URL(`../../${path}`, import.meta.url));
  return readTable(tableSourceFromBytes(path, bytes));
}

describe("real tables", () => {
  test.each([
    ["datasets/nwtco/nwtco.csv", "rel", ["stage", "histol", "age", "study"]],
    ["test/tables/gbsg.csv", "status", ["meno", "grade", "size", "age", "nodes", "pgr", "er"]],
  ])(
    "%s has six, ages among them, each large enough and none nearly another",
    async (path, event, columns) => {
      const people = await read(path);
      const outcome = people.columns.find(({ name }) => name === event);
      if (outcome?.type !== "number") throw new Error(`${event} is not a number`);
      const events = Uint8Array.from(outcome.values);
      const rows = Int32Array.from({ length: people.rows }, (_, row) => row);
      const groups = chooseAutomaticGroups(people, rows, events, { columns, chosen: [ALL_GROUP], limit: 6 });
      expect(groups).toHaveLength(6);
      expect(groups.some(({ expression }) => /age/.test(expression))).toBe(true);
      const members = groups.map(({ expression }) => evaluateGroup(expression, people));
      const both = (a: Uint8Array, b: Uint8Array) => a.reduce((sum, one, row) => sum + (one & b[row]), 0);
      members.forEach((own, k) => {
        expect(both(own, own)).toBeGreaterThanOrEqual(100);
        expect(both(own, events)).toBeGreaterThanOrEqual(10);
        for (const earlier of members.slice(0, k)) {
          expect(both(own, earlier) / both(earlier, earlier)).toBeLessThanOrEqual(0.8);
        }
      });
    },
  );
});
