// docs/results/quality.md is what the study's page makes of the committed lines.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { committedLines, STUDY_PAGES } from "../../src/commands/studies.ts";

const root = new URL("../../../", import.meta.url);

test("docs/results/quality.md is made from paper/quality.jsonl", () => {
  expect(STUDY_PAGES.quality(committedLines("quality"))).toBe(
    readFileSync(new URL("docs/results/quality.md", root), "utf8"),
  );
});

interface QualityRun {
  readonly table: string;
  readonly system: string;
  readonly seed: number;
  readonly concordance: number;
  readonly ece: number;
  readonly subgroupEce: number;
  readonly ibs: number;
  readonly trueError?: Readonly<Record<string, number>>;
}

test("what quality.md concludes is what its lines say, worked out anew", () => {
  const read = (path: string) => readFileSync(new URL(path, root), "utf8");
  const page = read("docs/results/quality.md");
  const runs = read("paper/quality.jsonl")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as QualityRun);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const of = (table: string, system: string) =>
    runs.filter((run) => run.table === table && run.system === system);
  const scores = [
    ["C", (run: QualityRun) => run.concordance],
    ["ECE", (run: QualityRun) => -run.ece],
    ["subgroup ECE", (run: QualityRun) => -run.subgroupEce],
    ["IBS", (run: QualityRun) => -run.ibs],
  ] as const;
  for (const table of ["nwtco", "flchain"]) {
    const line = page.split("\n").find((one) => one.startsWith(`- ${table}:`)) ?? "";
    for (const other of ["cox", "no multipliers", "all only", "placebo groups"]) {
      const said = line.split(`than *${other}* in `)[1]?.split(";")[0] ?? "";
      const ahead = scores.filter(
        ([, read]) => mean(of(table, "graduate").map(read)) > mean(of(table, other).map(read)),
      );
      expect([...said.matchAll(/(C|subgroup ECE|ECE|IBS) \(/g)].map(([, title]) => title)).toEqual(
        ahead.map(([title]) => title),
      );
    }
  }
  const recipe = of("nwtco", "paper drsa")[0];
  const cox = of("nwtco", "cox").find(({ seed }) => seed === recipe.seed)?.ece ?? 0;
  expect(page).toContain(
    `the ECE of DRSA is ${recipe.ece.toFixed(4)}, ${(recipe.ece / cox).toFixed(0)} times that of Cox ` +
      `(${cox.toFixed(4)})`,
  );
  const errorOf = (system: string, group: string) =>
    mean(of("eye", system).map((run) => run.trueError?.[group] ?? 0));
  for (const group of ["age 75 and over", "eye medication", "Malay in 1-2 room housing"]) {
    const own = errorOf("graduate", group);
    const isBelow = own < Math.min(errorOf("cox", group), errorOf("cox with group terms", group));
    expect(page).toContain(`${group} ${own.toFixed(4)}, ${isBelow ? "" : "not "}below both Cox models'`);
  }
});

test("strata of all groups of the public tables are counted, not scored", () => {
  const read = (path: string) => readFileSync(new URL(path, root), "utf8");
  interface Counts {
    readonly table: string;
    readonly system: string;
    readonly groups: number;
    readonly strata: number;
    readonly withoutEvents: number;
    readonly lost: number;
    readonly test: number;
  }
  const lines = read("paper/quality.jsonl")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Counts)
    .filter(({ system }) => system === "cox with splines, stratified");
  const page = read("docs/results/quality.md");
  for (const [table, groups] of [
    ["nwtco", 12],
    ["flchain", 25],
  ] as const) {
    const own = lines.filter((line) => line.table === table);
    expect(own).toHaveLength(5);
    const range = (values: readonly number[]) => `${Math.min(...values)} to ${Math.max(...values)}`;
    const lost = own.reduce((sum, line) => sum + line.lost / line.test, 0) / 5;
    // More than one in a hundred: no row.
    expect(lost).toBeGreaterThan(0.01);
    expect(page).toContain(
      `has no row for ${table}: its ${groups} groups make ${range(own.map(({ strata }) => strata))} strata among ` +
        `training and validation rows. ${range(own.map(({ withoutEvents }) => withoutEvents))} of them have no event, ` +
        `and ${(100 * lost).toFixed(1)} % of the test rows`,
    );
  }
});
