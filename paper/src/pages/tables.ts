/**
 * The paper's tables as Markdown, made from result lines and set beside the printed numbers: Tables 2–4 (everyone in
 * the test rows), 5–7 (wins, losses and draws over groups), 1 (attributes, here measured), and scores for which the
 * paper has no columns. The best system is bold and the second underlined, not counting the controls; stars are as in
 * the paper, best against second best.
 */

import type { Plan, SystemName } from "../runs/plan.ts";
import type { RunResult } from "../runs/results.ts";
import { METRIC_NAMES, SYSTEM_LABELS } from "../summaries/labels.ts";
import {
  formatPrinted,
  METRICS,
  type Metric,
  type PrintedCell,
  type Published,
} from "../summaries/published.ts";
import {
  adjust,
  type CohortRuns,
  compareRuns,
  countGroupWins,
  countPasses,
  HIGHER_IS_BETTER,
  LEVEL,
  listSystems,
  type Read,
  type RunsBySystem,
  readEceOverFloor,
  readGroupEce,
  readMetric,
  readWorstEce,
  runsOf,
  spreadOf,
} from "../summaries/summary.ts";
import { formatMarkdown, formatMean, formatSigned } from "./markdown.ts";

/** Not ranked: they are given, or made from, something other than the rest. */
const CONTROLS: readonly SystemName[] = [
  "five graduates",
  "graduate with splines",
  "five with splines",
  "cox of all rows",
  "placebo groups",
  "all only",
  "no multipliers",
  "generator",
];
const GRADUATES: readonly SystemName[] = ["graduate", "graduate l2", "graduate variance"];

const DIGITS: Readonly<Record<Metric, number>> = { concordance: 3, logrank: 0, ece: 4, total: 3 };
const VERY_SIGNIFICANT = 0.01;

/** Tables 2–4, each cell beside the printed one. */
export function populationTable(
  { runs, repeats }: CohortRuns,
  printed: Readonly<Record<string, Readonly<Record<Metric, PrintedCell>>>>,
): string {
  const systems = listSystems(runs);
  const places = METRICS.map((metric) => rankSystems(runs, metric, repeats));
  const rows = systems.map((system) => [
    SYSTEM_LABELS[system],
    ...METRICS.flatMap((metric, k) => {
      const cell = formatOwn(runsOf(runs, system), metric);
      return [mark(cell, places[k].get(system)), formatPrinted(printed[system]?.[metric])];
    }),
  ]);
  const titles = METRICS.flatMap((metric) => [
    `${METRIC_NAMES[metric]} ${HIGHER_IS_BETTER[metric] ? "↑" : "↓"}`,
    "printed",
  ]);
  return formatMarkdown(["system", ...titles], rows);
}

interface Cell {
  readonly value: string;
  readonly spread: string;
}

function formatOwn(runs: readonly RunResult[], metric: Metric): Cell {
  const spread = spreadOf(runs, readMetric(metric, 0));
  if (spread === null) return { value: "–", spread: "" };
  if (metric === "logrank")
    return { value: String(Math.round(spread.mean * spread.n)), spread: ` of ${spread.n}` };
  const sd = Number.isNaN(spread.sd) ? "" : ` ± ${spread.sd.toFixed(DIGITS[metric])}`;
  return { value: spread.mean.toFixed(DIGITS[metric]), spread: sd };
}

interface Place {
  readonly place: "best" | "second";
  readonly stars: string;
}

function mark({ value, spread }: Cell, place: Place | undefined): string {
  if (place === undefined) return value + spread;
  return place.place === "best"
    ? `**${value}${place.stars.replaceAll("*", "\\*")}**${spread}`
    : `<u>${value}</u>${spread}`;
}

/** Best and second of the systems that are not controls, by the mean as printed; ties share a place. */
function rankSystems(runs: RunsBySystem, metric: Metric, repeats: Plan["repeats"]): Map<SystemName, Place> {
  const read = readMetric(metric, 0);
  const sign = HIGHER_IS_BETTER[metric] ? -1 : 1;
  const standing = listSystems(runs)
    .filter((system) => !CONTROLS.includes(system))
    .flatMap((system) => {
      const spread = spreadOf(runsOf(runs, system), read);
      // Passes are ranked by their share: systems may differ in their number of runs.
      return spread === null ? [] : [{ system, value: sign * spread.mean }];
    })
    .sort((a, b) => a.value - b.value);
  const places = new Map<SystemName, Place>();
  if (standing.length < 2) return places;
  const bestValue = standing[0].value;
  const next = standing.find(({ value }) => value > bestValue);
  const test =
    next === undefined
      ? null
      : compareRuns(runsOf(runs, standing[0].system), runsOf(runs, next.system), read, repeats);
  const stars = test === null || test.p >= LEVEL ? "" : test.p < VERY_SIGNIFICANT ? "**" : "*";
  for (const { system, value } of standing) {
    if (value === bestValue) places.set(system, { place: "best", stars });
    else if (value === next?.value) places.set(system, { place: "second", stars: "" });
  }
  return places;
}

/** Each GRADUATE row minus every other system, paired by repeat. */
export function differenceTables({ runs, repeats }: CohortRuns): string[] {
  const metrics = METRICS.filter((metric) => metric !== "logrank");
  return GRADUATES.filter((system) => runsOf(runs, system).length > 1).map((system) => {
    const others = listSystems(runs).filter((other) => other !== system);
    const tests = metrics.map((metric) =>
      others.map((other) =>
        compareRuns(runsOf(runs, system), runsOf(runs, other), readMetric(metric, 0), repeats),
      ),
    );
    const adjusted = tests.map(adjust);
    const rows = others.map((other, k) => [
      SYSTEM_LABELS[other],
      ...metrics.flatMap((metric, m) => {
        const test = tests[m][k];
        if (test === null) return ["–", "–"];
        const p = formatChance(test.p);
        return [formatSigned(test.mean, DIGITS[metric] + 1), (adjusted[m][k] ?? 1) < LEVEL ? `**${p}**` : p];
      }),
    ]);
    const titles = metrics.flatMap((metric) => [METRIC_NAMES[metric], "p"]);
    return formatMarkdown([`${SYSTEM_LABELS[system]} less …`, ...titles], rows);
  });
}

/** Scores for which the paper has no columns. */
export function extraTable({ runs, groups, bins }: CohortRuns): string {
  const rows = listSystems(runs).map((system) => {
    const own = runsOf(runs, system);
    const mean = (read: Read, digits: number) => formatMean(own, read, digits);
    const passes = countPasses(own.map(({ scores }) => scores.individual[0]));
    const inGroups = countPasses(own.flatMap(({ scores }) => scores.individual.slice(0, groups)));
    const withinNoise = countPasses(own.map(({ scores }) => scores.floorP[0]));
    return [
      SYSTEM_LABELS[system],
      mean(({ scores }) => scores.ibs[0], 4),
      `${passes.passed} of ${passes.of}`,
      formatShare(inGroups),
      mean(readGroupEce(groups), 4),
      mean(readWorstEce(groups, bins), 4),
      mean(readEceOverFloor(1), 2),
      mean(readEceOverFloor(groups), 2),
      `${withinNoise.passed} of ${withinNoise.of}`,
      mean(({ seconds }) => seconds.fit, 1),
    ];
  });
  return formatMarkdown(
    [
      "system",
      "IBS",
      "individual logrank",
      "… of groups",
      "subgroup ECE",
      "worst-group ECE",
      "ECE / floor",
      "… of groups",
      "ECE within chance",
      "seconds",
    ],
    rows,
  );
}

/** Tables 5–7: for each GRADUATE row, wins-losses-draws over the groups, with the printed ones in brackets. */
export function winTables(
  { runs, repeats, groups }: CohortRuns,
  printed: Published["wins"][number] | undefined,
): string[] {
  return GRADUATES.filter((system) => runsOf(runs, system).length > 1).map((system) => {
    const others = listSystems(runs).filter(
      (other) => !GRADUATES.includes(other) && runsOf(runs, other).length > 1,
    );
    const rows = METRICS.map((metric) => [
      METRIC_NAMES[metric],
      ...others.map((other) => {
        const count = countGroupWins(runsOf(runs, system), runsOf(runs, other), metric, groups, repeats);
        const own = `${count.wins}-${count.losses}-${count.draws + count.untested}`;
        const there = printed?.system === system ? printed.rows[metric]?.[other] : undefined;
        return there === undefined ? own : `${own} (${there})`;
      }),
    ]);
    return formatMarkdown([SYSTEM_LABELS[system], ...others.map((other) => SYSTEM_LABELS[other])], rows);
  });
}

/**
 * Table 1 with what was measured: which systems rank, which are right on average, which in groups, and which enforce
 * that in training.
 */
export function attributeTable({ runs, groups }: CohortRuns): string {
  const yes = (is: boolean) => (is ? "✓" : "×");
  const inTraining: readonly SystemName[] = [...GRADUATES, "xcal", "rps", "placebo groups", "all only"];
  const rows = listSystems(runs).map((system) => {
    const own = runsOf(runs, system);
    const everyone = countPasses(own.map(({ scores }) => scores.floorP[0]));
    const grouped = countPasses(own.flatMap(({ scores }) => scores.floorP.slice(1, groups)));
    return [
      SYSTEM_LABELS[system],
      formatMean(own, readMetric("concordance", 0), 3),
      `${everyone.passed} of ${everyone.of}`,
      formatShare(grouped),
      yes(inTraining.includes(system)),
    ];
  });
  return formatMarkdown(
    ["system", "discrimination: C", "marginal: ECE within chance", "groups within chance", "in training"],
    rows,
  );
}

/** Table 1 as printed. */
export function printedAttributes({ attributes }: Published): string {
  return formatMarkdown(
    ["", ...attributes.columns],
    attributes.rows.map(({ name, values }) => [name, ...values.map((value) => (value ? "✓" : "×"))]),
  );
}

export function formatShare({ passed, of }: { readonly passed: number; readonly of: number }): string {
  return of === 0 ? "–" : `${((100 * passed) / of).toFixed(0)} %`;
}

export function formatChance(p: number): string {
  return p < 0.001 ? "<.001" : p.toFixed(3).replace(/^0/, "");
}
