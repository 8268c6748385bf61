/**
 * What a report says about a model and its table, for `train` and `audit` alike: the outcome and how it was read, the
 * unit of its times, what the checks found, worded for people who only read the report, how the model was trained,
 * which constraints it was held to and with which settings. The findings are passed in because the caller that prepared
 * the table has already run the checks. It names the groups of the recorded distances and adds no number.
 */

import { present } from "../../core/present.ts";
import { continueSentence, createSentence, type Sentence } from "../../core/sentence.ts";
import { countOf } from "../../core/text.ts";
import type { Finding } from "../../data/checks/findings.ts";
import { DISTANCES } from "../../training/choices.ts";
import type { SolveReport } from "../../training/solve/hold.ts";
import type { Model, ModelHistoryEntry } from "../../training/model.ts";
import type { ConstraintSpec, TrainingOptions } from "../../training/options.ts";
import type { GroupVerdict } from "../../training/solve/verdict.ts";
import type { GatherInput } from "./gather-report.ts";
import type { HistoryEntry, ReportFinding, ReportTraining } from "./report-data.ts";
import { forPage, SMALLEST_CELL } from "./small-cells.ts";

/** The outcome's columns and how the event was read. */
export function describeOutcome(
  { time, event, origin }: Model["columns"],
  rule: string,
): NonNullable<GatherInput["outcome"]> {
  return { time, event, rule, ...present({ origin }) };
}

/** Times counted from a date are in days unless the caller names a unit. */
export function timeLabelOf(timeUnit: string | undefined, origin: string | undefined): string | undefined {
  return timeUnit ?? (origin === undefined ? undefined : "days");
}

/**
 * What the checks say about the table. A finding on a column that the model does not use is listed for the record only,
 * without advice. `id` is the column by which the audit told people apart.
 */
export function findingsFor(
  findings: readonly Finding[],
  { columns, encoder }: Pick<Model, "columns" | "encoder">,
  id: string | null,
): readonly ReportFinding[] {
  const { time, event, origin } = columns;
  const used = new Set([...encoder.columns.map(({ column }) => column), time, event, origin]);
  return findings.map((finding): ReportFinding => {
    const { level, column, sentence } = finding;
    if (column === null || used.has(column)) return { level, sentence };
    const isId = finding.code === "id" && column === id && finding.evidence.fixedColumns !== undefined;
    return { level: "note", sentence: isId ? sayPeople(sentence, columns, id) : sayUnused(sentence) };
  });
}

/** Adds to the finding that rows are not independent what was done about it. */
function sayPeople({ parts }: Sentence, { id: trained }: Model["columns"], id: string): Sentence {
  const done =
    trained === id
      ? "rows of one person were kept together"
      : "the audit takes rows of one person together, training did not";
  return createSentence([...parts, `: ${done} (--id ${id})`]);
}

function sayUnused({ parts, consequence }: Sentence): Sentence {
  return continueSentence({ parts, ...present({ consequence }) }, " (the model does not use it)");
}

/** The parts of a model that a report needs; training's `Model` has them. */
export interface ReportedModel {
  readonly method: string;
  /** The columns it was trained on; those of start-stop rows matter here. */
  readonly columns?: { readonly start?: string };
  readonly predictor: { readonly kind: string; readonly network?: object };
  readonly options:
    | (Omit<Partial<TrainingOptions>, "constraint"> & {
        readonly constraint?: Partial<ConstraintSpec> | null;
      })
    | null;
  readonly training: Pick<
    Model["training"],
    | "seed"
    | "backend"
    | "rows"
    | "parameters"
    | "steps"
    | "bestStep"
    | "history"
    | "verdict"
    | "solve"
    | "warnings"
    | "notices"
  > & { readonly multipliers: { readonly fixedPenalty: boolean } | null };
}

/** Lists longer than this (baseline hazards) are internal to the model, not settings. */
const LONGEST_SETTING = 8;

/** What the reader may see of individual people: their rows and values, and small counts of them. */
export interface Shown {
  readonly showRows?: boolean;
  readonly showSmallCells?: boolean;
}

/** `revealing`: groups that must not be shown (small-cells.ts). */
export function describeTraining(
  model: ReportedModel,
  shown: Shown,
  revealing: ReadonlySet<string> = new Set(),
): ReportTraining {
  const { method, predictor, training, options } = model;
  const { steps, bestStep, history, verdict, multipliers } = training;
  const distance = options?.constraint?.distance;
  const isShown = ({ group }: { readonly group: string }) => !revealing.has(group);
  // A line of a figure has no place for "under 5": groups of a few people have none.
  const few = verdict.filter(({ n }) => shown.showSmallCells !== true && n < SMALLEST_CELL);
  const drawn = new Set([...revealing, ...few.map(({ group }) => group)]);
  const network = (predictor.network ?? {}) as { readonly base?: object };
  const { members = [0] } = (network.base ?? network) as { readonly members?: readonly unknown[] };
  return {
    method,
    members: members.length,
    steps,
    bestStep,
    history: history.map((entry) => withoutGroups(nameGroups(entry, verdict), drawn)),
    constraints: verdict.filter(isShown),
    solve: training.solve ? withoutReports(training.solve, drawn) : null,
    distance: distance === undefined ? null : DISTANCES[distance].words,
    fixedPenalty: multipliers?.fixedPenalty ?? false,
    warnings: listWarnings(training, shown),
  };
}

function withoutGroups(entry: HistoryEntry, hidden: ReadonlySet<string>): HistoryEntry {
  const { groups, ...rest } = entry;
  return groups === undefined ? entry : { ...rest, groups: groups.filter(({ name }) => !hidden.has(name)) };
}

/** A solve without what it says of some groups. */
function withoutReports(solve: SolveReport, hidden: ReadonlySet<string>): SolveReport {
  const isShown = ({ group }: { readonly group: string }) => !hidden.has(group);
  const { blind, targets } = solve;
  return { ...solve, blind: blind.filter(isShown), ...(targets && { targets: targets.filter(isShown) }) };
}

/**
 * Older files keep warnings as plain sentences. Nothing tells which of their numbers belong to individual people, so
 * the warnings are only counted, unless both rows and small counts are shown.
 */
function listWarnings(
  { notices, warnings }: ReportedModel["training"],
  shown: Shown,
): readonly ReportFinding[] {
  if (notices !== undefined) return notices.map((notice) => forPage(notice, shown));
  if (warnings.length === 0) return [];
  if (shown.showRows === true && shown.showSmallCells === true) {
    return warnings.map((said) => ({ level: "warning", sentence: createSentence(said) }));
  }
  const said =
    `training gave ${countOf(warnings.length, "warning")}; the model file keeps such sentences whole, ` +
    "and they are left out here because they may be about single people";
  return [{ level: "note", sentence: createSentence(said) }];
}

/**
 * Where a solve follows, training leaves out the groups that the model may not see. Where the number of groups in the
 * record is neither, they cannot be named and are left out.
 */
function nameGroups(entry: ModelHistoryEntry, verdict: readonly GroupVerdict[]): HistoryEntry {
  const { step, loss, concordance, distances = [], multipliers } = entry;
  const plain = { step, loss, concordance };
  const lists = [verdict, verdict.filter(({ told }) => told)];
  const trained = lists.find(({ length }) => length === distances.length) ?? [];
  if (trained.length === 0) return plain;
  const groups = trained.map(({ group, slack }, g) => ({
    name: group,
    distance: distances[g],
    slack,
    multiplier: multipliers?.[g] ?? null,
  }));
  return { ...plain, groups };
}

/** The settings the model was trained with, as path and value. */
export function listSettings({ method, predictor, options, training }: ReportedModel) {
  return [
    { name: "method", value: method },
    ...flatten("network", predictor.network ?? {}),
    ...flatten("", options ?? {}),
    { name: "parameters", value: String(training.parameters) },
    { name: "backend", value: training.backend },
    ...(options === null ? [{ name: "seed", value: String(training.seed) }] : []),
  ];
}

/** Writes { a: { b: 1 } } as a.b 1; for a list of objects, gives its length. */
function flatten(path: string, value: object): { readonly name: string; readonly value: string }[] {
  return Object.entries(value).flatMap(([key, entry]) => {
    const name = path === "" ? key : `${path}.${key}`;
    if (Array.isArray(entry)) {
      if (entry.every((one) => typeof one === "object" && one !== null))
        return [{ name, value: String(entry.length) }];
      return entry.length > LONGEST_SETTING ? [] : [{ name, value: entry.join(", ") }];
    }
    if (typeof entry === "object" && entry !== null) return flatten(name, entry);
    return [{ name, value: entry === null ? "none" : String(entry) }];
  });
}
