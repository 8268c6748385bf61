/**
 * Boost: repairs curves that any model predicted, on rows the model has not learnt from, and judges the repair on rows
 * that neither has seen. There are two ways. `hazards`, the default, multiplies each group's hazards by what its events
 * say, as far as these can be trusted (repair/hazard-boost.ts, left-out.ts). `mcboost` is the paper's baseline
 * MCBoostSurv (repair/mcboost.ts), corrected and with a limit on the number of rounds (repair/left-out.ts); with
 * `reference` it is the R package's form, with its faults and without the limit. On planted tables the first does what
 * it should more often and in a fiftieth of the time: docs/decisions/009-boost.md. Distances are of group means only.
 */
import { InputError } from "../core/errors.ts";
import { present } from "../core/present.ts";
import type { Curves } from "../data/curves/curves.ts";
import {
  type BinnedSingleCauseInput,
  type CurvesInput,
  toBinnedSingleCause,
  toCurves,
  toInt32,
} from "../data/plain-input.ts";
import { type BoostTask, pickTask } from "../repair/boost-input.ts";
import { fitBoostRounds, type RoundChoice } from "../repair/left-out.ts";
import { applyBoost, type Boost, type BoostOptions, fitBoost } from "../repair/mcboost.ts";
import { fitHazardShare, type ShareChoice, type ShareChoiceOptions } from "../repair/share-choice.ts";
import { type BoostVerdict, judgeBoost } from "./boost-verdict.ts";

export { type BoostTask, DEFAULT_FOLDS, pickTask } from "../repair/boost-input.ts";
export { DEFAULT_REPEATS } from "../repair/left-out.ts";
export { type BoostedGroup, type BoostVerdict, judgeBoost } from "./boost-verdict.ts";

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
  /** The bin in which each person had the event or was censored; first bins at risk and weights where there are any. */
  readonly outcomes: BinnedSingleCauseInput;
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
    outcomes: toBinnedSingleCause(given.outcomes, "a repair of survival curves"),
  };
  const rows = toRowSets(sets);
  const fitted = fitGuardedBoost(pickTask(task, rows.fit), options);
  const curves = applyBoost(fitted.boost, task.curves, { groups: task.groups });
  const held = pickTask(task, rows.held);
  return { ...fitted, curves, verdict: judgeBoost(held, pickTask({ ...task, curves }, rows.held).curves) };
}

/** Rows that fit, and at least one that judges. */
export function toRowSets(sets: Readonly<Record<keyof BoostRowSets, ArrayLike<number>>>): BoostRowSets {
  const rows = { fit: toInt32(sets.fit), held: toInt32(sets.held) };
  if (rows.held.length > 0) return rows;
  throw new InputError("no rows left to judge the boost on", { code: "rows.none" });
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
  return fitHazardShare(task, hazardOptions(given));
}

/** The options of the method `hazards`; those of the other are refused by name. */
export function hazardOptions(given: Omit<GuardedBoostOptions, "method">): ShareChoiceOptions {
  const { folds, seed, timeBuckets, doubt, ...others } = given;
  const [foreign] = Object.keys(others);
  if (foreign !== undefined) {
    throw new InputError(`${foreign} is an option of the method "mcboost"`, { code: "option.conflict" });
  }
  return present({ folds, seed, timeBuckets, doubt });
}
