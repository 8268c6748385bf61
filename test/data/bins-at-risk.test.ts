// In which bins rows are at risk, by hand, and whose bins are whose among rows of one person.
import { describe, expect, test } from "vitest";
import { binOutcomes, equalTimeGrid } from "../../src/data/outcomes/time-grid.ts";

const grid = equalTimeGrid(5, 10); // edges 0, 2, 4, 6, 8, 10

function bins(rows: readonly (readonly [entry: number, time: number, event: number, id?: number])[]) {
  const binned = binOutcomes(
    {
      entry: rows.map(([entry]) => entry),
      time: rows.map(([, time]) => time),
      event: rows.map(([, , event]) => event),
      ...(rows[0][3] === undefined ? {} : { id: rows.map((row) => row[3] ?? 0) }),
    },
    grid,
  );
  return rows.map((_, n) => [binned.firstBin?.[n], binned.bin[n]]);
}

test("late entry: at risk from the bin after that of the entry", () => {
  const rows = [
    [0, 5, 1],
    [1, 5, 1],
    [2, 5, 1],
    [2.5, 3, 1],
    [3.9, 4.1, 0],
    [0, 0, 1],
    [9, 12, 1],
  ] as const;
  expect(bins(rows)).toEqual([
    [1, 3],
    [2, 3],
    [2, 3],
    [3, 2], // within one bin: in none
    [3, 3],
    [1, 1],
    [6, 5],
  ]);
});

describe("rows of one person", () => {
  test("a bin belongs to the last that reaches into it", () => {
    const rows = [
      [0, 3, 0, 1],
      [3, 3.5, 0, 1],
      [3.5, 7, 1, 1],
    ] as const;
    // Bin 2 is (2, 4]: three rows reach into it, and the last has it.
    expect(bins(rows)).toEqual([
      [1, 1],
      [3, 2],
      [2, 4],
    ]);
  });

  test("a change at an edge of bins divides them there", () => {
    expect(
      bins([
        [0, 4, 0, 1],
        [4, 9, 0, 1],
      ]),
    ).toEqual([
      [1, 2],
      [3, 5],
    ]);
  });

  test("the order of the rows in the table does not matter, nor do other people", () => {
    expect(
      bins([
        [3, 7, 1, 1],
        [0, 9, 0, 2],
        [0, 3, 0, 1],
      ]),
    ).toEqual([
      [2, 4],
      [1, 5],
      [1, 1],
    ]);
  });

  test("after a gap, and after an event, a row begins as a late entry does", () => {
    expect(
      bins([
        [0, 3, 0, 1],
        [3.5, 7, 0, 1],
        [0, 3, 1, 2],
        [3, 7, 1, 2],
      ]),
    ).toEqual([
      [1, 2],
      [3, 4],
      [1, 2],
      [3, 4],
    ]);
  });

  test("someone who enters late keeps the rule of entry for the first row alone", () => {
    expect(
      bins([
        [1, 3, 0, 1],
        [3, 7, 0, 1],
        [1, 1.5, 0, 2],
        [1.5, 7, 0, 2],
      ]),
    ).toEqual([
      [3, 2], // bin 1 was seen in part, and bin 2 is the next row's: in none
      [2, 4],
      [2, 1],
      [2, 4], // not bin 1, of which the person missed the beginning
    ]);
  });
});
