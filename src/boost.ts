/**
 * Boost: curves that any model predicted are repaired after the fact (MCBoostSurv, training/mcboost.ts) on rows the model has not
 * learnt from, and judged on rows that neither has seen. How many rounds, is decided inside the fitting rows: they are cut into
 * folds, and a boost fitted on all folds but one is followed round by round on the one left out. Two things are watched there: the
 * Brier score, and the groups' distances in units of their own noise,
 *   J(r) = Σ_g d_g(r) / v_g,   d_g the L2 distance over the fold's supported bins, v_g the mean Greenwood variance.
 * The last number of rounds is taken at which neither has risen by more than the standard error of that rise; 0 rounds, the curves
 * as they were, always qualify. (To allow no rise at all turned away ten of 24 repairs of a doubled hazard that were right: a fold
 * of 120 rows is mostly noise.) Distances are of group means only.
 */
import { InputError } from "./core/errors.ts";
import { isAbsent } from "./core/measured.ts";
import { createRandom, shuffle } from "./core/random.ts";
import type { Curves } from "./data/curves.ts";
import type { BinnedOutcomes } from "./data/outcomes.ts";
import { MINIMUM_EVENTS, MINIMUM_SUPPORT } from "./objectives/constraints.ts";
import { brierBinned } from "./stats/brier.ts";
import { distanceL2, meanCurve } from "./stats/calibration.ts";
import { groupSupport, kaplanMeierBinned } from "./stats/kaplan-meier.ts";
import { type Scores, scoreCurves } from "./stats/scores.ts";
import {
  applyBoost,
  type Boost,
  type BoostGroup,
  type BoostOptions,
  fitBoost,
  replayBoost,
} from "./training/mcboost.ts";

export interface BoostTask {
  readonly curves: Curves; // [N,T]
  readonly outcomes: BinnedOutcomes; // [N]
  /** Everyone is a group only if given as one. */
  readonly groups: readonly BoostGroup[];
}

export interface BoostRowSets {
  /** Rows the model has not learnt from, 0-based. */
  readonly fit: Int32Array;
  /** Rows that neither the model nor the boost has seen. */
  readonly held: Int32Array;
}

export interface GuardedBoostOptions extends Partial<BoostOptions> {
  readonly folds?: number;
  /** Times that the rows are cut into folds anew. */
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
  /** The largest of the groups' mean left-out distances, each less its noise: small groups would always be the worst otherwise. */
  readonly worst: readonly number[]; // [R+1]
}

/** One group on the rows that neither model nor boost has seen. */
export interface BoostedGroup {
  readonly name: string;
  readonly n: number;
  readonly events: number;
  /** Bins with at least ten rows at risk: the distances are over these. */
  readonly bins: number;
  /** False where events or follow-up are too few to speak of a distance. */
  readonly judged: boolean;
  /** L2 distance of the mean curve to Kaplan-Meier. */
  readonly distance: Change;
  readonly ece: Change;
}

export interface Change {
  readonly before: number | null;
  readonly after: number | null;
}

export interface WorstChange {
  /** The judged group furthest from Kaplan-Meier. */
  readonly before: { readonly group: string; readonly distance: number } | null;
  readonly after: { readonly group: string; readonly distance: number } | null;
}

export interface BoostVerdict {
  readonly rows: number;
  readonly events: number;
  readonly groups: readonly BoostedGroup[];
  readonly worst: WorstChange;
  readonly ibs: Change;
  /** after / before − 1. */
  readonly ibsChange: number | null;
  readonly concordance: Change;
}

export interface BoostResult extends GuardedBoost {
  /** Of all rows, those that were fitted on among them. */
  readonly curves: Curves; // [N,T]
  readonly verdict: BoostVerdict;
}

export interface GuardedBoost {
  readonly boost: Boost;
  readonly choice: RoundChoice;
}

/**
 * Chosen by measurement on planted tables (Cox models that lack a group whose hazards are doubled, halved or change their shape): the
 * reference's 25 steps of 0.1 stop half-way, its two ranges of bins cannot follow a change of shape, its pooled censoring curve pulls
 * down groups that are followed for less time, trust in every mean fits noise, and curves moved on the survival scale are clipped
 * at 1 and tie (a Cox model of nwtco without the histology: C .650 as it was, .663 so and .716 on the hazard scale).
 */
export const GUARDED_BOOST_DEFAULTS = {
  rounds: 100,
  step: 0.3,
  timeBuckets: 4,
  censoring: "group",
  scale: "hazard",
  doubt: 1,
} as const satisfies Partial<BoostOptions>;
export const DEFAULT_FOLDS = 5;
export const DEFAULT_REPEATS = 2;

/** Own stream of the seed: folds share no draws with a model's split of the same seed. */
const FOLD_STREAM = 0xb005;
/** A fold of fewer rows has no Kaplan-Meier curve to speak of. */
const FEWEST_FOLD_ROWS = 10;

/** Fits on some rows, applies to all and judges on others. */
export function boost(task: BoostTask, rows: BoostRowSets, options: GuardedBoostOptions = {}): BoostResult {
  if (rows.held.length === 0) {
    throw new InputError("no rows left to judge the boost on", { code: "rows.none" });
  }
  const fitted = fitGuardedBoost(pickTask(task, rows.fit), options);
  const curves = applyBoost(fitted.boost, task.curves, { groups: task.groups });
  const held = pickTask(task, rows.held);
  return { ...fitted, curves, verdict: judgeBoost(held, pickTask({ ...task, curves }, rows.held).curves) };
}

/** The task's curves against others of the same rows. */
export function judgeBoost({ curves, outcomes, groups }: BoostTask, boosted: Curves): BoostVerdict {
  const everyone = {
    before: scoreCurves("all", curves, outcomes),
    after: scoreCurves("all", boosted, outcomes),
  };
  const scored = groups.map(({ name, rows }): BoostedGroup => {
    const before = scoreCurves(name, curves, outcomes, rows);
    const after = scoreCurves(name, boosted, outcomes, rows);
    const { bins } = before.supported;
    return {
      name,
      n: before.n,
      events: before.events,
      bins,
      judged: before.events >= MINIMUM_EVENTS && bins >= MINIMUM_SUPPORT * curves.T,
      distance: { before: before.supported.distanceL2, after: after.supported.distanceL2 },
      ece: { before: before.supported.ece, after: after.supported.ece },
    };
  });
  const worstOf = (when: keyof Change) => {
    let worst: { group: string; distance: number } | null = null;
    for (const { name, judged, distance } of scored) {
      const value = distance[when];
      if (judged && value !== null && !(worst !== null && worst.distance >= value)) {
        worst = { group: name, distance: value };
      }
    }
    return worst;
  };
  const changeOf = (read: (scores: Scores) => number | null): Change => ({
    before: read(everyone.before),
    after: read(everyone.after),
  });
  const ibs = changeOf((scores) => scores.ibs);
  const hasBoth = ibs.before !== null && ibs.after !== null && ibs.before > 0;
  return {
    rows: curves.N,
    events: everyone.before.events,
    groups: scored,
    worst: { before: worstOf("before"), after: worstOf("after") },
    ibs,
    ibsChange: hasBoth ? (ibs.after ?? 0) / (ibs.before ?? 1) - 1 : null,
    concordance: changeOf((scores) => scores.concordance),
  };
}

/** Fits a boost whose number of rounds is held in check by rows left out of the fit. */
export function fitGuardedBoost(task: BoostTask, options: GuardedBoostOptions = {}): GuardedBoost {
  const { folds = DEFAULT_FOLDS, repeats = DEFAULT_REPEATS, seed = 1, ...given } = options;
  const settings = { ...GUARDED_BOOST_DEFAULTS, ...given };
  if (!(Number.isInteger(folds) && folds >= 2)) {
    throw new InputError(`folds are not a whole number, 2 or more: ${folds}`, { code: "option.invalid" });
  }
  const { N } = task.curves;
  if (N < folds * FEWEST_FOLD_ROWS) {
    throw new InputError(`too few rows to fit a boost on: ${N}`, {
      code: "rows.few",
      hint: `at least ${folds * FEWEST_FOLD_ROWS}; hundreds for groups worth repairing`,
    });
  }
  const paths: Path[] = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    const foldOf = dealFolds(task.outcomes, folds, seed, repeat);
    for (let fold = 0; fold < folds; fold++) {
      const inside: number[] = [];
      const outside: number[] = [];
      for (let row = 0; row < N; row++) (foldOf[row] === fold ? inside : outside).push(row);
      const boost = fitBoost(pickTask(task, Int32Array.from(outside)), settings);
      paths.push(followBoost(boost, pickTask(task, Int32Array.from(inside))));
    }
  }
  const choice = { folds, repeats, seed, ...chooseRounds(paths) };
  return { boost: fitBoost(task, { ...settings, rounds: choice.rounds }), choice };
}

/** Equally many events in each fold, as far as they go round. */
function dealFolds({ event }: BinnedOutcomes, folds: number, seed: number, repeat: number): Uint8Array {
  const order = Int32Array.from(event, (_, row) => row);
  shuffle(order, createRandom(seed, FOLD_STREAM + repeat));
  const foldOf = new Uint8Array(event.length);
  let dealt = 0;
  for (const value of [1, 0])
    for (const row of order) if (event[row] === value) foldOf[row] = dealt++ % folds;
  return foldOf;
}

/** What a boost does to rows it was not fitted on; entry r after r updates. */
interface Path {
  readonly ibs: number[];
  /** [R+1][G]; NaN for a group that these rows cannot judge. */
  readonly distances: number[][];
  /** The mean Greenwood variance over the bins of the distance. */
  readonly noise: readonly number[]; // [G]
}

function followBoost(boost: Boost, task: BoostTask): Path {
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
  const noise = paths[0].noise.map((_, g) => meanOf(paths.map((path) => path.noise[g])));
  const inNoise = (distances: readonly number[]) =>
    distances.reduce((sum, d, g) => (Number.isNaN(d) ? sum : sum + d / noise[g]), 0);
  /** Of each fold; a boost that had nothing left to do stays where it was. */
  const at = (path: Path, r: number) => Math.min(r, path.ibs.length - 1);
  const ibsAt = (r: number) => paths.map((path) => path.ibs[at(path, r)]);
  const distanceAt = (r: number) => paths.map((path) => inNoise(path.distances[at(path, r)]));
  const worstAt = (r: number) => {
    const excess = noise.map((v, g) => meanOf(paths.map((path) => path.distances[at(path, r)][g])) - v);
    return Math.max(...excess.filter(Number.isFinite));
  };
  const rounds = Array.from({ length: R + 1 }, (_, r) => r);
  const last = rounds.findLast(
    (r) => !hasRisen(ibsAt(0), ibsAt(r)) && !hasRisen(distanceAt(0), distanceAt(r)),
  );
  return {
    rounds: last ?? 0,
    distance: rounds.map((r) => meanOf(distanceAt(r))),
    worst: rounds.map(worstAt),
    ibs: rounds.map((r) => meanOf(ibsAt(r))),
  };
}

/** Whether the mean has, by more than its standard error over the folds. */
function hasRisen(before: readonly number[], after: readonly number[]): boolean {
  const rises = after.map((value, k) => value - before[k]);
  const mean = meanOf(rises);
  const variance = meanOf(rises.map((rise) => (rise - mean) ** 2));
  return mean > Math.sqrt(variance / (rises.length - 1));
}

/** Of the numbers among them; NaN without any. */
function meanOf(values: readonly number[]): number {
  const present = values.filter(Number.isFinite);
  return present.reduce((sum, value) => sum + value, 0) / present.length;
}

/** Some rows of everything; members that are not among them leave their groups. */
export function pickTask({ curves, outcomes, groups }: BoostTask, rows: Int32Array): BoostTask {
  const { T, survival } = curves;
  const picked = new Float64Array(rows.length * T);
  const place = new Int32Array(curves.N).fill(-1);
  rows.forEach((row, k) => {
    picked.set(survival.subarray(row * T, (row + 1) * T), k * T);
    place[row] = k;
  });
  return {
    curves: { N: rows.length, T, survival: picked },
    outcomes: {
      T: outcomes.T,
      bin: rows.map((row) => outcomes.bin[row]),
      event: Uint8Array.from(rows, (row) => outcomes.event[row]),
    },
    groups: groups.map((group) => ({
      ...group,
      rows: Int32Array.from(group.rows, (row) => place[row]).filter((k) => k >= 0),
    })),
  };
}
