/**
 * Predicted survival curves on a grid of T bins: S(t|x) at the upper edge of bin t, t = 1…T, and S(0) = 1 understood.
 * And which columns of a table are such curves, told by their names. There are two forms: S1…ST, which count time bins,
 * and names that give the time itself, in the unit of the table's times: "S(365)", "S_365", or plain "365" where no
 * column is named with an S. A column for time 0 only states that S(0) = 1 and is left out. Columns may stand in any
 * order. Cumulative incidences, which begin at 0, are named with an F in the same way.
 */
import { InputError, MAX_ROWS_NAMED } from "../../core/errors.ts";
import { equalTimeGrid, MAX_BINS, type TimeGrid } from "../outcomes/time-grid.ts";
import { type Column, placeRows, type Table } from "../table.ts";

/** Survival curves of N rows on a grid of T bins. */
export interface Curves {
  readonly N: number;
  readonly T: number;
  /** Row-major [N,T]; entry [i*T + t−1] is S(t|x_i). */
  readonly survival: Float64Array | Float32Array;
}

/**
 * Values of curves that are kept in double precision, 1 GiB of them. Beyond, curves are kept in single precision, the
 * precision in which a network computes its logits; so those of ten million rows on 102 bins are 4 GB.
 */
const MOST_DOUBLES = 2 ** 27;

/** Memory for N curves on T bins. */
export function allocateSurvival(N: number, T: number, mostDoubles = MOST_DOUBLES): Curves["survival"] {
  return N * T <= mostDoubles ? new Float64Array(N * T) : new Float32Array(N * T);
}

/** Whether every value is a probability; NaN is not. */
export function isSurvival({ survival }: Pick<Curves, "survival">): boolean {
  for (let k = 0; k < survival.length; k++) if (!(survival[k] >= 0 && survival[k] <= 1)) return false;
  return true;
}

/** Columns in the order of time. */
export interface CurveColumns {
  readonly columns: readonly Column[];
  /** The times that the names give; null for S1…ST. */
  readonly times: Float64Array | null;
}

export const EXPECTED =
  'expected columns S1, S2, … ST (survival at the end of each time bin), "event" (0 or 1) and "bin" (1 to T), ' +
  "or a time column and the horizon in place of bin; or columns S(90), S(180), … named by their times, event and time";

/** What a curve is the probability of: no event yet, or an event of one cause. */
export interface CurveKind {
  readonly word: string;
  readonly letter: "S" | "F";
  /** At time 0. */
  readonly start: number;
  readonly expected: string;
}

export const SURVIVAL: CurveKind = { word: "survival", letter: "S", start: 1, expected: EXPECTED };

export const INCIDENCE: CurveKind = {
  word: "incidence",
  letter: "F",
  start: 0,
  expected:
    "expected columns F(90), F(180), … named by their times, or F1, F2, … FT (the incidence at the end of each time " +
    "bin) and the horizon",
};

const NUMBER = "([0-9]+(?:\\.[0-9]*)?(?:[eE][-+]?[0-9]+)?)";
const BARE_TIME = new RegExp(`^${NUMBER}$`);
const namedByBin = ({ letter }: CurveKind) => new RegExp(`^${letter}([1-9][0-9]*)$`);
const namedByTime = ({ letter }: CurveKind) => new RegExp(`^${letter}(?:\\(${NUMBER}\\)|_${NUMBER})$`);

export function findCurveColumns(table: Table, kind: CurveKind = SURVIVAL): CurveColumns {
  const byBin = new Map<number, Column>();
  const bins = namedByBin(kind);
  for (const column of table.columns) {
    const match = bins.exec(column.name);
    if (match) byBin.set(Number(match[1]), column);
  }
  if (byBin.size > 0) return { columns: inBinOrder(table, byBin, kind), times: null };
  for (const pattern of [namedByTime(kind), BARE_TIME]) {
    const named = table.columns.flatMap((column) => {
      const match = pattern.exec(column.name);
      return match === null ? [] : [{ column, time: Number(match[1] ?? match[2]) }];
    });
    if (named.length > 0) return inTimeOrder(table, named, kind);
  }
  throw new InputError(`no ${kind.word} columns: ${kind.letter}1, ${kind.letter}2, …`, {
    code: "curves.none",
    where: table.name,
    hint: kind.expected,
  });
}

/** Whether a table's columns are named as curves of this kind. */
export function hasNamedCurves(table: Table, kind: CurveKind): boolean {
  const patterns = [namedByBin(kind), namedByTime(kind)];
  return table.columns.some(({ name }) => patterns.some((pattern) => pattern.test(name)));
}

function inBinOrder(
  table: Table,
  byBin: ReadonlyMap<number, Column>,
  { letter, expected }: CurveKind,
): readonly Column[] {
  let T = 0;
  for (const t of byBin.keys()) if (t > T) T = t;
  const missing: number[] = [];
  // T comes from a column name and may be anything: stop looking when there is enough to report.
  for (let t = 1; t <= T && missing.length < MAX_ROWS_NAMED; t++) if (!byBin.has(t)) missing.push(t);
  if (missing.length > 0) {
    const shown = missing.map((t) => `${letter}${t}`).join(", ");
    const rest = T - byBin.size - missing.length;
    const more = rest > 0 ? ` (and ${rest} more)` : "";
    throw new InputError(`missing columns between ${letter}1 and ${letter}${T}: ${shown}${more}`, {
      code: "curves.hole",
      where: table.name,
      hint: expected,
    });
  }
  return Array.from(byBin.keys())
    .sort((a, b) => a - b)
    .flatMap((t) => byBin.get(t) ?? []);
}

interface NamedColumn {
  readonly column: Column;
  readonly time: number;
}

function inTimeOrder(table: Table, named: readonly NamedColumn[], kind: CurveKind): CurveColumns {
  const ordered = named.toSorted((a, b) => a.time - b.time);
  const twin = ordered.findIndex(({ time }, k) => k > 0 && time === ordered[k - 1].time);
  if (twin !== -1) {
    const names = [ordered[twin - 1], ordered[twin]].map(({ column }) => `"${column.name}"`);
    throw new InputError(`two ${kind.word} columns for one time: ${names.join(" and ")}`, {
      code: "curves.time",
      where: table.name,
      hint: "every time has one column",
    });
  }
  for (const { column, time } of ordered) if (time === 0) checkStart(table, column, kind);
  const later = ordered.filter(({ time }) => time > 0);
  if (later.length === 0 || later.length > MAX_BINS || !Number.isFinite(later[later.length - 1].time)) {
    throw new InputError(`cannot audit curves with ${later.length} times after 0`, {
      code: "curves.time",
      where: table.name,
      hint: `expected columns of 1 to ${MAX_BINS} times, each a number above 0`,
    });
  }
  return {
    columns: later.map(({ column }) => column),
    times: Float64Array.from(later, ({ time }) => time),
  };
}

/** Everyone is free of the event at time 0. */
function checkStart(table: Table, column: Column, { word, start }: CurveKind): void {
  const values = column.type === "number" ? column.values : null;
  const bad: number[] = [];
  for (let row = 0; row < table.rows; row++) if (values === null || values[row] !== start) bad.push(row + 1);
  if (bad.length === 0) return;
  throw new InputError(`${word} at time 0 is not ${start}`, {
    code: "curves.start",
    where: `${placeRows(table, bad)}, column "${column.name}"`,
    hint: "leave the column of time 0 out if the curves begin later",
  });
}

/** The bins that curves are given on, where the outcome comes from a table: their own times, or T up to a horizon. */
export function gridOfColumns(
  times: Float64Array | null,
  T: number,
  horizon: number | undefined,
  { word, letter }: CurveKind,
): TimeGrid {
  if (times === null) {
    if (horizon !== undefined) return equalTimeGrid(T, horizon);
    throw new InputError(`the bins ${letter}1, ${letter}2, … have no times`, {
      code: "outcomes.options",
      hint: `give the end of the last with --horizon TIME, or name the columns by their times: ${letter}(90)`,
    });
  }
  if (horizon !== undefined) {
    throw new InputError(`the ${word} columns are named by their times: they need no horizon`, {
      code: "outcomes.options",
      hint: "leave --horizon out; the last column is the horizon",
    });
  }
  return { kind: "quantile", T, edges: Float64Array.of(0, ...times) };
}
