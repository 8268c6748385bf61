/**
 * Gradient descent on free curves: the logits themselves are the parameters, one curve per person or one for several,
 * so that the result is due to the objective and not to a network. Objective, constraint, multipliers and step are
 * those of training (src/objectives, training/dual.ts, training/optimiser.ts): loss + Σ μ_g d_g with c_g = 0, one step
 * of Adam on the logits, then one of μ (Algorithm 1). Float64 throughout.
 */
import type { BinnedRightCensored, Curves } from "graduate-survival/data";
import {
  buildStrata,
  type Constraints,
  type CurveWorkspace,
  carryMultipliers,
  createCurveWorkspace,
  discreteLikelihood,
  fillCurves,
  groupDistances,
  measureDistances,
  measureRisks,
  measureStatistics,
  type NamedRows,
  prepareConstraints,
  rankedProbability,
  type StratumCell,
  xcalPenalty,
} from "graduate-survival/objectives";
import { createOptimiser, nextMultipliers } from "graduate-survival/training";

export type FreeLoss = "none" | "likelihood" | "xcal" | "rps";

/**
 * Which groups are held to Kaplan-Meier by the paper's l2, over all bins; strata > 1 holds cells of predicted risk
 * instead.
 */
export interface FreeConstraint {
  readonly groups: readonly NamedRows[];
  readonly strata?: number;
  /** As in buildStrata; its default unless given. */
  readonly minimumExpectedEvents?: number;
}

export interface FreeTask {
  readonly start: Curves;
  readonly binned: BinnedRightCensored;
  readonly loss: FreeLoss;
  readonly constraint: FreeConstraint | null;
  /** Rows with the same number share one curve; by default every row has its own. */
  readonly curveOf?: Int32Array; // [N], 0…
  readonly steps?: number;
  /** How far the starting hazards are kept from 0 and 1. */
  readonly margin?: number;
}

/** Hazards of 0 and 1 have infinite logits and no gradient: by default the start is kept this far from both. */
export const START_MARGIN = 0.001;
/** A logit can cross the whole range of hazards within a fraction of the steps. */
const ADAM = { kind: "adam", rate: 0.05 } as const;
/** The distances are squares of small gaps: this weight brings them to the size of the losses. */
const DUAL = { form: "ascent", rate: 10, start: 10 } as const;
const STEPS = 2000;
/** Bins of the X-Cal term, as in the paper's example. */
export const EXAMPLE_BINS = 5;

/** Conditional hazards 1 − S(t)/S(t−1); 0 once S is 0, where any value would do. */
export function hazardsOf({ N, T, survival }: Curves): Float64Array {
  const hazard = new Float64Array(N * T);
  for (let i = 0; i < N; i++) {
    for (let t = 0; t < T; t++) {
      const before = t === 0 ? 1 : survival[i * T + t - 1];
      hazard[i * T + t] = before > 0 ? 1 - survival[i * T + t] / before : 0;
    }
  }
  return hazard;
}

/** Logits of the curves with hazards within [margin, 1 − margin]. */
export function logitsOf(curves: Curves, margin: number): Float64Array {
  return hazardsOf(curves).map((h) => {
    const kept = Math.min(Math.max(h, margin), 1 - margin);
    return Math.log(kept / (1 - kept));
  });
}

/** The groups' cells of predicted risk, or the groups themselves. */
function listCells(
  constraint: FreeConstraint,
  curves: CurveWorkspace,
  binned: BinnedRightCensored,
): readonly StratumCell[] {
  const { groups, strata = 1, minimumExpectedEvents } = constraint;
  return buildStrata(measureRisks(curves, binned), groups, {
    K: strata,
    ...(minimumExpectedEvents === undefined ? {} : { minimumExpectedEvents }),
  });
}

function prepareL2(binned: BinnedRightCensored, groups: readonly NamedRows[]): Constraints {
  return prepareConstraints({ binned, groups, distance: "l2", variant: "paper" });
}

export interface CellDistance {
  readonly name: string;
  readonly n: number;
  readonly distance: number;
}

/** The l2 distance of every group, or of every cell of predicted risk, at exactly these curves. */
export function measureConstraint(
  curves: Curves,
  binned: BinnedRightCensored,
  constraint: FreeConstraint,
): readonly CellDistance[] {
  const workspace = { hazard: hazardsOf(curves), survival: Float64Array.from(curves.survival) };
  const cells = listCells(constraint, workspace, binned);
  const prepared = prepareL2(binned, cells);
  const distances = measureDistances(prepared, measureStatistics(prepared, workspace));
  return cells.map(({ name, rows }, g) => ({ name, n: rows.length, distance: distances[g] }));
}

function addLoss(
  loss: FreeLoss,
  logits: Float64Array,
  binned: BinnedRightCensored,
  dLogits: Float64Array,
): void {
  if (loss === "likelihood") discreteLikelihood(logits, binned, { tail: false }, dLogits, 1);
  if (loss === "xcal") xcalPenalty(logits, binned, { bins: EXAMPLE_BINS }, dLogits, 1);
  if (loss === "rps") rankedProbability(logits, binned, dLogits, 1);
}

/** The curves after the last step. */
export function descendFreely(task: FreeTask): Curves {
  const { start, binned, loss, constraint, steps = STEPS } = task;
  const { N, T } = start;
  const curveOf = task.curveOf ?? Int32Array.from({ length: N }, (_, i) => i);
  const logits = logitsOf(start, task.margin ?? START_MARGIN); // [N,T]
  const dLogits = new Float64Array(N * T);
  const count = curveOf.reduce((most, curve) => Math.max(most, curve), 0) + 1;
  const parameter = {
    name: "logits",
    shape: [count, T],
    values: new Float64Array(count * T),
    gradient: new Float64Array(count * T),
    decays: false,
  };
  for (let i = 0; i < N; i++) parameter.values.set(logits.subarray(i * T, (i + 1) * T), curveOf[i] * T);
  const optimiser = createOptimiser([parameter], ADAM);
  const workspace = createCurveWorkspace(N, T);
  let cells: readonly StratumCell[] = [];
  let prepared: Constraints | null = null;
  let multipliers: Float64Array = new Float64Array(0);
  for (let step = 1; step <= steps; step++) {
    dLogits.fill(0);
    addLoss(loss, logits, binned, dLogits);
    if (constraint !== null) {
      // Cells of risk change with the model; groups are prepared once.
      if (prepared === null || (constraint.strata ?? 1) > 1) {
        fillCurves(logits, N, T, workspace);
        const next = listCells(constraint, workspace, binned);
        multipliers =
          prepared === null
            ? new Float64Array(next.length).fill(DUAL.start)
            : carryMultipliers(cells, multipliers, next);
        cells = next;
        prepared = prepareL2(binned, cells);
      }
      const distances = groupDistances(prepared, logits, multipliers, workspace, dLogits, 1);
      const slack = new Float64Array(cells.length);
      multipliers = nextMultipliers(DUAL, prepared.groups, multipliers, distances, slack, step);
    }
    parameter.gradient.fill(0);
    for (let i = 0; i < N; i++) {
      for (let t = 0; t < T; t++) parameter.gradient[curveOf[i] * T + t] += dLogits[i * T + t];
    }
    optimiser.step();
    for (let i = 0; i < N; i++) {
      for (let t = 0; t < T; t++) logits[i * T + t] = parameter.values[curveOf[i] * T + t];
    }
  }
  fillCurves(logits, N, T, workspace);
  return { N, T, survival: workspace.survival };
}
