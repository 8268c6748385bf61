/**
 * Decides on rows left out of the fit what share of a repair on the hazard scale (hazard-boost.ts, cause-hazards.ts) is
 * applied. The fitting rows are cut into folds; each is repaired with several shares of what the others say, and the
 * largest share is taken that is sure not to raise a score: for every cause,
 *   mean rise over the rows, each scored where it was left out, + 3 standard errors ≤ what is allowed.
 * The score is the integrated Brier score (of S, or of 1[event of the cause by t]), and 0.5 % of it may be risen by:
 * equally many judging rows add as much noise again, and at 1 % one run in fifty was above 1 % on those. Under late
 * entry no censoring weights make up for those who came late; there it is −log likelihood, log h less the cumulative
 * hazard at risk, of which LARGEST_LOSS an event is allowed. Errors are over people, where they have several rows. If
 * no share qualifies, the curves stay as they were.
 */
import { square } from "../core/elementary.ts";
import { present } from "../core/present.ts";
import type { CauseCurves } from "../data/curves/cause-curves.ts";
import type { Curves } from "../data/curves/curves.ts";
import type { BinnedOutcomes, BinnedSingleCause } from "../data/outcomes/outcomes.ts";
import type { People } from "../data/outcomes/people.ts";
import type { BinnedCauses } from "../stats/causes/binned-causes.ts";
import {
  type BoostGroup,
  type BoostTask,
  type CauseBoostTask,
  cutFolds,
  DEFAULT_FOLDS,
  pickTask,
  type RepairTask,
} from "./boost-input.ts";
import {
  applyCauseHazards,
  type CauseHazardBoost,
  fitCauseHazards,
  scaleCauseHazards,
} from "./cause-hazards.ts";
import {
  applyHazardBoost,
  fitHazardBoost,
  type HazardBoost,
  type HazardBoostOptions,
  scaleHazardBoost,
} from "./hazard-boost.ts";
import { isAtRisk, prepareCauseScores, prepareScore, type ScoreRows } from "./row-scores.ts";

/** Shares that are tried, the largest first. */
const SHARES = [1, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1, 0.05];
/** The relative rise of the Brier score that a repair may cause. */
export const LARGEST_RISE = 0.005;
/** The rise of −log likelihood that a repair may cause, an event. */
export const LARGEST_LOSS = 0.01;
const STANDARD_ERRORS = 3;

export interface ShareChoiceOptions extends Partial<HazardBoostOptions> {
  readonly folds?: number;
  readonly seed?: number;
}

/** How the share was chosen. */
interface Choice<Tried> {
  /** 0 leaves the curves as they were. */
  readonly share: number;
  readonly folds: number;
  readonly seed: number;
  readonly tried: readonly Tried[];
}

export type ShareChoice = Choice<TriedShare>;
/** Where causes compete: all of them have the one share. */
export type CauseShareChoice = Choice<TriedCauseShare>;

/** What became of a score on the rows left out. */
export interface LeftOutRise {
  /** Change of the integrated Brier score: after / before − 1; null under late entry, where it is not defined. */
  readonly ibsChange: number | null;
  /** Under late entry: change of −log likelihood, an event. */
  readonly lossChange?: number;
  readonly standardError: number;
}

export interface TriedShare extends LeftOutRise {
  readonly share: number;
}

export interface TriedCauseShare {
  readonly share: number;
  readonly causes: readonly (LeftOutRise & { readonly name: string })[];
}

/** Fits a repair of survival curves and applies the largest share of it that does no harm. */
export function fitHazardShare(
  task: BoostTask,
  options: ShareChoiceOptions = {},
): { readonly boost: HazardBoost; readonly choice: ShareChoice } {
  const { boost, choice } = chooseShare<Curves, BinnedSingleCause, HazardBoost>(task, options, {
    fit: fitHazardBoost,
    scale: scaleHazardBoost,
    apply: applyHazardBoost,
    prepare: prepareScore,
  });
  const tried = choice.tried.map(({ share, rises: [rise] }) => ({ share, ...rise }));
  return { boost, choice: { ...choice, tried } };
}

/** The same for the incidences of several causes. */
export function fitCauseShare(
  task: CauseBoostTask,
  options: ShareChoiceOptions = {},
): { readonly boost: CauseHazardBoost; readonly choice: CauseShareChoice } {
  const { boost, choice } = chooseShare<CauseCurves, BinnedCauses, CauseHazardBoost>(task, options, {
    fit: fitCauseHazards,
    scale: scaleCauseHazards,
    apply: applyCauseHazards,
    prepare: prepareCauseScores,
  });
  const { causes } = task.curves;
  const tried = choice.tried.map(({ share, rises }) => ({
    share,
    causes: causes.map((name, k) => ({ name, ...rises[k] })),
  }));
  return { boost, choice: { ...choice, tried } };
}

/** A kind of repair. */
interface RepairKind<Predicted extends Curves | CauseCurves, Observed extends BinnedOutcomes, Boost> {
  readonly fit: (task: RepairTask<Predicted, Observed>, options: Partial<HazardBoostOptions>) => Boost;
  readonly scale: (boost: Boost, share: number) => Boost;
  readonly apply: (boost: Boost, curves: Predicted, groups: readonly BoostGroup[]) => Predicted;
  /** Censoring is that of all fitting rows. */
  readonly prepare: (task: RepairTask<Predicted, Observed>) => ScoreRows<Predicted>;
}

function chooseShare<Predicted extends Curves | CauseCurves, Observed extends BinnedOutcomes, Boost>(
  task: RepairTask<Predicted, Observed>,
  { folds = DEFAULT_FOLDS, seed = 1, ...settings }: ShareChoiceOptions,
  kind: RepairKind<Predicted, Observed, Boost>,
) {
  const { curves, outcomes, people } = task;
  const score = kind.prepare(task);
  const before = score(curves, outcomes);
  const rises = SHARES.map(() => before.map(() => new Float64Array(curves.N)));
  for (const { inside, outside } of cutFolds(outcomes, { folds, seed, ...present({ people }) })) {
    const fitted = kind.fit(pickTask(task, outside), settings);
    const left = pickTask(task, inside);
    SHARES.forEach((share, s) => {
      const repaired = kind.apply(kind.scale(fitted, share), left.curves, left.groups);
      score(repaired, left.outcomes).forEach((after, k) => {
        inside.forEach((row, place) => {
          rises[s][k][row] = after[place] - before[k][row];
        });
      });
    });
  }
  const tried = SHARES.map((share, s) => ({
    share,
    rises: before.map((one, k) => measureRise(rises[s][k], one, k, task)),
  }));
  const taken = tried.find((one) => one.rises.every(isAllowed));
  const share = taken?.share ?? 0;
  const boost = kind.scale(kind.fit(task, settings), share);
  return { boost, choice: { share, folds, seed, tried } };
}

function isAllowed({ ibsChange, lossChange, standardError }: LeftOutRise): boolean {
  const [change, most] = ibsChange === null ? [lossChange ?? 0, LARGEST_LOSS] : [ibsChange, LARGEST_RISE];
  return change + STANDARD_ERRORS * standardError <= most;
}

/** The mean rise of a score in terms of the score itself, or of the events where it is the likelihood. */
function measureRise(
  rises: Float64Array,
  before: Float64Array,
  k: number,
  { outcomes, people }: RepairTask<Curves | CauseCurves, BinnedOutcomes>,
): LeftOutRise {
  const { weight, firstBin, cause, event } = outcomes;
  const rise = meanOf(rises, weight);
  const error = Math.sqrt(varianceOfMean(rises, rise, people, weight));
  const isEvent = (row: number) =>
    isAtRisk(outcomes, row) && (cause === undefined ? event[row] === 1 : cause[row] === k + 1);
  const score =
    firstBin === undefined
      ? meanOf(before, weight)
      : meanOf(
          before.map((_, row) => (isEvent(row) ? 1 : 0)),
          weight,
        );
  // A score of 0 cannot fall, and no repair should raise it.
  const relative = (value: number) => (score > 0 ? value / score : value);
  const standardError = relative(error);
  return firstBin === undefined
    ? { ibsChange: relative(rise), standardError }
    : { ibsChange: null, lossChange: relative(rise), standardError };
}

/**
 * Standard error of the mean over rows, squared; by person, Σ (Σ of a person's deviations)² / N² · P/(P−1). With
 * weights deviations are weighed and N is their sum.
 */
export function varianceOfMean(
  values: Float64Array,
  mean: number,
  people?: People,
  weight?: Float64Array,
): number {
  const N = values.length;
  if (people === undefined && weight === undefined)
    return meanOf(values.map((value) => square(value - mean))) / (N - 1);
  const sums = new Float64Array(people?.count ?? N);
  for (let row = 0; row < N; row++)
    sums[people?.of[row] ?? row] += (weight === undefined ? 1 : weight[row]) * (values[row] - mean);
  const squares = sums.reduce((sum, one) => sum + one * one, 0);
  const total = weight === undefined ? N : weight.reduce((sum, one) => sum + one, 0);
  return (squares / (total * total)) * (sums.length / (sums.length - 1));
}

function meanOf(values: Float64Array, weight?: Float64Array): number {
  let sum = 0;
  if (weight === undefined) {
    for (const value of values) sum += value;
    return sum / values.length;
  }
  let total = 0;
  for (let row = 0; row < values.length; row++) {
    sum += weight[row] * values[row];
    total += weight[row];
  }
  return sum / total;
}
