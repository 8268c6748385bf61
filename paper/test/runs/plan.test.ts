// Plans: those of the paper say what they should, and a plan that contradicts itself is refused before anything runs.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { expandPlan, lineKey, type Plan, parsePlan, planContent, selectLines } from "../../src/runs/plan.ts";

const folder = new URL("../../../paper/plans/", import.meta.url);
const readText = (name: string) => readFileSync(new URL(`${name}.json`, folder), "utf8");
const readPlan = (name: string) => parsePlan(readText(name), name);

/** A plan of the file with something changed. */
function change(name: string, edit: (plan: Record<string, unknown>) => void): () => Plan {
  const plan = JSON.parse(readText(name)) as Record<string, unknown>;
  edit(plan);
  return () => parsePlan(JSON.stringify(plan), "changed.json");
}

function countBy(plan: Plan): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { cohort } of expandPlan(plan)) counts[cohort] = (counts[cohort] ?? 0) + 1;
  return counts;
}

describe("the plans of paper/plans", () => {
  const names = ["nwtco", "flchain", "eye", "paper-nwtco", "paper-flchain", "paper-eye"];
  test.each(names)("%s is valid and named after its file", (name) => {
    expect(readPlan(name).name).toBe(name);
  });

  test("repeat as often as the paper, at its sizes", () => {
    expect(countBy(readPlan("nwtco"))).toEqual({ nwtco: 21 * 22 });
    expect(countBy(readPlan("flchain"))).toEqual({
      "flchain with chapter": 10 * 21,
      "flchain without chapter": 10 * 21,
    });
    expect(readPlan("nwtco").cohorts[0].sizes).toEqual([2416, 806, 806]);
    expect(readPlan("flchain").cohorts.map(({ sizes }) => sizes)).toEqual([
      [4724, 1575, 1575],
      [4724, 1575, 1575],
    ]);
    for (const [name, seeds] of [
      ["paper-nwtco", 21],
      ["paper-flchain", 10],
      ["paper-eye", 15],
    ] as const) {
      const plan = readPlan(name);
      expect(plan.repeats).toBe("initialisations");
      expect(new Set(expandPlan(plan).map(({ seed }) => seed)).size).toBe(seeds);
    }
  });

  test("the simulated cohorts: 15 seeds of all systems, 3 at 30,000, 5 of the other levels and censorings", () => {
    const plan = readPlan("eye");
    expect(countBy(plan)).toEqual({
      "level 2 dependent": 15 * 22,
      "level 2 dependent 30000": 3 * 10,
      "level 0 dependent": 5 * 8,
      "level 1 dependent": 5 * 8,
      "level 2 independent": 5 * 8,
      "level 2 late": 5 * 8,
    });
    // Seeds up to 100 are for choosing things; none of them is in the claim.
    expect(Math.min(...expandPlan(plan).map(({ seed }) => seed))).toBe(101);
    expect(plan.truthPeople).toBe(200_000);
  });

  test("the other rule for keeping weights has the splits and cohorts of the rule it is held against", () => {
    const pairs = [
      ["drsa", "drsa kept by loss"],
      ["drsa without tail", "drsa without tail kept by concordance"],
      ["xcal", "xcal kept by loss"],
      ["rps", "rps kept by loss"],
    ];
    for (const name of ["nwtco", "flchain", "eye"]) {
      const lines = expandPlan(readPlan(name));
      const main = name === "eye" ? ["level 2 dependent"] : readPlan(name).cohorts.map((one) => one.name);
      const repeatsOf = (system: string) =>
        lines
          .filter((line) => line.system === system && main.includes(line.cohort))
          .map(({ cohort, seed }) => `${cohort} ${seed}`);
      for (const [system, other] of pairs) expect(repeatsOf(other)).toEqual(repeatsOf(system));
    }
  });

  test("the paper's plans have both forms of MCBoostSurv and its slacks of L²: .02 on nwtco, .01 elsewhere", () => {
    for (const [name, slack] of [
      ["paper-nwtco", 0.02],
      ["paper-flchain", 0.01],
      ["paper-eye", 0.01],
    ] as const) {
      const plan = readPlan(name);
      expect(plan.cohorts.map(({ paperSlack }) => paperSlack)).toEqual(plan.cohorts.map(() => slack));
      expect(plan.parts[0].systems).toEqual(expect.arrayContaining(["mcboost", "mcboost reference"]));
      expect(plan.evaluateEvery).toBe(1);
    }
  });

  test("the row id is a feature in the paper's plan only", () => {
    const features = (name: string) => {
      const [cohort] = readPlan(name).cohorts;
      return cohort.kind === "table" ? { features: cohort.features, drop: cohort.drop } : null;
    };
    expect(features("nwtco")).toEqual({ features: undefined, drop: ["seqno"] });
    expect(features("paper-nwtco")?.features).toHaveLength(7);
    expect(features("paper-nwtco")?.features).toContain("seqno");
  });
});

describe("a plan that contradicts itself is refused", () => {
  const part = (plan: Record<string, unknown>) => (plan.parts as Record<string, unknown>[])[0];
  const cohort = (plan: Record<string, unknown>) => (plan.cohorts as Record<string, unknown>[])[0];
  test.each([
    [
      "an unknown field",
      "nwtco",
      (plan: Record<string, unknown>) => Object.assign(plan, { seed: 1 }),
      /seed/,
    ],
    [
      "an unknown cohort",
      "nwtco",
      (plan) => Object.assign(part(plan), { cohorts: ["x"] }),
      /no such cohort: "x"/,
    ],
    ["a split that varies and is fixed", "nwtco", (plan) => Object.assign(plan, { split: 1 }), /"split"/],
    ["a table drawn anew", "nwtco", (plan) => Object.assign(plan, { repeats: "cohorts" }), /is a table/],
    [
      "people split but not drawn anew",
      "eye",
      (plan) => Object.assign(plan, { repeats: "splits" }),
      /cohorts/,
    ],
    ["truth without people", "eye", (plan) => delete plan.truthPeople, /truthPeople/],
    [
      "a generator of a table",
      "nwtco",
      (plan) => Object.assign(part(plan), { systems: ["generator"] }),
      /generator/,
    ],
    [
      "our constraint in the paper's preset",
      "paper-nwtco",
      (plan) => Object.assign(part(plan), { systems: ["graduate"] }),
      /default preset/,
    ],
    [
      "no groups",
      "nwtco",
      (plan) => delete cohort(plan).groups,
      /^plan: cohorts\[0\]\.groups: .*expected string/,
    ],
    [
      "people without end",
      "nwtco",
      (plan) => Object.assign(cohort(plan), { sizes: [1e12, 1, 1] }),
      /sizes\[0\]/,
    ],
    ["bins without end", "nwtco", (plan) => Object.assign(plan, { bins: 2e6 }), /bins: /],
    [
      "seeds without end",
      "nwtco",
      (plan) => Object.assign(part(plan), { seeds: { from: 0, count: 1e15 } }),
      /parts\[0\]\.seeds\.count/,
    ],
    [
      "runs without end",
      "nwtco",
      (plan) => Object.assign(part(plan), { seeds: { from: 0, count: 99_999 } }),
      /^plan: \d{7} runs, and at most 100000/,
    ],
    ["a run twice", "nwtco", (plan) => Object.assign(plan, { parts: [part(plan), part(plan)] }), /same run/],
  ] as [string, string, (plan: Record<string, unknown>) => void, RegExp][])(
    "%s",
    (_, name, edit, message) => {
      expect(change(name, edit)).toThrow(message);
    },
  );

  test("what is not JSON at all", () => {
    expect(() => parsePlan("{", "broken.json")).toThrow(/^plan: /);
    // Any file may be named by mistake: none of it is repeated.
    expect(() => parsePlan("root:x:0:0:secret", "passwd")).toThrow(/^plan: the file is not JSON$/);
  });
});

test("lines are distinct, and a subset is those asked for", () => {
  const plan = readPlan("flchain");
  expect(new Set(expandPlan(plan).map(lineKey)).size).toBe(420);
  expect(selectLines(plan, { seeds: [3], systems: ["cox"] })).toEqual([
    { plan: "flchain", cohort: "flchain with chapter", system: "cox", seed: 3 },
    { plan: "flchain", cohort: "flchain without chapter", system: "cox", seed: 3 },
  ]);
  expect(() => selectLines(plan, { systems: ["oracle"] })).toThrow(/no such system: oracle \(have cox, /);
  expect(() => selectLines(plan, { seeds: [11] })).toThrow(/no such seed: 11/);
});

test("which runs there are is not part of what a line means", () => {
  const longer = change("nwtco", (plan) => {
    (plan.parts as { seeds: object }[])[0].seeds = { from: 1, count: 30 };
  })();
  expect(planContent(longer)).toEqual(planContent(readPlan("nwtco")));
  const other = change("nwtco", (plan) => Object.assign(plan, { draws: 10 }))();
  expect(planContent(other)).not.toEqual(planContent(readPlan("nwtco")));
});
