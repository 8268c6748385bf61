import { expect, test } from "vitest";
import { findDoubtfulCells } from "../../src/data/encode/doubtful-cells.ts";
import { fitEncoder } from "../../src/data/encode/fit-encoder.ts";
import { warnOfCells } from "../../src/data/encode/new-cells.ts";
import { booleans, categories, dates, numbers, tableOf } from "./sanity-tables.ts";

const MISSING = Number.NaN;
const training = tableOf(
  numbers("age", [40, 60, 90]),
  booleans("male", [1, 1, 0]),
  dates("entry", [0, 10, 20]),
  categories("site", ["a", "b", "a"]),
);
const features = ["age", "male", "entry", "site"];
const encoder = fitEncoder(training, { features, unknownLevels: "allow" });
const table = tableOf(
  numbers("age", [145, 50, MISSING, 39, 40]),
  booleans("male", [1, 255, 255, 1, 1]),
  dates("entry", [-1, 30, 5, 5, 20]),
  categories("site", ["c", "b", null, "a", "a"]),
);

test("the columns of every row that call for caution, in the encoder's order", () => {
  expect(findDoubtfulCells(encoder, table)).toEqual({
    outsideRange: [["age", "entry"], ["entry"], [], ["age"], []],
    imputed: [[], ["male"], ["age", "male"], [], []],
    unknownLevels: [["site"], [], ["site"], [], []],
  });
});

test("as many as are counted by column", () => {
  const { outsideRange, imputed } = findDoubtfulCells(encoder, table);
  for (const { code, column, cells } of warnOfCells(encoder, table, undefined)) {
    const lists = code === "cell.range" ? outsideRange : imputed;
    expect(lists.filter((names) => names.includes(column)).length).toBe(cells);
  }
});

test("some rows only, and columns that are made", () => {
  expect(findDoubtfulCells(encoder, table, [3, 0], ["entry"])).toEqual({
    outsideRange: [["age"], ["age"]],
    imputed: [[], []],
    unknownLevels: [[], ["site"]],
  });
});

test("training's own rows raise no doubt, and missing is a level where training had it", () => {
  const none = [[], [], []];
  const nothing = { outsideRange: none, imputed: none, unknownLevels: none };
  expect(findDoubtfulCells(encoder, training)).toEqual(nothing);
  const holed = tableOf(categories("site", ["a", null, "b"]));
  const knowing = fitEncoder(holed, { features: ["site"] });
  expect(findDoubtfulCells(knowing, holed)).toEqual(nothing);
});

test("a level that was pooled without a training row is unknown; one with a training row is not", () => {
  const sites = tableOf(categories("site", [...Array<string>(30).fill("a"), "b", "c"]));
  const first = (count: number) => Array.from({ length: count }, (_, row) => row);
  const pool = { features: ["site"], rareLevels: "pool" } as const;
  const unseen = fitEncoder(sites, { ...pool, rows: first(30) });
  const seen = fitEncoder(sites, { ...pool, rows: first(31) });
  const last = [29, 30, 31];
  expect(findDoubtfulCells(unseen, sites, last).unknownLevels).toEqual([[], ["site"], ["site"]]);
  expect(findDoubtfulCells(seen, sites, last).unknownLevels).toEqual([[], [], []]);
});
