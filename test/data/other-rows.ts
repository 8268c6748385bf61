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

/** The first rows of a CSV file without quoted fields, with one number of each a little different. */
export function strangersOf(text: string, name: string, rows: number, by = 0.25): string {
  const [head, ...lines] = text.trimEnd().split("\n");
  const place = head.replaceAll('"', "").split(",").indexOf(name);
  if (place < 0) throw new Error(`no column: ${name}`);
  const changed = lines.slice(0, rows).map((line) => {
    const cells = line.split(",");
    return cells.with(place, String(Number(cells[place]) + by)).join(",");
  });
  return `${[head, ...changed].join("\n")}\n`;
}
