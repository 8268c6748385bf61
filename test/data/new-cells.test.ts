import { expect, test } from "vitest";
import { fitEncoder } from "../../src/data/encode/fit-encoder.ts";
import { addCellWarnings, warnOfCells } from "../../src/data/encode/new-cells.ts";
import { selectRows } from "../../src/data/table.ts";
import { booleans, categories, dates, numbers, tableOf } from "./sanity-tables.ts";

const MISSING = Number.NaN;
const training = tableOf(
  numbers("age", [40, 60, 90]),
  booleans("male", [1, 1, 0]),
  dates("entry", [0, 10, 20]),
  categories("site", ["a", "b", "a"]),
);
const encoder = fitEncoder(training, { features: ["age", "male", "entry", "site"] });
const table = tableOf(
  numbers("age", [145, 50, MISSING, 39, 91]),
  booleans("male", [1, 255, 0, 1, 1]),
  dates("entry", [5, 30, 5, 5, 5]),
  categories("site", ["a", "b", "a", "a", "a"]),
);

test("missing and out-of-range cells by column, with counts and the furthest value", () => {
  const warnings = warnOfCells(encoder, table, undefined);
  expect(warnings.map(({ message }) => message)).toEqual([
    "age is missing in 1 of 5 rows: the training median, 60, stands in",
    "age is outside what training had, 40 to 90, in 3 of 5 rows (row 1: 145): these curves are guesses",
    "male is missing in 1 of 5 rows: the training majority, true, stands in",
    "entry is outside what training had, 1970-01-01 to 1970-01-21, in 1 of 5 rows (row 2: 1970-01-31): these curves are guesses",
  ]);
  expect(warnings[1]).toMatchObject({
    code: "cell.range",
    column: "age",
    cells: 3,
    rows: 5,
    furthest: { value: 145, row: 1 },
  });
});

test("some rows only, and columns that are made", () => {
  expect(warnOfCells(encoder, table, [3, 4]).map(({ cells }) => cells)).toEqual([2]);
  expect(warnOfCells(encoder, table, [0, 1], ["male", "entry"]).map(({ column }) => column)).toEqual(["age"]);
  expect(warnOfCells(encoder, training, undefined)).toEqual([]);
});

test("parts add up to the whole", () => {
  const parts = [[0, 1], [2], [3, 4]];
  let added = warnOfCells(encoder, selectRows(table, []), undefined);
  let rows = 0;
  for (const part of parts) {
    const own = warnOfCells(encoder, selectRows(table, part), undefined);
    added = addCellWarnings(encoder, added, own, rows, rows + part.length);
    rows += part.length;
  }
  expect(added).toEqual(warnOfCells(encoder, table, undefined));
});

test("a model that knows no range says nothing of it", () => {
  const old = {
    ...encoder,
    columns: encoder.columns.map((one) => {
      if (one.type !== "number" && one.type !== "date") return one;
      const { range, ...rest } = one;
      expect(range).toBeDefined();
      return rest;
    }),
  };
  expect(warnOfCells(old, table, undefined).map(({ code }) => code)).toEqual([
    "cell.missing",
    "cell.missing",
  ]);
});
