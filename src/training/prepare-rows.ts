/** Rows of a table as the trainer takes them: encoded for the backend, times in bins, groups by place among these rows. */
import type { Backend } from "../compute/backend.ts";
import { encode } from "../data/encode/encode.ts";
import type { Encoder } from "../data/encode/encoder.ts";
import type { GroupMembers } from "../data/groups/groups.ts";
import { pickOutcomes, type RightCensored } from "../data/outcomes/outcomes.ts";
import { binOutcomes, type TimeGrid } from "../data/outcomes/time-grid.ts";
import type { Table } from "../data/table.ts";
import type { TrainingRows } from "./trainer.ts";

export interface RowsSource {
  readonly backend: Backend;
  /** With the columns that say who is in an input group. */
  readonly table: Table;
  readonly outcomes: RightCensored; // of every row of the table
  readonly encoder: Encoder;
  readonly grid: TimeGrid;
  readonly groups: readonly Pick<GroupMembers, "name" | "rows">[];
}

export function prepareRows(source: RowsSource, rows: Int32Array): TrainingRows {
  const { backend, table, outcomes, encoder, grid, groups } = source;
  const encoded = encode(encoder, table, rows);
  const x = backend.allocate(encoded.values.length);
  x.set(encoded.values);
  const place = new Map(Array.from(rows, (row, k) => [row, k]));
  const own = groups.map(({ name, rows: all }) => ({
    name,
    rows: Int32Array.from(Array.from(all, (row) => place.get(row) ?? -1).filter((k) => k >= 0)),
  }));
  return { x, binned: binOutcomes(pickOutcomes(outcomes, rows), grid), groups: own };
}
