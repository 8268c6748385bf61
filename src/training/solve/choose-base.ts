/**
 * The network that the output layer is put on: the mixture of start and trained network that the validation rows choose
 * (mixture.ts), with the layer solved for each mixture on the training rows.
 */
import type { AsyncTurns, Turns } from "../../core/progress.ts";
import { type ParameterValues, writeParameters } from "../../models/networks/parameters.ts";
import { type HoldInput, openWith, seeOthers } from "./hold.ts";
import { canMix, chooseMixture, MIXTURES, type Mixture, mixParameters } from "./mixture.ts";
import { poolPrecisions } from "./pool.ts";
import type { PriorSource } from "./prior.ts";
import { frameProblem, mixLogits, type SolveFrame, sumsOf, takeFirst, takeRest } from "./problem.ts";
import { type GatheredRows, gatherRows, type RowSet } from "./rows.ts";
import { type Solved, solveInTurns } from "./sqp.ts";

/** A choice between likelihoods needs no more. */
const CHOICE_TOLERANCE = 1e-4;

export interface ChosenBase {
  /** Null where there is nothing to mix, or nothing to choose by. */
  readonly mixture: Mixture | null;
  /** Training rows first, then validation rows. */
  readonly gathered: GatheredRows;
  readonly parameters: ParameterValues;
  /** What the prior of its output layer is made of. */
  readonly source: PriorSource;
}

/** `count`: how many training rows there are; `noise` as in chooseMixture. */
export async function* chooseBase(
  input: HoldInput,
  frame: SolveFrame,
  count: number,
  noise?: number,
): AsyncTurns<ChosenBase> {
  const { backend, spec, trained, start, training, validation } = input;
  const network = openWith(backend, input.cause)(spec, trained);
  const sets = validation === null ? [training] : [training, validation];
  // Where groups are held and not told, the frontier is priced by the curves of these rows.
  const priced = input.isTold.every((told) => told) ? null : (validation ?? training);
  const isWhole = (set: RowSet) => input.listCurves !== undefined || set === priced;
  const gather = async (parameters: ParameterValues) => {
    writeParameters(network, parameters);
    return gatherRows(backend, network, sets, { isWhole, ...seeOthers(input) });
  };
  const poolOver = function* (gathered: GatheredRows, parameters: ParameterValues): Turns<PriorSource> {
    const { precisions, splines, loose = [] } = input;
    const known: PriorSource = { spec, parameters, ...input.shrunk, precisions, splines, loose };
    return { ...known, precisions: yield* poolPrecisions(frame, takeFirst(gathered, count), known) };
  };
  const ofTrained = await gather(trained);
  yield;
  if (start === null || validation === null || !canMix(trained)) {
    return {
      mixture: null,
      gathered: ofTrained,
      parameters: trained,
      source: yield* poolOver(ofTrained, trained),
    };
  }
  const atStart = mixParameters(start, trained, 0);
  const ofStart = await gather(atStart);
  yield;
  const pooled = yield* poolOver(ofStart, atStart);
  const sourceAt = (share: number) => ({ ...pooled, parameters: mixParameters(start, trained, share) });
  let last: Solved | null = null;
  const losses: Float64Array[] = [];
  for (const [k, share] of MIXTURES.entries()) {
    input.onProgress?.("choosing between start and network", k, MIXTURES.length);
    const mixed = mixLogits(ofStart, ofTrained, share);
    // Targets are not held here, so nothing is loosened for them.
    const source = { ...sourceAt(share), loose: [] };
    const problem = frameProblem(frame, takeFirst(mixed, count), [], source);
    const free = new Float64Array(problem.groups.length).fill(Number.POSITIVE_INFINITY);
    const solved: Solved = yield* solveInTurns(problem, free, {
      tolerance: CHOICE_TOLERANCE,
      ...(last && { from: last.theta, factor: last.factor }),
    });
    last = solved;
    losses.push(sumsOf(problem.layout, frame, takeRest(mixed, count), []).losses(solved.theta));
  }
  input.onProgress?.("choosing between start and network", MIXTURES.length, MIXTURES.length);
  const mixture = chooseMixture(losses, noise);
  const source = sourceAt(mixture.share);
  const gathered = mixLogits(ofStart, ofTrained, mixture.share);
  return { mixture, gathered, parameters: source.parameters, source };
}
