/**
 * From typed columns to the numbers a model takes, x [N,D]. An Encoder is fitted on training rows only, is plain JSON
 * data (it travels in the model file) and is never refitted; `encode` applies it to any table with the same columns.
 *   number, date   missing → training median, then (value − mean) / sd of the imputed training column (population sd); on request
 *                  its splines too (spline.ts)
 *   boolean        0/1; missing → the training majority (false on a tie)
 *   category       one-hot over the levels seen in training, ascending, named as R does (histol2, sexM)
 * A missing value is its own level of a category, and `NAME.missing` of a boolean, where training had any; of a number
 * on request. Levels of too few training rows can be pooled into one, `NAME(other)`, as scikit-learn and recipes do.
 * It chooses no features and fills nothing from other columns.
 */
import { InputError } from "../../core/errors.ts";
import {
  type LevelSource,
  type PickedRows,
  readLevels,
  readNumbers,
  refuseInfinite,
} from "../reading/conform-column.ts";
import {
  type Column,
  type DateColumn,
  findColumn,
  isMissing,
  MISSING_CODE,
  type NumberColumn,
  type Table,
} from "../table.ts";
import { fewestLevelRows } from "./rare-levels.ts";
import { fillSplines, fitScoreLine, nameSplines, type ScoreLine, SPLINE_COLUMNS } from "./spline.ts";

/** The smallest and the largest value. */
export interface ValueRange {
  readonly minimum: number;
  readonly maximum: number;
}

export interface NumberEncoding {
  readonly column: string;
  readonly type: "number" | "date";
  /** Stands in for a missing value. */
  readonly median: number;
  /** 0 and 1 where the encoder does not standardise. */
  readonly mean: number;
  readonly sd: number;
  readonly missingIndicator: boolean;
  /** Of the values that training had; not in models of version 0.1. */
  readonly range?: ValueRange;
  /** Where the number has splines too. */
  readonly spline?: ScoreLine;
}

export interface BooleanEncoding {
  readonly column: string;
  readonly type: "boolean";
  /** Stands in for a missing value. */
  readonly majority: 0 | 1;
  readonly missingIndicator: boolean;
}

export interface CategoryEncoding {
  readonly column: string;
  readonly type: "category";
  /** Seen in training, ascending. */
  readonly levels: readonly string[];
  /** Whether the first level has no column of its own. */
  readonly dropFirst: boolean;
  /** Whether "missing" is a level too, after the others. */
  readonly missingLevel: boolean;
  /** Levels of the table with too few training rows for a column of their own, where they were pooled. */
  readonly pooled?: readonly string[];
  /** Whether the pooled ones have a column together, before "missing"; if not (no training row), zeros in all columns. */
  readonly otherLevel?: boolean;
}

/** How one column becomes numbers. */
export type ColumnEncoding = NumberEncoding | BooleanEncoding | CategoryEncoding;

/** How the columns of a table become numbers, as fitted on training rows. */
export interface Encoder {
  readonly columns: readonly ColumnEncoding[];
  /** [D], the names of what `encode` gives. */
  readonly names: readonly string[];
  readonly unknownLevels: "error" | "allow";
}

/** What an encoder is fitted to, and how missing values and rare levels are treated. */
export interface EncoderOptions {
  /** The columns to encode, in this order. */
  readonly features: readonly string[];
  /** The training rows, 0-based; default all. */
  readonly rows?: ArrayLike<number>;
  /** Give numbers and dates with missing training values a 0/1 column `NAME.missing`. */
  readonly missingIndicator?: boolean;
  /** "drop" leaves the first level of a category out, as R's treatment contrasts do. */
  readonly reference?: "keep" | "drop";
  /** Give numbers mean 0 and standard deviation 1; default true. */
  readonly standardise?: boolean;
  /** Give numbers their splines (spline.ts) too, where enough training values differ. */
  readonly splines?: boolean;
  /** "pool" takes the levels below `fewestLevelRows` as one, also those that only other rows of the table have. */
  readonly rareLevels?: "keep" | "pool";
  /**
   * "allow" encodes a level that training did not have, or missing where training had none, as zeros in all of the
   * category's columns; with reference "drop" that is the code of the first level.
   */
  readonly unknownLevels?: "error" | "allow";
}

/** The numbers a model takes. */
export interface EncodedFeatures {
  readonly N: number;
  readonly D: number;
  readonly names: readonly string[]; // [D]
  readonly values: Float64Array; // [N,D] row-major
}

/** Learns medians, scales and levels from the training rows. */
export function fitEncoder(table: Table, options: EncoderOptions): Encoder {
  const { features } = options;
  const rows = checkRows(table, options.rows);
  if (features.length === 0) throw new InputError("no features to encode", { code: "features.none" });
  if (new Set(features).size < features.length) {
    const twice = features.find((name, i) => features.indexOf(name) !== i);
    throw new InputError(`feature named more than once: "${twice}"`, { code: "features.duplicate" });
  }
  if (rows.length === 0) {
    throw new InputError("no training rows to fit an encoder on", { code: "rows.none", where: table.name });
  }
  const columns = features.map((name) => fitColumn(table, findColumn(table, name), rows, options));
  const names = columns.flatMap(outputNames);
  if (names.length === 0) {
    throw new InputError(`no feature differs between the training rows: ${features.join(", ")}`, {
      code: "features.none",
      where: table.name,
    });
  }
  return { columns, names, unknownLevels: options.unknownLevels ?? "error" };
}

function fitColumn(table: Table, column: Column, rows: Int32Array, options: EncoderOptions): ColumnEncoding {
  const { missingIndicator = false, reference = "keep", standardise = true } = options;
  const { name } = column;
  let nMissing = 0;
  for (const row of rows) if (isMissing(column, row)) nMissing++;
  if (nMissing === rows.length) {
    throw new InputError(`no value in the training rows: "${name}"`, {
      code: "column.empty",
      where: `${table.name}, column "${name}"`,
      hint: "leave it out of the features",
    });
  }
  const hasMissing = nMissing > 0;
  switch (column.type) {
    case "number":
    case "date": {
      const observed = sortObserved(table, column, rows);
      const scale = fitScale(table, column, rows, observed, standardise);
      const spline = options.splines === true ? fitScoreLine(observed) : null;
      return {
        column: name,
        type: column.type,
        ...scale,
        missingIndicator: missingIndicator && hasMissing,
        range: { minimum: observed[0] + 0, maximum: observed[observed.length - 1] + 0 }, // no −0
        ...(spline && { spline }),
      };
    }
    case "boolean": {
      let nTrue = 0;
      for (const row of rows) if (column.values[row] === 1) nTrue++;
      const majority = 2 * nTrue > rows.length - nMissing ? 1 : 0;
      return { column: name, type: "boolean", majority, missingIndicator: hasMissing };
    }
    case "category": {
      const counts = new Int32Array(column.levels.length);
      for (const row of rows) if (column.codes[row] !== MISSING_CODE) counts[column.codes[row]]++;
      const pools = options.rareLevels === "pool";
      const fewest = pools ? fewestLevelRows(rows.length) : 1;
      const levels = column.levels.filter((_, code) => counts[code] >= fewest);
      const pooled = pools ? column.levels.filter((_, code) => counts[code] < fewest) : [];
      const otherLevel = counts.some((count) => count > 0 && count < fewest);
      const dropFirst = reference === "drop";
      const encoding = {
        column: name,
        type: "category",
        levels,
        dropFirst,
        missingLevel: hasMissing,
      } as const;
      return pooled.length === 0 ? encoding : { ...encoding, pooled, otherLevel };
    }
  }
}

/** The columns of x that one column of the table becomes. */
export function outputNames(encoding: ColumnEncoding): readonly string[] {
  const { column } = encoding;
  if (encoding.type !== "category") {
    return [
      column,
      ...(encoding.missingIndicator ? [`${column}.missing`] : []),
      ...(encoding.type !== "boolean" && encoding.spline ? nameSplines(column) : []),
    ];
  }
  const other = encoding.otherLevel === true ? [`${column}(other)`] : [];
  const missing = encoding.missingLevel ? [`${column}(missing)`] : [];
  const names = [...encoding.levels.map((level) => `${column}${level}`), ...other, ...missing];
  return encoding.dropFirst ? names.slice(1) : names;
}

/** Columns of x that are splines. */
export function findSplines({ columns }: Encoder): number[] {
  const found: number[] = [];
  let end = 0;
  for (const encoding of columns) {
    end += outputNames(encoding).length;
    const isBent = encoding.type !== "category" && encoding.type !== "boolean" && encoding.spline;
    for (let d = end - SPLINE_COLUMNS; isBent && d < end; d++) found.push(d);
  }
  return found;
}

function sortObserved(table: Table, column: NumberColumn | DateColumn, rows: Int32Array): Float64Array {
  refuseInfinite(table, column, rows);
  const values = new Float64Array(rows.length);
  let present = 0;
  for (const row of rows) if (!Number.isNaN(column.values[row])) values[present++] = column.values[row];
  return values.subarray(0, present).sort();
}

function fitScale(
  table: Table,
  column: NumberColumn | DateColumn,
  rows: Int32Array,
  observed: Float64Array,
  standardise: boolean,
) {
  const present = observed.length;
  const half = observed.length >> 1;
  const median = observed.length % 2 === 1 ? observed[half] : observed[half - 1] / 2 + observed[half] / 2;
  if (!standardise) return { median, mean: 0, sd: 1 };
  // Asked of the values, not of the sd: the sd of a constant such as 0.1 comes out as 1e-17, and would make noise of it.
  if (observed[0] === observed[observed.length - 1]) return { median, mean: median, sd: 1 };
  let sum = median * (rows.length - present);
  for (let i = 0; i < present; i++) sum += observed[i];
  const mean = sum / rows.length;
  let squares = (median - mean) * (median - mean) * (rows.length - present);
  for (let i = 0; i < present; i++) squares += (observed[i] - mean) * (observed[i] - mean);
  const sd = Math.sqrt(squares / rows.length);
  if (!(sd > 0 && sd < Number.POSITIVE_INFINITY)) throw createScaleError(table, column, rows, sd);
  return { median, mean, sd };
}

function createScaleError(
  table: Table,
  column: NumberColumn | DateColumn,
  rows: Int32Array,
  sd: number,
): InputError {
  const { name, values } = column;
  const hint = `correct it, change the unit of the column, or leave it out (--drop ${name})`;
  if (sd === 0) {
    return new InputError(`values too close together to standardise: "${name}" (its squares are 0)`, {
      code: "number.scale",
      where: `${table.name}, column "${name}"`,
      hint,
    });
  }
  const size = (row: number) => (Number.isNaN(values[row]) ? 0 : Math.abs(values[row]));
  const row = rows.reduce((largest, other) => (size(other) > size(largest) ? other : largest), rows[0]);
  return new InputError(`value too large to standardise: "${name}" is ${values[row]}`, {
    code: "number.scale",
    where: `${table.name}, row ${row + 1}, column "${name}"`,
    hint,
  });
}

/** Writes the encoded rows [from, to) of one column. */
type FillBlock = (from: number, to: number) => void;

/** A block of this many rows of a usual D stays in the cache while the columns take turns to write into it. */
const BLOCK_ROWS = 512;

/** Where one column's numbers come from and go to. */
interface Place extends PickedRows {
  readonly values: Float64Array; // [N,D]
  readonly D: number;
  readonly offset: number;
}

/** Applies a fitted encoder to a table, or to some of its rows. */
export function encode(encoder: Encoder, table: Table, rows?: ArrayLike<number>): EncodedFeatures {
  const picked = checkRows(table, rows);
  const N = picked.length;
  const D = encoder.names.length;
  const values = new Float64Array(N * D);
  const fills: FillBlock[] = [];
  let offset = 0;
  for (const encoding of encoder.columns) {
    const place = { table, rows: picked, values, D, offset };
    const column = findColumn(table, encoding.column);
    fills.push(
      encoding.type === "category"
        ? fillLevels(readLevels(encoding, column, place, encoder.unknownLevels), place)
        : fillNumbers(encoding, readNumbers(encoding, column, place), place),
    );
    offset += outputNames(encoding).length;
  }
  for (let from = 0; from < N; from += BLOCK_ROWS) {
    const to = Math.min(from + BLOCK_ROWS, N);
    for (const fill of fills) fill(from, to);
  }
  return { N, D, names: encoder.names, values };
}

function fillNumbers(
  encoding: NumberEncoding | BooleanEncoding,
  source: Float64Array,
  place: Place,
): FillBlock {
  const { values, D, offset, rows } = place;
  const { missingIndicator } = encoding;
  const { median, mean, sd, spline } =
    encoding.type === "boolean"
      ? { median: encoding.majority, mean: 0, sd: 1, spline: undefined }
      : { spline: undefined, ...encoding };
  const splines = missingIndicator ? 2 : 1;
  return (from, to) => {
    for (let i = from, at = from * D + offset; i < to; i++, at += D) {
      const isMissing = Number.isNaN(source[rows[i]]);
      const value = isMissing ? median : source[rows[i]];
      values[at] = (value - mean) / sd;
      if (isMissing && missingIndicator) values[at + 1] = 1;
      if (spline) fillSplines(spline, value, values, at + splines);
    }
  };
}

function fillLevels(source: LevelSource, place: Place): FillBlock {
  const { codes, slots } = source;
  const { values, D, offset, rows } = place;
  return (from, to) => {
    for (let i = from, at = from * D + offset; i < to; i++, at += D) {
      const slot = slots[codes[rows[i]] - MISSING_CODE];
      if (slot >= 0) values[at + slot] = 1;
    }
  };
}

/** The rows as an Int32Array, all of them by default; checked once here, so that no loop reads past a column. */
function checkRows(table: Table, rows: ArrayLike<number> | undefined): Int32Array {
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
