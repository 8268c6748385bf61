/**
 * Cuts a column into cells, from which candidate groups are made: the levels of a category, true and false, the
 * different values of a number that has few, or ranges of one that has many (and of dates), between cuts near
 * quantiles. Numbers and dates are ordered: any run of neighbouring cells is a candidate too. Missing values are a cell
 * of their own. Every run can be written as an expression (group-expression.ts), with cuts rounded as far as the
 * quantiles allow: `age >= 75`, not `age >= 75.3`. Only the features are looked at, never the outcome.
 */
import { countAtMost, countBelow } from "../../core/ascending.ts";
import { log10, powerOfTen } from "../../core/elementary.ts";
import { type Column, dateText, isMissing } from "../table.ts";
import type { Comparison, GroupExpression, GroupValue } from "./group-expression.ts";

/** Cells first…last, both included. */
export interface CellRun {
  readonly first: number;
  readonly last: number;
}

export interface CellColumn {
  readonly name: string;
  readonly codes: Int32Array; // [N], the cell of each row, −1 = in none
  readonly cells: number;
  /** Cells 0…ordered−1 are neighbours; each of the others stands alone. */
  readonly ordered: number;
  /** The runs that are candidates: neither everyone nor everyone with a value. */
  readonly runs: readonly CellRun[];
  describe(run: CellRun): GroupExpression;
}

export interface CutOptions {
  /** Most cells of an ordered column, the missing one not counted. */
  readonly cells: number;
  /** Rows that decide where the cuts are; all unless given. */
  readonly rows?: ArrayLike<number>;
  /** Share of a cell by which a cut may move to a rounder number (0.25). */
  readonly rounding?: number;
}

/** Most levels of a category that form cells, the most frequent ones; rarer levels are too small to be tested. */
const MAX_LEVELS = 40;
const ROUNDING_SHARE = 0.25;

/** Null when fewer than two cells would have rows. */
export function cutColumn(column: Column, options: CutOptions): CellColumn | null {
  const N = column.type === "category" ? column.codes.length : column.values.length;
  const rows = options.rows ?? Int32Array.from({ length: N }, (_, row) => row);
  const cut =
    column.type === "category" || column.type === "boolean"
      ? cutLevels(column, rows)
      : cutRanges(column, rows, options);
  const { name } = column;
  let hasMissing = false;
  for (let k = 0; k < rows.length && !hasMissing; k++) hasMissing = isMissing(column, rows[k]);
  const cells = cut.cells + (hasMissing ? 1 : 0);
  if (cells < 2) return null;
  const missingCell = hasMissing ? cut.cells : -1;
  const codes = new Int32Array(N);
  for (let row = 0; row < N; row++) codes[row] = isMissing(column, row) ? missingCell : cut.cellOf(row);
  const ordered = cut.ordered ? cut.cells : 0;
  const runs = listRuns(ordered, cells);
  const describe = (run: CellRun): GroupExpression =>
    run.first === missingCell ? { type: "missing", column: name } : cut.describe(run);
  return { name, codes, cells, ordered, runs, describe };
}

/** Keyed by the numbers of cells: thousands of columns share the few lists there are. */
const runsOf = new Map<string, readonly CellRun[]>();

function listRuns(ordered: number, cells: number): readonly CellRun[] {
  const key = `${ordered} ${cells}`;
  const known = runsOf.get(key);
  if (known !== undefined) return known;
  const runs: CellRun[] = [];
  for (let first = 0; first < ordered; first++) {
    for (let last = first; last < ordered; last++) {
      if (first > 0 || last < ordered - 1) runs.push({ first, last });
    }
  }
  for (let cell = ordered; cell < cells; cell++) runs.push({ first: cell, last: cell });
  runsOf.set(key, runs);
  return runs;
}

interface Cut {
  readonly ordered: boolean;
  /** The missing one not counted. */
  readonly cells: number;
  cellOf(row: number): number;
  describe(run: CellRun): GroupExpression;
}

function cutLevels(column: Extract<Column, { type: "category" | "boolean" }>, rows: ArrayLike<number>): Cut {
  const { name } = column;
  const values: readonly GroupValue[] = column.type === "category" ? column.levels : [false, true];
  const codeOf = (row: number) => (column.type === "category" ? column.codes[row] : column.values[row]);
  const counts = new Int32Array(values.length);
  for (let i = 0; i < rows.length; i++) if (!isMissing(column, rows[i])) counts[codeOf(rows[i])]++;
  const kept = Array.from(values.keys())
    .filter((code) => counts[code] > 0)
    .sort((a, b) => counts[b] - counts[a] || a - b)
    .slice(0, MAX_LEVELS)
    .sort((a, b) => a - b);
  const cellOfCode = new Int32Array(values.length).fill(-1);
  kept.forEach((code, cell) => {
    cellOfCode[code] = cell;
  });
  return {
    ordered: false,
    cells: kept.length,
    cellOf: (row) => cellOfCode[codeOf(row)],
    describe: ({ first }) => ({
      type: "compare",
      column: name,
      comparison: "=",
      value: values[kept[first]],
    }),
  };
}

function cutRanges(
  column: Extract<Column, { type: "number" | "date" }>,
  rows: ArrayLike<number>,
  { cells, rounding = ROUNDING_SHARE }: CutOptions,
): Cut {
  const { name, values, type } = column;
  const sorted = Float64Array.from(rows, (row) => values[row])
    .filter((value) => !Number.isNaN(value))
    .sort();
  const distinct = countDistinct(sorted, cells);
  // Cell k holds the values from its bound up to the next; the first bound is never written.
  const bounds = distinct ?? [
    Number.NEGATIVE_INFINITY,
    ...chooseCuts(sorted, { cells, rounding }, type === "date"),
  ];
  const write = (value: number) => (type === "date" ? dateText(value) : value);
  const compare = (comparison: Comparison, value: GroupValue): GroupExpression => ({
    type: "compare",
    column: name,
    comparison,
    value,
  });
  const describe = ({ first, last }: CellRun): GroupExpression => {
    const lower = first === 0 ? null : write(bounds[first]);
    const isLast = last === bounds.length - 1;
    // Few values are named themselves; ranges end before the next cut.
    const upper = isLast ? null : write(distinct ? bounds[last] : bounds[last + 1]);
    const included = distinct !== null;
    if (included && first === last) return compare("=", write(bounds[first]));
    if (lower !== null && upper === null) return compare(">=", lower);
    if (lower === null && upper !== null) return compare(included ? "<=" : "<", upper);
    if (lower === null || upper === null) return { type: "not", term: { type: "missing", column: name } };
    return { type: "range", column: name, lower, lowerIncluded: true, upper, upperIncluded: included };
  };
  // The last cell whose bound is at most the value; the first for one below all bounds, whose row decided no cut.
  const cellOf = (row: number) => Math.max(countAtMost(bounds, values[row]) - 1, 0);
  return { ordered: true, cells: bounds.length, cellOf, describe };
}

/** The different values, when there are no more than `most`. */
function countDistinct(sorted: Float64Array, most: number): number[] | null {
  const distinct: number[] = [];
  for (const value of sorted) {
    if (distinct.length > 0 && value === distinct[distinct.length - 1]) continue;
    if (distinct.length === most) return null;
    distinct.push(value);
  }
  return distinct;
}

/** Cuts near the quantiles k/cells, ascending; a cut c divides x < c from x >= c. */
function chooseCuts(
  sorted: Float64Array,
  { cells, rounding }: Required<Omit<CutOptions, "rows">>,
  wholeDays: boolean,
): number[] {
  const n = sorted.length;
  const slack = Math.floor((rounding * n) / cells);
  const cuts: number[] = [];
  for (let k = 1; k < cells; k++) {
    const wanted = Math.floor((k * n) / cells);
    // Where a tie spans the quantile, the cut is at its nearer end.
    const start = countBelow(sorted, sorted[wanted]);
    const end = countAtMost(sorted, sorted[wanted]);
    const at = wanted - start <= end - wanted || end === n ? start : end;
    if (at === 0) continue;
    const previous = cuts.length > 0 ? cuts[cuts.length - 1] : sorted[0];
    const above = Math.max(sorted[Math.max(at - 1 - slack, 0)], previous);
    const upTo = sorted[Math.min(at + slack, n - 1)];
    const tight = roundBetween(Math.max(sorted[at - 1], previous), sorted[at], sorted[at], wholeDays);
    const cut = roundBetween(above, upTo, sorted[at], wholeDays) ?? tight;
    if (cut !== null && cut > previous) cuts.push(cut);
  }
  return cuts;
}

/** Decimal digits below the size of the interval that are tried before the value itself is taken. */
const ROUNDING_STEPS = 12;
/** Digits kept of a multiple of a power of ten: removes the product's rounding (3 · 0.1). */
const MULTIPLE_DIGITS = 12;

/**
 * The roundest number in (above, upTo], the nearest to `target` among equally round ones; null when dates leave no
 * whole day.
 */
function roundBetween(above: number, upTo: number, target: number, wholeDays: boolean): number | null {
  if (!(upTo > above)) return null;
  const largest = Math.ceil(log10(Math.max(Math.abs(above), Math.abs(upTo), upTo - above)));
  const steps = wholeDays ? [1] : roundSteps(largest);
  for (const step of steps) {
    const highest = Math.floor(upTo / step);
    const lowest = Math.floor(above / step) + 1;
    const multiple = Math.min(Math.max(Math.round(target / step), lowest), highest);
    const value = Number((multiple * step).toPrecision(MULTIPLE_DIGITS));
    if (value > above && value <= upTo) return value === 0 ? 0 : value;
  }
  return wholeDays ? null : target;
}

const stepsOf = new Map<number, readonly number[]>();

/** … 100, 50, 10, 5, 1, 0.5 … */
function roundSteps(largest: number): readonly number[] {
  const known = stepsOf.get(largest);
  if (known !== undefined) return known;
  const powers = Array.from({ length: ROUNDING_STEPS }, (_, k) => powerOfTen(largest - k));
  const steps = powers.flatMap((power) => [power, power / 2]);
  stepsOf.set(largest, steps);
  return steps;
}
