// The README's table repeats numbers of another page, which tests make anew from the runs; its pictures and the sentences
// below them are held against the lines of the runs.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { committedLines, STUDY_SUMMARIES } from "../paper/src/commands/studies.ts";
import { judge, type PairedRow } from "../paper/src/summaries/paired.ts";
import { mean } from "../paper/src/summaries/summary.ts";
import { root } from "./cli/run-cli.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const readme = read("README.md");

/** Cells of the rows of every table in a text. */
function rowsOf(text: string): string[][] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

const numbersOf = (text: string) => text.match(/\d*\.\d+/g) ?? [];

describe("README", () => {
  test("audits of other programs' models: the numbers of docs/audit-any-model.md", () => {
    const shown = rowsOf(readme).filter((cells) => cells.length === 4 && /^\.\d{3}$/.test(cells[1]));
    const known = rowsOf(read("docs/audit-any-model.md")).filter(([, c]) => /^0\.\d{3}$/.test(c));
    expect(shown.length).toBe(5);
    expect(known.length).toBe(shown.length);
    for (const [k, [, c, everyone, histology]] of shown.entries()) {
      const [, knownC, knownEveryone, knownHistology] = known[k];
      expect(`0${c}`).toBe(knownC);
      expect(numbersOf(everyone)).toEqual(numbersOf(knownEveryone));
      expect(numbersOf(histology)).toEqual(numbersOf(knownHistology));
      expect(histology.includes("disagrees")).toBe(knownHistology.endsWith("disagrees"));
    }
  });

  test("simulated people: the picture has the worst group's mean error of each system's lines, in points", () => {
    interface Line {
      readonly part: string;
      readonly rows: number;
      readonly system: string;
      readonly worstError: number;
    }
    const lines = read("paper/binding.jsonl")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
    const worst = (size: number, system: string) => {
      const own = lines.filter(
        (line) => line.part === "systems" && line.rows === size && line.system === system,
      );
      return ((100 * own.reduce((sum, line) => sum + line.worstError, 0)) / own.length).toFixed(1);
    };
    const shown = [...read("docs/results/pictures/held.svg").matchAll(/>(\d+\.\d)</g)].map(
      ([, text]) => text,
    );
    const systems = ["cox", "0.1.0", "start", "start of all rows", "trained", "held"];
    expect(shown).toEqual([4374, 20_000].flatMap((size) => systems.map((system) => worst(size, system))));
  });
});

/** A sentence as it stands, with its lines joined. */
const says = (words: string) => expect(readme.replaceAll("\n", " ")).toContain(words);

describe("what is said below the README's pictures is what the lines say", () => {
  test("every picture is shown, and says what it shows to who cannot see it", () => {
    for (const name of readdirSync(join(root, "docs/results/pictures"))) {
      expect(readme).toMatch(new RegExp(`!\\[[^\\]]{60,}\\]\\(docs/results/pictures/${name}\\)`));
    }
  });

  test("held", () => {
    const { sizes, differences, allMet } = STUDY_SUMMARIES.binding(committedLines("binding"));
    const named = ["cox", "0.1.0", "start", "start of all rows", "trained", "held"];
    const means = sizes.find(({ rows }) => rows === 20_000)?.means ?? [];
    const byError = means
      .filter(({ system }) => named.includes(system))
      .sort((one, other) => one.worst.mean - other.worst.mean)
      .map(({ system }) => system);
    says(
      "With 20,000 of them the held model is the nearest to the truth in its worst group and Cox the farthest",
    );
    expect([byError[0], byError.at(-1)]).toEqual(["held", "cox"]);
    says("every group was met in every run");
    expect(allMet.runs).toBe(allMet.of);
    const found = differences.filter(({ score, other }) => score === "worst" && other === "start");
    says("with either number it is clearly nearer than the additive model it starts at");
    expect(found.map((one) => [one.rows, one.found])).toEqual([
      [4374, "better"],
      [20_000, "better"],
    ]);
    says("A start that learns from the validation rows too");
    says(
      "is not told apart from it in its worst group; with 20,000 people the held model's single curves are better",
    );
    says("with 4374 they are as good");
    const ofAllRows = differences.filter(({ other }) => other === "start of all rows");
    const foundIn = (name: string) => ofAllRows.filter(({ score }) => score === name).map((one) => one.found);
    expect(foundIn("worst")).toEqual(["unclear", "unclear"]);
    expect(foundIn("ise")).toEqual(["unclear", "better"]);
  });

  test("held, not told", () => {
    const { prices } = STUDY_SUMMARIES["held-not-told"](committedLines("held-not-told"));
    const [least, ...others] = prices.filter(({ rows }) => rows === 20_000);
    says("At AUC .55 they give away too little: the tool says so, bends nothing");
    expect(least).toMatchObject({
      strength: 0.55,
      leftAlone: least.seeds,
      infeasible: least.seeds,
      errorRatio: 1,
      iseRatio: 1,
    });
    says(
      "From AUC .88 on more than half of the group's error goes; the better they do, the less everyone pays for each " +
        "point of it, and at .70 single curves pay most.",
    );
    const ascending = (values: readonly number[]) =>
      values.every((value, k) => k === 0 || value > values[k - 1]);
    expect(others.map(({ strength }) => strength)).toEqual([0.7, 0.88, 0.96]);
    for (const { errorRatio } of others.slice(1)) expect(errorRatio).toBeLessThan(0.5);
    expect(Math.max(...others.map(({ iseRatio }) => iseRatio))).toBe(others[0].iseRatio);
    // What a point costs; a gain of nothing would cost without bound.
    expect(others[0].errorRatio).toBeLessThan(1);
    expect(ascending(others.map(({ errorRatio, iseRatio }) => (1 - iseRatio) / (1 - errorRatio)))).toBe(true);
  });

  test("outside curves", () => {
    const { tables, wishes } = STUDY_SUMMARIES.targets(committedLines("targets"));
    says("Groups and single curves come nearer to the truth: the error of the worst group is halved");
    says("with `--target-slack auto` it falls less, and single curves gain more");
    const { differences, means, columns } = tables[0];
    const meanOf = (wanted: string, column: string) =>
      means.find(({ system }) => system === wanted)?.values[
        columns.findIndex(({ name }) => name === column)
      ] ?? 0;
    const [byDefault, auto, without] = ["with targets, slack 1", "with targets", "without targets"];
    expect(meanOf(byDefault, "worst A") / meanOf(without, "worst A")).toBeLessThan(0.55);
    expect(meanOf(auto, "worst A")).toBeGreaterThan(meanOf(byDefault, "worst A"));
    expect(meanOf(auto, "ISE")).toBeLessThan(meanOf(byDefault, "ISE"));
    for (const column of ["worst A", "ISE"]) {
      const own = differences.filter((one) => one.column === column);
      expect(own).toHaveLength(2);
      for (const { mean, error } of own) expect(mean + 2 * (error ?? 0)).toBeLessThan(0);
    }
    const missed = wishes.filter(({ isMet }) => !isMet).map(({ what }) => what);
    expect(missed).toEqual(["*with targets*: worst A at most 0.55 of that without"]);
  });
});

test("the ranks on the folds of the published benchmark are those of the page", () => {
  const rows = rowsOf(read("docs/results/folds.md"));
  const ranksOf = (wanted: string) =>
    rows
      .filter(([system]) => system === wanted)
      .map(([, harrell, , ibs]) => [harrell, ibs].map((cell) => Number(/, (\d+) of/.exec(cell)?.[1])));
  says("is fourth by C-index and fourth by Brier score on nwtco, second and fourth on flchain");
  expect(ranksOf("default")).toEqual([
    [4, 4],
    [2, 4],
  ]);
  says("was third and second, first and third");
  expect(ranksOf("five with splines")).toEqual([
    [3, 2],
    [1, 3],
  ]);
});

describe("what is said of several causes and of late entry is what the lines say", () => {
  const verdicts = <System extends string>(rows: readonly PairedRow<System>[], score: number) =>
    Object.fromEntries(rows.map(({ system, scores }) => [system, judge(scores[score].difference)]));

  test("several causes", () => {
    const { laws, tables } = STUDY_SUMMARIES.causes(committedLines("causes"));
    const [errors, first, second] = [0, 3, 4].map((score) => verdicts(laws[0].rows, score));
    says(
      "the mean error of its groups is lower than that of cause-specific Cox, Fine-Gray, SurvivalBoost   and a forest of competing risks",
    );
    expect([errors.cox, errors["fine-gray"], errors.survivalboost, errors.forest]).toEqual(
      Array(4).fill("better"),
    );
    says("not told apart from that of Cox with a term for each group, whose single curves are worse for one");
    expect(errors["cox with group terms"]).toBe("par");
    expect([first, second].map((of) => of["cox with group terms"])).toEqual(["par", "better"]);
    says("On five public   tables it has the best mean rank by Brier score, most of it within chance");
    const rankOf = (s: number) =>
      mean(tables.flatMap(({ rows }) => [0, 1].map((k) => rows[s].scores[k].rank)));
    const ranks = tables[0].rows.map(({ system }, s) => ({ system, rank: rankOf(s) }));
    expect(ranks.toSorted((one, other) => one.rank - other.rank)[0].system).toBe("graduate");
    const cases = tables.flatMap(({ rows }) => [0, 1].flatMap((k) => Object.values(verdicts(rows, k))));
    expect(cases.filter((found) => found === "par").length).toBeGreaterThan(cases.length / 2);
    expect(cases).not.toContain("worse");
  });

  test("late entry and changing covariates", () => {
    const { law, tables } = STUDY_SUMMARIES.follow(committedLines("follow"));
    says(
      "On six public tables ranking, likelihood and calibration are nowhere worse than those of R's Cox models",
    );
    expect(tables).toHaveLength(6);
    const cases = tables.flatMap(({ rows }) =>
      rows[0].scores.flatMap((_, k) => {
        const found = verdicts(rows, k);
        return [found.cox, found["cox with group terms"]];
      }),
    );
    expect(cases).not.toContain("worse");
    says("beyond chance, and seldom better");
    expect(cases.filter((found) => found === "better").length).toBeLessThan(cases.length / 6);
    says("single curves are nearer to the truth than those of Cox, with group terms and without");
    const ise = verdicts(law.rows, 3);
    expect([ise.cox, ise["cox with group terms"]]).toEqual(["better", "better"]);
  });
});
