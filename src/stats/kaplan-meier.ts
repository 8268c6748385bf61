/**
 * Kaplan-Meier with Greenwood's variance and the Nelson-Aalen cumulative hazard: S(t) = Π (1 − d/n), Var = S² Σ
 * d/(n(n−d)), Λ = Σ d/n, Var = Σ d/n², over the distinct times as R's `survfit` lists them (censoring-only times
 * included), and over the bins of a time grid. Weights are multiplicities: 2 means the row twice, 0 the row absent.
 * Where S has reached 0 its variance and limits are undefined: NaN in `variance`, `lower` and `upper` and nowhere else,
 * with `greenwood` infinite. Log-log limits are undefined at S = 1 as well, as in R. What is read off a curve is in
 * curve-summary.ts. With late entry a row is at risk in (entry, time]. Outcomes that hold weights, which say how many
 * people a row stands for, have robust variances (jackknife.ts), and so has whoever asks for them because people have
 * several rows.
 */

import { normalQuantile } from "../core/distributions.ts";
import { exp, log } from "../core/elementary.ts";
import { InputError } from "../core/errors.ts";
import { joinIntervals, joinOutcomeTimes } from "../data/outcomes/intervals.ts";
import type { BinnedSingleCause, Outcomes, RowWeights } from "../data/outcomes/outcomes.ts";
import {
  checkLength,
  checkWeights,
  type ProductLimit,
  productLimit,
  type RiskTable,
  tallyRisk,
} from "../data/outcomes/rows-by-time.ts";
import {
  type BinnedSingleCauseInput,
  type SingleCauseInput,
  toBinnedSingleCause,
  toSingleCause,
} from "../data/plain-input.ts";
import { jackknifeHazard, jackknifeSurvival, sumAalen } from "./jackknife.ts";

/** The scale on which limits are symmetric. */
export type IntervalScale = "log" | "log-log" | "plain";

export interface KaplanMeierOptions {
  /** How often each row counts, e.g. in a bootstrap draw; weights of the outcome itself are in `outcomes.weight`. */
  readonly weights?: RowWeights;
  /** "robust": the infinitesimal jackknife by person; the default where the outcomes hold weights. */
  readonly variance?: "greenwood" | "robust";
  /** The scale on which the pointwise limits are symmetric; R's `conf.type`. */
  readonly interval?: IntervalScale;
  readonly level?: number;
  /** Whether times that differ only by rounding are merged, by R's rule (core/ascending.ts); default true, as in R. */
  readonly timefix?: boolean;
}

/** The product-limit estimate with limits, at every observed time. */
export interface KaplanMeier extends RiskTable {
  readonly survival: Float64Array;
  /** S² × greenwood; NaN where S = 0. */
  readonly variance: Float64Array;
  /** Nelson-Aalen. */
  readonly cumulativeHazard: Float64Array;
  /** Its variance, Σ d/n² unless it is robust. */
  readonly cumulativeHazardVariance: Float64Array;
  /** The variance of log S, Σ d/(n(n−d)) unless it is robust; Infinity where S = 0. */
  readonly greenwood: Float64Array;
  /** Pointwise limits, kept within [0, 1]; NaN where undefined. */
  readonly lower: Float64Array;
  readonly upper: Float64Array;
}

/** Rows whose bin is t or later are at risk in it; all arrays are over t = 0…T. */
export type BinTable = Pick<RiskTable, "atRisk" | "events" | "censored">;

/** All arrays are over t = 0…T. */
export interface BinnedKaplanMeier
  extends BinTable,
    Pick<KaplanMeier, "survival" | "variance" | "greenwood"> {
  /** d/n, and 0 where nobody is at risk. */
  readonly hazard: Float64Array;
}

/** Limits of one point on the given scale; `error` is the standard error of log S. */
export function limitsOf(
  survival: number,
  error: number,
  z: number,
  scale: IntervalScale,
): { low: number; high: number } {
  const undefinedHere = survival === 0 || (scale === "log-log" && survival === 1);
  if (undefinedHere) return { low: Number.NaN, high: Number.NaN };
  const reach = z * error;
  switch (scale) {
    case "plain":
      return {
        low: Math.max(survival - reach * survival, 0),
        high: Math.min(survival + reach * survival, 1),
      };
    case "log":
      return { low: survival * exp(-reach), high: Math.min(survival * exp(reach), 1) };
    case "log-log": {
      const logS = log(survival);
      // log S < 0 reverses the order: the lower limit of S is the upper limit of log(−log S).
      return { low: exp(logS * exp(-reach / logS)), high: exp(logS * exp(reach / logS)) };
    }
  }
}

/** Kaplan-Meier curve of raw times. */
export function kaplanMeier(observed: SingleCauseInput, options: KaplanMeierOptions = {}): KaplanMeier {
  const outcomes = toSingleCause(observed, "Kaplan-Meier");
  const { interval = "log" } = options;
  const z = quantileOf(options.level);
  const { table, survival, greenwood, cumulativeHazardVariance } = estimate(outcomes, options);
  const K = table.time.length;
  const variance = new Float64Array(K);
  const cumulativeHazard = new Float64Array(K);
  const lower = new Float64Array(K);
  const upper = new Float64Array(K);
  let hazard = 0;
  for (let k = 0; k < K; k++) {
    const S = survival[k];
    if (table.events[k] > 0) hazard += table.events[k] / table.atRisk[k];
    cumulativeHazard[k] = hazard;
    variance[k] = S > 0 ? S * S * greenwood[k] : Number.NaN;
    const { low, high } = limitsOf(S, Math.sqrt(greenwood[k]), z, interval);
    lower[k] = low;
    upper[k] = high;
  }
  return {
    ...table,
    survival,
    variance,
    cumulativeHazard,
    cumulativeHazardVariance,
    greenwood,
    lower,
    upper,
  };
}

/** How many standard errors the limits of a level are away. */
export function quantileOf(level = 0.95): number {
  if (level > 0 && level < 1) return normalQuantile(1 - (1 - level) / 2);
  throw new InputError(`confidence level outside (0, 1): ${level}`, { code: "option.invalid" });
}

type Estimate = { readonly table: RiskTable } & ProductLimit & Pick<KaplanMeier, "cumulativeHazardVariance">;

/** The curve with the variances of its logarithm and of the cumulative hazard, as sums over people or robust. */
function estimate(outcomes: Outcomes, options: KaplanMeierOptions): Estimate {
  const { weights = outcomes.weight, timefix = true } = options;
  if (outcomes.entry === undefined && outcomes.weight === undefined && options.variance !== "robust") {
    const table = tallyRisk(outcomes, { weights: options.weights, timefix });
    return { table, ...productLimit(table), cumulativeHazardVariance: sumAalen(table) };
  }
  if (options.weights !== undefined && outcomes.weight !== undefined)
    throw new InputError("weights are given twice: with the outcomes and as an option", {
      code: "option.invalid",
    });
  const joined = joinIntervals(timefix ? joinOutcomeTimes(outcomes) : outcomes);
  const own = joined.weight ?? weights;
  const table = tallyRisk(joined, { weights: own });
  const limit = productLimit(table);
  if ((options.variance ?? (outcomes.weight === undefined ? "greenwood" : "robust")) === "greenwood")
    return { table, ...limit, cumulativeHazardVariance: sumAalen(table) };
  const variance = jackknifeSurvival(joined, table, own);
  const greenwood = variance.map((one, k) => (limit.survival[k] > 0 ? one : Number.POSITIVE_INFINITY));
  const cumulativeHazardVariance = jackknifeHazard(joined, table, own);
  return { table, survival: limit.survival, greenwood, cumulativeHazardVariance };
}

/**
 * Who is at risk and who leaves in bins 0…T (nobody is in bin 0); `rows` restricts to some rows, weights stay indexed
 * by table row. A row counts by its own weight too, and from the first bin in which it is at risk; a row that is at
 * risk in none does not count.
 */
export function tallyBins(
  outcomes: BinnedSingleCause,
  weights?: RowWeights,
  rows?: ArrayLike<number>,
): BinTable {
  const { T, bin, event, firstBin, weight: own } = outcomes;
  checkLength("event", event.length, bin.length);
  checkWeights(weights, bin.length);
  const atRisk = new Float64Array(T + 1);
  const events = new Float64Array(T + 1);
  const censored = new Float64Array(T + 1);
  const late = new Float64Array(T + 1); // comes under observation after bin t
  const count = rows === undefined ? bin.length : rows.length;
  for (let i = 0; i < count; i++) {
    const row = rows === undefined ? i : rows[i];
    if (firstBin !== undefined && firstBin[row] > bin[row]) continue;
    const t = bin[row];
    if (!(t >= 1 && t <= T)) {
      throw new InputError(`bin outside 1…${T}: ${t}`, { code: "bin.range", where: `row ${row + 1}` });
    }
    const weight = (weights === undefined ? 1 : weights[row]) * (own === undefined ? 1 : own[row]);
    if (event[row] === 1) events[t] += weight;
    else censored[t] += weight;
    if (firstBin !== undefined) late[firstBin[row] - 1] += weight;
  }
  let later = 0;
  for (let t = T; t >= 0; t--) {
    later += events[t] + censored[t] - late[t];
    // Sums of weights in another order leave a trace where everyone at risk has the event.
    atRisk[t] = Math.max(later, events[t] + censored[t]);
  }
  return { atRisk, events, censored };
}

/** Kaplan-Meier curve on a time grid. */
export function kaplanMeierBinned(
  observed: BinnedSingleCauseInput,
  weights?: RowWeights,
  rows?: ArrayLike<number>,
): BinnedKaplanMeier {
  const outcomes = toBinnedSingleCause(observed, "Kaplan-Meier");
  const table = tallyBins(outcomes, weights, rows);
  const T = outcomes.T;
  const survival = new Float64Array(T + 1).fill(1);
  const variance = new Float64Array(T + 1);
  const greenwood = new Float64Array(T + 1);
  const hazard = new Float64Array(T + 1);
  for (let t = 1; t <= T; t++) {
    const n = table.atRisk[t];
    const d = table.events[t];
    hazard[t] = d > 0 ? d / n : 0;
    survival[t] = d > 0 ? (survival[t - 1] * (n - d)) / n : survival[t - 1];
    greenwood[t] = d > 0 ? greenwood[t - 1] + d / (n * (n - d)) : greenwood[t - 1];
    variance[t] = survival[t] > 0 ? survival[t] * survival[t] * greenwood[t] : Number.NaN;
  }
  return { ...table, survival, variance, greenwood, hazard };
}

/** Below this many rows at risk a Kaplan-Meier curve is carried forward, not estimated. */
export const MINIMUM_AT_RISK = 10;

interface SupportOptions {
  readonly minimumAtRisk?: number;
  readonly weights?: RowWeights;
  readonly rows?: ArrayLike<number>;
}

/** τ_g: the last bin with at least `minimumAtRisk` rows at risk, whatever their weights; 0 when there is none. */
export function groupSupport(observed: BinnedSingleCauseInput, options: SupportOptions = {}): number {
  const { weight: _, ...outcomes } = toBinnedSingleCause(observed, "the support of a group");
  const { minimumAtRisk = MINIMUM_AT_RISK } = options;
  const { atRisk } = tallyBins(outcomes, options.weights, options.rows);
  let t = outcomes.T;
  while (t > 0 && atRisk[t] < minimumAtRisk) t--;
  return t;
}

// How much data a group needs before it is constrained or judged, for training, audit, tune and compare alike. With
// less, neither a test nor a bound nor a constraint says anything.

/** A test on fewer events says nothing, and no bound is given. */
export const MINIMUM_EVENTS = 10;
/** Share of the time bins that a group must be followed through. */
export const MINIMUM_SUPPORT = 1 / 4;

/** Whether a group with this many events, followed through this many of T bins, can be judged. */
export function hasEnoughData(events: number, bins: number, T: number): boolean {
  return events >= MINIMUM_EVENTS && bins >= MINIMUM_SUPPORT * T;
}
