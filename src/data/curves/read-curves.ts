/**
 * Survival curves predicted by any other program, read from a table with an event column. Columns S1…ST hold S(t|x) at
 * the upper edge of bin t; each row has its bin, or its time, which is then put on the equal grid of T bins up to the
 * horizon. Columns named by times t₁ < … < t_T hold S at those times; a row's time is rounded up to the next of them
 * (bin k is (t_{k−1}, t_k], t₀ = 0), a time after the last counts as censored there, and a curve is read at these times
 * and nowhere between. The other columns are kept for forming groups. Values are checked (numbers, within [0, 1], never
 * rising) and left as they are: an audit judges the curves that were predicted, not repaired ones.
 */
import { InputError, MAX_ROWS_NAMED } from "../../core/errors.ts";
import { createProblemError, type Finding, type Problem, placeProblem } from "../checks/findings.ts";
import type { BinnedRightCensored, RightCensored } from "../outcomes/outcomes.ts";
import { readEvent } from "../outcomes/read-event.ts";
import { checkOutcomeCells, pickTold, readTime } from "../outcomes/read-outcomes.ts";
import { binningGap, binOutcomes, equalTimeGrid, type TimeGrid } from "../outcomes/time-grid.ts";
import { parseNumberText } from "../reading/parse-cell.ts";
import {
  type CategoryColumn,
  type Column,
  cellText,
  findColumn,
  MISSING_BOOLEAN,
  MISSING_CODE,
  placeRows,
  type Table,
} from "../table.ts";
import { type Curves, EXPECTED, findCurveColumns, gridOfColumns, SURVIVAL } from "./curves.ts";

/** Which columns hold the time bin and the event. */
export interface ReadCurvesOptions {
  /** Column of bins 1…T. Default "bin", unless `time` is given. */
  readonly bin?: string;
  /** Column of 0/1 or true/false. Default "event". */
  readonly event?: string;
  /** Column of times; needs `horizon` where columns are S1…ST. Default "time" where they are named by times. */
  readonly time?: string;
  /** Column of dates from which `time`, which then holds dates too, is counted in days. */
  readonly origin?: string;
  /** The upper edge of bin T, in the unit of `time`; columns named by times have their own. */
  readonly horizon?: number;
}

/** Another program's predictions with what became of the people. */
export interface CurvesWithOutcomes {
  readonly curves: Curves;
  readonly outcomes: BinnedRightCensored;
  /** In bins, where nothing says which times they are. */
  readonly grid: TimeGrid;
  /** Whether the grid is in the unit of times, not in bins. */
  readonly hasTimes: boolean;
  /** The column of bins or times. */
  readonly timeColumn: string;
  /** The other columns. */
  readonly others: Table;
  /** What should be said of the outcome; the notes have the same as sentences. */
  readonly told: readonly Finding[];
  /** How the event was read, where it is written in words; and a warning where there are too few times. */
  readonly notes: readonly string[];
}

/** A rise up to this is rounding: files carry about ten decimals. */
export const RISE_TOLERANCE = 1e-9;

/** Takes curves and outcomes from a table; refuses what is not a survival curve. */
export function readCurves(table: Table, options: ReadCurvesOptions = {}): CurvesWithOutcomes {
  if (table.rows === 0) throw new InputError("no rows of curves", { code: "rows.none", where: table.name });
  const { columns: survivalColumns, times } = findCurveColumns(table);
  const { event, problems } = readEvents(table, options.event);
  const { columns, time, ...read } =
    times === null
      ? readOutcomes(table, survivalColumns.length, event, options)
      : readAtTimes(table, times, event, options);
  // Bins are numbers that somebody counted: only times are checked.
  const cells = time === null ? [] : checkOutcomeCells(table, columns, time);
  const told = pickTold(refuseErrors(table, [...problems, ...cells]));
  const notes = told.map(({ message }) => message);
  const used = new Set([options.event ?? "event", ...columns, ...survivalColumns.map(({ name }) => name)]);
  const others = { ...table, columns: table.columns.filter(({ name }) => !used.has(name)) };
  return {
    curves: readSurvival(table, survivalColumns),
    ...read,
    hasTimes: time !== null,
    timeColumn: columns[0],
    others,
    told,
    notes:
      times === null || time === null ? notes : [...notes, ...warnOfFewTimes({ time, event }, read.grid)],
  };
}

/** Curves whose outcome is read elsewhere, with the bins they are on and the names of their columns. */
export interface ReadSurvival {
  readonly curves: Curves;
  readonly grid: TimeGrid;
  readonly names: readonly string[];
}

/** Takes the curves alone from a table. */
export function readSurvivalCurves(
  table: Table,
  { horizon }: Pick<ReadCurvesOptions, "horizon"> = {},
): ReadSurvival {
  if (table.rows === 0) throw new InputError("no rows of curves", { code: "rows.none", where: table.name });
  const { columns, times } = findCurveColumns(table);
  return {
    curves: readSurvival(table, columns),
    grid: gridOfColumns(times, columns.length, horizon, SURVIVAL),
    names: columns.map(({ name }) => name),
  };
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
      break; // one finding per row is enough
    }
  }
  const where = ({ rows, bins }: BadCells) => {
    const names = [...new Set(bins.slice(0, MAX_ROWS_NAMED))].map((t) => `"${columns[t - 1].name}"`);
    return `${whereRows(table, rows)}, ${names.length > 1 ? "columns" : "column"} ${names.join(", ")}`;
  };
  if (notNumber.rows.length > 0) {
    const text = cellText(columns[notNumber.bins[0] - 1], notNumber.rows[0]);
    throw new InputError(text === "" ? "survival is missing" : `survival is not a number: "${text}"`, {
      code: "curves.missing",
      where: where(notNumber),
      hint: "every row needs its whole curve; leave out rows without a prediction",
    });
  }
  if (outside.rows.length > 0) {
    throw new InputError(`survival outside 0 to 1: ${survival[outside.rows[0] * T + outside.bins[0] - 1]}`, {
      code: "curves.range",
      where: where(outside),
      hint: "a curve is the probability of being free of the event, not a percentage, hazard or risk above 1",
    });
  }
  if (rising.rows.length > 0) {
    const at = rising.rows[0] * T + rising.bins[0] - 1;
    throw new InputError(`survival rises: from ${survival[at - 1]} to ${survival[at]}`, {
      code: "curves.rise",
      where: where(rising),
      hint:
        "a curve is the probability of surviving past a time, not a cumulative risk; " +
        "are the columns in time order?",
    });
  }
}

/** The findings of problems, none of which is an error. */
function refuseErrors(table: Table, problems: readonly Problem[]): readonly Finding[] {
  const error = problems.find(({ finding }) => finding.level === "error");
  if (error !== undefined) throw createProblemError(table, placeProblem(table, error));
  return problems.map((one) => placeProblem(table, one).finding);
}

interface EventsRead {
  readonly event: Uint8Array;
  readonly problems: readonly Problem[];
}

function readEvents(table: Table, name: string | undefined): EventsRead {
  const column = findNamed(table, name, "event");
  const said = readEvent(column, table.rows, undefined);
  if (said.problems.every(({ finding }) => finding.level === "note")) {
    return {
      event: Uint8Array.from(said.values),
      problems: said.problems,
    };
  }
  const doubtful = said.problems.filter(({ finding }) => finding.code === "event.name");
  const values = readTruths(column);
  const bad = findRows(values, (value) => value !== 0 && value !== 1);
  if (bad.length > 0) {
    throw new InputError(`event is not 0 or 1: "${cellText(column, bad[0])}"`, {
      code: "event.invalid",
      where: `${whereRows(table, bad)}, column "${column.name}"`,
      hint: "1 (or true) is the event, 0 (or false) is censoring",
    });
  }
  return { event: Uint8Array.from(values), problems: doubtful };
}

interface OutcomesRead {
  readonly outcomes: BinnedRightCensored;
  readonly grid: TimeGrid;
  /** Null where bins were given. */
  readonly time: Float64Array | null;
  /** The columns they came from, besides the event column; the one of bins or times comes first. */
  readonly columns: readonly string[];
}

function readOutcomes(table: Table, T: number, event: Uint8Array, options: ReadCurvesOptions): OutcomesRead {
  const { bin, time, horizon } = options;
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
    const outcomes = { T, bin: Int32Array.from(values), event };
    return { outcomes, grid: equalTimeGrid(T, T), time: null, columns: [column.name] };
  }
  return readTimes(table, findColumn(table, time), options.origin, event, equalTimeGrid(T, horizon));
}

function readAtTimes(
  table: Table,
  times: Float64Array,
  event: Uint8Array,
  { bin, time, origin, horizon }: ReadCurvesOptions,
): OutcomesRead {
  if (bin !== undefined || horizon !== undefined) {
    const message = "the survival columns are named by their times: they need neither bins nor a horizon";
    const hint = "leave --bin and --horizon out; the last column is the horizon";
    throw new InputError(message, { code: "outcomes.options", hint });
  }
  const grid: TimeGrid = { kind: "quantile", T: times.length, edges: Float64Array.of(0, ...times) };
  return readTimes(table, findNamed(table, time, "time"), origin, event, grid);
}

/** Times are rounded up to the next column's time, censored ones too, so too few columns raise Kaplan-Meier. */
function warnOfFewTimes(outcomes: RightCensored, grid: TimeGrid): string[] {
  const { raw, binned, exceedsHalfStandardError } = binningGap(outcomes, grid);
  if (!exceedsHalfStandardError) return [];
  const columns = grid.T === 1 ? "1 survival column raises" : `${grid.T} survival columns raise`;
  return [
    `${columns} Kaplan-Meier at the end from ${raw.toFixed(4)} to ${binned.toFixed(4)}, ` +
      "over half a standard error: predict for more times",
  ];
}

function readTimes(
  table: Table,
  column: Column,
  origin: string | undefined,
  event: Uint8Array,
  grid: TimeGrid,
): OutcomesRead {
  const put = (time: Float64Array, columns: readonly string[]): OutcomesRead => ({
    outcomes: binOutcomes({ time, event }, grid),
    grid,
    time,
    columns,
  });
  if (origin !== undefined) {
    const dates = readTime(column, findColumn(table, origin), table.rows);
    const wrong = dates.problems.find(({ finding }) => finding.level === "error");
    if (wrong) throw createProblemError(table, placeProblem(table, wrong));
    return put(dates.values, [column.name, origin]);
  }
  const values = readNumbers(column);
  const bad = findRows(values, (value) => !(value >= 0 && value < Number.POSITIVE_INFINITY));
  if (bad.length > 0) {
    throw new InputError(`time is not a number from 0 up: "${cellText(column, bad[0])}"`, {
      code: "time.invalid",
      where: `${whereRows(table, bad)}, column "${column.name}"`,
    });
  }
  return put(values, [column.name]);
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
export function readNumbers(column: Column): Float64Array {
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
  return placeRows(
    table,
    rows.map((row) => row + 1),
  );
}
