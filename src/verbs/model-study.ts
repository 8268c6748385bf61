/**
 * The study of a model: a table as the model sees it, with the model's own groups, encoder and grid, and which of its
 * rows the model has not learnt from. A model that was trained on this very table, by the SHA-256 of its file or by
 * what its rows hold (acquaintance/known-rows.ts), stores its split, which is looked up. A file from before version 7
 * does not know what the rows held, and one from before version 3 stores no split: it is drawn again by its seed.
 * Either split is accepted for a table of as many rows if the test rows show the observed and expected events that
 * were recorded at the end of training. A model whose output layer was solved on its validation rows too has spent
 * them: they count as training rows here.
 */

import type { Backend } from "../compute/backend.ts";
import { isAbsent } from "../core/measured.ts";
import { present } from "../core/present.ts";
import type { Finding } from "../data/checks/findings.ts";
import { checkTable } from "../data/checks/sanity.ts";
import { widenTable } from "../data/groups/groups.ts";
import { requireRightCensored } from "../data/outcomes/outcomes.ts";
import { inspectHistory, modelOutcomes, readHistory } from "../data/outcomes/read-history.ts";
import { joinRows, type Split } from "../data/outcomes/split.ts";
import type { Table } from "../data/table.ts";
import { logrankIndividual } from "../stats/individual-logrank.ts";
import { createMembers } from "../study/members.ts";
import { redrawSplit, unpackSplit } from "../study/split.ts";
import { pickStudyRows, type Study, type StudyGroup, type Subject } from "../study/study.ts";
import type { Model } from "../training/model.ts";
import { hashOf, type KnownTable, knowTable } from "./acquaintance/known-rows.ts";
import { gridOf, predictStudy } from "./predict.ts";
import { findPeople } from "./whose-rows.ts";

/**
 * The relation of the model to the rows of the table. "new": it has seen none of them; "stored" and "redrawn": it was
 * trained on the table, and its split was stored or could be drawn again; "given": the caller says which rows are
 * which; "unknown": it was trained on the table, or on some of its rows, and nobody can tell on which.
 */
export type Acquaintance = "new" | "stored" | "redrawn" | "given" | "unknown";

/** A table, a model, and which rows are new to it. The training rows of its split are all that it learnt from. */
export interface ModelStudy extends Study {
  readonly model: Model;
  readonly acquaintance: Acquaintance;
  /** Those of the training rows that were for validation: stored or given as such, and learnt from all the same. */
  readonly spent: Int32Array;
  /** The rows that the model used, as its file keeps them; null where it keeps none of this table. */
  readonly stored: Split | null;
  /** Whether the model was trained on rows of this table, whether or not it is known which. */
  readonly isOwnTable: boolean;
  /** About how many of its rows the model has learnt from, where they are known by their cells but not one by one. */
  readonly overlap?: number;
  /** Warnings about whose rows are whose. */
  readonly warnings: readonly string[];
}

/** What is known of the table besides its cells. */
export interface OpenStudyOptions {
  /** SHA-256 of the table's file; null where it did not come from one. */
  readonly sha256?: string | null;
  /** The id column; the model's own unless given. */
  readonly id?: string;
  /** The split the model was trained with, where the caller knows it. */
  readonly split?: Split;
}

/** Reads a table for a model and finds out which of its rows are new to it. */
export async function openStudy(
  model: Model,
  table: Table,
  backend: Backend | null,
  options: OpenStudyOptions = {},
): Promise<ModelStudy> {
  const { sha256 = null } = options;
  const { id, people, warnings } = findPeople(table, options, model);
  const subject = { ...readSubject(model, table, sha256), people };
  const columns = { ...subject.columns, ...present({ id: id ?? undefined }) };
  const known = knowTable(model, table, sha256);
  const isOwnTable = known.is === "own" || known.is === "overlapping";
  const everyRow = { train: new Int32Array(), validation: new Int32Array(), test: allRows(table.rows) };
  const stored = chooseStored(model, table, known, options);
  const spent = new Int32Array();
  const own = studyOf(model, { ...subject, columns }, everyRow);
  const study = { ...own, isOwnTable, spent, stored, warnings };
  if (options.split !== undefined) {
    return { ...study, acquaintance: "given", ...joinSpent(model, options.split, study) };
  }
  switch (known.is) {
    case "new":
      return { ...study, acquaintance: "new" };
    case "overlapping":
      return { ...study, acquaintance: "unknown", overlap: Math.round(known.share * table.rows) };
    case "own":
      if (model.split !== undefined) {
        return stored === null
          ? { ...study, acquaintance: "unknown" }
          : { ...study, acquaintance: "stored", ...joinSpent(model, stored, study) };
      }
      return tryRecorded(study, redrawSplit(model, table), backend, "unknown");
    case "undecided":
      // A file with another hash may be the same table in another form: only what was recorded can tell.
      return tryRecorded(
        study,
        known.split ?? redrawSplit(model, table),
        backend,
        sha256 === null && model.metrics === undefined ? "unknown" : "new",
      );
  }
}

/** The study with a split that may be the model's, if its test rows are as they were recorded. */
async function tryRecorded(
  study: Omit<ModelStudy, "acquaintance">,
  split: Split | null,
  backend: Backend | null,
  otherwise: Acquaintance,
): Promise<ModelStudy> {
  const { model } = study;
  const isIt = split !== null && split.test.length > 0 && (await isAsRecorded({ ...study, split }, backend));
  if (!isIt) return { ...study, acquaintance: otherwise };
  if (model.split === undefined) return { ...study, acquaintance: "redrawn", isOwnTable: true, split };
  const own = { ...study, isOwnTable: true, stored: split };
  return { ...own, acquaintance: "stored", ...joinSpent(model, split, own) };
}

/** A subject as a model sees it; the model's groups first, then `more`. */
export function studyOf(
  model: Model,
  subject: Subject,
  split: Split,
  more: readonly StudyGroup[] = [],
): Study & { readonly model: Model } {
  const { membersOf, table } = subject;
  return {
    ...subject,
    model,
    split,
    fitRows: split.train,
    groups: [...membersOf(model.groups), ...more],
    inputGroups: model.inputGroups,
    widened: widenTable(table, membersOf(model.inputGroups)),
    encoder: model.encoder,
    grid: gridOf(model),
  };
}

/** The same study with more groups. */
export function addGroups<Any extends Study>(study: Any, more: readonly StudyGroup[]): Any {
  return { ...study, groups: [...study.groups, ...more] };
}

/** The model's own split, if this is the table that it was trained on, in whatever form or order. */
export function findStored(model: Model, table: Table, sha256: string | null): Split | null {
  return chooseStored(model, table, knowTable(model, table, sha256), {});
}

/**
 * The same or, where the caller gives a split, the one by row because nothing is known against it: of a file of an
 * earlier version, the same table in another form has another hash, and the same test rows.
 */
function chooseStored(
  model: Model,
  table: Pick<Table, "rows">,
  known: KnownTable,
  { sha256 = null, split: given }: OpenStudyOptions,
): Split | null {
  if (known.is === "own") return known.split;
  if (given === undefined || model.split === undefined || model.split.rows !== table.rows) return null;
  const byRow = unpackSplit(model.split);
  if (byRow === null) return null;
  const isUnknown = known.is === "undecided" && (sha256 === null || hashOf(model) === null);
  return isUnknown || isSameRows(byRow.test, given.test) ? byRow : null;
}

/** 1 for each of the given rows: a set of so many rows as a table may have would not fit into a JavaScript Set. */
export function flagRows(rows: Int32Array, N: number): Uint8Array {
  const flags = new Uint8Array(N);
  for (const row of rows) flags[row] = 1;
  return flags;
}

/** Whether two sets have the same rows; both ascend. */
export function isSameRows(one: Int32Array, other: Int32Array): boolean {
  return one.length === other.length && one.every((row, k) => row === other[k]);
}

function readSubject({ columns }: Model, table: Table, sha256: string | null): Subject {
  const inspected = inspectHistory(table, columns, "model");
  // Whose rows are whose is found out with warnings (findPeople), except where a person's rows follow on each other.
  const { id: _, ...own } = columns;
  const history = readHistory(table, columns.start === undefined ? own : columns, inspected);
  let findings: readonly Finding[] | null = null;
  return {
    table,
    sha256,
    columns,
    ...modelOutcomes(history, columns),
    eventRule: inspected.eventRule,
    told: history.told,
    people: null,
    findings: () => {
      findings ??= checkTable(table, columns, inspected).findings;
      return findings;
    },
    membersOf: createMembers(table, "allow"),
  };
}

/** The split with the validation rows that the model has learnt from among the training rows. */
function joinSpent(
  model: Model,
  split: Split,
  own: Pick<ModelStudy, "stored" | "isOwnTable" | "table">,
): Pick<ModelStudy, "split" | "spent"> {
  const { rows } = own.table;
  const spent = findSpent(model, split, own);
  const isSpent = flagRows(spent, rows);
  const validation = split.validation.filter((row) => isSpent[row] === 0);
  return { spent, split: { train: joinRows(split.train, spent), validation, test: split.test } };
}

/**
 * The validation rows of a split that the model has learnt from: all of them where it has no rows for validation alone,
 * as an ensemble; of its own table those that its output layer was solved on. A given split may divide the model's test
 * rows, so that its validation rows are new to the model.
 */
function findSpent(
  { training }: Model,
  { validation }: Split,
  { stored, isOwnTable, table }: Pick<ModelStudy, "stored" | "isOwnTable" | "table">,
): Int32Array {
  if (training.rows.validation === 0) return validation;
  if (training.solve?.solvedOn !== "training and validation rows") return new Int32Array();
  if (stored === null) return isOwnTable ? validation : new Int32Array();
  const learnt = flagRows(joinRows(stored.train, stored.validation), table.rows);
  return validation.filter((row) => learnt[row] === 1);
}

/** Expected events agree with those recorded in training within this share, whichever machine computed them. */
const SAME_EXPECTED = 1e-4;

async function isAsRecorded(
  study: Study & { readonly model: Model },
  backend: Backend | null,
): Promise<boolean> {
  const { metrics } = study.model;
  const { overall } = (metrics ?? {}) as {
    readonly overall?: {
      readonly n?: unknown;
      readonly logrankIndividual?: Readonly<Record<string, unknown>>;
    };
  };
  const recorded = overall?.logrankIndividual;
  if (recorded === undefined) return false;
  const { test } = study.split;
  const { curves } = await predictStudy(study, test, backend);
  const { binned } = pickStudyRows(study, test);
  const found = logrankIndividual(curves, requireRightCensored(binned, "a model of version 0.1.0"));
  if (isAbsent(found)) return false;
  const { observed, expected } = recorded;
  return (
    overall?.n === curves.N &&
    observed === found.observed &&
    typeof expected === "number" &&
    Math.abs(expected - found.expected) <= SAME_EXPECTED * found.expected
  );
}

function allRows(N: number): Int32Array {
  return Int32Array.from({ length: N }, (_, row) => row);
}
