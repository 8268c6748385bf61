/**
 * Several files as one table: a source with parts, read one after the other in the order given, as if their rows stood
 * in one file. The files have the same columns, in any order; the first file's order is the table's. They are all text
 * or all Parquet. Which files there are is the caller's business; the readers loop over the parts.
 */
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { shortenValue } from "../../core/text.ts";
import type { TableSource } from "./read-table.ts";

/** Several files of the same columns as the source of one table; one file alone is that file. */
export function joinSources(name: string, sources: readonly TableSource[]): TableSource {
  if (sources.length === 0) {
    throw new InputError("no files to make a table of", { code: "files.none", where: name });
  }
  const parts = sources.flatMap(partsOf);
  if (parts.length === 1) return parts[0];
  const lengths = parts.map(({ byteLength }) => byteLength);
  const byteLength = lengths.includes(undefined)
    ? undefined
    : lengths.reduce<number>((sum, length) => sum + (length ?? 0), 0);
  async function* open(): AsyncGenerator<Uint8Array> {
    for (const part of parts) yield* part.open();
  }
  return { name, parts, open, ...present({ byteLength }) };
}

/** The files of a source, in order: itself where it is one file. */
export function partsOf(source: TableSource): readonly TableSource[] {
  return source.parts ?? [source];
}

/** A file's name and its columns. */
export interface NamedColumns {
  readonly name: string;
  readonly columns: readonly string[];
}

/** Where each of the first file's columns is in another file; null where both have the same order. */
export function matchColumns(first: NamedColumns, other: NamedColumns): Int32Array | null {
  const positions = new Map(other.columns.map((column, k) => [column, k]));
  const known = new Set(first.columns);
  const missing = first.columns.filter((column) => !positions.has(column));
  const extra = other.columns.filter((column) => !known.has(column));
  if (missing.length > 0 || extra.length > 0) throw createOtherColumnsError(first, other, missing, extra);
  const order = Int32Array.from(first.columns, (column) => positions.get(column) ?? 0);
  return order.every((position, k) => position === k) ? null : order;
}

/** Columns that one message names. */
const MOST_COLUMNS = 5;

function createOtherColumnsError(
  first: NamedColumns,
  other: NamedColumns,
  missing: readonly string[],
  extra: readonly string[],
): InputError {
  const list = (what: string, columns: readonly string[]) => {
    if (columns.length === 0) return [];
    const shown = columns.slice(0, MOST_COLUMNS).map((column) => `"${shortenValue(column)}"`);
    const more = columns.length > shown.length ? `, … ${columns.length} in all` : "";
    return [`${what} ${shown.join(", ")}${more}`];
  };
  const said = [...list("missing", missing), ...list("extra", extra)].join("; ");
  const isUncut = other.columns.length === 1 && first.columns.length > 1;
  return new InputError(`not the columns of ${first.name}: ${said}`, {
    code: "files.columns",
    where: other.name,
    hint: isUncut
      ? `the files of a table must separate their fields by the same sign as ${first.name} does`
      : "the files of one table must have the same columns, in any order",
  });
}

/** Refuses a file of another container than the first one's. */
export function refuseMixture(first: string, other: string, isParquet: boolean): never {
  throw new InputError(
    isParquet
      ? `a Parquet file, while ${first} is text`
      : `not a Parquet file (it does not begin with PAR1), while ${first} is one`,
    { code: "files.kinds", where: other, hint: "the files of one table must be all CSV or all Parquet" },
  );
}
