/**
 * How a model does on rows it does not learn from: the loss, the paper's C-index, and every group's distance to what
 * was observed of those rows, compared with the slack of training. Also the order of preference among iterates.
 */
import type { Backend, Floats } from "../compute/backend.ts";
import { mirrorArray } from "../compute/memory.ts";
import { isAbsent } from "../core/measured.ts";
import { type BinnedOutcomes, requireRightCensored } from "../data/outcomes/outcomes.ts";
import type { Network } from "../models/networks/network.ts";
import { type CauseShape, fillCauseCurves, fillFreeCurves } from "../objectives/causes/cause-curves.ts";
import { causeLikelihood } from "../objectives/causes/cause-likelihood.ts";
import { type Constraints, prepareConstraints } from "../objectives/constraints.ts";
import {
  type CurveWorkspace,
  createCurveWorkspace,
  groupMeans,
  survivalCurves,
} from "../objectives/curves.ts";
import { withStart } from "../objectives/distances/distance.ts";
import { groupDistances, measureDistances } from "../objectives/distances.ts";
import { measureStatistics } from "../objectives/group-statistics.ts";
import { discreteLikelihood } from "../objectives/likelihood.ts";
import { concordancePaper, timeDependentPairs } from "../stats/concordance/time-dependent.ts";
import { incidenceBinned } from "../stats/causes/incidence-binned.ts";
import { kaplanMeierBinned } from "../stats/kaplan-meier.ts";
import type { KeepRule } from "./choices.ts";
import type { ConstraintSpec } from "./options.ts";
import { type SeenRows, seeRows } from "./rows/cause-view.ts";
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
  const logits = backend.allocate(N * network.K * network.T);
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

/** Judges the logits of these rows; with causes, every group once for each of them. */
export function createJudge(
  rows: Pick<TrainingRows, "binned" | "groups" | "causes">,
  constraint: ConstraintSpec | null,
): Judge {
  const seen = seeRows(rows);
  const { T, bin } = seen.binned;
  const K = rows.causes?.length ?? 1;
  const curves = createCurveWorkspace(bin.length, T);
  const constraints =
    constraint === null
      ? null
      : prepareConstraints({ ...seen, distance: constraint.distance, variant: constraint.variant });
  const judge = (values: Floats): Evaluation => {
    const shape = { N: bin.length / K, K, T };
    const distances = constraints && measureLogits(constraints, values, shape, curves);
    if (K > 1) {
      // Distances of mean incidences have filled them already.
      if (constraints?.isIncidence !== true) fillFreeCurves(values, shape, curves);
    } else if (distances === null) survivalCurves(values, bin.length, T, curves.survival);
    return {
      ...scoreLogits(values, rows.binned, seen, K, curves),
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
      observed ??= seen.groups.map(({ rows: members }) =>
        K === 1
          ? kaplanMeierBinned(seen.binned, undefined, members).survival
          : freeOfCause(rows.binned, members, K),
      );
      const known = observed;
      return seen.groups.map(({ name, rows: members }, g) => ({
        name,
        observed: known[g],
        predicted: withStart(groupMeans(curves.survival, T, [members], seen.binned.weight)),
      }));
    },
  };
}

/**
 * Distances of the groups; fills hazards, and survival of rows of one kind of event, or what is free of each cause
 * where incidences are held.
 */
function measureLogits(
  constraints: Constraints,
  values: Floats,
  shape: CauseShape,
  curves: CurveWorkspace,
): Float64Array {
  if (shape.K === 1) return groupDistances(constraints, values, [], curves, null, 0);
  (constraints.isIncidence ? fillFreeCurves : fillCauseCurves)(values, shape, curves);
  return measureDistances(constraints, measureStatistics(constraints, curves));
}

/** The loss, and the C-index where it is defined: for one kind of event, and people seen from the start. */
function scoreLogits(
  values: Floats,
  binned: BinnedOutcomes,
  seen: SeenRows,
  K: number,
  { survival }: CurveWorkspace,
): Pick<Evaluation, "loss" | "concordance"> {
  if (K > 1) return { loss: causeLikelihood(values, binned, K, null, 0), concordance: null };
  const loss = discreteLikelihood(values, seen.binned, { tail: false }, null, 0);
  if (binned.firstBin !== undefined || binned.weight !== undefined) return { loss, concordance: null };
  const plain = requireRightCensored(seen.binned, "the C-index of an evaluation");
  const curves = { N: plain.bin.length, T: plain.T, survival };
  const concordance = concordancePaper(timeDependentPairs(curves, plain));
  return { loss, concordance: isAbsent(concordance) ? null : concordance };
}

/** 1 − the Aalen-Johansen estimate of one cause, from bin 0 to T; `members` are rows by person and cause. */
function freeOfCause(binned: BinnedOutcomes, members: Int32Array, K: number): Float64Array {
  const people = members.map((row) => Math.floor(row / K));
  const own = members.length === 0 ? 1 : (members[0] % K) + 1;
  return incidenceBinned(binned, own, people).map((one) => 1 - one);
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
