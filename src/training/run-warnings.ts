/**
 * What is said of a table and its rows before a run starts. Nothing is refused, but a reader of the model should know.
 * Each notice has its level and its sentence in parts, so a report can leave out what points at single people.
 */

import { count, say } from "../core/sentence.ts";
import { countOf } from "../core/text.ts";
import { createNotice, type Finding, type Notice } from "../data/checks/findings.ts";
import { checkFollowup, checkGroups } from "../data/checks/sanity.ts";
import type { Encoder } from "../data/encode/encode.ts";
import type { FeatureChoice } from "../data/encode/features.ts";
import { describePooling } from "../data/encode/rare-levels.ts";
import { type Outcomes, pickOutcomes } from "../data/outcomes/outcomes.ts";
import type { Split } from "../data/outcomes/split.ts";
import { binningGap, type TimeGrid } from "../data/outcomes/time-grid.ts";
import type { TrainingRows } from "./trainer.ts";

export interface NoticeSource {
  /** Features, and the outcome's. */
  readonly usedColumns: readonly string[];
  readonly leftOut: FeatureChoice["leftOut"];
  readonly findings: readonly Finding[];
  /** What else is to be said of the outcome and of the features. */
  readonly notes: readonly Notice[];
  readonly encoder: Encoder;
  /** How many rows the encoder was fitted to. */
  readonly fitted: number;
  readonly training: TrainingRows;
  readonly events: number;
  readonly outcomes: Outcomes; // of every row of the table
  readonly split: Split;
  readonly grid: TimeGrid;
}

export function listNotices(source: NoticeSource): Notice[] {
  const { usedColumns, encoder, outcomes, split, grid } = source;
  /** A finding about a column that was asked not to be used is nobody's concern. */
  const isUsed = (column: string | null) => column === null || usedColumns.includes(column);
  const learnt = pickOutcomes(outcomes, split.train);
  return [
    ...source.leftOut.map(({ name, reason }) => createNotice("warning", `${name} is not used: it ${reason}`)),
    ...source.findings.filter(({ level, column }) => level === "warning" && isUsed(column)),
    ...source.notes,
    ...describePooling(encoder, source.fitted).map((said) => createNotice("warning", said)),
    ...warnOfManyFeatures(encoder.names.length, source.events),
    ...checkGroups(source.training.groups, learnt),
    ...(split.test.length > 0 ? checkFollowup(learnt, pickOutcomes(outcomes, split.test)) : []),
    ...warnOfBinning(learnt, grid),
  ].map(({ level, sentence }) => ({ level, sentence }));
}

/** Beyond one feature an event, a fit can follow its training rows whatever they are. */
function warnOfManyFeatures(D: number, events: number): Notice[] {
  if (D <= events) return [];
  const features = say`${D} features for ${count(events, "training event")}`;
  const said = say`${features}: choose among them (--features), or expect a fit to noise`;
  return [createNotice("warning", said)];
}

function warnOfBinning(outcomes: Outcomes, grid: TimeGrid): Notice[] {
  const { raw, binned, exceedsHalfStandardError } = binningGap(outcomes, grid);
  if (!exceedsHalfStandardError) return [];
  const raise = `${countOf(grid.T, "time bin")} ${grid.T === 1 ? "raises" : "raise"} Kaplan-Meier at the end`;
  const said =
    `${raise} from ${raw.toFixed(4)} to ${binned.toFixed(4)}, ` +
    "over half a standard error: more bins would not";
  return [createNotice("warning", said)];
}
