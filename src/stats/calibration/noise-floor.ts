/**
 * How large a calibration error a perfect model would show on rows like these by chance alone: keep the rows' predicted
 * curves, draw outcomes from them (drawn-outcomes.ts), and score the fixed mean curve against the Kaplan-Meier curve of
 * the drawn outcomes. The mean over draws is the floor, their 95 % point the critical value, and the rank of the
 * observed value among them a p-value: a test of calibration for any of the metrics. Over groups, the largest
 * standardised ECE is compared with that of the same draws (Westfall & Young's single-step maxT). Draws are scored on
 * the observed rows' support, not on their own; the `paper…` metrics on all bins.
 */

import { square } from "../../core/elementary.ts";
import { InputError } from "../../core/errors.ts";
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import { present } from "../../core/present.ts";
import {
  type BinnedRightCensored,
  type BinnedSingleCause,
  refuseBeyondCensoring,
} from "../../data/outcomes/outcomes.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { People } from "../../data/outcomes/people.ts";
import type {
  BinnedRightCensoredInput,
  BinnedSingleCauseInput,
  CurvesInput,
} from "../../data/plain-input.ts";
import { groupSupport, kaplanMeierBinned } from "../kaplan-meier.ts";
import { quantile } from "../scores/bootstrap.ts";
import {
  distanceL2,
  distanceVariance,
  expectedCalibrationError,
  matchHistories,
  matchOutcomes,
  meanCurve,
} from "./calibration.ts";
import { type DrawnOutcomes, drawnTable, drawOutcomes } from "./drawn-outcomes.ts";

export interface NoiseFloorOptions {
  readonly draws?: number;
  readonly seed: number;
  /** The person of each row; rows of one person are drawn with the same numbers (drawn-outcomes.ts). */
  readonly people?: People;
  /** Rows of the table that are drawn, and all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** With fewer, no p adjusted for many groups can be small, and those near a decision depend on the seed. */
export const DEFAULT_DRAWS = 999;
/** The critical value is this quantile of the draws. */
export const CRITICAL_QUANTILE = 0.95;

export interface MetricNoise {
  readonly observed: number;
  /** Mean over the draws. */
  readonly floor: number;
  readonly critical: number;
  /** (1 + number of draws at least as large as the observed) / (1 + draws). */
  readonly p: number;
}

export const NOISE_METRICS = [
  "ece",
  "distanceL2",
  "distanceVariance",
  "logrankIndividual",
  "paperEce",
  "paperDistanceL2",
  "paperDistanceVariance",
] as const;
export type NoiseMetric = (typeof NOISE_METRICS)[number];

/** What a perfect model would show on these rows, metric by metric. */
export interface NoiseFloor {
  readonly draws: number;
  readonly seed: number;
  /** Floor, critical value and p-value of the ECE over the support; the same numbers as in metrics.ece. */
  readonly ece: number;
  readonly eceCritical: number;
  readonly p: number;
  readonly metrics: Readonly<Record<NoiseMetric, Measured<MetricNoise>>>;
}

/** Curves, and outcomes of the same rows, which may have weights. */
interface MatchedHistories {
  readonly curves: Curves;
  readonly binned: BinnedSingleCause;
}

/** Observed value first, then one per draw; NaN = undefined in that draw. */
type Simulated = Readonly<Record<NoiseMetric, Float64Array>>; // [1 + draws]

/** Draws for all groups in one pass over the rows, then measures each draw of each group. */
function simulate(
  matched: MatchedHistories,
  groups: readonly Pick<NoiseGroup, "rows">[],
  { draws = DEFAULT_DRAWS, ...options }: NoiseFloorOptions,
): readonly Measured<Simulated>[] {
  const { curves, binned } = matched;
  const everyone = Int32Array.from({ length: curves.N }, (_, row) => row);
  const rowsOf = groups.map(({ rows = everyone }) => rows);
  const knots = [curves.T];
  const drawn = drawOutcomes(drawnTable(curves, binned), rowsOf, { ...options, draws, knots });
  return rowsOf.map((rows, g) => measureDraws(matched, rows, drawn[g], draws));
}

function measureDraws(
  { curves, binned }: MatchedHistories,
  rows: ArrayLike<number>,
  drawn: DrawnOutcomes,
  draws: number,
): Measured<Simulated> {
  const mean = meanCurve(curves, binned.weight, rows);
  if (isAbsent(mean)) return mean;
  const { T } = curves;
  const width = T + 1;
  const simulated = Object.fromEntries(
    NOISE_METRICS.map((metric) => [metric, new Float64Array(1 + draws).fill(Number.NaN)]),
  ) as Simulated;
  // Kaplan-Meier from counts: one row per bin and outcome, weighted by how many there are.
  const tally: BinnedRightCensored = {
    T,
    bin: Int32Array.from({ length: 2 * T }, (_, k) => (k % T) + 1),
    event: Uint8Array.from({ length: 2 * T }, (_, k) => (k < T ? 1 : 0)),
  };
  const weights = new Float64Array(2 * T);
  // The support of the observed rows: draws are scored on the same bins.
  const bins = groupSupport(binned, { rows });
  for (let draw = 0; draw <= draws; draw++) {
    const start = 2 * draw * width;
    weights.set(drawn.counts.subarray(start + 1, start + width), 0);
    weights.set(drawn.counts.subarray(start + width + 1, start + 2 * width), T);
    const km = kaplanMeierBinned(tally, weights);
    const put = (metric: NoiseMetric, value: Measured) => {
      if (!isAbsent(value)) simulated[metric][draw] = value;
    };
    const putDistances = (names: readonly [NoiseMetric, NoiseMetric, NoiseMetric], last: number) => {
      const ece = expectedCalibrationError(mean, km.survival, { bins: last });
      const worst = distanceVariance(mean, km.survival, km.variance, { bins: last });
      put(names[0], isAbsent(ece) ? ece : ece.ece);
      put(names[1], distanceL2(mean, km.survival, { bins: last }));
      put(names[2], isAbsent(worst) ? worst : worst.value);
    };
    if (bins > 0) putDistances(["ece", "distanceL2", "distanceVariance"], bins);
    putDistances(["paperEce", "paperDistanceL2", "paperDistanceVariance"], T);
    const observed = km.events.reduce((sum, count) => sum + count, 0);
    if (drawn.variance[draw] > 0) {
      put("logrankIndividual", square(observed - drawn.expected[draw]) / drawn.variance[draw]);
    }
  }
  return simulated;
}

/** Draws in which the metric is undefined (for example, no event was drawn) show no miscalibration and count as 0. */
export function rankObserved(values: Float64Array): Measured<MetricNoise> {
  const observed = values[0];
  if (Number.isNaN(observed)) return absent("the metric itself is undefined on these rows");
  const draws = values.subarray(1).map((value) => (Number.isNaN(value) ? 0 : value));
  let sum = 0;
  let reached = 0;
  for (const value of draws) {
    sum += value;
    if (value >= observed) reached++;
  }
  return {
    observed,
    floor: sum / draws.length,
    critical: quantile(draws, CRITICAL_QUANTILE),
    p: (1 + reached) / (1 + draws.length),
  };
}

function summarise(simulated: Simulated, draws: number, seed: number): Measured<NoiseFloor> {
  const metrics = Object.fromEntries(
    NOISE_METRICS.map((metric) => [metric, rankObserved(simulated[metric])]),
  ) as Record<NoiseMetric, Measured<MetricNoise>>;
  const { ece } = metrics;
  if (isAbsent(ece)) return ece;
  return { draws, seed, ece: ece.floor, eceCritical: ece.critical, p: ece.p, metrics };
}

export function checkDraws(draws: number): void {
  if (Number.isInteger(draws) && draws >= 1) return;
  throw new InputError(`the number of draws is not a positive whole number: ${draws}`, {
    code: "option.invalid",
  });
}

/** `rows` are 0-based; all rows if undefined. */
export function noiseFloor(
  predicted: CurvesInput,
  observed: BinnedRightCensoredInput,
  rows: ArrayLike<number> | undefined,
  options: NoiseFloorOptions,
): Measured<NoiseFloor> {
  const { draws = DEFAULT_DRAWS, seed } = options;
  checkDraws(draws);
  const matched = matchOutcomes(predicted, observed, "the noise floor");
  const [simulated] = simulate(matched, [present({ rows })], options);
  return isAbsent(simulated) ? simulated : summarise(simulated, draws, seed);
}

export interface NoiseGroup {
  readonly name: string;
  /** 0-based; all rows if omitted. */
  readonly rows?: ArrayLike<number>;
}

/** A group's ECE among those of all groups. */
export interface RankedEce {
  /** The observed ECE in standard deviations from its mean under a perfect model. */
  readonly standardised: Measured;
  /**
   * p-value adjusted for the number of groups: how often the largest standardised ECE of all groups reaches this one.
   */
  readonly adjustedP: Measured;
}

export interface GroupNoiseFloor extends RankedEce {
  readonly name: string;
  readonly floor: Measured<NoiseFloor>;
  /** The same for the ECE over all bins. */
  readonly paper: RankedEce & { readonly noise: Measured<MetricNoise> };
}

export interface SimultaneousNoiseFloor {
  readonly draws: number;
  readonly seed: number;
  /** p-value of the largest standardised ECE over the groups; the smallest adjusted p-value. */
  readonly p: Measured;
  readonly groups: readonly GroupNoiseFloor[];
}

/**
 * Observed first, then the draws. The observed value is included in the mean and deviation: under a perfect model all 1
 * + draws values are then exchangeable, and the rank of the maximum needs no correction. Absent where the draws do not
 * vary.
 */
function standardise(ece: Float64Array): Measured<Float64Array> {
  let mean = 0;
  for (const value of ece) mean += value / ece.length;
  let squares = 0;
  for (const value of ece) squares += square(value - mean);
  const deviation = Math.sqrt(squares / ece.length);
  if (!(deviation > 0)) return absent("the ECE does not vary over the draws");
  return ece.map((value) => (value - mean) / deviation);
}

/**
 * One set of draws for all groups, which may overlap: every floor is what noiseFloor gives for the group alone. The
 * outcomes may have weights, which the means and Kaplan-Meier curves of the draws then have too; late entry is refused.
 */
export function simultaneousNoiseFloor(
  predicted: CurvesInput,
  observed: Omit<BinnedSingleCauseInput, "firstBin">,
  groups: readonly NoiseGroup[],
  options: NoiseFloorOptions,
): SimultaneousNoiseFloor {
  const { draws = DEFAULT_DRAWS, seed } = options;
  checkDraws(draws);
  refuseBeyondCensoring(observed, "the noise floor", ["weight"]);
  const matched = matchHistories(predicted, observed, "the noise floor");
  const simulated = simulate(matched, groups, options);
  const eces = (metric: "ece" | "paperEce") => simulated.map((one) => (isAbsent(one) ? one : one[metric]));
  const supported = rankTogether(eces("ece"), draws);
  const paper = rankTogether(eces("paperEce"), draws);
  return {
    draws,
    seed,
    p: supported.p,
    groups: simulated.map((one, g) => ({
      name: groups[g].name,
      floor: isAbsent(one) ? one : summarise(one, draws, seed),
      ...supported.groups[g],
      paper: { noise: isAbsent(one) ? one : rankObserved(one.paperEce), ...paper.groups[g] },
    })),
  };
}

/**
 * The largest standardised error of all groups in every draw, and how often it reaches each group's own. `errors` are
 * the observed one and those of the draws, group by group.
 */
export function rankTogether(
  errors: readonly Measured<Float64Array>[], // [1 + draws] each
  draws: number,
): { readonly p: Measured; readonly groups: readonly RankedEce[] } {
  const largest = new Float64Array(1 + draws).fill(Number.NEGATIVE_INFINITY);
  const standardised = errors.map((one): Measured => {
    const values = isAbsent(one) ? one : standardise(one);
    if (isAbsent(values)) return values;
    values.forEach((z, k) => {
      largest[k] = Math.max(largest[k], z);
    });
    return values[0];
  });
  const adjust = (observed: number) => {
    let reached = 0;
    for (let k = 1; k <= draws; k++) if (largest[k] >= observed) reached++;
    return (1 + reached) / (1 + draws);
  };
  return {
    p: Number.isFinite(largest[0]) ? adjust(largest[0]) : absent("no group has an ECE that varies"),
    groups: standardised.map((z) => ({ standardised: z, adjustedP: isAbsent(z) ? z : adjust(z) })),
  };
}
