/** How many runs the default is the mean of: rows, columns, events and what was asked for decide. */
import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { chooseMembers } from "../../src/verbs/ensemble/choose-members.ts";
import { prepare, type TrainRequest } from "../../src/verbs/train.ts";

/** A tenth of the people have the event. */
function makeTable(rows: number, columns: number) {
  const random = createRandom(7);
  const numbers = (make: (row: number) => number) =>
    Float64Array.from({ length: rows }, (_, row) => make(row));
  const column = (name: string, make: (row: number) => number) => ({
    name,
    type: "number" as const,
    values: numbers(make),
    missing: 0,
  });
  return {
    name: "people.csv",
    rows,
    columns: [
      column("time", (row) => 1 + ((row * 37) % 101)),
      column("event", (row) => (row % 10 === 0 ? 1 : 0)),
      ...Array.from({ length: columns }, (_, k) => column(`x${k}`, () => random.uniform())),
    ],
  };
}

/** As many columns as are named, of a table that has three. */
function membersOfWide(rows: number, columns: number): number {
  const asked: TrainRequest = { time: "time", event: "event", splines: false, numbers: "raw" };
  const study = prepare(makeTable(rows, 3), asked);
  expect(study.encoder.names).toHaveLength(3);
  const names = Array.from({ length: columns }, (_, k) => `x${k}`);
  return chooseMembers({ ...study, encoder: { ...study.encoder, names } }, asked);
}

function membersOf(rows: number, columns: number, request: Partial<TrainRequest> = {}): number {
  const asked: TrainRequest = { time: "time", event: "event", splines: false, numbers: "raw", ...request };
  return chooseMembers(prepare(makeTable(rows, columns), asked), asked);
}

describe("the default is the mean of", () => {
  test("five runs for a small table, one for a large one", () => {
    expect(membersOf(2000, 3)).toBe(5);
    // Four fifths of 5,000 rows by 250 columns are a million cells.
    expect(membersOfWide(5000, 250)).toBe(5);
    expect(membersOfWide(5000, 251)).toBe(1);
  });
  test("one run where five parts would have too few events", () => {
    // 51 and 49 events among the first four fifths of the rows.
    const firstRows = (rows: number) => {
      const all = Int32Array.from({ length: rows }, (_, row) => row);
      const [train, validation] = [0.6, 0.8].map((share) => Math.floor(share * rows));
      const [a, b, c] = [all.slice(0, train), all.slice(train, validation), all.slice(validation)];
      return { train: a, validation: b, test: c };
    };
    expect(membersOf(630, 3, { split: firstRows(630) })).toBe(5);
    expect(membersOf(600, 3, { split: firstRows(600) })).toBe(1);
  });
  test("one run without validation rows, and where the details of a run are set", () => {
    const split = {
      train: Int32Array.from({ length: 2000 }, (_, row) => row),
      validation: new Int32Array(),
      test: new Int32Array(),
    };
    expect(membersOf(2000, 3, { split })).toBe(1);
    expect(membersOf(2000, 3, { options: { steps: 100 } })).toBe(1);
    expect(membersOf(2000, 3, { hidden: 4 })).toBe(1);
    expect(membersOf(2000, 3, { method: "nll" })).toBe(1);
    expect(membersOf(2000, 3, { preset: "paper" })).toBe(1);
  });
  test("one run where a group is held that the model may not see", () => {
    const groups = [{ name: "high", expression: "x0 > 0.5" }];
    expect(membersOf(2000, 3, { groups })).toBe(5);
    expect(membersOf(2000, 3, { groups, protected: ["x0"] })).toBe(1);
  });
});
