// Bands of people's curves: what they are made of, where they come from, what is refused, and how a file keeps them.
import { beforeAll, describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { isAbsent } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import type { Table } from "../../src/data/table.ts";
import { modelFromBytes, modelToBytes } from "../../src/files/model/model-file.ts";
import type { Model } from "../../src/training/model.ts";
import { fit as trainModel } from "../../src/verbs/fit.ts";
import { MISSED_BY_FORM, missedByForm, prepareErrors } from "../../src/verbs/people/bands.ts";
import { layOutPeople } from "../../src/verbs/people/people-columns.ts";
import { predictPeople } from "../../src/verbs/people/predict-people.ts";
import { gridOf, predict } from "../../src/verbs/predict.ts";
import { patientEncoder, patientModel, readPatients } from "../files/onnx-models.ts";

const backend = createReferenceBackend();
const Z = 1.959963984540054;
/** Student's t on one degree of freedom, 97.5 %: tan(.475 π). */
const T1 = Math.tan(0.475 * Math.PI);

let table: Table;
let model: Model;

beforeAll(async () => {
  const random = createRandom(7);
  const rows = 300;
  const column = (name: string, read: (row: number) => number) => ({
    name,
    type: "number" as const,
    values: Float64Array.from({ length: rows }, (_, row) => read(row)),
  });
  const x = column("x", () => random.normal());
  const old = column("old", () => Number(random.uniform() < 0.4));
  const time = column(
    "time",
    (row) => -Math.log(1 - random.uniform()) * 8 * Math.exp(-0.5 * x.values[row] - 0.5 * old.values[row]),
  );
  const event = column("event", () => Number(random.uniform() < 0.7));
  table = { name: "people", rows, columns: [time, event, x, old] };
  model = await trainModel(
    table,
    {
      time: "time",
      event: "event",
      bins: 12,
      network: "linear",
      groups: [{ name: "old", expression: "old = 1" }],
      options: { steps: 2 },
    },
    backend,
  );
});

const cloglog = (S: number) => Math.log(-Math.log(S));

describe("bands of a model with a held layer", () => {
  test("are z·√(error² + what the form misses²) wide on the scale of log Λ, and widen with the level", async () => {
    const { curves, bands } = await predictPeople(model, table, backend, { bands: 0.95 });
    const { posterior } = await prepareErrors(model, backend)(table, curves);
    if (bands === null || posterior === null) throw new Error("expected bands");
    const missed = missedByForm(curves);
    let exact = 0;
    curves.survival.forEach((S, k) => {
      expect(bands.lower[k] <= S && S <= bands.upper[k]).toBe(true);
      const half = Z * Math.hypot(posterior[k], missed[k]);
      // Where a band was made to fall it is wider than that.
      const [below, above] = [cloglog(bands.lower[k]) - cloglog(S), cloglog(S) - cloglog(bands.upper[k])];
      expect(Math.min(below, above)).toBeGreaterThan(half - 1e-9);
      if (Math.max(below, above) < half + 1e-9) exact++;
    });
    expect(exact / curves.survival.length).toBeGreaterThan(0.9);
    const narrow = (await predictPeople(model, table, backend, { bands: 0.5 })).bands;
    expect(narrow?.lower.every((S, k) => S > bands.lower[k])).toBe(true);
    const { T } = curves;
    for (const side of [bands.lower, bands.upper])
      expect(side.every((S, k) => k % T === 0 || S <= side[k - 1])).toBe(true);
  });

  test("are read off as curves are, and their columns come last", async () => {
    const request = { at: [1, 4], quantiles: [0.25], rmst: 5, bands: 0.9 };
    const { columns } = layOutPeople(request, { curves: 1 });
    const names = columns.map(({ name }) => name);
    const sides = (side: string) =>
      ["S1", "median", "risk_1", "risk_4", "time_q25", "rmst_5"].map((n) => `${n}_${side}`);
    expect(names.slice(names.indexOf("unknown_levels") + 1)).toEqual([...sides("lower"), ...sides("upper")]);
    const part = { ...(await predictPeople(model, table, backend, request)), firstRow: 0 };
    const cell = (name: string, i: number) => columns[names.indexOf(name)].cell(part, i, 0);
    for (let i = 0; i < 20; i++) {
      for (const name of ["risk_1", "risk_4", "rmst_5", "S1"]) {
        const [low, own, high] = [cell(`${name}_lower`, i), cell(name, i), cell(`${name}_upper`, i)].map(
          Number,
        );
        expect(low < own && own < high, `${name} of person ${i}`).toBe(true);
      }
      const [early, late] = [part.bands?.ofLower.quantile[i], part.bands?.ofUpper.quantile[i]];
      if (isAbsent(early) || isAbsent(late) || early === undefined || late === undefined) continue;
      expect(early).toBeLessThan(late);
    }
    const long = layOutPeople({ at: [1, 4], bands: 0.9 }, { long: true }).columns.map(({ name }) => name);
    expect(long.slice(-2)).toEqual(["survival_lower", "survival_upper"]);
  });

  test("a file keeps them to the bit, and one without them is refused by name", async () => {
    const bytes = modelToBytes(model);
    const read = modelFromBytes(bytes, "m");
    expect(read).toEqual(model);
    expect(Buffer.compare(modelToBytes(read), bytes)).toBe(0);
    const { uncertainty: _, ...without } = model;
    expect(modelFromBytes(modelToBytes(without), "m")).toEqual(without);
    await expect(predictPeople(without, table, backend, { bands: 0.95 })).rejects.toMatchObject({
      code: "bands.unknown",
      message: expect.stringContaining("does not say how uncertain it is"),
    });
    if (model.uncertainty?.kind !== "layer") throw new Error("expected a layer");
    const { uncertainty } = model;
    const wrong = (change: object) => () =>
      modelToBytes({ ...model, uncertainty: { ...uncertainty, ...change } });
    expect(wrong({ border: uncertainty.border.slice(1) })).toThrow(/uncertainty.border/);
    expect(wrong({ dense: uncertainty.dense + 1 })).toThrow(/columns that are not the model's/);
    expect(wrong({ bins: uncertainty.bins.map(() => 1) })).toThrow(/bins that do not follow its blocks/);
    expect(wrong({ border: uncertainty.border.map(() => Number.NaN) })).toThrow(/not finite/);
  });
});

describe("what the form misses", () => {
  const { level, slope } = MISSED_BY_FORM;
  const fall = (cumulative: readonly number[]) => Float64Array.from(cumulative, (one) => Math.exp(-one));

  test("is one amount from Λ = 1 on, and a slope more for each unit that log Λ lies below 0", () => {
    const missed = missedByForm({ survival: fall([Math.exp(-3), Math.exp(-0.5), 1, 4]) });
    [3, 0.5, 0, 0].forEach((below, k) => {
      expect(missed[k]).toBeCloseTo(level + below * slope, 12);
    });
  });

  test("falls along every curve, is the same on a finer grid, and is finite where a curve has no logarithm", () => {
    const coarse = missedByForm({ survival: fall([0.2, 0.4, 0.6]) });
    const fine = missedByForm({ survival: fall([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) });
    coarse.forEach((own, k) => {
      expect(fine[2 * k + 1]).toBe(own);
    });
    expect(fine.every((own, k) => k === 0 || own < fine[k - 1])).toBe(true);
    expect(Array.from(missedByForm({ survival: Float64Array.of(1, 0) }))).toEqual([level, level]);
  });
});

describe("bands of other models", () => {
  test("an ensemble's are those of a jackknife of its runs; one network has none; a level must be one", async () => {
    const patients = await readPatients();
    const encoder = patientEncoder(patients);
    const mean = patientModel(encoder, "mean");
    const { curves, bands } = await predictPeople(mean, patients, backend, { bands: 0.95 });
    if (bands === null || mean.predictor.kind !== "network" || mean.predictor.network.kind !== "mean")
      throw new Error("expected bands of a mean");
    const { parameters, network } = mean.predictor;
    const members = await Promise.all(
      network.members.map((member, m) => {
        const own = Object.entries(parameters).flatMap(([name, values]) =>
          name.startsWith(`${m + 1}.`) ? [[name.slice(2), values] as const] : [],
        );
        const predictor = { kind: "network", network: member, parameters: Object.fromEntries(own) } as const;
        return predict({ ...mean, predictor }, patients, backend);
      }),
    );
    const [one, other] = members.map(({ curves: { survival } }) => cloglog(survival[0]));
    const { level, slope } = MISSED_BY_FORM;
    const missed = level + slope * Math.max(0, -cloglog(curves.survival[0]));
    // Of two, the standard deviation is |difference|/√2, and the jackknife takes 1/√2 of it.
    const half = Math.hypot((T1 * Math.abs(one - other)) / 2, Z * missed);
    expect(cloglog(bands.lower[0]) - cloglog(curves.survival[0])).toBeCloseTo(half, 6);
    const single = patientModel(encoder, "mlp");
    await expect(predictPeople(single, patients, backend, { bands: 0.95 })).rejects.toMatchObject({
      code: "bands.unknown",
      hint: expect.stringContaining("--ensemble 5"),
    });
    // Of an earlier version's file: the runs below the layer are not what the layer made of them.
    const held = patientModel(encoder, "held mean");
    await expect(predictPeople(held, patients, backend, { bands: 0.95 })).rejects.toMatchObject({
      code: "bands.unknown",
      hint: expect.stringContaining("train it again"),
    });
    await expect(predictPeople(mean, patients, backend, { bands: 1 })).rejects.toMatchObject({
      code: "level.invalid",
    });
  });

  test("Cox's are R's on the scale of log Λ, without a constant", async () => {
    const cox = await trainModel(table, { time: "time", event: "event", method: "cox", bins: 12 });
    const { curves, bands } = await predictPeople(cox, table, null, { bands: 0.95 });
    const { posterior } = await prepareErrors(cox, null)(table, curves);
    if (bands === null || posterior === null) throw new Error("expected bands");
    const k = gridOf(cox).T - 1;
    expect(cloglog(bands.lower[k]) - cloglog(curves.survival[k])).toBeCloseTo(Z * posterior[k], 9);
    expect(modelFromBytes(modelToBytes(cox), "m")).toEqual(cox);
  });
});
