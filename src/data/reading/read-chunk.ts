/**
 * A part of a table that is read piece by piece, for programs that look at every row once and need not hold them all.
 * Readers and encoders report problems by the part's own row numbers; people are told the row numbers of the whole.
 */

import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { Table } from "../table.ts";

export interface TableChunk {
  /** The columns that were asked for. */
  readonly table: Table;
  /** Rows of the whole table before this part. */
  readonly firstRow: number;
}

/** Runs a step over rows of a part; an InputError that names rows of the part is made to name those of the whole. */
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
}

/** What nameRows writes after the table's name: "row 3", "rows 3, 8 and 12", "rows 1, 2 (and 71 more)". */
const NAMED_ROWS = /^, rows? \d+(?:, \d+)*(?: and \d+)?/;

function renumberRows(error: unknown, { table, firstRow }: ChunkPlace): unknown {
  if (!(error instanceof InputError) || error.where === undefined || firstRow === 0) return error;
  const { message, code, where, hint } = error;
  if (!where.startsWith(table.name)) return error;
  const place = where.slice(table.name.length);
  const named = place.replace(NAMED_ROWS, (rows) =>
    rows.replace(/\d+/g, (row) => String(Number(row) + firstRow)),
  );
  return new InputError(message, {
    code,
    where: table.name + named,
    ...present({ hint }),
  });
}
