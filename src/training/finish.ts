/**
 * The end of a run: which weights are kept, and what can be said of them. The verdict per group is computed at the kept
 * weights, on training and validation rows: whether the constraint is met, and by how much. An infeasible slack ends
 * with a sentence, not with silence.
 */
import { present } from "../core/present.ts";
import { type ParameterValues, readParameters, writeParameters } from "../models/networks/parameters.ts";
import { prepareConstraints } from "../objectives/constraints.ts";
import { freshNoise, resolveSlack } from "../objectives/slack.ts";
import type { KeepRule } from "./choices.ts";
import { createEvaluator, type Evaluation } from "./evaluation.ts";
import { FIXED_PENALTY_BELOW, relativeMove } from "./lagrangian/dual.ts";
import type { TrainingOptions } from "./options.ts";
import type { Checkpoint, TrainingInput } from "./trainer.ts";

/** Whether one group's constraint was met. */
export interface GroupVerdict {
  readonly group: string;
  readonly n: number;
  readonly events: number;
  readonly slack: number;
  /** The distance a perfect model shows on a fresh sample of the group's size. */
  readonly noise: number;
  readonly train: number;
  readonly validation: number | null;
  /** On the training rows; null for a group that is only reported. */
  readonly met: boolean | null;
  /** Why a group is only reported. */
  readonly reason: string | null;
}

/** The weights that were kept, and how they perform. */
export interface TrainingResult {
  readonly parameters: ParameterValues;
  readonly keep: KeepRule;
  readonly steps: number;
  /** The step whose weights are kept; for an average, the last one in it. */
  readonly bestStep: number;
  readonly train: Evaluation;
  readonly validation: Evaluation | null;
  readonly verdict: readonly GroupVerdict[];
  readonly multipliers: {
    readonly start: readonly number[];
    readonly end: readonly number[];
    /** True when they hardly moved: the run was in effect a fixed penalty. */
    readonly fixedPenalty: boolean;
  };
}

/** Sets the network to the kept weights. */
export async function finishRun(
  input: TrainingInput,
  options: TrainingOptions,
  checkpoint: Checkpoint,
): Promise<TrainingResult> {
  const { backend, network, training, validation } = input;
  const { best } = checkpoint;
  const { keep } = options;
  const chosen = keep === "average" || keep === "last" ? null : best;
  const isAverage = keep === "average" || keep === "validation";
  const kept = chosen?.parameters ?? (isAverage ? checkpoint.average : checkpoint.parameters);
  writeParameters(network, kept);
  const { constraint } = options;
  const train = await createEvaluator(backend, network, training, constraint)();
  const unseen = validation && (await createEvaluator(backend, network, validation, constraint)());
  const start = checkpoint.startMultipliers;
  const end = checkpoint.lagrangian?.multipliers ?? [];
  return {
    parameters: await readParameters(network),
    keep,
    steps: checkpoint.step,
    bestStep: chosen?.step ?? checkpoint.step,
    train,
    validation: unseen,
    verdict: judgeGroups(input, options, train, unseen),
    multipliers: {
      start,
      end,
      fixedPenalty:
        start.length === end.length && start.length > 0 && relativeMove(start, end) < FIXED_PENALTY_BELOW,
    },
  };
}

/** For each group, whether the evaluated curves meet the constraint. */
export function judgeGroups(
  { training }: Pick<TrainingInput, "training">,
  { constraint }: TrainingOptions,
  train: Evaluation,
  validation: Evaluation | null,
): GroupVerdict[] {
  if (constraint === null) return [];
  const { distance, variant, kappa } = constraint;
  const { binned, groups } = training;
  const constraints = prepareConstraints({ binned, groups, distance, variant });
  const slack = resolveSlack(constraints, constraint.slack, present({ kappa }));
  const noise = freshNoise(constraints);
  return constraints.groups.map(({ name, rows, events, constrained, reason }, g) => {
    const other = validation?.groups[g];
    return {
      group: name,
      n: rows.length,
      events,
      slack: slack[g],
      noise: noise[g],
      train: train.groups[g].distance,
      validation: other?.measured ? other.distance : null,
      met: constrained ? train.groups[g].distance <= slack[g] : null,
      reason,
    };
  });
}
