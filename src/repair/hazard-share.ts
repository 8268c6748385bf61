/**
 * Chooses how much of a repair on the hazard scale (hazard-boost.ts) is applied: the largest share that is sure not to
 * raise the Brier score. The fitting rows are cut into folds, each fold is repaired with several shares of what the
 * others say, and
 *   mean rise of the integrated Brier score + 3 standard errors ≤ 0.5 % of the score
 * is required over the rows, each scored where it was left out (the error is over people, where they have several
 * rows). Equally many judging rows add as much noise again: at 1 % one run in fifty was above 1 % on those. If no share
 * qualifies, the curves stay as they were.
 */

import { square } from "../core/elementary.ts";
import { present } from "../core/present.ts";
import type { Curves } from "../data/curves/curves.ts";
import type { BinnedRightCensored } from "../data/outcomes/outcomes.ts";
import type { People } from "../data/outcomes/people.ts";
import { censoringKaplanMeierBinned } from "../stats/censoring.ts";
import { type BoostTask, cutFolds, DEFAULT_FOLDS, pickTask } from "./boost-task.ts";
import {
  applyHazardBoost,
  fitHazardBoost,
  type HazardBoost,
  type HazardBoostOptions,
  scaleHazardBoost,
} from "./hazard-boost.ts";

/** Shares that are tried, the largest first. */
const SHARES = [1, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1, 0.05];
/** The relative rise of the Brier score that a repair may cause. */
export const LARGEST_RISE = 0.005;
const STANDARD_ERRORS = 3;

export interface ShareChoiceOptions extends Partial<HazardBoostOptions> {
  readonly folds?: number;
  readonly seed?: number;
}

/** How the share was chosen. */
export interface ShareChoice {
  /** 0 leaves the curves as they were. */
  readonly share: number;
  readonly folds: number;
  readonly seed: number;
  readonly tried: readonly TriedShare[];
}

export interface TriedShare {
  readonly share: number;
  /** Change of the left-out integrated Brier score: after / before − 1. */
  readonly ibsChange: number;
  readonly standardError: number;
}

export function fitHazardShare(
  task: BoostTask,
  { folds = DEFAULT_FOLDS, seed = 1, ...settings }: ShareChoiceOptions = {},
): { readonly boost: HazardBoost; readonly choice: ShareChoice } {
  const { curves, outcomes, people } = task;
  const G = censoringKaplanMeierBinned(outcomes, { ties: "reverse" });
  const before = scoreRows(curves, outcomes, G);
  const rises = SHARES.map(() => new Float64Array(curves.N));
  for (const { inside, outside } of cutFolds(outcomes, { folds, seed, ...present({ people }) })) {
    const fitted = fitHazardBoost(pickTask(task, outside), settings);
    const left = pickTask(task, inside);
    SHARES.forEach((share, k) => {
      const repaired = applyHazardBoost(scaleHazardBoost(fitted, share), left.curves, left.groups);
      const after = scoreRows(repaired, left.outcomes, G);
      inside.forEach((row, place) => {
        rises[k][row] = after[place] - before[row];
      });
    });
  }
  const score = meanOf(before);
  const tried = SHARES.map((share, k): TriedShare => {
    const rise = meanOf(rises[k]);
    const variance = varianceOfMean(rises[k], rise, people);
    // A score of 0 cannot fall, and no repair should raise it.
    const relative = (value: number) => (score > 0 ? value / score : value);
    return { share, ibsChange: relative(rise), standardError: relative(Math.sqrt(variance)) };
  });
  const taken = tried.find(
    ({ ibsChange, standardError }) => ibsChange + STANDARD_ERRORS * standardError <= LARGEST_RISE,
  );
  const share = taken?.share ?? 0;
  const boost = scaleHazardBoost(fitHazardBoost(task, settings), share);
  return { boost, choice: { share, folds, seed, tried } };
}

/** Each row's part of the integrated Brier score, as `brierBinned` adds them up; the mean is the score. */
function scoreRows(
  { N, T, survival }: Curves,
  { bin, event }: BinnedRightCensored,
  G: { readonly survival: Float64Array; readonly leftLimit: Float64Array }, // [T+1]
): Float64Array {
  const scores = new Float64Array(N);
  for (let i = 0; i < N; i++) {
    const start = i * T - 1;
    let sum = 0;
    for (let t = 1; t < bin[i]; t++) sum += square(1 - survival[start + t]) / G.survival[t];
    if (event[i] === 1) {
      let squares = 0;
      for (let t = bin[i]; t <= T; t++) squares += square(survival[start + t]);
      sum += squares / G.leftLimit[bin[i]];
    }
    scores[i] = sum / T;
  }
  return scores;
}

/** Standard error of the mean over rows; by person, Σ (Σ of a person's deviations)² / N² · P/(P−1). */
export function varianceOfMean(values: Float64Array, mean: number, people?: People): number {
  const N = values.length;
  if (people === undefined) return meanOf(values.map((value) => square(value - mean))) / (N - 1);
  const sums = new Float64Array(people.count);
  for (let row = 0; row < N; row++) sums[people.of[row]] += values[row] - mean;
  const squares = sums.reduce((sum, one) => sum + one * one, 0);
  return (squares / (N * N)) * (people.count / (people.count - 1));
}

function meanOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
