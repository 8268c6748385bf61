/**
 * The systems of the study "held, not told": each is fitted on people whose protected columns no model may see, and
 * predicts curves of others. Those columns are dropped everywhere; groups over them are known to the two systems that
 * are told, and to nobody else. What the curves are judged by is in held-not-told.ts for simulated people and in
 * held-real.ts for real ones.
 */
import { type Backend, boost, prepare } from "graduate-survival";
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
} from "graduate-survival/data";
import { applyBoost } from "graduate-survival/repair";
import type { Model } from "graduate-survival/training";
import type { PredictCurves } from "../eye/truth.ts";
import {
  fitModel,
  membersAmong,
  type PredictTable,
  predictTables,
  type TrainRequest,
  timeGridOf,
} from "../runs/fit.ts";
import { droCoxCurves, fitDroCox } from "./dro-cox.ts";

/** Those that are one training run. */
export const TRAINED_SYSTEMS = ["free", "held", "held, strict", "cox", "cox with the column"] as const;
export type TrainedSystem = (typeof TRAINED_SYSTEMS)[number];
export const HELD_SYSTEMS = [...TRAINED_SYSTEMS, "hazard boost", "dro-cox"] as const;
export type HeldSystem = (typeof HELD_SYSTEMS)[number];

/** The people of one line. */
export interface HeldPeople {
  readonly columns: { readonly time: string; readonly event: string };
  /** Columns that are no features for another reason. */
  readonly leftOut: readonly string[];
  /** Columns that no model may see, and the groups over them that are held. */
  readonly protected: readonly string[];
  readonly held: readonly Group[];
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

/** Where a network differs from the default preset: for tests. */
export type HeldTraining = Pick<TrainRequest, "network" | "hidden" | "options" | "bins">;

export interface HeldOptions {
  readonly dro: DroChoice;
  readonly training?: HeldTraining;
}

export interface FittedHeld {
  readonly grid: TimeGrid;
  readonly predictCurves: PredictCurves;
  /** Whether the optimiser arrived; only where it says so. */
  readonly converged?: boolean;
  readonly model?: Model;
}

export interface FittedModel extends FittedHeld {
  readonly predictCurves: PredictTable;
  readonly model: Model;
}

/** Whether an expression reads a protected column. */
export function isProtected({ expression }: Group, { protected: columns }: HeldPeople): boolean {
  return new RegExp(`\\b(${columns.join("|")})\\b`).test(expression);
}

/** What every request shares; it names no groups. */
function plainRequest(people: HeldPeople, training: HeldTraining = {}): TrainRequest {
  const { columns, leftOut, protected: hidden, split, seed } = people;
  const bins = training.bins === undefined ? {} : { bins: training.bins };
  return { ...columns, drop: [...hidden, ...leftOut], split, seed, ...bins };
}

/** "free": groups over features are named as usual; protected ones are neither told nor held. */
export function freeRequest(people: HeldPeople, training?: HeldTraining): TrainRequest {
  const told = people.groups.filter((group) => group.name !== ALL_GROUP.name && !isProtected(group, people));
  return { ...plainRequest(people, training), ...training, groups: told };
}

/**
 * "held": the request of "free", with the people's protected groups held through features alone. Their membership is
 * known to the solve and to nothing that predicts. Other groups over protected columns are neither told nor held.
 */
export function heldRequest(
  people: HeldPeople,
  hold: "balanced" | "strict",
  training?: HeldTraining,
): TrainRequest {
  const free = freeRequest(people, training);
  return {
    ...free,
    drop: [...people.leftOut],
    protected: [...people.protected],
    groups: [...(free.groups ?? []), ...people.held],
    options: { ...free.options, hold },
  };
}

export async function fitTrainedSystem(
  system: TrainedSystem,
  people: HeldPeople,
  backend: Backend,
  training?: HeldTraining,
): Promise<FittedModel> {
  const cox: TrainRequest = { ...plainRequest(people, training), method: "cox" };
  switch (system) {
    case "free":
      return fitNetwork(people, freeRequest(people, training), backend);
    case "held":
      return fitNetwork(people, heldRequest(people, "balanced", training), backend);
    case "held, strict":
      return fitNetwork(people, heldRequest(people, "strict", training), backend);
    case "cox":
      return fitNetwork(people, cox, backend);
    case "cox with the column": {
      const tell = (table: Table) => addGroupColumns(table, people.held);
      const fitted = await fitNetwork({ ...people, table: tell(people.table) }, cox, backend);
      return { ...fitted, predictCurves: async (table, rows) => fitted.predictCurves(tell(table), rows) };
    }
  }
}

/** `free`: the model of "free", if it was fitted before: what "hazard boost" starts from. */
export async function fitHeldSystem(
  system: HeldSystem,
  people: HeldPeople,
  { dro, training }: HeldOptions,
  backend: Backend,
  free?: Model,
): Promise<FittedHeld> {
  switch (system) {
    case "hazard boost": {
      const model = free ?? (await fitModel(people.table, freeRequest(people, training), backend));
      return boostHazards(people, model, backend);
    }
    case "dro-cox":
      return fitDro(people, plainRequest(people, training), dro);
    default:
      return fitTrainedSystem(system, people, backend, training);
  }
}

async function fitNetwork(
  { table }: HeldPeople,
  request: TrainRequest,
  backend: Backend,
): Promise<FittedModel> {
  const model = await fitModel(table, request, backend);
  return { grid: timeGridOf(model), predictCurves: predictTables(model, backend), model };
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
