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
  readonly absent?: true;
  readonly strata?: number;
  readonly withoutEvents?: number;
  readonly lost?: number;
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

const made = read("paper/binding.jsonl")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Line)
  .filter(({ part }) => part === "systems" || part === "three");
const scored = made.filter(({ absent }) => absent !== true);
const lines = scored.filter(({ part }) => part === "systems");
const ofThree = scored.filter(({ part }) => part === "three");

test("docs/results/binding.md is made from paper/binding.jsonl", () => {
  expect(STUDY_PAGES.binding(committedLines("binding"))).toBe(page);
});

test("the scores of a line belong together", () => {
  for (const { part, errors, everyoneError, worstError, worstGroup, meanError } of scored) {
    const { all, ...told } = errors;
    const values = Object.values(told);
    const groups = part === "three" ? 3 : 23;
    expect(values).toHaveLength(groups);
    expect(everyoneError).toBe(all);
    expect(told[worstGroup]).toBe(worstError);
    expect(Math.max(...values)).toBe(worstError);
    expect(meanError).toBeCloseTo(values.reduce((sum, value) => sum + value, 0) / groups, 5);
  }
});

test("no line is there twice", () => {
  const names = made.map(({ part, seed, rows, system }) => `${part} ${seed} ${rows} ${system}`);
  expect(new Set(names).size).toBe(names.length);
  expect(page).toContain(`**${made.length} of 400 planned lines are done**`);
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

test("the simplest rival, worked out anew", () => {
  const of = (system: string) => ofThree.filter((line) => line.system === system);
  const [held, strata, terms, untold] = [
    "held",
    "cox with splines, stratified by three",
    "cox with splines and group terms",
    "held, all only",
  ].map(of);
  for (const own of [held, strata, terms, untold]) expect(own).toHaveLength(10);
  const [worst, ise] = [(line: Line) => line.worstError, (line: Line) => line.ise];
  const shown = (own: readonly Line[], score: (line: Line) => number, digits: number) =>
    mean(own.map(score)).toFixed(digits);
  const line = said("Stratifying by three groups buys");
  expect(line).toContain(`the worst A is ${shown(strata, worst, 4)} against ${shown(held, worst, 4)}`);
  const nearer = 100 * (1 - mean(held.map(ise)) / mean(strata.map(ise)));
  expect(line).toContain(`single curves are ${nearer.toFixed(0)} % nearer to the truth`);
  expect(line).toContain(`ISE ${shown(held, ise, 5)} against ${shown(strata, ise, 5)}`);
  expect(line).toContain(`Group terms do not buy it (${shown(terms, worst, 4)})`);
  expect(line).toContain(`without groups the default has ${shown(untold, worst, 4)}`);
  // The same people: R, qt(.975, 9) = 2.262157.
  const gapsOf = (score: (line: Line) => number) =>
    held.map((own) => score(own) - score(strata.find(({ seed }) => seed === own.seed) ?? own));
  const isFound = (gaps: readonly number[]) => {
    const center = mean(gaps);
    const error = Math.sqrt(mean(gaps.map((gap) => (gap - center) ** 2)) / 9);
    return Math.abs(center / error) > 2.262157;
  };
  expect([isFound(gapsOf(worst)), isFound(gapsOf(ise))]).toEqual([false, true]);
  expect(line).toContain("buys the same calibration by group as the constrained solve");
});

test("strata of all groups have no row, and the page counts them", () => {
  for (const rows of [4374, 20_000]) {
    const own = made.filter((line) => line.absent === true && line.rows === rows);
    expect(own).toHaveLength(15);
    const range = (read: (line: Line) => number | undefined) => {
      const values = own.map((line) => read(line) ?? Number.NaN);
      return [Math.min(...values), Math.max(...values)] as const;
    };
    const line = said(`is absent with ${rows} rows`);
    expect(line).toContain(`they make ${range(({ strata }) => strata).join(" to ")} strata`);
    expect(line).toContain(
      `${range(({ withoutEvents }) => withoutEvents).join(" to ")} strata have no event`,
    );
    const lost = range(({ lost = 0 }) => Math.round((100 * lost) / 30_000));
    expect(line).toContain(`${lost.join(" to ")} % of fresh people`);
  }
});
