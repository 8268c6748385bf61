// Tables: by hand on results small enough for it, what was printed against itself, and the pages of docs/results
// against their results.
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { makePage } from "../../src/commands/cohort-page.ts";
import { keptRulesSection } from "../../src/pages/kept-rules.ts";
import { differenceTables, extraTable, populationTable, winTables } from "../../src/pages/tables.ts";
import { truthTable } from "../../src/pages/truth-tables.ts";
import { expandPlan, type Plan, parsePlan, type SystemName } from "../../src/runs/plan.ts";
import { parseResults, planLine, type RunResult, requireSamePlan } from "../../src/runs/results.ts";
import { PAGE_TARGETS, plansOf } from "../../src/runs/targets.ts";
import { shareOfRule } from "../../src/summaries/kept-rules.ts";
import { formatPrinted, parsePublished } from "../../src/summaries/published.ts";
import {
  collectRuns,
  compareRuns,
  countGroupWins,
  readMetric,
  spreadOf,
} from "../../src/summaries/summary.ts";
import { readExcess, readWorst } from "../../src/summaries/truth-errors.ts";

const file = (path: string) => new URL(`../../../${path}`, import.meta.url);
const readText = (path: string) => readFileSync(file(path), "utf8");
const published = parsePublished(readText("paper/published.json"), "published");
const nwtco = parsePlan(readText("paper/plans/nwtco.json"), "nwtco");

interface Made {
  readonly c: readonly number[];
  readonly ece: readonly number[];
  /** p of the logrank. */
  readonly p?: readonly number[];
  readonly A?: readonly number[];
}

/** A run whose groups are as many as its scores. */
function makeRun(system: SystemName, seed: number, { c, ece, p, A }: Made): RunResult {
  const same = <Value>(value: Value) => c.map(() => value);
  return {
    run: { plan: "nwtco", cohort: "nwtco", system, seed },
    version: "0",
    rows: [300, 100, 100],
    training: null,
    scores: {
      n: same(100),
      events: same(50),
      support: same(102),
      concordance: [...c],
      ece: [...ece],
      supportedEce: [...ece],
      ibs: same(0.1),
      logrank: [...(p ?? same(0.5))],
      individual: same(0.5),
      floor: same(0.01),
      critical: same(0.02),
      floorP: same(0.5),
    },
    truth:
      A === undefined
        ? null
        : { A: [...A], B: [...A], ise: [...A], concordance: 0.7, concordanceOfTruth: 0.75 },
    seconds: { fit: 2, score: 1 },
  };
}

function cohortOf(runs: readonly RunResult[], repeats: Plan["repeats"] = "splits", groups = 2) {
  const lines = runs.map((run) => JSON.stringify(run));
  const results = parseResults([planLine(nwtco), ...lines].join("\n"), "made").get("nwtco");
  if (results === undefined) throw new Error("no results");
  return { runs: collectRuns(results, "nwtco"), repeats, groups, bins: 102 };
}

const good = [0.7, 0.72, 0.74].map((c, k) => makeRun("graduate", k + 1, { c: [c, 0.6], ece: [0.01, 0.02] }));
const poor = [0.7, 0.71, 0.72].map((c, k) =>
  makeRun("cox", k + 1, { c: [c, 0.6], ece: [0.02, 0.03 + 0.001 * k], p: [[0.5, 0.01, 0.02][k], 0.5] }),
);

describe("by hand", () => {
  test("means, spreads and the harmonic mean", () => {
    expect(spreadOf(good, readMetric("concordance", 0))).toEqual({
      n: 3,
      mean: expect.closeTo(0.72, 12),
      sd: expect.closeTo(0.02, 12),
    });
    // 2 · .7 · .99 / 1.69
    expect(readMetric("total", 0)(good[0])).toBeCloseTo(1.386 / 1.69, 12);
    expect(poor.map(readMetric("logrank", 0))).toEqual([1, 0, 0]);
  });

  test("a difference over splits has the corrected variance, over initialisations Student's", () => {
    // Differences 0, .01, .02: mean .01, s² 1e-4; 1/3 + 100/300 against 1/3.
    const corrected = compareRuns(good, poor, readMetric("concordance", 0), "splits");
    expect(corrected?.standardError).toBeCloseTo(Math.sqrt(1e-4 * (2 / 3)), 12);
    const plain = compareRuns(good, poor, readMetric("concordance", 0), "initialisations");
    expect(plain?.standardError).toBeCloseTo(0.01 / Math.sqrt(3), 12);
    // t = √3 on 2 degrees of freedom: p = 1 − √3/√5.
    expect(plain?.p).toBeCloseTo(1 - Math.sqrt(3 / 5), 10);
    expect(compareRuns(good.slice(0, 1), poor, readMetric("ece", 0), "splits")).toBeNull();
  });

  test("only repeats that both have are paired", () => {
    const test3 = compareRuns(good, poor.slice(1), readMetric("concordance", 0), "cohorts");
    expect(test3?.df).toBe(1);
    expect(test3?.mean).toBeCloseTo(0.015, 12);
  });

  test("wins, losses and draws over groups", () => {
    const { wins, losses, draws } = countGroupWins(good, poor, "ece", 2, "splits");
    // Everyone: −.01 each time, no variance; the group: −.010, −.011, −.012.
    expect([wins, losses, draws]).toEqual([2, 0, 0]);
    const reversed = countGroupWins(poor, good, "concordance", 2, "splits");
    expect([reversed.wins, reversed.losses, reversed.draws]).toEqual([0, 0, 2]);
  });

  test("the table of everyone marks best and second, and has the printed cells", () => {
    const table = populationTable(cohortOf([...good, ...poor]), published.population[0].rows);
    expect(table.split("\n").slice(2)).toEqual([
      "| Cox | <u>0.710</u> ± 0.010 | – | <u>1</u> of 3 | – | <u>0.0200</u> ± 0.0000 | – | <u>0.823</u> ± 0.007 | – |",
      "| GRADUATE (default of 0.1.0, without the solve) | **0.720** ± 0.020 | – | **3** of 3 | – | **0.0100\\*\\*** ± 0.0000 | – | **0.834** " +
        "± 0.013 | – |",
    ]);
    const l2 = good.map(({ scores, ...run }) => ({
      ...run,
      scores,
      run: { ...run.run, system: "graduate l2" as const },
    }));
    expect(populationTable(cohortOf(l2), published.population[0].rows)).toContain("| **21\\*\\*** |");
  });

  test("controls take no place", () => {
    const control = good.map((run) => ({ ...run, run: { ...run.run, system: "placebo groups" as const } }));
    const table = populationTable(cohortOf([...control, ...poor]), {});
    expect(table).not.toContain("**");
  });

  test("differences and wins are the GRADUATE rows' against the others", () => {
    const cohort = cohortOf([...good, ...poor]);
    expect(differenceTables(cohort)).toHaveLength(1);
    expect(differenceTables(cohort)[0]).toContain("| Cox | +0.0100 | .345 | −0.01000 | **<.001** |");
    expect(winTables(cohort, undefined)[0]).toContain("| ECE | 2-0-0 |");
  });

  test("more columns: worst group, floor, seconds", () => {
    const row = extraTable(cohortOf(poor)).split("\n")[2];
    // Group ECE .030, .031, .032; over both groups (.02 + .031)/2; floors of .01.
    expect(row).toBe("| Cox | 0.1000 | 3 of 3 | 100 % | 0.0255 | 0.0310 | 2.00 | 2.55 | 3 of 3 | 2.0 |");
  });

  test("an error less the generator's is of the same group and seed", () => {
    const runs = [
      makeRun("cox", 1, { c: [0.7, 0.7, 0.7], ece: [0, 0, 0], A: [0.01, 0.05, 0.09] }),
      makeRun("generator", 1, { c: [0.7, 0.7, 0.7], ece: [0, 0, 0], A: [0.008, 0.02, 0.03] }),
      makeRun("cox", 2, { c: [0.7, 0.7, 0.7], ece: [0, 0, 0], A: [0.06, 0.05, 0.09] }),
      makeRun("generator", 2, { c: [0.7, 0.7, 0.7], ece: [0, 0, 0], A: [0.01, 0.04, 0.03] }),
    ];
    const cohort = cohortOf(runs, "cohorts", 2);
    const range = { from: 0, to: 2 };
    expect(runs.map(readWorst("A", range))).toEqual([0.05, 0.02, 0.06, 0.04]);
    expect(readExcess(cohort.runs, "A", range)(runs[0])).toBeCloseTo(0.03, 12);
    expect(readExcess(cohort.runs, "A", range)(runs[2])).toBeCloseTo(0.05, 12);
    expect(truthTable(cohort, "constrained")).toContain(
      "| Cox | 0.7000 | 0.0350 | 0.0550 | 0.0400 | 0.0425 |",
    );
    expect(truthTable(cohort, "audit-only")).toContain("| Cox | 0.0900 | 0.0600 | 0.0900 |");
  });
});

describe("results", () => {
  const lines = [planLine(nwtco), ...good.map((run) => JSON.stringify(run))];
  const failure = JSON.stringify({ run: { ...good[0].run, seed: 9 }, version: "0", failure: "diverged" });

  test("a failure counts until the run is there", () => {
    const before = parseResults([...lines, failure].join("\n"), "x").get("nwtco");
    expect([...(before?.failures.values() ?? [])].map(({ run }) => run.seed)).toEqual([9]);
    const later = JSON.stringify({ ...good[0], run: { ...good[0].run, seed: 9 } });
    expect(parseResults([...lines, failure, later].join("\n"), "x").get("nwtco")?.failures.size).toBe(0);
  });

  test("files of one plan can be put together, of two forms of it cannot", () => {
    expect(parseResults([...lines, ...lines].join("\n"), "x").get("nwtco")?.runs.size).toBe(3);
    const other = { ...nwtco, draws: 7 };
    expect(() => parseResults([...lines, planLine(other)].join("\n"), "x")).toThrow(
      /two different descriptions/,
    );
    expect(() => requireSamePlan(parseResults(lines.join("\n"), "x").get("nwtco"), other, "x")).toThrow(
      /another form of the plan "nwtco"/,
    );
  });

  test("anything else is refused with its line", () => {
    expect(() => parseResults(`${lines[0]}\n{"x":1}`, "some.jsonl")).toThrow(
      expect.objectContaining({ where: "some.jsonl, line 2" }),
    );
    expect(() => parseResults(lines[1], "some.jsonl")).toThrow(/not a results file/);
  });
});

describe("as printed", () => {
  test("18 population rows and 48 counts; one count does not sum to its groups", () => {
    expect(published.population.flatMap(({ rows }) => Object.keys(rows))).toHaveLength(18);
    const counts = published.wins.flatMap(({ table, groups, rows }) =>
      Object.entries(rows).flatMap(([metric, row]) =>
        Object.entries(row).map(([other, text]) => ({ table, groups, metric, other, text })),
      ),
    );
    expect(counts).toHaveLength(48);
    const sum = (text: string) => text.split("-").reduce((total, part) => total + Number(part), 0);
    expect(counts.filter(({ groups, text }) => sum(text) !== groups)).toEqual([
      { table: 7, groups: 24, metric: "ece", other: "drsa", text: "17-4-1" },
    ]);
  });

  test("a printed total is the harmonic mean of the printed C and 1 − ECE, up to the spread of its repeats", () => {
    for (const { rows } of published.population) {
      for (const { concordance, ece, total } of Object.values(rows)) {
        const [c, calibrated] = [Number(concordance.value), 1 - Number(ece.value)];
        expect(Math.abs((2 * c * calibrated) / (c + calibrated) - Number(total.value))).toBeLessThan(0.007);
      }
    }
  });

  test("a cell keeps its digits and marks", () => {
    const { drsa, mcboost } = published.population[2].rows;
    expect(formatPrinted(drsa.concordance)).toBe("**0.715\\*\\*** ± 0.006");
    expect(formatPrinted(mcboost.ece)).toBe("0.42 ± 0.024");
    expect(formatPrinted(mcboost.concordance)).toBe("<u>0.677</u> ± 0.011");
    expect(formatPrinted(undefined)).toBe("–");
  });
});

describe("the rule for keeping weights", () => {
  const made = (ece: Readonly<Partial<Record<SystemName, readonly number[]>>>) => {
    const runs = Object.entries(ece).flatMap(([system, eces]) =>
      eces.map((value, k) => makeRun(system as SystemName, k + 1, { c: [0.7], ece: [value] })),
    );
    const text = [planLine(nwtco), ...runs.map((run) => JSON.stringify(run))].join("\n");
    const results = parseResults(text, "made").get("nwtco");
    if (results === undefined) throw new Error("no results");
    return { runs: collectRuns(results, "nwtco"), repeats: "cohorts", groups: 1, bins: 102 } as const;
  };
  const pair = { name: "DRSA", byConcordance: "drsa", byLoss: "drsa kept by loss" } as const;

  test("explains what the baseline gains by it, of what graduate was ahead", () => {
    const cohort = made({
      drsa: [0.1, 0.11, 0.12],
      "drsa kept by loss": [0.04, 0.05, 0.06],
      graduate: [0.02, 0.03, 0.04],
    });
    const found = shareOfRule(cohort, pair, readMetric("ece", 0));
    // .06 of .08
    expect(found?.share).toBeCloseTo(0.75, 12);
    expect([found?.lead, found?.left]).toEqual([expect.closeTo(0.08, 12), expect.closeTo(-0.02, 12)]);
    expect(keptRulesSection(cohort).at(-1)).toContain(
      "- DRSA: GRADUATE's lead in ECE, +0.0800 (p <.001), is explained to 75 % by the rule; with both kept by " +
        "loss +0.0200 is left",
    );
  });

  test("has nothing to explain where there is no lead, and nothing to say without runs of both rules", () => {
    const none = made({
      drsa: [0.02, 0.04, 0.03],
      "drsa kept by loss": [0.03, 0.02, 0.04],
      graduate: [0.03, 0.02, 0.05],
    });
    expect(shareOfRule(none, pair, readMetric("ece", 0))?.share).toBeNull();
    expect(keptRulesSection(none).at(-1)).toContain("is not above 0 at 5 %");
    expect(keptRulesSection(made({ drsa: [0.1, 0.2], graduate: [0.1, 0.3] }))).toEqual([]);
  });
});

describe("docs/results", () => {
  /** Plans without committed results. */
  const NOT_RUN: readonly string[] = [];

  test("the plans without results are those named here", () => {
    const missing = PAGE_TARGETS.flatMap(plansOf).filter(
      (name) => !existsSync(file(`paper/results/${name}.jsonl`)),
    );
    expect(missing).toEqual(NOT_RUN);
  });

  test.each(PAGE_TARGETS.filter((target) => !plansOf(target).every((name) => NOT_RUN.includes(name))))(
    "%s.md is made from paper/results",
    (target) => {
      expect(makePage(target)).toBe(readText(`docs/results/${target}.md`));
    },
  );

  /** Of the lines as they stand, without the tables' own code. */
  const linesOf = (plan: string) =>
    readText(`paper/results/${plan}.jsonl`)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Partial<RunResult>);
  const eceOf = (plan: string, system: SystemName) => {
    const found = linesOf(plan).flatMap(({ run, scores }) =>
      run?.system === system && run.cohort === plan && scores ? [scores.ece[0] ?? Number.NaN] : [],
    );
    return found.reduce((sum, ece) => sum + ece, 0) / found.length;
  };

  test("how much of the lead over DRSA on nwtco is the rule for keeping weights", () => {
    const [byConcordance, byLoss, own] = (["drsa", "drsa kept by loss", "graduate"] as const).map((system) =>
      eceOf("nwtco", system),
    );
    const share = Math.round((100 * (byConcordance - byLoss)) / (byConcordance - own));
    const page = readText("docs/results/nwtco.md");
    expect(page).toContain(`| DRSA | 0.709 | 0.706 | ${byConcordance.toFixed(4)} | ${byLoss.toFixed(4)} |`);
    expect(page).toMatch(
      new RegExp(
        `- DRSA: GRADUATE's lead in ECE, \\+${(byConcordance - own).toFixed(4)} \\(p [^)]+\\), is explained to ` +
          `${share} % by the rule; ` +
          `with both kept by loss \\+${(byLoss - own).toFixed(4)} is left`,
      ),
    );
  });

  test("every page says how many of its planned runs were made", () => {
    for (const target of PAGE_TARGETS) {
      const page = readText(`docs/results/${target}.md`);
      for (const name of plansOf(target)) {
        const planned = expandPlan(parsePlan(readText(`paper/plans/${name}.json`), name)).length;
        const made = linesOf(name).filter((line) => line.scores !== undefined).length;
        expect(page).toContain(`${made} of its ${planned} planned runs have been made`);
        expect(readText("docs/results/claims.md")).toMatch(
          new RegExp(`\\| ${name} \\| \\w+ \\| ${planned} \\| ${made} \\|`),
        );
      }
    }
  });

  test("within chance is counted by the p that the pages say", () => {
    const own = linesOf("nwtco").flatMap(({ run, scores }) =>
      run?.system === "drsa" && scores ? [scores.floorP[0] ?? 0] : [],
    );
    const passed = own.filter((p) => p >= 0.05).length;
    const page = readText("docs/results/nwtco.md");
    expect(page).toMatch(new RegExp(`\\| DRSA \\| 0\\.709 \\| ${passed} of ${own.length} \\|`));
    expect(page).not.toContain("95 % point");
  });

  test("a page can be made of nothing", () => {
    expect(makePage("eye")).toContain("# Eye complication, simulated");
  });
});
