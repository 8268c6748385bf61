/**
 * The one training loop (paper, Algorithm 1): a primal step on the Lagrangian, a dual step on the multipliers, and at
 * intervals an evaluation on the validation rows. It is an async generator of events, so that a terminal, a page and an
 * experiment read the same stream. Group statistics come from a cache of every row's last curve; with a full batch,
 * that is every row's current curve. Call `return()` to end early. A run resumes from any of its checkpoints, taken at
 * the ends of epochs, and gives the same bytes. A device that can keep a whole step to itself has a loop of its own
 * (device/device-run.ts) with the same events. No clock, no files, no console.
 */

import type { Backend, DeviceArray } from "../compute/backend.ts";
import { GraduateError } from "../core/errors.ts";
import type { BinnedOutcomes } from "../data/outcomes/outcomes.ts";
import type { SingleNetworkSpec } from "../models/networks/list.ts";
import type { Network } from "../models/networks/network.ts";
import type { ParameterValues } from "../models/networks/parameters.ts";
import type { NamedRows } from "../objectives/constraints.ts";
import { canTrainOnDevice } from "./device/can-train.ts";
import { optimiseOnDevice } from "./device/device-run.ts";
import type { Evaluation, GroupCurve } from "./evaluation.ts";
import type { GroupState, LagrangianState } from "./lagrangian/lagrangian.ts";
import type { OptimiserState } from "./optimiser.ts";
import type { TrainingOptions } from "./options.ts";
import { nameStep } from "./run-errors.ts";
import {
  evaluateRun,
  hasNoPatience,
  openRun,
  refreshCurves,
  type TrainingRun,
  takeCheckpoint,
  takeStep,
} from "./training-run.ts";

/** Rows in the form the training loop takes. */
export interface TrainingRows {
  /** Encoded features, in the backend's memory. */
  readonly x: DeviceArray; // [N,D]
  readonly binned: BinnedOutcomes;
  readonly groups: readonly NamedRows[];
  /** The names of the causes in `binned`; absent where there is one kind of event. */
  readonly causes?: readonly string[];
}

/** A network, and the rows to train and validate it on. */
export interface TrainingInput {
  /** The backend that computes. */
  readonly backend: Backend;
  /** The network, on that backend. */
  readonly network: Network;
  /** The rows it learns from. */
  readonly training: TrainingRows;
  /** The rows used to choose its weights; null for none. */
  readonly validation: TrainingRows | null;
}

/** The state just before step `step` changed anything. */
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
  readonly groupState: GroupState | null;
  /** Whether it is the best so far by the `keep` rule. */
  readonly best: boolean;
  /** Observed and predicted curves of the groups on the validation rows; computed when read, before the run goes on. */
  readonly groupCurves: readonly GroupCurve[];
}

/** Where a run can be resumed; plain data. */
export interface Checkpoint {
  readonly step: number;
  readonly parameters: ParameterValues;
  readonly average: ParameterValues;
  readonly optimiser: OptimiserState;
  /** Null without a constraint. */
  readonly lagrangian: LagrangianState | null;
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
  /** Copied when it is read, which must be before the run goes on: for a wide network it is hundreds of megabytes. */
  readonly checkpoint: Checkpoint;
  /** In an ensemble, the runs that ended before this one. */
  readonly members?: readonly TrainedMember[];
}

/** What an ensemble keeps of a run that has ended. */
export interface TrainedMember {
  readonly network: SingleNetworkSpec;
  readonly parameters: ParameterValues;
  readonly steps: number;
}

/** The events the training loop yields. */
export type TrainingEvent = StepEvent | EvaluationEvent | CheckpointEvent;

export interface OptimiseHooks {
  /** The checkpoint to resume from. */
  readonly resume?: Checkpoint;
  /** Replaces the shuffled batches, e.g. to follow another program's run. */
  readonly batches?: (epoch: number) => readonly Int32Array[];
}

/** The training loop: loss, constraints, primal and dual steps; yields events, returns the last checkpoint. */
export async function* optimise(
  input: TrainingInput,
  options: TrainingOptions,
  hooks: OptimiseHooks = {},
): AsyncGenerator<TrainingEvent, Checkpoint> {
  if (canTrainOnDevice(input, options, hooks)) return yield* optimiseOnDevice(input, options, hooks);
  const run = await openRun(input, options, hooks);
  const { evaluator, batchesOf, perEpoch } = run;
  let lastGood = run.step;
  for (let epoch = Math.floor(run.step / perEpoch); run.step < options.steps; epoch++) {
    await beginEpoch(run, epoch);
    for (const rows of batchesOf(epoch)) {
      if (run.step >= options.steps) break;
      run.step++;
      try {
        yield await takeStep(run, rows);
        await endStep(run);
      } catch (error) {
        throw error instanceof GraduateError ? nameStep(error, run.step, lastGood) : error;
      }
      const isDue = run.step % options.evaluateEvery === 0 || run.step === options.steps;
      if (evaluator && isDue) yield await evaluateRun(run, evaluator);
      if (hasNoPatience(run)) return takeCheckpoint(run);
    }
    lastGood = run.step;
    yield {
      type: "checkpoint",
      step: run.step,
      get checkpoint() {
        return takeCheckpoint(run);
      },
    };
  }
  return takeCheckpoint(run);
}

/**
 * With minibatches, an epoch begins with every row's curve, and with the augmented form's dual step, which needs all
 * curves at the same weights.
 */
async function beginEpoch(run: TrainingRun, epoch: number): Promise<void> {
  const { lagrangian, isWhole, options } = run;
  if (lagrangian === null) return;
  // A full batch replaces every row itself, and is refreshed after each step.
  if (!(isWhole && run.isFilled) && (options.refresh || !run.isFilled)) await refreshCurves(run);
  if (!isWhole && options.dual.form === "augmented" && epoch > 0) lagrangian.takeDualStep(run.step);
}

/** What follows the primal step: a full batch's curves at the new weights, and the dual step when it is due. */
async function endStep(run: TrainingRun): Promise<void> {
  const { lagrangian, isWhole, options } = run;
  if (lagrangian === null) return;
  if (isWhole) await refreshCurves(run);
  // Counted from the first step, so that a run resumed from any checkpoint goes on as it would have.
  const isDue = run.step % run.primalSteps === 0;
  if (isDue && (isWhole || options.dual.form === "ascent")) lagrangian.takeDualStep(run.step);
}
