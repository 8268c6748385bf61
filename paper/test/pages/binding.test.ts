// docs/results/binding.md is what the study's page makes of the committed lines, and what it concludes is what they say.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { committedLines, STUDY_PAGES } from "../../src/commands/studies.ts";

const root = new URL("../../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const page = read("docs/results/binding.md");

interface Line {
  readonly part: string;
  readonly seed: number;
  readonly rows: number;
  readonly system: string;
  readonly worstError: number;
  readonly worstGroup: string;
  readonly everyoneError: number;
  readonly meanError: number;
  readonly ise: number;
  readonly met: number;
  readonly held: number;
  readonly residual: number | null;
  readonly iterations: number | null;
  readonly errors: Readonly<Record<string, number>>;
}

const lines = read("paper/binding.jsonl")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Line)
  .filter(({ part }) => part === "systems");

test("docs/results/binding.md is made from paper/binding.jsonl", () => {
  expect(STUDY_PAGES.binding(committedLines("binding"))).toBe(page);
});

test("the scores of a line belong together", () => {
  for (const { errors, everyoneError, worstError, worstGroup, meanError } of lines) {
    const { all, ...told } = errors;
    const values = Object.values(told);
    expect(values).toHaveLength(23);
    expect(everyoneError).toBe(all);
    expect(told[worstGroup]).toBe(worstError);
    expect(Math.max(...values)).toBe(worstError);
    expect(meanError).toBeCloseTo(values.reduce((sum, value) => sum + value, 0) / 23, 5);
  }
});

test("no line is there twice", () => {
  const names = lines.map(({ seed, rows, system }) => `${seed} ${rows} ${system}`);
  expect(new Set(names).size).toBe(names.length);
  expect(page).toContain(`**${lines.length} of 270 planned lines are done**`);
});

/** Held's score and another's, of the seeds that have both. */
function pairs(rows: number, other: string, score: (line: Line) => number) {
  const of = (system: string) => lines.filter((line) => line.rows === rows && line.system === system);
  return of("held").flatMap((own) => {
    const rival = of(other).find(({ seed }) => seed === own.seed);
    return rival === undefined ? [] : [{ own: score(own), rival: score(rival) }];
  });
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const verdict = (holds: boolean) => (holds ? "**Holds" : "**Does not hold");
const said = (words: string) => page.split("\n").find((line) => line.includes(words)) ?? "";

test("what the page concludes, worked out anew", () => {
  const worst = pairs(20_000, "0.1.0", (line) => line.worstError);
  const ratio = mean(worst.map(({ own }) => own)) / mean(worst.map(({ rival }) => rival));
  expect(said("at most 0.75 of that of *0.1.0*")).toContain(verdict(ratio <= 0.75));
  const scores = [
    ["worst told A", (line: Line) => line.worstError],
    ["ISE", (line: Line) => line.ise],
  ] as const;
  for (const rows of [4374, 20_000]) {
    for (const other of ["start", "start of 0.1.0", "start of all rows"]) {
      for (const [title, score] of scores) {
        const gaps = pairs(rows, other, score).map(({ own, rival }) => own - rival);
        const line = said(`With ${rows} rows the ${title} of *held* is no worse than that of *${other}*`);
        const shown = Math.abs(mean(gaps)).toFixed(title === "ISE" ? 5 : 4);
        const sign = Number(shown) === 0 ? "" : mean(gaps) < 0 ? "−" : "+";
        expect(line).toContain(`paired difference is ${sign}${shown}`);
        // Whatever is certain has the sign of the mean.
        if (line.includes("**Holds.**")) expect(mean(gaps)).toBeLessThan(0);
        if (line.includes("**Does not hold.**")) expect(mean(gaps)).toBeGreaterThan(0);
        expect(line).toContain(`better for ${gaps.filter((gap) => gap < 0).length} of ${gaps.length} seed`);
      }
    }
  }
  const held = lines.filter(({ system }) => system === "held");
  expect(said("Every supported group is met in every run")).toContain(
    verdict(held.every((line) => line.met === line.held)),
  );
  for (const rows of [4374, 20_000]) {
    const ofSize = held.filter((line) => line.rows === rows);
    const idle = ofSize.filter(({ iterations }) => iterations === 0).length;
    expect(page).toContain(`${idle} of ${ofSize.length} runs of *held* with ${rows} rows`);
  }
  const residuals = lines.flatMap(({ residual }) => residual ?? []);
  expect(said("no solve leaves a residual")).toContain(verdict(Math.max(...residuals) <= 1e-6));
});
