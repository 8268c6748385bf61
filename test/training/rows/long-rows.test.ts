// Long tables: rows drawn evenly, and a last solve on rows that no backend holds, which is that of rows it does hold.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../../src/compute/reference.ts";
import { readTable, tableSourceFromBytes } from "../../../src/data/reading/read-table.ts";
import { selectRows, type Table } from "../../../src/data/table.ts";
import { createNetwork } from "../../../src/models/networks/create-network.ts";
import { writeParameters } from "../../../src/models/networks/parameters.ts";
import { fitNetwork, planFit } from "../../../src/training/fit-network.ts";
import {
  MOST_TRAINING_ROWS,
  MOST_VALIDATION_ROWS,
  openLongRows,
  sampleRows,
  thinRows,
} from "../../../src/training/rows/long-rows.ts";
import { prepareRows } from "../../../src/training/rows/prepare-rows.ts";
import { dropLstm } from "../../../src/training/solve/mixture.ts";
import { prepare, type TrainRequest } from "../../../src/verbs/train.ts";

const range = (length: number) => Int32Array.from({ length }, (_, row) => row);

/** Where every row has an outcome of its own. */
function longTable(rows: number): Table {
  return {
    name: "long.csv",
    rows,
    columns: [
      { name: "time", type: "number", values: Float64Array.from({ length: rows }, (_, row) => row + 0.5) },
      { name: "event", type: "number", values: Float64Array.from({ length: rows }, (_, row) => row % 2) },
    ],
  };
}
const columns = { time: "time", event: "event" };

describe("the rows that a run trains and chooses on", () => {
  test("are all of them where they are few: the very same array", () => {
    const rows = range(1000);
    expect(thinRows(rows, 1000, new Float64Array(1000))).toBe(rows);
  });

  test("are those with the smallest keys, in their order; of equal ones the first", () => {
    const keys = Float64Array.of(5, 3, 9, 3, 3, 0, 8);
    expect([...thinRows(Int32Array.of(6, 4, 3, 2, 1, 0), 3, keys)]).toEqual([4, 3, 1]);
    expect([...thinRows(Int32Array.of(6, 4, 3, 2, 1, 0), 2, keys)]).toEqual([4, 3]);
    expect([...thinRows(Int32Array.of(0, 2, 6), 1, keys)]).toEqual([0]);
  });

  test("have a limit each, follow no period, and do not depend on the order of the table", () => {
    const table = longTable(800_000);
    const sets = {
      train: range(600_000),
      validation: range(800_000).subarray(600_000),
      test: new Int32Array(),
    };
    const { train, validation } = sampleRows({ table, columns, split: sets }, 1);
    expect([train.length, validation.length]).toEqual([MOST_TRAINING_ROWS, MOST_VALIDATION_ROWS]);
    const even = train.filter((row) => row % 2 === 0).length;
    // Half of 250,000 of 600,000: standard deviation √(250,000 · .25 · .58) = 191
    expect(Math.abs(even - 125_000)).toBeLessThan(4 * 191);
    const turned = { train: range(800_000).subarray(200_000), validation: range(200_000), test: sets.test };
    const reversed = selectRows(table, range(800_000).reverse());
    const other = sampleRows({ table: reversed, columns, split: turned }, 1);
    expect(other.train.map((row) => 799_999 - row).sort()).toEqual(train);
    expect(sampleRows({ table, columns, split: sets }, 2).train).not.toEqual(train);
  });
});

const bytes = readFileSync(new URL("../../../datasets/nwtco/nwtco.csv", import.meta.url));
const nwtco = await readTable(tableSourceFromBytes("nwtco.csv", bytes));
const table = selectRows(
  nwtco,
  Array.from({ length: nwtco.rows / 4 }, (_, k) => 4 * k),
);
const request: TrainRequest = {
  time: "edrel",
  event: "rel",
  features: ["stage", "histol", "age"],
  groups: [{ name: "late", expression: "stage = 4" }],
  hidden: 2,
  bins: 12,
  options: { steps: 10 },
};

async function fitWith(isLong: boolean) {
  const backend = createReferenceBackend();
  const study = prepare(table, request);
  const { split } = study;
  const fit = {
    study,
    method: "graduate",
    preset: "default",
    request,
    training: prepareRows(backend, study, split.train),
    validation: prepareRows(backend, study, split.validation),
    ...(isLong && { all: [split.train, split.validation].map((rows) => openLongRows(study, rows)) }),
  } as const;
  const run = fitNetwork(fit, await planFit(fit, backend), backend);
  let next = await run.next();
  while (!next.done) next = await run.next();
  return next.value;
}

test("a last solve on rows that are encoded as they are wanted gives the same model", async () => {
  const [short, long] = [await fitWith(false), await fitWith(true)];
  expect(long).toEqual(short);
  expect(long.verdict[0]).toMatchObject({ group: "all", status: "met" });
});

test("a kept start without its LSTM has the same curves", async () => {
  const backend = createReferenceBackend();
  const [D, T, N] = [3, 4, 5];
  const spec = { kind: "anchored", D, T, H: 2, groups: 1, baselineHazard: [0.1, 0.2, 0.1, 0.3] } as const;
  const whole = createNetwork(backend, spec, 1);
  const values = Object.fromEntries(
    whole.parameters.map(({ name, values: { length } }) => [
      name,
      Array.from({ length }, (_, k) => (name.startsWith("lstm.output") ? 0 : Math.sin(k + name.length))),
    ]),
  );
  writeParameters(whole, values);
  const dropped = dropLstm(spec, values);
  expect(dropped.spec.kind).toBe("linear");
  const linear = createNetwork(backend, dropped.spec, 1);
  writeParameters(linear, dropped.parameters);
  const x = backend.allocate(N * D);
  backend.write(
    x,
    Float64Array.from({ length: N * D }, (_, k) => (k % D === D - 1 ? k % 2 : Math.cos(k))),
  );
  const [one, other] = [backend.allocate(N * T), backend.allocate(N * T)];
  await whole.forward(x, N, one, null);
  await linear.forward(x, N, other, null);
  expect(await backend.read(other)).toEqual(await backend.read(one));
});
