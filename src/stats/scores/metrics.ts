/**
 * Every score that is one number per group, with one definition each: how it is computed, which way is better, and how
 * it is named and shown. The audit's JSON and its schema, bootstrap replicates and intervals, requirements and the
 * report's columns are made from this list; docs/concepts/adding-a-metric.md shows how to add one. A metric is a
 * function of a group's sums (`ScoredGroup`), so that the plain form (scores.ts) and the fast one under weights
 * (evaluate-scores.ts) share it: each fills the same sums in its own way. Tests with several numbers (D-calibration,
 * logrank) are not metrics; they are in scores.ts.
 */
import { isAbsent, type Measured } from "../../core/measured.ts";
import {
  distanceL2,
  distanceVariance,
  expectedCalibrationError,
  type Supported,
  totalScore,
} from "../calibration/calibration.ts";
import { concordanceHalfTies, concordancePaper, type PairCounts } from "../concordance/time-dependent.ts";
import type { BinnedKaplanMeier } from "../kaplan-meier.ts";

/** The sums over a group's rows that metrics are computed from. */
export interface ScoredGroup {
  readonly km: BinnedKaplanMeier; // [T+1]
  /** The mean of the rows' curves, t = 0…T. */
  readonly mean: Measured<Float64Array>;
  readonly pairs: PairCounts;
  /** The bins over which calibration is measured. */
  readonly supported: Supported;
  /** Integrated Brier score. */
  readonly ibs: Measured;
  /** Ranked probability score, summed over the rows. */
  readonly rps: Measured;
}

export interface MetricDefinition {
  /** What it is, in a sentence for readers of the JSON. */
  readonly words: string;
  readonly better: "higher" | "lower";
  /** The largest possible value; omitted if there is no limit. The smallest is 0. */
  readonly maximum?: number;
  readonly measure: (group: ScoredGroup) => Measured;
  /** A sum over rows, not a mean: its replicates are scaled to the group's own number of rows. */
  readonly isSum?: boolean;
  /**
   * Whether bootstrap replicates give it a two-sided interval; a distance from the observed has its own upper bound
   * instead.
   */
  readonly hasInterval: boolean;
  /** A short name for requirements, without spaces. */
  readonly alias?: string;
  /** The heading and format of its column in the report; null if no table shows it. */
  readonly column: { readonly title: string; readonly digits: number } | null;
}

/** A calibration score of the mean curve; absent if the curve is. */
function ofMean(measure: (mean: Float64Array, group: ScoredGroup) => Measured) {
  return (group: ScoredGroup): Measured => (isAbsent(group.mean) ? group.mean : measure(group.mean, group));
}

const measureEce = ofMean((mean, { km, supported }) => {
  const calibration = expectedCalibrationError(mean, km.survival, supported);
  return isAbsent(calibration) ? calibration : calibration.ece;
});

/** In the order of the audit's JSON. */
export const METRICS = {
  concordance: {
    words: "Time-dependent C-index as the paper has it, tied predictions scoring 0.",
    better: "higher",
    maximum: 1,
    measure: ({ pairs }) => concordancePaper(pairs),
    hasInterval: true,
    alias: "c",
    column: { title: "C-index", digits: 3 },
  },
  concordanceHalfTies: {
    words: "The same C-index with tied predictions scoring one half.",
    better: "higher",
    maximum: 1,
    measure: ({ pairs }) => concordanceHalfTies(pairs),
    hasInterval: true,
    column: null,
  },
  ece: {
    words:
      "Expected calibration error: gap between the group's mean curve and its Kaplan-Meier curve by tenths of " +
      "predicted survival, over the bins up to supported.bins.",
    better: "lower",
    maximum: 1,
    measure: measureEce,
    hasInterval: false,
    column: { title: "ECE", digits: 4 },
  },
  distanceL2: {
    words:
      "Mean squared gap between the mean curve and Kaplan-Meier over the bins up to supported.bins; " +
      "its root is the r.m.s. gap.",
    better: "lower",
    maximum: 1,
    measure: ofMean((mean, { km, supported }) => distanceL2(mean, km.survival, supported)),
    hasInterval: false,
    alias: "l2",
    // The report shows its root.
    column: null,
  },
  distanceVariance: {
    words:
      "Largest gap between the mean curve and Kaplan-Meier over the bins up to supported.bins, " +
      "in Greenwood standard errors.",
    better: "lower",
    measure: ofMean((mean, { km, supported }) => {
      const worst = distanceVariance(mean, km.survival, km.variance, supported);
      return isAbsent(worst) ? worst : worst.value;
    }),
    hasInterval: false,
    alias: "maxz",
    column: { title: "Largest z", digits: 2 },
  },
  ibs: {
    words: "Integrated Brier score: the mean over bins, weighted by the censoring curve of the same rows.",
    better: "lower",
    measure: ({ ibs }) => ibs,
    hasInterval: true,
    column: { title: "IBS", digits: 4 },
  },
  rps: {
    words: "Ranked probability score, summed over the rows; a censored row counts up to its own bin.",
    better: "lower",
    measure: ({ rps }) => rps,
    isSum: true,
    hasInterval: true,
    column: null,
  },
  totalScore: {
    words: "Harmonic mean of concordance and 1 − ece.",
    better: "higher",
    maximum: 1,
    measure: (group) => totalScore(concordancePaper(group.pairs), measureEce(group)),
    hasInterval: true,
    column: null,
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

/** The name of a metric, in the audit's JSON and in requirements. */
export type MetricName = keyof typeof METRICS;
/** A metric, including the fields that only some metrics have. */
export function metricOf(name: MetricName): MetricDefinition {
  return METRICS[name];
}

export function isMetric(name: string): name is MetricName {
  return Object.hasOwn(METRICS, name);
}

/** Metrics that the audit also gives over all bins, as in the paper. */
export const PAPER_METRICS = [
  "ece",
  "distanceL2",
  "distanceVariance",
  "totalScore",
] as const satisfies readonly MetricName[];
