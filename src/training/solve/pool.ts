/**
 * Precisions pooled over groups, for runs with so many of them that the start estimates none: one for the levels of all
 * groups and one for their shapes over time, by the same fixed point, λ = (γ + p)/(Σθ² + q) with γ the number of
 * parameters that the rows determine. Many small groups then shrink towards what they have in common.
 */
import { square } from "../../core/elementary.ts";
import { offsetAt } from "./layout.ts";
import type { PooledPrecisions, PriorSource } from "./prior.ts";
import { frameProblem, type SolveFrame } from "./problem.ts";
import type { GatheredRows } from "./rows.ts";
import { solveHeld } from "./sqp.ts";

/** The fixed point is settled well enough after these. */
const ROUNDS = 4;
const TOLERANCE = 1e-4;
/** As in models/start/additive-start.ts: one extra parameter, as small as .1. */
const PRIOR_PARAMETERS = 1;
const PRIOR_SQUARES = 0.01;
/** Before any estimate. */
const FIRST: PooledPrecisions = { slopes: 1, level: 10, shape: 10 };

/** `training` are the training rows; null where there is nothing to pool or the start has estimated it. */
export function poolPrecisions(
  frame: SolveFrame,
  training: GatheredRows,
  source: PriorSource,
): PooledPrecisions | null {
  if (source.precisions !== null || frame.told === 0) return null;
  let pooled = FIRST;
  let from: Float64Array | null = null;
  for (let round = 0; round < ROUNDS; round++) {
    const problem = frameProblem(frame, training, [], { ...source, pooled });
    const free = new Float64Array(problem.groups.length).fill(Number.POSITIVE_INFINITY);
    const solved = solveHeld(problem, free, { tolerance: TOLERANCE, ...(from && { from }) });
    from = solved.theta;
    if (solved.factor === null) return pooled;
    const variance = solved.factor.inverseDiagonal();
    const { layout, prior } = problem;
    const estimate = (which: readonly number[]) => {
      let determined = 0;
      let squares = 0;
      for (const k of which) {
        determined += 1 - prior.precision[k] * variance[k];
        squares += square(solved.theta[k] - prior.centre[k]);
      }
      return (Math.max(determined, 0) + PRIOR_PARAMETERS) / (squares + PRIOR_SQUARES);
    };
    const levels = Array.from({ length: frame.told }, (_, j) => layout.dense + j);
    const shapes = levels.flatMap((_, j) => layout.blocks.map((_block, b) => offsetAt(layout, b, j)));
    const slopes = Array.from({ length: layout.dense }, (_, r) => r);
    pooled = { slopes: estimate(slopes), level: estimate(levels), shape: estimate(shapes) };
  }
  return pooled;
}
