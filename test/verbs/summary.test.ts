// A model's summary: hazard ratios of Cox by hand, effects of networks by rows written out and predicted, quartiles read
// back from the encoder against the table's own, and what is said where the file knows too little.
import { describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { isAbsent, type Measured } from "../../src/core/measured.ts";
import { type EncoderOptions, fitEncoder } from "../../src/data/encode/fit-encoder.ts";
import { addGroupColumns, groupColumnName } from "../../src/data/groups/groups.ts";
import { type Column, selectRows, type Table } from "../../src/data/table.ts";
import type { Model } from "../../src/training/model.ts";
import { predict } from "../../src/verbs/predict.ts";
import { chooseContrasts } from "../../src/verbs/summary/contrasts.ts";
import { summariseModel } from "../../src/verbs/summary/summary.ts";
import { summaryDocument } from "../../src/verbs/summary/summary-document.ts";
import { type PatientKind, patientModel } from "../files/onnx-models.ts";
import { drawPeople } from "../simulated-people.ts";

const backend = createReferenceBackend();
const drawn = drawPeople(400, 5, null).table;
const two: Column = {
  name: "arm",
  type: "number",
  values: Float64Array.from({ length: 400 }, (_, i) => (i % 3 === 0 ? 5 : 2)),
};
const grade: Column = {
  name: "grade",
  type: "number",
  values: Float64Array.from({ length: 400 }, (_, i) => 1 + (i % 3)),
};
const people: Table = { ...drawn, columns: [...drawn.columns, two, grade] };
const GROUPS = [
  { name: "older", expression: "age >= 62" },
  { name: "northern", expression: "site = north" },
];

function modelOf(kind: PatientKind, more: Partial<EncoderOptions> = {}, groups: Model["inputGroups"] = []) {
  const features = ["race", "sex", "age", "lab", "arm", "grade"];
  const encoder = fitEncoder(addGroupColumns(people, groups), {
    features: [...features, ...groups.map(groupColumnName)],
    ...more,
  });
  return { ...patientModel(encoder, kind, groups), groups };
}

const known = (value: Measured): number => {
  if (isAbsent(value)) throw new Error(value.absent);
  return value;
};

test("Cox: exp(β · difference), with no interval and the reason", async () => {
  const model = modelOf("cox", { reference: "drop" });
  const { effects } = await summariseModel(model, null);
  if (model.predictor.kind !== "cox") throw new Error("not Cox");
  const { coefficients } = model.predictor;
  const at = (name: string) => model.encoder.names.indexOf(name);
  const age = model.encoder.columns.find(({ column }) => column === "age");
  const effect = effects.find(({ name }) => name === "age");
  if (age?.type !== "number" || effect === undefined) throw new Error("no age");
  const [{ from, to, hazardRatio, interval }] = effect.contrasts;
  expect(effect.basis).toBe("meanAndSd");
  expect(Number(from)).toBe(Number((age.mean - age.sd).toPrecision(4)));
  const slope = coefficients[at("age")] / age.sd;
  expect(known(hazardRatio)).toBeCloseTo(Math.exp(slope * (Number(to) - Number(from))), 10);
  expect(interval).toEqual({ absent: "the model file holds no covariance of its coefficients" });
  const race = effects.find(({ name }) => name === "race");
  expect(race?.contrasts.map(({ from: first, to: level }) => [first, level])).toEqual([
    ["A", "B"],
    ["A", "C"],
    ["A", "D"],
  ]);
  // raceD has no coefficient in this model: its ratio is 1
  const beta = (name: string) => coefficients[at(name)];
  expect(Number.isNaN(beta("raceD"))).toBe(true);
  expect(race?.contrasts.map((one) => known(one.hazardRatio))).toEqual([
    expect.closeTo(Math.exp(beta("raceB")), 10),
    expect.closeTo(Math.exp(beta("raceC")), 10),
    1,
  ]);
});

describe.each(["held", "mean", "linear"] as const)("%s network", (kind) => {
  test("effects are those of rows that differ in one column, groups following it", async () => {
    const model = modelOf(kind, { splines: true, codes: true }, GROUPS);
    const { effects, groups } = await summariseModel(model, backend);
    expect(effects.map(({ name, basis }) => `${name}: ${basis}`)).toEqual([
      "race: levels",
      "sex: levels",
      "age: quartiles",
      "lab: quartiles",
      "arm: bothValues",
      "grade: codes",
    ]);
    const typical: Readonly<Record<string, Column>> = Object.fromEntries(
      model.encoder.columns.map((one): [string, Column] => {
        const { column: name } = one;
        if (one.type === "category")
          return [name, { name, type: "category", levels: one.levels, codes: Int32Array.of(0) }];
        if (one.type === "boolean") return [name, { name, type: "boolean", values: Uint8Array.of(0) }];
        return [name, { name, type: one.type, values: Float64Array.of(one.median) }];
      }),
    );
    const logHazard = async (changed: readonly Column[]) => {
      const names = new Set(changed.map(({ name }) => name));
      const rest = selectRows(people, [0]).columns.filter(({ name }) => !names.has(name));
      const others = rest.map((column) => {
        // Nobody is northern unless that is what changes.
        if (column.name === "site" && column.type === "category")
          return { ...column, codes: Int32Array.of(-1) };
        return typical[column.name] ?? column;
      });
      const table = { name: "one", rows: 1, columns: [...others, ...changed] };
      const { curves } = await predict(model, table, backend);
      return Math.log(-Math.log(curves.survival[curves.T - 1]));
    };
    const number = (name: string, value: number): Column => ({
      name,
      type: "number",
      values: Float64Array.of(value),
    });
    for (const name of ["age", "arm", "grade"]) {
      for (const { from, to, hazardRatio } of effects.find((one) => one.name === name)?.contrasts ?? []) {
        const wanted =
          (await logHazard([number(name, Number(to))])) - (await logHazard([number(name, Number(from))]));
        expect(Math.log(known(hazardRatio))).toBeCloseTo(wanted, 10);
      }
    }
    const site = people.columns.find(({ name }) => name === "site");
    if (site?.type !== "category") throw new Error("no site");
    const north = { ...site, codes: Int32Array.of(site.levels.indexOf("north")) };
    const offset = groups.find(({ name }) => name === "northern")?.offset ?? { absent: "none" };
    expect(Math.log(known(offset))).toBeCloseTo((await logHazard([north])) - (await logHazard([])), 10);
    expect(groups[0].isInput).toBe(true);
  });
});

test("quartiles and the course of a bent effect are read back from the encoder", async () => {
  const model = modelOf("linear", { splines: true });
  const lab = people.columns.find(({ name }) => name === "lab");
  if (lab?.type !== "number") throw new Error("no lab");
  const sorted = lab.values.toSorted();
  const { effects } = await summariseModel(model, backend);
  const effect = effects.find(({ name }) => name === "lab");
  const [{ from, to }] = effect?.contrasts ?? [];
  // The line has a point every quarter of a standard deviation: within that of the sorted values.
  expect(Math.abs(Number(from) - sorted[100])).toBeLessThan(0.1);
  expect(Math.abs(Number(to) - sorted[300])).toBeLessThan(0.1);
  expect(effect?.curve.map(({ quantile }) => quantile)).toEqual([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95]);
  expect(effect?.curve[3].logRatio).toBe(0);
});

test("a number that enters by its logarithm is spread on that scale; without a scale there is the range", () => {
  const shared = { column: "x", type: "number", missingIndicator: false, median: 3 } as const;
  const log = chooseContrasts({
    ...shared,
    mean: 1,
    sd: 0.5,
    logFloor: 0.1,
    range: { minimum: 2, maximum: 50 },
  });
  expect(log.pairs).toEqual([{ from: 2, to: 4.482 }]); // e^0.5 = 1.65 is below the least value, e^1.5
  const plain = chooseContrasts({ ...shared, mean: 0, sd: 1, range: { minimum: 1, maximum: 9 } });
  expect(plain).toMatchObject({ basis: "range", pairs: [{ from: 1, to: 9 }] });
});

test("the document has a null and a reason for whatever the file does not say", async () => {
  const model = modelOf("cox");
  const { provenance: _, ...bare } = model;
  const document = summaryDocument(await summariseModel(bare, null));
  expect(document).toMatchObject({
    network: null,
    held: null,
    version: null,
    trainedOn: { table: null, people: null },
    absent: { version: "the file does not say", table: "it did not come from a file" },
  });
  expect(JSON.stringify(document)).not.toMatch(/\{"absent":"/);
});
