// Explanations of one of several causes: against Shapley values written out over all subsets, sums over columns, the
// prediction by cause, and which cause is meant.
import { describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { isAbsent } from "../../src/core/measured.ts";
import { fitEncoder } from "../../src/data/encode/fit-encoder.ts";
import { type Column, selectRows, type Table } from "../../src/data/table.ts";
import type { Model } from "../../src/training/model.ts";
import { explainPerson } from "../../src/verbs/people/explain.ts";
import { explainDocument } from "../../src/verbs/people/explain-document.ts";
import { type Breakdown, chooseCause } from "../../src/verbs/people/explained-quantities.ts";
import { predictPeople } from "../../src/verbs/people/predict-people.ts";
import { type PatientKind, patientModel } from "../files/onnx-models.ts";
import { drawPeople } from "../simulated-people.ts";

const backend = createReferenceBackend();
const people: Table = drawPeople(30, 3, null).table;
const FEATURES = ["sex", "age", "lab"];
const CAUSES = ["relapse", "death", "other"];
const background = [1, 4, 7, 11, 20];
const AT = [6, 10];

function modelOf(kind: PatientKind): Model {
  return patientModel(fitEncoder(people, { features: FEATURES }), kind, [], CAUSES);
}

const sumOf = ({ baseline, contributions }: Breakdown) =>
  contributions.reduce((sum, value) => sum + value, baseline);

/** Rows of the background with the person's cells in the named columns, one table for each subset. */
function compose(own: number, named: readonly string[]): Table {
  const mine = selectRows(
    people,
    background.map(() => own),
  ).columns;
  const theirs = selectRows(people, background).columns;
  const columns = theirs.map((column, c): Column => (named.includes(column.name) ? mine[c] : column));
  return { name: "composed", rows: background.length, columns };
}

/** φ of each column for cause k by its definition. */
async function bruteForce(model: Model, own: number, k: number, time: number) {
  const d = FEATURES.length;
  const subsets = Array.from({ length: 2 ** d }, (_, S) => FEATURES.filter((_, j) => (S >> j) % 2 === 1));
  const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));
  const risks: number[][] = [];
  for (const named of subsets) {
    const { causes } = await predictPeople(model, compose(own, named), backend, { at: [time] });
    risks.push(background.map((_, b) => causes?.risk[b * CAUSES.length + k] ?? Number.NaN));
  }
  const solve = (quantity: (F: number) => number) => {
    const v = risks.map((all) => all.reduce((sum, F) => sum + quantity(F) / background.length, 0));
    return FEATURES.map((_, j) =>
      subsets.reduce((sum, named, S) => {
        if ((S >> j) % 2 === 1) return sum;
        const share = (factorial(named.length) * factorial(d - named.length - 1)) / factorial(d);
        return sum + share * (v[S + 2 ** j] - v[S]);
      }, 0),
    );
  };
  return { risk: solve((F) => F), logHazard: solve((F) => Math.log(-Math.log(1 - F))) };
}

describe("each cause against all subsets of three columns", () => {
  test.each(["mlp", "held mean"] as const)("%s", async (kind) => {
    const model = modelOf(kind);
    const explained = await explainPerson(model, people, backend, 9, { at: AT, background });
    expect(explained.byCause?.all.map(({ name }) => name)).toEqual(CAUSES);
    for (const [k, cause] of (explained.byCause?.all ?? []).entries()) {
      for (const { time, risk, logHazard } of cause.times) {
        const truth = await bruteForce(model, 9, k, time);
        if (isAbsent(logHazard)) throw new Error(logHazard.absent);
        for (const [found, wanted] of [
          [risk, truth.risk],
          [logHazard, truth.logHazard],
        ] as const) {
          found.contributions.forEach((value, j) => {
            expect(value).toBeCloseTo(wanted[j], 10);
          });
        }
      }
    }
  });
});

test.each(["linear", "anchored", "drsa", "mean", "held", "held blind"] as const)(
  "%s: contributions and the mean add up to the prediction of the cause",
  async (kind) => {
    const model = modelOf(kind);
    const explained = await explainPerson(model, people, backend, 2, { at: AT, background, cause: "death" });
    const { causes, survival, curves } = await predictPeople(model, people, backend, { at: AT }, [2]);
    expect(explained.byCause?.cause).toBe("death");
    expect(explained.times).toEqual(explained.byCause?.all[1].times);
    for (const [k, one] of (explained.byCause?.all ?? []).entries()) {
      for (const [t, { risk, logHazard, survival: left }] of one.times.entries()) {
        const F = causes?.risk[k * AT.length + t] ?? Number.NaN;
        if (isAbsent(logHazard)) throw new Error(logHazard.absent);
        expect(Math.abs(sumOf(risk) - F)).toBeLessThan(1e-9);
        expect(Math.abs(sumOf(logHazard) - Math.log(-Math.log(1 - F)))).toBeLessThan(1e-9);
        expect(Math.abs(left - survival[t])).toBeLessThan(1e-12);
      }
      const own = causes?.incidence.subarray(k * curves.T, (k + 1) * curves.T) ?? [];
      one.incidence.forEach((F, t) => {
        expect(Math.abs(F - own[t])).toBeLessThan(1e-12);
      });
    }
    explained.survival.forEach((S, t) => {
      expect(Math.abs(S - curves.survival[t])).toBeLessThan(1e-12);
    });
  },
);

test("the first cause unless one is named; an unknown one is refused with the names there are", async () => {
  const model = modelOf("linear");
  expect(chooseCause(model, undefined)).toBe(0);
  expect(chooseCause(model, "other")).toBe(2);
  expect(() => chooseCause(model, "cancer")).toThrow('no such cause in the model: "cancer"');
  expect(() => chooseCause(model, "cancer")).toThrow(
    expect.objectContaining({ hint: "it has relapse, death, other" }),
  );
  const single = patientModel(fitEncoder(people, { features: FEATURES }), "linear");
  expect(chooseCause(single, undefined)).toBeNull();
  expect(() => chooseCause(single, "death")).toThrow("the model tells no causes apart");
  await expect(
    explainPerson(model, people, backend, 0, { at: AT, background, cause: "cancer" }),
  ).rejects.toThrow("no such cause");
  const alone = await explainPerson(single, people, backend, 0, { at: AT, background });
  expect(alone.byCause).toBeNull();
  const document = explainDocument(alone, { id: null, warnings: [] });
  expect(Object.keys(document)).not.toContain("causes");
  expect(Object.keys(document)).not.toContain("cause");
});
