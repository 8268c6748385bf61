/**
 * A comparison in a terminal: one line per run as it ends, the table of methods, the differences from the first, and
 * how to read them.
 */
import { countOf } from "../../core/text.ts";
import { formatNumber, formatP } from "../../report/words/text-table.ts";
import type { Comparison, MethodRun } from "../../verbs/compare.ts";
import {
  COMPARED_SCORES,
  type ComparedScore,
  HIGHER_IS_BETTER,
  type MethodDifference,
} from "../../verbs/comparison/differences.ts";
import type { CompareTask, MethodResult } from "../../verbs/comparison/method-run.ts";
import type { EndedRun } from "./follow-runs.ts";
import {
  clearLive,
  nameColumn,
  numberColumns,
  print,
  printNote,
  printTable,
  printWrapped,
  say,
} from "./output.ts";

const WORDS: Readonly<Record<ComparedScore, string>> = {
  concordance: "C",
  ece: "ECE",
  groupEce: "group ECE",
  worstEce: "worst ECE",
  ibs: "IBS",
};

/** A difference with an adjusted p-value up to this is reported as one. */
const LEVEL = 0.05;
/** With fewer splits, the t test has hardly any degrees of freedom. */
const FEW_SPLITS = 5;

/** One line when a run ends. */
export function tellMethod({ task, index, result, progress }: EndedRun<CompareTask, MethodResult>): void {
  const { scores, byCause, seconds, failure } = result;
  const what = byCause
    ? tellCauses(byCause)
    : scores === null
      ? `failed (${failure})`
      : `C ${formatNumber(scores.concordance, 3)}, ECE ${formatNumber(scores.ece)}, IBS ${formatNumber(scores.ibs)}`;
  clearLive();
  const name = `${task.split}, ${task.method.label}`;
  say(`${name}: ${what}, ${(seconds ?? 0).toFixed(1)} s`);
  progress.ended(index, name);
}

/** Concordance and Brier score of each cause; its events where late entry leaves no more. */
function tellCauses({ scores }: NonNullable<MethodResult["byCause"]>): string {
  const tell = ({ concordance, ibs, observed, expected }: (typeof scores)[number]) =>
    concordance === null && ibs === null
      ? `O ${formatNumber(observed, 1)}, E ${formatNumber(expected, 1)}`
      : `C ${formatNumber(concordance, 3)}, IBS ${formatNumber(ibs)}`;
  return scores.map((one) => `${one.cause} ${tell(one)}`).join("; ");
}

export function printComparison(comparison: Comparison): void {
  const { differences } = comparison;
  const [{ people }] = comparison.splits;
  const runs = bySplit(comparison);
  const judged = runs[0].find(({ scores }) => scores !== null)?.scores?.judged ?? 0;
  printWrapped(`${describeRows(comparison)}; ${countOf(judged, "group")} judged`);
  print("");
  printMethods(runs);
  print("");
  printDifferences(differences);
  for (const line of sayAbsent(differences)) printWrapped(line, "  ");
  printNote(explain(comparison, people !== undefined));
}

/** The runs of every split, in the order of the methods. */
export function bySplit({ splits, runs }: Comparison): readonly (readonly MethodRun[])[] {
  const perSplit = runs.length / splits.length;
  return splits.map((_, j) => runs.slice(j * perSplit, (j + 1) * perSplit));
}

/** Which split, or how many, and what its sets hold. */
export function describeRows({ splits }: Comparison): string {
  const [{ name, rows, people }] = splits;
  const sets =
    people === undefined ? "" : ` of ${people.train}, ${people.validation} and ${people.test} people`;
  return (
    `${splits.length === 1 ? name : `${splits.length} splits, their means`}: ${rows.train} training, ` +
    `${rows.validation} validation and ${rows.test} test rows${sets}`
  );
}

/** By split and method. */
function printMethods(runs: readonly (readonly MethodRun[])[]): void {
  printTable(
    [
      nameColumn("method"),
      ...numberColumns(...COMPARED_SCORES.map((score) => WORDS[score])),
      { title: "worst group" },
      ...numberColumns("met", "seconds"),
    ],
    runs[0].map(({ method }, m) => {
      const own = runs.map((split) => split[m]);
      const done = own.flatMap(({ scores }) => (scores === null ? [] : [scores]));
      return [
        nameWithFailures(method.label, own.length - done.length),
        ...COMPARED_SCORES.map((score) =>
          formatNumber(meanOf(done.map((scores) => scores[score])), score === "concordance" ? 3 : 4),
        ),
        mostOften(done.map(({ worstGroup }) => worstGroup)) ?? "–",
        ...describeEffort(own),
      ];
    }),
  );
}

/** A method, with how many of its runs failed. */
export function nameWithFailures(label: string, failed: number): string {
  return failed === 0 ? label : `${label} (${failed} failed)`;
}

/** Constraints met of those there are, and seconds; means over splits. */
export function describeEffort(own: readonly MethodRun[]): readonly [string, string] {
  const met = own.every((run) => run.met === null)
    ? "–"
    : [own.map((run) => run.met), own.map(({ constrained }) => constrained)]
        .map((counts) => formatNumber(meanOf(counts), 1))
        .join("/");
  return [met, (meanOf(own.map(({ seconds }) => seconds)) ?? 0).toFixed(1)];
}

export function meanOf(values: readonly (number | null)[]): number | null {
  const present = values.filter((value) => value !== null);
  return present.length === 0 ? null : present.reduce((sum, value) => sum + value, 0) / present.length;
}

/** The most frequent name; the first in case of ties. */
export function mostOften(names: readonly (string | null)[]): string | null {
  const counts = new Map<string, number>();
  for (const name of names) if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  const largest = Math.max(...counts.values());
  return [...counts].find(([, count]) => count === largest)?.[0] ?? null;
}

function printDifferences(differences: readonly MethodDifference[]): void {
  printTable(
    [
      nameColumn("method"),
      { title: `less ${differences[0].against}` },
      ...numberColumns("difference", "95 %", "p", "p adjusted"),
      { title: "" },
    ],
    differences.map((one, k) => [
      k > 0 && differences[k - 1].method === one.method ? "" : one.method,
      WORDS[one.score],
      ...describeDifference(one, HIGHER_IS_BETTER[one.score]),
    ]),
  );
}

/** Estimate, limits, p-values, and a word where a difference is shown. */
export function describeDifference(
  { estimate, lower, upper, p, adjustedP, absent }: TestedDifference,
  isHigherBetter: boolean,
): readonly string[] {
  const signed = (value: number | null) =>
    value === null ? "–" : `${value > 0 ? "+" : ""}${formatDifference(value)}`;
  return [
    signed(estimate),
    estimate === null ? "–" : `${signed(lower)} – ${signed(upper)}`,
    formatP(p),
    formatP(adjustedP),
    absent === null && (adjustedP ?? 1) <= LEVEL
      ? (estimate ?? 0) > 0 === isHigherBetter
        ? "better"
        : "worse"
      : "",
  ];
}

/** A difference in any score. */
export type TestedDifference = Omit<MethodDifference, "method" | "against" | "score">;

function sayAbsent(differences: readonly MethodDifference[]): string[] {
  return listAbsent(differences.map(({ score, absent }) => ({ name: WORDS[score], absent })));
}

/** One line per reason: which scores have no difference. */
export function listAbsent(
  differences: readonly { readonly name: string; readonly absent: string | null }[],
): string[] {
  const scoresOf = new Map<string, Set<string>>();
  for (const { name, absent } of differences) {
    if (absent !== null) scoresOf.set(absent, (scoresOf.get(absent) ?? new Set()).add(name));
  }
  return Array.from(
    scoresOf,
    ([reason, scores]) => `–: no difference in ${[...scores].join(", ")} (${reason})`,
  );
}

/** Enough decimals for differences of errors of a few thousandths. */
const formatDifference = (value: number) => value.toFixed(4);

function explain(comparison: Comparison, byPerson: boolean): string {
  const scores =
    "C: the paper's concordance, ties scoring 0. ECE: over the bins with at least ten people at risk; " +
    "group ECE: its mean over the groups with enough events and follow-up to be judged, worst ECE: the largest " +
    "of them. met: constraints met on the training rows. ";
  return `${scores}${explainTests(comparison, comparison.differences.length, byPerson)}`;
}

/** What the intervals and p-values of so many differences are worth. */
export function explainTests(
  { splits: { length: splits }, replicates }: Comparison,
  differences: number,
  byPerson: boolean,
): string {
  const share = byPerson ? "people" : "rows";
  const smallest = replicates === null ? 0 : (2 * differences) / (replicates + 1);
  const fewest =
    smallest > LEVEL
      ? `With ${replicates} resamples no adjusted p-value can be below ${smallest.toFixed(2)}: ` +
        "more of them (--replicates) can. "
      : "";
  const resampled = byPerson ? "people in the test rows" : "test rows";
  const worth =
    splits === 1
      ? `Intervals and p-values are of ${replicates} resamples of the ${resampled}, the same for all methods, and ` +
        "conditional on this split and these fits: another split, or another start of the weights, may turn a " +
        "difference round (--seeds 1,2,3 draws more). Resampling adds noise to every ECE, and more to a small one: " +
        "intervals of their differences lean towards none. "
      : `Intervals and p-values are the corrected resampled t over ${splits} splits, which share ${share}` +
        `${splits < FEW_SPLITS ? "; so few of them can show large differences only. " : ". "}`;
  return (
    `${worth}${fewest}p adjusted: Holm over all differences; ` +
    `up to ${LEVEL} it is called better or worse, and no word is no proof of equality.`
  );
}

/** The document of --json. */
export function describeComparison({
  splits,
  test,
  replicates,
  runs,
  differences,
  findings,
  warnings,
}: Comparison): object {
  return {
    splits,
    test,
    replicates,
    runs: runs.map(({ method, split, scores, met, constrained, seconds, failure, audit }) => ({
      split,
      method: method.label,
      ...scores,
      met,
      constrained,
      seconds,
      failure,
      audit,
    })),
    differences,
    findings,
    warnings,
  };
}
