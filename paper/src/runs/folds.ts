/**
 * The outside yardstick: the cross-validation folds of a published benchmark of tuned learners, whose scores per fold
 * are known. A system is fitted on the rows outside a fold and scored on those in it by the benchmark's measures:
 * Harrell's C and Uno's C of a risk over strict pairs with half ties, with Uno's weights and the Brier score's from the
 * training rows' censoring with simple ties, and the Brier score integrated over the distinct test times up to the
 * first with four fifths of the rows gone.
 *
 * Cox is the gate: with the same conventions, our scores must equal the published ones, fold by fold, before anything
 * else is compared. Cox uses raw times; networks are interpolated between the bin edges of their grid and rank people
 * by their mean cumulative hazard (`riskOf`). A score that is undefined on a fold is absent with its reason, and the
 * others are kept; so is Cox where only the test rows have a level. A network's validation rows are drawn from the rows
 * outside the fold. "default" is what `graduate train` does, "default, one run" what it does with --fast. The systems
 * with "graduate" in their names are the default of version 0.1.0: "five graduates" the ensemble of five runs, each with
 * a different fifth of those rows for validation, "… with splines" trained with splines of numbers.
 */

import { type Backend, riskOf, type TrainRequest } from "graduate-survival";
import {
  createRandom,
  FormatError,
  InputError,
  isAbsent,
  type Measured,
  shuffle,
} from "graduate-survival/core";
import {
  type Curves,
  type Encoder,
  encode,
  findColumn,
  fitEncoder,
  interpolateCurve,
  parseNamedGroup,
  pickOutcomes,
  type RightCensored,
  readOutcomes,
  type Table,
  type TimeGrid,
} from "graduate-survival/data";
import { coxCurves, fitCox, linearPredictor, requireCurves } from "graduate-survival/models";
import { concordanceHarrell, concordanceUno, integratedBrier, mlr3probaTimes } from "graduate-survival/stats";
import { z } from "zod";
import { asIn010, type FitRequest, fitModel, predictRows, START, timeGridOf } from "./fit.ts";
import { isEnsemble, MEMBERS } from "./systems.ts";

export const FOLD_SYSTEMS = [
  "cox",
  "drsa",
  "graduate",
  "five graduates",
  "graduate with splines",
  "five with splines",
  "default",
  "default, one run",
  "start",
] as const;
export type FoldSystem = (typeof FOLD_SYSTEMS)[number];

const taskSchema = z.strictObject({
  /** The name used in the published scores. */
  name: z.string().min(1),
  /** In the folder of the folds. */
  table: z.string().min(1),
  testRows: z.string().min(1),
  time: z.string().min(1),
  event: z.string().min(1),
  category: z.array(z.string()),
  groups: z.array(z.string()).min(1),
});

const planSchema = z.strictObject({
  about: z.string().min(1),
  /** Published scores, in the folder of the folds. */
  scores: z.string().min(1),
  tasks: z.array(taskSchema).min(1),
  systems: z.array(z.enum(FOLD_SYSTEMS)).min(1),
  /** Share of the rows outside a fold that a network uses for validation. */
  validation: z.number().gt(0).lt(1),
});

export type FoldTask = Readonly<z.infer<typeof taskSchema>>;
export type FoldPlan = Readonly<z.infer<typeof planSchema>>;

/** Reads and checks the plan of the folds. */
export function parseFoldPlan(text: string, fileName: string): FoldPlan {
  const result = planSchema.safeParse(JSON.parse(text));
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0];
  throw new FormatError(`plan: ${path.join(".")}: ${message}`, { code: "plan", where: fileName });
}

/** The test rows of each fold, 0-based, from a table of iteration and row, 1-based. */
export function readFolds(table: Table, where: string): ReadonlyMap<number, Int32Array> {
  const numbersOf = (name: string) => {
    const column = findColumn(table, name);
    if (column.type === "number") return column.values;
    throw new InputError(`column "${name}" is not of numbers`, { code: "folds.column", where });
  };
  const iterations = numbersOf("iteration");
  const rows = numbersOf("row");
  const folds = new Map<number, number[]>();
  for (let k = 0; k < table.rows; k++) {
    const fold = folds.get(iterations[k]) ?? [];
    fold.push(rows[k] - 1);
    folds.set(iterations[k], fold);
  }
  return new Map(Array.from(folds, ([iteration, list]) => [iteration, Int32Array.from(list)]));
}

/** Null where a score is undefined on the fold; `notes` say why. */
export interface FoldScores {
  readonly harrell: number | null;
  readonly uno: number | null;
  readonly ibs: number | null;
  /** What could not be scored, and what was not as it should be; absent where there is nothing to say. */
  readonly notes?: readonly string[];
}

/** One fold of a task: the rows to learn from and the rows to score. */
export interface Fold {
  readonly task: FoldTask;
  readonly table: Table;
  readonly test: Int32Array;
}

export interface FoldRequest {
  readonly system: FoldSystem;
  readonly seed: number;
  readonly validation: number;
}

export async function runFold(fold: Fold, request: FoldRequest, backend: Backend): Promise<FoldScores> {
  const { task, table, test } = fold;
  const held = new Set(test);
  const rest = Int32Array.from({ length: table.rows }, (_, row) => row).filter((row) => !held.has(row));
  const outcomes = readOutcomes(table, task);
  const scored = { training: pickOutcomes(outcomes, rest), outcomes: pickOutcomes(outcomes, test) };
  const times = mlr3probaTimes(scored.outcomes);
  if (request.system === "cox") return scoreFold(scored, times, fitFoldCox(fold, rest, outcomes, times));
  const horizon = Math.max(...scored.training.time);
  return scoreFold(scored, times, await trainOnFold(fold, rest, { ...request, horizon, times }, backend));
}

/** A share of the rows outside the fold. */
function drawValidation(rest: Int32Array, { seed, validation }: FoldRequest): Int32Array {
  const order = Int32Array.from(rest);
  shuffle(order, createRandom(seed, VALIDATION_STREAM));
  return order.slice(0, Math.round(rest.length * validation)).sort();
}

interface FoldPrediction {
  /** Greater for people who are expected to have the event earlier. */
  readonly risk: Float64Array; // [N]
  readonly survival: Float64Array; // [N, times]
  readonly notes?: readonly string[];
}

interface ScoredRows {
  readonly training: RightCensored;
  readonly outcomes: RightCensored;
}

export function scoreFold(
  { training, outcomes }: ScoredRows,
  times: Float64Array,
  { risk, survival, notes: before = [] }: FoldPrediction,
): FoldScores {
  const notes = [...before];
  const definedValue = (name: string, score: Measured) => {
    if (!isAbsent(score)) return score;
    notes.push(`${name}: ${score.absent}`);
    return null;
  };
  const harrell = concordanceHarrell(outcomes, risk, { pairs: "strict" }).c;
  const uno = concordanceUno(outcomes, risk, { convention: "mlr3proba", censoring: training }).c;
  const ibs = integratedBrier({ outcomes, times, survival, convention: "mlr3proba", training });
  const scores = {
    harrell: definedValue("Harrell's C", harrell),
    uno: definedValue("Uno's C", uno),
    ibs: definedValue("IBS", ibs),
  };
  return notes.length === 0 ? scores : { ...scores, notes };
}

function featuresOf({ task, table }: Fold): string[] {
  return table.columns.map(({ name }) => name).filter((name) => name !== task.time && name !== task.event);
}

function fitFoldCox(
  fold: Fold,
  rest: Int32Array,
  outcomes: RightCensored,
  times: Float64Array,
): FoldPrediction {
  const { table, test } = fold;
  const encoder = fitEncoder(table, {
    features: featuresOf(fold),
    rows: rest,
    reference: "drop",
    unknownLevels: "allow",
  });
  const training = encode(encoder, table, rest);
  const { time, event } = pickOutcomes(outcomes, rest);
  const model = fitCox({ time, event, x: training.values, D: training.D });
  requireCurves(model);
  const scored = encode(encoder, table, test);
  return {
    risk: linearPredictor(model, scored.values),
    survival: coxCurves(model, scored.values, times),
    notes: listUnknownLevels(encoder, table, test),
  };
}

/** A sentence for each category with levels that only these rows have; Cox takes them for the first level. */
function listUnknownLevels(encoder: Encoder, table: Table, rows: Int32Array): string[] {
  return encoder.columns.flatMap((encoding) => {
    const column = findColumn(table, encoding.column);
    if (encoding.type !== "category" || column.type !== "category") return [];
    const levels = new Set(Array.from(rows, (row) => column.levels[column.codes[row]] ?? "(missing)"));
    const known = new Set([...encoding.levels, ...(encoding.missingLevel ? ["(missing)"] : [])]);
    const unknown = [...levels].filter((level) => !known.has(level)).sort();
    if (unknown.length === 0) return [];
    return [`${encoding.column}: only test rows have ${unknown.join(", ")}, taken as ${encoding.levels[0]}`];
  });
}

async function trainOnFold(
  fold: Fold,
  rest: Int32Array,
  { horizon, times, ...asked }: FoldRequest & { readonly horizon: number; readonly times: Float64Array },
  backend: Backend,
): Promise<FoldPrediction> {
  const { task, table, test } = fold;
  const { system, seed } = asked;
  const validation = drawValidation(rest, asked);
  const held = new Set(validation);
  const split = { train: rest.filter((row) => !held.has(row)), validation, test };
  const groups = task.groups.map((text) => parseNamedGroup(text));
  const request: TrainRequest = {
    time: task.time,
    event: task.event,
    features: featuresOf(fold),
    groups,
    method: system === "drsa" ? "drsa" : "graduate",
    split,
    seed,
    horizon,
    // The folds are the benchmark's, whoever is in them.
    rowsAreIndependent: true,
  };
  const model = await fitModel(table, { ...request, ...describeSystem(system) }, backend);
  const curves = await predictRows(model, table, test, backend);
  return { risk: riskOf(model, curves), survival: readAtTimes(curves, timeGridOf(model), times) };
}

/** What a system asks for, beside what all do. */
function describeSystem(
  system: FoldSystem,
): Pick<FitRequest, "ensemble" | "splines" | "numbers" | "options"> {
  if (system === "default") return { ensemble: MEMBERS };
  if (system === "default, one run") return {};
  if (system === "start") return START;
  const bends = system === "graduate with splines" || system === "five with splines" ? { splines: true } : {};
  const members = isEnsemble(system) ? { ensemble: MEMBERS } : {};
  return { ...asIn010(), ...bends, ...members };
}

/** Separate from every stream that a run of the same seed uses. */
const VALIDATION_STREAM = 0x60000000;
/** Interpolates between bin edges; test times after the last training time keep the last value. */
function readAtTimes({ N, T, survival }: Curves, grid: TimeGrid, times: Float64Array): Float64Array {
  const horizon = grid.edges[T];
  const read = new Float64Array(N * times.length);
  for (let i = 0; i < N; i++) {
    const curve = survival.subarray(i * T, (i + 1) * T);
    times.forEach((time, k) => {
      const at = interpolateCurve(curve, grid, Math.min(time, horizon));
      if (!isAbsent(at)) read[i * times.length + k] = at;
    });
  }
  return read;
}
