/**
 * For groups that the model may not see: how far they can be held within the budget. Found on the training rows, priced
 * on the validation rows, frozen for the last solve as a share of the groups' root distances.
 */
import { log, log1p } from "../../core/elementary.ts";
import { tallyBins } from "../../stats/kaplan-meier.ts";
import { chancesOf, fitMembership, type Membership } from "./blind.ts";
import { BUDGETS, type FrontierPoint, walkFrontier } from "./frontier.ts";
import type { HoldInput } from "./hold.ts";
import type { PriorSource } from "./prior.ts";
import { frameProblem, type SolveFrame, sumsOf, takeFirst, takeRest } from "./problem.ts";
import type { GatheredRows } from "./rows.ts";
import { solveHeld } from "./sqp.ts";

export interface ChosenPoint {
  /** Places of the groups that are held and not told. */
  readonly blind: readonly number[];
  /** Fitted to the training rows. */
  readonly members: readonly Membership[];
  readonly points: readonly FrontierPoint[];
  /** Nats of the validation rows' likelihood. */
  readonly budget: number;
  /** Of the root distance, for the last solve. */
  readonly share: number;
  /** For each of the groups, the least distance within the budget while the others keep theirs. */
  readonly reachable: readonly number[];
}

const NONE: ChosenPoint = { blind: [], members: [], points: [], budget: 0, share: 1, reachable: [] };

/** The columns that give a group away: all but the membership of told groups, which are made of them. */
export function featuresOf({ x, D }: GatheredRows, { told }: SolveFrame) {
  return { x, D, columns: D - told };
}

/** `count`: how many of the gathered rows are training rows. */
export function choosePoint(
  input: HoldInput,
  frame: SolveFrame,
  source: PriorSource,
  gathered: GatheredRows,
  count: number,
): ChosenPoint {
  const training = takeFirst(gathered, count);
  if (input.isTold.every((told) => told)) return NONE;
  const { groups } = frameProblem(frame, training, [], source);
  const blind = groups.flatMap(({ constrained }, g) => (!input.isTold[g] && constrained ? [g] : []));
  if (blind.length === 0) return NONE;
  const members = blind.map((g) => fitMembership(featuresOf(training, frame), count, groups[g].rows));
  const own = members.map(({ chances }) => chances);
  const problem = frameProblem(frame, training, own, source, input.listCurves);
  const slack = input.slackOf(problem);
  const free = solveHeld(
    problem,
    slack.map((allowed, g) => (blind.includes(g) ? Number.POSITIVE_INFINITY : allowed)),
  );
  const hasValidation = input.validation !== null;
  const judged = hasValidation ? takeRest(gathered, count) : training;
  const chances = hasValidation
    ? members.map((one) => chancesOf(featuresOf(judged, frame), judged.binned.bin.length, one))
    : own;
  const sums = sumsOf(problem.layout, frame, judged, chances);
  const lossOf = (theta: Float64Array) => sums.measure(theta).value;
  const gained = kaplanMeierLoss(training, judged) - lossOf(free.theta);
  const budget = input.budget ?? BUDGETS[input.hold] * Math.max(gained, 0);
  const walk = (which: readonly number[]) =>
    walkFrontier({ problem, free, blind: which, slack, lossOf, budget });
  const points = walk(blind);
  const last = points[points.length - 1];
  return {
    blind,
    members,
    points,
    budget,
    share: last.share,
    reachable: blind.map((g) => {
      const walked = blind.length === 1 ? points : walk([g]);
      return walked[walked.length - 1].solved.distance[g];
    }),
  };
}

/** −ℓ of rows under the Kaplan-Meier hazards of others. */
function kaplanMeierLoss(fitted: GatheredRows, { binned }: GatheredRows): number {
  const { events, atRisk } = tallyBins(fitted.binned);
  const total = events.reduce((sum, one) => sum + one, 0);
  const exposed = atRisk.reduce((sum, one) => sum + one, 0);
  // Half a row at the mean hazard in every bin, so that a bin without events has a likelihood.
  const hazard = (t: number) => (events[t] + 0.5 * (total / exposed)) / (atRisk[t] + 0.5);
  let loss = 0;
  for (let n = 0; n < binned.bin.length; n++) {
    for (let t = 1; t <= binned.bin[n]; t++) {
      const isEvent = binned.event[n] === 1 && t === binned.bin[n];
      loss -= isEvent ? log(hazard(t)) : log1p(-hazard(t));
    }
  }
  return loss;
}
