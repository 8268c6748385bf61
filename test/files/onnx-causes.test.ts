// Exported models of several causes, run by onnxruntime, against the predictions of the library: every kind of network,
// x and raw columns, one that was trained, and rows that cannot be used.
import type { Tensor } from "onnxruntime-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import type { WasmBackend } from "../../src/compute/wasm/wasm-backend.ts";
import { createRandom } from "../../src/core/random.ts";
import { addGroupColumns, groupColumnName } from "../../src/data/groups/groups.ts";
import type { Table } from "../../src/data/table.ts";
import { modelToOnnx } from "../../src/files/onnx/onnx.ts";
import { NETWORK_NAMES } from "../../src/models/networks/list.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import { predictPeople } from "../../src/verbs/people/predict-people.ts";
import { trainTable } from "../verbs/train-table.ts";
import {
  feedEncoded,
  feedRaw,
  largestDifference,
  patientEncoder,
  patientModel,
  readOracle,
  readPatients,
  runAllOnnx,
  runtime,
} from "./onnx-models.ts";

/** Of a probability. */
const TOLERANCE = 1e-6;
const KINDS = [...NETWORK_NAMES, "mean", "held", "held mean", "held blind"] as const;
const CAUSES = ["relapse", "death", "other"];
const GROUPS = [{ name: "older", expression: "age >= 55" }];

const numbersOf = (tensor: Tensor) => tensor.data as Float32Array;

describe.skipIf(runtime === null)("a table of every type", () => {
  let patients: Table;
  beforeAll(async () => {
    patients = await readPatients();
  });

  test.each(KINDS)("%s: survival and incidence, from x and from raw columns", async (kind) => {
    const widened = addGroupColumns(patients, GROUPS);
    const encoder = patientEncoder(widened, "keep", GROUPS.map(groupColumnName));
    const model = patientModel(encoder, kind, GROUPS, CAUSES);
    const { causes, curves } = await predictPeople(model, patients, createReferenceBackend(), {});
    for (const raw of [false, true]) {
      const { bytes, output, incidence } = modelToOnnx(model, { raw });
      expect([output.name, incidence?.name]).toEqual(["survival", "incidence"]);
      expect(incidence?.shape).toEqual(["N", 3, 6]);
      const feed = raw ? feedRaw(encoder, patients, GROUPS) : feedEncoded(encoder, widened);
      const [S, F] = await runAllOnnx(bytes, feed);
      expect(S.dims).toEqual([patients.rows, 6]);
      expect(F.dims).toEqual([patients.rows, 3, 6]);
      expect(largestDifference(numbersOf(S), curves.survival)).toBeLessThan(TOLERANCE);
      expect(largestDifference(numbersOf(F), causes?.incidence ?? [])).toBeLessThan(TOLERANCE);
    }
    expect(causes?.incidence[5]).not.toBe(causes?.incidence[11]); // causes differ
  });

  test("a row that cannot be used is NaN in every cause; no rows give none", async () => {
    const lines = new TextDecoder().decode(readOracle("patients.csv")).trimEnd().split("\n");
    const encoder = patientEncoder(patients);
    const { bytes } = modelToOnnx(patientModel(encoder, "anchored", [], CAUSES), { raw: true });
    const bad = "48,2004-07-15,false,X,2,north,0.2";
    const some = await readPatients([lines[0], lines[1], bad, lines[3]].join("\n"));
    const [S, F] = await runAllOnnx(bytes, feedRaw(encoder, some));
    const isBad = (values: Float32Array, width: number) =>
      [0, 1, 2].map((row) => values.subarray(row * width, (row + 1) * width).every(Number.isNaN));
    expect(isBad(numbersOf(S), 6)).toEqual([false, true, false]);
    expect(isBad(numbersOf(F), 18)).toEqual([false, true, false]);
  });

  test("one kind of event has one output", () => {
    expect(modelToOnnx(patientModel(patientEncoder(patients), "linear")).incidence).toBeUndefined();
  });
});

describe.skipIf(runtime === null)("a trained model of two causes", () => {
  let backend: WasmBackend;
  beforeAll(async () => {
    backend = await openWasmBackend({ threads: 1 });
  });
  afterAll(async () => backend.close());

  test("whose layer was solved", async () => {
    const random = createRandom(4);
    const N = 300;
    const age = Float64Array.from({ length: N }, () => Math.round(60 + 10 * random.normal()));
    const cause = Int32Array.from(age, () => random.integer(3));
    const table: Table = {
      name: "two",
      rows: N,
      columns: [
        { name: "age", type: "number", values: age },
        { name: "time", type: "number", values: age.map((one) => 1 + random.uniform() * (110 - one)) },
        { name: "event", type: "category", levels: ["none", "a", "b"], codes: cause },
      ],
    };
    const request = { time: "time", event: "event", causes: ["a", "b"], censored: "none" };
    const options = { steps: 5 };
    const run = trainTable(table, { ...request, method: "graduate", options }, backend);
    let next = await run.next();
    while (!next.done) next = await run.next();
    const model = next.value;
    expect(model.causes).toEqual(["a", "b"]);
    const { causes, curves } = await predictPeople(model, table, backend, {});
    const { bytes } = modelToOnnx(model);
    const [S, F] = await runAllOnnx(bytes, feedEncoded(model.encoder, table));
    expect(largestDifference(numbersOf(S), curves.survival)).toBeLessThan(TOLERANCE);
    expect(largestDifference(numbersOf(F), causes?.incidence ?? [])).toBeLessThan(TOLERANCE);
  });
});
