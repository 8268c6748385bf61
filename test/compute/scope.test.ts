// A backend that lives long: training runs, ensembles and predictions leave its memory as they found it, to the end or
// cut short.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backend } from "../../src/compute/backend.ts";
import { BackendScope } from "../../src/compute/memory.ts";
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
    createTape() {
      held++;
      return wasm.createTape();
    },
    release(memory) {
      held--;
      wasm.release(memory);
    },
  };
});

afterAll(() => counting.close());

async function finish(run: AsyncGenerator<unknown, Model>): Promise<Model> {
  for (let next = await run.next(); ; next = await run.next()) if (next.done) return next.value;
}

const request: TrainRequest = {
  time: "rfstime",
  event: "status",
  drop: ["pid"],
  bins: 12,
  options: { steps: 2 },
};

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

/** A backend that writes down what it takes back. */
function recording() {
  const released: unknown[] = [];
  const backend: Backend = { ...createReferenceBackend(), release: (memory) => void released.push(memory) };
  return { backend, released };
}

test("what is released by hand is not released again, and a scope can end twice", () => {
  const { backend, released } = recording();
  const scope = new BackendScope(backend);
  const [one, other, tape] = [scope.allocate(1), scope.allocate(2), scope.createTape()];
  scope.release(one);
  scope.end();
  scope.end();
  expect(released).toEqual([one, other, tape]);
});

test("a scope on a scope gives back its own memory, the outer one the rest", () => {
  const { backend, released } = recording();
  const outer = new BackendScope(backend);
  const inner = new BackendScope(outer);
  const [first, second] = [outer.allocate(1), inner.allocate(2)];
  inner.end();
  expect(released).toEqual([second]);
  outer.end();
  expect(released).toEqual([second, first]);
});

test("a scope is the backend it was opened on in all else", async () => {
  let isOpen = true;
  const backend: Backend = {
    ...createReferenceBackend(),
    threads: 3,
    close: async () => {
      isOpen = false;
    },
  };
  const scope = new BackendScope(backend);
  expect([scope.name, scope.precision, scope.threads]).toEqual(["reference", "f64", 3]);
  // Every operation and every number of the contract, so that a new one cannot be forgotten.
  for (const key of Object.keys(backend)) expect(key in scope, key).toBe(true);
  await scope.close();
  expect(isOpen).toBe(false);
});
