// A run is a function of its line; controls differ from what they control for in the one thing they say.
import { readFileSync } from "node:fs";
import { type GroupsFile, parseGroupsFile, readTable, tableSourceFromBytes } from "graduate-survival/data";
import { openWasmBackend } from "graduate-survival/node";
import { type Model, PRESETS } from "graduate-survival/training";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CohortSources, openCohort } from "../../src/runs/cohorts.ts";
import { type Plan, parsePlan, SWITCHED, type SystemName } from "../../src/runs/plan.ts";
import { type RunResult, roundTo } from "../../src/runs/results.ts";
import { type FinishedRun, type RunHooks, runLine } from "../../src/runs/run.ts";
import { networkKey } from "../../src/runs/shared-network.ts";
import { requestOf } from "../../src/runs/systems.ts";
import { CELLS } from "../../src/summaries/method.ts";

const groups = (text: object): GroupsFile => parseGroupsFile(JSON.stringify(text), "groups");
const sources: CohortSources = {
  table: null,
  groups: groups({ groups: [{ where: "age >= 60" }, { where: "sex = F" }, { where: "insulin = 1" }] }),
  auditOnly: groups({ all: false, groups: [{ where: "hba1c >= 8" }] }),
};
const cohort = {
  name: "few",
  kind: "eye",
  people: 700,
  level: 2,
  censoring: "dependent",
  groups: "-",
  auditOnly: "-",
  sizes: [4, 2, 2],
  paperSlack: 0.01,
};
const systems: SystemName[] = [
  "cox",
  "graduate",
  "five graduates",
  "graduate with splines",
  "five with splines",
  "cox of all rows",
  "no multipliers",
  "drsa without tail",
  "placebo groups",
  "mcboost",
  "generator",
];
const plan: Plan = parsePlan(
  JSON.stringify({
    name: "small",
    about: "a small one",
    preset: "default",
    repeats: "cohorts",
    draws: 5,
    bins: 12,
    steps: 10,
    truthPeople: 2000,
    cohorts: [cohort],
    parts: [{ cohorts: ["few"], systems, seeds: { from: 1, count: 2 } }],
  }),
  "small.json",
);

let backend: Awaited<ReturnType<typeof openWasmBackend>>;
afterAll(() => backend.close());

function run(system: SystemName, seed = 1, asked = plan, hooks: RunHooks = {}): Promise<FinishedRun> {
  return runLine(asked, { plan: "small", cohort: "few", system, seed }, sources, backend, hooks);
}

type Result = FinishedRun["result"];
const results = new Map<SystemName, Result>();
const resultOf = (system: SystemName): Result => {
  const result = results.get(system);
  if (result === undefined) throw new Error(`no run of ${system}`);
  return result;
};

/** Long enough that boosting finds nothing to repair. */
const trained: readonly SystemName[] = ["drsa without tail", "mcboost"];

beforeAll(async () => {
  backend = await openWasmBackend({ threads: 1, deterministic: true });
  for (const system of systems) {
    const asked = trained.includes(system) ? { ...plan, steps: 30 } : plan;
    results.set(system, (await run(system, 1, asked)).result);
  }
}, 60_000);

describe("a run", () => {
  test("is the same when it is repeated, and another one with another seed", async () => {
    expect((await run("graduate")).result).toEqual(resultOf("graduate"));
    const other = (await run("cox", 2)).result;
    expect(other.scores.concordance[0]).not.toBe(resultOf("cox").scores.concordance[0]);
  });

  test("scores everyone, the named groups and those that are only audited", async () => {
    const { result, names } = await run("cox");
    expect(names.groups).toEqual(["all", "age >= 60", "sex = F", "insulin = 1"]);
    expect(names.auditOnly).toEqual(["hba1c >= 8"]);
    expect(result.rows).toEqual([350, 175, 175]);
    for (const list of Object.values(result.scores)) expect(list).toHaveLength(5);
    expect(result.scores.n[0]).toBe(175);
    expect(result.truth?.A).toHaveLength(5);
  });

  test("has no multipliers where they are held at 0: the likelihood alone, of a network that knows the groups", () => {
    const [free, held] = [resultOf("no multipliers"), resultOf("graduate")];
    expect(free.training?.multipliers?.end.every((value) => value === 0)).toBe(true);
    expect(free.training?.parameters).toBe(held.training?.parameters);
    expect(free.training?.parameters).toBeGreaterThan(
      resultOf("drsa without tail").training?.parameters ?? 0,
    );
    expect(free.scores).not.toEqual(held.scores);
  });

  test("of five graduates is the mean of five runs of graduate, all groups held", () => {
    const [five, one] = [resultOf("five graduates").training, resultOf("graduate").training];
    expect(five?.parameters).toBe(5 * (one?.parameters ?? 0));
    expect(five?.steps).toBe(5 * 10);
    expect(five?.met).toHaveLength(one?.met.length ?? 0);
    expect(resultOf("five graduates").scores.n).toEqual(resultOf("graduate").scores.n);
  });

  test("with splines has more inputs for the same groups; five of them are five times as many", () => {
    const [bent, straight] = [resultOf("graduate with splines"), resultOf("graduate")];
    expect(bent.training?.met).toHaveLength(straight.training?.met.length ?? 0);
    expect(bent.training?.parameters).toBeGreaterThan(straight.training?.parameters ?? 0);
    expect(resultOf("five with splines").training?.parameters).toBe(5 * (bent.training?.parameters ?? 0));
    expect(bent.scores).not.toEqual(straight.scores);
  });

  test("of Cox with the validation rows too is another Cox, judged on the same rows", () => {
    const [all, some] = [resultOf("cox of all rows"), resultOf("cox")];
    expect(all.training?.parameters).toBe(some.training?.parameters);
    expect(all.rows).toEqual(some.rows);
    expect(all.scores.n).toEqual(some.scores.n);
    expect(all.scores.concordance).not.toEqual(some.scores.concordance);
  });

  test("with placebo groups holds other people to the constraint, as many of them", () => {
    const [real, placebo] = [resultOf("graduate").training, resultOf("placebo groups").training];
    expect(placebo?.met.length).toBe(real?.met.length);
    expect(placebo?.parameters).toBe(real?.parameters);
    expect(resultOf("placebo groups").scores).not.toEqual(resultOf("graduate").scores);
  });

  test("of MCBoostSurv is the likelihood's where no round helps rows that were left out", () => {
    const [boosted, plain] = [resultOf("mcboost"), resultOf("drsa without tail")];
    expect(boosted.training?.boostRounds).toBe(0);
    expect(boosted.scores).toEqual(plain.scores);
    expect(boosted.truth).toEqual(plain.truth);
  });

  test("of MCBoostSurv in the paper's preset moves DRSA's curves, of the test rows and of fresh people", async () => {
    const paper: Plan = { ...plan, preset: "paper", steps: 5 };
    const [boosted, plain] = [(await run("mcboost", 1, paper)).result, (await run("drsa", 1, paper)).result];
    expect(boosted.training?.boostRounds).toBeGreaterThan(0);
    expect(boosted.training?.bestStep).toBe(plain.training?.bestStep);
    expect(boosted.scores.ece).not.toEqual(plain.scores.ece);
    expect(boosted.truth?.A).not.toEqual(plain.truth?.A);
  });

  test("of MCBoostSurv takes DRSA's network where it is at hand, and then trains nothing", async () => {
    const paper: Plan = { ...plan, preset: "paper", steps: 5 };
    const lineOf = (system: SystemName) => ({ plan: plan.name, cohort: "few", system, seed: 1 });
    const keys = (["drsa", "mcboost", "mcboost reference"] as const).map((one) =>
      networkKey(paper, lineOf(one)),
    );
    expect(new Set(keys).size).toBe(1);
    expect(networkKey(paper, lineOf("drsa without tail"))).toBeNull();
    expect(networkKey(plan, lineOf("drsa"))).toBeNull();
    let model: Model | undefined;
    const shelf = {
      find: () => model,
      keep: (trained: Model) => {
        model = trained;
      },
    };
    await run("drsa", 1, paper, { shelf });
    const alone = (await run("mcboost", 1, paper)).result;
    let events = 0;
    const shared = (await run("mcboost", 1, paper, { shelf, onEvent: () => events++ })).result;
    expect(events).toBe(0);
    expect(shared).toEqual(alone);
    const reference = (await run("mcboost reference", 1, paper, { shelf })).result;
    expect(reference.training?.boostRounds).toBeGreaterThan(0);
    expect(reference.scores.ece).not.toEqual(shared.scores.ece);
  });

  test("kept by the other rule is asked for in the same words but for the rule", () => {
    const open = openCohort(plan.cohorts[0], sources, plan, 1);
    const asked = (system: Exclude<SystemName, "generator">) => {
      const { options = {}, method, ...rest } = requestOf(open, { system, preset: "default", seed: 1 });
      const { keep = PRESETS.default.keep, ...others } = options;
      return { method, keep, same: JSON.stringify([rest, others]) };
    };
    const pairs = [
      ["drsa", "drsa kept by loss", "drsa"],
      ["drsa without tail kept by concordance", "drsa without tail", "nll"],
      ["xcal", "xcal kept by loss", "xcal"],
      ["rps", "rps kept by loss", "rps"],
    ] as const;
    for (const [byConcordance, byLoss, method] of pairs) {
      const { same } = asked(byConcordance);
      expect(asked(byConcordance)).toEqual({ method, keep: "concordance", same });
      expect(asked(byLoss)).toEqual({ method, keep: "validation", same });
    }
    expect(asked("graduate").keep).toBe("validation");
  });

  test("between DRSA and GRADUATE one thing is switched at a time", () => {
    const open = openCohort(plan.cohorts[0], sources, plan, 1);
    const preset = PRESETS.paper;
    const optionsOf = (system: SystemName) => {
      const { method, options, constraint, ...rest } = requestOf(open, {
        system: system as Exclude<SystemName, "generator">,
        preset: "paper",
        seed: 1,
      });
      // Methods without a constraint of their own keep the iterate of the best C-index (choose-options.ts).
      const { objective, keep, dual = preset.dual, ...others } = options ?? {};
      const isFree = method === "drsa" || method === "nll";
      return {
        objective: objective ?? { kind: "likelihood", tail: method !== "nll" },
        keep: keep ?? (isFree ? "concordance" : preset.keep),
        pulls: !isFree && JSON.stringify(dual) === JSON.stringify(preset.dual),
        constraint,
        rest: { ...rest, ...others },
      };
    };
    expect(CELLS.map(({ system }) => system)).toEqual(expect.arrayContaining([...SWITCHED]));
    for (const { system, setting } of CELLS) {
      const { rest, constraint, ...asked } = optionsOf(system);
      expect({ system, ...asked }).toEqual({
        system,
        objective: { kind: "likelihood", tail: !setting.withoutTail },
        keep: setting.keptByConstraints ? "constraints" : "concordance",
        pulls: setting.constrained,
      });
      if (constraint !== undefined) expect(constraint).toEqual({ distance: "l2", slack: 0.01 });
      expect(rest).toEqual(optionsOf("graduate l2").rest);
    }
  });

  test("of the generator is near the truth", () => {
    const { truth, training } = resultOf("generator");
    expect(training).toBeNull();
    const gap = (truth?.concordanceOfTruth ?? 1) - (truth?.concordance ?? 0);
    const cox = (truth?.concordanceOfTruth ?? 1) - (resultOf("cox").truth?.concordance ?? 0);
    expect(gap).toBeGreaterThanOrEqual(0);
    expect(gap).toBeLessThan(cox);
  });
});

test("groups are the same for every split of a table", () => {
  const [table] = [openCohort(plan.cohorts[0], sources, plan, 1).table];
  const automatic = {
    groups: [],
    all: true,
    automatic: { columns: ["screening_grade", "smoking"], maxCross: 1 },
  };
  const asked = {
    name: "as a table",
    kind: "table" as const,
    table: "-",
    groups: "-",
    time: "time",
    event: "event",
    drop: [],
    category: ["screening_grade"],
    allowLeak: [],
    sizes: [4, 2, 2] as [number, number, number],
    paperSlack: 0.01,
  };
  const open = (seed: number) =>
    openCohort(asked, { table, groups: automatic, auditOnly: null }, { repeats: "splits" }, seed);
  expect(open(1).groups).toEqual(open(2).groups);
  expect(open(1).split.test).not.toEqual(open(2).split.test);
  const fixed = openCohort(
    asked,
    { table, groups: automatic, auditOnly: null },
    { repeats: "initialisations", split: 1 },
    2,
  );
  expect(fixed.split).toEqual(open(1).split);
});

test("the paper's groups are 12, 25 and 24, and as many of the last are only audited", async () => {
  const text = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
  const file = (path: string) => parseGroupsFile(text(path), path);
  for (const [name, count, rows] of [
    ["nwtco", 12, [2416, 806, 806]],
    ["flchain", 25, [4724, 1575, 1575]],
  ] as const) {
    const { repeats, cohorts } = parsePlan(text(`paper/plans/${name}.json`), name);
    const path = `datasets/${name}/${name}.csv`;
    const table = await readTable(tableSourceFromBytes(path, new TextEncoder().encode(text(path))));
    for (const asked of cohorts) {
      // Seed 2 of flchain has fewer than 100 training rows of one year: the groups are the first split's all the same.
      const opened = openCohort(
        asked,
        { table, groups: file(asked.groups), auditOnly: null },
        { repeats },
        2,
      );
      expect(opened.groups).toHaveLength(count);
      expect(
        [opened.split.train, opened.split.validation, opened.split.test].map((part) => part.length),
      ).toEqual(rows);
    }
  }
  const listed = (path: string) => file(path).groups.length + (file(path).all ? 1 : 0);
  expect(listed("paper/eye-groups.json")).toBe(24);
  expect(listed("paper/eye-audit-groups.json")).toBe(24);
});

test("a line is rounded: scores to 6 digits, nothing that is no number", () => {
  expect(roundTo(6, 0.123456789)).toBe(0.123457);
  expect(roundTo(6, Number.NaN)).toBeNull();
  const line: RunResult = { ...resultOf("graduate"), version: "0", seconds: { fit: 0, score: 0 } };
  for (const value of line.scores.ece)
    expect(String(value).replace(/^0\.0*|\D/g, "").length).toBeLessThanOrEqual(6);
});
