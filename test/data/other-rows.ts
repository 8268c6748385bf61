// People of the same kind as a table's, none of whom is in it; and the same rows in other forms.
import { type Column, selectRows, type Table } from "../../src/data/table.ts";

/** The table with one number of every row a little different. */
export function jitter(table: Table, name: string, by = 0.001): Table {
  const columns = table.columns.map((column): Column => {
    if (column.name !== name) return column;
    if (column.type !== "number") throw new Error(`no numbers: ${name}`);
    return { ...column, values: column.values.map((value) => value + by) };
  });
  return { ...table, columns };
}

/** The rows in another order: every k-th, k coprime to their number. */
export function permute(table: Table, k = 5): Table {
  return selectRows(
    table,
    Int32Array.from({ length: table.rows }, (_, row) => (row * k + 3) % table.rows),
  );
}
