/**
 * Systems beside each other as tables and words: means with mean ranks, differences paired by seed, where ours is
 * lower, not separated, higher.
 */
import {
  judge,
  type PairedRow,
  type PairedScore,
  type PairedSystems,
  type Verdict,
} from "../summaries/paired.ts";
import { mean } from "../summaries/summary.ts";
import { formatMarkdown, formatSigned } from "./markdown.ts";
import { formatChance } from "./tables.ts";

/** Two seeds leave a test one degree of freedom: nothing is said by it. */
export const LEAST_TESTED = 3;

/** Title, unit and digits of a score. */
export interface ScoreTitle {
  readonly title: string;
  readonly by: number;
  readonly digits: number;
}

/** What a page calls the systems. */
export type SystemNames<System extends string> = Readonly<Record<System, string>>;

/** graduate's score beside another's. */
const WORDS: Readonly<Record<Verdict, string>> = { better: "lower", par: "undecided", worse: "higher" };

/** Which of the scores a column shows, one by one or as the mean of several. */
export interface ScoreColumn {
  readonly title: string;
  readonly scores: readonly number[];
}

/** Where graduate's score is lower than the others', not separated, higher; its mean rank last. */
export function verdictTable<System extends string>(
  rows: readonly PairedRow<System>[],
  columns: readonly { readonly title: string; readonly score: number }[],
  names: SystemNames<System>,
): string {
  const others = rows.filter(({ system }) => system !== "graduate");
  const ours = rows.find(({ system }) => system === "graduate");
  return formatMarkdown(
    ["graduate's is, than that of", ...columns.map(({ title }) => title)],
    [
      ...others.map(({ system, scores }) => [
        names[system],
        ...columns.map(({ score }) => WORDS[judge(scores[score].difference)]),
      ]),
      [
        `its mean rank of ${rows.length}`,
        ...columns.map(({ score }) => ours?.scores[score].rank.toFixed(1) ?? "–"),
      ],
    ],
  );
}

type RankedPart<System extends string> = Pick<PairedSystems<System>, "rows" | "seeds">;

/**
 * Mean ranks over parts, the lowest of the first column first; and, of parts with seeds enough, in how many cases
 * graduate is lower / undecided / higher.
 */
export function rankTable<System extends string>(
  parts: readonly RankedPart<System>[],
  columns: readonly ScoreColumn[],
  names: SystemNames<System>,
): string {
  const tested = parts.filter(({ seeds }) => seeds.length >= LEAST_TESTED);
  const cells = parts[0].rows.map(({ system }, s) => ({
    system,
    ranks: columns.map(({ scores }) =>
      mean(parts.flatMap(({ rows }) => scores.map((k) => rows[s].scores[k].rank))),
    ),
    cases: columns.map(({ scores }) => countCases(tested, system, scores)),
  }));
  const isTested = tested.length > 0;
  return formatMarkdown(
    [
      "",
      ...columns.map(({ title }) => title),
      ...(isTested ? columns.map(({ title }) => `cases, ${title}`) : []),
    ],
    cells
      .sort((one, other) => one.ranks[0] - other.ranks[0])
      .map(({ system, ranks, cases }) => [
        names[system],
        ...ranks.map((rank) => rank.toFixed(1)),
        ...(isTested ? cases : []),
      ]),
  );
}

function countCases<System extends string>(
  parts: readonly RankedPart<System>[],
  system: System,
  scores: readonly number[],
): string {
  if (system === "graduate") return "–";
  const found = { better: 0, par: 0, worse: 0 };
  for (const { rows } of parts)
    for (const k of scores)
      found[judge(rows.find((row) => row.system === system)?.scores[k].difference ?? null)]++;
  return `${found.better} / ${found.par} / ${found.worse}`;
}

function cellOf({ mean, error, rank }: PairedScore, { by, digits }: ScoreTitle): string {
  const spread = error === null ? "" : ` ± ${(by * error).toFixed(digits)}`;
  return `${(by * mean).toFixed(digits)}${spread} (${rank.toFixed(1)})`;
}

function differenceOf({ difference }: PairedScore, { by, digits }: ScoreTitle, seeds: number): string {
  if (difference === null) return "–";
  const { mean, error, p } = difference;
  const chance = seeds < LEAST_TESTED ? "" : `, p ${formatChance(p)}`;
  return `${formatSigned(by * mean, digits)} ± ${(by * error).toFixed(digits)}${chance}`;
}

/** Means with ranks, then differences where there are seeds enough for them. */
export function scoreTables<System extends string>(
  { rows, seeds }: Pick<PairedSystems<System>, "rows" | "seeds">,
  titles: readonly ScoreTitle[],
  names: SystemNames<System>,
): string[] {
  const heads = ["", ...titles.map(({ title }) => title)];
  const tableOf = (
    of: readonly PairedRow<System>[],
    cell: (score: PairedScore, title: ScoreTitle) => string,
  ) =>
    formatMarkdown(
      heads,
      of.map(({ system, scores }) => [names[system], ...scores.map((score, k) => cell(score, titles[k]))]),
    );
  const means = tableOf(rows, cellOf);
  if (seeds.length < 2) return [means];
  const others = rows.filter(({ system }) => system !== "graduate");
  return [
    means,
    "graduate less the other, paired by seed:",
    tableOf(others, (score, title) => differenceOf(score, title, seeds.length)),
  ];
}
