/**
 * Warnings about a table and its rows before a run starts. Nothing is refused, but a reader of the model should know.
 * Each notice has its level and its sentence in parts, so a report can leave out what points at single people.
 */
import { count, say } from "../core/sentence.ts";
import { countOf } from "../core/text.ts";
import { createNotice, type Notice } from "../data/checks/findings.ts";
import { checkFollowup, checkGroups } from "../data/checks/sanity.ts";
import { describeShapes } from "../data/encode/number-shape.ts";
import { describePooling } from "../data/encode/rare-levels.ts";
import { columnsOf } from "../data/groups/group-expression.ts";
import { parseGroup } from "../data/groups/parse-group.ts";
import { type Outcomes, pickOutcomes, type RightCensored } from "../data/outcomes/outcomes.ts";
import { outcomeNames } from "../data/outcomes/read-outcomes.ts";
import { binningGap, type TimeGrid } from "../data/outcomes/time-grid.ts";
import type { PreparedStudy } from "../study/prepare.ts";
import type { LongRows, SampledRows } from "./rows/long-rows.ts";
import type { SolveReport } from "./solve/hold.ts";

/** `training` holds the training rows of the study. */
export function listNotices(study: PreparedStudy, training: LongRows): Notice[] {
  const { features, columns, encoder, outcomes, split, grid, fitRows } = study;
  const used = new Set([...features, ...outcomeNames(columns)]);
  /** A finding about a column that the run does not use does not matter. */
  const isUsed = (column: string | null) => column === null || used.has(column);
  const learnt = pickOutcomes(outcomes, split.train);
  const events = training.binned.event.reduce((sum, event) => sum + event, 0);
  return [
    ...study.leftOut.map(({ name, reason }) => createNotice("warning", `${name} is not used: it ${reason}`)),
    ...study.checked.findings.filter(({ level, column }) => level === "warning" && isUsed(column)),
    ...study.notes,
    ...describePooling(encoder, fitRows.length).map((said) => createNotice("warning", said)),
    ...describeShapes(encoder).map((said) => createNotice("note", said)),
    ...warnOfManyFeatures(encoder.names.length, events),
    ...checkGroups(training.groups, learnt),
    ...(split.test.length > 0 ? checkFollowup(learnt, pickOutcomes(outcomes, split.test)) : []),
    ...(isPlain(learnt) ? warnOfBinning(learnt, grid) : warnOfShortStays(training)),
    ...study.independence,
    ...study.missingGroups,
    ...tellBlindGroups(study),
  ].map(({ level, sentence }) => ({ level, sentence }));
}

/** Groups over columns that the model may not see are held all the same: whoever named them should know how. */
function tellBlindGroups({ groups, features }: PreparedStudy): Notice[] {
  const seen = new Set(features);
  const unseen = groups.map(({ name, expression }) => ({
    name,
    columns: columnsOf(parseGroup(expression)).filter((column) => !seen.has(column)),
  }));
  const blind = unseen.filter(({ columns }) => columns.length > 0);
  if (blind.length === 0) return [];
  const hidden = [...new Set(blind.flatMap(({ columns }) => columns))];
  const said =
    `held, not told: ${blind.map(({ name }) => name).join(", ")} ` +
    `(the model may not see ${hidden.join(", ")})`;
  return [createNotice("note", said)];
}

/** With more features than events, a fit can follow any training rows, whatever they are. */
function warnOfManyFeatures(D: number, events: number): Notice[] {
  if (D <= events) return [];
  const features = say`${D} features for ${count(events, "training event")}`;
  const said = say`${features}: choose among them (--features), or expect a fit to noise`;
  return [createNotice("warning", said)];
}

function isPlain(outcomes: Outcomes): outcomes is RightCensored {
  return [outcomes.entry, outcomes.cause, outcomes.weight].every((field) => field === undefined);
}

/** Above this share of the events, those that are lost to bins too wide for them are worth a word. */
const FEW_LOST = 0.01;

/** Rows that enter and leave within one bin are at risk in none: their events are not learnt from. */
function warnOfShortStays({ binned: { event, bin, firstBin } }: LongRows): Notice[] {
  if (firstBin === undefined) return [];
  const events = event.reduce((sum, one) => sum + one, 0);
  const lost = event.reduce((sum, one, row) => sum + (firstBin[row] > bin[row] ? one : 0), 0);
  if (lost <= FEW_LOST * events) return [];
  const said = say`${count(lost, "event")} of ${events} happen in the time bin of the row's own entry`;
  const why = "such a row is at risk in no bin, and nothing is learnt from it: more bins (--bins) keep them";
  return [createNotice("warning", say`${said}; ${why}`)];
}

function warnOfBinning(outcomes: RightCensored, grid: TimeGrid): Notice[] {
  const { raw, binned, exceedsHalfStandardError } = binningGap(outcomes, grid);
  if (!exceedsHalfStandardError) return [];
  const raise = `${countOf(grid.T, "time bin")} ${grid.T === 1 ? "raises" : "raise"} Kaplan-Meier at the end`;
  const said =
    `${raise} from ${raw.toFixed(4)} to ${binned.toFixed(4)}, ` +
    "over half a standard error: more bins would not";
  return [createNotice("warning", said)];
}

/** Of a long table the start, the network and the choices see a sample. */
export function tellSample(all: SampledRows, used: SampledRows): Notice[] {
  const thinned = (["train", "validation"] as const).filter((set) => used[set].length < all[set].length);
  if (thinned.length === 0) return [];
  const names = { train: "training", validation: "validation" };
  const parts = thinned.map((set) => `${used[set].length} of ${all[set].length} ${names[set]} rows`);
  const said =
    `a long table: start, network and choices take ${parts.join(" and ")}, drawn evenly; ` +
    "the output layer is solved on all";
  return [createNotice("note", said)];
}

/** Cells of group and predicted risk are constrained in training alone; a run ends held to whole groups. */
export function tellStrata(strata: number): Notice[] {
  if (strata === 1) return [];
  const said = `the ${strata} risk strata of each group guide training; the output layer is held to whole groups`;
  return [createNotice("note", said)];
}

/** The largest residual of a solve that has converged, and of one that holds groups the model may not see. */
const LARGEST_RESIDUAL = 1e-6;
const LARGEST_BLIND_RESIDUAL = 1e-4;

/** A solve that stopped short of its optimum says so: its verdict is of the curves it reached, not of the best ones. */
export function warnOfSolve(solve: SolveReport | null): string[] {
  if (solve === null) return [];
  const residual = Math.max(...Object.values(solve.residuals));
  if (residual <= (solve.blind.length > 0 ? LARGEST_BLIND_RESIDUAL : LARGEST_RESIDUAL)) return [];
  return [
    `the solve of the output layer stopped before it converged (residual ${residual.toExponential(1)}): ` +
      "the verdict is of the curves it reached",
  ];
}
