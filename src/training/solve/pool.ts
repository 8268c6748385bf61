/**
 * Precisions of groups, for runs with so many of them that the start estimates none: one for the levels of all groups
 * and one for their shapes over time, by the same fixed point, λ = (γ + p)/(Σθ² + q) with γ the number of parameters
 * that the rows determine. Many small groups then shrink towards what they have in common.
 */
import { square } from "../../core/elementary.ts";
import type { Turns } from "../../core/progress.ts";
import { GROUP_KNOTS } from "../../models/networks/group-offsets.ts";
import type { Precisions } from "../../models/start/additive-start.ts";
import { offsetAt } from "./layout.ts";
import { DEFAULT_PRECISION, type PriorSource } from "./prior.ts";
import { frameProblem, type SolveFrame } from "./problem.ts";
import type { GatheredRows } from "./rows.ts";
import { type Solved, solveInTurns } from "./sqp.ts";

/** The fixed point is settled well enough after these. */
const ROUNDS = 4;
/** Newton steps of a round: the next one goes on where it ends. */
const STEPS = 2;
/** As in models/start/additive-start.ts: one extra parameter, as small as .1. */
const PRIOR_PARAMETERS = 1;
const PRIOR_SQUARES = 0.01;
/** Before any estimate. */
const FIRST = 10;

/** `training` are the training rows. Precisions that the start has estimated are left as they are. */
export function* poolPrecisions(
  frame: SolveFrame,
  training: GatheredRows,
  source: PriorSource,
): Turns<Precisions | null> {
  const { told, blocks } = frame;
  if (told === 0 || source.precisions?.level.length) return source.precisions;
  const { slopes = DEFAULT_PRECISION, splines = DEFAULT_PRECISION } = source.precisions ?? {};
  /** `level` and `shape` are of the layer's own parameters, and the start's are of knots. */
  const share = (level: number, shape: number): Precisions => ({
    slopes,
    splines,
    level: Array<number>(told).fill(level / GROUP_KNOTS),
    shape: Array<number>(told).fill((shape * blocks.length) / GROUP_KNOTS),
  });
  let precisions = share(FIRST, FIRST);
  let from: Float64Array | null = null;
  for (let round = 0; round < ROUNDS; round++) {
    const problem = frameProblem(frame, training, [], { ...source, precisions });
    const free = new Float64Array(problem.groups.length).fill(Number.POSITIVE_INFINITY);
    const solved: Solved = yield* solveInTurns(problem, free, { iterations: STEPS, ...(from && { from }) });
    from = solved.theta;
    if (solved.factor === null) break;
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
    const levels = Array.from({ length: told }, (_, j) => layout.dense + j);
    const shapes = levels.flatMap((_, j) => blocks.map((_block, b) => offsetAt(layout, b, j)));
    precisions = share(estimate(levels), estimate(shapes));
  }
  return precisions;
}
