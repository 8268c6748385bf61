/**
 * Decides on rows left out of the fit how far a repair goes: what share of the ratios on the hazard scale
 * (hazard-boost.ts) is applied, and how many rounds of MCBoostSurv (mcboost.ts) are taken. The fitting rows are cut
 * into folds; what is fitted on all but one is judged on that one, and the repair applied is fitted on all of them.
 */
import { square } from "../core/elementary.ts";
import { isAbsent } from "../core/measured.ts";
import { present } from "../core/present.ts";
import type { Curves } from "../data/curves/curves.ts";
import type { BinnedRightCensored } from "../data/outcomes/outcomes.ts";
import type { People } from "../data/outcomes/people.ts";
import { distanceL2, meanCurve } from "../stats/calibration/calibration.ts";
import { censoringKaplanMeierBinned } from "../stats/censoring.ts";
import { groupSupport, kaplanMeierBinned } from "../stats/kaplan-meier.ts";
import { brierBinned } from "../stats/scores/brier.ts";
import { type BoostOptions, type BoostTask, cutFolds, DEFAULT_FOLDS, pickTask } from "./boost-input.ts";
import {
  applyHazardBoost,
  fitHazardBoost,
  type HazardBoost,
  type HazardBoostOptions,
  scaleHazardBoost,
} from "./hazard-boost.ts";
import { fitBoost, type McBoost, replayBoost } from "./mcboost.ts";

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

/**
 * Fits a repair on the hazard scale and applies the largest share of it that is sure not to raise the Brier score. Each
 * fold is repaired with several shares of what the others say, and
 *   mean rise of the integrated Brier score + 3 standard errors ≤ 0.5 % of the score
 * is required over the rows, each scored where it was left out (the error is over people, where they have several
 * rows). Equally many judging rows add as much noise again: at 1 % one run in fifty was above 1 % on those. If no share
 * qualifies, the curves stay as they were.
 */
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

/**
 * Chosen by measurement on planted tables (Cox models that lack a group whose hazards are doubled, halved or change
 * their shape): the reference's 25 steps of 0.1 stop half-way, its two ranges of bins cannot follow a change of shape,
 * its pooled censoring curve pulls down groups that are followed for less time, trusting every mean fits noise, and
 * curves moved on the survival scale are clipped at 1 and tie (a Cox model of nwtco without the histology: C .650
 * before, .663 on the survival scale and .716 on the hazard scale).
 */
export const GUARDED_BOOST_DEFAULTS = {
  rounds: 100,
  step: 0.3,
  timeBuckets: 4,
  censoring: "group",
  scale: "hazard",
  doubt: 1,
} as const satisfies Partial<BoostOptions>;

export const DEFAULT_REPEATS = 2;

export interface RoundChoiceOptions extends Partial<BoostOptions> {
  readonly folds?: number;
  /** How many times the rows are cut into folds anew. */
  readonly repeats?: number;
  readonly seed?: number;
}

/** How the number of rounds was chosen; the paths begin with the curves as they were. */
export interface RoundChoice {
  readonly rounds: number;
  readonly folds: number;
  readonly repeats: number;
  readonly seed: number;
  /** J(r) and the Brier score, means over the left-out folds. */
  readonly distance: readonly number[]; // [R+1]
  readonly ibs: readonly number[]; // [R+1]
  /**
   * The largest of the groups' mean left-out distances, each minus its noise: otherwise small groups would always be
   * the worst.
   */
  readonly worst: readonly number[]; // [R+1]
}

/**
 * Fits a boost whose number of rounds is limited by rows left out of the fit. A boost fitted on all folds but one is
 * followed round by round on the one left out, where two things are watched: the Brier score, and the groups' distances
 * in units of their own noise,
 *   J(r) = Σ_g d_g(r) / v_g,   d_g the L2 distance over the fold's supported bins, v_g the mean Greenwood variance.
 * The choice is the largest number of rounds at which neither has risen by more than the standard error of that rise; 0
 * rounds, the curves as they were, always qualify. (Allowing no rise at all rejected ten of 24 correct repairs of a
 * doubled hazard: a fold of 120 rows is mostly noise.) Distances are of group means only.
 */
export function fitBoostRounds(
  task: BoostTask,
  { folds = DEFAULT_FOLDS, repeats = DEFAULT_REPEATS, seed = 1, ...given }: RoundChoiceOptions = {},
): { readonly boost: McBoost; readonly choice: RoundChoice } {
  const settings = { ...GUARDED_BOOST_DEFAULTS, ...given };
  const by = present({ people: task.people });
  const paths: Path[] = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (const { inside, outside } of cutFolds(task.outcomes, { folds, seed, repeat, ...by })) {
      paths.push(followBoost(fitBoost(pickTask(task, outside), settings), pickTask(task, inside)));
    }
  }
  const choice = { folds, repeats, seed, ...chooseRounds(paths) };
  return { boost: fitBoost(task, { ...settings, rounds: choice.rounds }), choice };
}

/** What a boost does to rows it was not fitted on; entry r is after r updates. */
interface Path {
  readonly ibs: number[];
  /** [R+1][G]; NaN for a group that these rows cannot judge. */
  readonly distances: number[][];
  /** The mean Greenwood variance over the bins of the distance. */
  readonly noise: readonly number[]; // [G]
}

function followBoost(boost: McBoost, task: BoostTask): Path {
  const { outcomes, groups } = task;
  const judged = groups.map(({ rows }) => {
    const km = kaplanMeierBinned(outcomes, undefined, rows);
    const bins = groupSupport(outcomes, { rows });
    let noise = 0;
    for (let t = 1; t <= bins; t++) noise += km.variance[t] / bins;
    return { rows, km: km.survival, bins, noise: noise > 0 ? noise : Number.NaN };
  });
  const ibs: number[] = [];
  const distances: number[][] = [];
  const look = (curves: Curves) => {
    const brier = brierBinned(curves, outcomes);
    ibs.push(isAbsent(brier) ? Number.NaN : brier.ibs);
    distances.push(
      judged.map(({ rows, km, bins, noise }) => {
        const mean = meanCurve(curves, undefined, rows);
        const distance = isAbsent(mean) ? mean : distanceL2(mean, km, { bins });
        return isAbsent(distance) || Number.isNaN(noise) ? Number.NaN : distance;
      }),
    );
  };
  look(task.curves);
  for (const curves of replayBoost(boost, task.curves, { groups })) look(curves);
  return { ibs, distances, noise: judged.map(({ noise }) => noise) };
}

function chooseRounds(paths: readonly Path[]): Pick<RoundChoice, "rounds" | "distance" | "worst" | "ibs"> {
  const R = Math.max(...paths.map(({ ibs }) => ibs.length)) - 1;
  const noise = paths[0].noise.map((_, g) => meanOfPresent(paths.map((path) => path.noise[g])));
  const inNoise = (distances: readonly number[]) =>
    distances.reduce((sum, d, g) => (Number.isNaN(d) ? sum : sum + d / noise[g]), 0);
  /** One entry per fold; a boost that had nothing left to do stays where it was. */
  const at = (path: Path, r: number) => Math.min(r, path.ibs.length - 1);
  const ibsAt = (r: number) => paths.map((path) => path.ibs[at(path, r)]);
  const distanceAt = (r: number) => paths.map((path) => inNoise(path.distances[at(path, r)]));
  const worstAt = (r: number) => {
    const excess = noise.map(
      (v, g) => meanOfPresent(paths.map((path) => path.distances[at(path, r)][g])) - v,
    );
    return Math.max(...excess.filter(Number.isFinite));
  };
  const rounds = Array.from({ length: R + 1 }, (_, r) => r);
  const last = rounds.findLast(
    (r) => !hasRisen(ibsAt(0), ibsAt(r)) && !hasRisen(distanceAt(0), distanceAt(r)),
  );
  return {
    rounds: last ?? 0,
    distance: rounds.map((r) => meanOfPresent(distanceAt(r))),
    worst: rounds.map(worstAt),
    ibs: rounds.map((r) => meanOfPresent(ibsAt(r))),
  };
}

/** Whether the mean has risen by more than its standard error over the folds. */
function hasRisen(before: readonly number[], after: readonly number[]): boolean {
  const rises = after.map((value, k) => value - before[k]);
  const mean = meanOfPresent(rises);
  const variance = meanOfPresent(rises.map((rise) => square(rise - mean)));
  return mean > Math.sqrt(variance / (rises.length - 1));
}

/** The mean of the entries that are numbers; NaN if there are none. */
function meanOfPresent(values: readonly number[]): number {
  return meanOf(values.filter(Number.isFinite));
}

function meanOf(values: readonly number[] | Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}
