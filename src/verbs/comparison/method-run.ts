/**
 * One method of a comparison on one split: trained, repaired on the validation rows on request, and scored on the test
 * rows; if there is only one split, also on resamples of them. A run that fails numerically is a result like any other;
 * the comparison goes on without it.
 */
import { requireSingleCause } from "../../data/outcomes/outcomes.ts";
import type { Backend } from "../../compute/backend.ts";
import { InputError, NumericalError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { Split } from "../../data/outcomes/split.ts";
import { applyBoost } from "../../repair/mcboost.ts";
import { prepareScores } from "../../stats/scores/prepared-scores.ts";
import { divideAgain, type PreparedStudy } from "../../study/prepare.ts";
import { pickStudyGroups, type Study } from "../../study/study.ts";
import { namesOf } from "../../core/names.ts";
import { type DistanceName, METHODS, type Method } from "../../training/choices.ts";
import type { Model } from "../../training/model.ts";
import { type AuditOptions, type AuditTable, bootstrapHere } from "../audit.ts";
import { type AuditedRows, auditRows, type PredictedRows, predictRows } from "../audit-model.ts";
import { fitGuardedBoost } from "../boost.ts";
import { predictCauseRows } from "../causes/audit-cause-model.ts";
import { studyOf } from "../model-study.ts";
import { shareOfTraining } from "../runs.ts";
import { train } from "../train.ts";
import type { TrainingRequest } from "../train-request.ts";
import {
  type CausePredictor,
  type CauseResult,
  fitCoxByCause,
  repairCauses,
  scoreByCause,
} from "./cause-run.ts";
import { drawsOf, judgedGroups, type MethodScores, readScores, type ScoreDraws } from "./differences.ts";

/** What can be compared: the methods, and what a network starts from. */
export const COMPARED_METHODS = [...namesOf(METHODS), "start"] as const;

/** What is compared: a method, with its distance and a repair of its curves. */
export interface ComparedMethod {
  /** As it was asked for: "graduate:l2+boost". */
  readonly label: string;
  /** "start" is the additive hazard model that a network starts from, without any training. */
  readonly method: Method | "start";
  /** For graduate only; null for its default. */
  readonly distance: DistanceName | null;
  readonly boosted: boolean;
}

/** A split and the seed of the weights that are trained on it. */
export interface NamedSplit {
  readonly name: string;
  readonly seed: number;
  readonly split: Split;
}

/** One line of the plan. */
export interface CompareTask {
  readonly method: ComparedMethod;
  /** The split by its name. */
  readonly split: string;
  /** Resamples of the test rows; null for none. */
  readonly replicates: number | null;
}

/** The result of one line of the plan. */
export interface MethodResult {
  /** These are null where the run failed. */
  readonly scores: MethodScores | null;
  readonly audit: AuditTable | null;
  /** Also null without resamples. */
  readonly draws: ScoreDraws | null;
  /** With several causes: what was found for each, or null where the run failed. The three above are null then. */
  readonly byCause?: CauseResult | null;
  /** Constraints met on the training rows, and how many there are; null for a method without constraints. */
  readonly met: number | null;
  readonly constrained: number | null;
  /** Training and repair; null where there was no clock. */
  readonly seconds: number | null;
  readonly failure: string | null;
  readonly warnings: readonly string[];
}

/** What runs of the plan need in addition to their task. */
export interface CompareSource {
  /** With any of the splits: each run divides it by its own split. */
  readonly study: PreparedStudy;
  readonly request: TrainingRequest;
  readonly splits: readonly NamedSplit[];
}

/** What a run uses: backend, bootstrap, clock. */
export interface MethodMeans {
  /** Trains and predicts. */
  readonly backend: Backend;
  /** Runs the resamples; one after the other in this thread unless something faster is given. */
  readonly bootstrap?: NonNullable<AuditOptions["bootstrap"]>;
  /** A clock, in seconds. */
  readonly now?: () => number;
}

/** The share of training in a run with resamples. */
const TRAINING_SHARE = 0.7;

/** Runs one line of the plan. */
export async function* runMethod(
  source: CompareSource,
  task: CompareTask,
  { backend, bootstrap = bootstrapHere, now }: MethodMeans,
): AsyncGenerator<number, MethodResult> {
  const started = now?.() ?? 0;
  const secondsNow = () => (now === undefined ? null : now() - started);
  const { replicates } = task;
  const { seed } = findSplit(source, task);
  const isByCause = source.study.causes !== null;
  try {
    if (isByCause) return yield* runByCause(source, task, backend, secondsNow);
    const { model, predicted } = yield* predictTestRows(source, task, backend);
    const seconds = secondsNow();
    const scored = await auditRows(predicted, { draws: 0 });
    const options = { replicates: replicates ?? 0, seed, ...present({ people: scored.people }) };
    return {
      scores: readScores(scored.audit, predicted.curves.T),
      audit: scored.audit,
      draws: replicates === null ? null : drawsOf(await bootstrap(prepareJudged(scored), options)),
      ...countHeld(model),
      seconds,
      failure: null,
      warnings: model.training.warnings,
    };
  } catch (error) {
    if (!(error instanceof NumericalError)) throw error;
    const failed = { ...NOTHING, ...(isByCause && { byCause: null }), met: null, constrained: null };
    return { ...failed, seconds: secondsNow(), failure: error.message, warnings: [] };
  }
}

const NOTHING = { scores: null, audit: null, draws: null } as const;

/** How many constraints the training rows meet, and how many there are. */
function countHeld({ training: { verdict } }: Model): Pick<MethodResult, "met" | "constrained"> {
  const held = verdict.filter(({ status }) => status !== "unsupported");
  if (held.length === 0) return { met: null, constrained: null };
  return { met: held.filter(({ status }) => status === "met").length, constrained: held.length };
}

/** The same where several causes compete. */
async function* runByCause(
  source: CompareSource,
  task: CompareTask,
  backend: Backend,
  secondsNow: () => number | null,
): AsyncGenerator<number, MethodResult> {
  const { replicates } = task;
  const { seed, split } = findSplit(source, task);
  const share = replicates === null ? 1 : TRAINING_SHARE;
  let held: Pick<MethodResult, "met" | "constrained"> = { met: null, constrained: null };
  let found: CausePredictor;
  if (task.method.method === "cox") found = fitCoxByCause(divideAgain(source.study, split));
  else {
    const { model, own } = yield* trainMethod(source, task, backend);
    found = {
      predict: (rows) => predictCauseRows(own, rows, backend),
      warnings: model.training.warnings,
    };
    held = countHeld(model);
  }
  let predicted = await found.predict(split.test);
  if (task.method.boosted) {
    requireRepairRows(split.validation);
    predicted = repairCauses(source.study, await found.predict(split.validation), predicted, seed);
  }
  const seconds = secondsNow();
  const scoring = scoreByCause(predicted, { replicates, seed });
  let next = await scoring.next();
  for (; !next.done; next = await scoring.next()) yield share + (1 - share) * next.value;
  return { ...NOTHING, byCause: next.value, ...held, seconds, failure: null, warnings: found.warnings };
}

/** The split that a task names. */
export function findSplit({ splits }: Pick<CompareSource, "splits">, task: CompareTask): NamedSplit {
  const found = splits.find(({ name }) => name === task.split);
  if (found === undefined)
    throw new InputError(`no such split: "${task.split}"`, { code: "comparison.split" });
  return found;
}

/** The model and its curves of the test rows, repaired on request. */
async function* predictTestRows(
  source: CompareSource,
  task: CompareTask,
  backend: Backend,
): AsyncGenerator<number, { readonly model: Model; readonly predicted: PredictedRows }> {
  const { split } = findSplit(source, task);
  const { model, own } = yield* trainMethod(source, task, backend);
  const test = await predictRows(own, split.test, backend);
  if (!task.method.boosted) return { model, predicted: test };
  return { model, predicted: repair(own, await predictRows(own, split.validation, backend), test) };
}

/** The model of a task, and its study with the task's split. */
async function* trainMethod(
  source: CompareSource,
  task: CompareTask,
  backend: Backend,
): AsyncGenerator<number, { readonly model: Model; readonly own: Study & { readonly model: Model } }> {
  const { split, seed } = findSplit(source, task);
  const study = divideAgain(source.study, split);
  const training = shareOfTraining(train(study, { ...askedOf(source.request, task.method), seed }, backend));
  let next = await training.next();
  for (; !next.done; next = await training.next()) {
    yield task.replicates === null ? next.value : TRAINING_SHARE * next.value;
  }
  const model = next.value;
  return { model, own: studyOf(model, study, split) };
}

/** What is trained. The start is the linear part of a network before its first step. */
function askedOf(request: TrainingRequest, { method, distance }: ComparedMethod): TrainingRequest {
  const constraint = { ...request.constraint, ...present({ distance: distance ?? undefined }) };
  if (method !== "start") return { ...request, method, constraint };
  const { hidden: _, ...rest } = request;
  const options = { ...request.options, steps: 0 };
  return { ...rest, method: "nll", network: "linear", preset: "default", options };
}

/** Everyone, then the groups that are judged. */
function prepareJudged({ curves, binned, groups, audit }: AuditedRows) {
  const judged = new Set(judgedGroups(audit, curves.T));
  const everyone = { name: "all", rows: Int32Array.from({ length: curves.N }, (_, row) => row) };
  return [everyone, ...groups.filter(({ name }) => judged.has(name))].map(({ name, rows }) =>
    prepareScores(name, curves, binned, rows),
  );
}

/** A repair is fitted on validation rows. */
function requireRepairRows(rows: Int32Array): void {
  if (rows.length > 0) return;
  throw new InputError("no validation rows to repair curves on", {
    code: "split.valid",
    hint: "give the split some, e.g. --split 0.6,0.2,0.2",
  });
}

/** The test rows' curves after a boost that was fitted on the validation rows. */
function repair(
  study: Study & { readonly model: Model },
  valid: PredictedRows,
  test: PredictedRows,
): PredictedRows {
  requireRepairRows(valid.rows);
  const { curves, people } = valid;
  const outcomes = requireSingleCause(valid.binned, "a repair");
  const task = { curves, outcomes, groups: pickStudyGroups(study, valid.rows), ...present({ people }) };
  const { boost } = fitGuardedBoost(task, { seed: study.model.training.seed });
  return { ...test, curves: applyBoost(boost, test.curves, { groups: pickStudyGroups(study, test.rows) }) };
}
