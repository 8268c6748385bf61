// The part on real tables of docs/results/held-not-told.md: its committed lines, and what is said of made-up ones.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { committedLines, STUDY_PAGES } from "../../src/commands/studies.ts";
import { realTables } from "../../src/pages/held-real.page.ts";
import { type HeldRealLine, readHeldRealPlan } from "../../src/studies/held-real.ts";
import type { TrainedSystem } from "../../src/studies/held-systems.ts";
import { readLines } from "../../src/studies/lines.ts";
import { summariseHeldReal } from "../../src/summaries/held-real.ts";

const root = new URL("../../../", import.meta.url);
const plan = readHeldRealPlan();
const committed = readLines<HeldRealLine>(committedLines("held-real"));

test("docs/results/held-not-told.md is made from paper/held-real.jsonl too", () => {
  const page = readFileSync(new URL("docs/results/held-not-told.md", root), "utf8");
  expect(STUDY_PAGES["held-real"](committedLines("held-real"))).toBe(page);
});

test("every line is of the plan, once", () => {
  const key = ({ table, by, seed, system }: HeldRealLine) => `${table} ${by} ${seed} ${system}`;
  expect(new Set(committed.map(key)).size).toBe(committed.length);
  expect(summariseHeldReal(plan, committed).lines).toBe(committed.length);
});

/** One of flchain, whose men are right. */
function line(system: TrainedSystem, seed: number, women: { gap: number; p: number }): HeldRealLine {
  const verdict = {
    status: "met",
    freshDistance: 1,
    freshP: 0.5,
    auc: 0.8,
    before: 0.9,
    after: 0.1,
  } as const;
  const said = system.startsWith("held") ? { ...verdict, tells: ["creatinine.log"] } : {};
  const scores = { n: 800, events: 200, gap: 0.01, noise: 0.01, critical: 0.02, p: 0.5, atRisk: 1, ...said };
  return {
    ...{ table: "flchain", by: "sex", seed, system, rows: { train: 60, test: 20 } },
    groups: [
      { ...scores, group: "women", ...women },
      { ...scores, group: "men" },
    ],
    ...{ worstGap: 0.02, worstGroup: "age < 60", concordance: 0.8, ibs: 0.1, seconds: 1, version: "0" },
  };
}

/** Splits of every system, with the gaps of women without and with holding. */
function splitsOf(gaps: readonly (readonly [free: number, held: number])[]): HeldRealLine[] {
  return gaps.flatMap(([free, held], k) =>
    plan.systems.map((system) => {
      const gap = system.startsWith("held") ? held : free;
      return line(system, plan.seeds.from + k, { gap, p: gap > 0.02 ? 0.01 : 0.5 });
    }),
  );
}

test("a group that is off, and what holding does to it", () => {
  const lines = splitsOf([
    [0.05, 0.03],
    [0.06, 0.01],
    [0.04, 0.02],
  ]);
  // A split that lacks a system does not count.
  const summary = summariseHeldReal(plan, [...lines, line("free", plan.seeds.from + 3, { gap: 9, p: 0.01 })]);
  const [{ groups, changes, splits }] = summary.results;
  expect(splits).toBe(3);
  const [free, held] = groups[0].means;
  expect(free.gap ** 2).toBeCloseTo((0.05 ** 2 + 0.06 ** 2 + 0.04 ** 2) / 3, 12);
  expect(free.beyond ** 2).toBeCloseTo(free.gap ** 2 - 0.01 ** 2, 12);
  expect([free.off, held.off]).toEqual([3, 1]);
  // Differences −.02, −.05 and −.02: their variance is .0003, times 1/3 + 20/60.
  expect(changes[0].gaps[0]?.mean).toBeCloseTo(-0.03, 12);
  expect(changes[0].gaps[0]?.standardError).toBeCloseTo(Math.sqrt(0.0002), 12);
  const page = realTables(summary);
  expect(page).toContain("**Women are off** without holding, in 3 of 3 splits (chance alone: up to 1).");
  expect(page).toContain("The gap changes by −0.0300 ± 0.0141 (p = 0.168) with *held* (off in 1)");
  expect(page).toContain("**Of men nothing can be shown:**");
  expect(page).toContain("- *held* less *free*: nothing.");
  expect(page).toContain("of 2 groups, with *free* 1 (women of flchain), with *held* none");
});

test("without lines the part says so", () => {
  expect(realTables(summariseHeldReal(plan, []))).toContain("**0 of 150 planned lines**");
});
