/**
 * Survival curves that any other program predicted, read from a table: columns S1…ST (S(t|x) at the upper edge of bin t,
 * in any order in the file), an event column and either the bin of each row or its time, which then goes on the equal
 * grid of T bins up to the horizon. What is left of the table is kept for forming groups. Values are checked (numbers,
 * within [0, 1], never rising) and left as they are: an audit judges the curves that were predicted, not repaired ones.
 */
import { InputError, MAX_ROWS_NAMED, nameRows } from "../core/errors.ts";
import type { Curves } from "./curves.ts";
import type { BinnedOutcomes } from "./outcomes.ts";
import { createProblemError } from "./outcome-problems.ts";
import { parseNumberText } from "./parse-cell.ts";
import { readEvent } from "./read-event.ts";
import { readTime } from "./read-time.ts";
import {
  type CategoryColumn,
  type Column,
  cellText,
  findColumn,
  MISSING_BOOLEAN,
  MISSING_CODE,
  type Table,
} from "./table.ts";
import { binOutcomes, equalTimeGrid } from "./time-grid.ts";

/** Which columns hold the time bin and the event. */
export interface ReadCurvesOptions {
  /** Column of bins 1…T. Default "bin", unless `time` is given. */
  readonly bin?: string;
  /** Column of 0/1 or true/false. Default "event". */
  readonly event?: string;
  /** Column of times; asks for `horizon`. */
  readonly time?: string;
  /** Column of the dates that `time`, then dates too, is counted from, in days. */
  readonly origin?: string;
  /** The upper edge of bin T, in the unit of `time`. */
  readonly horizon?: number;
}

/** Another program's predictions with what became of the people. */
export interface CurvesWithOutcomes {
  readonly curves: Curves;
  readonly outcomes: BinnedOutcomes;
  /** The other columns. */
  readonly others: Table;
  /** How the event was read, where it is written in words. */
  readonly notes: readonly string[];
}

/** A rise up to this is rounding: files carry about ten decimals. */
export const RISE_TOLERANCE = 1e-9;

const EXPECTED =
  'expected columns S1, S2, … ST (survival at the end of each time bin), "event" (0 or 1) and "bin" (1 to T), ' +
  "or a time column and the horizon in place of bin";

/** Takes curves S1 … ST and outcomes from a table; refuses what is no survival curve. */
export function readCurves(table: Table, options: ReadCurvesOptions = {}): CurvesWithOutcomes {
  if (table.rows === 0) throw new InputError("no rows of curves", { code: "rows.none", where: table.name });
  const survivalColumns = findSurvivalColumns(table);
  const T = survivalColumns.length;
  const { event, notes } = readEvents(table, options.event);
  const { outcomes, columns } = readOutcomes(table, T, event, options);
  const used = new Set([options.event ?? "event", ...columns, ...survivalColumns.map(({ name }) => name)]);
  const others = { ...table, columns: table.columns.filter(({ name }) => !used.has(name)) };
  return { curves: readSurvival(table, survivalColumns), outcomes, others, notes };
}

/** S1…ST in the order of t. */
function findSurvivalColumns(table: Table): readonly Column[] {
  const byBin = new Map<number, Column>();
  for (const column of table.columns) {
    const match = /^S([1-9][0-9]*)$/.exec(column.name);
    if (match) byBin.set(Number(match[1]), column);
  }
  if (byBin.size === 0) {
    throw new InputError("no survival columns: S1, S2, …", {
      code: "curves.none",
      where: table.name,
      hint: EXPECTED,
    });
  }
  const T = Math.max(...byBin.keys());
  const missing: number[] = [];
  // T comes from a column name and may be anything: stop looking when there is enough to report.
  for (let t = 1; t <= T && missing.length < MAX_ROWS_NAMED; t++) if (!byBin.has(t)) missing.push(t);
  if (missing.length > 0) {
    const shown = missing.map((t) => `S${t}`).join(", ");
    const rest = T - byBin.size - missing.length;
    throw new InputError(
      `missing columns between S1 and S${T}: ${shown}${rest > 0 ? ` (and ${rest} more)` : ""}`,
      {
        code: "curves.hole",
        where: table.name,
        hint: EXPECTED,
      },
    );
  }
  return Array.from(byBin.keys())
    .sort((a, b) => a - b)
    .flatMap((t) => byBin.get(t) ?? []);
}

/** A block of this many rows stays in the cache while the columns take turns to write into it. */
const BLOCK_ROWS = 512;

function readSurvival(table: Table, columns: readonly Column[]): Curves {
  const N = table.rows;
  const T = columns.length;
  const survival = new Float64Array(N * T); // [N,T]
  const cells = columns.map(readNumbers);
  for (let from = 0; from < N; from += BLOCK_ROWS) {
    const to = Math.min(from + BLOCK_ROWS, N);
    for (let t = 0; t < T; t++) {
      const values = cells[t];
      for (let i = from; i < to; i++) survival[i * T + t] = values[i];
    }
  }
  checkSurvival(table, columns, survival);
  return { N, T, survival };
}

/** Bad rows of one kind, each at its first bad column. */
interface BadCells {
  readonly rows: number[]; // 0-based
  readonly bins: number[];
}

function checkSurvival(table: Table, columns: readonly Column[], survival: Float64Array): void {
  const T = columns.length;
  const notNumber: BadCells = { rows: [], bins: [] };
  const outside: BadCells = { rows: [], bins: [] };
  const rising: BadCells = { rows: [], bins: [] };
  for (let i = 0; i < table.rows; i++) {
    let before = 1;
    for (let t = 1; t <= T; t++) {
      const value = survival[i * T + t - 1];
      if (value >= 0 && value <= 1 && value <= before + RISE_TOLERANCE) {
        before = value;
        continue;
      }
      const bad = Number.isNaN(value) ? notNumber : value >= 0 && value <= 1 ? rising : outside;
      bad.rows.push(i);
      bad.bins.push(t);
      break; // one finding a row is enough
    }
  }
  const where = ({ rows, bins }: BadCells) => {
    const names = [...new Set(bins.slice(0, MAX_ROWS_NAMED))].map((t) => `"S${t}"`);
    return `${whereRows(table, rows)}, ${names.length > 1 ? "columns" : "column"} ${names.join(", ")}`;
  };
  if (notNumber.rows.length > 0) {
    const text = cellText(columns[notNumber.bins[0] - 1], notNumber.rows[0]);
    throw new InputError(text === "" ? "survival is missing" : `survival is not a number: "${text}"`, {
      code: "curves.missing",
      where: where(notNumber),
      hint: "every row needs all of S1 to ST; leave out rows without a prediction",
    });
  }
  if (outside.rows.length > 0) {
    throw new InputError(`survival outside 0 to 1: ${survival[outside.rows[0] * T + outside.bins[0] - 1]}`, {
      code: "curves.range",
      where: where(outside),
      hint: "S1 to ST are probabilities of being free of the event, not percentages, hazards or risks above 1",
    });
  }
  if (rising.rows.length > 0) {
    const at = rising.rows[0] * T + rising.bins[0] - 1;
    throw new InputError(`survival rises: from ${survival[at - 1]} to ${survival[at]}`, {
      code: "curves.rise",
      where: where(rising),
      hint: "S1 to ST are probabilities of surviving past bin t, not cumulative risks; are the columns in time order?",
    });
  }
}

interface EventsRead {
  readonly event: Uint8Array;
  readonly notes: readonly string[];
}

function readEvents(table: Table, name: string | undefined): EventsRead {
  const column = findNamed(table, name, "event");
  const said = readEvent(column, table.rows, undefined);
  if (said.problems.every(({ finding }) => finding.level === "note")) {
    return {
      event: Uint8Array.from(said.values),
      notes: said.problems.map(({ finding }) => finding.message),
    };
  }
  const values = readTruths(column);
  const bad = findRows(values, (value) => value !== 0 && value !== 1);
  if (bad.length > 0) {
    throw new InputError(`event is not 0 or 1: "${cellText(column, bad[0])}"`, {
      code: "event.invalid",
      where: `${whereRows(table, bad)}, column "${column.name}"`,
      hint: "1 (or true) is the event, 0 (or false) is censoring",
    });
  }
  return { event: Uint8Array.from(values), notes: [] };
}

interface OutcomesRead {
  readonly outcomes: BinnedOutcomes;
  /** The columns they came from, besides the event's. */
  readonly columns: readonly string[];
}

function readOutcomes(table: Table, T: number, event: Uint8Array, options: ReadCurvesOptions): OutcomesRead {
  const { bin, time, origin, horizon } = options;
  if ((time === undefined) !== (horizon === undefined) || (bin !== undefined && time !== undefined)) {
    throw new InputError("outcomes need a bin column, or a time column and its horizon, and not both", {
      code: "outcomes.options",
      hint: EXPECTED,
    });
  }
  if (time === undefined || horizon === undefined) {
    const column = findNamed(table, bin, "bin");
    const values = readNumbers(column);
    const bad = findRows(values, (value) => !(Number.isInteger(value) && value >= 1 && value <= T));
    if (bad.length > 0) {
      throw new InputError(`bin is not a whole number from 1 to ${T}: "${cellText(column, bad[0])}"`, {
        code: "bin.invalid",
        where: `${whereRows(table, bad)}, column "${column.name}"`,
        hint: `bins are counted from 1, and there are as many as columns S1 to S${T}`,
      });
    }
    return { outcomes: { T, bin: Int32Array.from(values), event }, columns: [column.name] };
  }
  const column = findColumn(table, time);
  const grid = equalTimeGrid(T, horizon);
  if (origin !== undefined) {
    const dates = readTime(column, findColumn(table, origin), table.rows);
    const wrong = dates.problems.find(({ finding }) => finding.level === "error");
    if (wrong) throw createProblemError(table, wrong);
    return { outcomes: binOutcomes({ time: dates.values, event }, grid), columns: [time, origin] };
  }
  const values = readNumbers(column);
  const bad = findRows(values, (value) => !(value >= 0 && value < Number.POSITIVE_INFINITY));
  if (bad.length > 0) {
    throw new InputError(`time is not a number from 0 up: "${cellText(column, bad[0])}"`, {
      code: "time.invalid",
      where: `${whereRows(table, bad)}, column "${column.name}"`,
    });
  }
  return { outcomes: binOutcomes({ time: values, event }, grid), columns: [column.name] };
}

/** The column the user named, or the one of the usual name. */
function findNamed(table: Table, name: string | undefined, usual: string): Column {
  if (name !== undefined || table.columns.some((column) => column.name === usual)) {
    return findColumn(table, name ?? usual);
  }
  throw new InputError(`missing column: "${usual}"`, {
    code: "column.missing",
    where: table.name,
    hint: EXPECTED,
  });
}

/** The cells as numbers, NaN where missing or no number. Text is read too: one bad cell makes a whole column text. */
function readNumbers(column: Column): Float64Array {
  if (column.type === "number") return column.values;
  if (column.type === "category") return readTexts(column, (text) => parseNumberText(text, "."));
  const length = column.values.length;
  return new Float64Array(length).fill(Number.NaN); // booleans and dates
}

/** The cells as 1 (true) and 0 (false), other numbers as they are, NaN where missing or neither. */
function readTruths(column: Column): Float64Array {
  if (column.type === "boolean") {
    return Float64Array.from(column.values, (value) => (value === MISSING_BOOLEAN ? Number.NaN : value));
  }
  if (column.type !== "category") return readNumbers(column);
  return readTexts(column, (text) => {
    const said = text.trim().toLowerCase();
    return said === "true" ? 1 : said === "false" ? 0 : parseNumberText(text, ".");
  });
}

function readTexts(column: CategoryColumn, read: (text: string) => number): Float64Array {
  const values = column.levels.map(read);
  return Float64Array.from(column.codes, (code) => (code === MISSING_CODE ? Number.NaN : values[code]));
}

function findRows(values: Float64Array, isBad: (value: number) => boolean): readonly number[] {
  const rows: number[] = [];
  for (let row = 0; row < values.length; row++) if (isBad(values[row])) rows.push(row);
  return rows;
}

function whereRows(table: Table, rows: readonly number[]): string {
  return `${table.name}, ${nameRows(rows.map((row) => row + 1))}`;
}
