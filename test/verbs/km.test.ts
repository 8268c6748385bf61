// The document of `graduate km` as a page would ask for it: six people worked by hand.
import { expect, test } from "vitest";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { kmDocument } from "../../src/verbs/statistics/km.ts";

const text = "t,e,arm\n1,1,a\n2,0,a\n3,1,a\n2,1,b\n4,0,b\n5,1,\n";
const table = await readTable(tableSourceFromBytes("six.csv", new TextEncoder().encode(text)));

test("one curve of all rows, with what is read off it", () => {
  const { groups, logrank, omitted, interval, timeUnit, timefix } = kmDocument(table, {
    time: "t",
    event: "e",
    at: [0, 2.5],
    rmst: 3,
  });
  expect({ logrank, omitted, interval, timeUnit, timefix }).toEqual({
    logrank: null,
    omitted: 0,
    interval: "log",
    timeUnit: null,
    timefix: true,
  });
  expect(groups).toHaveLength(1);
  const [{ survival, atRisk, median, rmst, at }] = groups;
  expect(Array.from(atRisk)).toEqual([6, 5, 3, 2, 1]);
  // 5/6, then 4/5 of it, then 2/3 of that; the last person has the event.
  expect(Array.from(survival, (s) => Number(s.toFixed(12)))).toEqual(
    [5 / 6, 2 / 3, 4 / 9, 4 / 9, 0].map((s) => Number(s.toFixed(12))),
  );
  expect(median.estimate).toBe(3);
  // 1 + 5/6 + 2/3 up to 3
  expect(rmst).toMatchObject({ until: 3 });
  expect(rmst.estimate).toBeCloseTo(2.5, 12);
  expect(at.map(({ time, atRisk: left }) => [time, left])).toEqual([
    [0, 6],
    [2.5, 3],
  ]);
  expect(at[1].survival).toBeCloseTo(2 / 3, 12);
});

test("a row without its group is left out, and a number that is absent says why", () => {
  const { groups, omitted, logrank } = kmDocument(table, {
    time: "t",
    event: "e",
    by: ["arm"],
    timefix: false,
  });
  expect(omitted).toBe(1);
  expect(groups.map(({ name }) => name)).toEqual(["arm=a", "arm=b"]);
  expect(logrank).toMatchObject({ df: 1 });
  // Survival of b stays at one half from 2 on, and that is its median; no upper limit exists.
  expect(groups[1].median.upper).toBeNull();
  expect(groups[1].median.absent.upper).toMatch(/./);
});
