/**
 * For groups that the model may not see: how far they can be held within the budget. Found on the training rows, priced
 * on the validation rows, frozen for the last solve as a share of the groups' root distances.
 */
import { log, log1p } from "../../core/elementary.ts";
import type { Turns } from "../../core/progress.ts";
import { tallyBins } from "../../stats/kaplan-meier.ts";
import { chancesOf, type Features, fitMembership, type Membership } from "./blind.ts";
import { BUDGETS, type FrontierPoint, walkFrontier } from "./frontier.ts";
import type { HoldInput } from "./hold.ts";
import { type PointScores, scorePoint } from "./price.ts";
import type { PriorSource } from "./prior.ts";
import {
  constraintsOf,
  type FramedProblem,
  frameProblem,
  leaveOut,
  type SolveFrame,
  sumsOf,
  takeFirst,
  takeRest,
} from "./problem.ts";
import type { GatheredRows } from "./rows.ts";
import { solveInTurns } from "./sqp.ts";

export interface ChosenPoint {
  /** Places of the groups that are held and not told. */
  readonly blind: readonly number[];
  /** Groups that are not told and that the training rows say too little of: place → why. */
  readonly unsupported: ReadonlyMap<number, string>;
  /** Groups that the features do not tell: holding them would only bend everyone's curves, so it is not tried. */
  readonly hidden: readonly { readonly group: number; readonly membership: Membership }[];
  /** Fitted to the training rows. */
  readonly members: readonly Membership[];
  readonly points: readonly FrontierPoint[];
  /** For each of the groups, its distance at every point, in its own unit. */
  readonly distances: readonly (readonly number[])[];
  /** For each of the groups, the root of its mean curve's squared gap at every point; null where none is held. */
  readonly gaps: readonly (readonly (number | null)[])[];
  /** For each of the groups, the largest distance of the others that are held, at every point; null without others. */
  readonly others: readonly (readonly (number | null)[])[];
  /** At every point, on the rows that price it. */
  readonly scores: readonly PointScores[];
  /** Nats of the validation rows' likelihood. */
  readonly budget: number;
  /** Of the root distance, for the last solve. */
  readonly share: number;
  /** Whether the last solve ends at the slack all the same. */
  readonly endsAtSlack: boolean;
  /** For each of the groups, the least distance within the budget while the others keep theirs. */
  readonly reachable: readonly number[];
}

const NONE: ChosenPoint = {
  blind: [],
  unsupported: new Map(),
  hidden: [],
  members: [],
  points: [],
  distances: [],
  gaps: [],
  others: [],
  scores: [],
  budget: 0,
  share: 1,
  endsAtSlack: false,
  reachable: [],
};

/**
 * Below this area under the curve a group is not held unless a slack is named for it: at .57 the validation rows'
 * budget was spent on a gap that did not close.
 */
const LEAST_AUC = 0.6;

/** Rounding of a solve on the way. */
const REACHED = 1 + 1e-4;

/** The columns that give a group away: all but the membership of told groups, which are made of them. */
export function featuresOf(
  { x, D }: GatheredRows,
  { told }: SolveFrame,
  leftOut: readonly number[],
): Features {
  return { x, D, columns: D - told, leftOut };
}

/** `count`: how many of the gathered rows are training rows. */
export function* choosePoint(
  input: HoldInput,
  frame: SolveFrame,
  source: PriorSource,
  gathered: GatheredRows,
  count: number,
): Turns<ChosenPoint> {
  const training = takeFirst(gathered, count);
  if (input.isTold.every((told) => told)) return NONE;
  const { groups } = frameProblem(frame, training, [], source);
  const supported = groups.flatMap(({ constrained }, g) => (!input.isTold[g] && constrained ? [g] : []));
  const unsupported = new Map(
    groups.flatMap(({ reason }, g) =>
      input.isTold[g] || reason === null ? [] : [[g, `among the training rows ${reason}`] as const],
    ),
  );
  if (supported.length === 0) return { ...NONE, unsupported };
  const fitted: Membership[] = [];
  for (const g of supported) {
    fitted.push(fitMembership(featuresOf(training, frame, input.splines), count, groups[g].rows));
    yield;
  }
  const isToldApart = (k: number) => fitted[k].auc >= LEAST_AUC || input.budget !== undefined;
  const blind = supported.filter((_, k) => isToldApart(k));
  const members = fitted.filter((_, k) => isToldApart(k));
  const hidden = supported.flatMap((g, k) => (isToldApart(k) ? [] : [{ group: g, membership: fitted[k] }]));
  if (blind.length === 0) return { ...NONE, unsupported, hidden };
  const own = members.map(({ chances }) => chances);
  const problem = frameProblem(frame, training, own, source, input.listCurves);
  const slack = input.slackOf(problem);
  const ofGroups = (which: readonly number[]) => constraintsOf(problem, slack, which);
  const unheld = groups.flatMap((_, g) => (input.isTold[g] || blind.includes(g) ? [] : [g]));
  const kept = leaveOut(slack, ofGroups(unheld));
  const free = yield* solveInTurns(problem, leaveOut(kept, ofGroups(blind)));
  const hasValidation = input.validation !== null;
  const judged = hasValidation ? takeRest(gathered, count) : training;
  const chances = hasValidation
    ? members.map((one) => chancesOf(featuresOf(judged, frame, input.splines), judged.binned.bin.length, one))
    : own;
  const sums = sumsOf(problem.layout, frame, judged, chances);
  const lossOf = (theta: Float64Array) => sums.measure(theta).value;
  const gained = kaplanMeierLoss(training, judged) - lossOf(free.theta);
  const budget = input.budget ?? BUDGETS[input.hold] * Math.max(gained, 0);
  // Beside the at-risk distance the mean curve is held: what the budget allows beyond the slack goes there.
  const endsAtSlack = input.budget !== undefined || input.distance === "atRisk";
  const walk = (which: readonly number[]) =>
    walkFrontier({ problem, free, blind: ofGroups(which), slack: kept, lossOf, budget, endsAtSlack });
  const { distanceOf, gapOf } = readPoints(input, problem, slack);
  const held = groups.flatMap((_, g) => (ofGroups([g]).length > 0 && !unheld.includes(g) ? [g] : []));
  const worstBeside = (point: FrontierPoint, own: number) => {
    const others = held.filter((g) => g !== own);
    return others.length === 0 ? null : Math.max(...others.map((g) => distanceOf(point, g)));
  };
  const points = yield* walk(blind);
  const last = points[points.length - 1];
  const reachable: number[] = [];
  for (const g of blind) {
    const walked = blind.length === 1 ? points : yield* walk([g]);
    reachable.push(distanceOf(walked[walked.length - 1], g));
  }
  return {
    blind,
    unsupported,
    hidden,
    members,
    points,
    budget,
    share:
      endsAtSlack && ofGroups(blind).every((k) => last.solved.distance[k] <= slack[k] * REACHED)
        ? 0
        : last.share,
    distances: blind.map((g) => points.map((point) => distanceOf(point, g))),
    gaps: blind.map((g) => points.map((point) => gapOf(point, g))),
    others: blind.map((g) => points.map((point) => worstBeside(point, g))),
    scores: points.map(({ solved }) => scorePoint(problem.layout, frame, judged, chances, solved.theta)),
    endsAtSlack,
    reachable,
  };
}

/** A group's distance at a point, in its own unit, and the root of its mean curve's squared gap where that is held. */
function readPoints({ distance: kind }: HoldInput, problem: FramedProblem, slack: Float64Array) {
  const ofGroup = (g: number) => constraintsOf(problem, slack, [g]);
  return {
    distanceOf({ solved: { distance } }: FrontierPoint, g: number): number {
      if (kind === "atRisk") return distance[g];
      const worst = Math.max(...ofGroup(g).map((k) => distance[k]));
      return kind === "variance" ? Math.sqrt(worst) : worst;
    },
    gapOf({ solved: { distance } }: FrontierPoint, g: number): number | null {
      const curve = ofGroup(g).find((k) => k >= problem.groups.length);
      return kind !== "atRisk" || curve === undefined ? null : Math.sqrt(distance[curve]);
    },
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
  const { bin, event, firstBin, weight } = binned;
  for (let n = 0; n < bin.length; n++) {
    const own = weight === undefined ? 1 : weight[n];
    for (let t = firstBin === undefined ? 1 : firstBin[n]; t <= bin[n]; t++) {
      const isEvent = event[n] === 1 && t === bin[n];
      loss -= own * (isEvent ? log(hazard(t)) : log1p(-hazard(t)));
    }
  }
  return loss;
}
