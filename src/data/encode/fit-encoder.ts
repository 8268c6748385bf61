/**
 * Fits an encoder (encoder.ts) on training rows: medians and scales of numbers, majorities of booleans, levels of
 * categories. It chooses no features and fills nothing from other columns.
 */
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { refuseInfinite } from "../reading/conform-column.ts";
import {
  type CategoryColumn,
  type Column,
  checkRows,
  type DateColumn,
  findColumn,
  isMissing,
  MISSING_CODE,
  type NumberColumn,
  placeRows,
  type Table,
} from "../table.ts";
import { type CategoryEncoding, type ColumnEncoding, type Encoder, outputNames } from "./encoder.ts";
import { findCodes, fitLog, type NumberShape, shapeNumber } from "./number-shape.ts";
import { fewestLevelRows } from "./rare-levels.ts";
import { fitScoreLine } from "./spline.ts";

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
  /** Let skewed numbers enter by their logarithms (number-shape.ts). */
  readonly logs?: boolean;
  /** Give numbers that are codes a 0/1 column for each value (number-shape.ts), and no splines. */
  readonly codes?: boolean;
  /**
   * "pool" merges the levels below `fewestLevelRows` into one, including those that only other rows of the table have.
   */
  readonly rareLevels?: "keep" | "pool";
  /**
   * "allow" encodes a level that training did not have, or missing where training had none, as zeros in all of the
   * category's columns; with reference "drop" that is the code of the first level.
   */
  readonly unknownLevels?: "error" | "allow";
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
  const { missingIndicator = false, standardise = true } = options;
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
      const isNumber = column.type === "number";
      const shape = (isNumber && options.logs ? fitLog(observed) : null) ?? {};
      const codes = (isNumber && options.codes ? findCodes(observed) : null) ?? undefined;
      const spline = (options.splines && !codes ? fitScoreLine(observed) : null) ?? undefined;
      return {
        column: name,
        type: column.type,
        ...fitScale(table, column, rows, observed, { standardise, shape }),
        missingIndicator: missingIndicator && hasMissing,
        range: { minimum: observed[0] + 0, maximum: observed[observed.length - 1] + 0 }, // no −0
        quartiles: { lower: quantileOf(observed, 1), upper: quantileOf(observed, 3) },
        ...shape,
        ...present({ spline, codes }),
      };
    }
    case "boolean": {
      let nTrue = 0;
      for (const row of rows) if (column.values[row] === 1) nTrue++;
      const majority = 2 * nTrue > rows.length - nMissing ? 1 : 0;
      return { column: name, type: "boolean", majority, missingIndicator: hasMissing };
    }
    case "category":
      return fitLevels(column, rows, options, hasMissing);
  }
}

function fitLevels(
  column: CategoryColumn,
  rows: Int32Array,
  { rareLevels, reference = "keep" }: EncoderOptions,
  hasMissing: boolean,
): CategoryEncoding {
  const counts = new Int32Array(column.levels.length);
  for (const row of rows) if (column.codes[row] !== MISSING_CODE) counts[column.codes[row]]++;
  const pools = rareLevels === "pool";
  const fewest = pools ? fewestLevelRows(rows.length) : 1;
  const levels = column.levels.filter((_, code) => counts[code] >= fewest);
  const pooled = pools ? column.levels.filter((_, code) => counts[code] < fewest) : [];
  const otherLevel = counts.some((count) => count > 0 && count < fewest);
  const most = Math.max(...counts);
  const common = column.levels[counts.indexOf(most)];
  const encoding: CategoryEncoding = {
    column: column.name,
    type: "category",
    levels,
    ...(levels.includes(common) && { common }),
    dropFirst: reference === "drop",
    missingLevel: hasMissing,
  };
  return pooled.length === 0 ? encoding : { ...encoding, pooled, otherLevel };
}

/** The value that so many quarters of the sorted values lie below, by linear interpolation. */
function quantileOf(sorted: Float64Array, quarters: 1 | 3): number {
  const place = ((sorted.length - 1) * quarters) / 4;
  const below = Math.floor(place);
  const value = sorted[below];
  return place === below ? value + 0 : value + (place - below) * (sorted[below + 1] - value) + 0; // no −0
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
  raw: Float64Array,
  { standardise, shape }: { readonly standardise: boolean; readonly shape: NumberShape },
) {
  const known = raw.length;
  const half = known >> 1;
  const median = known % 2 === 1 ? raw[half] : raw[half - 1] / 2 + raw[half] / 2;
  const observed = raw.map((value) => shapeNumber(value, shape));
  const filled = shapeNumber(median, shape);
  if (!standardise) return { median, mean: 0, sd: 1 };
  // Decided by the values, not the sd: the sd of a constant such as 0.1 comes out as 1e-17, and would turn it into
  // noise.
  if (observed[0] === observed[known - 1]) return { median, mean: filled, sd: 1 };
  // Around the median, so that a number far from 0 loses no digits.
  let sum = 0;
  for (let i = 0; i < known; i++) sum += observed[i] - filled;
  const mean = filled + sum / rows.length;
  let squares = (filled - mean) * (filled - mean) * (rows.length - known);
  for (let i = 0; i < known; i++) squares += (observed[i] - mean) * (observed[i] - mean);
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
    where: `${placeRows(table, [row + 1])}, column "${name}"`,
    hint,
  });
}
