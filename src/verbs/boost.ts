/**
 * Boost: repairs curves that any model predicted, on rows the model has not learnt from, and judges the repair on rows
 * that neither has seen. There are two ways. `hazards`, the default, multiplies each group's hazards by what its events
 * say, as far as these can be trusted (repair/hazard-boost.ts, left-out.ts). `mcboost` is the paper's baseline
 * MCBoostSurv (repair/mcboost.ts), corrected and with a limit on the number of rounds (repair/left-out.ts); with
 * `reference` it is the R package's form, with its faults and without the limit. On planted tables the first does what
 * it should more often and in a fiftieth of the time: docs/decisions/009-boost.md. Distances are of group means only.
 */
import { InputError } from "../core/errors.ts";
import type { Curves } from "../data/curves/curves.ts";
import {
  type BinnedRightCensoredInput,
  type CurvesInput,
  toBinnedRightCensored,
  toCurves,
  toInt32,
} from "../data/plain-input.ts";
import { type BoostTask, pickTask } from "../repair/boost-input.ts";
import { fitBoostRounds, fitHazardShare, type RoundChoice, type ShareChoice } from "../repair/left-out.ts";
import { applyBoost, type Boost, type BoostOptions, fitBoost } from "../repair/mcboost.ts";
import { MINIMUM_EVENTS, MINIMUM_SUPPORT } from "../stats/kaplan-meier.ts";
import { type Scores, scoreCurves } from "../stats/scores/scores.ts";

export { type BoostTask, DEFAULT_FOLDS, pickTask } from "../repair/boost-input.ts";
export { DEFAULT_REPEATS } from "../repair/left-out.ts";

/** Which rows a repair is fitted on and which judge it. */
export interface BoostRowSets {
  /** Rows the model has not learnt from, 0-based. */
  readonly fit: Int32Array;
  /** Rows that neither the model nor the boost has seen. */
  readonly held: Int32Array;
}

/** What is repaired: curves, the outcomes of their rows, and the groups. */
export type BoostTaskInput = Omit<BoostTask, "curves" | "outcomes"> & {
  /** Predicted survival of each person at the end of every bin. */
  readonly curves: CurvesInput;
  /** The bin in which each person had the event or was censored. */
  readonly outcomes: BinnedRightCensoredInput;
};

export const BOOST_METHODS = ["hazards", "mcboost"] as const;
export type BoostMethod = (typeof BOOST_METHODS)[number];

/** Of the BoostOptions, `hazards` uses only timeBuckets and doubt. */
export interface GuardedBoostOptions extends Partial<BoostOptions> {
  /** Default: hazards. */
  readonly method?: BoostMethod;
  /** Folds used to choose the size of the repair. */
  readonly folds?: number;
  /** How many times the rows are cut into new folds; mcboost only. */
  readonly repeats?: number;
  /** Seed of the folds. */
  readonly seed?: number;
}

/** One group on the rows that neither model nor boost has seen. */
export interface BoostedGroup {
  readonly name: string;
  readonly n: number;
  readonly events: number;
  /** Bins with at least ten rows at risk; the distances are over these. */
  readonly bins: number;
  /** False where there are too few events or too little follow-up to speak of a distance. */
  readonly judged: boolean;
  /** L2 distance of the mean curve from Kaplan-Meier. */
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

/** Scores of the judging rows before and after the repair. */
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

/** A repair and what the judging rows say of it. */
export interface BoostResult extends GuardedBoost {
  /** For all rows, including those that were fitted on. */
  readonly curves: Curves; // [N,T]
  readonly verdict: BoostVerdict;
}

export interface GuardedBoost {
  readonly boost: Boost;
  /**
   * Choice of the share for hazards, of the rounds for mcboost; null for the reference form, which takes all of its
   * rounds.
   */
  readonly choice: ShareChoice | RoundChoice | null;
}

/** Fits on some rows, applies to all and judges on others. */
export function boost(
  given: BoostTaskInput,
  sets: Readonly<Record<keyof BoostRowSets, ArrayLike<number>>>,
  options: GuardedBoostOptions = {},
): BoostResult {
  const task = {
    ...given,
    curves: toCurves(given.curves),
    outcomes: toBinnedRightCensored(given.outcomes, "a repair"),
  };
  const rows = { fit: toInt32(sets.fit), held: toInt32(sets.held) };
  if (rows.held.length === 0) {
    throw new InputError("no rows left to judge the boost on", { code: "rows.none" });
  }
  const fitted = fitGuardedBoost(pickTask(task, rows.fit), options);
  const curves = applyBoost(fitted.boost, task.curves, { groups: task.groups });
  const held = pickTask(task, rows.held);
  return { ...fitted, curves, verdict: judgeBoost(held, pickTask({ ...task, curves }, rows.held).curves) };
}

/** Compares the task's curves with others of the same rows. */
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
      distance: { before: before.distanceL2, after: after.distanceL2 },
      ece: { before: before.ece, after: after.ece },
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

/** The R package's form. It uses no folds; its time ranges collapse to one, so none are asked for. */
function fitReference(
  task: BoostTask,
  { seed: _, ...given }: Omit<GuardedBoostOptions, "method">,
): GuardedBoost {
  const foreign = (["folds", "repeats", "timeBuckets"] as const).find((name) => given[name] !== undefined);
  if (foreign !== undefined) {
    throw new InputError(`the reference's form of MCBoostSurv has no ${foreign}`, {
      code: "option.conflict",
      hint: "leave out one of the two",
    });
  }
  return { boost: fitBoost(task, given), choice: null };
}

/** Fits a repair whose size is limited by rows left out of the fit. */
export function fitGuardedBoost(task: BoostTask, options: GuardedBoostOptions = {}): GuardedBoost {
  const { method = "hazards", ...given } = options;
  if (method === "mcboost" && given.reference === true) return fitReference(task, given);
  if (method === "mcboost") return fitBoostRounds(task, given);
  const { folds, seed, timeBuckets, doubt, ...others } = given;
  const [foreign] = Object.keys(others);
  if (foreign !== undefined) {
    throw new InputError(`${foreign} is an option of the method "mcboost"`, { code: "option.conflict" });
  }
  return fitHazardShare(task, {
    ...(folds === undefined ? {} : { folds }),
    ...(seed === undefined ? {} : { seed }),
    ...(timeBuckets === undefined ? {} : { timeBuckets }),
    ...(doubt === undefined ? {} : { doubt }),
  });
}
