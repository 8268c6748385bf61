/**
 * One method of a comparison on one split: trained, repaired on the validation rows on request, and scored on the test
 * rows; if there is only one split, also on resamples of them. A run that fails numerically is a result like any other;
 * the comparison goes on without it.
 */
import { requireRightCensored } from "../../data/outcomes/outcomes.ts";
import type { Backend } from "../../compute/backend.ts";
import { InputError, NumericalError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { Split } from "../../data/outcomes/split.ts";
import { applyBoost } from "../../repair/mcboost.ts";
import { prepareScores } from "../../stats/scores/prepared-scores.ts";
import { divideAgain, type PreparedStudy } from "../../study/prepare.ts";
import { pickStudyGroups, type Study } from "../../study/study.ts";
import type { DistanceName, Method } from "../../training/choices.ts";
import type { Model } from "../../training/model.ts";
import { type AuditOptions, type AuditTable, bootstrapHere } from "../audit.ts";
import { type AuditedRows, auditRows, type PredictedRows, predictRows } from "../audit-model.ts";
import { fitGuardedBoost } from "../boost.ts";
import { studyOf } from "../model-study.ts";
import { shareOfTraining } from "../runs.ts";
import { train } from "../train.ts";
import type { TrainingRequest } from "../train-request.ts";
import { drawsOf, judgedGroups, type MethodScores, readScores, type ScoreDraws } from "./differences.ts";

/** What is compared: a method, with its distance and a repair of its curves. */
export interface ComparedMethod {
  /** As it was asked for: "graduate:l2+boost". */
  readonly label: string;
  readonly method: Method;
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
  try {
    const { model, predicted } = yield* predictTestRows(source, task, backend);
    const seconds = secondsNow();
    const scored = await auditRows(predicted, { draws: 0 });
    const options = { replicates: replicates ?? 0, seed, ...present({ people: scored.people }) };
    const { verdict, warnings } = model.training;
    const held = verdict.filter(({ status }) => status !== "unsupported");
    return {
      scores: readScores(scored.audit, predicted.curves.T),
      audit: scored.audit,
      draws: replicates === null ? null : drawsOf(await bootstrap(prepareJudged(scored), options)),
      met: held.length === 0 ? null : held.filter(({ status }) => status === "met").length,
      constrained: held.length === 0 ? null : held.length,
      seconds,
      failure: null,
      warnings,
    };
  } catch (error) {
    if (!(error instanceof NumericalError)) throw error;
    const nothing = { scores: null, audit: null, draws: null, met: null, constrained: null };
    return { ...nothing, seconds: secondsNow(), failure: error.message, warnings: [] };
  }
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
  const { request } = source;
  const { method, replicates } = task;
  const { split, seed } = findSplit(source, task);
  const constraint = { ...request.constraint, ...present({ distance: method.distance ?? undefined }) };
  const asked = { ...request, seed, method: method.method, constraint };
  const study = divideAgain(source.study, split);
  const training = shareOfTraining(train(study, asked, backend));
  let next = await training.next();
  for (; !next.done; next = await training.next()) {
    yield replicates === null ? next.value : TRAINING_SHARE * next.value;
  }
  const model = next.value;
  const own = studyOf(model, study, split);
  const test = await predictRows(own, split.test, backend);
  if (!method.boosted) return { model, predicted: test };
  return { model, predicted: repair(own, await predictRows(own, split.validation, backend), test) };
}

/** Everyone, then the groups that are judged. */
function prepareJudged({ curves, binned, groups, audit }: AuditedRows) {
  const judged = new Set(judgedGroups(audit, curves.T));
  const everyone = { name: "all", rows: Int32Array.from({ length: curves.N }, (_, row) => row) };
  return [everyone, ...groups.filter(({ name }) => judged.has(name))].map(({ name, rows }) =>
    prepareScores(name, curves, binned, rows),
  );
}

/** What to do instead of a repair under late entry or with weights. */
export const NO_REPAIR = "compare methods without +boost";

/** The test rows' curves after a boost that was fitted on the validation rows. */
function repair(
  study: Study & { readonly model: Model },
  valid: PredictedRows,
  test: PredictedRows,
): PredictedRows {
  if (valid.rows.length === 0) {
    throw new InputError("no validation rows to repair curves on", {
      code: "split.valid",
      hint: "give the split some, e.g. --split 0.6,0.2,0.2",
    });
  }
  const { curves, people } = valid;
  const outcomes = requireRightCensored(valid.binned, "a repair", NO_REPAIR);
  const task = { curves, outcomes, groups: pickStudyGroups(study, valid.rows), ...present({ people }) };
  const { boost } = fitGuardedBoost(task, { seed: study.model.training.seed });
  return { ...test, curves: applyBoost(boost, test.curves, { groups: pickStudyGroups(study, test.rows) }) };
}
