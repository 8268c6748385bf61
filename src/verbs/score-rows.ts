/**
 * Every score of a model on rows of a table that has their outcomes, with what was scored: curves, outcomes and
 * groups, whose members are places among those rows.
 */

import type { Backend } from "../compute/backend.ts";
import { present } from "../core/present.ts";
import type { Curves } from "../data/curves/curves.ts";
import { ALL_GROUP, resolveGroups } from "../data/groups/groups.ts";
import { type BinnedOutcomes, type Outcomes, pickOutcomes } from "../data/outcomes/outcomes.ts";
import { type People, pickPeople, readPeople } from "../data/outcomes/people.ts";
import { readOutcomes } from "../data/outcomes/read-outcomes.ts";
import { binOutcomes, type TimeGrid } from "../data/outcomes/time-grid.ts";
import type { Table } from "../data/table.ts";
import type { Model } from "../training/model.ts";
import { type AuditGroup, type AuditInput, type AuditOptions, type AuditTable, audit } from "./audit.ts";
import { gridOf, predict } from "./predict.ts";

/** Curves and outcomes of some rows of a table. */
export interface PredictedRows {
  readonly rows: Int32Array;
  readonly curves: Curves; // [N,T]
  readonly outcomes: Outcomes; // [N]
  readonly binned: BinnedOutcomes; // [N]
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

/** Groups of a table's rows as groups of the given rows: their members are places among these. */
export function placesAmong<Members extends { readonly rows: Int32Array }>(
  groups: readonly Members[],
  rows: Int32Array,
): readonly Members[] {
  const place = new Map(Array.from(rows, (row, k) => [row, k]));
  return groups.map((group) => ({
    ...group,
    rows: Int32Array.from(Array.from(group.rows, (row) => place.get(row) ?? -1).filter((k) => k >= 0)),
  }));
}

/** Of every row, by the model's column of ids; null where it names none or the table does not have it. */
function findModelPeople({ columns: { id } }: Model, table: Table): People | null {
  return id !== undefined && table.columns.some(({ name }) => name === id) ? readPeople(table, id) : null;
}

/** `people` are of every row of the table; read by the model's column of ids unless given. */
export async function predictRows(
  model: Model,
  table: Table,
  rows: Int32Array,
  backend: Backend | null,
  people: People | null = findModelPeople(model, table),
): Promise<PredictedRows> {
  const { curves } = await predict(model, table, backend, rows);
  const outcomes = pickOutcomes(readOutcomes(table, model.columns), rows);
  const grid = gridOf(model);
  const own = people === null ? undefined : pickPeople(people, rows);
  return { rows, curves, outcomes, binned: binOutcomes(outcomes, grid), grid, ...present({ people: own }) };
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
  const resolved = resolveGroups(named, table, { unknownLevels: "allow" });
  const groups = placesAmong<ScoredGroup>([...resolved, ...more], predicted.rows);
  return { ...predicted, groups, audit: await audit(toAuditInput(predicted, groups), options) };
}

function toAuditInput({ curves, binned, people }: PredictedRows, groups: readonly ScoredGroup[]): AuditInput {
  return { curves, outcomes: binned, groups, ...present({ people }) };
}

/** The same rows' scores with intervals beside them; nothing else is drawn again. */
export async function addIntervals(scored: ScoredRows, options: AuditOptions): Promise<ScoredRows> {
  const drawn = await audit(toAuditInput(scored, scored.groups), { ...options, draws: 0 });
  const merge = (one: AuditTable["overall"], other: AuditTable["overall"]) => ({
    ...one,
    ...present({ intervals: other.intervals }),
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
