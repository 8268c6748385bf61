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
  expect(effect.basis).toBe("quartiles");
  const years = people.columns.find(({ name }) => name === "age");
  if (years?.type !== "number") throw new Error("no age");
  const sorted = years.values.toSorted();
  // Of 400 values, three quarters of the way from the 100th to the 101st.
  expect(Number(from)).toBe(Number((sorted[99] + 0.75 * (sorted[100] - sorted[99])).toPrecision(4)));
  const slope = coefficients[at("age")] / age.sd;
  expect(known(hazardRatio)).toBeCloseTo(Math.exp(slope * (Number(to) - Number(from))), 10);
  expect(interval).toEqual({ absent: "the model file holds no covariance of its coefficients" });
  const race = effects.find(({ name }) => name === "race");
  const raced = model.encoder.columns.find(({ column }) => column === "race");
  const own = people.columns.find(({ name }) => name === "race");
  if (raced?.type !== "category" || own?.type !== "category") throw new Error("no race");
  const counts = raced.levels.map((level) => own.codes.filter((code) => own.levels[code] === level).length);
  const common = raced.levels[counts.indexOf(Math.max(...counts))];
  expect(raced.common).toBe(common);
  const others = raced.levels.filter((level) => level !== common);
  expect(race?.contrasts.map(({ from: first, to: level }) => [first, level])).toEqual(
    others.map((level) => [common, level]),
  );
  // raceD has no coefficient in this model: its ratio is 1
  const beta = (level: string) => coefficients[at(`race${level}`)] || 0;
  expect(Number.isNaN(coefficients[at("raceD")])).toBe(true);
  expect(race?.contrasts.map((one) => known(one.hazardRatio))).toEqual(
    others.map((level) => expect.closeTo(Math.exp(beta(level) - beta(common)), 10)),
  );
});

describe.each(["held", "mean", "linear"] as const)("%s network", (kind) => {
  test("effects are those of rows that differ in one column, groups following it", async () => {
    const model = modelOf(kind, { splines: true, codes: true }, GROUPS);
    const { effects, groups } = await summariseModel(model, backend);
    expect(effects.map(({ name, basis }) => `${name}: ${basis}`)).toEqual([
      "race: commonLevel",
      "sex: commonLevel",
      "age: quartiles",
      "lab: quartiles",
      "arm: bothValues",
      "grade: codes",
    ]);
    const typical: Readonly<Record<string, Column>> = Object.fromEntries(
      model.encoder.columns.map((one): [string, Column] => {
        const { column: name } = one;
        if (one.type === "category")
          return [
            name,
            {
              name,
              type: "category",
              levels: one.levels,
              codes: Int32Array.of(one.levels.indexOf(one.common ?? "")),
            },
          ];
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
  expect(Number(from)).toBe(Number((sorted[99] + 0.75 * (sorted[100] - sorted[99])).toPrecision(4)));
  expect(Number(to)).toBe(Number((sorted[299] + 0.25 * (sorted[300] - sorted[299])).toPrecision(4)));
  // Without them, from the line of scores, a point every quarter of a standard deviation.
  const found = model.encoder.columns.find(({ column }) => column === "lab");
  if (found?.type !== "number") throw new Error("no lab");
  const { quartiles: _, ...older } = found;
  const [pair] = chooseContrasts(older).pairs;
  expect(Math.abs(Number(pair.from) - sorted[100])).toBeLessThan(0.1);
  expect(Math.abs(Number(pair.to) - sorted[300])).toBeLessThan(0.1);
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
