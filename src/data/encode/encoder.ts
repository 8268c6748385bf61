/**
 * A fitted encoder: how the columns of a table become the numbers a model takes, x [N,D]. It is plain JSON data,
 * travels in the model file and is never refitted. fit-encoder.ts fits one on training rows, encode.ts applies it.
 *   number, date   missing → training median, then (value − mean) / sd of the imputed training column (population sd);
 *                  on request its splines too (spline.ts), or by its logarithm, or with a 0/1 column for each of a
 *                  few values (number-shape.ts)
 *   boolean        0/1; missing → the training majority (false on a tie)
 *   category       one-hot over the levels seen in training, ascending, named as R does (histol2, sexM)
 * Where training had missing values, they are a level of their own in a category and a column `NAME.missing` for a
 * boolean; for a number, only on request. Levels with too few training rows can be pooled into one, `NAME(other)`, as
 * scikit-learn and recipes do.
 */
import { nameSplines, type ScoreLine, SPLINE_COLUMNS } from "./spline.ts";

/** The smallest and the largest value. */
export interface ValueRange {
  readonly minimum: number;
  readonly maximum: number;
}

/** What a quarter of the values lies below, and a quarter above. */
export interface Quartiles {
  readonly lower: number;
  readonly upper: number;
}

export interface NumberEncoding {
  readonly column: string;
  readonly type: "number" | "date";
  /** Stands in for a missing value. */
  readonly median: number;
  /** 0 and 1 where the encoder does not standardise; of the logarithms where the number enters by them. */
  readonly mean: number;
  readonly sd: number;
  readonly missingIndicator: boolean;
  /** Of the values in training; not in models of version 0.1. */
  readonly range?: ValueRange;
  /** Of the values in training, by linear interpolation (R's type 7); not in older models. */
  readonly quartiles?: Quartiles;
  /** Where the number has splines too. */
  readonly spline?: ScoreLine;
  /** Where the number enters by its logarithm, sign·log(max(sign·(value − logFrom), logFloor)). */
  readonly logFloor?: number;
  /** 0 unless given, as in models of 0.2.0. */
  readonly logFrom?: number;
  /** −1 where it is the logarithm of what the value is below `logFrom`. */
  readonly logSign?: -1;
  /** Where the number is a code: the values with a 0/1 column, ascending. */
  readonly codes?: readonly number[];
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
  /** The level that most training rows have, the first of several; not in older models. */
  readonly common?: string;
  /** Whether the first level has no column of its own. */
  readonly dropFirst: boolean;
  /** Whether "missing" is a level too, after the others. */
  readonly missingLevel: boolean;
  /** Levels of the table with too few training rows for a column of their own, where they were pooled. */
  readonly pooled?: readonly string[];
  /**
   * Whether the pooled levels share a column, before "missing"; if not (no training row), they are zeros in all
   * columns.
   */
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

/** How many columns of x one column of the table becomes. */
export function encodedWidth(encoding: ColumnEncoding): number {
  if (encoding.type !== "category") {
    return (encoding.missingIndicator ? 2 : 1) + countBends(encoding);
  }
  const { levels, otherLevel = false, missingLevel, dropFirst } = encoding;
  const all = levels.length + (otherLevel ? 1 : 0) + (missingLevel ? 1 : 0);
  return Math.max(0, all - (dropFirst ? 1 : 0));
}

/** How many of a number's columns let its effect bend: its splines, and the 0/1 columns of its values. */
function countBends(encoding: ColumnEncoding): number {
  if (encoding.type === "category" || encoding.type === "boolean") return 0;
  return (encoding.spline ? SPLINE_COLUMNS : 0) + (encoding.codes?.length ?? 0);
}

/** Where the columns of x made from each column of the table begin, and how many there are. */
export function placeColumns(
  columns: readonly ColumnEncoding[],
): readonly { readonly encoding: ColumnEncoding; readonly first: number; readonly width: number }[] {
  let next = 0;
  return columns.map((encoding) => {
    const first = next;
    const width = encodedWidth(encoding);
    next += width;
    return { encoding, first, width };
  });
}

/** The columns of x that one column of the table becomes. */
export function outputNames(encoding: ColumnEncoding): readonly string[] {
  const { column } = encoding;
  if (encoding.type !== "category") {
    const missing = encoding.missingIndicator ? [`${column}.missing`] : [];
    if (encoding.type === "boolean") return [column, ...missing];
    const { logFloor, spline, codes = [] } = encoding;
    return [
      logFloor === undefined ? column : `${column}.log`,
      ...missing,
      ...(spline ? nameSplines(column) : []),
      ...codes.map((code) => `${column}=${code}`),
    ];
  }
  const other = encoding.otherLevel === true ? [`${column}(other)`] : [];
  const missing = encoding.missingLevel ? [`${column}(missing)`] : [];
  const names = [...encoding.levels.map((level) => `${column}${level}`), ...other, ...missing];
  return encoding.dropFirst ? names.slice(1) : names;
}

/** Columns of x that let the effect of a number bend: its splines, and the 0/1 columns of its values. */
export function findSplines({ columns }: Encoder): number[] {
  return placeColumns(columns).flatMap(({ encoding, first, width }) => {
    const bends = countBends(encoding);
    return Array.from({ length: bends }, (_, k) => first + width - bends + k);
  });
}
