/**
 * Cells of rows to be predicted that call for caution: missing ones, which are replaced by the training rows' median
 * (for true/false, the majority), and numbers and dates outside the training range. They are counted by column, and the
 * counts can be added up over the parts of a table; nothing is refused or changed. doubtful-cells.ts names them row by
 * row.
 */
import { present } from "../../core/present.ts";
import { countOf } from "../../core/text.ts";
import { readNumbers } from "../reading/conform-column.ts";
import { cellText, findColumn, type Table } from "../table.ts";
import type { BooleanEncoding, Encoder, NumberEncoding } from "./encoder.ts";

/** Cells of one column that were filled in, or that lie outside the training range. */
export interface CellWarning {
  readonly code: "cell.missing" | "cell.range";
  readonly column: string;
  /** How many cells, of how many rows. */
  readonly cells: number;
  readonly rows: number;
  /** For "cell.range": the value that is furthest off, and its row, counted from 1. */
  readonly furthest?: { readonly value: number; readonly row: number };
  /** One plain sentence with the numbers. */
  readonly message: string;
}

/** The cells of `rows` (0-based, all by default); `except` names columns that are made, not read. */
export function warnOfCells(
  encoder: Encoder,
  table: Table,
  rows: ArrayLike<number> | undefined,
  except: readonly string[] = [],
): CellWarning[] {
  const picked =
    rows === undefined ? Int32Array.from({ length: table.rows }, (_, row) => row) : Int32Array.from(rows);
  const made = new Set(except);
  return encoder.columns.flatMap((encoding) => {
    if (encoding.type === "category" || made.has(encoding.column)) return [];
    return countCells(encoding, table, picked);
  });
}

/** Whether a value is one that no training row came up to; false where the model does not know its range. */
export function isOutside(encoding: NumberEncoding | BooleanEncoding, value: number): boolean {
  const range = encoding.type === "boolean" ? undefined : encoding.range;
  return range !== undefined && (value < range.minimum || value > range.maximum);
}

function countCells(
  encoding: NumberEncoding | BooleanEncoding,
  table: Table,
  rows: Int32Array,
): CellWarning[] {
  const values = readNumbers(encoding, findColumn(table, encoding.column), { table, rows });
  const range = encoding.type === "boolean" ? undefined : encoding.range;
  let missing = 0;
  let outside = 0;
  let furthest = { value: 0, row: 0, by: 0 };
  for (const row of rows) {
    const value = values[row];
    if (Number.isNaN(value)) missing++;
    else if (range && isOutside(encoding, value)) {
      outside++;
      const by = Math.max(range.minimum - value, value - range.maximum);
      if (by > furthest.by) furthest = { value, row: row + 1, by };
    }
  }
  const { value, row } = furthest;
  const of = { column: encoding.column, rows: rows.length };
  return [
    ...(missing > 0 ? [describeCells({ ...of, code: "cell.missing", cells: missing }, encoding)] : []),
    ...(outside > 0
      ? [describeCells({ ...of, code: "cell.range", cells: outside, furthest: { value, row } }, encoding)]
      : []),
  ];
}

function describeCells(
  counted: Omit<CellWarning, "message">,
  encoding: NumberEncoding | BooleanEncoding,
): CellWarning {
  const { column, cells, rows, furthest } = counted;
  const of = `${cells} of ${countOf(rows, "row")}`;
  const show = (value: number) => showValue(encoding, value);
  if (counted.code === "cell.missing") {
    const instead =
      encoding.type === "boolean"
        ? `the training majority, ${encoding.majority === 1 ? "true" : "false"},`
        : `the training median, ${show(encoding.median)},`;
    return { ...counted, message: `${column} is missing in ${of}: ${instead} stands in` };
  }
  const range = encoding.type === "boolean" ? undefined : encoding.range;
  const known = range
    ? `what training had, ${show(range.minimum)} to ${show(range.maximum)},`
    : "the training range";
  const worst = furthest ? ` (row ${furthest.row}: ${show(furthest.value)})` : "";
  return { ...counted, message: `${column} is outside ${known} in ${of}${worst}: these curves are guesses` };
}

/** Enough digits to tell the values of a table apart; a mean of two may have more. */
const SHOWN_DIGITS = 6;

/** A value of a column as a sentence shows it: dates as dates. */
export function showValue({ type }: NumberEncoding | BooleanEncoding, value: number): string {
  if (type === "date") return cellText({ name: "", type, values: Float64Array.of(Math.round(value)) }, 0);
  return String(Number(value.toPrecision(SHOWN_DIGITS)));
}

/** Warnings of the part of a table that begins after `firstRow` rows, added to those of the parts before. */
export function addCellWarnings(
  encoder: Encoder,
  before: readonly CellWarning[],
  part: readonly CellWarning[],
  firstRow: number,
  rows: number,
): CellWarning[] {
  return encoder.columns.flatMap((encoding) =>
    (["cell.missing", "cell.range"] as const).flatMap((code) => {
      if (encoding.type === "category") return [];
      const isIt = (one: CellWarning) => one.code === code && one.column === encoding.column;
      const earlier = before.find(isIt);
      const own = part.find(isIt);
      if (earlier === undefined && own === undefined) return [];
      const moved = own?.furthest && { ...own.furthest, row: own.furthest.row + firstRow };
      const furthest = further(encoding, earlier?.furthest, moved);
      const cells = (earlier?.cells ?? 0) + (own?.cells ?? 0);
      const counted = { code, column: encoding.column, cells, rows, ...present({ furthest }) };
      return [describeCells(counted, encoding)];
    }),
  );
}

function further(
  encoding: NumberEncoding | BooleanEncoding,
  a: CellWarning["furthest"],
  b: CellWarning["furthest"],
): CellWarning["furthest"] {
  const range = encoding.type === "boolean" ? undefined : encoding.range;
  if (a === undefined || b === undefined || range === undefined) return a ?? b;
  const by = (value: number) => Math.max(range.minimum - value, value - range.maximum);
  return by(b.value) > by(a.value) ? b : a;
}
