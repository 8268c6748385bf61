// Exported models, run by onnxruntime, against predict: every kind of model, x and raw columns, on nwtco and on a table
// of every type.

import { readFileSync } from "node:fs";
import fc from "fast-check";
import type { Tensor } from "onnxruntime-node";
import protobuf from "protobufjs/minimal.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import type { WasmBackend } from "../../src/compute/wasm/wasm-backend.ts";
import { InputError } from "../../src/core/errors.ts";
import { encode } from "../../src/data/encode/encode.ts";
import type { Encoder, NumberEncoding } from "../../src/data/encode/encoder.ts";
import { fitEncoder } from "../../src/data/encode/fit-encoder.ts";
import type { GroupExpression } from "../../src/data/groups/group-expression.ts";
import { evaluateGroup } from "../../src/data/groups/group-members.ts";
import { addGroupColumns, type Group, groupColumnName } from "../../src/data/groups/groups.ts";
import { parseGroup } from "../../src/data/groups/parse-group.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { selectRows, type Table } from "../../src/data/table.ts";
import { describeInput, openColumns, rawColumnsOf } from "../../src/files/onnx/columns.ts";
import { encodeToOnnx } from "../../src/files/onnx/encode.ts";
import { createOnnxGraph } from "../../src/files/onnx/graph.ts";
import { groupToOnnx } from "../../src/files/onnx/groups.ts";
import { describeFeatures, modelToOnnx } from "../../src/files/onnx/onnx.ts";
import { TYPE_NUMBERS } from "../../src/files/onnx/writer.ts";
import { findNetwork, NETWORK_NAMES } from "../../src/models/networks/list.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import type { Model } from "../../src/training/model.ts";
import { predict } from "../../src/verbs/predict.ts";
import type { TrainRequest } from "../../src/verbs/train.ts";
import { trainTable } from "../verbs/train-table.ts";
import {
  feedEncoded,
  feedRaw,
  largestDifference,
  patientEncoder,
  patientModel,
  readOracle,
  readPatients,
  runOnnx,
  runtime,
  writeOracle,
} from "./onnx-models.ts";

/** Of a probability. */
const TOLERANCE = 1e-5;
const TRAINED = [...NETWORK_NAMES, "cox"] as const;
const KINDS = [...TRAINED, "mean", "held", "held mean", "held blind"] as const;

const about = { producer: { name: "test", version: "" }, name: "test", about: "", metadata: {} };
const numbersOf = (tensor: Tensor) => tensor.data as Float32Array;

describe.skipIf(runtime === null)("models trained on nwtco", () => {
  let nwtco: Table;
  let backend: WasmBackend;
  beforeAll(async () => {
    const bytes = readFileSync(new URL("../../datasets/nwtco/nwtco.csv", import.meta.url));
    // stage and study as categories: one-hot columns whose levels are numbers
    nwtco = await readTable(tableSourceFromBytes("nwtco.csv", bytes), { category: ["stage", "study"] });
    backend = await openWasmBackend({ threads: 1 });
  });
  afterAll(async () => backend.close());

  async function trainBriefly(request: Partial<TrainRequest>): Promise<Model> {
    const groups = [
      { name: "under two", expression: "age < 24" },
      { name: "spread", expression: "stage in {3, 4} & histol = 2" },
    ];
    const options = { steps: 6, batch: 256, refresh: false, average: { decay: 0.5, from: 1 } };
    const run = trainTable(
      nwtco,
      { time: "edrel", event: "rel", method: "nll", groups, options, ...request },
      backend,
    );
    for (let next = await run.next(); ; next = await run.next()) if (next.done) return next.value;
  }

  test.each(TRAINED)("%s: survival of every eighth patient, from x and from raw columns", async (kind) => {
    const model = await trainBriefly(
      kind === "cox" ? { method: "cox" } : { network: kind, ...(kind === "anchored" ? {} : { hidden: 20 }) },
    );
    const some = selectRows(
      nwtco,
      Int32Array.from({ length: 503 }, (_, k) => 8 * k),
    );
    const { curves } = await predict(model, some, backend);
    const widened = addGroupColumns(some, model.inputGroups);
    expect(model.inputGroups).toHaveLength(kind !== "cox" && findNetwork(kind)?.takesGroups ? 2 : 0);
    for (const raw of [false, true]) {
      const { bytes, inputs } = modelToOnnx(model, { raw });
      expect(inputs.map(({ type }) => type)).toEqual(raw ? Array(6).fill("double") : ["float"]);
      const feed = raw
        ? feedRaw(model.encoder, some, model.inputGroups)
        : feedEncoded(model.encoder, widened);
      const survival = await runOnnx(bytes, feed);
      expect(survival.dims).toEqual([503, 102]);
      expect(largestDifference(numbersOf(survival), curves.survival)).toBeLessThan(TOLERANCE);
    }
    expect(curves.survival[101]).not.toBe(curves.survival[203]); // the model tells patients apart
  });
});

describe.skipIf(runtime === null)("a table of every type", () => {
  let patients: Table;
  let encoder: Encoder;
  beforeAll(async () => {
    patients = await readPatients();
    encoder = patientEncoder(patients);
  });

  test.each(["keep", "drop"] as const)("x is encode's to the last bit, reference %s", async (reference) => {
    const own = patientEncoder(patients, reference);
    const { N, D, values } = encode(own, patients);
    const x = await runOnnx(encodeAlone(own), feedRaw(own, patients));
    expect([x.type, ...x.dims]).toEqual(["float64", N, D]);
    expect(Float64Array.from(numbersOf(x))).toEqual(values);
    expect(rawColumnsOf(own, []).filter(({ holds }) => holds === "string")).toHaveLength(2);
  });

  test("x with splines is encode's, on training rows, beyond them and where a number is missing", async () => {
    const lines = Array.from({ length: 60 }, (_, k) => {
      const age = k % 11 === 3 ? "" : 30 + ((k * 17) % 45) / 2;
      return `${age},${k % 4},${k % 2 === 0},${Math.exp(((k * 13) % 29) / 4)},${k * k}`;
    });
    const table = await readPatients(`age,few,smoker,dose,visits\n${lines.join("\n")}\n`, []);
    const own = fitEncoder(table, {
      features: ["age", "few", "smoker", "dose", "visits"],
      rows: Array.from({ length: 40 }, (_, k) => k),
      missingIndicator: true,
      splines: true,
    });
    const bent = own.names.filter((name) => name.endsWith(".bend3"));
    expect(bent).toEqual(["age.bend3", "dose.bend3", "visits.bend3"]);
    const { N, D, values } = encode(own, table);
    const x = await runOnnx(encodeAlone(own), feedRaw(own, table));
    expect([x.type, ...x.dims]).toEqual(["float64", N, D]);
    expect(largestDifference(numbersOf(x), values)).toBeLessThan(1e-12);
    const features = describeFeatures({ encoder: own, inputGroups: [] });
    expect(features.map(({ name }) => name)).toEqual(own.names);
    expect(features.find(({ name }) => name === "age.bend1")).toMatchObject({
      type: "spline",
      part: 1,
      column: "age",
    });
  });

  test("x with logarithms and codes is encode's, beyond the training rows too", async () => {
    const lines = Array.from({ length: 90 }, (_, k) => {
      const marker = k % 11 === 3 ? "" : 2 ** ((k * 5) % 14);
      const left = 100 - 2 ** ((k * 3) % 13) / 100;
      return `${marker},${k < 80 ? 1 + (k % 3) : k - 78},${30 + ((k * 17) % 45) / 2},${k % 2 === 0},${k % 5},${left}`;
    });
    const table = await readPatients(`marker,stage,age,smoker,grade,left\n${lines.join("\n")}\n`, []);
    const own = fitEncoder(table, {
      features: ["marker", "stage", "age", "smoker", "grade", "left"],
      rows: Array.from({ length: 80 }, (_, k) => k),
      missingIndicator: true,
      splines: true,
      logs: true,
      codes: true,
    });
    expect(own.names).toEqual(expect.arrayContaining(["marker.log", "left.log"]));
    expect(own.names.filter((name) => name.startsWith("stage="))).toEqual(["stage=1", "stage=2", "stage=3"]);
    const { N, D, values } = encode(own, table);
    const x = await runOnnx(encodeAlone(own), feedRaw(own, table));
    expect([x.type, ...x.dims]).toEqual(["float64", N, D]);
    expect(largestDifference(numbersOf(x), values)).toBeLessThan(1e-12);
    const features = describeFeatures({ encoder: own, inputGroups: [] });
    expect(features.map(({ name }) => name)).toEqual(own.names);
    const { logFloor, logFrom } = own.columns[0] as NumberEncoding;
    expect(features[0]).toMatchObject({ type: "number", column: "marker", logFloor, logFrom });
    expect(own.columns[5]).toMatchObject({ column: "left", logSign: -1 });
    // As files of 0.2.0 have them.
    const older = {
      ...own,
      columns: own.columns.map((one) => {
        if (one.type !== "number") return one;
        const { logFrom: _from, logSign: _sign, spline, ...rest } = one;
        return { ...rest, ...(spline && { spline: { at: spline.at, scores: spline.scores } }) };
      }),
    };
    const before = numbersOf(await runOnnx(encodeAlone(older), feedRaw(older, table)));
    expect(largestDifference(before, encode(older, table).values)).toBeLessThan(1e-12);
    expect(features.find(({ name }) => name === "stage=2")).toMatchObject({ type: "code", value: 2 });
  });

  test.each(["keep", "drop"] as const)(
    "levels that were pooled, of texts and of numbers, reference %s",
    async (reference) => {
      const rows = Array.from({ length: 90 }, (_, k) => {
        const at = k < 40 ? 0 : k < 80 ? 1 : k < 83 ? k - 78 : 5;
        return `${["a", "b", "c", "d", "e", ""][at]},${[1, 2.5, 30, 40, 50, ""][at]}`;
      });
      const table = await readPatients(`site,grade\n${rows.join("\n")}\n`, ["site", "grade"]);
      const own = fitEncoder(table, { features: ["site", "grade"], rareLevels: "pool", reference });
      expect(own.names.slice(-3)).toEqual(["grade2.5", "grade(other)", "grade(missing)"]);
      const { N, D, values } = encode(own, table);
      const x = await runOnnx(encodeAlone(own), feedRaw(own, table));
      expect([...x.dims]).toEqual([N, D]);
      expect(Float64Array.from(numbersOf(x))).toEqual(values);
      expect(describeFeatures({ encoder: own, inputGroups: [] }).map(({ name }) => name)).toEqual(own.names);
      expect(describeFeatures({ encoder: own, inputGroups: [] }).at(-2)).toMatchObject({
        type: "levels",
        levels: ["30", "40", "50"],
      });
      const strange = await readPatients("site,grade\nz,1\na,77\nb,2.5\n", ["site", "grade"]);
      const refused = numbersOf(await runOnnx(encodeAlone(own), feedRaw(own, strange)));
      const isNaNRow = [0, 1, 2].map((row) => refused.slice(row * D, (row + 1) * D).some(Number.isNaN));
      expect(isNaNRow).toEqual([true, true, false]);
    },
  );

  test.each(KINDS)("%s: from x and from raw columns", async (kind) => {
    const model = patientModel(encoder, kind);
    const { curves } = await predict(model, patients, createReferenceBackend());
    for (const raw of [false, true]) {
      const feed = raw ? feedRaw(encoder, patients) : feedEncoded(encoder, patients);
      const survival = await runOnnx(modelToOnnx(model, { raw }).bytes, feed);
      expect(largestDifference(numbersOf(survival), curves.survival)).toBeLessThan(TOLERANCE);
    }
  });

  test("Python's onnxruntime gave the same for the committed files, and onnx.checker found nothing wrong with them", async () => {
    const expected = new Map<string, ArrayLike<number>>();
    for (const kind of ["anchored", "cox"] as const) {
      const groups = kind === "anchored" ? [{ name: "older", expression: "age >= 55" }] : [];
      const widened = addGroupColumns(patients, groups);
      const model = patientModel(patientEncoder(widened, "keep", groups.map(groupColumnName)), kind, groups);
      const { curves } = await predict(model, patients, createReferenceBackend());
      for (const raw of [false, true]) {
        const name = raw ? `${kind}.raw.onnx` : `${kind}.onnx`;
        const { bytes } = modelToOnnx(model, { raw });
        if (process.env.WRITE_ONNX_ORACLES === "1") writeOracle(name, bytes);
        expect(bytes).toEqual(readOracle(name));
        expected.set(name, curves.survival);
      }
    }
    const python = JSON.parse(new TextDecoder().decode(readOracle("python.json"))) as {
      readonly checked: readonly string[];
      readonly survival: Readonly<Record<string, readonly (readonly number[])[]>>;
    };
    expect(python.checked).toEqual([...expected.keys()]);
    for (const [name, survival] of expected) {
      expect(largestDifference(python.survival[name].flat(), survival)).toBeLessThan(TOLERANCE);
    }
  });

  test("no rows, and one row", async () => {
    const { bytes } = modelToOnnx(patientModel(encoder, "anchored"), { raw: true });
    for (const rows of [0, 1]) {
      const lines = new TextDecoder().decode(readOracle("patients.csv")).split("\n");
      const few = await readPatients(lines.slice(0, 11).join("\n"));
      const feed = Object.entries(feedRaw(encoder, few)).map(([name, tensor]) => [name, cut(tensor, rows)]);
      expect((await runOnnx(bytes, Object.fromEntries(feed))).dims).toEqual([rows, 6]);
    }
  });

  /** What is wrong with row 2 of each: predict refuses it, the file answers NaN for it and as ever for the others. */
  const REFUSED: [string, string][] = [
    ["a level training did not have", "48,2004-07-15,false,X,2,north,0.2"],
    ["a number that is no level", "48,2004-07-15,false,F,7,north,0.2"],
    ["missing where training had none", "48,2004-07-15,false,,2,north,0.2"],
    ["an absurd number", "1e33,2004-07-15,false,F,2,north,0.2"],
  ];
  test.each(REFUSED)("%s is NaN in the whole curve", async (_, line) => {
    const lines = new TextDecoder().decode(readOracle("patients.csv")).trimEnd().split("\n");
    const good = await readPatients([lines[0], lines[1], lines[2], lines[3]].join("\n"));
    const bad = await readPatients([lines[0], lines[1], line, lines[3]].join("\n"));
    for (const kind of KINDS) {
      const model = patientModel(encoder, kind);
      await expect(predict(model, bad, createReferenceBackend())).rejects.toThrow(InputError);
      const { survival } = (await predict(model, good, createReferenceBackend())).curves;
      survival.fill(Number.NaN, 6, 12);
      const found = await runOnnx(modelToOnnx(model, { raw: true }).bytes, feedRaw(encoder, bad));
      expect(largestDifference(numbersOf(found), survival)).toBeLessThan(TOLERANCE);
    }
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e31])(
    "%d in x, a boolean 2 and an infinite raw number as well",
    async (value) => {
      for (const kind of KINDS) {
        const model = patientModel(encoder, kind);
        const feed = feedEncoded(encoder, patients);
        numbersOf(feed.x)[encoder.names.length + 3] = value;
        const found = numbersOf(await runOnnx(modelToOnnx(model).bytes, feed));
        expect(Array.from(found, Number.isNaN)).toEqual(Array.from(found, (_, k) => k >= 6 && k < 12));
        const raw = feedRaw(encoder, patients);
        (raw.smoker.data as Float64Array)[0] = 2;
        (raw.dose.data as Float64Array)[1] = Number.isNaN(value) ? Number.POSITIVE_INFINITY : 8e7 * value;
        const again = numbersOf(await runOnnx(modelToOnnx(model, { raw: true }).bytes, raw));
        expect(Array.from(again, Number.isNaN)).toEqual(Array.from(again, (_, k) => k < 12));
      }
    },
  );

  test("unknown levels allowed: zeros, as encode gives", async () => {
    const allowing: Encoder = { ...encoder, unknownLevels: "allow" };
    const header = "age,visit,smoker,sex,stage,site,dose";
    const odd = await readPatients(
      `${header}\n61,2003-01-31,true,X,9,elsewhere,1\n61,2003-01-31,true,,2,north,1\n`,
    );
    const x = await runOnnx(encodeAlone(allowing), feedRaw(allowing, odd));
    expect(Float64Array.from(numbersOf(x))).toEqual(encode(allowing, odd).values);
  });

  test("a category with one level and no column of x still refuses another", async () => {
    const lone: Encoder = {
      columns: [
        { column: "age", type: "number", median: 50, mean: 50, sd: 10, missingIndicator: false },
        { column: "sex", type: "category", levels: ["M"], dropFirst: true, missingLevel: false },
      ],
      names: ["age"],
      unknownLevels: "error",
    };
    const x = await runOnnx(
      encodeAlone(lone),
      feedRaw(lone, await readPatients("age,sex\n60,M\n40,F\n30,M\n", [])),
    );
    expect(Array.from(numbersOf(x))).toEqual([1, Number.NaN, -2]);
  });

  test("texts that a table reader takes for missing are missing, unless training had them as a level", async () => {
    const { bytes } = modelToOnnx(patientModel(encoder, "linear"), { raw: true });
    const feed = feedRaw(encoder, patients);
    const expected = numbersOf(await runOnnx(bytes, feed)); // row 4 has an empty site
    for (const text of ["NA", "nan", "NaN", "NULL", "null"]) {
      (feed.site.data as unknown as string[])[3] = text;
      expect(numbersOf(await runOnnx(bytes, feed))).toEqual(expected);
    }
    const spelled: Encoder = {
      columns: [
        { column: "site", type: "category", levels: ["NA", "x"], dropFirst: false, missingLevel: true },
      ],
      names: ["siteNA", "sitex", "site(missing)"],
      unknownLevels: "error",
    };
    const site = cut(feed.site, 3);
    (site.data as unknown as string[]).splice(0, 3, "NA", "", "nan");
    const x = numbersOf(await runOnnx(encodeAlone(spelled), { site }));
    expect(Array.from(x)).toEqual([1, 0, 0, 0, 0, 1, 0, 0, 1]);
  });

  test("a column called survival, and inputs named like the graph's own parts", async () => {
    const renamed: Encoder = {
      columns: ["survival", "Concat", "mean", "Gather_1"].map((column) => {
        return { column, type: "number", median: 0, mean: 1, sd: 2, missingIndicator: false };
      }),
      names: ["survival", "Concat", "mean", "Gather_1"],
      unknownLevels: "error",
    };
    const table = await readPatients("survival,Concat,mean,Gather_1\n1,2,3,4\n0,1,0,5\n", []);
    const model = patientModel(renamed, "cox");
    const { bytes, output } = modelToOnnx(model, { raw: true });
    expect(output.name).toBe("survival_1");
    const { survival } = (await predict(model, table, null)).curves;
    expect(
      largestDifference(numbersOf(await runOnnx(bytes, feedRaw(renamed, table))), survival),
    ).toBeLessThan(TOLERANCE);
  });

  test.each(["anchored", "linear"] as const)("%s with input groups", async (kind) => {
    const groups = [
      { name: "older", expression: "age >= 55" },
      { name: "abroad", expression: "site = 'Köln' | !(stage in {1, 2})" },
    ];
    const widened = addGroupColumns(patients, groups);
    const own = patientEncoder(widened, "keep", groups.map(groupColumnName));
    const feed = feedRaw(own, patients, groups);
    expect(Object.keys(feed)).toEqual(["age", "smoker", "sex", "visit", "stage", "site", "dose"]);
    const x = await runOnnx(encodeAlone(own, groups), feed);
    expect(Float64Array.from(numbersOf(x))).toEqual(encode(own, widened).values);
    const older = Array.from({ length: 10 }, (_, i) => numbersOf(x)[i * 19 + 17]);
    expect(older).toEqual([1, 0, 0, 1, 0, 1, 0, 1, 0, 1]);
    const model = patientModel(own, kind, groups);
    const { survival } = (await predict(model, patients, createReferenceBackend())).curves;
    for (const raw of [false, true]) {
      const { bytes } = modelToOnnx(model, { raw });
      const found = await runOnnx(bytes, raw ? feed : feedEncoded(own, widened));
      expect(largestDifference(numbersOf(found), survival)).toBeLessThan(TOLERANCE);
    }
    expect(describeFeatures(model).at(-2)).toEqual({
      name: "group: older",
      column: "group: older",
      type: "group",
      expression: "age >= 55",
    });
  });

  describe("groups", () => {
    const TESTS = [
      "age < 48", "age <= 48", "age > 48", "age >= 48", "age = 48", "age != 48", 'age = "48"', "dose = 0.3",
      "dose in {0.30000000000000004, 0.1}", "0.2 < dose <= 1", "33 <= age < 61.5", "age is missing",
      "visit >= 2003-01-31", "2000-02-29 < visit < 2003-03-03", "visit = 2003-01-31", "visit is missing",
      "smoker", "smoker = false", "smoker != true", "smoker in {0, 1}", "smoker is missing",
      "sex = M", "sex != M", 'sex in {F, "no such"}', "site = 'Köln'", 'site in {north, "a, b"}', "site is missing",
      "site = 'NA'", "stage = 2", 'stage in {"1", 3}', "stage != 2", "stage = 9", "stage = 'late'", "stage is missing", "all",
    ]; // biome-ignore format: a list

    /** Bool [N] of each group, in one run of one graph. */
    async function findMembers(groups: readonly GroupExpression[]): Promise<number[][]> {
      const raw = rawColumnsOf(encoder, []);
      const graph = createOnnxGraph(raw.map(describeInput));
      const columns = openColumns(graph, raw);
      const members = groups.map((group) => groupToOnnx(graph, group, columns));
      const all = graph.add("Cast", [graph.add("Concat", members, { axis: 1 })], { to: TYPE_NUMBERS.float });
      const G = groups.length;
      const bytes = graph.finish(all, { name: "members", type: "float", shape: ["N", G], about: "" }, about);
      const found = numbersOf(await runOnnx(bytes, feedRaw(encoder, patients)));
      return groups.map((_, g) => Array.from({ length: 10 }, (__, i) => found[i * G + g]));
    }
    const expected = (group: GroupExpression) =>
      Array.from(evaluateGroup(group, patients, { unknownLevels: "allow" }));

    test("every test has the members evaluateGroup finds, and so has its negation", async () => {
      const groups = TESTS.flatMap((text) => [parseGroup(text), parseGroup(`!(${text})`)]);
      const found = await findMembers(groups);
      groups.forEach((group, g) => {
        expect(found[g], JSON.stringify(group)).toEqual(expected(group));
      });
      // A missing age is in neither.
      expect(found[0].map((member, i) => member + found[1][i])).toEqual([1, 1, 0, 1, 1, 1, 0, 1, 1, 1]);
    });

    test("200 random expressions", async () => {
      const { group } = fc.letrec<{ group: GroupExpression }>((tie) => ({
        group: fc.oneof(
          { maxDepth: 4, withCrossShrink: true },
          fc.constantFrom(...TESTS).map((text) => parseGroup(text)),
          fc.record({ type: fc.constant("not" as const), term: tie("group") }),
          fc.record({
            type: fc.constantFrom("and" as const, "or" as const),
            terms: fc.array(tie("group"), { minLength: 2, maxLength: 4 }),
          }),
        ),
      }));
      const groups = fc.sample(group, { seed: 7, numRuns: 200 });
      const found = await findMembers(groups);
      groups.forEach((one, g) => {
        expect(found[g], JSON.stringify(one)).toEqual(expected(one));
      });
      const sizes = new Set(found.map((members) => members.reduce((a, b) => a + b)));
      expect(sizes.size).toBeGreaterThan(6); // they are not all alike
    });

    test.each([
      ["weight > 3", '"weight" is no input'],
      ["sex > 3", '"sex" is a category, which has no order'],
      ["smoker < 1", '"smoker" is a boolean, which has no order'],
      ["sex", '"sex" is a category'],
      ["age = old", '"age" is a number: it cannot be compared with "old"'],
      ["visit = 3", '"visit" is a date: it cannot be compared with 3'],
      ["smoker = maybe", '"smoker" is a boolean: it cannot be compared with "maybe"'],
    ])("%s is refused", async (text, message) => {
      await expect(findMembers([parseGroup(text)])).rejects.toThrow(message);
    });
  });

  function encodeAlone(own: Encoder, groups: readonly Group[] = []): Uint8Array {
    const graph = createOnnxGraph(rawColumnsOf(own, groups).map(describeInput));
    const x = encodeToOnnx(graph, own, groups);
    const shape = ["N", own.names.length];
    return graph.finish(x, { name: "encoded", type: "double", shape, about: "" }, about);
  }

  function cut(tensor: Tensor, rows: number): Tensor {
    if (runtime === null) throw new Error("no runtime");
    return tensor.type === "string"
      ? new runtime.Tensor("string", (tensor.data as unknown as string[]).slice(0, rows), [rows])
      : new runtime.Tensor("float64", (tensor.data as Float64Array).slice(0, rows), [rows]);
  }
});

describe("the file itself", () => {
  test("metadata, read with protobufjs: features with their scaling, times, outcome", async () => {
    const encoder = patientEncoder(await readPatients());
    const { bytes } = modelToOnnx(patientModel(encoder, "linear"));
    const metadata = new Map<string, string>();
    let ir = 0;
    for (const { field, wire, reader } of readFields(bytes)) {
      if (field === 1) ir = reader.uint32();
      else if (field === 14) {
        const texts = Array.from(readFields(reader.bytes()), ({ reader: inner }) => inner.string());
        metadata.set(texts[0], texts[1]);
      } else reader.skipType(wire);
    }
    expect(ir).toBe(7);
    expect(metadata.get("format")).toBe("graduate-onnx 1");
    expect(JSON.parse(metadata.get("times") ?? "")).toEqual([2.5, 5, 7.5, 10, 12.5, 15]);
    expect(JSON.parse(metadata.get("outcome") ?? "")).toEqual({
      time: "months",
      event: "status",
      eventIs: "dead",
    });
    const features = JSON.parse(metadata.get("features") ?? "") as { readonly name: string }[];
    expect(features.map(({ name }) => name)).toEqual(encoder.names);
    expect(features).toEqual(describeFeatures({ encoder, inputGroups: [] }));
    expect(features).toContainEqual({ name: "age.missing", column: "age", type: "missing" });
    expect(features).toContainEqual({ name: "stage2", column: "stage", type: "level", level: "2" });
  });

  test.each(["deploy.py", "deploy.R"])("the page on deploying shows %s, which was run", (name) => {
    const page = readFileSync(new URL("../../docs/deploy.md", import.meta.url), "utf8");
    expect(page).toContain(`\n${new TextDecoder().decode(readOracle(name))}`);
  });

  test("what cannot be exported is refused with what to do", async () => {
    const encoder = patientEncoder(await readPatients());
    const model = patientModel(encoder, "linear");
    if (model.predictor.kind !== "network") throw new Error("a network");
    const { network, parameters } = model.predictor;
    const heavy = { ...parameters, skip: parameters.skip.map(() => 1e39) };
    const refusal = (change: Partial<Model>, raw = false) => {
      try {
        modelToOnnx({ ...model, ...change }, { raw });
      } catch (error) {
        if (error instanceof InputError) return `${error.code}: ${error.message} | ${error.hint}`;
      }
      return "nothing was refused";
    };
    expect(refusal({ predictor: { kind: "network", network, parameters: heavy } })).toMatch(
      /^onnx\.range: a number too large .*1e\+39 \(skip\) \| train/,
    );
    expect(refusal({ encoder: { ...encoder, names: ["a"] } })).toMatch(
      /^onnx\.features: the model takes 17 .* gives 1/,
    );
    const columns = (levels: string[], column = "sex") => ({
      ...encoder,
      columns: [{ column, type: "category", levels, dropFirst: false, missingLevel: false } as const],
    });
    expect(refusal({ encoder: columns(["", "M"]) }, true)).toMatch(
      /^onnx\.column: the empty text .* without --raw$/,
    );
    expect(refusal({ encoder: columns(["F", "M"], "") }, true)).toMatch(
      /^onnx\.column: a column without a name/,
    );
  });
});

function* readFields(bytes: Uint8Array) {
  const reader = protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    yield { field: tag >>> 3, wire: tag & 7, reader };
  }
}
