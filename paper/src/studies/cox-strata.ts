/**
 * The simplest rival of a model that is constrained by group: Cox's model with natural splines of every number, and
 * either a baseline hazard for every stratum of the groups (a row's stratum is which of the groups it is in), or one
 * baseline and a 0/1 column for each group. It is R's
 *   coxph(Surv(time, event) ~ ns(x1, 4) + ns(x2, 4) + … + strata(g1, g2, …))
 * (test/oracles/cox/spline-strata.R): knots at the quartiles, linear beyond the range. Here a number keeps its column
 * and gains three bends,
 *   bₖ(u) = (u − κₖ)₊³ − (u − κ₃)₊³ (κ₄ − κₖ)/(κ₄ − κ₃) + (u − κ₄)₊³ (κ₃ − κₖ)/(κ₄ − κ₃),   u in [0, 1] on the range,
 * which span what ns(x, 4) spans. A number whose five knots are not distinct stays as it is, as R's ns has no basis for
 * it. A missing number is the median of the rows learnt from, with a 0/1 column that says so.
 */
import { InputError } from "graduate-survival/core";
import {
  addGroupColumns,
  type Column,
  type Curves,
  type Encoder,
  encode,
  fitEncoder,
  type Group,
  type NumberColumn,
  pickOutcomes,
  type RightCensored,
  type Table,
  type TimeGrid,
} from "graduate-survival/data";
import { type CoxFit, coxCurvesOnGrid, fitCox } from "graduate-survival/models";
import { membersAmong } from "../runs/fit.ts";

/** Where a number's spline bends, and what stands for a missing value. */
interface Knots {
  readonly column: string;
  /** Least value, quartiles, largest. */
  readonly at: readonly number[]; // [5], ascending
}

export interface SplineCoxRequest {
  readonly table: Table;
  readonly outcomes: RightCensored;
  /** Rows to learn from. */
  readonly rows: Int32Array;
  readonly features: readonly string[];
  /** A 0/1 column for each. */
  readonly terms: readonly Group[];
  /** A baseline hazard for every combination of them that occurs. */
  readonly strata: readonly Group[];
}

/** Rows learnt from and events among them, by stratum. */
export interface Stratum {
  readonly rows: number;
  readonly events: number;
}

/** The strata of the rows learnt from. */
export interface Strata {
  readonly strata: readonly Stratum[];
  /** Of each row learnt from. */
  readonly codes: Int32Array;
  /** The stratum of each row of a table, −1 where nobody learnt from was in it. */
  placeRows(table: Table): Int32Array;
}

export interface SplineCox extends Strata {
  readonly fit: CoxFit;
  /** Of all rows or of some. Where a stratum has no event, or is new, curves stay at 1: nothing is known of it. */
  predictCurves(table: Table, grid: TimeGrid, rows?: ArrayLike<number>): Curves;
}

export function fitSplineCox(request: SplineCoxRequest): SplineCox {
  const { table, outcomes, rows, features, terms } = request;
  const knots = fitKnots(table, features, rows);
  const added = terms.length === 0 ? [] : namesAdded(table, addGroupColumns(table, terms));
  const widen = (one: Table) => addGroupColumns(addBends(one, knots), terms);
  const names = [...features, ...knots.flatMap(({ column }) => nameBends(column)), ...added];
  const wide = widen(table);
  const encoder = fitEncoder(wide, {
    features: names,
    rows,
    missingIndicator: true,
    reference: "drop",
    standardise: false,
    unknownLevels: "allow",
  });
  const own = openStrata(request);
  const { values: x } = encode(encoder, wide, rows);
  const { names: columns } = encoder;
  const { time, event } = pickOutcomes(outcomes, rows);
  const fit = fitCox({ time, event, x, D: columns.length, names: columns, strata: own.codes });
  if (!fit.converged)
    throw new InputError(`the fit did not converge in ${fit.iterations} steps`, { code: "cox.notConverged" });
  return {
    ...own,
    fit,
    predictCurves: (one, grid, chosen) => predictStrata({ ...own, fit, encoder, widen }, one, grid, chosen),
  };
}

interface Predictor extends Strata, Pick<SplineCox, "fit"> {
  readonly encoder: Encoder;
  readonly widen: (table: Table) => Table;
}

function predictStrata(
  { fit, encoder, placeRows, widen, strata }: Predictor,
  table: Table,
  { edges, T }: TimeGrid,
  chosen: ArrayLike<number> = Int32Array.from({ length: table.rows }, (_, row) => row),
): Curves {
  const rows = Int32Array.from(chosen);
  const survival = new Float64Array(rows.length * T);
  const places = placeRows(table);
  const wide = widen(table);
  for (const place of new Set(Array.from(rows, (row) => places[row]))) {
    const members = Int32Array.from(rows.keys()).filter((k) => places[rows[k]] === place);
    const baseline = fit.baselines.find(({ stratum }) => stratum === place);
    if (baseline === undefined || strata[place].events === 0) {
      for (const k of members) survival.fill(1, k * T, k * T + T);
      continue;
    }
    const { values } = encode(
      encoder,
      wide,
      members.map((k) => rows[k]),
    );
    const own = coxCurvesOnGrid({ ...fit, baseline }, values, edges).survival;
    members.forEach((k, at) => {
      survival.set(own.subarray(at * T, at * T + T), k * T);
    });
  }
  return { N: rows.length, T, survival };
}

/** A stratum is a combination of the groups that a row is in. */
export function openStrata({
  table,
  outcomes,
  rows,
  strata: groups,
}: Pick<SplineCoxRequest, "table" | "outcomes" | "rows" | "strata">): Strata {
  const keysOf = (one: Table): string[] => {
    const letters = Array.from({ length: one.rows }, () => groups.map(() => "0"));
    membersAmong(groups, one).forEach((members, g) => {
      for (const row of members.rows) letters[row][g] = "1";
    });
    return letters.map((own) => own.join(""));
  };
  const keys = keysOf(table);
  const placeOf = new Map(
    [...new Set(Array.from(rows, (row) => keys[row]))].sort().map((key, k) => [key, k]),
  );
  const place = (key: string) => placeOf.get(key) ?? -1;
  const codes = Int32Array.from(rows, (row) => place(keys[row]));
  const strata = Array.from({ length: placeOf.size }, () => ({ rows: 0, events: 0 }));
  rows.forEach((row, k) => {
    strata[codes[k]].rows++;
    strata[codes[k]].events += outcomes.event[row];
  });
  return { strata, codes, placeRows: (one) => Int32Array.from(keysOf(one), place) };
}

/** Of a model that is stratified, and of people it is to predict. */
export interface StrataCounts {
  /** Among the rows learnt from. */
  readonly strata: number;
  readonly withoutEvents: number;
  /** People whose stratum has no event, or is new. */
  readonly lost: number;
}

/** Of all rows of a table, or of some. */
export function countLost({ strata, placeRows }: Strata, table: Table, rows?: Int32Array): StrataCounts {
  const all = placeRows(table);
  const places = rows === undefined ? all : rows.map((row) => all[row]);
  return {
    strata: strata.length,
    withoutEvents: strata.filter(({ events }) => events === 0).length,
    lost: places.filter((place) => place < 0 || strata[place].events === 0).length,
  };
}

const nameBends = (column: string) => [1, 2, 3].map((k) => `${column} bend ${k}`);

function namesAdded(table: Table, wide: Table): string[] {
  const known = new Set(table.columns.map(({ name }) => name));
  return wide.columns.map(({ name }) => name).filter((name) => !known.has(name));
}

const isNumber = (column: Column): column is NumberColumn => column.type === "number";

/** Of the numbers among the features whose knots are distinct. */
function fitKnots(table: Table, features: readonly string[], rows: Int32Array): Knots[] {
  return table.columns.filter(isNumber).flatMap(({ name, values }) => {
    if (!features.includes(name)) return [];
    const known = Float64Array.from(rows, (row) => values[row]).filter((value) => !Number.isNaN(value));
    known.sort();
    const at = [0, 1, 2, 3, 4].map((quarters) => quantileOf(known, quarters / 4));
    return at.every((knot, k) => k === 0 || knot > at[k - 1]) ? [{ column: name, at }] : [];
  });
}

/** R's quantile of type 7, of ascending values. */
function quantileOf(sorted: Float64Array, share: number): number {
  const place = (sorted.length - 1) * share;
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

function addBends(table: Table, knots: readonly Knots[]): Table {
  const columns = knots.flatMap(({ column, at }): Column[] => {
    const own = table.columns.filter(isNumber).find(({ name }) => name === column);
    if (own === undefined)
      throw new InputError(`missing column "${column}"`, { code: "column.missing", where: table.name });
    const [least, , median, , largest] = at;
    const scale = (value: number) => (value - least) / (largest - least);
    const inside = at.map(scale);
    return nameBends(column).map((name, k) => ({
      name,
      type: "number",
      values: own.values.map((value) => bend(scale(Number.isNaN(value) ? median : value), inside, k)),
    }));
  });
  return { ...table, columns: [...table.columns, ...columns] };
}

/** Cubic between the knots and linear beyond them. */
function bend(u: number, knots: readonly number[], k: number): number {
  const [nextToLast, last] = [knots[3], knots[4]];
  const cube = (knot: number) => (u > knot ? (u - knot) ** 3 : 0);
  const share = (last - knots[k]) / (last - nextToLast);
  return cube(knots[k]) - cube(nextToLast) * share + cube(last) * (share - 1);
}
