/**
 * The distribution of the censoring time, G(t) = P(C > t), by Kaplan-Meier with the roles of event and censoring
 * exchanged; and look-up in step functions. Where events and censorings share a time, the two usual conventions differ:
 * "simple" keeps the events of t at risk of being censored at t (R's `survfit(Surv(time, 1 - status))`); "reverse" lets
 * them leave first (prodlim's `reverse = TRUE`, scikit-survival). Each score chooses which one it uses.
 */

import { countBelow } from "../core/ascending.ts";
import type { RowWeights } from "../data/outcomes/outcomes.ts";
import { tallyRisk } from "../data/outcomes/rows-by-time.ts";
import {
  type BinnedRightCensoredInput,
  type RightCensoredInput,
  toBinnedRightCensored,
  toRightCensored,
} from "../data/plain-input.ts";
import { type BinTable, tallyBins } from "./kaplan-meier.ts";

export type CensoringTies = "simple" | "reverse";

export interface CensoringOptions {
  readonly ties: CensoringTies;
  readonly weights?: RowWeights;
}

/** On a time grid, also of some rows (0-based) alone; weights stay indexed by table row. */
export interface BinnedCensoringOptions extends CensoringOptions {
  readonly rows?: ArrayLike<number>;
}

export interface CensoringCurve {
  /** The distinct times, ascending; t = 0…T for binned outcomes. */
  readonly time: Float64Array;
  /** G(t). */
  readonly survival: Float64Array;
  /** G(t−), the value just before t. */
  readonly leftLimit: Float64Array;
}

function estimate(time: Float64Array, counts: BinTable, ties: CensoringTies): CensoringCurve {
  const survival = new Float64Array(time.length);
  const leftLimit = new Float64Array(time.length);
  let G = 1;
  for (let k = 0; k < time.length; k++) {
    leftLimit[k] = G;
    // Those left uncensored are added up, not found by subtraction, so that G reaches 0 exactly for any weights.
    const later = k + 1 < time.length ? counts.atRisk[k + 1] : 0;
    const uncensored = ties === "reverse" ? later : later + counts.events[k];
    if (counts.censored[k] > 0) G *= uncensored / (uncensored + counts.censored[k]);
    survival[k] = G;
  }
  return { time, survival, leftLimit };
}

/** Kaplan-Meier curve of the censoring at raw times. */
export function censoringKaplanMeier(
  observed: RightCensoredInput,
  options: CensoringOptions,
): CensoringCurve {
  const outcomes = toRightCensored(observed, "Kaplan-Meier of the censoring");
  const table = tallyRisk(outcomes, options);
  return estimate(table.time, table, options.ties);
}

/** Kaplan-Meier curve of the censoring on a time grid. */
export function censoringKaplanMeierBinned(
  observed: BinnedRightCensoredInput,
  options: BinnedCensoringOptions,
): CensoringCurve {
  const outcomes = toBinnedRightCensored(observed, "Kaplan-Meier of the censoring");
  const time = Float64Array.from({ length: outcomes.T + 1 }, (_, t) => t);
  return estimate(time, tallyBins(outcomes, options.weights, options.rows), options.ties);
}

/**
 * The value at `at` of the right-continuous step function that jumps to values[k] at times[k], or its left limit there;
 * `before` holds ahead of the first jump (1 for a survival curve, 0 for a cumulative hazard).
 */
export function stepValue(
  times: ArrayLike<number>,
  values: ArrayLike<number>,
  at: number,
  left = false,
  before = 1,
): number {
  const below = countBelow(times, at);
  const jumps = !left && below < times.length && times[below] === at ? below + 1 : below;
  return jumps === 0 ? before : values[jumps - 1];
}
