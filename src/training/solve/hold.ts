/**
 * The end of a run of `graduate`: what was trained is held to its groups. The steps: choose the mixture of start and
 * trained network on the validation rows (choose-base.ts); for groups that the model may not see, walk the frontier and
 * choose a point within the budget (choose-point.ts); freeze these choices, fit the start again to training and
 * validation rows together (refit.ts) and solve once more on them; judge every group there, and on the test rows
 * (judge.ts). The validation rows are spent afterwards. A sweep, which has yet to choose by them, solves on the
 * training rows alone. All of it is done in turns, after each of which a run can be ended.
 */
import type { Backend } from "../../compute/backend.ts";
import { present } from "../../core/present.ts";
import type { AsyncTurns, PhaseProgress, Turns } from "../../core/progress.ts";
import { type BinnedSingleCause, requireSingleCause } from "../../data/outcomes/outcomes.ts";
import { createNetwork } from "../../models/networks/create-network.ts";
import type { HeldSpec } from "../../models/networks/held.ts";
import type { NetworkSpec } from "../../models/networks/list.ts";
import type { Network } from "../../models/networks/network.ts";
import { type ParameterValues, writeParameters } from "../../models/networks/parameters.ts";
import type { Precisions } from "../../models/start/additive-start.ts";
import { MOST_START_COLUMNS } from "../../models/start/linear-start.ts";
import type { LayerUncertainty } from "../../models/uncertainty/layer-uncertainty.ts";
import type { DistanceName } from "../../objectives/distances/list.ts";
import { equalEventBlocks } from "../../objectives/time-blocks.ts";
import type { Hold } from "../choices.ts";
import type { LongRows } from "../rows/long-rows.ts";
import type { TrainingRows } from "../trainer.ts";
import { fitMembership, type Membership } from "./blind.ts";
import { chooseBase } from "./choose-base.ts";
import { type ChosenPoint, choosePoint, featuresOf } from "./choose-point.ts";
import type { TargetReport } from "./curves/hold-targets.ts";
import { slackAt } from "./frontier.ts";
import { judgeHeld } from "./judge.ts";
import { createLayer, type SolvedLayer } from "./layer.ts";
import { dropLstm, type Mixture } from "./mixture.ts";
import type { PointScores } from "./price.ts";
import type { PriorSource } from "./prior.ts";
import {
  constraintsOf,
  countConstraints,
  type FramedProblem,
  frameProblem,
  type ListCurves,
  leaveOut,
  type SolveFrame,
  takeFirst,
} from "./problem.ts";
import { takeMeasure } from "./lagrangian-parts.ts";
import { refitStart } from "./refit.ts";
import { type GatheredRows, gatherRows, type RowSet } from "./rows.ts";
import { type Residuals, type Solved, solveInTurns } from "./sqp.ts";
import { measureUncertainty } from "./uncertainty.ts";
import type { GroupVerdict } from "./verdict.ts";

/** What is held, and on which rows. */
export interface HoldInput {
  readonly backend: Backend;
  readonly training: TrainingRows;
  readonly validation: TrainingRows | null;
  /** The rows of the last solve, where training and validation rows are a sample of them. */
  readonly all?: readonly LongRows[];
  readonly test: LongRows | null;
  /** The network below; its last `told` columns of x are membership of the groups it knows. */
  readonly spec: HeldSpec["base"];
  readonly trained: ParameterValues;
  /** The start that training began at; null where there is none to return to. */
  readonly start: ParameterValues | null;
  /** What the prior takes as the network below; its own parameters unless it is a mean of networks. */
  readonly shrunk?: Pick<PriorSource, "spec" | "parameters">;
  readonly precisions: Precisions | null;
  readonly splines: readonly number[];
  /** Told groups whose effects are only weakly shrunk, as places among the told columns. */
  readonly loose?: readonly number[];
  /** Of the columns of x. */
  readonly names: readonly string[]; // [D]
  readonly told: number;
  /** For each group, whether the model may know who is in it. */
  readonly isTold: readonly boolean[]; // [G]
  readonly distance: DistanceName;
  /** c of every constraint of a problem; Infinity for what is measured and not held. */
  readonly slackOf: (problem: FramedProblem) => Float64Array;
  /** Mean curves that are held as well. */
  readonly listCurves?: ListCurves;
  readonly hold: Hold;
  /** Nats that holding may cost, where a person has named a slack and not a budget. */
  readonly budget?: number;
  readonly solvedOn: SolveReport["solvedOn"];
  /** Time blocks that are given; otherwise those of equal training events. */
  readonly blocks?: SolveFrame["blocks"];
  /** Where this is one of several causes: what it needs to know of the others. */
  readonly cause?: CauseOfHold;
  /** Told how far each phase is. */
  readonly onProgress?: PhaseProgress<SolvePhase>;
}

/** One of several causes, held by itself while the others are given. */
export interface CauseOfHold {
  /** Opens a network of this cause's logits. */
  readonly open: OpenNetwork;
  /** The logits of the other causes: an event of theirs, or this one's. */
  readonly others: readonly Pick<Network, "forward">[];
  /** Outcomes of the rows of the last solve, for the start: this cause against no event at all. */
  readonly startBinned: BinnedSingleCause;
}

/** A network with its parameters, in the backend's memory. */
export type OpenNetwork = (spec: NetworkSpec, parameters: ParameterValues) => Network;

/** What is done at the end of a run, in order; encoding is a phase of its own where rows are many. */
export type SolvePhase =
  | "choosing between start and network"
  | "fitting the start again"
  | "encoding all rows"
  | "solving the output layer";

/** The held model, and everything that is said of it. */
export interface HeldFit extends SolvedLayer {
  readonly verdict: readonly GroupVerdict[];
  readonly solve: SolveReport;
  /** What the rows leave uncertain of it; null where it is not known. */
  readonly uncertainty: LayerUncertainty | null;
}

/** The same of one cause, with what the next turn needs of it. */
export interface SolvedFit extends HeldFit {
  readonly solved: Pick<Solved, "theta" | "distance">;
  /** How far the other causes have moved its distances since its last turn; 0 in its first. */
  readonly drift: number;
}

/** The rows that an output layer is solved on. */
export const SOLVED_ON = ["training rows", "training and validation rows"] as const;

/** What a model file keeps of the solve. */
export interface SolveReport {
  readonly solvedOn: (typeof SOLVED_ON)[number];
  readonly iterations: number;
  readonly residuals: Residuals;
  /** Null where there was nothing to choose between, or nothing to choose by. */
  readonly mixture: Mixture | null;
  readonly hold: Hold;
  readonly blind: readonly BlindReport[];
  /** Targets from outside that the model was held to. */
  readonly targets?: readonly TargetReport[];
  /** With several causes, what was found for each. */
  readonly causes?: readonly CauseSolve[];
}

/** The solve of one of several causes. */
export interface CauseSolve {
  readonly cause: string;
  readonly mixture: Mixture | null;
  readonly iterations: number;
}

/** What holding a group that the model may not see costs. */
export interface BlindReport {
  readonly group: string;
  /** How well the features give membership away: area under the curve, and share of the variance. */
  readonly auc: number;
  readonly explained: number;
  /** The features that give most away, strongest first: log-odds of membership for a standard deviation. */
  readonly features: readonly { readonly name: string; readonly slope: number }[];
  /** From the model that holds none of these groups to the point that was kept; empty where holding was not tried. */
  readonly frontier: readonly BlindPoint[];
  /** The most that could be lost; null where a slack was named instead. */
  readonly budget: number | null;
}

/**
 * A point of the frontier. Distances are those of the training rows; likelihood, concordance and Brier score those of
 * the validation rows, or of the training rows where there are none.
 */
export interface BlindPoint extends PointScores {
  /** Share of the root distance that was allowed. */
  readonly share: number;
  readonly distance: number;
  /** Root mean square over time of its mean curve less the one it would have if the model were told of it. */
  readonly gap?: number;
  /** The largest distance of the other groups that are held; null where there are none. */
  readonly others: number | null;
  /** Log-likelihood lost, in nats. */
  readonly lost: number;
}

export async function* holdNetwork(input: HoldInput): AsyncTurns<HeldFit> {
  return yield* solveChosen(input, yield* chooseHeld(input));
}

/** The choices before the last solve, which are frozen for it. */
export interface HoldChoices {
  readonly frame: SolveFrame;
  readonly mixture: Mixture | null;
  readonly choice: ChosenPoint;
  readonly source: PriorSource;
  /** The network that the layer is put on. */
  readonly spec: HoldInput["spec"];
  readonly parameters: ParameterValues;
  /** The rows of the last solve. */
  readonly last: GatheredRows;
}

export async function* chooseHeld(input: HoldInput): AsyncTurns<HoldChoices> {
  const count = input.training.binned.bin.length;
  const frame = frameOf(input);
  const base = yield* chooseBase(input, frame, count);
  const { mixture, gathered } = base;
  const choice = yield* choosePoint(input, frame, base.source, gathered, count);
  const refitted = yield* refitStart(input, base);
  yield;
  const chosen = refitted?.parameters ?? base.parameters;
  // Causes share the LSTM: one of them alone cannot do without it.
  const canDrop = mixture?.share === 0 && input.cause === undefined;
  const { spec, parameters } =
    canDrop && input.spec.kind === "anchored"
      ? dropLstm(input.spec, chosen)
      : { spec: input.spec, parameters: chosen };
  const isRefitted = refitted !== null && input.validation !== null;
  const last =
    input.all !== undefined || isRefitted
      ? await gatherAnew(input, { spec, parameters })
      : input.solvedOn === "training rows"
        ? takeFirst(gathered, count)
        : gathered;
  return { frame, mixture, choice, source: refitted ?? base.source, spec, parameters, last };
}

/** The same choices with the rows' logits under what the other causes are by now. */
export async function gatherAgain(input: HoldInput, choices: HoldChoices): Promise<HoldChoices> {
  return { ...choices, last: await gatherAnew(input, choices) };
}

/** `before`: the turn before this one, of one of several causes. */
export async function* solveChosen(
  input: HoldInput,
  choices: HoldChoices,
  before?: SolvedFit,
): AsyncTurns<SolvedFit> {
  const { frame, mixture, choice, source, spec, parameters, last } = choices;
  const { splines } = input;
  const N = last.binned.bin.length;
  const features = featuresOf(last, frame, splines);
  const members: Membership[] = [];
  for (const g of choice.blind) {
    members.push(fitMembership(features, N, last.groups[g].rows));
    yield;
  }
  const chances = members.map((one) => one.chances);
  const problem = frameProblem(frame, last, chances, source, listHeldCurves(input, choice));
  const slack = input.slackOf(problem);
  const drift = before === undefined ? 0 : driftOf(problem, slack, before.solved);
  const solved = yield* solveLast(problem, slack, choice, (done, total) =>
    input.onProgress?.("solving the output layer", done, total),
  );
  const layer = createLayer(
    spec,
    parameters,
    { layout: problem.layout, told: frame.told },
    solved.theta,
    members.map(({ coefficients }) => coefficients),
  );
  const verdict = await judgeHeld(input, layer, { problem, slack, solved, choice });
  yield;
  return {
    ...layer,
    solved,
    drift,
    verdict,
    uncertainty: measureUncertainty({ problem, theta: solved.theta, source, told: frame.told }, layer.spec),
    solve: {
      solvedOn: input.solvedOn,
      iterations: solved.iterations,
      residuals: solved.residuals,
      mixture,
      hold: input.hold,
      blind: describeBlind(problem, choice, input.names),
    },
  };
}

/** The largest change of a held distance at the same layer, in units of its slack. */
function driftOf(
  problem: FramedProblem,
  slack: Float64Array,
  { theta, distance }: SolvedFit["solved"],
): number {
  if (distance.length !== slack.length) return Number.POSITIVE_INFINITY;
  const now = takeMeasure(problem, theta, slack).distance;
  return now.reduce((most, one, k) => Math.max(most, Math.abs(one - distance[k]) / slack[k]), 0);
}

/** Opens networks as they are, or as one of several causes does. */
export function openWith(backend: Backend, cause: CauseOfHold | undefined): OpenNetwork {
  if (cause !== undefined) return cause.open;
  return (spec, parameters) => {
    const network = createNetwork(backend, spec, 0);
    writeParameters(network, parameters);
    return network;
  };
}

/** What rows have to know of the other causes: mean curves that are held are incidences, which all causes bend. */
export function seeOthers({ cause, distance }: Pick<HoldInput, "cause" | "distance">) {
  return present({ others: cause?.others, keepsBeside: distance !== "atRisk" });
}

/** The rows of the last solve under the network that it is put on. */
async function gatherAnew(
  input: HoldInput,
  { spec, parameters }: Pick<HoldChoices, "spec" | "parameters">,
): Promise<GatheredRows> {
  const { backend, training, validation, all, solvedOn, listCurves, cause, onProgress } = input;
  const network = openWith(backend, cause)(spec, parameters);
  const both = validation === null || solvedOn === "training rows" ? [training] : [training, validation];
  const sets: readonly RowSet[] = all ?? both;
  // Rows in the backend's memory are encoded already.
  const onRows = (done: number, total: number) => all && onProgress?.("encoding all rows", done, total);
  return gatherRows(backend, network, sets, {
    isWhole: () => listCurves !== undefined,
    onRows,
    ...seeOthers(input),
  });
}

/** Without those of groups that are left alone: nothing of them enters the solve. */
function listHeldCurves({ listCurves, isTold }: HoldInput, { blind }: ChosenPoint): ListCurves | undefined {
  if (listCurves === undefined) return undefined;
  return (...given) =>
    listCurves(...given).filter(({ group, isTarget }) => isTarget || isTold[group] || blind.includes(group));
}

function describeBlind(
  { groups }: FramedProblem,
  choice: ChosenPoint,
  names: readonly string[],
): BlindReport[] {
  const { blind, hidden, members, points, distances, gaps, others, scores, budget } = choice;
  const most = budget < Number.POSITIVE_INFINITY ? budget : null;
  const describe = (g: number, { auc, explained, strongest }: Membership) => {
    const features = strongest.map(({ column, slope }) => ({ name: names[column], slope }));
    return { group: groups[g].name, auc, explained, features };
  };
  const held = blind.map((g, k): BlindReport => {
    const frontier = points.map(({ share, lost }, p): BlindPoint => {
      const gap = present({ gap: gaps[k][p] ?? undefined });
      return { share, distance: distances[k][p], ...gap, others: others[k][p], lost, ...scores[p] };
    });
    return { ...describe(g, members[k]), frontier, budget: most };
  });
  const unheld = hidden.map(({ group, membership }): BlindReport => {
    return { ...describe(group, membership), frontier: [], budget: null };
  });
  return [...held, ...unheld];
}

/**
 * The mixture alone, for a network whose curves are averaged with others before anything is held. It is the best one,
 * however little better than the start: the others choose on other rows, and the mean takes the chance out.
 */
export async function* mixNetwork(input: HoldInput): AsyncTurns<ParameterValues> {
  const count = input.training.binned.bin.length;
  return (yield* chooseBase(input, frameOf(input), count, 0)).parameters;
}

/**
 * Slopes are solved for only where no start has fitted them, below a network that began at random: solved for again on
 * rows that the network has learnt from, they cost rank.
 */
function frameOf({ training, spec: { D }, told, start, shrunk, blocks }: HoldInput): SolveFrame {
  const own = D - told;
  const isFitted = start !== null || shrunk !== undefined;
  const dense = isFitted || own > MOST_START_COLUMNS ? 0 : own;
  const given = blocks ?? equalEventBlocks(requireSingleCause(training.binned, "a solve"));
  return { blocks: given, dense, told };
}

/** The solve on all rows: without the blind groups first, which says where their distances stand. */
function* solveLast(
  problem: FramedProblem,
  slack: Float64Array,
  choice: ChosenPoint,
  onStep: (done: number, total: number) => void,
): Turns<Solved> {
  const { blind, share, unsupported, hidden, endsAtSlack } = choice;
  const ofGroups = (which: readonly number[]) => constraintsOf(problem, slack, which);
  const none = new Float64Array(countConstraints(problem)).fill(Number.POSITIVE_INFINITY);
  const free = yield* solveInTurns(problem, none, { onStep });
  const kept = leaveOut(slack, ofGroups([...unsupported.keys(), ...hidden.map(({ group }) => group)]));
  const told = yield* solveInTurns(problem, leaveOut(kept, ofGroups(blind)), { from: free.theta });
  if (blind.length === 0 || share === 1) return told;
  const held = { blind: ofGroups(blind), endsAtSlack };
  return yield* solveInTurns(problem, slackAt(told, kept, held, share), { from: told.theta });
}
