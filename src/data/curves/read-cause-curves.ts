/**
 * Cumulative incidences predicted by any other program, one file a cause, row by row beside a table. A file's columns
 * are F(t₁), F(t₂), … or plain times, or F1…FT on T equal bins up to a horizon, as curves.ts finds them; every file has
 * the same ones. They are the bins of the audit: bin k is (t_{k−1}, t_k]. Survival would be named with an S, and falls:
 * a file of it is refused by name, as are values outside [0, 1], curves that fall and causes that make more than 1.
 * Values are left as they are.
 */
import { InputError, MAX_ROWS_NAMED } from "../../core/errors.ts";
import type { TimeGrid } from "../outcomes/time-grid.ts";
import { type Column, cellText, placeRows, type Table } from "../table.ts";
import { type CauseCurves, describeFault, type FoundFault, findFaults } from "./cause-curves.ts";
import {
  type CurveColumns,
  findCurveColumns,
  gridOfColumns,
  hasNamedCurves,
  INCIDENCE,
  SURVIVAL,
} from "./curves.ts";
import { readNumbers } from "./read-curves.ts";

/** The predictions of one cause. */
export interface CauseFile {
  readonly cause: string;
  readonly table: Table;
}

/** What was read of all causes. */
export interface ReadCauseCurves {
  readonly curves: CauseCurves;
  readonly grid: TimeGrid;
}

/** "death=d.csv" → the cause it is of and the file; which causes there are is known. */
export function parseCauseFiles(
  given: readonly string[],
  causes: readonly string[],
  option = "--curves",
): readonly { readonly cause: string; readonly path: string }[] {
  const hint = `give one file for each cause: ${causes.map((name) => `${name}=FILE`).join(",")}`;
  const refuse = (message: string) => new InputError(message, { code: "curves.cause", where: option, hint });
  const parsed = given
    .flatMap((text) => splitFiles(text, causes))
    .filter((text) => text !== "")
    .map((text) => {
      // A name may hold an equals sign: the longest cause that the text begins with.
      const own = causes.filter((name) => text.startsWith(`${name}=`)).sort((a, b) => b.length - a.length);
      if (own.length > 0) return { cause: own[0], path: text.slice(own[0].length + 1) };
      if (!text.includes("=")) throw refuse(`the file does not say of which cause its curves are: "${text}"`);
      throw refuse(`curves of an unknown cause: "${text.slice(0, text.indexOf("="))}"`);
    });
  const twice = parsed.find(({ cause }, k) => parsed.findIndex((one) => one.cause === cause) < k);
  if (twice !== undefined) throw refuse(`two files of curves for one cause: "${twice.cause}"`);
  const empty = parsed.find(({ path }) => path === "");
  if (empty !== undefined) throw refuse(`no file is named for a cause: "${empty.cause}"`);
  const missing = causes.filter((name) => !parsed.some(({ cause }) => cause === name));
  if (missing.length > 0) {
    const names = missing.map((name) => `"${name}"`).join(", ");
    throw refuse(`no curves of ${missing.length === 1 ? "a cause" : "some causes"}: ${names}`);
  }
  return causes.flatMap((name) => parsed.filter(({ cause }) => cause === name));
}

/** Cuts at commas, but for those within a cause's name. */
function splitFiles(text: string, causes: readonly string[]): readonly string[] {
  const own = causes.filter((name) => name.includes(",")).sort((a, b) => b.length - a.length);
  const files: string[] = [];
  for (let rest = text.trim(); rest !== ""; ) {
    const name = own.find((one) => rest.startsWith(`${one}=`)) ?? "";
    const end = rest.indexOf(",", name.length);
    files.push((end < 0 ? rest : rest.slice(0, end)).trim());
    rest = end < 0 ? "" : rest.slice(end + 1).trim();
  }
  return files;
}

/** Joins the files, which are in the order of the causes, to curves of the rows of a table. */
export function readCauseCurves(
  files: readonly CauseFile[],
  rows: number,
  options: { readonly horizon?: number } = {},
): ReadCauseCurves {
  const found = files.map(({ table }) => findIncidence(table));
  files.forEach(({ table }, k) => {
    checkRows(table, rows);
    checkSameColumns(files[0].table, found[0], table, found[k]);
  });
  const [{ columns, times }] = found;
  const [N, K, T] = [rows, files.length, columns.length];
  const incidence = new Float64Array(N * K * T);
  found.forEach(({ columns: own }, k) => {
    own.forEach((column, t) => {
      const cells = readNumbers(column);
      for (let row = 0; row < N; row++) incidence[(row * K + k) * T + t] = cells[row];
    });
  });
  const curves: CauseCurves = { N, K, T, causes: files.map(({ cause }) => cause), incidence };
  const faults = findFaults(curves);
  if (faults.length > 0) throw createFault(files, found, faults);
  return { curves, grid: gridOfColumns(times, T, options.horizon, INCIDENCE) };
}

function findIncidence(table: Table): CurveColumns {
  if (!hasNamedCurves(table, INCIDENCE) && hasNamedCurves(table, SURVIVAL)) {
    throw new InputError("the curves of a cause are named as survival, with an S", {
      code: "curves.survival",
      where: table.name,
      hint: `give the cumulative incidence of the cause; ${INCIDENCE.expected}`,
    });
  }
  return findCurveColumns(table, INCIDENCE);
}

function checkRows(table: Table, rows: number): void {
  if (table.rows === rows) return;
  throw new InputError(`the curves have ${table.rows} rows and the table has ${rows}`, {
    code: "rows.mismatch",
    where: table.name,
    hint: "give one curve for each row of the table, in the same order",
  });
}

function checkSameColumns(table: Table, first: CurveColumns, other: Table, own: CurveColumns): void {
  const told = ({ columns, times }: CurveColumns) => (times === null ? [columns.length] : [0, ...times]);
  const [wanted, had] = [told(first), told(own)];
  if (wanted.length === had.length && wanted.every((time, k) => time === had[k])) return;
  throw new InputError("the causes are predicted at different times", {
    code: "curves.time",
    where: `${table.name}, ${other.name}`,
    hint: "every file has the same columns",
  });
}

/** All rows with the fault of the first, with the file and the column of it. */
function createFault(
  files: readonly CauseFile[],
  found: readonly CurveColumns[],
  faults: readonly FoundFault[],
): InputError {
  const [first] = faults;
  const alike = faults.filter(({ fault, cause }) => fault === first.fault && cause === first.cause);
  const { table } = files[first.cause - 1];
  const column = (fault: FoundFault): Column => found[fault.cause - 1].columns[fault.bin - 1];
  const names = [...new Set(alike.slice(0, MAX_ROWS_NAMED).map((fault) => column(fault).name))];
  const { message, code, hint } = describeFault(first);
  const rows = placeRows(
    table,
    alike.map(({ row }) => row + 1),
  );
  const text = first.fault === "number" ? cellText(column(first), first.row) : "";
  const said =
    first.fault !== "number" ? message : text === "" ? "incidence is missing" : `${message}: "${text}"`;
  const where = `${rows}, ${names.length > 1 ? "columns" : "column"} ${names.map((name) => `"${name}"`).join(", ")}`;
  return new InputError(said, { code, where, hint });
}
