import { expect, test } from "vitest";
import { findRevealing } from "../../src/report/data/small-cells.ts";

const sized = (sizes: Readonly<Record<string, number>>) =>
  Object.entries(sizes).map(([name, n]) => ({ name, n }));
const revealing = (sizes: Readonly<Record<string, number>>, all = 100) => [
  ...findRevealing(sized(sizes), all),
];

test("all people less a group of nearly all of them would be a few", () => {
  expect(revealing({ "sex = F": 96 })).toEqual(["sex = F"]);
  expect(revealing({ "sex = F": 95 })).toEqual([]);
  expect(revealing({ "sex = F": 100 })).toEqual([]);
  expect(revealing({ "age < 60 and sex = F": 97 })).toEqual(["age < 60 and sex = F"]);
});

test("everyone less the levels of a column that are shown: the smallest of them goes too", () => {
  expect(revealing({ "stage = 1": 50, "stage = 2": 40, "stage = 3": 7, "stage = 4": 3 })).toEqual([
    "stage = 3",
  ]);
  expect(revealing({ "stage=1": 50, "stage=2": 47, "stage=3": 3 })).toEqual(["stage=2"]);
  // Four levels of one person each are no group of a few: nothing follows but that they are five or more.
  expect(revealing({ "stage = 1": 50, "stage = 2": 44, "stage = 3": 3, "stage = 4": 3 })).toEqual([]);
  // Levels of different columns are not added up.
  expect(revealing({ "stage = 1": 50, "sex = F": 47 })).toEqual([]);
  expect(revealing({ "stage = 1": 60, "stage = 2": 40 })).toEqual([]);
  // A group known by another name is told by its expression.
  const groups = [
    { name: "early", expression: "stage = 1", n: 50 },
    { name: "late", expression: "stage = 2", n: 48 },
  ];
  expect([...findRevealing(groups, 100)]).toEqual(["late"]);
});

test("a group that is all but a few of another", () => {
  const rows = (n: number) => Int32Array.from({ length: n }, (_, row) => row);
  const outer = { name: "age > 60", n: 40, rows: rows(40) };
  expect([...findRevealing([outer, { name: "age > 61", n: 37, rows: rows(37) }], 100)]).toEqual(["age > 61"]);
  expect([...findRevealing([outer, { name: "age > 65", n: 35, rows: rows(35) }], 100)]).toEqual([]);
  const apart = { name: "other", n: 37, rows: rows(37).map((row) => row + 10) };
  expect([...findRevealing([outer, apart], 100)]).toEqual([]);
});
