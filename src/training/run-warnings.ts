/**
 * What is said of a table and its rows before a run starts: nothing is refused, but a reader of the model should know.
 */

import { countOf } from "../core/text.ts";
import { checkFollowup, checkGroups } from "../data/checks/sanity.ts";
import { describePooling } from "../data/encode/rare-levels.ts";
import { binningGap } from "../data/outcomes/binning-gap.ts";
import type { RightCensored } from "../data/outcomes/outcomes.ts";
import { pickOutcomes } from "../data/outcomes/outcomes.ts";
import type { TimeGrid } from "../data/outcomes/time-grid.ts";
import type { PreparedStudy } from "../study/prepare.ts";
import type { TrainingRows } from "./trainer.ts";

export interface WarningSource {
  /** Features, and the outcome's. */
  readonly usedColumns: readonly string[];
  readonly study: PreparedStudy;
  readonly training: TrainingRows;
  /** Among the training rows. */
  readonly events: number;
}

export function listWarnings({ usedColumns, study, training, events }: WarningSource): string[] {
  const { encoder, outcomes, split, grid, fitRows } = study;
  /** A finding about a column that was asked not to be used is nobody's concern. */
  const isUsed = (column: string | null) => column === null || usedColumns.includes(column);
  const learnt = pickOutcomes(outcomes, split.train);
  return [
    ...study.leftOut.map(({ name, reason }) => `${name} is not used: it ${reason}`),
    ...study.checked.findings
      .filter(({ level, column }) => level === "warning" && isUsed(column))
      .map(({ message }) => message),
    ...study.notes,
    ...describePooling(encoder, fitRows.length),
    ...warnOfManyFeatures(encoder.names.length, events),
    ...checkGroups(training.groups, learnt).map(({ message }) => message),
    ...(split.test.length > 0
      ? checkFollowup(learnt, pickOutcomes(outcomes, split.test)).map(({ message }) => message)
      : []),
    ...warnOfBinning(learnt, grid),
  ];
}

/** Beyond one feature an event, a fit can follow its training rows whatever they are. */
function warnOfManyFeatures(D: number, events: number): string[] {
  if (D <= events) return [];
  return [
    `${D} features for ${events} training events: choose among them (--features), or expect a fit to noise`,
  ];
}

function warnOfBinning(outcomes: RightCensored, grid: TimeGrid): string[] {
  const { raw, binned, exceedsHalfStandardError } = binningGap(outcomes, grid);
  if (!exceedsHalfStandardError) return [];
  const change = `from ${raw.toFixed(4)} to ${binned.toFixed(4)}, over half a standard error`;
  const raise = grid.T === 1 ? "raises" : "raise";
  return [`${countOf(grid.T, "time bin")} ${raise} Kaplan-Meier at the end ${change}: more bins would not`];
}
