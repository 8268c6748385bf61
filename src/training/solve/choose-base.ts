/**
 * The network that the output layer is put on: the mixture of start and trained network that the validation rows choose
 * (mixture.ts), with the layer solved for each mixture on the training rows.
 */
import { createNetwork } from "../../models/networks/create-network.ts";
import { type ParameterValues, writeParameters } from "../../models/networks/parameters.ts";
import type { TrainingRows } from "../trainer.ts";
import type { HoldInput } from "./hold.ts";
import { canMix, chooseMixture, MIXTURES, type Mixture, mixParameters } from "./mixture.ts";
import { frameProblem, mixLogits, type SolveFrame, sumsOf, takeFirst, takeRest } from "./problem.ts";
import { type GatheredRows, gatherRows } from "./rows.ts";
import { type Solved, solveHeld } from "./sqp.ts";

/** A choice between likelihoods needs no more. */
const CHOICE_TOLERANCE = 1e-4;

export interface ChosenBase {
  /** Null where there is nothing to mix, or nothing to choose by. */
  readonly mixture: Mixture | null;
  /** Training rows first, then validation rows. */
  readonly gathered: GatheredRows;
  readonly parameters: ParameterValues;
}

/** `count`: how many training rows there are. */
export async function chooseBase(input: HoldInput, frame: SolveFrame, count: number): Promise<ChosenBase> {
  const { backend, spec, trained, start, training, validation, precisions, splines } = input;
  const network = createNetwork(backend, spec, 0);
  const sets = validation === null ? [training] : [training, validation];
  // Where groups are held and not told, the frontier is priced by the curves of these rows.
  const priced = input.isTold.every((told) => told) ? null : (validation ?? training);
  const needsCurves = (set: TrainingRows) => input.listCurves !== undefined || set === priced;
  const gather = async (parameters: ParameterValues) => {
    writeParameters(network, parameters);
    return gatherRows(backend, network, sets, needsCurves);
  };
  const ofTrained = await gather(trained);
  if (start === null || validation === null || !canMix(trained)) {
    return { mixture: null, gathered: ofTrained, parameters: trained };
  }
  const ofStart = await gather(mixParameters(start, trained, 0));
  let last: Solved | null = null;
  const losses = MIXTURES.map((share) => {
    const mixed = mixLogits(ofStart, ofTrained, share);
    const source = { spec, parameters: mixParameters(start, trained, share), precisions, splines };
    const problem = frameProblem(frame, takeFirst(mixed, count), [], source);
    const free = new Float64Array(problem.groups.length).fill(Number.POSITIVE_INFINITY);
    last = solveHeld(problem, free, {
      tolerance: CHOICE_TOLERANCE,
      ...(last && { from: last.theta, factor: last.factor }),
    });
    return sumsOf(problem.layout, frame, takeRest(mixed, count), []).losses(last.theta);
  });
  const mixture = chooseMixture(losses);
  return {
    mixture,
    gathered: mixLogits(ofStart, ofTrained, mixture.share),
    parameters: mixParameters(start, trained, mixture.share),
  };
}
