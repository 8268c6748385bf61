// The page of goals: verdicts on results made by hand, and docs/results/goals.md against what is committed.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { makeGoalsPage } from "../../src/commands/claims.ts";
import { parsePlan, type SystemName } from "../../src/runs/plan.ts";
import { parseResults, planLine, type RunResult } from "../../src/runs/results.ts";
import { collectGoals, comparePair, type Goal, type GoalInputs } from "../../src/summaries/goals.ts";
import { parsePublished } from "../../src/summaries/published.ts";

const readText = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const published = parsePublished(readText("paper/published.json"), "published");

/** Results of a plan; `groups` of them, everyone first, are constrained and one more is not. */
function inputsOf(name: "nwtco" | "flchain" | "eye", cohort: string, runs: readonly RunResult[]): GoalInputs {
  const plan = parsePlan(readText(`paper/plans/${name}.json`), name);
  const names = { plan: name, cohort, groups: ["all", "g"], auditOnly: name === "eye" ? ["h"] : [] };
  const text = [planLine(plan), JSON.stringify(names), ...runs.map((run) => JSON.stringify(run))].join("\n");
  return { published, plans: new Map([[name, { plan, results: parseResults(text, "made").get(name) }]]) };
}

interface Made {
  readonly plan: string;
  readonly cohort: string;
  readonly system: SystemName;
  readonly c?: number;
  readonly ece?: number;
  readonly logrank?: readonly number[];
  readonly floorP?: readonly number[];
  /** Everyone's, the constrained group's and the audit-only one's. */
  readonly A?: readonly number[];
}

/** Two repeats, a hair apart. */
function makeRuns({ plan, cohort, system, c = 0.7, ece = 0.01, logrank, floorP, A }: Made): RunResult[] {
  return [0, 1].map((k) => {
    const hair = 1e-5 * k;
    const of = <Value>(value: Value) => [value, value, value];
    return {
      run: { plan, cohort, system, seed: 101 + k },
      version: "0",
      rows: [300, 100, 100],
      training: null,
      scores: {
        n: of(100),
        events: of(50),
        support: of(102),
        concordance: of(c + hair),
        ece: of(ece + hair),
        supportedEce: of(ece),
        ibs: of(0.1),
        logrank: of(logrank?.[k] ?? 0.5),
        individual: of(0.5),
        floor: of(0.01),
        critical: of(0.02),
        floorP: of(floorP?.[k] ?? 0.5),
      },
      truth:
        A === undefined
          ? null
          : {
              A: A.map((one) => one + hair),
              B: A.map((one) => 2 * one + hair),
              ise: A.map((one) => one ** 2 + hair),
              concordance: 0.7,
              concordanceOfTruth: 0.72,
            },
      seconds: { fit: 1, score: 1 },
    };
  });
}

const find = (goals: readonly Goal[], where: string, text: string): Goal => {
  const found = goals.filter((goal) => goal.where === where && goal.text.startsWith(text));
  expect(found.length, `${where}: ${text}`).toBe(1);
  return found[0];
};

test("on a table: the printed rows and Cox", () => {
  const at = { plan: "nwtco", cohort: "nwtco" };
  const goals = collectGoals(
    inputsOf("nwtco", "nwtco", [
      ...makeRuns({ ...at, system: "graduate", c: 0.68, ece: 0.06, logrank: [0.04, 0.06] }),
      ...makeRuns({ ...at, system: "cox", c: 0.7, ece: 0.08, logrank: [0.06, 0.06] }),
    ]),
  );
  // Printed .683 and .678; .142 and .059; .755 and .784: each is missed by the better of the two.
  expect(find(goals, "nwtco", "C-index better")).toMatchObject({
    met: false,
    measured: "0.680; printed 0.683 and 0.678",
  });
  expect(find(goals, "nwtco", "ECE better").met).toBe(false);
  // 2·.68·.94/(.68 + .94) = .789; Cox 2·.7·.92/1.62 = .795
  expect(find(goals, "nwtco", "total better").met).toBe(true);
  expect(find(goals, "nwtco", "total above Cox").met).toBe(false);
  const groups = find(goals, "nwtco", "mean ECE over the groups");
  expect(groups.met).toBe(true);
  expect(groups.measured).toMatch(/^0\.0600; Cox 0\.0800; −0\.0200 ± 0\.0000, 2 repeats$/);
  expect(find(goals, "nwtco", "logrank")).toMatchObject({ met: false });
  expect(find(goals, "eye, 4374 people", "mean B")).toMatchObject({ met: null, measured: "" });
});

test("a pair of systems is held against each other and no other", () => {
  const at = { plan: "nwtco", cohort: "nwtco" };
  const made = [
    ...makeRuns({ ...at, system: "graduate", c: 0.9 }),
    ...makeRuns({ ...at, system: "cox", c: 0.6 }),
    ...makeRuns({ ...at, system: "cox of all rows", c: 0.7, ece: 0.03 }),
  ];
  const goalsOf = (runs: readonly RunResult[]) =>
    comparePair(inputsOf("nwtco", "nwtco", runs), "five graduates", "cox of all rows");
  expect(goalsOf(made).every(({ met }) => met === null)).toBe(true);
  const goals = goalsOf([...made, ...makeRuns({ ...at, system: "five graduates", c: 0.69, ece: 0.02 })]);
  expect(find(goals, "nwtco", "C-index")).toMatchObject({
    met: false,
    measured: "0.6900; *Cox, validation rows too* 0.7000; −0.0100 ± 0.0000, 2 repeats",
  });
  expect(find(goals, "nwtco", "mean ECE").met).toBe(true);
  // Equal is not below.
  expect(find(goals, "nwtco", "integrated Brier").met).toBe(false);
  expect(find(goals, "flchain with chapter", "total").met).toBe(null);
});

test("at the floor: more misses than chance gives are too many", () => {
  const cohort = "flchain with chapter";
  const goalsOf = (floorP: readonly number[]) =>
    collectGoals(
      inputsOf("flchain", cohort, makeRuns({ plan: "flchain", cohort, system: "graduate", c: 0.94, floorP })),
    );
  expect(find(goalsOf([0.04, 0.5]), cohort, "ECE")).toMatchObject({
    met: true, // one of two or more: 1 − .95² = .0975
    measured: "ECE / floor 1.00; within chance in 1 of 2 repeats",
  });
  expect(find(goalsOf([0.04, 0.01]), cohort, "ECE").met).toBe(false); // .05² = .0025
  expect(find(goalsOf([0.5, 0.5]), cohort, "C-index above 0.934").met).toBe(true);
});

describe("against the truth", () => {
  const cohort = "level 2 dependent 30000";
  const at = { plan: "eye", cohort };
  const goalsOf = (own: readonly number[]) =>
    collectGoals(
      inputsOf("eye", cohort, [
        ...makeRuns({ ...at, system: "graduate", A: own }),
        ...makeRuns({ ...at, system: "cox", A: [0.01, 0.06, 0.03] }),
        ...makeRuns({ ...at, system: "placebo groups", A: [0.01, 0.05, 0.03] }),
        ...makeRuns({ ...at, system: "generator", A: [0.01, 0.02, 0.01] }),
      ]),
    );
  const where = "eye, 30,000 people";

  test("half of Cox's excess is enough, more is not", () => {
    // Cox .06 − .02 = .04; .0395 − .02 is within half of it, .0405 − .02 is not.
    expect(find(goalsOf([0.01, 0.0395, 0.03]), where, "worst constrained A").met).toBe(true);
    expect(find(goalsOf([0.01, 0.0405, 0.03]), where, "worst constrained A").met).toBe(false);
  });

  test("constrained and audit-only groups are told apart", () => {
    const goals = goalsOf([0.01, 0.055, 0.035]);
    expect(find(goals, where, "audit-only").met).toBe(false);
    expect(find(goals, where, "mean B").met).toBe(true);
    expect(find(goals, where, "mean ISE").met).toBe(true);
    expect(find(goals, where, "worst A with real groups").met).toBe(false);
  });
});

test("docs/results/goals.md is made from paper/results", () => {
  expect(makeGoalsPage()).toBe(readText("docs/results/goals.md"));
});
