/**
 * The systems of the study "held, not told" (held-not-told.ts): each is fitted on people with a proxy of the protected
 * group and predicts curves of others. Race and housing are dropped everywhere; groups over them are known to the two
 * systems that are told, and to nobody else. What the curves are judged by is in held-not-told.ts.
 */
import { type Backend, boost, prepare } from "graduate";
import {
  ALL_GROUP,
  addGroupColumns,
  binOutcomes,
  encode,
  type Group,
  pickOutcomes,
  type RightCensored,
  type Split,
  type Table,
  type TimeGrid,
} from "graduate/data";
import { applyBoost } from "graduate/repair";
import type { Model } from "graduate/training";
import { LEFT_OUT, PROTECTED_COLUMNS, PROTECTED_GROUP } from "../eye/proxy.ts";
import type { PredictCurves } from "../eye/truth.ts";
import { fitModel, membersAmong, predictTables, type TrainRequest, timeGridOf } from "../runs/fit.ts";
import { droCoxCurves, fitDroCox } from "./dro-cox.ts";

export const HELD_SYSTEMS = [
  "free",
  "held",
  "held, strict",
  "cox",
  "cox with the column",
  "hazard boost",
  "dro-cox",
] as const;
export type HeldSystem = (typeof HELD_SYSTEMS)[number];

/** The people of one line, with their proxy. */
export interface HeldPeople {
  readonly table: Table;
  readonly outcomes: RightCensored;
  readonly split: Split;
  /** Everyone first; told and protected ones. */
  readonly groups: readonly Group[];
  readonly seed: number;
}

export interface DroChoice {
  readonly alpha: number;
  readonly ridge: number;
  /** Take the version with a split, by the people's seed. */
  readonly split?: boolean | undefined;
}

export interface HeldOptions {
  readonly dro: DroChoice;
  /** Where a network differs from the default preset: for tests. */
  readonly training?: Pick<TrainRequest, "network" | "hidden" | "options" | "bins">;
}

export interface FittedHeld {
  readonly grid: TimeGrid;
  readonly predictCurves: PredictCurves;
  /** Whether the optimiser arrived; only where it says so. */
  readonly converged?: boolean;
  /** For "free": what "hazard boost" starts from, if it comes next. */
  readonly model?: Model;
}

/** Whether an expression reads a protected column. */
export function isProtected({ expression }: Group): boolean {
  return new RegExp(`\\b(${PROTECTED_COLUMNS.join("|")})\\b`).test(expression);
}

/** What every request shares; it names no groups. */
function plainRequest({ split, seed }: HeldPeople, { training }: HeldOptions): TrainRequest {
  const drop = [...PROTECTED_COLUMNS, ...LEFT_OUT];
  const bins = training?.bins === undefined ? {} : { bins: training.bins };
  return { time: "time", event: "event", drop, split, seed, ...bins };
}

/** "free": groups over features are named as usual; protected ones are neither told nor held. */
export function freeRequest(people: HeldPeople, options: HeldOptions): TrainRequest {
  const told = people.groups.filter((group) => group.name !== ALL_GROUP.name && !isProtected(group));
  return { ...plainRequest(people, options), ...options.training, groups: told };
}

/**
 * "held": the request of "free", with the protected group held through features alone. Its membership is known to the
 * solve and to nothing that predicts. The other groups over protected columns are neither told nor held.
 */
export function heldRequest(free: TrainRequest, hold: "balanced" | "strict"): TrainRequest {
  return {
    ...free,
    drop: [...LEFT_OUT],
    protected: [...PROTECTED_COLUMNS],
    groups: [...(free.groups ?? []), PROTECTED_GROUP],
    options: { ...free.options, hold },
  };
}

export async function fitHeldSystem(
  system: HeldSystem,
  people: HeldPeople,
  options: HeldOptions,
  backend: Backend,
  free?: Model,
): Promise<FittedHeld> {
  const plain = plainRequest(people, options);
  switch (system) {
    case "free":
      return fitNetwork(people, freeRequest(people, options), backend);
    case "held":
      return fitNetwork(people, heldRequest(freeRequest(people, options), "balanced"), backend);
    case "held, strict":
      return fitNetwork(people, heldRequest(freeRequest(people, options), "strict"), backend);
    case "cox":
      return fitNetwork(people, { ...plain, method: "cox" }, backend);
    case "cox with the column": {
      const tell = (table: Table) => addGroupColumns(table, [PROTECTED_GROUP]);
      const told = { ...people, table: tell(people.table) };
      const fitted = await fitNetwork(told, { ...plain, method: "cox" }, backend);
      return { ...fitted, predictCurves: async (table) => fitted.predictCurves(tell(table)) };
    }
    case "hazard boost": {
      const model = free ?? (await fitModel(people.table, freeRequest(people, options), backend));
      return boostHazards(people, model, backend);
    }
    case "dro-cox":
      return fitDro(people, plain, options.dro);
  }
}

async function fitNetwork(
  { table }: HeldPeople,
  request: TrainRequest,
  backend: Backend,
): Promise<FittedHeld> {
  const model = await fitModel(table, request, backend);
  const predict = predictTables(model, backend);
  return { grid: timeGridOf(model), predictCurves: async (one) => predict(one), model };
}

/** Fitted on the first half of the test rows, the others being spent; the second half judges it, unread here. */
async function boostHazards(people: HeldPeople, model: Model, backend: Backend): Promise<FittedHeld> {
  const { table, outcomes, split, groups, seed } = people;
  const grid = timeGridOf(model);
  const predict = predictTables(model, backend);
  const rows = split.test;
  const half = Math.floor(rows.length / 2);
  const places = Int32Array.from(rows.keys());
  const { boost: repair } = boost(
    {
      curves: await predict(table, rows),
      outcomes: binOutcomes(pickOutcomes(outcomes, rows), grid),
      groups: membersAmong(groups, table, rows).filter(({ rows: members }) => members.length > 0),
    },
    { fit: places.subarray(0, half), held: places.subarray(half) },
    { seed },
  );
  return {
    grid,
    predictCurves: async (one) =>
      applyBoost(repair, await predict(one), { groups: membersAmong(groups, one) }),
  };
}

/** On the rows and columns of "cox". */
function fitDro({ table }: HeldPeople, plain: TrainRequest, dro: DroChoice): FittedHeld {
  const { alpha, ridge, split: isSplit } = dro;
  const { encoder, outcomes, split, grid } = prepare(table, { ...plain, method: "cox" });
  const { N, D, values } = encode(encoder, table, split.train);
  const { time, event } = pickOutcomes(outcomes, split.train);
  const model = fitDroCox(
    { N, D, x: values, time, event },
    { alpha, ridge, ...(isSplit === true ? { splitSeed: plain.seed ?? 1 } : {}) },
  );
  const times = grid.edges.subarray(1);
  return {
    grid,
    converged: model.converged,
    predictCurves: async (one) => {
      const { N: rows, values: x } = encode(encoder, one);
      return { N: rows, T: grid.T, survival: droCoxCurves(model, x, times) };
    },
  };
}
