/**
 * Errors against the truth of the simulated cohorts, as Markdown (truth.ts defines A, B and ISE). The floor is the
 * generator's own family fitted by maximum likelihood to the same training rows: an error minus the generator's in the
 * same group is what a system could still have avoided. Worst is the largest over groups within a run, then averaged
 * over runs.
 */

import type { SystemName } from "../runs/plan.ts";
import type { RunResult } from "../runs/results.ts";
import { SYSTEM_LABELS } from "../summaries/labels.ts";
import {
  type CohortRuns,
  compareRuns,
  listSystems,
  type Read,
  type RunsBySystem,
  runsOf,
  spreadOf,
} from "../summaries/summary.ts";
import { rangeOf, readExcess, readMean, readWorst, type TrueError } from "../summaries/truth-errors.ts";
import { formatMarkdown, formatMean, formatSigned } from "./markdown.ts";

const ERRORS: readonly TrueError[] = ["A", "B", "ise"];
const DIGITS: Readonly<Record<TrueError, number>> = { A: 4, B: 4, ise: 5 };
const LABELS: Readonly<Record<TrueError, string>> = { A: "A", B: "B", ise: "ISE" };

/** One row per system: everyone, then the worst and the mean of the groups in the range. */
export function truthTable(cohort: CohortRuns, which: "constrained" | "audit-only"): string {
  const { runs } = cohort;
  const range = rangeOf(cohort, which);
  const rows = listSystems(runs).map((system) => {
    const own = runsOf(runs, system);
    const cells = ERRORS.flatMap((error) => [
      formatMean(own, readWorst(error, range), DIGITS[error]),
      formatMean(own, readExcess(runs, error, range), DIGITS[error]),
      formatMean(own, readMean(error, range), DIGITS[error]),
    ]);
    const everyone = which === "constrained" ? [formatMean(own, ({ truth }) => truth?.A[0] ?? null, 4)] : [];
    const c = which === "constrained" ? [formatMean(own, ({ truth }) => truth?.concordance ?? null, 4)] : [];
    return [SYSTEM_LABELS[system], ...c, ...everyone, ...cells];
  });
  const titles = ERRORS.flatMap((error) => [
    `worst ${LABELS[error]}`,
    "less generator's",
    `mean ${LABELS[error]}`,
  ]);
  const first = which === "constrained" ? ["C", "A of all"] : [];
  return formatMarkdown(["system", ...first, ...titles], rows);
}

/** The same errors of GRADUATE's default against every system's, paired by seed; null without such runs. */
export function truthDifferences(cohort: CohortRuns, system: SystemName = "graduate"): string | null {
  const { runs, repeats } = cohort;
  const own = runsOf(runs, system);
  if (own.length < 2) return null;
  const range = rangeOf(cohort, "constrained");
  const hidden = rangeOf(cohort, "audit-only");
  const reads: readonly { readonly title: string; readonly digits: number; readonly read: Read }[] = [
    { title: "worst A", digits: 4, read: readWorst("A", range) },
    { title: "mean A", digits: 4, read: readMean("A", range) },
    { title: "mean B", digits: 4, read: readMean("B", range) },
    { title: "mean ISE", digits: 5, read: readMean("ise", range) },
    { title: "audit-only mean A", digits: 4, read: readMean("A", hidden) },
  ];
  const rows = listSystems(runs)
    .filter((other) => other !== system)
    .map((other) => [
      SYSTEM_LABELS[other],
      ...reads.map(({ digits, read }) => {
        const test = compareRuns(own, runsOf(runs, other), read, repeats);
        return test === null
          ? "–"
          : `${formatSigned(test.mean, digits)} ± ${test.standardError.toFixed(digits)}`;
      }),
    ]);
  return formatMarkdown([`${SYSTEM_LABELS[system]} less …`, ...reads.map(({ title }) => title)], rows);
}

/** The C-index of the true curves on the same people. */
export function concordanceOfTruth(runs: RunsBySystem): string {
  const all: readonly RunResult[] = [...runs.values()].flat();
  return spreadOf(all, ({ truth }) => truth?.concordanceOfTruth ?? null)?.mean.toFixed(4) ?? "–";
}
