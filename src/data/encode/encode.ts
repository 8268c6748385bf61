/**
 * Applies a fitted encoder (encoder.ts) to a table, or to some of its rows: all at once, or block by block, so that the
 * encoded form of a long table need never be in memory as a whole. Columns are checked once, whichever way they are
 * read.
 */
import { type LevelSource, type PickedRows, readLevels, readNumbers } from "../reading/conform-column.ts";
import { checkRows, findColumn, MISSING_CODE, rowBlocks, type Table } from "../table.ts";
import { type BooleanEncoding, type Encoder, type NumberEncoding, placeColumns } from "./encoder.ts";
import { shapeNumber } from "./number-shape.ts";
import { fillSplines, SPLINE_COLUMNS } from "./spline.ts";

/** The numbers a model takes. */
export interface EncodedFeatures {
  readonly N: number;
  readonly D: number;
  readonly names: readonly string[]; // [D]
  readonly values: Float64Array; // [N,D] row-major
}

/** Some rows of a table, encoded. */
export interface EncodedBlock extends EncodedFeatures {
  /** Row i of the block is row rows[i] (0-based) of the table. */
  readonly rows: Int32Array; // [N]
}

/** Writes one column's numbers for the picked rows [from, to); `values` begins with row `base`. */
type FillBlock = (values: Float64Array, base: number, from: number, to: number) => void;

/** A block of this many rows of a usual D stays in the cache while the columns take turns to write into it. */
const CACHED_ROWS = 512;

/** The picked rows, and which columns of x one column of the table fills. */
interface Place extends PickedRows {
  readonly D: number;
  readonly first: number;
}

/** Applies a fitted encoder to a table, or to some of its rows. */
export function encode(encoder: Encoder, table: Table, rows?: ArrayLike<number>): EncodedFeatures {
  const picked = checkRows(table, rows);
  const fill = openColumns(encoder, table, picked);
  return fillRows(encoder, fill, 0, picked.length);
}

/** The same in blocks of at most `size` rows, each block in memory of its own. */
export function* encodeBlocks(
  encoder: Encoder,
  table: Table,
  rows: ArrayLike<number> | undefined,
  size: number,
): Generator<EncodedBlock, void> {
  const picked = checkRows(table, rows);
  const fill = openColumns(encoder, table, picked);
  let from = 0;
  for (const block of rowBlocks(picked, size)) {
    yield { ...fillRows(encoder, fill, from, from + block.length), rows: block };
    from += block.length;
  }
}

/** Finds and checks every column of the encoder; refuses cells that training could not have had. */
function openColumns(encoder: Encoder, table: Table, rows: Int32Array): readonly FillBlock[] {
  const D = encoder.names.length;
  return placeColumns(encoder.columns).map(({ encoding, first }) => {
    const place = { table, rows, D, first };
    const column = findColumn(table, encoding.column);
    return encoding.type === "category"
      ? fillLevels(readLevels(encoding, column, place, encoder.unknownLevels), place)
      : fillNumbers(encoding, readNumbers(encoding, column, place), place);
  });
}

function fillRows(encoder: Encoder, fills: readonly FillBlock[], from: number, to: number): EncodedFeatures {
  const N = to - from;
  const D = encoder.names.length;
  const values = new Float64Array(N * D);
  for (let begin = from; begin < to; begin += CACHED_ROWS) {
    const end = Math.min(begin + CACHED_ROWS, to);
    for (const fill of fills) fill(values, from, begin, end);
  }
  return { N, D, names: encoder.names, values };
}

type NumberScale = Pick<NumberEncoding, "median" | "mean" | "sd">;

function fillNumbers(
  encoding: NumberEncoding | BooleanEncoding,
  source: Float64Array,
  place: Place,
): FillBlock {
  const { D, first, rows } = place;
  const { missingIndicator } = encoding;
  const shape: Partial<NumberEncoding> & NumberScale =
    encoding.type === "boolean" ? { median: encoding.majority, mean: 0, sd: 1 } : encoding;
  const { median, mean, sd, spline, codes } = shape;
  const bends = missingIndicator ? 2 : 1;
  const coded = spline ? bends + SPLINE_COLUMNS : bends;
  return (values, base, from, to) => {
    for (let i = from, at = (from - base) * D + first; i < to; i++, at += D) {
      const isMissing = Number.isNaN(source[rows[i]]);
      const value = isMissing ? median : source[rows[i]];
      values[at] = (shapeNumber(value, shape) - mean) / sd;
      if (isMissing && missingIndicator) values[at + 1] = 1;
      if (spline) fillSplines(spline, value, values, at + bends);
      const code = codes?.indexOf(value) ?? -1;
      if (code >= 0) values[at + coded + code] = 1;
    }
  };
}

function fillLevels(source: LevelSource, place: Place): FillBlock {
  const { codes, slots } = source;
  const { D, first, rows } = place;
  return (values, base, from, to) => {
    for (let i = from, at = (from - base) * D + first; i < to; i++, at += D) {
      const slot = slots[codes[rows[i]] - MISSING_CODE];
      if (slot >= 0) values[at + slot] = 1;
    }
  };
}
