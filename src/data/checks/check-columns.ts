/**
 * What every table must have, whatever its container: columns with unique names, rows, and the columns that the reader
 * was told to force to a type. Each refusal is one InputError.
 */
import { InputError, MAX_ROWS_NAMED } from "../../core/errors.ts";
import type { ForcedType } from "../reading/infer-types.ts";
import { type Column, findColumn } from "../table.ts";

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
  if (new Set(names).size < names.length) {
    const seen = new Set<string>();
    const repeated = names.find((columnName) => seen.size === seen.add(columnName).size);
    const at = names.flatMap((columnName, k) => (columnName === repeated ? [k + 1] : []));
    throw new InputError(`duplicate column name: "${repeated}" names columns ${at.join(", ")}`, {
      code: "header.duplicate",
      where: `${table}, header`,
      hint: "give each column a name of its own",
    });
  }
}

/** Which type each named column is forced to; an unknown name is an InputError that lists the columns. */
export function findForcedTypes(
  table: string,
  names: readonly string[],
  overrides: { readonly category: readonly string[]; readonly number: readonly string[] },
): ReadonlyMap<string, ForcedType> {
  const columns = names.map((name): Column => ({ name, type: "number", values: new Float64Array(0) }));
  const forced = new Map<string, ForcedType>();
  for (const type of ["category", "number"] as const) {
    for (const name of overrides[type]) {
      findColumn({ name: table, rows: 0, columns }, name);
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
