/**
 * The distances of a constraint and their gradients with respect to the group statistics (group-statistics.ts), for all
 * groups at once; each distance is defined in distances/, one file per distance. A group that cannot be measured has
 * distance 0; one that is only reported has a distance and no gradient.
 */
import type { Floats } from "../compute/backend.ts";
import { InputError } from "../core/errors.ts";
import type { Constraints } from "./constraints.ts";
import type { CurveWorkspace } from "./curves.ts";
import { fillCurves } from "./curves.ts";
import { DISTANCES } from "./distances/list.ts";
import { backThroughStatistics, measureStatistics, statisticsWidth } from "./group-statistics.ts";

function checkStatistics(constraints: Constraints, statistics: ArrayLike<number>): void {
  const expected = constraints.groups.length * statisticsWidth(constraints);
  if (statistics.length === expected) return;
  throw new InputError(`the group statistics have ${statistics.length} values; expected ${expected}`, {
    code: "groups.mismatch",
  });
}

/** The distance of every group, from its statistics; 0 where it cannot be measured. */
export function measureDistances(constraints: Constraints, statistics: Float64Array): Float64Array {
  checkStatistics(constraints, statistics);
  const { measure } = DISTANCES[constraints.distance];
  const W = statisticsWidth(constraints);
  return Float64Array.from(constraints.groups, (group, g) =>
    group.measurable ? measure(constraints, group, statistics.subarray(g * W, (g + 1) * W)) : 0,
  );
}

/** multiplier_g × ∂distance_g/∂statistics_g, [G,W]; a multiplier is dL/d distance_g, from whichever dual form. */
export function distanceGradients(
  constraints: Constraints,
  statistics: Float64Array,
  multipliers: ArrayLike<number>, // [G]
): Float64Array {
  checkStatistics(constraints, statistics);
  const { fillGradient } = DISTANCES[constraints.distance];
  const W = statisticsWidth(constraints);
  const gradient = new Float64Array(statistics.length);
  constraints.groups.forEach((group, g) => {
    const multiplier = multipliers[g];
    if (!group.constrained || multiplier === 0) return;
    const own = statistics.subarray(g * W, (g + 1) * W);
    fillGradient(constraints, group, own, multiplier, gradient.subarray(g * W, (g + 1) * W));
  });
  return gradient;
}

/** Every group's distance from the logits of all rows; adds scale × Σ_g multiplier_g × its gradient to dLogits. */
export function groupDistances(
  constraints: Constraints,
  logits: Floats, // [N,T]
  multipliers: ArrayLike<number>, // [G]
  curves: CurveWorkspace, // [N,T], overwritten
  dLogits: Floats | null, // [N,T]
  scale: number,
): Float64Array {
  fillCurves(logits, constraints.N, constraints.T, curves);
  const statistics = measureStatistics(constraints, curves);
  if (dLogits !== null) {
    const gradient = distanceGradients(constraints, statistics, multipliers);
    backThroughStatistics(constraints, gradient, curves, null, dLogits, scale);
  }
  return measureDistances(constraints, statistics);
}
