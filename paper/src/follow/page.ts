/**
 * The page on late entry, changing covariates and weights: where graduate is lower, on par and higher beside Cox models
 * of R, then the numbers part by part. Every sentence that compares is made from the lines.
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
import type { FollowLine, FollowPlan, FollowSystem } from "./plan.ts";
import {
  type FollowGroupRow,
  type FollowLawPart,
  type FollowSummary,
  type FollowTablePart,
  summariseFollow,
} from "./summary.ts";

const NAMES: Readonly<Record<FollowSystem, string>> = {
  graduate: "graduate",
  "without groups": "graduate without groups",
  start: "additive start",
  cox: "Cox",
  "cox with group terms": "Cox with group terms",
  "cox without weights": "Cox without weights",
};

const LAW_TITLES: readonly ScoreTitle[] = [
  { title: "mean error of groups", by: 100, digits: 2 },
  { title: "largest error of a group", by: 100, digits: 2 },
  { title: "error of everyone", by: 100, digits: 2 },
  { title: "ISE × 1000", by: 1000, digits: 2 },
];

const TABLE_TITLES: readonly ScoreTitle[] = [
  { title: "100 × (1 − C)", by: 100, digits: 1 },
  { title: "−log likelihood per event", by: 1, digits: 3 },
  { title: "abs. log O/E, everyone", by: 1, digits: 3 },
  { title: "abs. log O/E, groups", by: 1, digits: 3 },
  { title: "misfit", by: 1, digits: 2 },
];

/** What the scores of tables are called in short. */
const SPOKEN = [
  "1 − C",
  "−log likelihood",
  "abs. log O/E, everyone",
  "abs. log O/E, groups",
  "misfit",
] as const;

export function followPage(plan: FollowPlan, lines: readonly FollowLine[]): string {
  const summary = summariseFollow(plan, lines);
  const { planned, made, law, tables } = summary;
  const each = [law, ...tables].map((one) => `${one.part} ${one.made} of ${one.planned}`);
  const parts = [
    "# Late entry, changing covariates and weights",
    ...sayFirst(summary),
    "Made by `graduate reproduce follow --page docs/results/follow.md` from `paper/follow.jsonl`: " +
      `${made} of ${planned} planned lines (${each.join(", ")}). The plan, committed before these runs, is ` +
      "`paper/plans/follow.json`; the law of the simulated people, written down before any model was run on it, is " +
      "`paper/src/follow/law.ts`; the scripts of R are in `paper/peers`. Tables count the seeds that every system " +
      "has a line of. Lower and higher are paired differences with p below .05, two-sided and not corrected for " +
      "their number; with few seeds, much that differs is not separated.",
    ...tableSections(tables),
    ...lawSection(law, plan),
    NOTES,
  ];
  return `${parts.join("\n\n")}\n`;
}

function sayFirst({ law, tables }: FollowSummary): string[] {
  return [...sayTables(tables.filter(({ seeds }) => seeds.length > 0)), ...sayLaw(law)];
}

function sayTables(tables: readonly FollowTablePart[]): string[] {
  if (tables.length === 0) return [];
  const splits = Math.min(...tables.map(({ seeds }) => seeds.length));
  const common = tables.map(({ rows, seeds }) => ({
    seeds,
    rows: rows.filter(({ system }) => system !== "cox without weights"),
  }));
  const tested = tables.filter(({ seeds }) => seeds.length >= LEAST_TESTED).length;
  const about =
    tested === 0
      ? `Systems are not tested against each other on ${countOf(splits, "split")}.`
      : `Cases: graduate lower / undecided / higher, on ${countOf(tested, "table")} with three splits or more.`;
  return [
    `**${countOf(tables.length, "public table")}, ${countOf(splits, "split")} or more.** Mean ranks, lower is better. ` +
      about,
    rankTable(
      common,
      SPOKEN.map((title, k) => ({ title, scores: [k] })),
      NAMES,
    ),
  ];
}

function sayLaw({ rows, seeds }: FollowLawPart): string[] {
  if (seeds.length < LEAST_TESTED) return [];
  const columns = [
    { title: "mean true error of groups", score: 0 },
    { title: "ISE", score: 3 },
  ];
  return [
    `**Simulated people who start a treatment, ${countOf(seeds.length, "cohort")} with a known truth.**`,
    verdictTable(rows, columns, NAMES),
  ];
}

function groupTable(
  rows: FollowTablePart["rows"] | FollowLawPart["rows"],
  groups: readonly FollowGroupRow[],
  cell: (value: number) => string,
): string {
  return formatMarkdown(
    ["", ...rows.map(({ system }) => NAMES[system])],
    groups.map(({ group, values }) => [group === "all" ? "everyone" : group, ...values.map(cell)]),
  );
}

function tableSections(tables: readonly FollowTablePart[]): string[] {
  return [
    TABLE_INTRO,
    ...tables.flatMap((part) => {
      const { table, seeds, people, groups, rows, events } = part;
      const title = `### ${table.name}: ${table.about}`;
      if (seeds.length === 0 || people === null) return [title, "No seed has all of its lines."];
      const about =
        `${people.learnt} people learnt from and ${people.test} test people in each of ` +
        `${countOf(seeds.length, "split")}, ${Math.round(events)} test events on average; groups: ` +
        `${table.groups.join("; ")}.`;
      return [
        title,
        about,
        ...scoreTables(part, TABLE_TITLES, NAMES),
        "Observed over expected events, both summed over the splits:",
        groupTable(rows, groups, (value) => value.toFixed(2)),
      ];
    }),
  ];
}

function lawSection(law: FollowLawPart, plan: FollowPlan): string[] {
  const { seeds, rows, groups } = law;
  const title = "## Simulated people who start a treatment";
  if (seeds.length === 0) return [title, "No seed has all of its lines."];
  const { people, truthPeople, times } = plan.law;
  return [
    title,
    `${people.toLocaleString("en")} people in each of ${countOf(seeds.length, "cohort")} (seeds ${seeds[0]} to ` +
      `${seeds.at(-1)}), scored on ${truthPeople.toLocaleString("en")} fresh people, each treated or not by a coin, ` +
      `up to ${times.count * times.step} months: survival if that stays as it is. Errors are in points of S, ± a ` +
      "standard error, with the mean rank among the systems in brackets; lower is better.",
    ...scoreTables(law, LAW_TITLES, NAMES),
    "True error of each group, points, a mean over cohorts:",
    groupTable(rows, groups, (value) => (100 * value).toFixed(2)),
  ];
}

const TABLE_INTRO =
  "## Public tables\n\nOn the test rows, lower is better: 100 × (1 − C), C the concordance among those who " +
  "had entered; minus the log likelihood per event, of hazards that are constant between quantiles of the " +
  "event times; the absolute log O/E, observed and expected events of the individual logrank, a half added " +
  "to both; the misfit, |O − E|/√V, a mean over everyone and the groups, about 0.8 for the truth. ± a " +
  "standard error over splits, mean rank in brackets. Splits of one table share people: the standard errors " +
  "of the differences are those of the corrected resampled t. There is no Brier score: it weighs by a " +
  "censoring that counts people from the start, which late entry does not have.";

const NOTES =
  "*graduate* is the default of `graduate train`, told of the groups: the mean of five runs, or one where a " +
  "table has too few events for five. *Additive start* is what it begins with, fitted to the same rows, told" +
  " of the groups, before training and the solve. *Cox* is `coxph` of R's survival (Efron) on the same rows," +
  " entries and weights, every column as it is, words as factors; *with group terms* has a column for every " +
  "group. *Cox without weights* takes the case-cohort as if it were the cohort. Graduate learns nothing" +
  " from a row that enters and leaves within one of its 102 time bins; the scores count such rows, and Cox models" +
  " learn from them.";
