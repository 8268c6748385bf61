// People of two rows each through training, ensembles, folds and discover: nobody is ever on both sides.

import { beforeAll, describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { createRandom } from "../../src/core/random.ts";
import { type People, pickPeople, readPeople } from "../../src/data/outcomes/people.ts";
import { type Split, splitByOrder } from "../../src/data/outcomes/split.ts";
import type { Table } from "../../src/data/table.ts";
import { modelFromBytes, modelToBytes } from "../../src/files/model/model-file.ts";
import { cutFolds } from "../../src/repair/boost-input.ts";
import { varianceOfMean } from "../../src/repair/share-choice.ts";
import { tallyBlocks } from "../../src/stats/search/excess-events.ts";
import { chooseSplit, type PackedSplit, redrawSplit, unpackSplit } from "../../src/study/split.ts";
import type { Model } from "../../src/training/model.ts";
import { boost } from "../../src/verbs/boost.ts";
import { discover } from "../../src/verbs/discover/discover.ts";
import { designEffect, divideRows, keepApart } from "../../src/verbs/discover/rows.ts";
import { cutRows } from "../../src/verbs/ensemble/ensemble.ts";
import type { TrainRequest } from "../../src/verbs/train.ts";
import { drawPeople } from "../simulated-people.ts";
import { trainTable, trainTableEnsemble } from "./train-table.ts";

const P = 150;
/** Two rows a person, far apart in the table; hazards depend on x, which both rows share. */
function drawPairs(seed: number): Table {
  const random = createRandom(seed);
  const x = Float64Array.from({ length: P }, () => random.normal());
  const N = 2 * P;
  const time = Float64Array.from(
    { length: N },
    (_, row) => -Math.log(random.uniform()) * Math.exp(-x[row % P]),
  );
  const event = Float64Array.from({ length: N }, () => (random.uniform() < 0.7 ? 1 : 0));
  const number = (name: string, values: Float64Array) => ({ name, type: "number" as const, values });
  return {
    name: "pairs",
    rows: N,
    columns: [
      number("time", time),
      number("event", event),
      number(
        "id",
        Float64Array.from({ length: N }, (_, row) => 1000 + (row % P)),
      ),
      number(
        "x",
        Float64Array.from({ length: N }, (_, row) => x[row % P]),
      ),
      number(
        "z",
        Float64Array.from({ length: N }, () => random.normal()),
      ),
    ],
  };
}

const table = drawPairs(1);
const people = readPeople(table, "id");
const request: TrainRequest = {
  time: "time",
  event: "event",
  id: "id",
  network: "linear",
  bins: 8,
  seed: 4,
  options: { steps: 4 },
};

async function finish(run: AsyncGenerator<unknown, Model>): Promise<Model> {
  let next = await run.next();
  while (!next.done) next = await run.next();
  return next.value;
}

function share(who: People, a: ArrayLike<number>, b: ArrayLike<number>): number {
  const first = new Set(Array.from(a, (row) => who.of[row]));
  return Array.from(b).filter((row) => first.has(who.of[row])).length;
}

let model: Model;
beforeAll(async () => {
  model = await finish(trainTable(table, request, createReferenceBackend()));
});

describe("train with an id", () => {
  test("splits by person, learns nothing from the id, and tells later commands", () => {
    const split = chooseSplit(table, request, readPeople(table, "id"));
    const { train: learnt, validation: valid, test: tested } = split;
    expect([
      share(people, learnt, valid),
      share(people, learnt, tested),
      share(people, valid, tested),
    ]).toEqual([0, 0, 0]);
    expect(model.training.people).toEqual({ train: 90, validation: 30, test: 30 });
    expect(model.training.rows).toEqual({ train: 180, validation: 60, test: 60 });
    expect(model.columns).toEqual({ time: "time", event: "event", id: "id" });
    expect(model.encoder.columns.map(({ column }) => column)).toEqual(["x", "z"]);
    expect(modelFromBytes(modelToBytes(model), "pairs.model")).toEqual(model);
    expect(unpackSplit(model.split as PackedSplit)).toEqual(split);
  });

  test("a split of 0.1.0 is drawn again as that version drew it", async () => {
    const split = splitByOrder(table.rows, { seed: 4, people });
    const older = await finish(trainTable(table, { ...request, split }, createReferenceBackend()));
    expect(redrawSplit(older, table)).toEqual(split);
    // Without the ids, or with other people, the split cannot be drawn again.
    expect(
      redrawSplit(older, { ...table, columns: table.columns.filter(({ name }) => name !== "id") }),
    ).toBeNull();
  });

  test("refuses repeated people without it, an id that is a feature or the outcome, and a split that tears people", async () => {
    const { id: _id, ...bare } = request;
    const run = (asked: TrainRequest) => finish(trainTable(table, asked, createReferenceBackend()));
    await expect(run(bare)).rejects.toThrow("id identifies 150 patients or groups with several rows each");
    await expect(run({ ...request, features: ["x", "id"] })).rejects.toThrow("cannot be a feature");
    await expect(run({ ...request, id: "time" })).rejects.toThrow("one column is named twice in the outcome");
    const split: Split = {
      train: Int32Array.from({ length: 200 }, (_, k) => k),
      validation: Int32Array.from({ length: 50 }, (_, k) => 200 + k),
      test: Int32Array.from({ length: 50 }, (_, k) => 250 + k),
    };
    await expect(run({ ...request, split })).rejects.toThrow(
      "rows of one person into different sets: id 1050",
    );
    const { training } = await run({ ...bare, rowsAreIndependent: true });
    expect(training.warnings.join()).toContain("they are taken as independent, as asked");
    expect(training.people).toBeUndefined();
  });

  test("every turn of an ensemble holds out whole people", async () => {
    const split = chooseSplit(table, request, readPeople(table, "id"));
    const rows = Int32Array.from([...split.train, ...split.validation]).sort();
    const parts = cutRows(rows, 4, 4, people);
    expect(Int32Array.from(parts.flatMap((part) => [...part])).sort()).toEqual(rows);
    for (const part of parts) {
      const inside = new Set(part);
      expect(
        share(
          people,
          part,
          rows.filter((row) => !inside.has(row)),
        ),
      ).toBe(0);
      expect(pickPeople(people, part).count).toBe(30);
    }
    const single = { count: 300, of: Int32Array.from({ length: 300 }, (_, k) => k) };
    expect(cutRows(rows, 4, 4, single)).toEqual(cutRows(rows, 4, 4));
    const both = await finish(
      trainTableEnsemble(table, { ...request, ensemble: 2 }, createReferenceBackend()),
    );
    expect(both.training).toMatchObject({
      rows: { train: 240, validation: 0, test: 60 },
      people: { train: 120, validation: 0, test: 30 },
    });
    expect(unpackSplit(both.split as PackedSplit)?.test).toEqual(split.test);
  });
});

describe("folds and halves", () => {
  const once = drawPeople(400, 9, null);
  const { T } = once.curves;
  const row = (k: number) => k % 400;
  const curves = {
    N: 800,
    T,
    survival: Float64Array.from(
      { length: 800 * T },
      (_, k) => once.curves.survival[row(Math.floor(k / T)) * T + (k % T)],
    ),
  };
  const outcomes = {
    T,
    bin: Int32Array.from({ length: 800 }, (_, k) => once.outcomes.bin[row(k)]),
    event: Uint8Array.from({ length: 800 }, (_, k) => once.outcomes.event[row(k)]),
  };
  const who: People = { count: 400, of: Int32Array.from({ length: 800 }, (_, k) => row(k)) };

  test("every fold of a boost keeps people together, and so does its fit", () => {
    const folds = cutFolds(outcomes, { folds: 5, seed: 2, people: who });
    expect(folds.reduce((sum, { inside }) => sum + inside.length, 0)).toBe(800);
    for (const { inside, outside } of folds) expect(share(who, inside, outside)).toBe(0);
    const single = { count: 800, of: Int32Array.from({ length: 800 }, (_, k) => k) };
    expect(cutFolds(outcomes, { folds: 5, seed: 2, people: single })).toEqual(
      cutFolds(outcomes, { folds: 5, seed: 2 }),
    );
    const every = Int32Array.from({ length: 800 }, (_, k) => k);
    const task = { curves, outcomes, groups: [{ name: "all", expression: "all", rows: every }], people: who };
    const { search: fit, confirm: held } = divideRows(outcomes, 3, who);
    expect(boost(task, { fit, held }).verdict.rows).toBe(held.length);
    // 1, 3 and 5 twice: deviations −2, 0, 2; by row 16/(6·5), by person (16 + 16)/36 · 3/2, which is that of 1, 3 and 5
    // once.
    const pairs = { count: 3, of: Int32Array.of(0, 0, 1, 1, 2, 2) };
    expect(varianceOfMean(Float64Array.of(1, 1, 3, 3, 5, 5), 3)).toBeCloseTo(16 / 30, 14);
    expect(varianceOfMean(Float64Array.of(1, 1, 3, 3, 5, 5), 3, pairs)).toBeCloseTo(4 / 3, 14);
    expect(varianceOfMean(Float64Array.of(1, 3, 5), 3)).toBeCloseTo(4 / 3, 14);
  });

  test("discover's halves are of people, and its test knows that a person counts once", () => {
    const { search, confirm } = divideRows(outcomes, 3, who);
    expect(search.length + confirm.length).toBe(800);
    expect(share(who, search, confirm)).toBe(0);
    expect(() => keepApart([...confirm, search[0]], 800, who)).toThrow(
      "1 person has rows both among those that are searched and among those that confirm",
    );
    const totals = tallyBlocks(curves, outcomes, [{ first: 1, last: T }]);
    expect(designEffect(totals, who)).toBeCloseTo(2, 12);
    expect(designEffect(totals)).toBe(1);
    const columns = [...once.table.columns].map((column) =>
      column.type === "category"
        ? { ...column, codes: Int32Array.from({ length: 800 }, (_, k) => column.codes[row(k)]) }
        : column.type === "number"
          ? { ...column, values: Float64Array.from({ length: 800 }, (_, k) => column.values[row(k)]) }
          : column,
    );
    const input = { curves, outcomes, table: { name: "twice", rows: 800, columns }, people: who };
    const found = discover(input, { columns: ["sex", "age"], minRows: 20, minEvents: 2 });
    expect(found.people).toEqual({ search: 200, confirm: 200 });
    expect(found.designEffect).toBeGreaterThanOrEqual(2 - 1e-9);
  });
});
