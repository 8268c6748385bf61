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
interface Ranks {
  readonly rankOf: (row: number) => number;
  /** Above every rank. */
  readonly count: number;
}

function rankValues(column: Column): Ranks {
  if (column.type === "category") {
    const { levels, codes } = column;
    const order = [...levels.keys()].sort((a, b) => compareLevels(levels[a], levels[b]));
    const rank = new Int32Array(levels.length);
    order.forEach((code, place) => {
      rank[code] = place;
    });
    return { rankOf: (row) => rank[codes[row]], count: levels.length };
  }
  if (column.type === "boolean") return { rankOf: (row) => column.values[row], count: 2 };
  const sorted = Float64Array.from(new Set(column.values.filter((value) => !Number.isNaN(value)))).sort();
  const ranks = new Map(Array.from(sorted, (value, rank) => [value, rank]));
  return { rankOf: (row) => ranks.get(column.values[row]) ?? -1, count: sorted.length };
}

/** One group for every combination of values that occurs in the columns; rows with a missing value are in none. */
export function groupByColumns(table: Table, names: readonly string[]): DisjointGroups {
  const columns = names.map((name) => findColumn(table, name));
  const ranks = columns.map(rankValues);
  // The ranks of a row make one number, in whose order the groups are; its group is numbered as it is first seen.
  const seenOf = new Map<number, number>();
  const counts: number[] = [];
  const groupOfRow = new Int32Array(table.rows).fill(-1);
  let omitted = 0;
  for (let row = 0; row < table.rows; row++) {
    if (columns.some((column) => isMissing(column, row))) {
      omitted++;
      continue;
    }
    let key = 0;
    for (const { rankOf, count } of ranks) key = key * count + rankOf(row);
    let seen = seenOf.get(key);
    if (seen === undefined) {
      seen = seenOf.size;
      if (seen === MAX_GROUPS) {
        throw new InputError(`too many groups: more than ${MAX_GROUPS} values of ${names.join(", ")}`, {
          code: "group.many",
          where: table.name,
          hint: "give ranges of a numeric column as group expressions instead",
        });
      }
      seenOf.set(key, seen);
      counts.push(0);
    }
    counts[seen]++;
    groupOfRow[row] = seen;
  }
  const ordered = [...seenOf.entries()].sort(([a], [b]) => a - b).map(([, seen]) => seen);
  const place = new Int32Array(ordered.length);
  ordered.forEach((seen, g) => {
    place[seen] = g;
  });
  const rowsOf = ordered.map((seen) => new Int32Array(counts[seen]));
  const filled = new Int32Array(ordered.length);
  for (let row = 0; row < table.rows; row++) {
    if (groupOfRow[row] < 0) continue;
    const g = place[groupOfRow[row]];
    groupOfRow[row] = g;
    rowsOf[g][filled[g]++] = row;
  }
  const groups = rowsOf.map((rows) => {
    const name = columns.map((column) => `${column.name}=${cellText(column, rows[0])}`).join(", ");
    return { name: name === "" ? "all" : name, rows };
  });
  return { groups, groupOfRow, omitted };
}
