// A model of version 0.2.0, made by that version (commit f4a053fb) from gbsg.csv: it knows the split that it was trained
// with, which was drawn by the places of rows, and predicts what it predicted, with that version's splines and logarithms.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { splitByOrder } from "../../src/data/outcomes/split.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { modelFromBytes } from "../../src/files/model/model-file.ts";
import { openStudy } from "../../src/verbs/model-study.ts";
import { predict } from "../../src/verbs/predict.ts";

interface Expected {
  readonly rows: readonly number[];
  readonly survival: readonly (readonly number[])[];
  readonly test: readonly number[];
}

const here = (name: string) => new URL(name, import.meta.url);
const bytes = readFileSync(here("../tables/gbsg.csv"));
const table = await readTable(tableSourceFromBytes("gbsg.csv", new Uint8Array(bytes)));
const model = modelFromBytes(new Uint8Array(readFileSync(here("v0.2.0/graduate.model"))), "graduate.model");
const expected = JSON.parse(readFileSync(here("v0.2.0/expected.json"), "utf8")) as Expected;

test("a model of 0.2.0 knows the rows it was trained on", async () => {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const study = await openStudy(model, table, createReferenceBackend(), { sha256 });
  expect(study.acquaintance).toBe("stored");
  expect([...study.split.test]).toEqual(expected.test);
  expect(splitByOrder(table.rows, { seed: 7 }).test).toEqual(study.split.test);
});

test("a model of 0.2.0 predicts what it predicted", async () => {
  expect(model.encoder.columns.map(({ column }) => column).slice(0, 3)).toEqual(["age", "meno", "size"]);
  expect(model.encoder.names).toEqual(expect.arrayContaining(["nodes.log", "nodes.bend1", "grade=3"]));
  const { curves } = await predict(model, table, createReferenceBackend(), Int32Array.from(expected.rows));
  // In float64 here and in float32 there.
  expected.survival.flat().forEach((value, k) => {
    expect(curves.survival[k]).toBeCloseTo(value, 6);
  });
});
