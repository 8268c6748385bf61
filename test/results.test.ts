// docs/results/README.md, the index of studies: its pictures, sentences and numbers are held against the lines of the
// runs.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { committedLines, STUDY_SUMMARIES } from "../paper/src/commands/studies.ts";
import { readLines } from "../paper/src/studies/lines.ts";
import { judge, type PairedRow } from "../paper/src/summaries/paired.ts";
import { mean } from "../paper/src/summaries/summary.ts";
import { root } from "./cli/run-cli.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const page = read("docs/results/README.md").replaceAll("\n", " ");

/** A sentence as it stands, with its lines joined. */
const says = (words: string) => expect(page).toContain(words);

/** ".0240" */
const short = (value: number, digits = 4) => value.toFixed(digits).replace(/^0/, "");

describe("simulated people", () => {
  test("every picture is shown, and says what it shows to who cannot see it", () => {
    for (const name of readdirSync(join(root, "docs/results/pictures")))
      expect(page).toMatch(new RegExp(`!\\[[^\\]]{60,}\\]\\(pictures/${name}\\)`));
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

  test("a model constrained by group", () => {
    const { sizes, differences, allMet, idle } = STUDY_SUMMARIES.binding(committedLines("binding"));
    const named = ["cox", "0.1.0", "start", "start of all rows", "trained", "held"];
    const means = sizes.find(({ rows }) => rows === 20_000)?.means ?? [];
    const worstOf = (wanted: string) =>
      short(means.find(({ system }) => system === wanted)?.worst.mean ?? Number.NaN);
    const byError = means
      .filter(({ system }) => named.includes(system))
      .sort((one, other) => one.worst.mean - other.worst.mean)
      .map(({ system }) => system);
    says(
      "Of the picture's systems with 20,000 people, the constrained model is the nearest to the truth in its worst group, and Cox the farthest",
    );
    expect([byError[0], byError.at(-1)]).toEqual(["held", "cox"]);
    says(`A ${worstOf("held")} against ${worstOf("cox")}`);
    says("Cox stratified by the right three groups is as near (below)");
    const strata = sizes
      .find(({ rows }) => rows === 20_000)
      ?.rivals.find(
        ({ other, score }) => other === "cox with splines, stratified by three" && score === "worst",
      );
    expect(strata?.found).toBe("unclear");
    says("Every group was met in every run");
    expect(allMet.runs).toBe(allMet.of);
    says("With either number of people it is nearer than the additive model it starts at");
    const found = differences.filter(({ score, other }) => score === "worst" && other === "start");
    expect(found.map((one) => [one.rows, one.found])).toEqual([
      [4374, "better"],
      [20_000, "better"],
    ]);
    says("a start that learns from the validation rows too performs indistinguishably in the worst group");
    says(`in the worst group, ${worstOf("start of all rows")}`);
    says("With 20,000 people the constrained model's single curves are better, with 4374 they are as good");
    const ofAllRows = differences.filter(({ other }) => other === "start of all rows");
    const foundIn = (name: string) => ofAllRows.filter(({ score }) => score === name).map((one) => one.found);
    expect(foundIn("worst")).toEqual(["unclear", "unclear"]);
    expect(foundIn("ise")).toEqual(["unclear", "better"]);
    const kept = sizes.flatMap((size) => size.means.find(({ system }) => system === "held")?.keptStart ?? []);
    const [runs, of] = [kept.map((one) => one.runs), kept.map((one) => one.of)].map(
      (all) => mean(all) * all.length,
    );
    says(`The validation rows kept the additive start in ${runs} of ${of} runs`);
    const idleRuns = idle.reduce((sum, one) => sum + one.runs, 0);
    const idleOf = idle.reduce((sum, one) => sum + one.of, 0);
    says(`In ${idleRuns} of ${idleOf} runs the layer solved without constraints met every group already`);
    expect(idleRuns).toBeGreaterThan(idleOf / 2);
  });

  test("the simplest rival", () => {
    const { sizes, three } = STUDY_SUMMARIES.binding(committedLines("binding"));
    const of = (wanted: string) => three.means.find(({ system }) => system === wanted);
    const [held, strata, terms] = [
      "held",
      "cox with splines, stratified by three",
      "cox with splines and group terms",
    ].map(of);
    if (!held || !strata || !terms) throw new Error("a system has no lines");
    says(`has a worst A of ${short(strata.worst.mean)}; the constrained model has ${short(held.worst.mean)}`);
    says(
      "That is not separated: stratifying by three groups buys the same calibration by group as the constrained solve",
    );
    says("What the model adds is single curves a third nearer to the truth");
    const foundIn = (wanted: string) =>
      three.rivals.find(({ other, score }) => other === strata.system && score === wanted)?.found;
    expect([foundIn("worst"), foundIn("ise")]).toEqual(["unclear", "better"]);
    says(`ISE ${short(held.ise.mean, 5)} against ${short(strata.ise.mean, 5)}`);
    expect(1 - held.ise.mean / strata.ise.mean).toBeCloseTo(1 / 3, 1);
    says(`splines and group terms has a worst A of ${short(terms.worst.mean)}`);
    const counted = readLines<{ system: string; table: string; strata: number; withoutEvents: number }>(
      committedLines("quality"),
    ).filter(({ system, table }) => system === "cox with splines, stratified" && table === "nwtco");
    const range = (values: readonly number[]) => `${Math.min(...values)} to ${Math.max(...values)}`;
    says(
      `nwtco's twelve make ${range(counted.map((one) => one.strata))} strata, of which ` +
        `${range(counted.map((one) => one.withoutEvents))} have none`,
    );
    const [absent] = sizes.find(({ rows }) => rows === 20_000)?.absent ?? [];
    says(`Of 23 simulated groups' strata, ${absent.withoutEvents.join(" to ")} have none with 20,000 people`);
  });

  test("a group that the model may not see", () => {
    const { prices } = STUDY_SUMMARIES["held-not-told"](committedLines("held-not-told"));
    const [least, ...others] = prices.filter(({ rows }) => rows === 20_000);
    says("At AUC .55 the columns give away too little: the tool says so and changes nothing");
    expect(least).toMatchObject({
      strength: 0.55,
      leftAlone: least.seeds,
      infeasible: least.seeds,
      errorRatio: 1,
      iseRatio: 1,
    });
    says(
      "From AUC .88 on more than half of the group's error goes; the better the other columns tell who is in it, the " +
        "less everyone pays for each point of it. At AUC .70 single curves pay most.",
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

  test("survival known from outside", () => {
    const { tables, wishes } = STUDY_SUMMARIES.targets(committedLines("targets"));
    says("With `--target-slack auto` the worst group gains less, and single curves gain more");
    const { differences, means, columns } = tables[0];
    const meanOf = (wanted: string, column: string) =>
      means.find(({ system }) => system === wanted)?.values[
        columns.findIndex(({ name }) => name === column)
      ] ?? 0;
    const [byDefault, auto, without] = ["with targets, slack 1", "with targets", "without targets"];
    const share = meanOf(byDefault, "worst A") / meanOf(without, "worst A");
    says(
      `With 800 rows the error of the worst group is ${short(share, 2)} of that without targets, and single curves gain too`,
    );
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
  const rows = read("docs/results/folds.md")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const ranksOf = (wanted: string) =>
    rows
      .filter(([system]) => system === wanted)
      .map(([, harrell, , ibs]) => [harrell, ibs].map((cell) => Number(/, (\d+) of/.exec(cell)?.[1])));
  says(
    "today's default is fourth by C-index and fourth by Brier score on nwtco, second and fourth on flchain",
  );
  expect(ranksOf("default")).toEqual([
    [4, 4],
    [2, 4],
  ]);
  says("0.1.0's `--ensemble 5 --splines`, without the solve, was third and second, first and third");
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
      "the mean error of the groups is lower than that of cause-specific Cox, Fine-Gray, SurvivalBoost and a forest of " +
        "competing risks",
    );
    expect([errors.cox, errors["fine-gray"], errors.survivalboost, errors.forest]).toEqual(
      Array(4).fill("better"),
    );
    says(
      "not separated from that of Cox with a term for each group, whose single curves are worse for one cause of two",
    );
    expect(errors["cox with group terms"]).toBe("par");
    expect([first, second].map((of) => of["cox with group terms"])).toEqual(["par", "better"]);
    says("On five public tables it has the best mean rank by Brier score, most of it within chance");
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

describe("other studies", () => {
  test("customers: the worst group's A", () => {
    const rows = read("docs/results/customers.md").split("## 20,000 customers")[1].split("\n");
    interface Line {
      readonly rows: number;
      readonly system: string;
      readonly groups: Readonly<Record<string, { readonly A: number }>>;
    }
    const worst = (wanted: string) => {
      const own = readLines<Line>(committedLines("customers")).filter(
        ({ rows: size, system }) => size === 20_000 && system === wanted,
      );
      const errors = own.map(({ groups: { all: _, ...named } }) =>
        Math.max(...Object.values(named).map(({ A }) => A)),
      );
      return (100 * mean(errors)).toFixed(2);
    };
    const [own, terms] = ["graduate", "cox with group terms of all rows"].map(worst);
    says(`the worst group's A is ${own} points, with Cox and group terms of all rows ${terms}`);
    expect(rows.find((line) => line.startsWith("| graduate |"))).toContain(`| ${own} ±`);
  });

  test("bands and bounds", () => {
    interface Cell {
      readonly audits: number;
      readonly exact: { readonly covered: number };
      readonly exactPopulation: { readonly covered: number };
      readonly tight: { readonly covered: number };
    }
    const cells = readLines<Cell>(committedLines("certificates"));
    const least = Math.min(
      ...cells.flatMap(({ audits, exact, exactPopulation, tight }) =>
        [exact, exactPopulation, tight].map(({ covered }) => covered / audits),
      ),
    );
    says(`held for all groups together in at least ${(100 * least).toFixed(1)} % of 1000 audits a cell`);
    expect(new Set(cells.map(({ audits }) => audits))).toEqual(new Set([1000]));
    const shares = [
      ...read("docs/results/bands.md").matchAll(/\| graduate, as shipped \| \d+ \| ([\d.]+) ±/g),
    ].map(([, share]) => Number(share));
    expect(shares).toHaveLength(14);
    says(
      `held the true curve ${Math.min(...shares).toFixed(0)} to ${Math.max(...shares).toFixed(0)} % of the time, by law and size`,
    );
  });

  test("real tables: where five splits separate the default from Cox", () => {
    const line = read("docs/results/tables.md")
      .split("\n")
      .find((one) => one.startsWith("- 5 splits separate `graduate` from cox (p < 0.05)"));
    const [byP] = (line ?? "").split(", and on no score");
    says("five splits separate it from Cox in C-index on four of them, and in no score for the worse");
    expect(byP.match(/C better/g)).toHaveLength(4);
    expect(line).not.toContain("worse");
  });

  test("the paper: how many statements, and the central one", () => {
    const claims = read("docs/results/claims.md");
    says(`its ${claims.match(/^### \d+\./gm)?.length} statements, one by one`);
    const verdict = claims.split("\n").find((line) => line.startsWith("| 27 |")) ?? "";
    expect(verdict).toContain(
      "paper's recipe: holds (against no multipliers, without the tail term), open against",
    );
    expect(verdict).toContain("not separated on nwtco and flchain, does not hold on eye");
    says("it is not separated on nwtco and flchain and does not hold on eye");
    const section = claims.split("\n### 27.")[1].split("\n### 28.")[0];
    const cells = [
      ...section.matchAll(/paper's recipe, 7 of 7 initialisations \| (0[.\d]+) \| (0[.\d]+) \|/g),
    ].map(([, own, free]) => `${own.slice(1)} against ${free.slice(1)}`);
    expect(cells).toHaveLength(3);
    says(`${cells[0]} on nwtco, ${cells[1]} on flchain, ${cells[2]} on simulated eye complication`);
    says("With the paper's tail term it holds on flchain alone");
    expect(section).toContain("they help on flchain, and are not separated on nwtco and eye");
  });
});
