/**
 * An order of rows and columns that does not hang on how a table is written. What learns from a study takes rows in the
 * order of what they say: by outcome, then column by column, then by group. It takes columns by their names, and the
 * levels of a category by how often they occur. Numbers are turned so that more goes with more events than expected
 * without them. So what is learnt does not depend on the order of rows and columns, on the units, signs and zeros of
 * numbers, or on the names of levels. Rows that are equal in all of this keep the table's order.
 */
import { type ColumnEncoding, type Encoder, outputNames, placeColumns } from "../data/encode/encoder.ts";
import { pickOutcomes } from "../data/outcomes/outcomes.ts";
import { binOutcomes } from "../data/outcomes/time-grid.ts";
import { compareHashes, hashCells } from "../data/row-hash.ts";
import { type Column, findColumn, isMissing } from "../data/table.ts";
import { tallyBins } from "../stats/kaplan-meier.ts";
import type { Study } from "./study.ts";

/** Where the columns of x stand in this order, and which of them are turned. */
export interface ColumnOrder {
  /** Of each column of x its place, 0 … D−1. */
  readonly places: Int32Array; // [D]
  /** −1 for a column that is turned, otherwise 1. */
  readonly signs: Int8Array; // [D]
}

/** A column of the table in this order. */
interface OrderedColumn {
  readonly encoding: ColumnEncoding;
  readonly column: Column;
  /** The first of its columns of x, and how many there are. */
  readonly first: number;
  readonly width: number;
  /** −1 where fewer events than expected go with more of the number. */
  readonly sign: 1 | -1;
  /** Of a category: places of its levels, in the order of the table's levels; of levels without a column the last. */
  readonly levelPlaces: Int32Array;
  /** Places of the columns of x among these. */
  readonly own: readonly number[]; // [width]
}

type OrderedStudy = Pick<
  Study,
  | "encoder"
  | "widened"
  | "inputGroups"
  | "outcomes"
  | "causes"
  | "grid"
  | "fitRows"
  | "groups"
  | "people"
  | "columns"
  | "table"
>;

/** The order of the columns of x. */
export function orderColumns(study: OrderedStudy): ColumnOrder {
  const D = study.encoder.names.length;
  const places = new Int32Array(D);
  const signs = new Int8Array(D).fill(1);
  let before = 0;
  for (const { encoding, first, width, own, sign } of listColumns(study)) {
    own.forEach((place, k) => {
      places[first + k] = before + place;
    });
    before += width;
    if (encoding.type !== "number" && encoding.type !== "date") continue;
    signs[first] = sign;
    // Of the splines the first two are odd, and the others are the same for a number and its negative.
    const spline = first + (encoding.missingIndicator ? 2 : 1);
    if (encoding.spline?.mirrored) signs.fill(sign, spline, spline + 2);
  }
  return { places, signs };
}

/**
 * The encoder with its columns, levels and codes in this order: what sums over columns of x then does so in one order,
 * to the last bit.
 */
export function orderEncoder(study: OrderedStudy): Encoder {
  const columns = listColumns(study).map(({ encoding, own }): ColumnEncoding => {
    if (encoding.type === "boolean") return encoding;
    const pick = <Value>(values: readonly Value[], first: number) =>
      [...values.keys()].sort((a, b) => own[first + a] - own[first + b]).map((k) => values[k]);
    if (encoding.type === "category") {
      return encoding.dropFirst ? encoding : { ...encoding, levels: pick(encoding.levels, 0) };
    }
    const { codes } = encoding;
    return codes === undefined ? encoding : { ...encoding, codes: pick(codes, own.length - codes.length) };
  });
  return { ...study.encoder, columns, names: columns.flatMap(outputNames) };
}

/** The rows in the order of what they say. */
export function orderRows(study: OrderedStudy, rows: Int32Array): Int32Array {
  const { time, event, entry, weight } = study.outcomes;
  const outcomes = [time, event, nameCauses(study), entry, weight].filter((values) => values !== undefined);
  const columns = listColumns(study)
    .filter(({ column }) => !study.inputGroups.some((group) => `group: ${group.name}` === column.name))
    .map(compareCells);
  let rest: ((a: number, b: number) => number) | null = null;
  return rows.slice().sort((a, b) => {
    for (const values of outcomes) if (values[a] !== values[b]) return values[a] - values[b];
    for (const compare of columns) {
      const gap = compare(a, b);
      if (gap !== 0) return gap;
    }
    rest ??= compareMembers(study);
    return rest(a, b) || a - b;
  });
}

/** The causes, numbered by their names: not by the order in which they were asked for. */
function nameCauses({ outcomes: { cause }, causes }: OrderedStudy): Int32Array | undefined {
  if (cause === undefined || causes === null) return undefined;
  const sorted = causes.toSorted();
  return Int32Array.from(cause, (k) => (k > 0 ? 1 + sorted.indexOf(causes[k - 1]) : k));
}

/** By groups, then by person. */
function compareMembers({ groups, people, columns, table }: OrderedStudy): (a: number, b: number) => number {
  const members = groups.map(({ rows }) => {
    const isMember = new Uint8Array(table.rows);
    for (const row of rows) isMember[row] = 1;
    return isMember;
  });
  const { id } = columns;
  const ids = people === null || id === undefined ? null : hashCells([findColumn(table, id)], table.rows);
  return (a, b) => {
    for (const isMember of members) if (isMember[a] !== isMember[b]) return isMember[b] - isMember[a];
    return ids === null ? 0 : compareHashes(ids, a, b);
  };
}

/** Missing cells come last. */
function compareCells({ column, sign, levelPlaces }: OrderedColumn): (a: number, b: number) => number {
  if (column.type === "category") {
    const placeOf = (row: number) =>
      column.codes[row] < 0 ? levelPlaces.length : levelPlaces[column.codes[row]];
    return (a, b) => placeOf(a) - placeOf(b);
  }
  const { values } = column;
  return (a, b) => {
    const gap = sign * (values[a] - values[b]);
    return Number.isNaN(gap) ? Number(isMissing(column, a)) - Number(isMissing(column, b)) : gap;
  };
}

/** By name, and the columns of groups last, in the order of the groups. */
function listColumns(study: OrderedStudy): OrderedColumn[] {
  const { encoder, widened, inputGroups, fitRows } = study;
  const residuals = nullResiduals(study);
  const blocks = placeColumns(encoder.columns);
  const own = blocks.slice(0, blocks.length - inputGroups.length);
  const byName = own.sort((a, b) => (a.encoding.column < b.encoding.column ? -1 : 1));
  return [...byName, ...blocks.slice(blocks.length - inputGroups.length)].map((block) => {
    const { encoding, width } = block;
    const column = findColumn(widened, encoding.column);
    const plain = { ...block, column, sign: 1, levelPlaces: new Int32Array() } as const;
    const inOrder = Array.from({ length: width }, (_, k) => k);
    if (column.type === "boolean" || encoding.type === "boolean") return { ...plain, own: inOrder };
    if (column.type === "category") {
      if (encoding.type !== "category") return { ...plain, own: inOrder };
      const places = rankValues(
        encoding.levels,
        (row) => column.levels[column.codes[row]],
        fitRows,
        residuals,
      );
      return {
        ...plain,
        levelPlaces: Int32Array.from(column.levels, (level) => {
          const k = encoding.levels.indexOf(level);
          return k < 0 ? encoding.levels.length : places[k];
        }),
        own: encoding.dropFirst ? inOrder : inOrder.map((k) => places[k] ?? k),
      };
    }
    const codes = encoding.type === "category" ? [] : (encoding.codes ?? []);
    const places = rankValues(codes, (row) => column.values[row], fitRows, residuals);
    const firstCode = width - codes.length;
    return {
      ...plain,
      sign: signOf(column.values, fitRows, residuals),
      own: inOrder.map((k) => (k < firstCode ? k : firstCode + places[k - firstCode])),
    };
  });
}

/** Observed minus expected events of each of the rows that the study is fitted to, if nothing mattered but time. */
function nullResiduals({ outcomes, fitRows, grid }: OrderedStudy): Float64Array {
  const { cause: _, ...anyCause } = pickOutcomes(outcomes, fitRows);
  const binned = binOutcomes(anyCause, grid);
  const { events, atRisk } = tallyBins(binned);
  const cumulative = new Float64Array(events.length);
  for (let t = 1; t < events.length; t++)
    cumulative[t] = cumulative[t - 1] + (atRisk[t] > 0 ? events[t] / atRisk[t] : 0);
  const { bin, event, firstBin, weight } = binned;
  return Float64Array.from(bin, (last, i) => {
    const before = firstBin === undefined ? 0 : Math.min(firstBin[i] - 1, last);
    return (weight === undefined ? 1 : weight[i]) * (event[i] - (cumulative[last] - cumulative[before]));
  });
}

/** The sign of the covariance of a number with the residuals. */
function signOf(values: ArrayLike<number>, rows: Int32Array, residuals: Float64Array): 1 | -1 {
  let centre = Number.NaN;
  let [sum, total] = [0, 0];
  let [gaps, count] = [0, 0];
  rows.forEach((row, i) => {
    if (Number.isNaN(values[row])) return;
    if (Number.isNaN(centre)) centre = values[row];
    // Around a value of the number itself, so that one far from 0 loses no digits.
    const gap = values[row] - centre;
    sum += gap * residuals[i];
    total += residuals[i];
    gaps += gap;
    count++;
  });
  return sum - (total * gaps) / Math.max(count, 1) < 0 ? -1 : 1;
}

/** Places of values: the most frequent first, then by residuals, then as they stand. */
function rankValues<Value>(
  known: readonly Value[],
  readValue: (row: number) => Value,
  rows: Int32Array,
  residuals: Float64Array,
): Int32Array {
  const at = new Map(known.map((value, k) => [value, k]));
  const counts = new Int32Array(known.length);
  const scores = new Float64Array(known.length);
  if (known.length > 0) {
    rows.forEach((row, i) => {
      const k = at.get(readValue(row));
      if (k === undefined) return;
      counts[k]++;
      scores[k] += residuals[i];
    });
  }
  const order = [...known.keys()].sort((a, b) => counts[b] - counts[a] || scores[b] - scores[a] || a - b);
  const places = new Int32Array(known.length);
  order.forEach((k, place) => {
    places[k] = place;
  });
  return places;
}
