/**
 * Predictions for people: beside the curve, what is read off it (the risk by some times, the times by which some shares
 * have had the event, the restricted mean), whose row it is, and what is doubtful about the row. A request is checked
 * before any row is read. Rows come all at once or in parts, and no part needs the others.
 */
import type { Backend } from "../../compute/backend.ts";
import { BackendScope } from "../../compute/memory.ts";
import { InputError } from "../../core/errors.ts";
import type { Measured } from "../../core/measured.ts";
import type { Curves } from "../../data/curves/curves.ts";
import { type DoubtfulCells, findDoubtfulCells } from "../../data/encode/doubtful-cells.ts";
import { encode } from "../../data/encode/encode.ts";
import { addGroupColumns, groupColumnName } from "../../data/groups/groups.ts";
import type { TimeGrid } from "../../data/outcomes/time-grid.ts";
import { cellText, checkRows, findColumn, placeRows, type Table } from "../../data/table.ts";
import {
  quantileTimes,
  refuseTime,
  restrictedMeanTimes,
  survivalAtTimes,
} from "../../stats/curve-readings.ts";
import type { Model } from "../../training/model.ts";
import {
  gridOf,
  medianTimes,
  type Prediction,
  prepareIncidence,
  preparePredictor,
  riskOf,
} from "../predict.ts";
import { type CurveBands, prepareBands } from "./bands.ts";
import { boundPeople, type LowerBound, type PeopleBounds } from "./lower-bound.ts";

/** What is wanted of every person; times are in the unit of the table that the model was trained on. */
export interface PeopleRequest {
  /** Times, from 0 to the horizon, by which the risk is wanted. */
  readonly at?: readonly number[];
  /** Shares, between 0 and 1: by when such a share of people like this one has had the event. */
  readonly quantiles?: readonly number[];
  /** A time, after 0 and up to the horizon, to which the restricted mean is wanted. */
  readonly rmst?: number;
  /** The column that says whose row it is; several rows of a person are fine. */
  readonly id?: string;
  /** Whether the one number by which the curves rank people is wanted too, see `riskOf`. */
  readonly ranking?: boolean;
  /** The level, between 0 and 1, of pointwise bands of the curves and of what is read off them. */
  readonly bands?: number;
  /** A calibrated bound, from which everyone's time is read. */
  readonly lowerBound?: LowerBound;
}

/** What a model of several causes says of each. */
export interface CausePeople {
  readonly names: readonly string[]; // [K]
  /** The probability of an event of each cause by the end of every bin. */
  readonly incidence: Float64Array; // [N,K,T]
  /** The same by each time of `at`. */
  readonly risk: Float64Array; // [N,K,at]
}

/** Curves, what was read off them, and what is doubtful about their rows. */
export interface PeoplePrediction extends Prediction {
  /** The probability of being event-free at each time of `at`. */
  readonly survival: Float64Array; // [N,at]
  /** The risk of having had the event by each time of `at`, 1 − survival. */
  readonly risk: Float64Array; // [N,at]
  /** The time of each share of `quantiles`; absent, with the reason, where the curve does not reach it. */
  readonly quantile: readonly Measured[]; // [N,quantiles]
  /** The mean time up to `rmst`; null where none was asked for. */
  readonly restrictedMean: Float64Array | null; // [N]
  /** Whose row it is, as the table has it, "" where it does not say; null where no column was named. */
  readonly id: readonly string[] | null; // [N]
  /** What `riskOf` gives; null where it was not asked for. */
  readonly ranking: Float64Array | null; // [N]
  /** Cells that call for caution, row by row. */
  readonly doubts: DoubtfulCells;
  /** Where the curves lie with the probability asked for; null where no bands were asked for. */
  readonly bands: PeopleBands | null;
  /** The time that the event exceeds with the probability asked for; null where none was asked for. */
  readonly bounds: PeopleBounds | null;
  /** Cause by cause, where the model tells them apart; curves are then those of no event at all. */
  readonly causes: CausePeople | null;
}

/** Bands of curves, and of what was read off them: the same readings of the lower and of the upper curves. */
export interface PeopleBands extends CurveBands {
  readonly ofLower: CurveReadings;
  readonly ofUpper: CurveReadings;
}

/** What is read off curves; the fields are those of PeoplePrediction. */
export type CurveReadings = Pick<PeoplePrediction, "median" | "survival" | "quantile" | "restrictedMean">;

/** Predicts people of a table, all of them unless rows are given. */
export type PredictPeople = (table: Table, rows?: ArrayLike<number>) => Promise<PeoplePrediction>;

/** Predicts the people of a table; `backend` is for networks, a Cox model needs none. */
export async function predictPeople(
  model: Model,
  table: Table,
  backend: Backend | null,
  request: PeopleRequest,
  rows?: ArrayLike<number>,
): Promise<PeoplePrediction> {
  if (backend === null) return preparePeople(model, null, request)(table, rows);
  const scope = new BackendScope(backend);
  try {
    return await preparePeople(model, scope, request)(table, rows);
  } finally {
    scope.end();
  }
}

/** Prepares a model once, for tables that come in parts; refuses a request that its curves cannot answer. */
export function preparePeople(model: Model, backend: Backend | null, request: PeopleRequest): PredictPeople {
  const grid = gridOf(model);
  checkPeopleRequest(request, grid);
  const { id, ranking = false, lowerBound } = request;
  const draw = request.bands === undefined ? null : prepareBands(model, backend, request.bands);
  const predictRows = preparePredictor(model, backend);
  const predictCauses = model.causes === undefined ? null : prepareCausePeople(model, backend, request);
  const made = model.inputGroups.map(groupColumnName);
  return async (table, rows) => {
    const predicted = await predictRows(table, rows);
    const { curves } = predicted;
    const readings = readCurves(curves, grid, request);
    const bands = draw && (await draw(table, curves, rows));
    return {
      ...predicted,
      ...readings,
      risk: readings.survival.map((S) => 1 - S),
      id: id === undefined ? null : readIds(table, id, rows),
      ranking: ranking ? riskOf(model, curves) : null,
      causes: predictCauses && (await predictCauses(table, rows)),
      doubts: findDoubtfulCells(model.encoder, table, rows, made),
      bounds: lowerBound === undefined ? null : boundPeople(lowerBound, table, curves, grid, rows),
      bands: bands && {
        ...bands,
        ofLower: readCurves({ ...curves, survival: bands.lower }, grid, request),
        ofUpper: readCurves({ ...curves, survival: bands.upper }, grid, request),
      },
    };
  };
}

function prepareCausePeople(
  model: Model,
  backend: Backend | null,
  { at = [], lowerBound }: PeopleRequest,
): (table: Table, rows?: ArrayLike<number>) => Promise<CausePeople> {
  if (lowerBound !== undefined) {
    throw new InputError("a lower bound of the time is of one kind of event, and the model has several", {
      code: "bound.causes",
      hint: "ask for risks by cause: --at TIME",
    });
  }
  const grid = gridOf(model);
  const names = model.causes ?? [];
  const K = names.length;
  const compute = prepareIncidence(model, backend, grid);
  return async (table, rows) => {
    const features = encode(model.encoder, addGroupColumns(table, model.inputGroups), rows);
    const incidence = await compute(features);
    const free = incidence.map((F) => 1 - F);
    const curves = { N: features.N * K, T: grid.T, survival: free };
    const risk = survivalAtTimes(curves, grid, at).map((S) => 1 - S);
    return { names, incidence, risk };
  };
}

function readCurves(
  curves: Curves,
  grid: TimeGrid,
  { at = [], quantiles = [], rmst }: PeopleRequest,
): CurveReadings {
  return {
    median: medianTimes(curves, grid),
    survival: survivalAtTimes(curves, grid, at),
    quantile: quantileTimes(curves, grid, quantiles),
    restrictedMean: rmst === undefined ? null : restrictedMeanTimes(curves, grid, rmst),
  };
}

/** Refuses times that are none or lie after the horizon, shares that are none, and what is named twice. */
export function checkPeopleRequest({ at = [], quantiles = [], rmst }: PeopleRequest, grid: TimeGrid): void {
  for (const time of at) refuseTime(grid, time, "time");
  refuseTwice(at.map(String), { what: "time", code: "time.duplicate" });
  for (const share of quantiles) {
    if (share > 0 && share < 1) continue;
    throw new InputError(`quantile is not between 0 and 1: ${share}`, {
      code: "share.invalid",
      hint: "0.25 asks for the time by which a quarter of people have had the event",
    });
  }
  refuseTwice(quantiles.map(formatPercent), { what: "quantile, in percent,", code: "share.duplicate" });
  if (rmst === undefined) return;
  refuseTime(grid, rmst, "end of a restricted mean");
  if (rmst > 0) return;
  throw new InputError("end of a restricted mean is not after 0: 0", { code: "time.invalid" });
}

/** A share in percent, without the digits that the product has too many: 0.29 is 29, 0.025 is 2.5. */
export function formatPercent(share: number): string {
  return String(Number((100 * share).toPrecision(PERCENT_DIGITS)));
}

/** What a float64 holds for certain. */
const PERCENT_DIGITS = 15;

function refuseTwice(
  names: readonly string[],
  { what, code }: { readonly what: string; readonly code: string },
): void {
  const twice = names.find((name, k) => names.indexOf(name) !== k);
  if (twice === undefined) return;
  throw new InputError(`${what} named twice: ${twice}`, { code, hint: "name each of them once" });
}

/** Beyond 2^53, different whole numbers become one number: two people would have one id. */
function readIds(table: Table, id: string, rows: ArrayLike<number> | undefined): string[] {
  const column = findColumn(table, id);
  return Array.from(checkRows(table, rows), (row) => {
    if (column.type !== "number" || !(Math.abs(column.values[row]) > Number.MAX_SAFE_INTEGER))
      return cellText(column, row);
    throw new InputError(`id beyond 2^53 cannot be told apart as a number: ${column.values[row]}`, {
      code: "id.large",
      where: `${placeRows(table, [row + 1])}, column "${id}"`,
      hint: "read the column as text",
    });
  });
}
