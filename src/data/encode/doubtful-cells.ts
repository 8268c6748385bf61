/**
 * What is doubtful about each row to be predicted, by the names of its columns: numbers and dates outside what training
 * had, missing cells that a median or a majority stands in for, and levels that no training row had. new-cells.ts
 * counts the first two by column; here a person's own row says it. Unknown levels are refused when the row is encoded,
 * unless the encoder allows them.
 */
import { findUnknownLevels, readNumbers } from "../reading/conform-column.ts";
import { type Column, checkRows, findColumn, type Table } from "../table.ts";
import type { ColumnEncoding, Encoder } from "./encoder.ts";
import { isOutside } from "./new-cells.ts";

/** For each row the columns whose cell is doubtful, in the order of the encoder; mostly none. */
export interface DoubtfulCells {
  /** Numbers and dates outside the range of training. */
  readonly outsideRange: readonly (readonly string[])[]; // [N]
  /** Missing cells that were filled in with the training rows' median or majority. */
  readonly imputed: readonly (readonly string[])[]; // [N]
  /** Levels that no training row had, and missing ones where training always had one. */
  readonly unknownLevels: readonly (readonly string[])[]; // [N]
}

/** Shared by all rows without a doubt. */
const NONE: readonly string[] = [];

/** The doubtful cells of `rows` (0-based, all by default); `except` names columns that are made, not read. */
export function findDoubtfulCells(
  encoder: Encoder,
  table: Table,
  rows?: ArrayLike<number>,
  except: readonly string[] = [],
): DoubtfulCells {
  const picked = checkRows(table, rows);
  const made = new Set(except);
  const lists = () => new Array<readonly string[]>(picked.length).fill(NONE);
  const found: Record<keyof DoubtfulCells, (readonly string[])[]> = {
    outsideRange: lists(),
    imputed: lists(),
    unknownLevels: lists(),
  };
  for (const encoding of encoder.columns) {
    if (made.has(encoding.column)) continue;
    const judge = prepareJudge(encoding, findColumn(table, encoding.column), table, picked);
    for (let i = 0; i < picked.length; i++) {
      const doubt = judge(picked[i]);
      if (doubt !== null) found[doubt][i] = [...found[doubt][i], encoding.column];
    }
  }
  return found;
}

/** Says of a row's cell in one column what is doubtful about it, if anything. */
function prepareJudge(
  encoding: ColumnEncoding,
  column: Column,
  table: Table,
  rows: Int32Array,
): (row: number) => keyof DoubtfulCells | null {
  if (encoding.type === "category") {
    const isUnknown = findUnknownLevels(encoding, column);
    return (row) => (isUnknown(row) ? "unknownLevels" : null);
  }
  const values = readNumbers(encoding, column, { table, rows });
  return (row) => {
    if (Number.isNaN(values[row])) return "imputed";
    return isOutside(encoding, values[row]) ? "outsideRange" : null;
  };
}
