// Fine and Gray's model against R's finegray + coxph and cmprsk::crr; incidences of cause-specific models against
// riskRegression::CSC.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { causeSpecificIncidence } from "../../src/models/cox/cause-specific.ts";
import { cumulativeHazardAtZero, fitCox } from "../../src/models/cox/cox.ts";
import { fitSubdistribution, subdistributionIncidence } from "../../src/models/cox/subdistribution.ts";
import { historyTables, causeOracle as oracle } from "../stats/history-oracles.ts";

const { mgus2 } = historyTables;
type FineGrayOracle = Readonly<Record<"coef" | "se" | "robust" | "loglik" | "times", readonly number[]>> & {
  readonly incidence: readonly (readonly number[])[];
};
const fineGray: Readonly<Record<string, FineGrayOracle>> = JSON.parse(
  readFileSync(new URL("../oracles/history/fine-gray.json", import.meta.url), "utf8"),
);
const cause = mgus2.text("event").map((text) => ["pcm", "death"].indexOf(text) + 1);
const event = cause.map((one) => Math.min(one, 1));
const columns = [
  mgus2.text("sex").map((sex) => (sex === "M" ? 1 : 0)),
  mgus2.number("hgb"),
  mgus2.number("creat"),
];
const x = cause.flatMap((_, row) => columns.map((column) => column[row]));
const input = { time: mgus2.number("months"), event, cause, x, D: 3, id: mgus2.number("id") };
const near = (actual: ArrayLike<number>, expected: readonly number[], digits: number) => {
  for (const [k, one] of expected.entries()) expect(actual[k] / one, String(k)).toBeCloseTo(1, digits);
};

describe("fitSubdistribution", () => {
  const cases = (["pcm", "death"] as const).flatMap((name) =>
    (["efron", "breslow"] as const).map((ties) => [name, ties] as const),
  );
  test.each(cases)("%s, %s, as finegray and coxph", (name, ties) => {
    const expected = oracle.fine[name][ties];
    const { model, robust } = fitSubdistribution(input, { of: name === "pcm" ? 1 : 2, ties });
    near(model.coefficients, expected.coef, 10);
    near(model.standardErrors, expected.se, 10);
    near(robust.standardErrors, expected.robust, 10);
    near([model.logLikelihoodNull, model.logLikelihood], expected.loglik, 10);
    const at = expected.hazard_time.flatMap((time, k) => (model.baseline.time.includes(time) ? [k] : []));
    near(
      cumulativeHazardAtZero(model),
      at.map((k) => expected.hazard[k]),
      10,
    );
  });

  test("without ties it is crr, predictions included", () => {
    const { time, coef, predicted_time, predicted } = oracle.fine.crr;
    const { model } = fitSubdistribution({ ...input, time }, { of: 1 });
    near(model.coefficients, coef, 8);
    near(subdistributionIncidence(model, [1, 13, 1], predicted_time), predicted, 10);
  });

  describe("under late entry and for weighted people, as finegray and coxph", () => {
    const weight = mgus2.number("weight");
    const ages = { entry: mgus2.number("ageMonths"), time: mgus2.number("exitMonths") };
    const from = ages.entry.map((one) => Math.floor(one / 12));
    const to = ages.time.map((one, k) =>
      Math.ceil(one / 12) === from[k] ? from[k] + 0.5 : Math.ceil(one / 12),
    );
    const late = input.time.map((time, k) => {
      const entry = input.id[k] % 3 === 0 ? 0 : Math.min(Math.floor(time / 5), 7);
      return entry >= time ? 0 : entry;
    });
    const cases = [
      ["late", { entry: late }, 1, "efron"],
      ["age", ages, 1, "efron"],
      ["tied", { entry: from, time: to }, 2, "breslow"],
      ["weights", { weight }, 2, "efron"],
      ["both", { entry: from, time: to, weight }, 1, "efron"],
    ] as const;
    test.each(cases)("%s", (name, more, of, ties) => {
      const expected = fineGray[name];
      const { model, robust } = fitSubdistribution({ ...input, ...more }, { of, ties });
      near(model.coefficients, expected.coef, 10);
      near(model.standardErrors, expected.se, 10);
      near(robust.standardErrors, expected.robust, 10);
      near([model.logLikelihoodNull, model.logLikelihood], expected.loglik, 10);
      const predicted = subdistributionIncidence(model, [0, 12, 1, 1, 14, 1.5], expected.times);
      near(predicted, expected.incidence.flat(), 10);
    });
  });

  test("a gap in which nobody is under observation is refused: weights across it are not defined", () => {
    // Everyone who came at 0 has left by 2; the others come at 3.
    const gap = { time: [1, 2, 5, 6], event: [1, 1, 1, 0], cause: [2, 1, 1, 0], entry: [0, 0, 3, 3] };
    expect(() => fitSubdistribution({ ...gap, x: [0, 1, 0, 1], D: 1 }, { of: 1 })).toThrow(
      expect.objectContaining({ code: "cox.weights", where: "row 1" }),
    );
    // Where they come at 1.5 they overlap, and the weights are.
    const overlap = { ...gap, entry: [0, 0, 1.5, 1.5], x: [0, 1, 0, 1], D: 1 };
    expect(fitSubdistribution(overlap, { of: 1 }).model.events).toBe(2);
  });

  test("rows that fall one at a time by the definition", () => {
    // A competing event at 1; censored at 2 with two of three left; one of the three seen after 2.5 enters then.
    const time = [1, 2, 4, 5, 6];
    const rows = { time, event: [1, 0, 1, 0, 1], cause: [2, 0, 1, 0, 1], entry: [0, 0, 0, 2.5, 0] };
    const x = [1, 0, 1, 0, 0];
    const { model } = fitSubdistribution({ ...rows, x, D: 1 }, { of: 1, ties: "breslow" });
    // G: at 2 three are at risk, one is lost: 2/3; at 5 of two one: 1/3. H: 2/3 before 2.5, when one of three enters.
    const stays = { four: 2 / 3 / (2 / 3), six: 1 / 3 / (2 / 3) };
    const likelihood = (b: number) => {
      const r = Math.exp(b);
      return b - Math.log(stays.four * r + r + 1 + 1) - Math.log(stays.six * r + 1);
    };
    const [b] = model.coefficients;
    expect(model.logLikelihood).toBeCloseTo(likelihood(b), 12);
    expect(likelihood(b)).toBeGreaterThan(Math.max(likelihood(b - 1e-3), likelihood(b + 1e-3)));
  });
});

describe("causeSpecificIncidence", () => {
  const { cause: _, ...plain } = input;
  const models = [1, 2].map((k) => fitCox({ ...plain, event: cause.map((c) => (c === k ? 1 : 0)) }));
  test("as CSC predicts", () => {
    const { times, pcm, death, coef } = oracle.specific;
    near(models[0].coefficients, coef["Cause 1"], 7);
    const people = [0, 12, 1, 1, 14, 1.5];
    const [first, second] = causeSpecificIncidence(models, people, times);
    near(first, pcm.flat(), 10);
    near(second, death.flat(), 10);
  });

  test("incidences and the survival that is left make 1", () => {
    const { baseline } = models[0];
    const both = causeSpecificIncidence(models, x, [baseline.time[baseline.time.length - 1]]);
    for (let i = 0; i < cause.length; i++) expect(both[0][i] + both[1][i]).toBeLessThanOrEqual(1 + 1e-12);
  });
});
