/**
 * A table given to a fitted encoder, column by column, in the shape training had: numbers for what was a number, levels
 * for what was a category. A column that is read as another type than in training is taken where its cells say the same
 * thing ("2" and 2), and refused, with the rows named, where they do not. Scaling and one-hot columns are encode.ts'
 * business.
 */
import { InputError, MAX_ROWS_NAMED } from "../../core/errors.ts";
import { refuseDoubtfulMarks } from "../checks/check-marks.ts";
import type { BooleanEncoding, CategoryEncoding, NumberEncoding } from "../encode/encoder.ts";
import {
  type Column,
  cellText,
  type DateColumn,
  isMissing,
  MISSING_BOOLEAN,
  MISSING_CODE,
  type NumberColumn,
  placeRows,
  type Table,
} from "../table.ts";
import { parseNumberText } from "./parse-cell.ts";

/** The rows of a table that are to be encoded. */
export interface PickedRows {
  readonly table: Table;
  readonly rows: Int32Array; // [N]
}

/**
 * The column as numbers, NaN = missing. In a column of another type than in training, cells that say the same are
 * taken.
 */
export function readNumbers(
  encoding: NumberEncoding | BooleanEncoding,
  column: Column,
  place: PickedRows,
): Float64Array {
  const { table, rows } = place;
  refuseDoubtfulMarks(table, column);
  if (column.type === encoding.type && column.type !== "boolean") {
    refuseInfinite(table, column, rows);
    refuseDistant(encoding, column.values, column, place);
    return column.values;
  }
  const { codes, levels } = toLevels(column);
  const parsed = Float64Array.from(levels, (text) => parseAs(encoding.type, text));
  const bad: number[] = [];
  for (const row of rows) {
    if (codes[row] !== MISSING_CODE && !Number.isFinite(parsed[codes[row]])) bad.push(row);
  }
  if (bad.length > 0) {
    const texts = listCells(column, bad);
    throw createRowsError(`not a ${encoding.type}, as "${column.name}" was in training: ${texts}`, {
      code: "column.type",
      table,
      column,
      bad,
      hint: EMPTY_ROWS_HINT,
    });
  }
  const values = new Float64Array(codes.length);
  for (let row = 0; row < values.length; row++) {
    values[row] = codes[row] === MISSING_CODE ? Number.NaN : parsed[codes[row]];
  }
  refuseDistant(encoding, values, column, place);
  return values;
}

/**
 * What a text means in a column of that type; NaN = nothing. Dates are not read here: the reader settles their order.
 */
function parseAs(type: "number" | "date" | "boolean", text: string): number {
  if (type === "number") return parseNumberText(text, ".");
  const said = text.trim().toLowerCase();
  if (type === "boolean" && (said === "true" || said === "1")) return 1;
  return type === "boolean" && (said === "false" || said === "0") ? 0 : Number.NaN;
}

export interface LevelSource {
  readonly codes: Int32Array;
  /** [1 + levels]: which of the category's columns is 1, for missing and then for each code; ALL_ZEROS is none. */
  readonly slots: Int32Array;
}

const ALL_ZEROS = -1;
const NOT_IN_TRAINING = -2;

/** Where each level of a column goes; NOT_IN_TRAINING is left as it is. */
function findSlots(encoding: CategoryEncoding, column: Column): LevelSource {
  const { codes, levels } = toLevels(column);
  const { pooled = [], otherLevel = false } = encoding;
  const own = encoding.levels.length;
  const match = createLevelMatch([...encoding.levels, ...pooled], column.type);
  const dropped = encoding.dropFirst ? 1 : 0; // so the first level is at −1 = ALL_ZEROS
  const slots = new Int32Array(1 + levels.length).fill(NOT_IN_TRAINING);
  if (encoding.missingLevel) slots[0] = own + (otherLevel ? 1 : 0) - dropped;
  levels.forEach((text, code) => {
    const found = match(text);
    if (found === undefined) return;
    if (found < own) slots[1 + code] = found - dropped;
    else slots[1 + code] = otherLevel ? own - dropped : ALL_ZEROS;
  });
  return { codes, slots };
}

/**
 * Whether a row has a level that no training row had, or none where training always had one: what is refused, or
 * encoded as zeros where the encoder allows it, and levels that were pooled without a training row.
 */
export function findUnknownLevels(encoding: CategoryEncoding, column: Column): (row: number) => boolean {
  const { pooled = [], ...seen } = encoding;
  const isPooled = encoding.otherLevel === true;
  const { codes, slots } = findSlots(isPooled ? { ...seen, pooled } : seen, column);
  return (row) => slots[codes[row] - MISSING_CODE] === NOT_IN_TRAINING;
}

export function readLevels(
  encoding: CategoryEncoding,
  column: Column,
  place: PickedRows,
  unknownLevels: "error" | "allow",
): LevelSource {
  const { table, rows } = place;
  const { codes, slots } = findSlots(encoding, column);
  if (unknownLevels === "error") {
    const bad: number[] = [];
    for (const row of rows) if (slots[codes[row] - MISSING_CODE] === NOT_IN_TRAINING) bad.push(row);
    const unknown = bad.filter((row) => codes[row] !== MISSING_CODE);
    const hint =
      `training had ${listTexts(encoding.levels)}; correct these rows or leave them out ` +
      '(in code, unknownLevels "allow" encodes them as zeros)';
    if (unknown.length > 0) {
      const message = `level of "${column.name}" not seen in training: ${listCells(column, unknown)}`;
      throw createRowsError(message, { code: "level.unknown", table, column, bad: unknown, hint });
    }
    if (bad.length > 0) {
      const message = `missing value where training had none: "${column.name}"`;
      throw createRowsError(message, { code: "level.missing", table, column, bad, hint });
    }
  }
  return { codes, slots: slots.map((slot) => Math.max(slot, ALL_ZEROS)) };
}

/**
 * Finds the training level a text stands for. A column that is numbers or booleans now but was text in training (01;
 * true beside unknown) has lost its spelling: a cell means the one level with the same value, if there is one.
 */
function createLevelMatch(
  levels: readonly string[],
  type: Column["type"],
): (text: string) => number | undefined {
  const exact = new Map(levels.map((level, i) => [level, i]));
  const sameValue = new Map<string, number | undefined>();
  levels.forEach((level, i) => {
    const value =
      type === "number"
        ? String(parseNumberText(level, "."))
        : type === "boolean"
          ? level.trim().toLowerCase()
          : level;
    sameValue.set(value, sameValue.has(value) ? undefined : i);
  });
  return (text) => exact.get(text) ?? sameValue.get(text);
}

/** The distinct cells and which of them each row has; for a category, its own levels. */
function toLevels(column: Column): { readonly codes: Int32Array; readonly levels: readonly string[] } {
  if (column.type === "category") return column;
  if (column.type === "boolean") {
    const codes = new Int32Array(column.values);
    for (let row = 0; row < codes.length; row++)
      if (codes[row] === MISSING_BOOLEAN) codes[row] = MISSING_CODE;
    return { codes, levels: ["false", "true"] };
  }
  const codes = new Int32Array(column.values.length).fill(MISSING_CODE);
  const levels: string[] = [];
  const codeOf = new Map<number, number>();
  for (let row = 0; row < codes.length; row++) {
    if (isMissing(column, row)) continue;
    const value = column.values[row];
    let code = codeOf.get(value);
    if (code === undefined) {
      code = levels.push(cellText(column, row)) - 1;
      codeOf.set(value, code);
    }
    codes[row] = code;
  }
  return { codes, levels };
}

export function refuseInfinite(table: Table, column: NumberColumn | DateColumn, rows: Int32Array): void {
  const { values } = column;
  const bad: number[] = [];
  for (const row of rows) if (Math.abs(values[row]) === Number.POSITIVE_INFINITY) bad.push(row);
  if (bad.length === 0) return;
  const details = { code: "number.infinite", table, column, bad, hint: EMPTY_ROWS_HINT };
  throw createRowsError(`not a finite number: ${values[bad[0]]}`, details);
}

/** Standard deviations from the mean that single precision can still multiply by any weight without overflowing. */
export const LARGEST_ENCODED = 1e30;

function refuseDistant(
  encoding: NumberEncoding | BooleanEncoding,
  values: Float64Array,
  column: Column,
  { table, rows }: PickedRows,
): void {
  if (encoding.type === "boolean") return;
  const { mean, sd } = encoding;
  const bad: number[] = [];
  for (const row of rows) if (Math.abs((values[row] - mean) / sd) > LARGEST_ENCODED) bad.push(row);
  if (bad.length === 0) return;
  const details = { code: "number.distant", table, column, bad, hint: EMPTY_ROWS_HINT };
  throw createRowsError(`value beyond anything training had: "${column.name}" is ${values[bad[0]]}`, details);
}

const EMPTY_ROWS_HINT = "correct these cells, or empty them: a missing value is filled in as in training";

interface RowsErrorDetails {
  readonly code: string;
  readonly table: Table;
  readonly column: Column;
  readonly bad: readonly number[]; // 0-based
  readonly hint: string;
}

function createRowsError(message: string, { code, table, column, bad, hint }: RowsErrorDetails): InputError {
  const rows = bad.map((row) => row + 1);
  return new InputError(message, { code, where: `${placeRows(table, rows)}, column "${column.name}"`, hint });
}

function listCells(column: Column, rows: readonly number[]): string {
  return listTexts([...new Set(rows.map((row) => cellText(column, row)))]);
}

function listTexts(texts: readonly string[]): string {
  const shown = texts.slice(0, MAX_ROWS_NAMED).map((text) => `"${text}"`);
  return shown.join(", ") + (texts.length > shown.length ? `, … ${texts.length} in all` : "");
}
