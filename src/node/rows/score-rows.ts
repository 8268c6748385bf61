/** Every score of a model on rows of a table it has the outcomes of, with what was scored: curves, outcomes and groups. */

import type { Backend } from "../../compute/backend.ts";
import type { Curves } from "../../data/curves/curves.ts";
import { ALL_GROUP, resolveGroups } from "../../data/groups/groups.ts";
import { type BinnedRightCensored, pickOutcomes, type RightCensored } from "../../data/outcomes/outcomes.ts";
import type { People } from "../../data/outcomes/people.ts";
import { readOutcomes } from "../../data/outcomes/read-outcomes.ts";
import { binOutcomes, type TimeGrid } from "../../data/outcomes/time-grid.ts";
import type { Table } from "../../data/table.ts";
import type { Model } from "../../training/model.ts";
import {
  type AuditGroup,
  type AuditInput,
  type AuditOptions,
  type AuditTable,
  audit,
} from "../../verbs/audit.ts";
import { gridOf, predict } from "../../verbs/predict.ts";
import { findPeople, peopleOf } from "../options/find-people.ts";

/** Curves and outcomes of some rows of a table. */
export interface PredictedRows {
  readonly rows: Int32Array;
  readonly curves: Curves; // [N,T]
  readonly outcomes: RightCensored; // [N]
  readonly binned: BinnedRightCensored; // [N]
  readonly grid: TimeGrid;
  /** Whose rows these are, where that is known. */
  readonly people?: People; // [N]
}

/** A group as it was audited: its rows are places among those that were. */
export interface ScoredGroup extends AuditGroup {
  readonly expression?: string;
}

export interface ScoredRows extends PredictedRows {
  /** Without everyone, in the order of the audit. */
  readonly groups: readonly ScoredGroup[];
  readonly audit: AuditTable;
}

/** `people` are of every row of the table; read by the model's column of ids unless given. */
export async function predictRows(
  model: Model,
  table: Table,
  rows: Int32Array,
  backend: Backend | null,
  people: People | null = findPeople(table, {}, model).people,
): Promise<PredictedRows> {
  const { curves } = await predict(model, table, backend, rows);
  const outcomes = pickOutcomes(readOutcomes(table, model.columns), rows);
  const grid = gridOf(model);
  return { rows, curves, outcomes, binned: binOutcomes(outcomes, grid), grid, ...peopleOf(people, rows) };
}

/** Scores for everyone, the model's groups and then `more`, whose rows are the table's. */
export async function scorePredicted(
  model: Model,
  table: Table,
  predicted: PredictedRows,
  more: readonly ScoredGroup[] = [],
  options: AuditOptions = {},
): Promise<ScoredRows> {
  // Everyone is the audit's first line already.
  const named = model.groups.filter(({ expression }) => expression !== ALL_GROUP.expression);
  const place = new Map(Array.from(predicted.rows, (row, k) => [row, k]));
  const groups = [...resolveGroups(named, table, { unknownLevels: "allow" }), ...more].map(
    ({ name, expression, rows }): ScoredGroup => ({
      name,
      ...(expression === undefined ? {} : { expression }),
      rows: Int32Array.from(Array.from(rows, (row) => place.get(row) ?? -1).filter((k) => k >= 0)),
    }),
  );
  return { ...predicted, groups, audit: await audit(toAuditInput(predicted, groups), options) };
}

function toAuditInput({ curves, binned, people }: PredictedRows, groups: readonly ScoredGroup[]): AuditInput {
  return { curves, outcomes: binned, groups, ...(people === undefined ? {} : { people }) };
}

/** The same rows' scores with intervals beside them; nothing else is drawn again. */
export async function addIntervals(scored: ScoredRows, options: AuditOptions): Promise<ScoredRows> {
  const drawn = await audit(toAuditInput(scored, scored.groups), { ...options, draws: 0 });
  const merge = (one: AuditTable["overall"], other: AuditTable["overall"]) => ({
    ...one,
    ...(other.intervals === undefined ? {} : { intervals: other.intervals }),
    absent: { ...other.absent, ...one.absent },
  });
  return {
    ...scored,
    audit: {
      ...scored.audit,
      overall: merge(scored.audit.overall, drawn.overall),
      groups: scored.audit.groups.map((one, g) => merge(one, drawn.groups[g])),
    },
  };
}

/** Every score on some rows of the table, overall and for the model's groups. */
export async function scoreRows(
  model: Model,
  table: Table,
  rows: Int32Array,
  backend: Backend | null,
  more: readonly AuditGroup[] = [],
  options: AuditOptions = {},
): Promise<AuditTable> {
  const predicted = await predictRows(model, table, rows, backend);
  return (await scorePredicted(model, table, predicted, more, options)).audit;
}
