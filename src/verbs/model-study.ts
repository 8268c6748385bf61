/**
 * The study of a model: a table as the model sees it, with the model's own groups, encoder and grid, and which of its
 * rows the model has not learnt from. A model that was trained on this very table (by the SHA-256 of its file) stores
 * its split, which is looked up. A file from before version 3 stores none: its split is drawn again by its seed, and
 * accepted if the test rows show the observed and expected events that were recorded at the end of training.
 */
import type { Backend } from "../compute/backend.ts";
import { isAbsent } from "../core/measured.ts";
import { present } from "../core/present.ts";
import type { Finding } from "../data/checks/findings.ts";
import { checkTable } from "../data/checks/sanity.ts";
import { widenTable } from "../data/groups/groups.ts";
import { inspectOutcomes, requireOutcomes } from "../data/outcomes/read-outcomes.ts";
import { joinRows, type Split } from "../data/outcomes/split.ts";
import type { Table } from "../data/table.ts";
import { logrankIndividual } from "../stats/logrank.ts";
import { createMembers } from "../study/members.ts";
import { redrawSplit, unpackSplit } from "../study/split.ts";
import { pickStudyRows, type Study, type StudyGroup, type Subject } from "../study/study.ts";
import type { Model } from "../training/model.ts";
import { gridOf, predictStudy } from "./predict.ts";
import { findPeople } from "./whose-rows.ts";

/**
 * The relation of the model to the rows of the table. "new": it has seen none of them; "stored" and "redrawn": it was
 * trained on the table, and its split was stored or could be drawn again; "given": the caller says which rows are
 * which; "unknown": it was trained on the table, and nobody can tell on which rows.
 */
export type Acquaintance = "new" | "stored" | "redrawn" | "given" | "unknown";

/** A table, a model, and which rows are new to it. */
export interface ModelStudy extends Study {
  readonly model: Model;
  readonly acquaintance: Acquaintance;
  /** Whether the model was trained on rows of this table, whether or not it is known which. */
  readonly isOwnTable: boolean;
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
  const isOwnTable = isTrainedOn(model, sha256);
  const everyRow = { train: new Int32Array(), validation: new Int32Array(), test: allRows(table.rows) };
  const study = { ...studyOf(model, { ...subject, columns }, everyRow), isOwnTable, warnings };
  if (options.split !== undefined) {
    return { ...study, acquaintance: "given", split: joinLearnt(model, options.split) };
  }
  if (!isOwnTable) return { ...study, acquaintance: "new" };
  if (model.split !== undefined) {
    const split = model.split.rows === table.rows ? unpackSplit(model.split) : null;
    return split === null
      ? { ...study, acquaintance: "unknown" }
      : { ...study, acquaintance: "stored", split };
  }
  const split = redrawSplit(model, table);
  const isIt = split !== null && split.test.length > 0 && (await isAsRecorded({ ...study, split }, backend));
  return isIt ? { ...study, acquaintance: "redrawn", split } : { ...study, acquaintance: "unknown" };
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

/** Whether the model was trained on rows of the file with this hash. */
export function isTrainedOn({ split, provenance }: Model, sha256: string | null): boolean {
  return sha256 !== null && (split?.sha256 ?? provenance?.table?.sha256) === sha256;
}

function readSubject({ columns }: Model, table: Table, sha256: string | null): Subject {
  const inspected = inspectOutcomes(table, columns);
  let findings: readonly Finding[] | null = null;
  return {
    table,
    sha256,
    columns,
    outcomes: requireOutcomes(table, inspected),
    eventRule: inspected.eventRule,
    people: null,
    findings: () => {
      findings ??= checkTable(table, columns, inspected).findings;
      return findings;
    },
    membersOf: createMembers(table, "allow"),
  };
}

/** A model without rows for validation alone, such as an ensemble, also learnt from the split's validation rows. */
function joinLearnt({ training }: Model, split: Split): Split {
  if (training.rows.validation > 0) return split;
  return { train: joinRows(split.train, split.validation), validation: new Int32Array(), test: split.test };
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
  const found = logrankIndividual(curves, pickStudyRows(study, test).binned);
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
