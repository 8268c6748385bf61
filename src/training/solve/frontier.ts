/**
 * How far groups that the model may not see can be held. Any group can be met by some curves at absurd cost, so each
 * point of the frontier has a price: the root of the groups' distances falls by steps to a fifth of what it is when
 * nobody is held, and so do the gaps of their mean curves (curves/told-curve.ts); the other groups keep what they have,
 * and the walk ends where the validation rows' likelihood has lost more than the budget, or at the slacks. The budget
 * is a share of what the model gains over Kaplan-Meier: people at large pay it.
 */
import type { Turns } from "../../core/progress.ts";
import type { Hold } from "../choices.ts";
import { type HeldProblem, type Solved, solveInTurns } from "./sqp.ts";

/** How much of the likelihood gained over Kaplan-Meier holding may cost. */
export const BUDGETS: Readonly<Record<Hold, number>> = { strict: 0.2, balanced: 0.05, free: 0 };

/** Shares of the root distance that are tried, one after the other. */
const STEPS = [0.85, 0.7, 0.5, 0.35, 0.2] as const;
/** Between the last point within the budget and the first beyond it. */
const BISECTIONS = 3;
/** Other groups may rise by a twentieth, and never matter below this. */
const OTHERS_GROW = 1.05;
const OTHERS_LEAST = 0.02;
/** Solves with groups that the model may not see end here: their constraint is far from linear. */
const BLIND_TOLERANCE = 1e-5;
/** A point that takes more steps or a larger multiplier counts as out of reach. */
const MOST_STEPS = 25;
const MOST_PRESSURE = 1e5;

/** One point: everyone's constraint solved at once. */
export interface FrontierPoint {
  /** Share of the root distance that the held groups were allowed. */
  readonly share: number;
  readonly solved: Solved;
  /** Validation log-likelihood lost against the model that holds nobody. */
  readonly lost: number;
}

export interface FrontierRequest {
  readonly problem: HeldProblem;
  /** The solution that holds none of these groups. */
  readonly free: Solved;
  /** The constraints of the groups to hold. */
  readonly blind: readonly number[];
  /** c of every constraint; Infinity where it is not held. */
  readonly slack: Float64Array;
  /** −ℓ of the validation rows. */
  readonly lossOf: (theta: Float64Array) => number;
  /** The most that may be lost. */
  readonly budget: number;
  /** Whether no group is pressed below its slack; otherwise the walk ends with the budget alone. */
  readonly endsAtSlack: boolean;
}

/** What every group is allowed where the blind ones are held to a share of their root distance. */
export function slackAt(
  { distance }: Pick<Solved, "distance">,
  slack: Float64Array,
  { blind, endsAtSlack }: Pick<FrontierRequest, "blind" | "endsAtSlack">,
  share: number,
): Float64Array {
  return slack.map((own, g) => {
    if (blind.includes(g)) return Math.max(endsAtSlack ? own : 0, share * share * distance[g]);
    return own < Number.POSITIVE_INFINITY
      ? Math.min(own, Math.max(OTHERS_GROW * distance[g], OTHERS_LEAST))
      : own;
  });
}

/** The points within the budget, from the model that holds nobody on; the last one holds most. */
export function* walkFrontier(request: FrontierRequest): Turns<FrontierPoint[]> {
  const { free, blind, slack, endsAtSlack } = request;
  const points: FrontierPoint[] = [{ share: 1, solved: free, lost: 0 }];
  const isMet = (solved: Solved) =>
    endsAtSlack && blind.every((g) => solved.distance[g] <= slack[g] * (1 + BLIND_TOLERANCE));
  let beyond = 0;
  for (const share of STEPS) {
    const last = points[points.length - 1];
    if (isMet(last.solved)) return points;
    const next = yield* tryPoint(request, share, last);
    if (next === null) {
      beyond = share;
      break;
    }
    points.push(next);
  }
  if (beyond === 0) return points;
  for (let k = 0; k < BISECTIONS; k++) {
    const last = points[points.length - 1];
    const share = (last.share + beyond) / 2;
    const next = yield* tryPoint(request, share, last);
    if (next === null) beyond = share;
    else points.push(next);
  }
  return points;
}

/** Null where the point is out of reach or beyond the budget. */
function* tryPoint(
  request: FrontierRequest,
  share: number,
  from: FrontierPoint,
): Turns<FrontierPoint | null> {
  const { problem, free, slack, lossOf, budget } = request;
  const solved = yield* solveInTurns(problem, slackAt(free, slack, request, share), {
    from: from.solved.theta,
    iterations: MOST_STEPS,
    tolerance: BLIND_TOLERANCE,
    mostPressure: MOST_PRESSURE,
  });
  if (!solved.converged) return null;
  const lost = lossOf(solved.theta) - lossOf(free.theta);
  return lost <= budget ? { share, solved, lost } : null;
}
