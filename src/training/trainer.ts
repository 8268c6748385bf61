/**
 * The one training loop (paper, Algorithm 1): a primal step on the Lagrangian, a dual step on the multipliers, now and then an
 * evaluation on the validation rows; an async generator of events, so that a terminal, a page and an experiment read one
 * stream. Group statistics come from a cache of every row's last curve (method §7), which for a full batch is every row's
 * current curve. Ending early is `return()`; a run goes on from any of its checkpoints, taken at the ends of epochs, to the
 * same bytes. No clock, no files, no console.
 */

import type { Backend, Floats } from "../compute/backend.ts";
import { GraduateError, InputError, NumericalError, restate } from "../core/errors.ts";
import { createRandom, shuffle } from "../core/random.ts";
import { type BinnedRightCensored, pickBinned } from "../data/outcomes/outcomes.ts";
import { refuseBeyondCensoring } from "../data/outcomes/right-censored.ts";
import {
  type ParameterValues,
  readParameters,
  type SingleNetworkSpec,
  writeParameters,
} from "../models/networks/create-network.ts";
import type { Network, Parameter } from "../models/networks/network.ts";
import type { NamedRows } from "../objectives/constraints.ts";
import { createCurveWorkspace, fillCurves } from "../objectives/curves.ts";
import { createEvaluator, type Evaluation, isBetter } from "./evaluation.ts";
import { type HeldState, holdGroups, type Standing } from "./lagrangian/held-groups.ts";
import { addObjective } from "./objective.ts";
import {
  averageWeights,
  clipGradientNorm,
  createOptimiser,
  type OptimiserState,
  zeroGradients,
} from "./optimiser.ts";
import type { ObjectiveSpec, TrainingOptions } from "./options.ts";

/** Rows as the training loop takes them. */
export interface TrainingRows {
  /** Encoded features, in the backend's memory. */
  readonly x: Floats; // [N,D]
  readonly binned: BinnedRightCensored;
  readonly groups: readonly NamedRows[];
}

/** A network, and rows to train and to validate it on. */
export interface TrainingInput {
  /** What computes. */
  readonly backend: Backend;
  /** The network, on that backend. */
  readonly network: Network;
  /** The rows it learns from. */
  readonly training: TrainingRows;
  /** The rows its weights are chosen by; null for none. */
  readonly validation: TrainingRows | null;
}

/** How things stood just before step `step` moved anything. */
export interface StepEvent {
  readonly type: "step";
  readonly step: number;
  readonly loss: number;
  readonly lagrangian: number;
  readonly groups: readonly string[];
  /** False for a group that is only reported. */
  readonly constrained: readonly boolean[]; // [G]
  readonly distances: Float64Array; // [G]
  readonly slack: Float64Array; // [G]
  readonly multipliers: Float64Array; // [G]
}

export interface EvaluationEvent {
  readonly type: "evaluation";
  readonly step: number;
  readonly evaluation: Evaluation;
  /** The groups on the training rows; null without a constraint. */
  readonly standing: Standing | null;
  /** Whether it is the best so far by the rule of `keep`. */
  readonly best: boolean;
}

/** Where a run can be taken up again; plain data. */
export interface Checkpoint {
  readonly step: number;
  readonly parameters: ParameterValues;
  readonly average: ParameterValues;
  readonly optimiser: OptimiserState;
  readonly held: HeldState | null;
  readonly startMultipliers: readonly number[];
  readonly best: {
    readonly step: number;
    readonly evaluation: Evaluation;
    readonly parameters: ParameterValues;
  } | null;
}

export interface CheckpointEvent {
  readonly type: "checkpoint";
  readonly step: number;
  /** Taken when it is read, which must be before the run goes on: of a wide network it is hundreds of megabytes. */
  readonly checkpoint: Checkpoint;
  /** Of an ensemble, the runs that ended before this one. */
  readonly members?: readonly TrainedMember[];
}

/** What an ensemble keeps of a run that has ended. */
export interface TrainedMember {
  readonly network: SingleNetworkSpec;
  readonly parameters: ParameterValues;
  readonly steps: number;
}

/** What the training loop says as it goes on. */
export type TrainingEvent = StepEvent | EvaluationEvent | CheckpointEvent;

export interface OptimiseHooks {
  /** Where to go on from. */
  readonly resume?: Checkpoint;
  /** In place of shuffled batches, e.g. to follow another program's run. */
  readonly batches?: (epoch: number) => readonly Int32Array[];
}

/** A step over all rows takes them in parts of this many, whose activations (H = 50, T = 102) half of 2 GiB still holds. */
const PART_ROWS = 8192;

/** Apart from the streams of splits, weights and multipliers. */
const BATCH_STREAM = 0x40000000;

/** The rows of each batch of an epoch: a shuffle by seed and epoch, the last batch as small as it comes. */
export function shuffleBatches(N: number, size: number, seed: number, epoch: number): Int32Array[] {
  const order = Int32Array.from({ length: N }, (_, row) => row);
  if (size < N) shuffle(order, createRandom(seed, BATCH_STREAM + epoch));
  const batches: Int32Array[] = [];
  for (let from = 0; from < N; from += size) batches.push(order.slice(from, from + size));
  return batches;
}

/** The training loop: loss, constraints, primal and dual steps; yields events, returns the last checkpoint. */
export async function* optimise(
  input: TrainingInput,
  options: TrainingOptions,
  hooks: OptimiseHooks = {},
): AsyncGenerator<TrainingEvent, Checkpoint> {
  const { backend, network, training } = input;
  refuseBeyondCensoring(training.binned, "training");
  if (input.validation) refuseBeyondCensoring(input.validation.binned, "training");
  const { D, T, parameters } = network;
  const N = training.binned.bin.length;
  if (N === 0) throw new InputError("no training rows", { code: "rows.none" });
  const size = Math.min(options.batch ?? N, N);
  const batchesOf = hooks.batches ?? ((epoch) => shuffleBatches(N, size, options.seed, epoch));
  const perEpoch = batchesOf(0).length;
  const isWhole = size === N && perEpoch === 1;
  // Batches are small by themselves; all rows at once are taken in parts, where the loss is a mean over rows.
  const part = isWhole && isRowwise(options.objective) ? Math.min(N, options.partRows ?? PART_ROWS) : size;
  const isOnePart = isWhole && part === N;
  const primalSteps = options.primalSteps ?? 1;
  if (!(Number.isInteger(primalSteps) && primalSteps >= 1)) {
    throw new InputError(`updates to a dual step are not a whole number, 1 or more: ${primalSteps}`, {
      code: "option.invalid",
    });
  }
  const x = backend.allocate(part * D);
  const logits = backend.allocate(part * T);
  const dLogits = backend.allocate(part * T);
  const curves = createCurveWorkspace(part, T);
  const { constraint, dual } = options;
  const { binned, groups } = training;
  const held =
    constraint && holdGroups({ constraint, dual, binned, groups, seed: options.seed, whole: isWhole });
  const optimiser = createOptimiser(parameters, options.optimiser);
  const evaluate = input.validation && createEvaluator(backend, network, input.validation, constraint);

  const { resume } = hooks;
  if (resume) {
    writeParameters(network, resume.parameters);
    optimiser.restore(resume.optimiser);
    if (resume.held) held?.restore(resume.held);
  }
  const startMultipliers = resume?.startMultipliers ?? Array.from(held?.multipliers ?? []);
  const average: ParameterValues = resume ? copyOf(resume.average) : readParameters(network);
  let best = resume?.best ?? null;
  let step = resume?.step ?? 0;
  let lastGood = step;
  /** Whether the cache holds every row, and whether logits are those of all rows at the weights as they are. */
  let filled = false;
  let current = false;

  const forward = async (rows: Int32Array) => {
    rows.forEach((row, k) => {
      x.set(training.x.subarray(row * D, (row + 1) * D), k * D);
    });
    await network.forward(x, rows.length, logits);
    if (held) fillCurves(logits, rows.length, T, curves);
  };
  /** Every row's curve at the weights as they are. */
  const refresh = async () => {
    const filling = held?.refill();
    for (const rows of listParts(
      Int32Array.from({ length: N }, (_, row) => row),
      part,
    )) {
      await forward(rows);
      filling?.take(curves, rows);
    }
    filling?.finish();
    filled = true;
    current = isOnePart;
  };
  const takeStep = async (rows: Int32Array): Promise<StepEvent> => {
    zeroGradients(parameters);
    let loss = 0;
    let term = 0;
    // Each part's mean loss and pressure count by its share of the rows; one part is the plain step.
    for (const taken of listParts(rows, part)) {
      const share = taken.length / rows.length;
      if (!current) await forward(taken);
      dLogits.fill(0);
      loss += share * addObjective(options.objective, logits, pickBinned(binned, taken), dLogits);
      term = held?.press(curves, taken, dLogits) ?? 0;
      if (share < 1) for (let k = 0; k < taken.length * T; k++) dLogits[k] *= share;
      if (Number.isFinite(loss + term)) await network.backward(x, taken.length, dLogits);
    }
    const lagrangian = loss + term;
    if (!Number.isFinite(lagrangian)) {
      throw new NumericalError(`the Lagrangian is not a number: ${lagrangian}`, { code: "loss.nan" });
    }
    const event: StepEvent = {
      type: "step",
      step,
      loss,
      lagrangian,
      groups: held?.constraints.groups.map(({ name }) => name) ?? [],
      constrained: held?.constraints.groups.map(({ constrained }) => constrained) ?? [],
      distances: held?.distances() ?? new Float64Array(0),
      slack: held?.slack ?? new Float64Array(0),
      multipliers: held?.multipliers ?? new Float64Array(0),
    };
    if (options.clip !== null) clipGradientNorm(parameters, options.clip);
    optimiser.step();
    refuseOverflow(parameters);
    current = false;
    averageWeights(average, parameters, step > options.average.from ? options.average.decay : 0);
    return event;
  };
  /** A run that keeps an average is judged by it. */
  const keepsAverage = options.keep === "average" || options.keep === "validation";
  const judge = async (evaluateNow: () => Promise<Evaluation>): Promise<EvaluationEvent> => {
    const iterate = readParameters(network);
    if (keepsAverage) writeParameters(network, average);
    const evaluation = await evaluateNow();
    const isBest =
      best === null || isBetter(evaluation, best.evaluation, options.keep, held?.groupSlack ?? {});
    if (isBest) best = { step, evaluation, parameters: readParameters(network) };
    if (keepsAverage) writeParameters(network, iterate);
    return { type: "evaluation", step, evaluation, standing: held?.standing() ?? null, best: isBest };
  };
  const checkpoint = (): Checkpoint => ({
    step,
    parameters: readParameters(network),
    average: copyOf(average),
    optimiser: optimiser.state(),
    held: held?.state() ?? null,
    startMultipliers,
    best,
  });

  for (let epoch = Math.floor(step / perEpoch); step < options.steps; epoch++) {
    // A full batch replaces every row by itself, and its refresh comes after each step.
    if (held && !(isWhole && filled) && (options.refresh || !filled)) await refresh();
    if (held && !isWhole && dual.form === "augmented" && epoch > 0) held.raise(step);
    for (const rows of batchesOf(epoch)) {
      if (step >= options.steps) break;
      step++;
      try {
        yield await takeStep(rows);
        if (held && isWhole) await refresh();
        // Counted from the first step, so that a run goes on from any checkpoint as it would have.
        const isDual = step % primalSteps === 0;
        if (held && isDual && (isWhole || dual.form === "ascent")) held.raise(step);
      } catch (error) {
        throw error instanceof GraduateError ? nameStep(error, step, lastGood) : error;
      }
      if (evaluate && (step % options.evaluateEvery === 0 || step === options.steps))
        yield await judge(evaluate);
      if (options.patience !== null && step - (best?.step ?? step) >= options.patience) return checkpoint();
    }
    lastGood = step;
    yield {
      type: "checkpoint",
      step,
      get checkpoint() {
        return checkpoint();
      },
    };
  }
  return checkpoint();
}

function refuseOverflow(parameters: readonly Parameter[]): void {
  for (const { name, values } of parameters) {
    for (let k = 0; k < values.length; k++) {
      if (Number.isFinite(values[k])) continue;
      throw new NumericalError(`the weights "${name}" are no longer finite`, {
        code: "weights.nan",
        hint: "a smaller rate of the optimiser may hold",
      });
    }
  }
}

/** Whether the loss is a mean over rows, so that parts of them can be added up. */
function isRowwise(objective: ObjectiveSpec): boolean {
  return objective.kind === "likelihood" || (objective.kind === "rps" && objective.ranking === undefined);
}

function listParts(rows: Int32Array, size: number): Int32Array[] {
  const parts: Int32Array[] = [];
  for (let from = 0; from < rows.length; from += size) parts.push(rows.subarray(from, from + size));
  return parts;
}

function copyOf(values: ParameterValues): ParameterValues {
  return Object.fromEntries(Object.entries(values).map(([name, list]) => [name, [...list]]));
}

/** Of the same class: what was refused for want of memory has not diverged. */
function nameStep(error: GraduateError, step: number, lastGood: number): GraduateError {
  const kept =
    lastGood > 0
      ? `the last good checkpoint is that of step ${lastGood}`
      : "there is no checkpoint before it";
  const hint = error.hint === undefined ? kept : `${kept}; ${error.hint}`;
  return restate(error, { message: `training stopped at step ${step}: ${error.message}`, hint });
}
