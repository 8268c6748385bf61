/**
 * The page on competing causes: where graduate is best, on par and worse beside its peers, then the numbers part by
 * part. Every sentence that compares is made from the lines: "lower" and "higher" are paired differences at the 5 %
 * level, everything else is "not separated".
 */
import { countOf } from "graduate-survival/data";
import { formatMarkdown } from "../pages/markdown.ts";
import {
  LEAST_TESTED,
  rankTable,
  type ScoreTitle,
  scoreTables,
  verdictTable,
} from "../pages/paired-tables.ts";
import { CAUSES } from "./law.ts";
import type { CauseLine, CauseSystem, CausesPlan } from "./plan.ts";
import { type CausesSummary, type LawPart, summariseCauses, type TablePart } from "./summary.ts";

const NAMES: Readonly<Record<CauseSystem, string>> = {
  graduate: "graduate",
  "without groups": "graduate without groups",
  start: "additive start",
  cox: "cause-specific Cox",
  "cox with group terms": "Cox with group terms",
  "fine-gray": "Fine-Gray",
  survivalboost: "SurvivalBoost",
  forest: "comprisk's forest",
};

const LAW_TITLES: readonly ScoreTitle[] = [
  { title: "mean error of groups", by: 100, digits: 2 },
  { title: "largest error of a group", by: 100, digits: 2 },
  { title: "error of everyone", by: 100, digits: 2 },
  { title: `ISE × 1000, ${CAUSES[0]}`, by: 1000, digits: 2 },
  { title: `ISE × 1000, ${CAUSES[1]}`, by: 1000, digits: 2 },
];

function titlesOf({ table }: TablePart): readonly ScoreTitle[] {
  const brier = table.causes.map((cause) => ({ title: `Brier × 100, ${cause}`, by: 100, digits: 2 }));
  return [...brier, ...table.causes.map((cause) => ({ title: `gap, ${cause}`, by: 100, digits: 2 }))];
}

export function causesPage(plan: CausesPlan, lines: readonly CauseLine[]): string {
  const summary = summariseCauses(plan, lines);
  const { laws, tables } = summary;
  const parts = [
    "# Competing causes beside their peers",
    ...sayFirst(summary),
    "Made by `graduate reproduce causes --page docs/results/causes.md` from `paper/causes.jsonl`: " +
      `${sayMade(summary)} The plan, committed before these runs, is \`paper/plans/causes.json\`; the law of the ` +
      "simulated patients, written down before any model was run on it, is `paper/src/causes/law.ts`; the peers' " +
      "scripts are in `paper/peers`. Tables count the seeds that every system has a line of. Lower and higher are " +
      "paired differences with p below .05, two-sided and not corrected for their number; with few seeds, much that " +
      "differs is not separated.",
    ...laws.flatMap((law) => lawSection(law, summary)),
    ...tableSections(tables),
    NOTES,
  ];
  return `${parts.join("\n\n")}\n`;
}

function sayMade({ planned, made, laws, tables }: CausesSummary): string {
  const ofTables = { made: 0, planned: 0 };
  for (const one of tables) {
    ofTables.made += one.made;
    ofTables.planned += one.planned;
  }
  const each = laws.map((law) => `part ${law.part} ${law.made} of ${law.planned}`);
  const all = [...each, `public tables ${ofTables.made} of ${ofTables.planned}`];
  return `${made} of ${planned} planned lines (${all.join(", ")}).`;
}

/** In short: where graduate is lower, undecided and higher; what it misses most; ranks on the public tables. */
function sayFirst({ laws, tables }: CausesSummary): string[] {
  const ofLaws = laws.filter(({ seeds }) => seeds.length >= LEAST_TESTED).flatMap(sayLaw);
  return [...ofLaws, ...sayTables(tables.filter(({ seeds }) => seeds.length > 1))];
}

function sayLaw(law: LawPart): string[] {
  const { part, rows, seeds } = law;
  const columns = [
    { title: "mean true error of groups", score: 0 },
    ...CAUSES.map((cause, k) => ({ title: `ISE of ${cause}`, score: 3 + k })),
  ];
  return [
    `**${sayPart(part)} (part ${part}, ${countOf(seeds.length, "cohort")} with a known truth).**`,
    verdictTable(rows, columns, NAMES),
    sayLargest(law),
  ];
}

function sayPart(part: string): string {
  return part === "A" ? "Simulated patients, everyone from the start" : "Simulated patients, some come late";
}

/** The group and cause that graduate misses most, and who misses it least. */
function sayLargest({ groups, rows }: LawPart): string {
  const systems = rows.map(({ system }) => system);
  const own = systems.indexOf("graduate");
  const named = groups.filter(({ group }) => group !== "all");
  const furthest = named.reduce((a, b) => (b.errors[own] > a.errors[own] ? b : a));
  const least = furthest.errors.indexOf(Math.min(...furthest.errors));
  const points = (error: number) => (100 * error).toFixed(2);
  const who = least === own ? "graduate itself" : NAMES[systems[least]];
  return (
    `Its largest error is that of ${CAUSES[furthest.cause]} in ${furthest.group}, ${points(furthest.errors[own])} ` +
    `points; the least there has ${who}, ${points(furthest.errors[least])}.`
  );
}

/** Mean ranks; and, with splits enough, cases counted for each of the two kinds of score. */
function sayTables(tables: readonly TablePart[]): string[] {
  if (tables.length === 0) return [];
  const splits = Math.min(...tables.map(({ seeds }) => seeds.length));
  const about =
    splits < LEAST_TESTED
      ? `Systems are not tested against each other on ${splits} splits.`
      : "Cases: graduate lower / undecided / higher, of a table and a cause each.";
  const columns = [
    { title: "Brier score", scores: [0, 1] },
    { title: "calibration by group", scores: [2, 3] },
  ];
  return [
    `**${countOf(tables.length, "public table")}, two causes each, ${countOf(splits, "split")}.** Mean ranks of the ` +
      `integrated Brier score and of the gap to Aalen-Johansen in the groups. ${about}`,
    rankTable(tables, columns, NAMES),
  ];
}

function lawSection(law: LawPart, { plan }: CausesSummary): string[] {
  const { part, seeds, rows, groups } = law;
  const title = `## Part ${part}: ${sayPart(part).toLowerCase()}`;
  if (seeds.length === 0) return [title, "No seed has all of its lines."];
  const fresh = plan.truthPeople.toLocaleString("en");
  return [
    title,
    `${plan.people.toLocaleString("en")} people in each of ${countOf(seeds.length, "cohort")} (seeds ${seeds[0]} to ` +
      `${seeds.at(-1)}), scored on ${fresh} fresh people up to ${plan.times.count * plan.times.step} months. Errors ` +
      "are in points of F_k, ± a standard error, with the mean rank among the systems in brackets; lower is better.",
    ...scoreTables(law, LAW_TITLES, NAMES),
    "True error of each group and cause, points, a mean over cohorts:",
    formatMarkdown(
      ["", ...rows.map(({ system }) => NAMES[system])],
      groups.map(({ group, cause, errors }) => [
        `${group === "all" ? "everyone" : group}: ${CAUSES[cause]}`,
        ...errors.map((error) => (100 * error).toFixed(2)),
      ]),
    ),
  ];
}

function tableSections(tables: readonly TablePart[]): string[] {
  const intro =
    "## Public tables\n\nOn the test rows: the integrated Brier score of each cause, as `riskRegression::Score` " +
    "defines it, and the mean over groups of the root mean square gap to Aalen-Johansen, in points; ± a standard " +
    "error over splits, mean rank in brackets. Splits of one table share rows: standard errors of the differences " +
    "are those of the corrected resampled t.";
  return [
    intro,
    ...tables.flatMap((part) => {
      const { table, seeds, rowsOf } = part;
      const title = `### ${table.name}: ${table.about}`;
      if (seeds.length === 0 || rowsOf === null) return [title, "No seed has all of its lines."];
      const about =
        `${rowsOf.learnt} rows learnt from and ${rowsOf.test} test rows in each of ` +
        `${countOf(seeds.length, "split")}, up to ` +
        `${table.horizon}; groups: ${table.groups.join("; ")}.`;
      return [title, about, ...scoreTables(part, titlesOf(part), NAMES)];
    }),
  ];
}

const NOTES =
  "*graduate* is the default of `graduate train --causes`, told of the groups: the mean of five runs, or one where a " +
  "table has too few events for five. *Additive start* is what it begins with, fitted to the same rows, told of the " +
  "groups, before training and the solve. Cox and Fine-Gray models have every column as it is, words as factors; " +
  "*with group terms* has a column for every group. SurvivalBoost is that of hazardous 0.2.0, the forest that of " +
  "comprisk 0.8.0, each with its defaults and words as indicator columns. hazardous and comprisk " +
  "take no late entry, and no Fine-Gray model was fitted there, so part B has none of them.";
