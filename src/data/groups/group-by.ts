/**
 * Disjoint groups by the values of one or more columns, named as R names strata: "histol=1", or "sex=F, mgus=1", in the
 * order of the values: numbers and dates ascending, levels as a person lists them (natural-order.ts).
 * Rows where one of the columns is missing belong to no group and are counted.
 */
import { InputError } from "../../core/errors.ts";
import { compareLevels } from "../natural-order.ts";
import { type Column, cellText, findColumn, isMissing, type Table } from "../table.ts";

/** Groups such that every row is in at most one. */
export interface DisjointGroups {
  readonly groups: readonly { readonly name: string; readonly rows: Int32Array }[];
  readonly groupOfRow: Int32Array; // [N], −1 = in no group
  readonly omitted: number;
}

/** More groups than this come from a continuous column named by mistake. */
const MAX_GROUPS = 200;

/** A number for each distinct value of a column; equal values share it, and it ascends with the value. */
function rankOf(column: Column): (row: number) => number {
  if (column.type === "category") {
    const { levels, codes } = column;
    const order = [...levels.keys()].sort((a, b) => compareLevels(levels[a], levels[b]));
    const rank = new Int32Array(levels.length);
    order.forEach((code, place) => {
      rank[code] = place;
    });
    return (row) => rank[codes[row]];
  }
  if (column.type === "boolean") return (row) => column.values[row];
  const sorted = Float64Array.from(new Set(column.values.filter((value) => !Number.isNaN(value)))).sort();
  const ranks = new Map(Array.from(sorted, (value, rank) => [value, rank]));
  return (row) => ranks.get(column.values[row]) ?? -1;
}

/** One group for every combination of values that occurs in the columns; rows with a missing value are in none. */
export function groupByColumns(table: Table, names: readonly string[]): DisjointGroups {
  const columns = names.map((name) => findColumn(table, name));
  const ranks = columns.map(rankOf);
  const rowsOf = new Map<string, number[]>();
  const keyRanks = new Map<string, readonly number[]>();
  let omitted = 0;
  for (let row = 0; row < table.rows; row++) {
    if (columns.some((column) => isMissing(column, row))) {
      omitted++;
      continue;
    }
    const key = ranks.map((rank) => rank(row));
    const text = key.join(",");
    const rows = rowsOf.get(text);
    if (rows) rows.push(row);
    else {
      rowsOf.set(text, [row]);
      keyRanks.set(text, key);
      if (rowsOf.size > MAX_GROUPS) {
        throw new InputError(`too many groups: more than ${MAX_GROUPS} values of ${names.join(", ")}`, {
          code: "group.many",
          where: table.name,
          hint: "give ranges of a numeric column as group expressions instead",
        });
      }
    }
  }
  const compare = (a: readonly number[], b: readonly number[]) => {
    const k = a.findIndex((rank, i) => rank !== b[i]);
    return k < 0 ? 0 : a[k] - b[k];
  };
  const ordered = [...keyRanks.entries()].sort((a, b) => compare(a[1], b[1]));
  const groupOfRow = new Int32Array(table.rows).fill(-1);
  const groups = ordered.map(([text], g) => {
    const rows = Int32Array.from(rowsOf.get(text) ?? []);
    for (const row of rows) groupOfRow[row] = g;
    const name = columns.map((column) => `${column.name}=${cellText(column, rows[0])}`).join(", ");
    return { name: name === "" ? "all" : name, rows };
  });
  return { groups, groupOfRow, omitted };
}
