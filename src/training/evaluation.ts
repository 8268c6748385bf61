/**
 * How a model does on rows it does not learn from: the loss, the paper's C-index, and every group's distance to the
 * Kaplan-Meier curve of those rows, compared with the slack of training. Also the order of preference among iterates.
 */
import type { Backend, Floats } from "../compute/backend.ts";
import { mirrorArray } from "../compute/memory.ts";
import { isAbsent } from "../core/measured.ts";
import type { Network } from "../models/networks/network.ts";
import { prepareConstraints } from "../objectives/constraints.ts";
import { createCurveWorkspace, survivalCurves } from "../objectives/curves.ts";
import { groupDistances } from "../objectives/distances.ts";
import { discreteLikelihood } from "../objectives/likelihood.ts";
import { concordancePaper, timeDependentPairs } from "../stats/concordance/time-dependent.ts";
import { kaplanMeierBinned } from "../stats/kaplan-meier.ts";
import type { KeepRule } from "./choices.ts";
import type { ConstraintSpec } from "./options.ts";
import type { TrainingRows } from "./trainer.ts";

export interface GroupDistance {
  readonly name: string;
  readonly n: number;
  readonly events: number;
  readonly distance: number;
  /** Whether the group counts: on these rows it has enough rows, events and follow-up to be measured. */
  readonly measured: boolean;
}

/** A group's Kaplan-Meier curve and the mean of its members' predicted curves, from bin 0 (survival 1) to T. */
export interface GroupCurve {
  readonly name: string;
  readonly observed: Float64Array; // [T+1]
  readonly predicted: Float64Array; // [T+1]
}

/** Judges logits, and reads off those it judged last how each group's curves lie beside each other. */
export interface Judge {
  judge(logits: Floats): Evaluation;
  groupCurves(): readonly GroupCurve[];
}

export interface Evaluation {
  /** Mean discrete negative log-likelihood without the tail term, whatever the training loss was. */
  readonly loss: number;
  readonly concordance: number | null;
  readonly groups: readonly GroupDistance[];
}

/** Evaluates the network as it is; `groupCurves` is of the last evaluation. */
export interface Evaluator extends Pick<Judge, "groupCurves"> {
  evaluate(): Promise<Evaluation>;
}

export function createEvaluator(
  backend: Backend,
  network: Network,
  rows: TrainingRows,
  constraint: ConstraintSpec | null,
): Evaluator {
  const N = rows.binned.bin.length;
  const logits = backend.allocate(N * network.T);
  const onHost = mirrorArray(backend, logits);
  const { judge, groupCurves } = createJudge(rows, constraint);
  return {
    async evaluate() {
      await network.forward(rows.x, N, logits, null);
      await onHost.pull();
      return judge(onHost.values);
    },
    groupCurves,
  };
}

/** Judges the logits of these rows. */
export function createJudge(
  rows: Pick<TrainingRows, "binned" | "groups">,
  constraint: ConstraintSpec | null,
): Judge {
  const { T, bin } = rows.binned;
  const N = bin.length;
  const curves = createCurveWorkspace(N, T);
  const constraints =
    constraint === null
      ? null
      : prepareConstraints({
          binned: rows.binned,
          groups: rows.groups,
          distance: constraint.distance,
          variant: constraint.variant,
        });
  const judge = (values: Floats): Evaluation => {
    const distances = constraints && groupDistances(constraints, values, [], curves, null, 0);
    if (distances === null) survivalCurves(values, N, T, curves.survival);
    const concordance = concordancePaper(
      timeDependentPairs({ N, T, survival: curves.survival }, rows.binned),
    );
    return {
      loss: discreteLikelihood(values, rows.binned, { tail: false }, null, 0),
      concordance: isAbsent(concordance) ? null : concordance,
      groups: (constraints?.groups ?? []).map(({ name, rows: members, events, constrained }, g) => ({
        name,
        n: members.length,
        events,
        distance: distances?.[g] ?? 0,
        measured: constrained,
      })),
    };
  };
  let observed: readonly Float64Array[] | null = null;
  return {
    judge,
    groupCurves() {
      observed ??= rows.groups.map(
        ({ rows: members }) => kaplanMeierBinned(rows.binned, undefined, members).survival,
      );
      const known = observed;
      return rows.groups.map(({ name, rows: members }, g) => ({
        name,
        observed: known[g],
        predicted: averageCurves(curves.survival, T, members),
      }));
    },
  };
}

function averageCurves(survival: ArrayLike<number>, T: number, members: Int32Array): Float64Array {
  const mean = new Float64Array(T + 1);
  for (const row of members) for (let t = 0; t < T; t++) mean[t + 1] += survival[row * T + t];
  for (let t = 1; t <= T; t++) mean[t] /= Math.max(1, members.length);
  mean[0] = 1;
  return mean;
}

/** The number of groups whose distance is within their slack; groups that cannot be measured do not count. */
export function countMet(evaluation: Evaluation, slack: Readonly<Record<string, number>>): number {
  return evaluation.groups.filter(
    ({ name, distance, measured }) => measured && distance <= (slack[name] ?? 0),
  ).length;
}

/** Whether to keep `one` rather than `other`: the paper compares constraints met first, then concordance. */
export function isBetter(
  one: Evaluation,
  other: Evaluation,
  keep: KeepRule,
  slack: Readonly<Record<string, number>>,
): boolean {
  if (keep === "validation") return one.loss < other.loss;
  if (keep === "constraints") {
    const [met, before] = [countMet(one, slack), countMet(other, slack)];
    if (met !== before) return met > before;
  }
  return (one.concordance ?? 0) > (other.concordance ?? 0);
}
