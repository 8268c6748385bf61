// docs/results/targets.md is what its page makes of the committed lines; the targets of both cohorts can be read.
import { readFileSync } from "node:fs";
import { ALL_GROUP, parseTargets } from "graduate-survival/data";
import { expect, test } from "vitest";
import { committedLines, STUDY_PAGES } from "../../src/commands/studies.ts";
import { readCheckout } from "../../src/runs/checkout.ts";
import { LIFE_TABLE_GROUPS } from "../../src/studies/life-table.ts";
import { readLines } from "../../src/studies/lines.ts";
import {
  type EyeTargetLine,
  expandTargetsPlan,
  readTargetsPlan,
  registryTargets,
  type TargetLine,
  targetRequest,
} from "../../src/studies/targets.ts";
import { summariseTargets } from "../../src/summaries/targets.ts";

const root = new URL("../../../", import.meta.url);
const plan = readTargetsPlan();
const lines = readLines<TargetLine>(committedLines("targets"));

test("docs/results/targets.md is made from paper/targets.jsonl", () => {
  const page = readFileSync(new URL("docs/results/targets.md", root), "utf8");
  expect(STUDY_PAGES.targets(committedLines("targets"))).toBe(page);
  const ofEye = lines.filter(({ cohort }) => cohort === "eye");
  expect(page).toContain(`**${ofEye.length} of 45 planned lines**`);
});

test("the plan has every seed and system once, and every line is of the plan", () => {
  expect(expandTargetsPlan(plan)).toHaveLength(15 * 3 + 20 * 2);
  const key = ({ cohort, seed, system }: TargetLine) => `${cohort} ${seed} ${system}`;
  expect(new Set(lines.map(key)).size).toBe(lines.length);
  const counted = summariseTargets(plan, lines).tables.reduce((sum, table) => sum + table.lines, 0);
  expect(counted).toBe(lines.length);
});

test("the life table names the bands, and older people live less long", () => {
  const { curves } = parseTargets(readCheckout(plan.flchain.targets), { name: plan.flchain.targets });
  expect(curves.map(({ group }) => group)).toEqual(LIFE_TABLE_GROUPS.map(({ name }) => name));
  const atTen = curves.map(({ survival }) => survival[4]);
  for (const k of [1, 2, 3, 5, 6, 7]) expect(atTen[k]).toBeLessThan(atTen[k - 1]);
  for (const k of [0, 1, 2, 3]) expect(atTen[k + 4]).toBeLessThan(atTen[k]);
});

test("a registry's targets end at the horizon; systems differ in how they hold them", () => {
  const groups = [{ name: "sex = 'F'", expression: "sex = 'F'" }];
  const settings = { seed: 1, n: 800, level: 2, censoring: "dependent" } as const;
  const few = { ...plan.eye, registryPeople: 2000 };
  const targets = registryTargets(few, settings, groups, 2000);
  expect(targets.curves.map(({ group }) => group)).toEqual([ALL_GROUP.name, "sex = 'F'"]);
  expect(Array.from(targets.curves[0].time)).toEqual([365, 731, 1096, 1826]);
  expect(targetRequest("without targets", targets)).toEqual({});
  expect(targetRequest("with targets", targets)).toMatchObject({ targetSlack: "auto" });
  expect(targetRequest("with targets, slack 1", targets)).toMatchObject({ targetSlack: 1 });
});

test("wishes are judged on draws that have every system", () => {
  const line = (system: TargetLine["system"], seed: number, worstError: number): EyeTargetLine => ({
    ...{ cohort: "eye", seed, system, worstError, worstGroup: "all", errors: { all: 0.01 } },
    ...{ ise: worstError / 10, concordance: 0.7, concordanceOfTruth: 0.75 },
    ...{ clashes: [], seconds: 1, version: "0" },
  });
  const summary = summariseTargets(plan, [
    line("without targets", 1401, 0.1),
    line("with targets", 1401, 0.05),
    line("with targets, slack 1", 1401, 0.06),
    line("without targets", 1402, 0.9),
  ]);
  expect(summary.tables[0]).toMatchObject({ seeds: 1, lines: 4, clashed: 0 });
  expect(summary.wishes.map(({ isMet }) => isMet)).toEqual([true, true, true, false, true, true]);
});
