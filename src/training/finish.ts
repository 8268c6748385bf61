/**
 * The end of a run: which weights are kept, and what can be said of them. The verdict per group is computed at the kept
 * weights, on training and validation rows: whether the constraint is met, and by how much. An infeasible slack ends
 * with a sentence, not with silence.
 */
import { present } from "../core/present.ts";
import { type ParameterValues, readParameters, writeParameters } from "../models/networks/parameters.ts";
import { prepareConstraints } from "../objectives/constraints.ts";
import { resolveSlack } from "../objectives/slack.ts";
import type { KeepRule } from "./choices.ts";
import { createEvaluator, type Evaluation } from "./evaluation.ts";
import { FIXED_PENALTY_BELOW, relativeMove } from "./lagrangian/dual.ts";
import type { TrainingOptions } from "./options.ts";
import { seeRows } from "./rows/cause-view.ts";
import type { GroupVerdict } from "./solve/verdict.ts";
import type { Checkpoint, TrainingInput } from "./trainer.ts";

/** The weights that were kept, and how they perform. */
export interface TrainingResult {
  readonly parameters: ParameterValues;
  readonly keep: KeepRule;
  readonly steps: number;
  /** The step whose weights are kept; for an average, the last one in it. */
  readonly bestStep: number;
  readonly train: Evaluation;
  readonly validation: Evaluation | null;
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
  const train = await createEvaluator(backend, network, training, constraint).evaluate();
  const unseen = validation && (await createEvaluator(backend, network, validation, constraint).evaluate());
  const start = checkpoint.startMultipliers;
  const end = checkpoint.lagrangian?.multipliers ?? [];
  return {
    parameters: await readParameters(network),
    keep,
    steps: checkpoint.step,
    bestStep: chosen?.step ?? checkpoint.step,
    train,
    validation: unseen,
    multipliers: {
      start,
      end,
      fixedPenalty:
        start.length === end.length && start.length > 0 && relativeMove(start, end) < FIXED_PENALTY_BELOW,
    },
  };
}

/** For each group, whether the evaluated curves meet the constraint; for runs that end without the solve. */
export function judgeGroups(
  { training }: Pick<TrainingInput, "training">,
  { constraint }: TrainingOptions,
  { groups: evaluated }: Evaluation,
  isTold: readonly boolean[],
): GroupVerdict[] {
  if (constraint === null) return [];
  const { distance, variant, kappa } = constraint;
  const causes = training.causes?.length ?? 1;
  const constraints = prepareConstraints({ ...seeRows(training), distance, variant });
  const slack = resolveSlack(constraints, constraint.slack, present({ kappa }));
  return constraints.groups.map(({ name, rows, events, constrained, reason }, g) => ({
    group: name,
    told: isTold[Math.floor(g / causes)],
    n: rows.length,
    events,
    slack: slack[g],
    distance: { solve: evaluated[g].distance, fresh: null },
    fresh: null,
    status: !constrained ? "unsupported" : evaluated[g].distance <= slack[g] ? "met" : "unmet",
    reachable: null,
    price: null,
    reason,
  }));
}
