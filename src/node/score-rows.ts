/** Every score of a model on rows of a table it has the outcomes of. */
import { type AuditGroup, type AuditOptions, type AuditTable, audit } from "../audit.ts";
import type { Backend } from "../compute/backend.ts";
import { ALL_GROUP, resolveGroups } from "../data/groups.ts";
import { pickOutcomes } from "../data/outcomes.ts";
import { readOutcomes } from "../data/read-outcomes.ts";
import type { Table } from "../data/table.ts";
import { binOutcomes } from "../data/time-grid.ts";
import { gridOf, predict } from "../predict.ts";
import type { Model } from "../training/model.ts";

/** Every score on some rows of the table, overall and for the model's groups. */
export async function scoreRows(
  model: Model,
  table: Table,
  rows: Int32Array,
  backend: Backend | null,
  more: readonly AuditGroup[] = [],
  options: AuditOptions = {},
): Promise<AuditTable> {
  const { curves } = await predict(model, table, backend, rows);
  const picked = pickOutcomes(readOutcomes(table, model.columns), rows);
  // Everyone is the audit's first line already.
  const named = model.groups.filter(({ expression }) => expression !== ALL_GROUP.expression);
  const place = new Map(Array.from(rows, (row, k) => [row, k]));
  const groups = [...resolveGroups(named, table, { unknownLevels: "allow" }), ...more].map((group) => ({
    name: group.name,
    rows: Int32Array.from(Array.from(group.rows, (row) => place.get(row) ?? -1).filter((k) => k >= 0)),
  }));
  return audit({ curves, outcomes: binOutcomes(picked, gridOf(model)), groups }, options);
}
