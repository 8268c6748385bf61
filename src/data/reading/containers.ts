/**
 * What the readers of all containers share. Every table must have columns with unique names, rows, and the columns that
 * the reader was told to force to a type. And a long table is read part by part, for programs that look at every row
 * once and need not hold them all: readers and encoders report problems by the part's own row numbers; people are told
 * the row numbers of the whole.
 */
import { InputError, MAX_ROWS_NAMED } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { type Column, findColumn, placeRows, type Table, type TablePart } from "../table.ts";
import type { ForcedType } from "./infer-types.ts";
import type { AskedMarks } from "./number-marks.ts";
import type { SlashOrder } from "./parse-cell.ts";

/** What a caller says of how the cells of a table are written; what is left out, the table tells. */
export interface CellWriting extends AskedMarks {
  /** Columns to read as categories, each text a level as it is written ("007" stays "007"). */
  readonly category?: readonly string[] | undefined;
  /** Columns that must be numbers. */
  readonly number?: readonly string[] | undefined;
  /** Which part of 3/4/2021 is the month. */
  readonly dateOrder?: SlashOrder | undefined;
  /** Columns that say whose row it is: 007 and 7 are two ids, so they are text unless all are plain whole numbers. */
  readonly ids?: readonly string[] | undefined;
  /** Columns whose every value is meant as it is written: a time of 9999, one far beyond the others. */
  readonly asWritten?: readonly string[] | undefined;
}

/** What of any options says how cells are written. */
export function pickWriting(options: CellWriting): CellWriting {
  const { category, number, decimal, thousands, dateOrder, ids, asWritten } = options;
  return present({ category, number, decimal, thousands, dateOrder, ids, asWritten });
}

/** The columns, those marked whose values the caller vouches for. */
export function markAsWritten<One extends Column>(
  columns: readonly One[],
  { asWritten = [] }: CellWriting,
): readonly One[] {
  if (asWritten.length === 0) return columns;
  return columns.map((column) => (asWritten.includes(column.name) ? { ...column, asWritten: true } : column));
}

export interface TableChunk {
  /** The columns that were asked for. */
  readonly table: Table;
  /** Rows of the whole table before this part. */
  readonly firstRow: number;
  /** The files read so far, where the whole lies in several. */
  readonly parts?: readonly TablePart[];
}

/**
 * Runs a step over rows of a part; an InputError that names rows of the part is made to name those of the whole, or the
 * files and their rows where the whole lies in several.
 */
export async function inWholeTable<R>(chunk: ChunkPlace, step: () => R | Promise<R>): Promise<R> {
  try {
    return await step();
  } catch (error) {
    throw renumberRows(error, chunk);
  }
}

interface ChunkPlace {
  readonly table: { readonly name: string };
  readonly firstRow: number;
  readonly parts?: readonly TablePart[];
}

/** What nameRows writes after the table's name: "row 3", "rows 3, 8 and 12", "rows 1, 2 (and 71 more)". */
const NAMED_ROWS = /^, rows? \d+(?:, \d+)*(?: and \d+)?/;

function renumberRows(error: unknown, { table: { name }, firstRow, parts }: ChunkPlace): unknown {
  if (!(error instanceof InputError) || error.where === undefined) return error;
  if (firstRow === 0 && parts === undefined) return error;
  const { message, code, where, hint } = error;
  if (!where.startsWith(name)) return error;
  const place = where.slice(name.length);
  const [named] = NAMED_ROWS.exec(place) ?? [];
  if (named === undefined) return error;
  const rows = Array.from(named.matchAll(/\d+/g), ([row]) => Number(row) + firstRow);
  const moved = named.replace(/\d+/g, (row) => String(Number(row) + firstRow));
  return new InputError(message, {
    code,
    where: (parts ? placeRows({ name, parts }, rows) : name + moved) + place.slice(named.length),
    ...present({ hint }),
  });
}

/** Refuses empty and repeated names: nothing downstream could tell such columns apart. */
export function checkColumnNames(table: string, names: readonly string[]): void {
  const unnamed = names.flatMap((columnName, k) => (columnName === "" ? [k + 1] : []));
  if (unnamed.length > 0) {
    const shown = unnamed.slice(0, MAX_ROWS_NAMED).join(", ");
    throw new InputError(`empty column name: column ${shown} of ${names.length}`, {
      code: "header.empty",
      where: `${table}, header`,
      hint:
        "name every column in the first line " +
        "(R: write.csv(…, row.names = FALSE) leaves out the nameless row numbers)",
    });
  }
  // Accents may be letters of their own or parts of one: nobody can see which.
  const written = names.map((columnName) => columnName.normalize("NFC"));
  if (new Set(written).size < names.length) {
    const seen = new Set<string>();
    const repeated = written.find((columnName) => seen.size === seen.add(columnName).size);
    const at = written.flatMap((columnName, k) => (columnName === repeated ? [k + 1] : []));
    throw new InputError(`duplicate column name: "${repeated}" names columns ${at.join(", ")}`, {
      code: "header.duplicate",
      where: `${table}, header`,
      hint: "give each column a name of its own",
    });
  }
}

/** Where columns are in a header; a missing one is an InputError that lists those there are. */
export function findPositions(table: string, header: readonly string[], names: readonly string[]): number[] {
  const empty = createEmptyTable(table, header);
  return names.map((name) => empty.columns.indexOf(findColumn(empty, name)));
}

function createEmptyTable(name: string, header: readonly string[]): Table {
  const columns = header.map(
    (column): Column => ({
      name: column,
      type: "number",
      values: new Float64Array(0),
    }),
  );
  return { name, rows: 0, columns };
}

/** Which type each named column is forced to; an unknown name is an InputError that lists the columns. */
export function findForcedTypes(
  table: string,
  names: readonly string[],
  overrides: Pick<CellWriting, "category" | "number" | "asWritten">,
): ReadonlyMap<string, ForcedType> {
  const empty = createEmptyTable(table, names);
  const forced = new Map<string, ForcedType>();
  for (const name of overrides.asWritten ?? []) findColumn(empty, name);
  for (const type of ["category", "number"] as const) {
    for (const name of overrides[type] ?? []) {
      findColumn(empty, name);
      if ((forced.get(name) ?? type) !== type) {
        throw new InputError(`column asked for as both category and number: "${name}"`, {
          code: "option.conflict",
          where: `${table}, column "${name}"`,
        });
      }
      forced.set(name, type);
    }
  }
  return forced;
}

export function createEmptyFileError(table: string): InputError {
  return new InputError("empty file", { code: "file.empty", where: table });
}

export function createNoRowsError(table: string): InputError {
  return new InputError("no rows: the table has column names and nothing below them", {
    code: "table.no-rows",
    where: table,
  });
}
