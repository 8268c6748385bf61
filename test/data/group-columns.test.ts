// Groups as columns of a table, and which of them a network may take as inputs.
import { expect, test } from "vitest";
import { addGroupColumns, chooseInputGroups, resolveGroups } from "../../src/data/groups/groups.ts";
import type { Table } from "../../src/data/table.ts";

const N = 40;
const table: Table = {
  name: "patients",
  rows: N,
  columns: [
    { name: "age", type: "number", values: Float64Array.from({ length: N }, (_, i) => i) },
    {
      name: "sex",
      type: "category",
      codes: Int32Array.from({ length: N }, (_, i) => (i === 3 ? -1 : i % 2)),
      levels: ["F", "M"],
    },
  ],
};
const old = { name: "old", expression: "age >= 20" };
const men = { name: "men", expression: "sex = M" };

test("a column a group, true for its members; a missing value is no member", () => {
  const { columns } = addGroupColumns(table, [old, men]);
  expect(columns.slice(2).map(({ name, type }) => [name, type])).toEqual([
    ["group: old", "boolean"],
    ["group: men", "boolean"],
  ]);
  const [inOld, inMen] = columns
    .slice(2)
    .map((column) => ("values" in column ? Array.from(column.values) : []));
  expect(inOld.indexOf(1)).toBe(20);
  expect(inOld.filter(Boolean)).toHaveLength(20);
  expect(inMen[3]).toBe(0);
  expect(inMen.filter(Boolean)).toHaveLength(19);
  expect(addGroupColumns(table, [])).toBe(table);
});

test("a level the table does not have makes an empty group", () => {
  const [column] = addGroupColumns(table, [{ name: "x", expression: "sex = X" }]).columns.slice(2);
  expect("values" in column && column.values.every((value) => value === 0)).toBe(true);
});

test("inputs are groups of features only, with ten training rows on both sides", () => {
  const everyone = Int32Array.from({ length: N }, (_, i) => i);
  const few = { name: "few", expression: "age >= 31" };
  const choose = (groups: (typeof old)[], features: string[], rows = everyone) =>
    chooseInputGroups(resolveGroups(groups, table), table.rows, features, rows).map(({ name }) => name);
  expect(choose([old, men, few], ["age", "sex"])).toEqual(["old", "men"]);
  expect(choose([old, men], ["age"])).toEqual(["old"]);
  expect(choose([{ name: "both", expression: "age >= 10 & sex = M" }], ["age"])).toEqual([]);
  expect(choose([{ name: "all", expression: "all" }], ["age"])).toEqual([]);
  expect(choose([old], ["age"], everyone.subarray(0, 25))).toEqual([]);
});
