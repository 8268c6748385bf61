// A backend that lives long: training runs, ensembles and predictions leave its memory as they found it, to the end or cut short.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backend } from "../../src/compute/backend.ts";
import { borrow } from "../../src/compute/borrow.ts";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import type { Table } from "../../src/data/table.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import type { Model } from "../../src/training/model.ts";
import { predict } from "../../src/verbs/predict.ts";
import type { TrainRequest } from "../../src/verbs/train.ts";
import { trainTable, trainTableEnsemble } from "../verbs/train-table.ts";

let table: Table;
/** Counts what it has handed out and not taken back. */
let counting: Backend;
let held = 0;

beforeAll(async () => {
  table = await readTable(
    tableSourceFromBytes("gbsg.csv", readFileSync(new URL("../tables/gbsg.csv", import.meta.url))),
  );
  const wasm = await openWasmBackend({ threads: 1 });
  counting = {
    ...wasm,
    allocate(length) {
      held++;
      return wasm.allocate(length);
    },
    release(array) {
      held--;
      wasm.release(array);
    },
  };
});

afterAll(() => counting.close());

async function finish(run: AsyncGenerator<unknown, Model>): Promise<Model> {
  for (let next = await run.next(); ; next = await run.next()) if (next.done) return next.value;
}

const request: TrainRequest = { time: "rfstime", event: "status", drop: ["pid"], options: { steps: 2 } };

test.each<[string, Partial<TrainRequest>]>([
  ["the default", {}],
  ["X-Cal and its three weights", { method: "xcal" }],
  ["a perceptron", { network: "mlp" }],
  ["Cox", { method: "cox" }],
])("a run of %s gives all of its memory back, and so does a prediction", async (_, more) => {
  const model = await finish(trainTable(table, { ...request, ...more }, counting));
  expect(held).toBe(0);
  const { curves } = await predict(model, table, counting);
  expect(held).toBe(0);
  // Memory that was another's in between changes nothing.
  await finish(trainTable(table, { ...request, seed: 2 }, counting));
  expect((await predict(model, table, counting)).curves.survival).toEqual(curves.survival);
});

test("an ensemble, a run that is cut short, one that fails, and a prediction that fails", async () => {
  const model = await finish(trainTableEnsemble(table, { ...request, ensemble: 2 }, counting));
  expect(held).toBe(0);
  await predict(model, table, counting);
  expect(held).toBe(0);
  const cut = trainTable(table, request, counting);
  for (let next = await cut.next(); !next.done && next.value.type !== "step"; ) next = await cut.next();
  expect(held).toBeGreaterThan(0);
  await cut.return(undefined as never);
  expect(held).toBe(0);
  const wild = { ...request, options: { steps: 9, optimiser: { kind: "sgd", rate: 1e38 } } } as const;
  await expect(finish(trainTable(table, wild, counting))).rejects.toThrow(/training stopped/);
  expect(held).toBe(0);
  const narrow = { ...table, columns: table.columns.slice(0, 2) };
  await expect(predict(model, narrow, counting)).rejects.toThrow(/column/);
  expect(held).toBe(0);
});

test("what is borrowed and released by hand is not released again", () => {
  const released: unknown[] = [];
  const lender = { ...createReferenceBackend(), release: (array: unknown) => released.push(array) };
  const { backend, giveBack } = borrow(lender as Backend);
  const [one, other] = [backend.allocate(1), backend.allocate(2)];
  backend.release(one);
  giveBack();
  giveBack();
  expect(released).toEqual([one, other]);
});
