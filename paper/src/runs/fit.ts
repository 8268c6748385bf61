/**
 * The product's verbs as the experiments use them: train one model or an ensemble, predict, audit. The experiments call
 * these verbs only here.
 */
import {
  type AuditOptions,
  type AuditTable,
  audit,
  type Backend,
  type FitRequest,
  fit,
  gridOf,
  openStudy,
  predict,
  preparePredictor,
  type TrainEvent,
  type TrainRequest,
} from "graduate-survival";
import {
  type BinnedRightCensored,
  binOutcomes,
  type Curves,
  type Group,
  joinRows,
  pickOutcomes,
  type RightCensored,
  readOutcomes,
  resolveGroups,
  type Split,
  type Table,
  type TimeGrid,
} from "graduate-survival/data";
import { groupSupport } from "graduate-survival/stats";
import { placesAmong } from "graduate-survival/study";
import type { Model } from "graduate-survival/training";
import {
  boundPeople,
  calibrateBound,
  type ErrorParts,
  type PeopleBounds,
  prepareErrors,
} from "graduate-survival/verbs";

export type { Backend, FitRequest, TrainEvent, TrainRequest };

/**
 * What the committed runs of the `default` preset were made with, so that they can be made again: version 0.1.0 took
 * numbers as they are written and ended with the trained network. What came later has studies of its own.
 */
export function asIn010(
  options: TrainRequest["options"] = {},
): Pick<TrainRequest, "splines" | "numbers" | "options"> {
  return { splines: false, numbers: "raw", options: { ...options, solve: "none" } };
}

/** What a run of the default starts from: an additive model, without training (one step) and without being held. */
export const START = { ensemble: 1, options: { steps: 1, solve: "none" } } as const;

/** The validation rows are learnt from too. */
export function joinSplit({ train, validation, test }: Split): Split {
  return { train: joinRows(train, validation), validation: new Int32Array(), test };
}

/** For any table with the model's columns; all of its rows unless some are named. */
export type PredictTable = (table: Table, rows?: ArrayLike<number>) => Promise<Curves>;

/** One run unless the request asks for an ensemble; `onEvent` receives the training's events. */
export async function fitModel(
  table: Table,
  request: FitRequest,
  backend: Backend,
  onEvent: (event: TrainEvent) => void = () => {},
): Promise<Model> {
  return fit(table, { ensemble: 1, ...request }, backend, { onEvent });
}

/** As many runs as the default takes for the table, unless the request says how many. */
export async function fitDefault(table: Table, request: FitRequest, backend: Backend): Promise<Model> {
  return fit(table, request, backend);
}

/** Prepared once for many tables. */
export function predictTables(model: Model, backend: Backend): PredictTable {
  const prepared = preparePredictor(model, backend);
  return async (table, rows) => (await prepared(table, rows)).curves;
}

export async function predictRows(
  model: Model,
  table: Table,
  rows: Int32Array,
  backend: Backend,
): Promise<Curves> {
  return (await predict(model, table, backend, rows)).curves;
}

export function timeGridOf(model: Model): TimeGrid {
  return gridOf(model);
}

/** Groups whose rows are positions among `rows` of the table (all by default). */
export function membersAmong(groups: readonly Group[], table: Table, rows?: ArrayLike<number>) {
  const resolved = resolveGroups(groups, table, { unknownLevels: "allow" });
  if (rows === undefined) return resolved;
  return placesAmong(resolved, rows);
}

/** Bins that count for each group, at least one: those in which its training rows are followed. */
export function trainingSupports(
  {
    table,
    outcomes,
    split,
    groups,
  }: {
    readonly table: Table;
    readonly outcomes: RightCensored;
    readonly split: Pick<Split, "train">;
    readonly groups: readonly Group[];
  },
  grid: TimeGrid,
): number[] {
  const training = binOutcomes(pickOutcomes(outcomes, split.train), grid);
  return membersAmong(groups, table, split.train).map(({ rows }) =>
    Math.max(1, groupSupport(training, { rows })),
  );
}

/** Scores of curves, everyone first and then the groups, whose rows are positions among those of the curves. */
export async function auditCurves(
  curves: Curves,
  outcomes: BinnedRightCensored,
  groups: readonly { readonly name: string; readonly rows: Int32Array }[],
  options: AuditOptions = {},
): Promise<AuditTable> {
  return audit({ curves, outcomes, groups }, options);
}

/** Scores of a model on rows of a table, for everyone and the groups. */
export async function auditRows(
  model: Model,
  table: Table,
  rows: Int32Array,
  groups: readonly Group[],
  backend: Backend,
): Promise<AuditTable> {
  const curves = await predictRows(model, table, rows, backend);
  const outcomes = pickOutcomes(readOutcomes(table, model.columns), rows);
  return auditCurves(curves, binOutcomes(outcomes, gridOf(model)), membersAmong(groups, table, rows));
}

/** Standard errors of the curves of a table. */
export async function measureErrors(
  model: Model,
  table: Table,
  curves: Curves,
  backend: Backend,
): Promise<ErrorParts> {
  return prepareErrors(model, backend)(table, curves);
}

/** Lower bounds of a table's people, calibrated on the test rows of the model's own table. */
export async function boundRows(
  model: Model,
  own: { readonly table: Table; readonly split: Split },
  { table, curves }: { readonly table: Table; readonly curves: Curves },
  level: number,
  backend: Backend,
): Promise<PeopleBounds> {
  const study = await openStudy(model, own.table, backend, { split: own.split });
  const bound = await calibrateBound(study, backend, level);
  return boundPeople(bound, table, curves, gridOf(model));
}
