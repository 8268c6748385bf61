// Methods of several causes: cause-specific Cox against riskRegression::CSC, the start, a method against itself,
// differences over splits by hand, late entries, and what is refused by name.
import { readFileSync } from "node:fs";
import { expect, describe, test } from "vitest";
import { encode } from "../../src/data/encode/encode.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import type { Table } from "../../src/data/table.ts";
import { causeSpecificIncidence } from "../../src/models/cox/cause-specific.ts";
import { applyCauseHazards } from "../../src/repair/cause-hazards.ts";
import { fitCauseShare } from "../../src/repair/share-choice.ts";
import { matchCauses } from "../../src/stats/causes/binned-causes.ts";
import { redesign } from "../../src/study/prepare.ts";
import { pickStudyGroups } from "../../src/study/study.ts";
import { auditCauses } from "../../src/verbs/causes/audit-causes.ts";
import { compare, type Comparison } from "../../src/verbs/compare.ts";
import {
  type CauseMethodScores,
  COMPARED_CAUSE_SCORES,
  compareCauseSplits,
} from "../../src/verbs/comparison/cause-differences.ts";
import {
  fitCauseSpecificCox,
  predictCauseSpecificCox,
} from "../../src/verbs/comparison/cause-specific-cox.ts";
import { fitCoxByCause } from "../../src/verbs/comparison/cause-run.ts";
import type { ComparedMethod } from "../../src/verbs/comparison/method-run.ts";
import { designOf, prepare, type TrainRequest } from "../../src/verbs/train-request.ts";
import { causeOracle } from "../stats/history-oracles.ts";

const bytes = readFileSync(new URL("../tables/mgus2.csv", import.meta.url));
const table = await readTable(tableSourceFromBytes("mgus2.csv", bytes));
const CAUSES = { event: "event", causes: ["pcm", "death"], censored: "censored" };
const request: TrainRequest = {
  time: "months",
  ...CAUSES,
  features: ["sex", "hgb", "creat"],
  groups: [{ name: "women", expression: "sex = F" }],
  bins: 8,
  options: { steps: 2 },
};
const named = (label: string, method: ComparedMethod["method"] = "cox"): ComparedMethod => ({
  label,
  method,
  distance: null,
  boosted: false,
});

async function run(
  methods: readonly ComparedMethod[],
  more: Partial<TrainRequest> = {},
): Promise<Comparison> {
  const asked = { ...request, ...more };
  const runs = compare(prepare(table, asked), asked, { methods, replicates: 20 });
  let next = await runs.next();
  while (!next.done) next = await runs.next();
  return next.value;
}

describe("Cox, one model a cause", () => {
  const everyone = { train: Int32Array.from(Array(table.rows).keys()), validation: new Int32Array() };
  const study = prepare(table, { ...request, split: { ...everyone, test: new Int32Array([0, 1]) } });
  const seen = redesign(study, designOf({ method: "cox" }));
  const fitted = fitCauseSpecificCox(seen);

  test("as CSC predicts", () => {
    const { times, pcm, death } = causeOracle.specific;
    const people: Table = {
      name: "people",
      rows: 2,
      columns: [
        { name: "sex", type: "category", codes: Int32Array.of(0, 1), levels: ["F", "M"] },
        { name: "hgb", type: "number", values: Float64Array.of(12, 14) },
        { name: "creat", type: "number", values: Float64Array.of(1, 1.5) },
      ],
    };
    const found = causeSpecificIncidence(fitted.models, encode(seen.encoder, people).values, times);
    const expected = [pcm.flat(), death.flat()];
    expected.forEach((own, k) => {
      own.forEach((one, at) => {
        expect(found[k][at] / one).toBeCloseTo(1, 9);
      });
    });
    expect(fitted.warnings).toEqual([]);
  });

  test("its incidences rise, and leave a survival", () => {
    const incidence = predictCauseSpecificCox(fitted, seen, everyone.train);
    const T = 8;
    for (let n = 0; n < table.rows; n++) {
      for (let t = 0; t < T; t++) {
        const [pcm, death] = [0, 1].map((k) => incidence[(n * 2 + k) * T + t]);
        expect(pcm + death).toBeLessThanOrEqual(1 + 1e-12);
        if (t > 0) expect(pcm).toBeGreaterThanOrEqual(incidence[n * 2 * T + t - 1]);
      }
    }
  });

  test("a cause that no training row has is a run that failed", () => {
    const few = Int32Array.from(everyone.train.filter((row) => study.outcomes.cause?.[row] !== 1));
    const { cause } = study.outcomes;
    expect(few.some((row) => cause?.[row] === 2)).toBe(true);
    expect(() => fitCauseSpecificCox({ ...seen, split: { ...study.split, train: few } })).toThrow(
      "no training row has an event of pcm",
    );
  });
});

describe("one split", () => {
  test("every cause has its scores, and a method differs in nothing from itself", async () => {
    const found = await run([named("cox"), named("again"), named("start", "start")]);
    expect(found.differences).toEqual([]);
    const { causes, differences } = found.byCause ?? { causes: [], differences: [] };
    expect(causes).toEqual(["pcm", "death"]);
    expect(differences).toHaveLength(2 * 2 * COMPARED_CAUSE_SCORES.length);
    const same = differences.filter(({ method, absent }) => method === "again" && absent === null);
    expect(same.length).toBeGreaterThanOrEqual(8);
    for (const { estimate, lower, upper, p } of same)
      expect([estimate, lower, upper, p]).toEqual([0, 0, 0, 1]);
    const [cox, , start] = found.runs.map(({ byCause }) => byCause);
    cox?.audit.causes.forEach(({ overall, groups }, k) => {
      expect(cox.scores[k]).toMatchObject({ concordance: overall.concordance, ibs: overall.ibs });
      expect(cox.scores[k].groupEce).toBe(cox.scores[k].judged === 0 ? null : groups[0].ece);
    });
    const ibs = differences.find(
      ({ method, cause, score }) => `${method} ${cause} ${score}` === "start death ibs",
    );
    expect(ibs?.estimate).toBe((start?.scores[1].ibs ?? 0) - (cox?.scores[1].ibs ?? 0));
  });

  test("the start has no random weights", async () => {
    const scoresOf = async (seed: number) => {
      const { split } = prepare(table, request);
      const { runs } = await run([named("start", "start"), named("cox")], { split, seed });
      return runs[0].byCause?.scores;
    };
    expect(await scoresOf(1)).toEqual(await scoresOf(2));
  });

  test("late entries and weights leave events, observed and expected", async () => {
    const late = { time: "exitMonths", entry: "ageMonths", weights: "weight" };
    const { byCause, runs } = await run([named("cox"), named("start", "start")], late);
    for (const { score, absent } of byCause?.differences ?? [])
      expect(absent === null, score).toBe(score === "eventError");
    const [pcm] = runs[0].byCause?.scores ?? [];
    expect(pcm.eventError).toBeCloseTo(Math.abs((pcm.expected ?? 0) / (pcm.observed ?? 1) - 1), 14);
  });
});

test("several splits: the corrected t of each cause by itself", () => {
  const scores = (concordance: number): CauseMethodScores[] =>
    ["a", "b"].map((cause, k) => ({
      cause,
      concordance: k === 0 ? 0.6 : concordance,
      ece: null,
      groupEce: null,
      ibs: 0.1,
      eventError: 0,
      worstGroup: null,
      worstEce: null,
      judged: 0,
      observed: 1,
      expected: 1,
      logrankP: 1,
    }));
  const methods = [
    { method: "one", scores: [0.7, 0.71, 0.72].map(scores) },
    { method: "two", scores: [0.71, 0.73, 0.75].map(scores) },
  ];
  const differences = compareCauseSplits(["a", "b"], methods, { testSize: 20, trainSize: 60 });
  const find = (cause: string) =>
    differences.find((one) => one.cause === cause && one.score === "concordance");
  expect(find("a")).toMatchObject({ estimate: 0, p: 1 });
  // 0.01, 0.02, 0.03: t = 0.02/√(2e-4/3) on 2 degrees of freedom, as in compare.test.ts.
  expect(find("b")?.estimate).toBeCloseTo(0.02, 12);
  expect(find("b")?.p).toBeCloseTo(1 - Math.sqrt(6 / 8), 10);
  expect(differences.filter(({ absent }) => absent !== null)).toHaveLength(4);
});

test("cox+boost is the Cox model's incidences repaired on the validation rows", async () => {
  const repaired = { ...named("cox+boost"), boosted: true };
  const { runs } = await run([named("cox"), repaired]);
  const study = prepare(table, request);
  const { predict } = fitCoxByCause(study);
  const [valid, judged] = [await predict(study.split.validation), await predict(study.split.test)];
  const groups = pickStudyGroups(study, valid.rows);
  const outcomes = matchCauses(valid.curves, valid.binned);
  const { boost } = fitCauseShare({ curves: valid.curves, outcomes, groups }, { seed: 1 });
  expect(boost.hazards.some(({ updates }) => updates.length > 0)).toBe(true);
  const curves = applyCauseHazards(boost, judged.curves, pickStudyGroups(study, judged.rows));
  const own = { curves, outcomes: judged.binned, groups: judged.groups };
  const { causes } = await auditCauses(own, { draws: 0 });
  expect(runs[1].byCause?.scores.map(({ ibs }) => ibs)).toEqual(causes.map(({ overall }) => overall.ibs));
  expect(runs[1].byCause?.scores[1].ibs).not.toBe(runs[0].byCause?.scores[1].ibs);
  const unjudged = { train: study.split.train, validation: new Int32Array(), test: study.split.test };
  await expect(run([named("cox"), repaired], { split: unjudged })).rejects.toThrow(
    "no validation rows to repair",
  );
});

test.each([
  [{ method: "xcal" }, {}, "the method xcal is of one kind of event"],
  [{ method: "rps" }, {}, "the method rps is of one kind of event"],
  [{ method: "drsa" }, {}, "the method drsa is of one kind of event"],
  [{ method: "graduate", distance: "variance" }, {}, "the distance variance is of one kind of event"],
  [{ method: "graduate" }, { constraint: { distance: "l2" } }, "the distance l2 is of one kind of event"],
  [{ method: "graduate" }, { preset: "paper" }, "the paper's preset is of one kind of event"],
] as const)("%o with %o is refused before any run", async (method, more, message) => {
  const methods = [named("cox"), { ...named("other"), ...method }];
  await expect(run(methods, more)).rejects.toThrow(message);
});
