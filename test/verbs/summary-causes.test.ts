// The summary of a model of several causes: ratios of cause-specific cumulative hazards against quotients of predicted
// incidences, offsets and verdicts by cause, and the document.
import { expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { isAbsent, type Measured } from "../../src/core/measured.ts";
import { fitEncoder } from "../../src/data/encode/fit-encoder.ts";
import { addGroupColumns, groupColumnName } from "../../src/data/groups/groups.ts";
import type { Column, Table } from "../../src/data/table.ts";
import type { Model } from "../../src/training/model.ts";
import type { GroupVerdict } from "../../src/training/solve/verdict.ts";
import { predictPeople } from "../../src/verbs/people/predict-people.ts";
import { summariseModel } from "../../src/verbs/summary/summary.ts";
import { summaryDocument } from "../../src/verbs/summary/summary-document.ts";
import { type PatientKind, patientModel } from "../files/onnx-models.ts";
import { drawPeople } from "../simulated-people.ts";

const backend = createReferenceBackend();
const people = drawPeople(200, 5, null).table;
const CAUSES = ["relapse", "death"];
const GROUPS = [{ name: "northern", expression: "site = north" }];

function modelOf(kind: PatientKind): Model {
  const features = ["age", "lab", ...GROUPS.map(groupColumnName)];
  const encoder = fitEncoder(addGroupColumns(people, GROUPS), { features });
  return { ...patientModel(encoder, kind, GROUPS, CAUSES), groups: GROUPS };
}

const known = (value: Measured): number => {
  if (isAbsent(value)) throw new Error(value.absent);
  return value;
};

const number = (name: string, values: readonly number[]): Column => ({
  name,
  type: "number",
  values: Float64Array.from(values),
});

/** log Σ −log(1 − h_k) of rows [age, lab, is northern], with h_k the incidence of a bin among those still free. */
async function logHazards(model: Model, rows: readonly (readonly number[])[], k: number): Promise<number[]> {
  const site: Column = {
    name: "site",
    type: "category",
    levels: ["north", "south"],
    codes: Int32Array.from(rows, ([, , isNorthern]) => (isNorthern === 1 ? 0 : 1)),
  };
  const columns = [
    number(
      "age",
      rows.map(([age]) => age),
    ),
    number(
      "lab",
      rows.map(([, lab]) => lab),
    ),
    site,
  ];
  const table: Table = { name: "rows", rows: rows.length, columns };
  const { causes, curves } = await predictPeople(model, table, backend, {});
  const { T } = curves;
  const F = (i: number, t: number) => (t < 0 ? 0 : (causes?.incidence[(i * CAUSES.length + k) * T + t] ?? 0));
  const S = (i: number, t: number) => (t < 0 ? 1 : curves.survival[i * T + t]);
  return rows.map((_, i) => {
    let sum = 0;
    for (let t = 0; t < T; t++) sum -= Math.log(1 - (F(i, t) - F(i, t - 1)) / S(i, t - 1));
    return Math.log(sum);
  });
}

test.each(["linear", "held mean", "mlp"] as const)("%s: each cause has its own ratios", async (kind) => {
  const model = modelOf(kind);
  const { causes } = await summariseModel(model, backend);
  expect(causes?.map(({ name }) => name)).toEqual(CAUSES);
  const medians = model.encoder.columns.flatMap((one) => (one.type === "number" ? [one.median] : []));
  const ratios = new Set<number>();
  for (const [k, { effects, groups }] of (causes ?? []).entries()) {
    for (const [c, name] of ["age", "lab"].entries()) {
      const [contrast] = effects.find((one) => one.name === name)?.contrasts ?? [];
      const rowOf = (cell: string) => medians.map((median, d) => (d === c ? Number(cell) : median));
      const [from, to] = await logHazards(model, [rowOf(contrast.from), rowOf(contrast.to)], k);
      expect(Math.log(known(contrast.hazardRatio))).toBeCloseTo(to - from, 8);
      expect(contrast.interval).toEqual({ absent: "the model file keeps no uncertainty of several causes" });
      ratios.add(known(contrast.hazardRatio));
    }
    if (kind === "mlp") continue;
    const [outside, inside] = await logHazards(model, [medians, [...medians, 1]], k);
    expect(Math.log(known(groups[0].offset))).toBeCloseTo(inside - outside, 8);
  }
  expect(ratios.size).toBe(4);
});

test("verdicts are those of group and cause, and events of everyone are summed", async () => {
  const verdict = (group: string, events: number, price: number): GroupVerdict => ({
    group,
    told: true,
    n: 90,
    events,
    slack: 1,
    distance: { solve: 0.5, fresh: null },
    fresh: null,
    status: "met",
    reachable: null,
    price,
    reason: null,
  });
  const model = modelOf("linear");
  const held: Model = {
    ...model,
    training: {
      ...model.training,
      verdict: [
        verdict("all: relapse", 12, 0),
        verdict("all: death", 30, 0),
        verdict("northern: relapse", 5, 0.25),
        verdict("northern: death", 9, 1.5),
      ],
    },
  };
  const summary = await summariseModel(held, backend);
  expect(summary.trainedOn.events).toBe(42);
  expect(summary.groups[0].verdict).toBeNull();
  expect(summary.causes?.map(({ groups }) => groups[0].verdict)).toEqual([
    { n: 90, events: 5, told: true, status: "met", price: 0.25 },
    { n: 90, events: 9, told: true, status: "met", price: 1.5 },
  ]);
  const document = JSON.parse(JSON.stringify(summaryDocument(summary)));
  expect(document.causes.map((one: { readonly name: string }) => one.name)).toEqual(CAUSES);
  expect(document.causes[1].effects[0].contrasts[0]).toMatchObject({ lower: null, upper: null });
});

test("a model of one kind of event has no part by cause", async () => {
  const encoder = fitEncoder(people, { features: ["age"] });
  const summary = await summariseModel(patientModel(encoder, "linear"), backend);
  expect(summary.causes).toBeNull();
  expect(Object.keys(summaryDocument(summary))).not.toContain("causes");
});
