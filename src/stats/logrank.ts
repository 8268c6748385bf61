/**
 * Logrank tests. Between G groups, as in R's `survdiff`: O − E with the hypergeometric covariance, each event time
 * weighted by S(t−)^rho (rho 1 = Peto-Peto). One sample against predicted curves, in two forms: against the mean curve,
 * E = Σ −log S̄(t_i) with variance E (R's `survdiff(~ offset(S))`), and against each row's own curve, E = ΣΣ_{s≤t_i}
 * h_s(x_i), which is the valid one when censoring depends on x (individual-logrank.ts). A test that cannot be computed
 * is absent, with a reason. Late entry and weights of the outcomes themselves are taken between groups
 * (interval-logrank.ts) and against each row's own curve, not against the mean curve.
 */

import { chiSquareUpperTail, logChiSquareUpperTail } from "../core/distributions.ts";
import { exp, log, square } from "../core/elementary.ts";
import { InputError } from "../core/errors.ts";
import { solveQuadratic } from "../core/linear-algebra.ts";
import { absent, type Measured } from "../core/measured.ts";
import type { RowWeights } from "../data/outcomes/outcomes.ts";
import { checkLength, checkWeights, groupRowsByTime } from "../data/outcomes/rows-by-time.ts";
import {
  type BinnedRightCensoredInput,
  type CurvesInput,
  type SingleCauseInput,
  toInt32,
  toSingleCause,
} from "../data/plain-input.ts";
import { matchOutcomes } from "./calibration/calibration.ts";
import { compareIntervals, type GroupSums } from "./interval-logrank.ts";

export interface LogrankOptions {
  /** 0: every event time counts alike; 1: weighted by the pooled S(t−) (Peto-Peto). */
  readonly rho?: 0 | 1;
  readonly weights?: RowWeights;
  /** "robust": by the spread between people; the default where the outcomes hold weights. */
  readonly variance?: "hypergeometric" | "robust";
  /** Whether times that differ only by rounding are merged, by R's rule (core/ascending.ts); default true, as in R. */
  readonly timefix?: boolean;
}

export interface Logrank {
  readonly observed: Float64Array; // [G]
  readonly expected: Float64Array; // [G]
  /** Covariance of O − E. */
  readonly variance: Float64Array; // [G,G]
  readonly chi2: number;
  /** One less than the number of groups with expected events. */
  readonly df: number;
  readonly p: number;
  readonly logP: number;
}

export type OneSampleLogrank = Readonly<
  Record<"observed" | "expected" | "variance" | "chi2" | "p" | "logP", number>
>;

/** `group` holds 0…G−1, or −1 for a row that is left out. */
export function logrank(
  input: SingleCauseInput,
  groups: ArrayLike<number>,
  G: number,
  options: LogrankOptions = {},
): Measured<Logrank> {
  const outcomes = toSingleCause(input, "the logrank test");
  const group = toInt32(groups);
  const { rho = 0 } = options;
  const N = outcomes.time.length;
  checkLength("group", group.length, N);
  const strange = group.findIndex((g) => g < -1 || g >= G);
  if (strange >= 0) {
    throw new InputError(`group outside −1…${G - 1}: ${group[strange]}`, {
      code: "group.range",
      where: `row ${strange + 1}`,
    });
  }
  checkWeights(options.weights, N);
  const weights = Float64Array.from(group, (g, row) => (g < 0 ? 0 : (options.weights?.[row] ?? 1)));
  const isPlain = outcomes.entry === undefined && outcomes.weight === undefined;
  if (!isPlain || options.variance === "robust")
    return summarise(compareIntervals(outcomes, group, G, { ...options, weights }));
  const { time, start, rows } = groupRowsByTime(outcomes.time, { weights, timefix: options.timefix ?? true });
  const K = time.length;
  const deaths = new Float64Array(K);
  const leaving = new Float64Array(K);
  for (let k = 0; k < K; k++) {
    for (let i = start[k]; i < start[k + 1]; i++) {
      leaving[k] += weights[rows[i]];
      if (outcomes.event[rows[i]] === 1) deaths[k] += weights[rows[i]];
    }
  }
  const emphasis = rho === 0 ? new Float64Array(K).fill(1) : pooledLeftLimit(deaths, leaving);

  const observed = new Float64Array(G);
  const expected = new Float64Array(G);
  const variance = new Float64Array(G * G);
  const atRisk = new Float64Array(G);
  let n = 0;
  for (let k = K - 1; k >= 0; k--) {
    for (let i = start[k]; i < start[k + 1]; i++) {
      const row = rows[i];
      atRisk[group[row]] += weights[row];
      if (outcomes.event[row] === 1) observed[group[row]] += weights[row] * emphasis[k];
    }
    n += leaving[k];
    const d = deaths[k];
    if (d === 0) continue;
    for (let g = 0; g < G; g++) expected[g] += (emphasis[k] * d * atRisk[g]) / n;
    // A row alone at risk is certain to have the event: no variance.
    if (n <= 1) continue;
    const scale = (emphasis[k] * emphasis[k] * d * (n - d)) / (n * (n - 1));
    for (let g = 0; g < G; g++) {
      variance[g * G + g] += scale * atRisk[g];
      for (let other = 0; other < G; other++)
        variance[g * G + other] -= (scale * atRisk[g] * atRisk[other]) / n;
    }
  }

  return summarise({ observed, expected, variance });
}

/** The test of O − E by its covariance. */
function summarise({ observed, expected, variance }: GroupSums): Measured<Logrank> {
  const tested = Array.from(expected.keys()).filter((g) => expected[g] > 0);
  if (tested.length === 0) return absent("no events");
  if (tested.length === 1) return absent("only one group has expected events");
  // The O − E sum to 0, so one group is redundant; leaving out the largest keeps the rest best conditioned.
  const largest = tested.reduce((best, g) => (expected[g] > expected[best] ? g : best));
  const kept = tested.filter((g) => g !== largest);
  const difference = observed.map((o, g) => o - expected[g]);
  const chi2 = solveQuadratic(variance, difference, kept);
  if (chi2 === undefined)
    return absent("the events leave no variance: everyone at risk had the event at once");
  const df = kept.length;
  const p = chiSquareUpperTail(chi2, df);
  return { observed, expected, variance, chi2, df, p, logP: logChiSquareUpperTail(chi2, df) };
}

/** S(t−) of all rows together at every distinct time. */
function pooledLeftLimit(deaths: Float64Array, leaving: Float64Array): Float64Array {
  const K = deaths.length;
  const atRisk = new Float64Array(K);
  for (let k = K - 1; k >= 0; k--) atRisk[k] = leaving[k] + (k + 1 < K ? atRisk[k + 1] : 0);
  const left = new Float64Array(K);
  let S = 1;
  for (let k = 0; k < K; k++) {
    left[k] = S;
    S *= (atRisk[k] - deaths[k]) / atRisk[k];
  }
  return left;
}

/** Observed events against an expected number with a variance of its own: χ² on 1 df. */
export function oneSample(observed: number, expected: number, variance: number): Measured<OneSampleLogrank> {
  if (Number.isNaN(expected)) return absent("the predicted curves hold values that are not numbers");
  if (expected === Number.POSITIVE_INFINITY) return absent("infinitely many events are expected");
  if (expected === 0) return absent("no events are expected");
  if (!(variance > 0)) return absent("the expected number of events has no variance");
  const chi2 = square(observed - expected) / variance;
  const logP = logChiSquareUpperTail(chi2, 1);
  return { observed, expected, variance, chi2, p: exp(logP), logP };
}

/** Observed events against an expected number with Poisson variance: χ² = (O−E)²/E, 1 df. */
export function logrankOneSample(observed: number, expected: number): Measured<OneSampleLogrank> {
  return oneSample(observed, expected, expected);
}

/**
 * The mean predicted survival is floored at this value in −log S̄: if it were 0 while someone is still under
 * observation, E would be infinite. 1e-12 adds 27.6 expected events per such row, enough to reject any curve.
 */
export const MEAN_SURVIVAL_FLOOR = 1e-12;

/**
 * Tests against the mean curve of the same rows; `rows` restricts to some of them, weights stay indexed by table row.
 */
export function logrankMeanCurve(
  predicted: CurvesInput,
  input: BinnedRightCensoredInput,
  rows?: ArrayLike<number>,
  weights?: RowWeights,
): Measured<OneSampleLogrank> {
  const { curves, binned: outcomes } = matchOutcomes(predicted, input, "the logrank test", weights);
  const { N, T, survival } = curves;
  const mean = new Float64Array(T);
  const leaving = new Float64Array(T);
  let observed = 0;
  let total = 0;
  const count = rows === undefined ? N : rows.length;
  for (let i = 0; i < count; i++) {
    const row = rows === undefined ? i : rows[i];
    const weight = weights === undefined ? 1 : weights[row];
    if (weight === 0) continue;
    total += weight;
    if (outcomes.event[row] === 1) observed += weight;
    leaving[outcomes.bin[row] - 1] += weight;
    for (let t = 0; t < T; t++) mean[t] += weight * survival[row * T + t];
  }
  if (total === 0) return absent("no rows");
  let expected = 0;
  for (let t = 0; t < T; t++) {
    if (leaving[t] > 0) expected -= leaving[t] * log(Math.max(mean[t] / total, MEAN_SURVIVAL_FLOOR));
  }
  return logrankOneSample(observed, expected);
}
