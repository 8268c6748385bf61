// Fine and Gray's model against R's finegray + coxph and cmprsk::crr; incidences of cause-specific models against
// riskRegression::CSC.
import { describe, expect, test } from "vitest";
import { causeSpecificIncidence } from "../../src/models/cox/cause-specific.ts";
import { cumulativeHazardAtZero, fitCox } from "../../src/models/cox/cox.ts";
import { fitSubdistribution, subdistributionIncidence } from "../../src/models/cox/subdistribution.ts";
import { historyTables, causeOracle as oracle } from "../stats/history-oracles.ts";

const { mgus2 } = historyTables;
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

  test("refuses late entry by name", () => {
    const late = { ...input, entry: input.time.map(() => 0) };
    expect(() => fitSubdistribution(late, { of: 1 })).toThrow(
      "Fine and Gray's model does not take late entry yet",
    );
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
