/**
 * `--auto-groups n`: n groups formed from what a model learns from, without naming any: the values of categories and
 * codes, and bands of numbers between round cuts near the quarters (`age < 45`, `45 <= age < 55`). Columns take turns,
 * categories and numbers alternating, so that one column with many values does not fill the list; a column called age
 * comes first among the numbers. Each column offers its largest group first. Rows, events and overlap decide as in
 * group-selection.ts (100 rows, at most 80 % of a group chosen before), and a group needs 10 events: with fewer,
 * nothing could be said about it. Only training rows are looked at.
 */

import { isNamedAsId } from "../checks/identifiers.ts";
import { type Column, findColumn, type Table } from "../table.ts";
import { type CellColumn, cutColumn } from "./candidate-groups.ts";
import { formatGroup, type GroupExpression } from "./group-expression.ts";
import { evaluateNamedGroup } from "./group-members.ts";
import {
  DEFAULT_MAX_OVERLAP,
  DEFAULT_MIN_ROWS,
  isNatural,
  MAX_DISTINCT_INTEGERS,
  readLevel,
} from "./group-selection.ts";
import type { Group } from "./groups.ts";

/** What the automatic rule may choose from, and how much. */
export interface AutomaticChoice {
  /** Columns that may form groups, in listing order. */
  readonly columns: readonly string[];
  /** Most groups to choose. */
  readonly limit: number;
  /** Groups that count as chosen before (none). */
  readonly chosen?: readonly Group[];
  readonly minRows?: number;
  readonly minEvents?: number;
  readonly maxOverlap?: number;
}

/** The least that can be audited (sanity.ts). */
const DEFAULT_MIN_EVENTS = 10;
/** Bands of a number: quarters, unless these have too few rows or events, then thirds, then halves. */
const BANDS = [4, 3, 2] as const;
/** Half a band: people think of ages in tens, and bands need not be equal. */
const BAND_ROUNDING = 0.5;
/** "age", "age_at_entry", "patient.age"; not "stage". */
const NAMED_AGE = /(^|[^a-z])age([^a-z]|$)/i;

interface Candidate {
  readonly expression: string;
  /** Positions among the training rows. */
  readonly rows: Int32Array;
}

/** Who is in a group, among the training rows. */
interface Members {
  readonly isIn: Uint8Array;
  readonly size: number;
}

/** Up to `limit` groups; `event` is of every row of the table. */
export function chooseAutomaticGroups(
  table: Table,
  trainingRows: Int32Array,
  event: Uint8Array,
  options: AutomaticChoice,
): Group[] {
  const { limit, chosen = [], maxOverlap = DEFAULT_MAX_OVERLAP } = options;
  const { minRows = DEFAULT_MIN_ROWS, minEvents = DEFAULT_MIN_EVENTS } = options;
  const taken: Members[] = chosen.map((group) => {
    const inTable = evaluateNamedGroup(group, table);
    const isIn = Uint8Array.from(trainingRows, (row) => inTable[row]);
    return { isIn, size: isIn.reduce((sum, one) => sum + one, 0) };
  });
  const names = new Set(chosen.map(({ name }) => name));
  const groups: Group[] = [];
  const columns = orderColumns(
    options.columns.map((name) => findColumn(table, name)),
    trainingRows,
  );
  /**
   * The remaining candidates of each column that has had a turn; cut at its first turn, since most turns may never
   * come.
   */
  const left = new Map<Column, Candidate[]>();
  const take = (column: Column): boolean => {
    const own = left.get(column) ?? listCandidates(column, trainingRows, event, { minRows, minEvents });
    left.set(column, own);
    for (let next = own.shift(); next !== undefined; next = own.shift()) {
      const { expression, rows } = next;
      if (names.has(expression) || taken.some((earlier) => shareOf(rows, earlier) > maxOverlap)) continue;
      const isIn = new Uint8Array(trainingRows.length);
      for (const row of rows) isIn[row] = 1;
      taken.push({ isIn, size: rows.length });
      names.add(expression);
      groups.push({ name: expression, expression });
      return true;
    }
    return false;
  };
  for (let open = columns; open.length > 0 && groups.length < limit; ) {
    open = open.filter((column) => groups.length < limit && take(column));
  }
  return groups;
}

/** |A ∩ B| / |B|, B chosen before. */
function shareOf(rows: Int32Array, { isIn, size }: Members): number {
  let common = 0;
  for (const row of rows) common += isIn[row];
  return size === 0 ? 0 : common / size;
}

/**
 * Categories and numbers by turns, in listing order; ages come first among the numbers. Dates and columns named like an
 * id form no groups.
 */
function orderColumns(columns: readonly Column[], rows: Int32Array): readonly Column[] {
  const known = columns.filter(({ name, type }) => type !== "date" && !isNamedAsId(name));
  const natural = known.filter((column) => isNatural(column, rows));
  const others = known.filter((column) => !natural.includes(column));
  const isAge = ({ name }: Column) => NAMED_AGE.test(name);
  const numbers = [...others.filter(isAge), ...others.filter((column) => !isAge(column))];
  const turns = Array.from({ length: Math.max(natural.length, numbers.length) }, (_, k) => k);
  return turns.flatMap((k) => [...natural.slice(k, k + 1), ...numbers.slice(k, k + 1)]);
}

type Fewest = Required<Pick<AutomaticChoice, "minRows" | "minEvents">>;

/**
 * The candidates that are large enough, largest first; for a number, the finest bands that are all large enough, or
 * else the most that are.
 */
function listCandidates(column: Column, rows: Int32Array, event: Uint8Array, fewest: Fewest): Candidate[] {
  let best: Candidate[] = [];
  for (const cells of isNatural(column, rows) ? [MAX_DISTINCT_INTEGERS] : BANDS) {
    const cut = cutColumn(column, { cells, rows, rounding: BAND_ROUNDING });
    if (cut === null) continue;
    const all = listCells(cut, rows);
    const own = all.filter(
      ({ rows: members }) =>
        members.length >= fewest.minRows &&
        members.reduce((sum, k) => sum + event[rows[k]], 0) >= fewest.minEvents,
    );
    if (own.length > best.length) best = own;
    if (own.length === all.length) break;
  }
  return best.sort((a, b) => b.rows.length - a.rows.length);
}

/** One candidate for each cell that has values; missing values form no group. */
function listCells({ cells, codes, describe }: CellColumn, rows: Int32Array): Candidate[] {
  const members = Array.from({ length: cells }, (): number[] => []);
  rows.forEach((row, k) => {
    if (codes[row] >= 0) members[codes[row]].push(k);
  });
  return members.flatMap((own, cell) => {
    const expression = describe({ first: cell, last: cell });
    if (expression.type === "missing" || expression.type === "not") return [];
    return [{ expression: formatGroup(writeNumerals(expression)), rows: Int32Array.from(own) }];
  });
}

function writeNumerals(expression: GroupExpression): GroupExpression {
  if (expression.type !== "compare" || typeof expression.value !== "string") return expression;
  return { ...expression, value: readLevel(expression.value) };
}
