/**
 * The state of one run of the training loop, and the operations of the loop on it: a forward pass over some rows, a
 * primal step, a refresh of every row's curve, an evaluation, a checkpoint. A step over all rows takes them in parts
 * that fit in the backend at once; a batch is one part. When all rows are one part, the pass that refreshes the curves
 * after a step is also the next step's forward pass. trainer.ts decides the order of these operations.
 */
import type { DeviceArray } from "../compute/backend.ts";
import { allocateDoubles } from "../compute/shared-arrays.ts";
import { InputError, NumericalError } from "../core/errors.ts";
import {
  type HostParameter,
  type HostParameters,
  mirrorParameters,
} from "../models/networks/host-parameters.ts";
import type { Activations } from "../models/networks/network.ts";
import { type ParameterValues, zeroGradients } from "../models/networks/parameters.ts";
import { shuffleBatches } from "./batches.ts";
import { createEvaluator, type Evaluator, isBetter } from "./evaluation.ts";
import { createHostLoss, type HostLoss } from "./host-loss.ts";
import { causeRows } from "../objectives/causes/cause-rows.ts";
import { createLagrangian, type Lagrangian } from "./lagrangian/lagrangian.ts";
import { seeRows } from "./rows/cause-view.ts";
import { averageWeights, clipGradientNorm, createOptimiser, type Optimiser } from "./optimiser.ts";
import type { ObjectiveSpec, TrainingOptions } from "./options.ts";
import { refuseNaN } from "./run-errors.ts";
import type { Checkpoint, EvaluationEvent, OptimiseHooks, StepEvent, TrainingInput } from "./trainer.ts";

export interface TrainingRun {
  readonly input: TrainingInput;
  readonly options: TrainingOptions;
  /** The rows of an epoch's batches, and how many batches there are. */
  readonly batchesOf: (epoch: number) => readonly Int32Array[];
  readonly perEpoch: number;
  /** Whether a step takes all rows. */
  readonly isWhole: boolean;
  /** The largest number of rows in a pass. */
  readonly part: number;
  /** Updates per dual step. */
  readonly primalSteps: number;
  /** For a pass: its rows, what it keeps, and where its logits become dLogits. */
  readonly x: DeviceArray; // [part,D]
  readonly activations: Activations;
  readonly loss: HostLoss;
  readonly lagrangian: Lagrangian | null;
  readonly parameters: HostParameters;
  readonly optimiser: Optimiser;
  /** Evaluates on the validation rows; null without any. */
  readonly evaluator: Evaluator | null;
  readonly startMultipliers: readonly number[];
  readonly average: ParameterValues;
  /** The number of steps begun. */
  step: number;
  best: Checkpoint["best"];
  /** Whether the cache of statistics has every row. */
  isFilled: boolean;
  /** Whether logits and activations are those of all rows at the current weights. */
  isCurrent: boolean;
}

export async function openRun(
  input: TrainingInput,
  options: TrainingOptions,
  hooks: OptimiseHooks,
): Promise<TrainingRun> {
  const { backend, network, training, validation } = input;
  const { constraint, dual, seed, objective } = options;
  const { binned } = training;
  const { K } = network;
  const N = binned.bin.length;
  if (N === 0) throw new InputError("no training rows", { code: "rows.none" });
  const primalSteps = checkPrimalSteps(options);
  const size = Math.min(options.batch ?? N, N);
  const batchesOf = hooks.batches ?? ((epoch) => shuffleBatches(N, size, seed, epoch));
  const perEpoch = batchesOf(0).length;
  const isWhole = size === N && perEpoch === 1;
  // Batches are already small; all rows at once are taken in parts when the loss is a mean over rows.
  const most = options.partRows ?? backend.rowsAtOnce({ T: network.T, K, keep: true });
  const part = isWhole && isRowwise(objective) ? Math.min(N, most) : size;
  const allocate = (length: number) => allocateDoubles(backend, length);
  const lagrangian =
    constraint &&
    createLagrangian({ constraint, dual, ...seeRows(training), people: N, seed, whole: isWhole, allocate });
  const parameters = await mirrorParameters(network);
  const optimiser = createOptimiser(parameters.list, options.optimiser);
  const { resume } = hooks;
  if (resume) {
    parameters.write(resume.parameters);
    optimiser.restore(resume.optimiser);
    if (resume.lagrangian) lagrangian?.restore(resume.lagrangian);
  }
  return {
    input,
    options,
    batchesOf,
    perEpoch,
    isWhole,
    part,
    primalSteps,
    x: backend.allocate(part * network.D),
    activations: network.createActivations(),
    loss: createHostLoss(backend, { objective, lagrangian, binned, K, room: part }),
    lagrangian,
    parameters,
    optimiser,
    evaluator: validation && createEvaluator(backend, network, validation, constraint),
    startMultipliers: resume?.startMultipliers ?? Array.from(lagrangian?.multipliers ?? []),
    average: resume ? copyOf(resume.average) : parameters.read(),
    step: resume?.step ?? 0,
    best: resume?.best ?? null,
    isFilled: false,
    isCurrent: false,
  };
}

export function checkPrimalSteps({ primalSteps = 1 }: TrainingOptions): number {
  if (Number.isInteger(primalSteps) && primalSteps >= 1) return primalSteps;
  throw new InputError(`updates per dual step are not a whole number from 1 up: ${primalSteps}`, {
    code: "option.invalid",
  });
}

/** Whether the loss is a mean over rows, so that parts of them can be added up. */
function isRowwise(objective: ObjectiveSpec): boolean {
  return objective.kind === "likelihood" || (objective.kind === "rps" && objective.ranking === undefined);
}

/** Computes the logits of these rows and, under a constraint, their curves. */
async function forward(run: TrainingRun, rows: Int32Array, keep: Activations | null): Promise<void> {
  const { input, x, loss } = run;
  const { backend, network, training } = input;
  backend.gatherRows(training.x, network.D, rows, x);
  await network.forward(x, rows.length, loss.logits, keep);
  await loss.readLogits(rows.length);
}

/** Refreshes every row's curve at the current weights. */
export async function refreshCurves(run: TrainingRun): Promise<void> {
  const { lagrangian, loss, activations } = run;
  const { K } = run.input.network;
  const all = new Int32Array(run.input.training.binned.bin.length).map((_, row) => row);
  const isNextPass = run.isWhole && run.part === all.length;
  const filling = lagrangian?.refill();
  for (const rows of listParts(all, run.part)) {
    await forward(run, rows, isNextPass ? activations : null);
    filling?.take(loss.curves, K === 1 ? rows : causeRows(rows, K));
  }
  filling?.finish();
  run.isFilled = true;
  run.isCurrent = isNextPass;
}

/** The primal step: the Lagrangian's gradient over these rows, and the optimiser's move along it. */
export async function takeStep(run: TrainingRun, rows: Int32Array): Promise<StepEvent> {
  const { options, parameters, lagrangian } = run;
  const { loss, lagrangianValue } = await sumGradients(run, rows);
  const groups = lagrangian?.constraints.groups ?? [];
  const event: StepEvent = {
    type: "step",
    step: run.step,
    loss,
    lagrangian: lagrangianValue,
    groups: groups.map(({ name }) => name),
    constrained: groups.map(({ constrained }) => constrained),
    distances: lagrangian?.distances() ?? new Float64Array(0),
    slack: lagrangian?.slack ?? new Float64Array(0),
    multipliers: lagrangian?.multipliers ?? new Float64Array(0),
  };
  if (options.clip !== null) clipGradientNorm(parameters.list, options.clip);
  run.optimiser.step();
  refuseOverflow(parameters.list);
  parameters.pushValues();
  run.isCurrent = false;
  const { from, decay } = options.average;
  averageWeights(run.average, parameters.list, run.step > from ? decay : 0);
  return event;
}

/** Each part's mean loss and Lagrangian term are weighted by its share of the rows; one part is the plain step. */
async function sumGradients(
  run: TrainingRun,
  rows: Int32Array,
): Promise<{ readonly loss: number; readonly lagrangianValue: number }> {
  const { input, activations, parameters } = run;
  const { network } = input;
  zeroGradients(network);
  let loss = 0;
  let term = 0;
  for (const taken of listParts(rows, run.part)) {
    const share = taken.length / rows.length;
    if (!run.isCurrent) await forward(run, taken, activations);
    const part = await run.loss.differentiate(taken, share);
    loss += share * part.loss;
    term = part.term;
    if (Number.isFinite(loss + term)) await network.backward(activations, run.loss.dLogits);
  }
  const lagrangianValue = loss + term;
  refuseNaN(lagrangianValue);
  await parameters.pullGradients();
  return { loss, lagrangianValue };
}

/** A run that keeps an average is evaluated at the average. */
export async function evaluateRun(
  run: TrainingRun,
  { evaluate, groupCurves }: Evaluator,
): Promise<EvaluationEvent> {
  const { options, parameters, lagrangian, step } = run;
  const keepsAverage = options.keep === "average" || options.keep === "validation";
  const iterate = parameters.read();
  if (keepsAverage) parameters.write(run.average);
  const evaluation = await evaluate();
  const slack = lagrangian?.groupSlack ?? {};
  const isBest = run.best === null || isBetter(evaluation, run.best.evaluation, options.keep, slack);
  if (isBest) run.best = { step, evaluation, parameters: parameters.read() };
  if (keepsAverage) parameters.write(iterate);
  return {
    type: "evaluation",
    step,
    evaluation,
    groupState: lagrangian?.groupState() ?? null,
    best: isBest,
    get groupCurves() {
      return groupCurves();
    },
  };
}

export function hasNoPatience({
  step,
  best,
  options: { patience },
}: Pick<TrainingRun, "step" | "best" | "options">): boolean {
  return patience !== null && step - (best?.step ?? step) >= patience;
}

export function takeCheckpoint(run: TrainingRun): Checkpoint {
  const { step, parameters, average, optimiser, lagrangian, startMultipliers, best } = run;
  return {
    step,
    parameters: parameters.read(),
    average: copyOf(average),
    optimiser: optimiser.state(),
    lagrangian: lagrangian?.state() ?? null,
    startMultipliers,
    best,
  };
}

function refuseOverflow(parameters: readonly HostParameter[]): void {
  for (const { name, values } of parameters) {
    for (let k = 0; k < values.length; k++) {
      if (Number.isFinite(values[k])) continue;
      throw new NumericalError(`the weights "${name}" are no longer finite`, {
        code: "weights.nan",
        hint: "try a smaller learning rate",
      });
    }
  }
}

function listParts(rows: Int32Array, size: number): Int32Array[] {
  const parts: Int32Array[] = [];
  for (let from = 0; from < rows.length; from += size) parts.push(rows.subarray(from, from + size));
  return parts;
}

function copyOf(values: ParameterValues): ParameterValues {
  return Object.fromEntries(Object.entries(values).map(([name, list]) => [name, [...list]]));
}
