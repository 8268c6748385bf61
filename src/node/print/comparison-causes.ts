/**
 * A comparison by cause in a terminal: for each cause the table of methods, then the differences from the first method,
 * cause by cause, and how to read them; and the document of --json.
 */
import { countOf } from "../../core/text.ts";
import { formatNumber, formatP } from "../../report/words/text-table.ts";
import type { Comparison, MethodRun } from "../../verbs/compare.ts";
import type {
  CauseDifference,
  CauseMethodScores,
  ComparedCauseScore,
} from "../../verbs/comparison/cause-differences.ts";
import {
  bySplit,
  describeDifference,
  describeEffort,
  describeRows,
  explainTests,
  listAbsent,
  meanOf,
  mostOften,
  nameWithFailures,
} from "./comparison.ts";
import { nameColumn, numberColumns, print, printNote, printTable, printWrapped } from "./output.ts";

type ByCause = NonNullable<Comparison["byCause"]>;

const WORDS: Readonly<Record<ComparedCauseScore, string>> = {
  concordance: "C",
  ece: "ECE",
  groupEce: "group ECE",
  ibs: "IBS",
  eventError: "|E/O - 1|",
};

export function printCauseComparison(comparison: Comparison, { causes, differences }: ByCause): void {
  const runs = bySplit(comparison);
  printWrapped(describeRows(comparison));
  for (const [k, cause] of causes.entries()) {
    const judged = runs[0].find(({ byCause }) => byCause)?.byCause?.scores[k].judged ?? 0;
    print(`\n${cause}: ${countOf(judged, "group")} judged\n`);
    printMethods(runs, k);
  }
  print("");
  printDifferences(differences);
  for (const line of sayAbsent(differences)) printWrapped(line, "  ");
  const byPerson = comparison.splits[0].people !== undefined;
  printNote(`${SCORES}${explainTests(comparison, differences.length, byPerson)}`);
}

const SCORES =
  "C: Wolbers' concordance, up to the last bin with follow-up. ECE: gap of the mean incidence to Aalen-Johansen, " +
  "over the bins with at least ten people at risk; group ECE: its mean over the groups with enough events of the " +
  "cause to be judged. IBS: integrated Brier score of the cause, weighted by the censoring curve. O, E: events of " +
  "the cause, observed and expected from everyone's own hazards while at risk, p (O, E): their individual logrank; " +
  "under late entry nothing else is defined. met: constraints of all causes met on the training rows. ";

/** By split and method. */
function printMethods(runs: readonly (readonly MethodRun[])[], k: number): void {
  const shown = ["concordance", "ece", "groupEce", "ibs"] as const;
  printTable(
    [
      nameColumn("method"),
      ...numberColumns(...shown.map((score) => WORDS[score]), "O", "E", "p (O, E)"),
      { title: "worst group" },
      ...numberColumns("met", "seconds"),
    ],
    runs[0].map(({ method }, m) => {
      const own = runs.map((split) => split[m]);
      const done = own.flatMap(({ byCause }) => (byCause ? [byCause.scores[k]] : []));
      const mean = (read: (scores: CauseMethodScores) => number | null) => meanOf(done.map(read));
      return [
        nameWithFailures(method.label, own.length - done.length),
        ...shown.map((score) =>
          formatNumber(
            mean((scores) => scores[score]),
            score === "concordance" ? 3 : 4,
          ),
        ),
        formatNumber(
          mean(({ observed }) => observed),
          1,
        ),
        formatNumber(
          mean(({ expected }) => expected),
          1,
        ),
        // A mean of p-values says nothing.
        formatP(done.length === 1 ? done[0].logrankP : null),
        mostOften(done.map(({ worstGroup }) => worstGroup)) ?? "–",
        ...describeEffort(own),
      ];
    }),
  );
}

function printDifferences(differences: readonly CauseDifference[]): void {
  printTable(
    [
      nameColumn("method"),
      { title: "cause" },
      { title: `less ${differences[0].against}` },
      ...numberColumns("difference", "95 %", "p", "p adjusted"),
      { title: "" },
    ],
    differences.map((one, k) => {
      const before = k > 0 && differences[k - 1].method === one.method ? differences[k - 1] : null;
      return [
        before === null ? one.method : "",
        before?.cause === one.cause ? "" : one.cause,
        WORDS[one.score],
        ...describeDifference(one, one.score === "concordance"),
      ];
    }),
  );
}

/** One line per reason: which scores of which causes have no difference. */
function sayAbsent(differences: readonly CauseDifference[]): string[] {
  const causesOf = new Map<string, Set<string>>();
  const keyOf = ({ score, absent }: CauseDifference) => `${score} ${absent}`;
  for (const one of differences) {
    causesOf.set(keyOf(one), (causesOf.get(keyOf(one)) ?? new Set()).add(one.cause));
  }
  return listAbsent(
    differences.map((one) => ({
      name: `${WORDS[one.score]} (${[...(causesOf.get(keyOf(one)) ?? [])].join(", ")})`,
      absent: one.absent,
    })),
  );
}

/** The document of --json. */
export function describeCauseComparison(
  { splits, test, replicates, runs, findings, warnings }: Comparison,
  { causes, differences }: ByCause,
): object {
  return {
    splits,
    test,
    replicates,
    causes,
    runs: runs.map(({ method, split, byCause, met, constrained, seconds, failure }) => ({
      split,
      method: method.label,
      scores: byCause?.scores ?? null,
      met,
      constrained,
      seconds,
      failure,
      audit: byCause?.audit ?? null,
    })),
    differences,
    findings,
    warnings,
  };
}
