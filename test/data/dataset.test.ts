import { describe, expect, test } from "vitest";
import { fitEncoder } from "../../src/data/encode/encode.ts";
import { buildDataset } from "../../src/data/outcomes/dataset.ts";
import type { Outcomes } from "../../src/data/outcomes/outcomes.ts";
import { equalTimeGrid } from "../../src/data/outcomes/time-grid.ts";
import type { Table } from "../../src/data/table.ts";

const table: Table = {
  name: "people.csv",
  rows: 4,
  columns: [{ name: "x", type: "number", values: Float64Array.of(10, 20, 30, 40) }],
};
const outcomes: Outcomes = { time: Float64Array.of(1, 2, 3, 9), event: Uint8Array.of(1, 0, 1, 1) };
const grid = equalTimeGrid(2, 4);

describe("buildDataset", () => {
  test("lines features, outcomes and bins up by the rows asked for", () => {
    const encoder = fitEncoder(table, { features: ["x"], standardise: false });
    const dataset = buildDataset(table, [3, 0, 2], encoder, grid, outcomes);
    expect([...dataset.rows]).toEqual([3, 0, 2]);
    expect(dataset.features).toMatchObject({ N: 3, D: 1, names: ["x"] });
    expect([...dataset.features.values]).toEqual([40, 10, 30]);
    expect([...dataset.outcomes.time]).toEqual([9, 1, 3]);
    expect([...dataset.outcomes.event]).toEqual([1, 1, 1]);
    expect(dataset.binned.T).toBe(2);
    expect([...dataset.binned.bin]).toEqual([2, 1, 2]);
    expect([...dataset.binned.event]).toEqual([0, 1, 1]); // 9 is after the horizon 4
  });

  test("refuses outcomes of another table", () => {
    const encoder = fitEncoder(table, { features: ["x"] });
    const short = { time: Float64Array.of(1), event: Uint8Array.of(1) };
    expect(() => buildDataset(table, [0], encoder, grid, short)).toThrow("1 for 4 rows");
  });
});
