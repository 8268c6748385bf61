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
import { formatMarkdown, formatSigned, listOf } from "./markdown.ts";
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

/** Where graduate's score is lower than the others', not separated, higher. */
export function sayScore<System extends string>(
  rows: readonly PairedRow<System>[],
  k: number,
  names: SystemNames<System>,
): string {
  const others = rows.filter(({ system }) => system !== "graduate");
  const of = (verdict: Verdict) =>
    others.filter(({ scores }) => judge(scores[k].difference) === verdict).map(({ system }) => names[system]);
  const say = (verb: string, list: readonly string[]) =>
    list.length === 0 ? [] : [`${verb} ${listOf(list)}`];
  return [
    ...say("lower than that of", of("better")),
    ...say("undecided against that of", of("par")),
    ...say("higher than that of", of("worse")),
  ].join("; ");
}

export function rankOf<System extends string>(rows: readonly PairedRow<System>[], k: number): string {
  return rows.find(({ system }) => system === "graduate")?.scores[k].rank.toFixed(1) ?? "–";
}

/** Mean ranks over parts and scores, the lowest first. */
export function sayRanks<System extends string>(
  parts: readonly Pick<PairedSystems<System>, "rows">[],
  scores: readonly number[],
  names: SystemNames<System>,
): string {
  const ranks = parts[0].rows.map(({ system }, s) => {
    const each = parts.flatMap(({ rows }) => scores.map((k) => rows[s].scores[k].rank));
    return { system, rank: mean(each) };
  });
  return ranks
    .sort((a, b) => a.rank - b.rank)
    .map(({ system, rank }) => `${names[system]} ${rank.toFixed(1)}`)
    .join(", ");
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
