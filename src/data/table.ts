/**
 * A table in memory: typed columns of equal length. Column values are typed arrays with one way to say "missing" each:
 * NaN in numbers and dates, code −1 in categories, 255 in booleans. Reading files is read-table.ts' business.
 */

import { InputError, MAX_ROWS_NAMED, nameRows } from "../core/errors.ts";
import { nearestName } from "../core/names.ts";
import { present } from "../core/present.ts";
import { shortenValue } from "../core/text.ts";

/** The types a column can have. */
export type ColumnType = "number" | "category" | "boolean" | "date";

/** What a column of any type may have. */
interface AnyColumn {
  readonly name: string;
  /** Whether the caller says that every value is meant as it is written: no sentinel, no slip. */
  readonly asWritten?: true;
}

/** What should be said of the marks in a column's numbers: 1.029 may be 1029. */
export interface NumberMarks {
  /** The mark that stands between thousands, or perhaps does. */
  readonly mark: "point" | "comma";
  /** In doubt the column is read as decimals, and refused where it is used; otherwise it was read as thousands. */
  readonly isDoubtful: boolean;
  /** The first text with the mark, and its row from 1. */
  readonly text: string;
  readonly row: number;
  /** What decided, or why nothing could. */
  readonly reason: string;
}

/** Numbers. */
export interface NumberColumn extends AnyColumn {
  readonly type: "number";
  /** NaN = missing. */
  readonly values: Float64Array;
  /** Absent where nothing was in doubt. */
  readonly marks?: NumberMarks;
  /** Two texts that became one number, such as 007 and 7: ids must not be compared by it. */
  readonly spellings?: readonly [string, string];
}

/** Days, with times of day as fractions. */
export interface DateColumn extends AnyColumn {
  readonly type: "date";
  /** Days since 1970-01-01 (fractions for times of day), NaN = missing. */
  readonly values: Float64Array;
  /** How 3/4/2021 was read, where nothing in the table tells which part is the month. */
  readonly guessedOrder?: "month-first" | "day-first";
}

/** Texts with few different values. */
export interface CategoryColumn extends AnyColumn {
  readonly type: "category";
  /** Index into levels, −1 = missing. */
  readonly codes: Int32Array;
  /** Distinct values, ascending (as numbers where all are numbers, else by code unit). */
  readonly levels: readonly string[];
}

/** True and false. */
export interface BooleanColumn extends AnyColumn {
  readonly type: "boolean";
  /** 0, 1, or 255 = missing. */
  readonly values: Uint8Array;
}

/** A column of any type. */
export type Column = NumberColumn | DateColumn | CategoryColumn | BooleanColumn;

/** Code of a category cell that has no value. */
export const MISSING_CODE = -1;
export const MISSING_BOOLEAN = 255;

/** One of the files that a table was read from. */
export interface TablePart {
  readonly name: string;
  readonly rows: number;
}

/** Typed columns of equal length. */
export interface Table {
  /** What messages call it, usually the file name. */
  readonly name: string;
  readonly rows: number;
  readonly columns: readonly Column[];
  /** Its files in order, where it was read from several: messages name a row by its file. */
  readonly parts?: readonly TablePart[];
}

/** Rows (1-based) in a sentence: "rows 3 and 8", or "b.csv, row 3; c.csv, row 1" in a table of several files. */
export function namePlaces({ parts }: Pick<Table, "parts">, rows: readonly number[]): string {
  if (parts === undefined) return nameRows(rows);
  const shown = rows.slice(0, MAX_ROWS_NAMED);
  const named: string[] = [];
  let before = 0;
  for (const { name, rows: count } of parts) {
    const own = shown.filter((row) => row > before && row <= before + count).map((row) => row - before);
    if (own.length > 0) named.push(`${name}, ${nameRows(own)}`);
    before += count;
  }
  const rest = rows.length - shown.length;
  return named.join("; ") + (rest > 0 ? ` (and ${rest} more)` : "");
}

/** Where rows (1-based) are: their table and their numbers, or their files and their numbers in these. */
export function placeRows(table: Pick<Table, "name" | "parts">, rows: readonly number[]): string {
  return table.parts === undefined ? `${table.name}, ${nameRows(rows)}` : namePlaces(table, rows);
}

/** Whether the column has no value in that row. */
export function isMissing(column: Column, row: number): boolean {
  switch (column.type) {
    case "number":
    case "date":
      return Number.isNaN(column.values[row]);
    case "category":
      return column.codes[row] === MISSING_CODE;
    case "boolean":
      return column.values[row] === MISSING_BOOLEAN;
  }
}

/** Cells of a column that have no value. */
export function countMissing(column: Column): number {
  const length = column.type === "category" ? column.codes.length : column.values.length;
  let missing = 0;
  for (let row = 0; row < length; row++) if (isMissing(column, row)) missing++;
  return missing;
}

/** Whether two rows have the same cell in the column, both missing being the same. */
export function sameCells(column: Column): (a: number, b: number) => boolean {
  if (column.type === "category") return (a, b) => column.codes[a] === column.codes[b];
  const { values } = column;
  return (a, b) => values[a] === values[b] || (Number.isNaN(values[a]) && Number.isNaN(values[b]));
}

const MS_PER_DAY = 86_400_000;

/** 2021-03-31 for days since 1970-01-01, with the time of day where there is one. */
export function dateText(days: number): string {
  return new Date(days * MS_PER_DAY).toISOString().replace("T00:00:00.000Z", "");
}

/** The cell as a person would write it; "" when missing. */
export function cellText(column: Column, row: number): string {
  if (isMissing(column, row)) return "";
  switch (column.type) {
    case "number":
      return String(column.values[row]);
    case "date":
      return dateText(column.values[row]);
    case "category":
      return column.levels[column.codes[row]];
    case "boolean":
      return column.values[row] === 1 ? "true" : "false";
  }
}

/** Built on first use: without it, looking up every column of a table of 20,000 would look at 200 million. */
const columnsByName = new WeakMap<readonly Column[], ReadonlyMap<string, Column>>();

/** The column of that name; a missing one is an InputError that lists those there are. */
export function findColumn(table: Table, name: string): Column {
  let byName = columnsByName.get(table.columns);
  if (byName === undefined) {
    byName = new Map(table.columns.map((column) => [column.name, column]));
    columnsByName.set(table.columns, byName);
  }
  const found = byName.get(name);
  if (found) return found;
  const have = table.columns.map((column) => shortenValue(column.name));
  const shown =
    have.length > 20 ? `${have.slice(0, 20).join(", ")}, … ${have.length} in all` : have.join(", ");
  const composed = have.find((one) => one.normalize("NFC") === name.normalize("NFC"));
  const near = composed ?? nearestName(name, have);
  const isCase = near?.toLowerCase() === name.toLowerCase();
  const why = composed
    ? "the accents are composed in another way: "
    : isCase
      ? "column names are case-sensitive: "
      : "";
  const hint = near && `${why}did you mean "${near}"?`;
  throw new InputError(`missing column: "${name}" (have ${shown})`, {
    code: "column.missing",
    where: table.name,
    ...present({ hint }),
  });
}

/** The given rows (0-based, in the given order) as a new table. */
export function selectRows(table: Table, rows: ArrayLike<number>): Table {
  return {
    name: table.name,
    rows: rows.length,
    columns: table.columns.map((column) => selectCells(column, rows)),
  };
}

function selectCells(column: Column, rows: ArrayLike<number>): Column {
  switch (column.type) {
    case "number":
    case "date":
      return { ...column, values: Float64Array.from(rows, (row) => column.values[row]) };
    case "category":
      return { ...column, codes: Int32Array.from(rows, (row) => column.codes[row]) };
    case "boolean":
      return { ...column, values: Uint8Array.from(rows, (row) => column.values[row]) };
  }
}

/** Rows (0-based) as an Int32Array, all of them by default; checked once, so that no loop reads past a column. */
export function checkRows(table: Table, rows: ArrayLike<number> | undefined): Int32Array {
  if (rows === undefined) {
    const all = new Int32Array(table.rows);
    for (let row = 0; row < all.length; row++) all[row] = row;
    return all;
  }
  for (let i = 0; i < rows.length; i++) {
    if (Number.isInteger(rows[i]) && rows[i] >= 0 && rows[i] < table.rows) continue;
    throw new InputError(`no such row in a table of ${table.rows}: ${rows[i] + 1}`, {
      code: "rows.range",
      where: table.name,
    });
  }
  return Int32Array.from(rows);
}

/** Rows in blocks of at most `size`, in their order: a long table is gone through without a second copy of its rows. */
export function* rowBlocks(rows: Int32Array, size: number): Generator<Int32Array, void> {
  if (!(Number.isInteger(size) && size >= 1)) {
    throw new InputError(`rows of a block are not a whole number, 1 or more: ${size}`, {
      code: "option.invalid",
    });
  }
  for (let from = 0; from < rows.length; from += size) yield rows.subarray(from, from + size);
}

/** A table, or some of its rows, as a sequence of tables of at most `size` rows each. */
export function* tableBlocks(
  table: Table,
  rows: ArrayLike<number> | undefined,
  size: number,
): Generator<Table, void> {
  for (const block of rowBlocks(checkRows(table, rows), size)) yield selectRows(table, block);
}
