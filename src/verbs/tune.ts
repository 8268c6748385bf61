/**
 * Tune: which of several settings to train with. Every setting is trained once for each seed and scored on the
 * validation rows (tuning/scores.ts); then come the frontier and the choice by a rule that is stated in words
 * (tuning/selection.ts). The runs of the plan go through a runner, which is this thread unless another is given. They
 * do not get the test rows; the chosen setting is trained again with them, after the choice.
 */
import type { Backend } from "../compute/backend.ts";
import { createReferenceBackend } from "../compute/reference.ts";
import { InputError, NumericalError } from "../core/errors.ts";
import { present } from "../core/present.ts";
import { type PreparedStudy, withSplit } from "../study/prepare.ts";
import { countSets, type SetSizes } from "../study/split.ts";
import type { Model, Provenance } from "../training/model.ts";
import type { AuditTable } from "./audit.ts";
import { auditModel } from "./audit-model.ts";
import { auditCauseModel } from "./causes/audit-cause-model.ts";
import type { CauseAuditTable } from "./causes/audit-causes.ts";
import { refuseOneKind } from "./causes/refuse-one-kind.ts";
import { studyOf } from "./model-study.ts";
import { ENTERED_LATE } from "../stats/scores/history-scores.ts";
import { followRuns, type RunEvent, type Runner, runInTurn, shareOfTraining } from "./runs.ts";
import { train } from "./train.ts";
import type { TrainingRequest } from "./train-request.ts";
import { scoreCauseRun } from "./tuning/cause-scores.ts";
import { type RunScores, scoreRun } from "./tuning/scores.ts";
import {
  type Selection,
  type SelectionRule,
  type SettingSummary,
  selectSetting,
  summariseRuns,
  type TuneRun,
} from "./tuning/selection.ts";
import { requestOfSetting, type Setting } from "./tuning/settings.ts";

/** The settings to try, and how to choose among them. */
export interface TuneChoices {
  /** As `expandSweep` makes them, without duplicates. */
  readonly settings: readonly Setting[];
  /** Every setting is trained once for each of these; the request's seed alone unless given. */
  readonly seeds?: readonly number[];
  /** How the setting is chosen: "calibrated" unless another rule is named. */
  readonly select?: SelectionRule;
}

/** One line of the plan. */
export interface TuneTask {
  readonly setting: Setting;
  readonly seed: number;
}

/** The result of one line: scores, or why the run failed. */
export interface TuneResult {
  readonly scores: RunScores | null;
  readonly failure: string | null;
  readonly warnings: readonly string[];
}

/** What runs of the plan need in addition to their task. */
export interface TuneSource {
  /** Without test rows. */
  readonly study: PreparedStudy;
  /** What all runs share. */
  readonly request: TrainingRequest;
}

/** The events of a sweep. */
export type TuneEvent =
  | { readonly type: "start"; readonly rows: SetSizes; readonly plan: readonly TuneTask[] }
  | RunEvent<TuneResult>;

/** What a sweep found. */
export interface TuneOutcome {
  readonly rows: SetSizes;
  readonly seeds: readonly number[];
  /** In the order of the plan: for each setting, its seeds. */
  readonly runs: readonly TuneRun[];
  readonly settings: readonly SettingSummary[];
  readonly selection: Selection;
  /** The setting that was chosen; null when none can be. */
  readonly chosen: Setting | null;
  /** Where causes compete, their names: scores are means over them. */
  readonly causes?: readonly string[];
}

/** What a sweep runs on: backend, runner, signal. */
export interface TuneOptions {
  /** The backend of this thread, where there is no runner; the plain one, which is slow, unless given. */
  readonly backend?: Backend;
  /** Runs the plan; this thread, one run after the other, unless given. */
  readonly runner?: Runner<TuneTask, TuneResult>;
  /** Stops the runs of this thread. */
  readonly signal?: AbortSignal;
}

/**
 * Trains with every setting, scores on the validation rows and chooses. All runs share `request`. Yields the runner's
 * events, and returns the outcome.
 */
export async function* tune(
  study: PreparedStudy,
  request: TrainingRequest,
  { settings, seeds = [request.seed ?? 1], select }: TuneChoices,
  { backend = createReferenceBackend(), runner, signal }: TuneOptions = {},
): AsyncGenerator<TuneEvent, TuneOutcome> {
  refuseSettings(study, settings);
  refuseSelection(study, select);
  const source: TuneSource = { study: hideTestRows(study), request };
  const run = runner ?? runInTurn((task) => runSetting(source, task, backend), present({ signal }));
  const rows = countSets(study.split);
  const plan = planTune(settings, seeds);
  yield { type: "start", rows, plan };
  const results = yield* followRuns(run(plan));
  const runs = plan.map(({ setting, seed: own }, k): TuneRun => {
    const { scores, failure } = results[k];
    return { setting, seed: own, scores, failure };
  });
  const summaries = summariseRuns(runs);
  const selection = selectSetting(summaries, select, { byCause: study.causes !== null });
  const chosen = selection.chosen === null ? null : summaries[selection.chosen].setting;
  return {
    rows,
    seeds,
    runs,
    settings: summaries,
    selection,
    chosen,
    ...present({ causes: study.causes ?? undefined }),
  };
}

/** Settings that several causes cannot be trained with, before any is. */
function refuseSettings({ causes }: PreparedStudy, settings: readonly Setting[]): void {
  if (causes === null) return;
  for (const { method, preset } of settings) {
    refuseOneKind(causes, { method, preset }, "sweep graduate and nll");
    if (method !== "cox") continue;
    throw new InputError("a Cox model is of one hazard: there is none of several causes to choose", {
      code: "method.causes",
      hint: "leave cox out; `graduate compare --methods cox,graduate` scores one Cox model a cause beside others",
    });
  }
}

/** Rules that go by scores which late entry leaves undefined. */
function refuseSelection({ outcomes, causes }: PreparedStudy, select: SelectionRule = "calibrated"): void {
  if (outcomes.entry === undefined) return;
  if (causes !== null && select !== "worst") {
    throw new InputError("under late entry a setting of several causes has no concordance to be chosen by", {
      code: "option.conflict",
      hint: "choose by --select worst (events of each cause against the expected ones)",
    });
  }
  if (select !== "total") return;
  throw new InputError(`settings cannot be chosen by the total score under late entry: ${ENTERED_LATE}`, {
    code: "option.conflict",
    hint: "choose by --select calibrated (events against the expected ones), worst or concordance",
  });
}

/** Every setting with every seed. */
export function planTune(settings: readonly Setting[], seeds: readonly number[]): readonly TuneTask[] {
  return settings.flatMap((setting) => seeds.map((seed) => ({ setting, seed })));
}

/** The study for all runs of a sweep, without the test rows. */
export function hideTestRows(study: PreparedStudy): PreparedStudy {
  const { split } = study;
  if (split.validation.length === 0) {
    throw new InputError("no validation rows to choose on", {
      code: "split.valid",
      hint: "give the split some, e.g. --split 0.6,0.2,0.2",
    });
  }
  return withSplit(study, { ...split, test: new Int32Array(0) });
}

/** Runs one line of the plan: trains with the setting and scores on the validation rows. */
export async function* runSetting(
  { study, request }: TuneSource,
  { setting, seed }: TuneTask,
  backend: Backend,
): AsyncGenerator<number, TuneResult> {
  try {
    const training = train(study, requestOfSetting(setting, request, seed), backend);
    const model = yield* shareOfTraining(training);
    const scores = await scoreValidation(studyOf(model, study, study.split), backend);
    return { scores, failure: null, warnings: model.training.warnings };
  } catch (error) {
    // A run that fails numerically is a result like any other.
    if (!(error instanceof NumericalError)) throw error;
    return { scores: null, failure: error.message, warnings: [] };
  }
}

function scoreValidation(own: ReturnType<typeof studyOf>, backend: Backend): Promise<RunScores> {
  return own.causes === null ? scoreRun(own, backend) : scoreCauseRun(own, backend);
}

/** The chosen model, with its scores on the rows it was chosen by and on the rows it had not seen. */
export interface ChosenModel {
  readonly model: Model;
  readonly validation: RunScores;
  /** Null where there are no test rows. */
  readonly test: AuditTable | CauseAuditTable | null;
}

/** Repeats the chosen run, with the same weights to the last bit, now with its test rows. */
export async function trainChosen(
  study: PreparedStudy,
  request: TrainingRequest,
  { setting, seed }: TuneTask,
  backend: Backend,
  provenance?: Provenance,
): Promise<ChosenModel> {
  const asked = { ...requestOfSetting(setting, request, seed), ...present({ provenance }) };
  const training = shareOfTraining(train(study, asked, backend));
  let next = await training.next();
  while (!next.done) next = await training.next();
  const model = next.value;
  const own = studyOf(model, study, study.split);
  const { test: rows } = study.split;
  const judge = own.causes === null ? auditModel : auditCauseModel;
  return {
    model,
    validation: await scoreValidation(own, backend),
    test: rows.length === 0 ? null : (await judge(own, rows, backend)).audit,
  };
}
