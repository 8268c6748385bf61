/**
 * Rows numbered by the values they share in some columns: 0, 1, … in the order of first appearance. Used for people and
 * strata, which may be as many as the rows; groups to be shown have names and an order (group-by.ts).
 */
import { findColumn, type Table } from "../table.ts";

export interface RowKeys {
  readonly count: number;
  /** Of each of the given rows. */
  readonly codes: Int32Array;
}

/** `rows` are 0-based and have no missing value in the columns. */
export function numberRows(table: Table, names: readonly string[], rows: Int32Array): RowKeys {
  const columns = names.map((name) => findColumn(table, name));
  const values = columns.map((column) => (column.type === "category" ? column.codes : column.values));
  const known = new Map<string, number>();
  const codes = Int32Array.from(rows, (row) => {
    const key = values.map((cells) => cells[row]).join(",");
    const code = known.get(key) ?? known.size;
    known.set(key, code);
    return code;
  });
  return { count: known.size, codes };
}
