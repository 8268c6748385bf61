/**
 * The distances of method §6 and their gradients with respect to the group statistics (group-statistics.ts):
 *   l2        ∂/∂mean(t) = 2 (mean − S_KM)/L
 *   variance  sign(gap)/√Var at the first maximising t, 0 elsewhere; bins with undefined or zero variance are skipped. `paper`:
 *             Greenwood's variance; `default`: S̄² Σ h̄/(k(1−h̄)) of the mean curve itself, without gradient through it
 *   atRisk    ∂/∂E_b = −2 (O − E)/(n·V), V floored at 0.01 and without gradient, n the blocks in which the group has anyone
 *             at risk (the others have neither O nor E, and counting them would put the null scale below 1)
 * A group that cannot be measured has distance 0; one that is only reported has a distance and no gradient.
 */
import type { Floats } from "../compute/backend.ts";
import { square } from "../core/elementary.ts";
import { InputError } from "../core/errors.ts";
import { isAbsent } from "../core/measured.ts";
import { distanceL2, distanceVariance, modelVariance } from "../stats/calibration/calibration.ts";
import type { ConstraintGroup, Constraints } from "./constraints.ts";
import type { CurveWorkspace } from "./curves.ts";
import { fillCurves } from "./curves.ts";
import { backThroughStatistics, measureStatistics, statisticsWidth } from "./group-statistics.ts";

/** Below it a block's variance would let a hundredth of an expected event decide the distance. */
export const MINIMUM_BLOCK_VARIANCE = 0.01;

function checkStatistics(constraints: Constraints, statistics: ArrayLike<number>): void {
  const expected = constraints.groups.length * statisticsWidth(constraints);
  if (statistics.length === expected) return;
  throw new InputError(`group statistics: ${statistics.length} values where ${expected} belong`, {
    code: "groups.mismatch",
  });
}

/** The group's mean curve over t = 0…T, as stats/calibration/calibration.ts reads it. */
function meanWithStart(constraints: Constraints, statistics: Float64Array, g: number): Float64Array {
  const { T } = constraints;
  const mean = new Float64Array(T + 1);
  mean[0] = 1;
  mean.set(statistics.subarray(g * T, (g + 1) * T), 1);
  return mean;
}

interface LargestGap {
  readonly value: number;
  readonly t: number;
  /** ∂value/∂mean(t) */
  readonly slope: number;
}

function largestGap(constraints: Constraints, group: ConstraintGroup, mean: Float64Array): LargestGap {
  const { km, bins } = group;
  const variance = constraints.variant === "paper" ? km.variance : modelVariance(mean, km.atRisk);
  const largest = distanceVariance(mean, km.survival, variance, { bins });
  // A mean curve that has not moved from 1 has no variance of its own in any bin.
  if (isAbsent(largest)) return { value: 0, t: 1, slope: 0 };
  const { value, t } = largest;
  return { value, t, slope: Math.sign(mean[t] - km.survival[t]) / Math.sqrt(variance[t]) };
}

/** The distance of every group, from its statistics; 0 where none can be measured. */
export function measureDistances(constraints: Constraints, statistics: Float64Array): Float64Array {
  checkStatistics(constraints, statistics);
  return Float64Array.from(constraints.groups, (group, g) => {
    if (!group.measurable) return 0;
    switch (constraints.kind) {
      case "l2": {
        const mean = meanWithStart(constraints, statistics, g);
        const distance = distanceL2(mean, group.km.survival, { bins: group.bins });
        return isAbsent(distance) ? 0 : distance;
      }
      case "variance":
        return largestGap(constraints, group, meanWithStart(constraints, statistics, g)).value;
      case "atRisk": {
        const blocks = constraints.blocks.length;
        const at = g * 2 * blocks;
        let sum = 0;
        for (let b = 0; b < blocks; b++) {
          const V = Math.max(statistics[at + blocks + b], MINIMUM_BLOCK_VARIANCE);
          sum += square(group.observed[b] - statistics[at + b]) / V;
        }
        return sum / group.followedBlocks;
      }
    }
  });
}

/** multiplier_g × ∂distance_g/∂statistics_g, [G,W]; a multiplier is dL/d distance_g, whatever dual form it comes from. */
export function distanceGradients(
  constraints: Constraints,
  statistics: Float64Array,
  multipliers: ArrayLike<number>, // [G]
): Float64Array {
  checkStatistics(constraints, statistics);
  const W = statisticsWidth(constraints);
  const gradient = new Float64Array(statistics.length);
  constraints.groups.forEach((group, g) => {
    const multiplier = multipliers[g];
    if (!group.constrained || multiplier === 0) return;
    const at = g * W;
    switch (constraints.kind) {
      case "l2": {
        const { bins, km } = group;
        for (let t = 1; t <= bins; t++) {
          gradient[at + t - 1] = (multiplier * 2 * (statistics[at + t - 1] - km.survival[t])) / bins;
        }
        break;
      }
      case "variance": {
        const { t, slope } = largestGap(constraints, group, meanWithStart(constraints, statistics, g));
        gradient[at + t - 1] = multiplier * slope;
        break;
      }
      case "atRisk": {
        const blocks = constraints.blocks.length;
        for (let b = 0; b < blocks; b++) {
          const V = Math.max(statistics[at + blocks + b], MINIMUM_BLOCK_VARIANCE);
          const excess = group.observed[b] - statistics[at + b];
          gradient[at + b] = (-2 * multiplier * excess) / (V * group.followedBlocks);
        }
        break;
      }
    }
  });
  return gradient;
}

/** From the logits of all rows: every group's distance; adds scale × Σ_g multiplier_g × its gradient to dLogits. */
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
