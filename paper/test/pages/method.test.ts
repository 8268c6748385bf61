// docs/results/method.md and its pictures are made from the committed lines of the paper's recipe, all of them made on one
// kind of machine; and a switch's factor is what is worked out by hand.
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makeMethod, PACE_PLANS, readMethod } from "../../src/commands/method.ts";
import { findPlanResults } from "../../src/runs/committed.ts";
import { expandPlan } from "../../src/runs/plan.ts";
import { CELLS } from "../../src/summaries/method.ts";

const results = new URL("../../../docs/results/", import.meta.url);
const recipe = ["paper-nwtco", "paper-flchain", "paper-eye"] as const;
const linesOf = (name: string) => [...(findPlanResults(name).results?.runs.values() ?? [])];
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

test("page and pictures are made from the committed lines, and no others are there", async () => {
  const made = await makeMethod();
  const pictures = [...made.keys()].flatMap((name) => (name.startsWith("method/") ? [name.slice(7)] : []));
  expect(readdirSync(new URL("method/", results)).sort()).toEqual(pictures.sort());
  for (const [name, text] of made) {
    expect(text === readFileSync(new URL(name, results), "utf8"), name).toBe(true);
    expect(text, name).not.toMatch(/NaN|undefined|Infinity/);
  }
});

test("the paper's recipe has been run in full, without failures, and on one kind of machine", () => {
  for (const name of recipe) {
    const { plan, results: run } = findPlanResults(name);
    expect(run?.runs.size).toBe(expandPlan(plan).length);
    expect(run?.failures.size).toBe(0);
  }
  for (const name of [...recipe, ...PACE_PLANS])
    expect(new Set(linesOf(name).map(({ backend }) => backend))).toEqual(
      new Set(linesOf(name).length === 0 ? [] : ["webgpu"]),
    );
});

test("the factor of a switch is the geometric mean over seeds, worked out anew", () => {
  const { cohorts } = readMethod();
  for (const [k, name] of recipe.entries()) {
    const [of, seeds] = [linesOf(name), [1, 2, 3, 4, 5, 6, 7]];
    const cohort =
      name === "paper-nwtco" ? "nwtco" : name === "paper-eye" ? "level 2 dependent" : "flchain with chapter";
    const ece = (system: string, seed: number) =>
      of.find(({ run }) => run.cohort === cohort && run.system === system && run.seed === seed)?.scores
        .ece[0] ?? 0;
    const ratio = (on: string, off: string) =>
      Math.exp(mean(seeds.map((seed) => Math.log(ece(on, seed) / ece(off, seed)))));
    const { effects, seeds: count, cells } = cohorts[k];
    expect(count).toBe(7);
    expect(cells.map(({ system }) => system)).toEqual(CELLS.map(({ system }) => system));
    expect(effects.map(({ alone }) => alone.factor)).toEqual(
      ["drsa without tail", "drsa kept by constraints", "graduate l2 kept by concordance"].map((on) =>
        expect.closeTo(ratio(on, "drsa"), 10),
      ),
    );
    const averaged = Math.sqrt(
      Math.sqrt(
        ratio("drsa without tail", "drsa") *
          ratio("drsa without tail kept by constraints", "drsa kept by constraints") *
          ratio("graduate l2 without tail kept by concordance", "graduate l2 kept by concordance") *
          ratio("graduate l2 without tail", "graduate l2"),
      ),
    );
    expect(effects[0].average.factor).toBeCloseTo(averaged, 10);
  }
});
