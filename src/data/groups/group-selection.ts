/**
 * Groups chosen by rule (paper, "Subpopulations"): the values of categorical columns, then crosses of two columns, of
 * three and so on, by decreasing size in the training rows; a group of fewer than minRows rows, or one that overlaps
 * more than maxOverlap with a group chosen before it, is left out. With A the new group and B an earlier one, the
 * overlap is
 *   new      |A ∩ B| / |A|      earlier  |A ∩ B| / |B|      jaccard  |A ∩ B| / |A ∪ B|
 * The paper's words say `new`; its counts come from `earlier` and single columns, which are the defaults here
 * (docs/decisions/004-automatic-groups.md). Only training rows are looked at; a missing value forms no group.
 */
import { InputError } from "../../core/errors.ts";
import { type Column, findColumn, isMissing, type Table } from "../table.ts";
import { formatGroup, type GroupExpression, type GroupValue } from "./group-expression.ts";
import { evaluateNamedGroup } from "./group-members.ts";
import type { Group } from "./groups.ts";

export type OverlapDefinition = "new" | "earlier" | "jaccard";

/** Which groups the automatic rule may make. */
export interface AutomaticGroupOptions {
  /**
   * Columns whose values form groups, in listing order. Default: category and boolean columns, and number columns with
   * at most MAX_DISTINCT_INTEGERS different values, all whole.
   */
  readonly columns?: readonly string[];
  /** Columns the default leaves out, e.g. those of the outcome; columns that are named are used. */
  readonly exclude?: readonly string[];
  /** Most columns crossed in one group (1). */
  readonly maxCross?: number;
  /** Fewest training rows of a group (100). */
  readonly minRows?: number;
  /** What the shared rows are a share of: the new group, the earlier one, or both together. */
  readonly overlap?: OverlapDefinition;
  /** A greater overlap rejects (0.8). */
  readonly maxOverlap?: number;
  /** Most groups to choose (no limit). */
  readonly limit?: number;
  /** Groups that count as chosen before (none). */
  readonly chosen?: readonly Group[];
}

export const DEFAULT_MAX_CROSS = 1;
/** The paper's value. */
export const DEFAULT_MIN_ROWS = 100;
/** The paper's value. */
export const DEFAULT_MAX_OVERLAP = 0.8;
/**
 * Codes such as stages, study numbers and decile groups have at most this many values; ages and measurements have more.
 */
export const MAX_DISTINCT_INTEGERS = 12;

/** A column's values in the training rows, as indices into its distinct values in ascending order. */
interface CodedColumn {
  readonly name: string;
  readonly codes: Int32Array; // one per training row, −1 = missing
  readonly values: readonly GroupValue[];
}

interface Candidate {
  /** Indices into the coded columns, ascending, and the code in each. */
  readonly columns: readonly number[];
  readonly codes: readonly number[];
  /** Positions among the training rows. */
  readonly rows: Int32Array;
}

/** Groups chosen before that have no row in common: those formed by the same columns, or a named group by itself. */
interface DisjointChosen {
  readonly groupOfRow: Int32Array; // one per training row, −1 = in none
  readonly sizes: number[];
}

/** Makes groups from the values of columns, largest first, by size and overlap alone. */
export function selectGroups(
  table: Table,
  trainingRows: ArrayLike<number>,
  options: AutomaticGroupOptions = {},
): Group[] {
  const { maxCross = DEFAULT_MAX_CROSS, minRows = DEFAULT_MIN_ROWS, overlap = "earlier" } = options;
  const { maxOverlap = DEFAULT_MAX_OVERLAP, limit = Number.POSITIVE_INFINITY, chosen = [] } = options;
  requireOption("maxCross", maxCross, Number.isInteger(maxCross) && maxCross >= 1);
  requireOption("minRows", minRows, Number.isInteger(minRows) && minRows >= 1);
  requireOption("maxOverlap", maxOverlap, maxOverlap >= 0 && maxOverlap <= 1);
  requireOption("limit", limit, limit >= 0);

  const columns = codeColumns(table, trainingRows, options);
  const candidates = listCandidates(columns, trainingRows.length, maxCross, minRows).sort(compareCandidates);
  const named = chosen.map((group): DisjointChosen => {
    const inTable = evaluateNamedGroup(group, table);
    const groupOfRow = Int32Array.from(trainingRows, (row) => inTable[row] - 1);
    return { groupOfRow, sizes: [groupOfRow.reduce((size, group) => size + group + 1, 0)] };
  });

  const selected: Group[] = [];
  const ofColumns = new Map<string, DisjointChosen>();
  for (const candidate of candidates) {
    if (selected.length >= limit) break;
    const overlaps = (earlier: DisjointChosen) => measureOverlap(candidate, earlier, overlap) > maxOverlap;
    if ([...named, ...ofColumns.values()].some(overlaps)) continue;
    const key = candidate.columns.join(" ");
    const same = ofColumns.get(key) ?? {
      groupOfRow: new Int32Array(trainingRows.length).fill(-1),
      sizes: [],
    };
    ofColumns.set(key, same);
    for (const row of candidate.rows) same.groupOfRow[row] = same.sizes.length;
    same.sizes.push(candidate.rows.length);
    const expression = formatGroup(describeCandidate(candidate, columns));
    selected.push({ name: expression, expression });
  }
  return selected;
}

function requireOption(name: string, value: number, valid: boolean): void {
  if (!valid) throw new InputError(`automatic groups: ${name} cannot be ${value}`, { code: "group.option" });
}

function codeColumns(
  table: Table,
  trainingRows: ArrayLike<number>,
  options: AutomaticGroupOptions,
): CodedColumn[] {
  const named = options.columns?.map((name) => findColumn(table, name));
  if (named !== undefined) {
    const repeated = named.find((column, i) => named.indexOf(column) !== i);
    if (repeated) {
      throw new InputError(`automatic groups: column "${repeated.name}" is named twice`, {
        code: "group.option",
      });
    }
    return named.map((column) => codeColumn(column, trainingRows, table));
  }
  return table.columns
    .filter(
      (column) =>
        !options.exclude?.includes(column.name) && column.type !== "date" && isNatural(column, trainingRows),
    )
    .map((column) => codeColumn(column, trainingRows, table));
}

/** Whether its values are groups by themselves: levels, true and false, and the few whole numbers of a code. */
export function isNatural(column: Column, rows: ArrayLike<number>): boolean {
  if (column.type !== "number") return true;
  const distinct = new Set<number>();
  for (let i = 0; i < rows.length; i++) {
    const value = column.values[rows[i]];
    if (Number.isNaN(value)) continue;
    distinct.add(value);
    if (!Number.isInteger(value) || distinct.size > MAX_DISTINCT_INTEGERS) return false;
  }
  return true;
}

function codeColumn(column: Column, trainingRows: ArrayLike<number>, table: Table): CodedColumn {
  const { name } = column;
  switch (column.type) {
    case "category": {
      const codes = Int32Array.from(trainingRows, (row) => column.codes[row]);
      return { name, codes, values: column.levels.map(readLevel) };
    }
    case "boolean": {
      const codes = Int32Array.from(trainingRows, (row) =>
        isMissing(column, row) ? -1 : column.values[row],
      );
      return { name, codes, values: [false, true] };
    }
    case "number": {
      const present = Float64Array.from(trainingRows, (row) => column.values[row]).filter(
        (x) => !Number.isNaN(x),
      );
      const values = Array.from(new Set(present.sort()));
      const codeOf = new Map(values.map((value, code) => [value, code]));
      return {
        name,
        codes: Int32Array.from(trainingRows, (row) => codeOf.get(column.values[row]) ?? -1),
        values,
      };
    }
    case "date":
      throw new InputError(`automatic groups: "${name}" is a date column`, {
        code: "group.type",
        where: table.name,
        hint: "name groups of dates yourself, e.g. 2003-01-01 <= visit < 2004-01-01",
      });
  }
}

/** A level that is a plain numeral is written as one: `stage = 2`, not `stage = "2"`. */
export function readLevel(level: string): GroupValue {
  return String(Number(level)) === level && Number.isFinite(Number(level)) ? Number(level) : level;
}

/** All combinations of values of up to maxCross columns that minRows training rows have. */
function listCandidates(
  columns: readonly CodedColumn[],
  N: number,
  maxCross: number,
  minRows: number,
): Candidate[] {
  const candidates: Candidate[] = [];
  const everyone: Candidate = {
    columns: [],
    codes: [],
    rows: Int32Array.from({ length: N }, (_, row) => row),
  };
  // A cross is never larger than what it refines, so a candidate that is too small is not refined further.
  const refine = (parent: Candidate) => {
    const first = (parent.columns.at(-1) ?? -1) + 1;
    for (let k = first; k < columns.length; k++) {
      const { codes, values } = columns[k];
      const ends = new Int32Array(values.length + 1);
      for (const row of parent.rows) if (codes[row] >= 0) ends[codes[row] + 1]++;
      for (let code = 0; code < values.length; code++) ends[code + 1] += ends[code];
      const starts = ends.slice();
      const sorted = new Int32Array(ends[values.length]); // the parent's rows by code
      for (const row of parent.rows) if (codes[row] >= 0) sorted[starts[codes[row]]++] = row;
      for (let code = 0; code < values.length; code++) {
        if (ends[code + 1] - ends[code] < minRows) continue;
        const rows = sorted.subarray(ends[code], ends[code + 1]);
        const candidate = { columns: [...parent.columns, k], codes: [...parent.codes, code], rows };
        candidates.push(candidate);
        if (candidate.columns.length < maxCross) refine(candidate);
      }
    }
  };
  refine(everyone);
  return candidates;
}

/** By decreasing size; of equal sizes fewer columns first, then columns in listing order, then values ascending. */
function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    b.rows.length - a.rows.length ||
    a.columns.length - b.columns.length ||
    compareNumbers(a.columns, b.columns) ||
    compareNumbers(a.codes, b.codes)
  );
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  const k = a.findIndex((value, i) => value !== b[i]);
  return k < 0 ? 0 : a[k] - b[k];
}

/** The largest overlap with one of the earlier groups. */
function measureOverlap(candidate: Candidate, earlier: DisjointChosen, overlap: OverlapDefinition): number {
  const common = new Int32Array(earlier.sizes.length);
  for (const row of candidate.rows) if (earlier.groupOfRow[row] >= 0) common[earlier.groupOfRow[row]]++;
  let largest = 0;
  earlier.sizes.forEach((size, group) => {
    if (common[group] === 0) return;
    const union = candidate.rows.length + size - common[group];
    const whole = overlap === "new" ? candidate.rows.length : overlap === "earlier" ? size : union;
    largest = Math.max(largest, common[group] / whole);
  });
  return largest;
}

function describeCandidate(candidate: Candidate, columns: readonly CodedColumn[]): GroupExpression {
  const terms = candidate.columns.map((k, i): GroupExpression => {
    const { name, values } = columns[k];
    return { type: "compare", column: name, comparison: "=", value: values[candidate.codes[i]] };
  });
  return terms.length === 1 ? terms[0] : { type: "and", terms };
}
