/**
 * Predict: turns a model and rows it has not seen into survival curves on the model's time grid. Encoder and grid are
 * the model's own; an unknown level or a missing column is refused, naming row and column.
 */
import type { Backend, DeviceArray, Floats } from "../compute/backend.ts";
import { BackendScope, mirrorArray } from "../compute/memory.ts";
import { createReferenceBackend } from "../compute/reference.ts";
import { InputError, NumericalError } from "../core/errors.ts";
import { isAbsent } from "../core/measured.ts";
import { allocateSurvival, type Curves, isSurvival } from "../data/curves/curves.ts";
import { type EncodedFeatures, encode } from "../data/encode/encode.ts";
import { type CellWarning, warnOfCells } from "../data/encode/new-cells.ts";
import { columnsOf } from "../data/groups/group-expression.ts";
import { addGroupColumns, groupColumnName } from "../data/groups/groups.ts";
import { parseGroup } from "../data/groups/parse-group.ts";
import { medianTime, type TimeGrid } from "../data/outcomes/time-grid.ts";
import type { Table } from "../data/table.ts";
import { coxCurvesOnGrid } from "../models/cox/baseline.ts";
import { createNetwork } from "../models/networks/create-network.ts";
import { writeParameters } from "../models/networks/parameters.ts";
import { incidenceCurves, survivalOfCauses } from "../objectives/causes/cause-curves.ts";
import { survivalCurves } from "../objectives/curves.ts";
import { mortalityRisk } from "../stats/mortality-risk.ts";
import { type Design, encodeStudyRows } from "../study/study.ts";
import { coxPredictor, type Model } from "../training/model.ts";

/** Curves and median times of some rows. */
export interface Prediction {
  readonly curves: Curves;
  /** NaN where the curve stays above one half up to the horizon. */
  readonly median: Float64Array; // [N]
  /** Cells that were filled in, or that lie outside the range of training: by column, with counts. */
  readonly warnings: readonly CellWarning[];
}

/** The time grid that a model predicts on. */
export function gridOf({ grid: { kind, T, edges } }: Pick<Model, "grid">): TimeGrid {
  return { kind, T, edges: Float64Array.from(edges) };
}

/** Whether a model's file says how many people were at risk when; `riskOf` counts all bins alike where it does not. */
export function knowsAtRisk({ grid }: Pick<Model, "grid">): boolean {
  return grid.atRisk !== undefined;
}

/**
 * One risk per person, by which the model's curves rank people (stats/mortality-risk.ts). A model without the share at
 * risk counts all bins alike: the cumulative hazard at the horizon.
 */
export function riskOf({ grid }: Pick<Model, "grid">, curves: Curves): Float64Array {
  return mortalityRisk(curves, grid.atRisk ?? Array<number>(grid.T).fill(1));
}

/** `backend` is for networks, and without one the plain one computes; a Cox model needs none. */
export async function predict(
  model: Model,
  table: Table,
  backend: Backend | null,
  rows?: ArrayLike<number>,
): Promise<Prediction> {
  if (backend === null) return preparePredictor(model, null)(table, rows);
  const scope = new BackendScope(backend);
  try {
    return await preparePredictor(model, scope)(table, rows);
  } finally {
    scope.end();
  }
}

/** What a long prediction may be told, and whom it tells how many rows are done. */
export interface PredictStudyOptions {
  /** Values kept in double precision (data/curves/curves.ts). */
  readonly mostDoubles?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * The curves of some rows of a study of the model, whose groups are already known. They are encoded and predicted block
 * by block, so that nothing but the curves has the size of the rows.
 */
export async function predictStudy(
  study: Design & { readonly model: Model; readonly table: Table },
  rows: Int32Array,
  backend: Backend | null,
  { mostDoubles, onProgress }: PredictStudyOptions = {},
): Promise<{ readonly curves: Curves }> {
  const { model, table } = study;
  const { T } = model.grid;
  const N = rows.length;
  const survival = allocateSurvival(N, T, mostDoubles);
  const scope = backend && new BackendScope(backend);
  try {
    const computeCurves = prepareCurves(model, scope, gridOf(model));
    let done = 0;
    for (const block of encodeStudyRows(study, rows)) {
      const own = await computeCurves(block);
      checkSurvival(own, table);
      survival.set(own, done * T);
      done += block.N;
      onProgress?.(done, N);
    }
  } finally {
    scope?.end();
  }
  return { curves: { N, T, survival } };
}

/** Predicts rows of a table, all of them unless given. */
export type PredictRows = (table: Table, rows?: ArrayLike<number>) => Promise<Prediction>;

/** Prepares a model once, for tables that come in parts; it keeps its part of the backend's memory. */
export function preparePredictor(model: Model, backend: Backend | null): PredictRows {
  const predictWidened = prepareWidened(model, backend);
  return (table, rows) => predictWidened(table, addGroupColumns(table, model.inputGroups), rows);
}

/** `widened` is the table with the columns of the model's input groups. */
function prepareWidened(model: Model, backend: Backend | null) {
  const { T } = model.grid;
  const grid = gridOf(model);
  const computeCurves = prepareCurves(model, backend, grid);
  return async (table: Table, widened: Table, rows?: ArrayLike<number>): Promise<Prediction> => {
    const features = encode(model.encoder, widened, rows);
    const { N } = features;
    const survival = await computeCurves(features);
    checkSurvival(survival, table);
    const median = medianTimes({ N, T, survival }, grid);
    const made = model.inputGroups.map(groupColumnName);
    const warnings = warnOfCells(model.encoder, table, rows, made);
    return { curves: { N, T, survival }, median, warnings };
  };
}

/** Refuses what is no survival curve. */
export function checkSurvival(survival: Float64Array, table: Pick<Table, "name">): void {
  if (isSurvival({ survival })) return;
  throw new NumericalError("the model gives curves that are not survival probabilities", {
    code: "curves.invalid",
    where: table.name,
    hint: "its weights are too large to compute with: the file was changed, or the training went wrong",
  });
}

/** For each person; NaN where the curve stays above one half up to the horizon. */
export function medianTimes({ N, T, survival }: Curves, grid: TimeGrid): Float64Array {
  return Float64Array.from({ length: N }, (_, i) => {
    const at = medianTime(survival.subarray(i * T, (i + 1) * T), grid);
    return isAbsent(at) ? Number.NaN : at;
  });
}

/** Columns that were categories in training are read as categories, so that "01" stays "01". */
export function categoriesOf(model: Pick<Model, "encoder">): string[] {
  return model.encoder.columns.filter(({ type }) => type === "category").map(({ column }) => column);
}

/** The table's columns that a prediction depends on, including those its groups are made from. */
export function columnsNeeded({ encoder, inputGroups }: Pick<Model, "encoder" | "inputGroups">): string[] {
  const made = new Set(inputGroups.map(groupColumnName));
  const own = encoder.columns.map(({ column }) => column).filter((name) => !made.has(name));
  const ofGroups = inputGroups.flatMap(({ expression }) => columnsOf(parseGroup(expression)));
  return [...new Set([...own, ...ofGroups])];
}

/** The survival curves [N,T] of rows that are already encoded. */
export type ComputeCurves = (features: EncodedFeatures) => Promise<Float64Array>;

/** Prepares a model for rows that are already encoded; they need not be rows of any table. */
export function prepareCurves(
  { predictor }: Pick<Model, "predictor">,
  backend: Backend | null,
  { T, edges }: TimeGrid,
): ComputeCurves {
  if (predictor.kind === "cox") {
    const cox = coxPredictor(predictor);
    return async ({ values }) => coxCurvesOnGrid(cox, values, edges).survival;
  }
  const run = openPredictor(predictor, backend, T);
  return async (features) => {
    const survival = new Float64Array(features.N * T);
    await run(features, (logits, count, from, K) => {
      const out = survival.subarray(from * T, (from + count) * T);
      if (K === 1) survivalCurves(logits, count, T, out);
      else survivalOfCauses(logits, { N: count, K, T }, out);
    });
    return survival;
  };
}

/** The cumulative incidences [N,K,T] of rows that are already encoded. */
export type ComputeIncidence = (features: EncodedFeatures) => Promise<Float64Array>;

/** Prepares a model of several causes. */
export function prepareIncidence(
  model: Pick<Model, "predictor" | "causes">,
  backend: Backend | null,
  grid: TimeGrid,
): ComputeIncidence {
  return prepareByCause(model, backend, grid, incidenceCurves);
}

/** Prepares a model for one curve a person and cause, which `fill` makes of logits. */
export function prepareByCause(
  { predictor, causes }: Pick<Model, "predictor" | "causes">,
  backend: Backend | null,
  { T }: TimeGrid,
  fill: typeof incidenceCurves,
): ComputeIncidence {
  if (predictor.kind === "cox" || causes === undefined) {
    throw new InputError("the model tells no causes apart: it has one survival curve a person", {
      code: "model.causes",
      hint: "train with --causes to predict the incidence of each",
    });
  }
  const run = openPredictor(predictor, backend, T);
  const own = causes.length * T;
  return async (features) => {
    const curves = new Float64Array(features.N * own);
    await run(features, (logits, count, from, K) => {
      fill(logits, { N: count, K, T }, curves.subarray(from * own, (from + count) * own));
    });
    return curves;
  };
}

/** The incidences of some rows of a study of the model, block by block. */
export async function predictStudyCauses(
  study: Design & { readonly model: Model },
  rows: Int32Array,
  backend: Backend | null,
  { onProgress }: Pick<PredictStudyOptions, "onProgress"> = {},
): Promise<Float64Array> {
  const { model } = study;
  const own = (model.causes?.length ?? 1) * model.grid.T;
  const incidence = new Float64Array(rows.length * own);
  const scope = backend && new BackendScope(backend);
  try {
    const compute = prepareIncidence(model, scope, gridOf(model));
    let done = 0;
    for (const block of encodeStudyRows(study, rows)) {
      incidence.set(await compute(block), done * own);
      done += block.N;
      onProgress?.(done, rows.length);
    }
  } finally {
    scope?.end();
  }
  return incidence;
}

/** Takes the logits of `count` rows, the first of which is row `from`. */
type TakeLogits = (logits: Floats, count: number, from: number, K: number) => void;

/**
 * A network in the backend's memory, which takes rows in parts that fit; without a backend, in that of the plain one.
 */
function openPredictor(
  predictor: Extract<Model["predictor"], { readonly kind: "network" }>,
  given: Backend | null,
  T: number,
): (features: EncodedFeatures, take: TakeLogits) => Promise<void> {
  const backend = given ?? createReferenceBackend();
  const network = createNetwork(backend, predictor.network, 0);
  writeParameters(network, predictor.parameters);
  const { K } = network;
  const most = backend.rowsAtOnce({ T, K, keep: false });
  let room: { readonly size: number; readonly x: DeviceArray; readonly logits: DeviceArray } | null = null;
  return async ({ N, D, values }, take) => {
    const wanted = Math.min(most, Math.max(N, 1));
    if (room === null || room.size < wanted) {
      if (room !== null) for (const array of [room.x, room.logits]) backend.release(array);
      room = { size: wanted, x: backend.allocate(wanted * D), logits: backend.allocate(wanted * K * T) };
    }
    const { size, x, logits } = room;
    const onHost = mirrorArray(backend, logits);
    for (let from = 0; from < N; from += size) {
      const count = Math.min(size, N - from);
      backend.write(x, values.subarray(from * D, (from + count) * D));
      await network.forward(x, count, logits, null);
      await onHost.pull();
      take(onHost.values, count, from, K);
    }
  };
}
