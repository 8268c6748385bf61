// Differences between methods: p-values and intervals by hand, Student's quantiles against R's qt, and methods that
// are the same.
import { describe, expect, test } from "vitest";
import { resolveGroups } from "../../src/data/groups/groups.ts";
import { bootstrapScores, bootstrapWeights, type GroupBootstrap } from "../../src/stats/scores/bootstrap.ts";
import { SCORE_FIELDS, SCORE_POSITION } from "../../src/stats/scores/evaluate-scores.ts";
import { prepareScores } from "../../src/stats/scores/prepared-scores.ts";
import { scoreCurves } from "../../src/stats/scores/scores.ts";
import { audit } from "../../src/verbs/audit.ts";
import {
  COMPARED_SCORES,
  compareResampled,
  compareSplits,
  judgedGroups,
  type MethodScores,
  readScores,
  studentQuantile,
} from "../../src/verbs/comparison/differences.ts";
import { drawPeople } from "../simulated-people.ts";

const SCORES: MethodScores = {
  concordance: 0.7,
  ece: 0.02,
  groupEce: 0.03,
  worstEce: 0.05,
  ibs: 0.1,
  worstGroup: "b",
  judged: 2,
};

/** Replicates in which concordance and ibs are what is given; nothing else is looked at. */
function drawn(values: readonly number[], field: "concordance" | "ece"): GroupBootstrap {
  const K = SCORE_FIELDS.length;
  const filled = new Float64Array(values.length * K).fill(Number.NaN);
  values.forEach((value, r) => {
    filled[r * K + SCORE_POSITION[field]] = value;
  });
  const options = { replicates: values.length, seed: 1, level: 0.95 };
  return {
    name: "",
    options,
    N: 1,
    values: filled,
    estimate: new Float64Array(K),
  } as unknown as GroupBootstrap;
}

describe("one split", () => {
  test("p is twice the smaller share beyond 0, the estimate counted in: 2·(1 + 1)/(9 + 1)", () => {
    const first = drawn([0, 0, 0, 0, 0, 0, 0, 0, 0], "concordance");
    const other = drawn([-0.01, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08], "concordance");
    const [C, ece] = compareResampled([
      { method: "a", scores: SCORES, bootstrap: [first] },
      { method: "b", scores: { ...SCORES, concordance: 0.74 }, bootstrap: [other] },
    ]);
    expect(C).toMatchObject({ method: "b", against: "a", score: "concordance", absent: null });
    expect(C.estimate).toBeCloseTo(0.04, 14);
    expect(C.p).toBeCloseTo(0.4, 14);
    // R's type 7 at 0.025 and 0.975 of nine values: 0.2 of the way into the outer gaps.
    expect(C.lower).toBeCloseTo(-0.01 + 0.2 * 0.02, 14);
    expect(C.upper).toBeCloseTo(0.08 - 0.2 * 0.01, 14);
    expect(C.adjustedP).toBeCloseTo(0.4, 14);
    expect(ece).toMatchObject({
      estimate: null,
      p: null,
      adjustedP: null,
      absent: "undefined in 9 of 9 resamples",
    });
  });

  test("groups: their mean and their worst, in every resample of its own", () => {
    const groupsOf = (one: readonly number[], two: readonly number[]) => [
      drawn([0, 0, 0], "ece"),
      drawn(one, "ece"),
      drawn(two, "ece"),
    ];
    const differences = compareResampled([
      { method: "a", scores: SCORES, bootstrap: groupsOf([0.1, 0.1, 0.1], [0.2, 0.2, 0.2]) },
      { method: "b", scores: SCORES, bootstrap: groupsOf([0.3, 0.1, 0.1], [0.1, 0.1, 0.2]) },
    ]);
    const find = (score: string) => differences.find((one) => one.score === score);
    // means: 0.05, −0.05, 0; worst: 0.1, −0.1, 0.
    expect(find("groupEce")?.lower).toBeCloseTo(-0.05 + 0.05 * 0.05, 12);
    expect(find("groupEce")?.upper).toBeCloseTo(0.05 - 0.05 * 0.05, 12);
    expect(find("worstEce")?.upper).toBeCloseTo(0.1 - 0.05 * 0.1, 12);
    expect(find("worstEce")?.p).toBe(1);
  });

  test("real scores: a resample is the scores of its rows; a method against itself differs in nothing", () => {
    const { table, curves, outcomes } = drawPeople(300, 1, null);
    const groups = resolveGroups([{ name: "F", expression: "sex = F" }], table);
    const flat = { ...curves, survival: curves.survival.map((S) => S ** 1.3) };
    const everyone = Int32Array.from({ length: 300 }, (_, row) => row);
    const resample = (of: typeof curves) => {
      const prepared = [{ name: "all", rows: everyone }, ...groups].map(({ name, rows }) =>
        prepareScores(name, of, outcomes, rows),
      );
      const steps = bootstrapScores(prepared, { replicates: 20, seed: 3 });
      for (;;) {
        const step = steps.next();
        if (step.done) return step.value;
      }
    };
    const method = (name: string, of: typeof curves) => ({
      method: name,
      scores: {
        ...SCORES,
        ibs: scoreCurves("all", of, outcomes).ibs,
        worstEce: scoreCurves("F", of, outcomes, groups[0].rows).ece,
      },
      bootstrap: resample(of),
    });
    const same = compareResampled([method("a", curves), method("b", curves)]);
    expect(same.map(({ estimate, lower, upper, p }) => [estimate, lower, upper, p])).toEqual(
      COMPARED_SCORES.map(() => [0, 0, 0, 1]),
    );
    const differences = compareResampled([method("a", curves), method("b", flat)]);
    // The slow way: rows repeated as they were drawn.
    const slow = Float64Array.from({ length: 20 }, (_, r) => {
      const rows = Array.from(bootstrapWeights(300, 3, r)).flatMap((count, row) => Array(count).fill(row));
      return (
        (scoreCurves("", flat, outcomes, rows).ibs ?? 0) - (scoreCurves("", curves, outcomes, rows).ibs ?? 0)
      );
    }).sort();
    const ibs = differences.find(({ score }) => score === "ibs");
    expect(ibs?.lower).toBeCloseTo(slow[0] + 0.475 * (slow[1] - slow[0]), 12);
    expect(ibs?.upper).toBeCloseTo(slow[18] + 0.525 * (slow[19] - slow[18]), 12);
  });

  test("a method that failed has no differences, and the others do not pay for it", () => {
    const bootstrap = [drawn([0.1, 0.2, 0.3], "concordance")];
    const differences = compareResampled([
      { method: "a", scores: SCORES, bootstrap },
      { method: "b", scores: null, bootstrap: null },
      { method: "c", scores: SCORES, bootstrap },
    ]);
    expect(differences.slice(0, 5).every(({ absent, p }) => absent !== null && p === null)).toBe(true);
    expect(differences[5]).toMatchObject({ method: "c", estimate: 0, p: 1, adjustedP: 1 });
  });
});

describe("several splits", () => {
  test("the corrected resampled t with its interval", () => {
    // differences 0.01, 0.02, 0.03: mean 0.02, s² 1e-4, standard error √(1e-4·(1/3 + 1/3)).
    const withC = (values: readonly number[]) => values.map((concordance) => ({ ...SCORES, concordance }));
    const [C, ece] = compareSplits(
      [
        { method: "a", scores: withC([0.7, 0.71, 0.72]) },
        { method: "b", scores: withC([0.71, 0.73, 0.75]) },
      ],
      { testSize: 20, trainSize: 60 },
    );
    const error = Math.sqrt(1e-4 * (2 / 3));
    expect(C.estimate).toBeCloseTo(0.02, 12);
    expect((C.upper ?? 0) - (C.estimate ?? 0)).toBeCloseTo(4.302652729749462 * error, 10);
    // R: 2*pt(-0.02/sqrt(2e-4/3), 2)
    expect(C.p).toBeCloseTo(1 - Math.sqrt(6 / 8), 10);
    expect(ece).toMatchObject({ estimate: 0, lower: 0, upper: 0, p: 1 });
  });

  test("a run that failed leaves its method without a test", () => {
    const methods = [
      { method: "a", scores: [SCORES, SCORES] },
      { method: "b", scores: [SCORES, null] },
    ];
    const [C] = compareSplits(methods, { testSize: 1, trainSize: 3 });
    expect(C).toMatchObject({ estimate: null, p: null, absent: "a paired score is missing" });
    const uneven = [methods[0], { method: "b", scores: [SCORES] }];
    expect(() => compareSplits(uneven, { testSize: 1, trainSize: 3 })).toThrow("not run on the same splits");
  });

  test.each([
    [0.95, 1, 12.706204736174694],
    [0.95, 2, 4.302652729749462],
    [0.95, 4, 2.7764451051977934],
    [0.9, 30, 1.6972608865939569],
  ])("Student's quantile at %f with %i degrees of freedom, as R's qt", (level, df, expected) => {
    expect(studentQuantile(level, df)).toBeCloseTo(expected, 8);
  });
});

test("scores of an audit: groups with few events are not judged", async () => {
  const { table, curves, outcomes } = drawPeople(400, 2, null);
  const groups = resolveGroups(
    ["sex = F", "sex = M", "age >= 90"].map((expression) => ({ name: expression, expression })),
    table,
  );
  const table_ = await audit({ curves, outcomes, groups }, { draws: 0 });
  expect(judgedGroups(table_, curves.T)).toEqual(["sex = F", "sex = M"]);
  const scores = readScores(table_, curves.T);
  const [F, M] = table_.groups.map(({ ece }) => ece ?? Number.NaN);
  expect(scores.groupEce).toBeCloseTo((F + M) / 2, 14);
  expect(scores.worstEce).toBe(Math.max(F, M));
  expect(scores.worstGroup).toBe(F > M ? "sex = F" : "sex = M");
  expect(scores.concordance).toBe(table_.overall.concordance);
});
