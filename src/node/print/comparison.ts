/** A comparison in a terminal: a line a run as they end, the table of methods, the differences to the first, and what they are worth. */

import { countOf } from "../../core/text.ts";
import { formatNumber, formatP, formatTable, wrapText } from "../../report/words/text-table.ts";
import {
  COMPARED_SCORES,
  type ComparedScore,
  HIGHER_IS_BETTER,
  type MethodDifference,
} from "../../verbs/compare.ts";
import type { MethodRun } from "../rows/compare-run.ts";
import { print, say, terminalWidth } from "./output.ts";

const WORDS: Readonly<Record<ComparedScore, string>> = {
  concordance: "C",
  ece: "ECE",
  groupEce: "group ECE",
  worstEce: "worst ECE",
  ibs: "IBS",
};

/** Adjusted p-values up to this are called a difference. */
const LEVEL = 0.05;
/** Fewer splits leave the t test hardly any degrees of freedom. */
const FEW_SPLITS = 5;

export function announceRun(split: string, { method, scores, seconds, failure }: MethodRun): void {
  const what =
    scores === null
      ? `failed (${failure})`
      : `C ${formatNumber(scores.concordance, 3)}, ECE ${formatNumber(scores.ece)}, IBS ${formatNumber(scores.ibs)}`;
  say(`${split}, ${method.label}: ${what}, ${seconds.toFixed(1)} s`);
}

export interface PrintedComparison {
  readonly splits: readonly {
    readonly name: string;
    readonly rows: { readonly train: number; readonly valid: number; readonly test: number };
    /** Where rows are told apart by person. */
    readonly people?: { readonly train: number; readonly valid: number; readonly test: number };
  }[];
  readonly replicates: number | null;
  readonly differences: readonly MethodDifference[];
}

export function printComparison(
  comparison: PrintedComparison,
  runs: readonly (readonly MethodRun[])[], // [splits][methods]
): void {
  const { splits, differences } = comparison;
  const width = terminalWidth();
  const [{ rows, people }] = splits;
  const judged = runs[0].find(({ scores }) => scores !== null)?.scores?.judged ?? 0;
  print(
    wrapText(
      `${splits.length === 1 ? splits[0].name : `${splits.length} splits, their means`}: ${rows.train} training, ` +
        `${rows.valid} validation and ${rows.test} test rows` +
        `${people ? ` of ${people.train}, ${people.valid} and ${people.test} people` : ""}; ${countOf(judged, "group")} judged`,
      width,
    ),
  );
  print("");
  print(formatMethods(runs, width));
  print("");
  print(formatDifferences(differences, width));
  for (const line of sayAbsent(differences)) print(wrapText(line, width, "  "));
  print(`\n${wrapText(explain(comparison, people !== undefined), width)}`);
}

function formatMethods(runs: readonly (readonly MethodRun[])[], width: number): string {
  return formatTable(
    [
      { title: "method", flexible: true },
      ...COMPARED_SCORES.map((score) => ({ title: WORDS[score], align: "right" as const })),
      { title: "worst group" },
      { title: "met", align: "right" },
      { title: "seconds", align: "right" },
    ],
    runs[0].map(({ method }, m) => {
      const own = runs.map((split) => split[m]);
      const done = own.flatMap(({ scores }) => (scores === null ? [] : [scores]));
      return [
        done.length === own.length ? method.label : `${method.label} (${own.length - done.length} failed)`,
        ...COMPARED_SCORES.map((score) =>
          formatNumber(meanOf(done.map((scores) => scores[score])), score === "concordance" ? 3 : 4),
        ),
        mostOften(done.map(({ worstGroup }) => worstGroup)) ?? "–",
        own.every(({ met }) => met === null)
          ? "–"
          : `${formatNumber(meanOf(own.map(({ met }) => met)), 1)}/${formatNumber(meanOf(own.map(({ constrained }) => constrained)), 1)}`,
        (meanOf(own.map(({ seconds }) => seconds)) ?? 0).toFixed(1),
      ];
    }),
    width,
  );
}

function meanOf(values: readonly (number | null)[]): number | null {
  const present = values.filter((value) => value !== null);
  return present.length === 0 ? null : present.reduce((sum, value) => sum + value, 0) / present.length;
}

/** The first of the most frequent. */
function mostOften(names: readonly (string | null)[]): string | null {
  const counts = new Map<string, number>();
  for (const name of names) if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  const largest = Math.max(...counts.values());
  return [...counts].find(([, count]) => count === largest)?.[0] ?? null;
}

function formatDifferences(differences: readonly MethodDifference[], width: number): string {
  const signed = (value: number | null) =>
    value === null ? "–" : `${value > 0 ? "+" : ""}${formatDifference(value)}`;
  return formatTable(
    [
      { title: "method", flexible: true },
      { title: `less ${differences[0].against}` },
      { title: "difference", align: "right" },
      { title: "95 %", align: "right" },
      { title: "p", align: "right" },
      { title: "p adjusted", align: "right" },
      { title: "" },
    ],
    differences.map(({ method, score, estimate, lower, upper, p, adjustedP, absent }, k) => [
      k > 0 && differences[k - 1].method === method ? "" : method,
      WORDS[score],
      signed(estimate),
      estimate === null ? "–" : `${signed(lower)} – ${signed(upper)}`,
      formatP(p),
      formatP(adjustedP),
      absent === null ? sayReading(score, estimate ?? 0, adjustedP ?? 1) : "",
    ]),
    width,
  );
}

/** A line a reason: which scores have no difference. */
function sayAbsent(differences: readonly MethodDifference[]): string[] {
  const scoresOf = new Map<string, Set<string>>();
  for (const { score, absent } of differences) {
    if (absent !== null) scoresOf.set(absent, (scoresOf.get(absent) ?? new Set()).add(WORDS[score]));
  }
  return Array.from(
    scoresOf,
    ([reason, scores]) => `–: no difference in ${[...scores].join(", ")} (${reason})`,
  );
}

/** Enough decimals for differences of errors of a few thousandths. */
const formatDifference = (value: number) => value.toFixed(4);

function sayReading(score: ComparedScore, estimate: number, adjustedP: number): string {
  if (adjustedP > LEVEL) return "";
  return estimate > 0 === HIGHER_IS_BETTER[score] ? "better" : "worse";
}

function explain(
  { splits: { length: splits }, replicates, differences }: PrintedComparison,
  byPerson: boolean,
): string {
  const share = byPerson ? "people" : "rows";
  const scores =
    "C: the paper's concordance, ties scoring 0. ECE: over the bins with at least ten people at risk; group ECE: its mean over the " +
    "groups with enough events and follow-up to be judged, worst ECE: the largest of them. met: constraints met on the " +
    "training rows. ";
  const fewest =
    replicates !== null && (2 * differences.length) / (replicates + 1) > LEVEL
      ? `With ${replicates} resamples no adjusted p-value can be below ${((2 * differences.length) / (replicates + 1)).toFixed(2)}: more of them (--replicates) can. `
      : "";
  const worth =
    splits === 1
      ? `Intervals and p-values are of ${replicates} resamples of the ${byPerson ? "people in the test rows" : "test rows"}, the same for all methods, and conditional on this ` +
        "split and these fits: another split, or another start of the weights, may turn a difference round (--seeds 1,2,3 draws more). " +
        "Resampling adds noise to every ECE, and more to a small one: intervals of their differences lean towards none. "
      : `Intervals and p-values are the corrected resampled t over ${splits} splits, which share ${share}` +
        `${splits < FEW_SPLITS ? "; so few of them can show large differences only. " : ". "}`;
  return `${scores}${worth}${fewest}p adjusted: Holm over all differences; up to ${LEVEL} it is called better or worse, and no word is no proof of equality.`;
}
