/**
 * The figures in docs/results/figures are what the committed curves give when they are drawn again; what is kept of a
 * cohort without any system, and Cox's curves, are what the plan gives when it is run again. Curves of the networks
 * are taken as committed: training them is minutes.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { parseGroupsFile } from "graduate-survival/data";
import { openWasmBackend } from "graduate-survival/node";
import { beforeAll, describe, expect, test } from "vitest";
import { makeFigureFiles, openFigureCohort } from "../../src/commands/figures.ts";
import { type OpenCohort, openCohort } from "../../src/runs/cohorts.ts";
import {
  addSystem,
  beginFigure,
  type CohortFigure,
  type FiguresFile,
  isOfPlan,
  listFigureRuns,
  PEOPLE_SYSTEMS,
  parseFigures,
  pickPeople,
  readOnGrid,
  type TracedSystem,
  traceSystem,
  writeFigures,
} from "../../src/runs/figures.ts";
import { type Plan, parsePlan, type SystemName } from "../../src/runs/plan.ts";
import { fitSystem } from "../../src/runs/systems.ts";
import { figureName, PAGE_TARGETS, type PagePlan, plansOf } from "../../src/runs/targets.ts";

const packageFile = (path: string) => new URL(`../../../${path}`, import.meta.url);
const readPlan = (name: string): Plan =>
  parsePlan(readFileSync(packageFile(`paper/plans/${name}.json`), "utf8"), name);
/** Of four decimals. */
const HALF_DIGIT = 5e-5;

/** Those that have been run. */
const committed: readonly FiguresFile[] = PAGE_TARGETS.flatMap(plansOf).flatMap((plan) => {
  const path = packageFile(`paper/results/figures-${plan}.json`);
  return existsSync(path) ? [parseFigures(readFileSync(path, "utf8"), path.pathname)] : [];
});

async function trace(open: OpenCohort, plan: Plan, system: SystemName, seed: number): Promise<TracedSystem> {
  const backend = await openWasmBackend({ threads: 1, deterministic: true });
  try {
    return { ...(await traceSystem(open, plan, { system, seed }, backend)), version: "0" };
  } finally {
    await backend.close();
  }
}

describe("the committed figures", () => {
  test("are drawn from the committed curves, and no others are there", async () => {
    const files = (await Promise.all(committed.map(makeFigureFiles))).flat();
    expect(files.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["nwtco-marginal.svg", "nwtco-people.svg"]),
    );
    expect(readdirSync(packageFile("docs/results/figures")).sort()).toEqual(
      files.map(({ name }) => name).sort(),
    );
    for (const { name, text } of files) {
      const drawn = readFileSync(packageFile(`docs/results/figures/${name}`), "utf8");
      // Not toBe: it would print both figures.
      expect(text === drawn, `${name} is what its curves give`).toBe(true);
      expect(text, name).toMatch(/^<svg [^>]*aria-label="[^"]{20,}"/);
      expect(text, name).toContain('role="img"');
      expect(text, name).toContain("prefers-color-scheme:dark");
      expect(text, name).not.toMatch(/NaN|undefined|Infinity/);
    }
  });

  test("are of every system of the plan, and person by person of three", () => {
    for (const { figures: plan, cohorts } of committed) {
      const { preset, ...read } = readPlan(plan);
      const runs = listFigureRuns(plan, { preset, ...read });
      expect(cohorts.map(({ cohort }) => cohort)).toEqual(runs.map(({ cohort }) => cohort));
      for (const [k, { systems, seed }] of cohorts.entries()) {
        expect(seed).toBe(runs[k].seed);
        expect(systems.map(({ system }) => system).sort()).toEqual([...runs[k].systems].sort());
        const drawn = systems.filter(({ people }) => people !== undefined).map(({ system }) => system);
        expect(drawn.sort()).toEqual([...PEOPLE_SYSTEMS[preset]].sort());
      }
    }
  });

  test("nwtco: Kaplan-Meier, the people and Cox's curves are the plan's, run again", async () => {
    const plan = readPlan("nwtco");
    const kept = committed.find(({ figures }) => figures === "nwtco")?.cohorts[0];
    if (kept === undefined) throw new Error("no curves of nwtco");
    const open = await openFigureCohort(plan, { cohort: "nwtco", seed: 1 });
    const { systems, ...head } = kept;
    expect(head).toEqual({ ...beginFigure(open, plan, 1), systems: undefined });
    const { version: _, ...cox } = await trace(open, plan, "cox", 1);
    expect(systems.find(({ system }) => system === "cox")).toMatchObject(cox);
  });
});

describe("which runs", () => {
  test("the first seed of the plan; flchain with and without chapter", () => {
    const seen = PAGE_TARGETS.map((target) =>
      listFigureRuns(target, readPlan(target)).map(({ cohort, seed }) => `${cohort}: ${seed}`),
    );
    expect(seen).toEqual([
      ["nwtco: 1"],
      ["flchain with chapter: 1", "flchain without chapter: 1"],
      ["level 2 dependent: 101"],
    ]);
  });

  test.each<[PagePlan, string, string]>([
    ["nwtco", "nwtco", "nwtco"],
    ["paper-nwtco", "nwtco", "paper-nwtco"],
    ["paper-flchain", "flchain with chapter", "paper-flchain-with-chapter"],
    ["flchain", "flchain without chapter", "flchain-without-chapter"],
    ["eye", "level 2 dependent", "eye-level-2-dependent"],
  ])("%s, %s: files are %s-…", (target, cohort, name) => expect(figureName(target, cohort)).toBe(name));
});

describe("whose curves", () => {
  test("10th, 50th and 90th percentile of the event times, then of the censored times", () => {
    // Events at 10…0 on rows 0…10 and a censoring at 100 + k on rows 11…31.
    const time = Float64Array.from({ length: 32 }, (_, row) => (row <= 10 ? 10 - row : 89 + row));
    const event = Uint8Array.from(time, (_, row) => (row <= 10 ? 1 : 0));
    expect(pickPeople({ time, event })).toEqual([9, 5, 1, 13, 21, 29]);
  });

  test("ties go by row; nobody twice; none where there are none", () => {
    const time = Float64Array.of(3, 3, 3, 5);
    expect(pickPeople({ time, event: Uint8Array.of(1, 1, 1, 1) })).toEqual([0, 2, 3]);
    expect(pickPeople({ time, event: Uint8Array.of(0, 0, 0, 1) })).toEqual([3, 0, 1, 2]);
    expect(pickPeople({ time: time.subarray(0, 0), event: new Uint8Array(0) })).toEqual([]);
  });
});

describe("a small simulated cohort", () => {
  const seed = 3;
  const plan = parsePlan(
    JSON.stringify({
      name: "small",
      about: "a small one",
      preset: "default",
      repeats: "cohorts",
      draws: 0,
      bins: 12,
      steps: 20,
      truthPeople: 1,
      cohorts: [
        {
          name: "level 2 dependent",
          kind: "eye",
          people: 700,
          level: 2,
          censoring: "dependent",
          groups: "-",
          auditOnly: "-",
          sizes: [4, 2, 2],
          paperSlack: 0.01,
        },
      ],
      parts: [{ cohorts: ["level 2 dependent"], systems: ["cox", "rps"], seeds: { from: seed, count: 1 } }],
    }),
    "small.json",
  );
  const groups = parseGroupsFile(JSON.stringify({ groups: [{ where: "age >= 60" }] }), "groups");
  const open = openCohort(plan.cohorts[0], { table: null, groups, auditOnly: null }, plan, seed);
  const begun = beginFigure(open, plan, seed);
  let cox: TracedSystem;
  let rps: TracedSystem;
  let figure: CohortFigure;

  beforeAll(async () => {
    rps = await trace(open, plan, "rps", seed);
    cox = await trace(open, plan, "cox", seed);
    figure = addSystem(addSystem(begun, rps), cox);
  }, 30_000);

  test("Kaplan-Meier is the product limit over the bins of the test rows", () => {
    const { edges, kaplanMeier: km, rows, events } = begun;
    const { time, event } = open.outcomes;
    let [S, died, support] = [1, 0, 0];
    for (let t = 1; t < edges.length; t++) {
      // Edges are kept to a hundredth of a day, and times are whole days.
      const isIn = (row: number) => time[row] > edges[t - 1] && (t === 12 || time[row] <= edges[t]);
      const atRisk = open.split.test.filter((row) => time[row] > edges[t - 1]).length;
      const deaths = open.split.test.filter((row) => isIn(row) && event[row] === 1).length;
      if (atRisk > 0) S *= 1 - deaths / atRisk;
      died += deaths;
      if (atRisk >= 10) support = t;
      expect(Math.abs(km.survival[t] - S)).toBeLessThanOrEqual(HALF_DIGIT + 1e-12);
      expect(km.lower[t]).toBeLessThanOrEqual(km.survival[t]);
      expect(km.upper[t]).toBeGreaterThanOrEqual(km.survival[t]);
    }
    expect({ rows, events, support: km.support }).toEqual({
      rows: open.split.test.length,
      events: died,
      support,
    });
  });

  test("mean and people are the system's own curves of the test rows", async () => {
    const backend = await openWasmBackend({ threads: 1, deterministic: true });
    const asked = { system: "cox", preset: "default", seed, bins: 12, steps: 20 } as const;
    const fitted = await fitSystem(open, asked, backend);
    for (const [k, { row }] of begun.people.entries()) {
      const own = await fitted.predictCurves(open.table, [row - 1]);
      own.survival.forEach((S, t) => {
        expect(Math.abs(Number(cox.people?.[k][t + 1]) - S)).toBeLessThanOrEqual(HALF_DIGIT + 1e-12);
      });
      const { time, event } = begun.people[k];
      expect([time, event]).toEqual([open.outcomes.time[row - 1], open.outcomes.event[row - 1]]);
    }
    const { N, survival } = await fitted.predictCurves(open.table, open.split.test);
    const last = Array.from({ length: N }, (_, i) => survival[i * 12 + 11]);
    const mean = last.reduce((sum, S) => sum + S, 0) / N;
    expect(Math.abs(cox.mean[12] - mean)).toBeLessThanOrEqual(HALF_DIGIT + 1e-12);
    await backend.close();
  });

  test("the truth is that of the same people", () => {
    const { truth, people, edges } = begun;
    const rows = people.map(({ row }) => row - 1);
    const own = open.eye?.trueSurvival(edges.slice(1), rows) ?? [];
    expect(own.length).toBe(72);
    own.forEach((S, k) => {
      // Edges of the file are rounded to a hundredth of a day.
      expect(Math.abs(Number(truth?.people[Math.floor(k / 12)][(k % 12) + 1]) - S)).toBeLessThan(
        2 * HALF_DIGIT,
      );
    });
  });

  test("systems stand in the order of the tables, each once; only three have people", () => {
    expect(figure.systems.map(({ system }) => system)).toEqual(["cox", "rps"]);
    expect(addSystem(figure, cox).systems).toEqual(figure.systems);
    expect(rps.people).toBeUndefined();
    expect(cox.people?.length).toBe(6);
  });

  test("are read as they were written, and known by plan and seed", () => {
    const text = writeFigures({ figures: "eye", cohorts: [figure] });
    const [read] = parseFigures(text, "f").cohorts;
    expect(read).toEqual(figure);
    expect(isOfPlan(read, begun)).toBe(true);
    expect(isOfPlan(read, { ...begun, seed: 4 })).toBe(false);
    expect(isOfPlan(read, beginFigure(open, { ...plan, preset: "paper" }, seed))).toBe(false);
  });

  test("a file that is not whole is refused", () => {
    const write = (change: Partial<CohortFigure>) =>
      writeFigures({ figures: "eye", cohorts: [{ ...figure, ...change }] });
    expect(() => parseFigures("{", "f")).toThrow(/not the curves of figures/);
    expect(() => parseFigures(write({ edges: [0, 1] }), "f")).toThrow(/a curve of 13 values on 2 edges/);
    expect(() => parseFigures(write({ people: [] }), "f")).toThrow(/not a curve for each of 0 people/);
    expect(() => parseFigures(write({ systems: [{ ...rps, mean: [2] }] }), "f")).toThrow(
      /systems\.0\.mean\.0/,
    );
  });

  test("figures: a panel a system, the true curves among the people's", async () => {
    const files = await makeFigureFiles({ figures: "eye", cohorts: [figure] });
    expect(files.map(({ name }) => name)).toEqual([
      "eye-level-2-dependent-marginal.svg",
      "eye-level-2-dependent-people.svg",
    ]);
    const [marginal, people] = files.map(({ text }) => text);
    expect(marginal).toContain(">rps<");
    const { support, survival } = begun.kaplanMeier;
    const gap = Math.max(...survival.slice(0, support + 1).map((S, t) => Math.abs(S - rps.mean[t])));
    expect(marginal).toContain(`>largest gap ${gap.toFixed(3)}<`);
    expect(marginal).toContain("dotted: true mean");
    for (const { text } of files) expect(text).toContain(">level 2 dependent, simulated: ");
    expect(people).toContain(">true curves<");
    expect(people).not.toContain(">rps<");
    const [onlyRps] = await makeFigureFiles({ figures: "eye", cohorts: [{ ...begun, systems: [rps] }] });
    expect(onlyRps.name).toBe("eye-level-2-dependent-marginal.svg");
  });
});

test("curves of a grid that reaches further are read between its edges", () => {
  const own = { kind: "equal", T: 2, edges: Float64Array.of(0, 6, 12) } as const;
  const grid = { kind: "equal", T: 2, edges: Float64Array.of(0, 5, 10) } as const;
  const curves = { N: 1, T: 2, survival: Float64Array.of(0.7, 0.4) };
  // 1 − .3·5/6 and .7 − .3·4/6
  const { survival } = readOnGrid(curves, own, grid);
  expect(survival[0]).toBeCloseTo(0.75, 14);
  expect(survival[1]).toBeCloseTo(0.5, 14);
  expect(readOnGrid(curves, own, { ...own, edges: Float64Array.of(0, 6, 12) })).toBe(curves);
  expect(() => readOnGrid(curves, grid, own)).toThrow(/after the horizon/);
});
