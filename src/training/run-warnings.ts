/** What is said of a table and its rows before a run starts: nothing is refused, but a reader of the model should know. */

import { countOf } from "../core/text.ts";
import type { Finding } from "../data/checks/findings.ts";
import { checkFollowup, checkGroups } from "../data/checks/sanity.ts";
import type { Encoder } from "../data/encode/encoder.ts";
import type { FeatureChoice } from "../data/encode/features.ts";
import { describePooling } from "../data/encode/rare-levels.ts";
import { binningGap } from "../data/outcomes/binning-gap.ts";
import { pickOutcomes, type RightCensored } from "../data/outcomes/outcomes.ts";
import type { Split } from "../data/outcomes/split.ts";
import type { TimeGrid } from "../data/outcomes/time-grid.ts";
import type { TrainingRows } from "./trainer.ts";

export interface WarningSource {
  /** Features, and the outcome's. */
  readonly usedColumns: readonly string[];
  readonly leftOut: FeatureChoice["leftOut"];
  readonly findings: readonly Finding[];
  /** What else is to be said of the outcome and of the features. */
  readonly notes: readonly string[];
  readonly encoder: Encoder;
  /** How many rows the encoder was fitted to. */
  readonly fitted: number;
  readonly training: TrainingRows;
  readonly events: number;
  readonly outcomes: RightCensored; // of every row of the table
  readonly split: Split;
  readonly grid: TimeGrid;
}

export function listWarnings(source: WarningSource): string[] {
  const { usedColumns, encoder, outcomes, split, grid } = source;
  /** A finding about a column that was asked not to be used is nobody's concern. */
  const isUsed = (column: string | null) => column === null || usedColumns.includes(column);
  const learnt = pickOutcomes(outcomes, split.train);
  return [
    ...source.leftOut.map(({ name, reason }) => `${name} is not used: it ${reason}`),
    ...source.findings
      .filter(({ level, column }) => level === "warning" && isUsed(column))
      .map(({ message }) => message),
    ...source.notes,
    ...describePooling(encoder, source.fitted),
    ...warnOfManyFeatures(encoder.names.length, source.events),
    ...checkGroups(source.training.groups, learnt).map(({ message }) => message),
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
  return [
    `${countOf(grid.T, "time bin")} ${grid.T === 1 ? "raises" : "raise"} Kaplan-Meier at the end from ${raw.toFixed(4)} to ${binned.toFixed(4)}, over half a standard error: more bins would not`,
  ];
}
