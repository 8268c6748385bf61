/**
 * The largest gap between curves in standard errors: max_{t≤L} |mean_g(t) − S_KM,g(t)| / √Var(t), with the gradient
 * sign(gap)/√Var at the first maximising t and 0 elsewhere. Bins with undefined or zero variance are skipped. `paper`:
 * Greenwood's variance; `default`: S̄² Σ h̄/(k(1−h̄)) of the mean curve itself, with no gradient through it. Of one of
 * several causes both are those of stats/causes/incidence-variance.ts: `default` takes the hazards of the mean
 * incidence beside the others' observed ones. The distance is already in standard errors, so its slack does not depend
 * on κ.
 */
import { isAbsent } from "../../core/measured.ts";
import { createRandom } from "../../core/random.ts";
import { distanceVariance, modelVariance } from "../../stats/calibration/calibration.ts";
import { hazardsOfMean, incidenceVariance } from "../../stats/causes/incidence-variance.ts";
import type { ConstraintGroup, Constraints } from "../constraints.ts";
import { atRisk } from "./at-risk.ts";
import { type DistanceDefinition, withStart } from "./distance.ts";

/** 1.96 is pointwise, and a perfect model exceeds it in a quarter of groups; 2.8 allows for the maximum over time. */
export const VARIANCE_SLACK = { paper: 1.96, default: 2.8 } as const;

/** Draws and seed of the simulated largest gap: its mean to about 0.02 standard errors, the same in every run. */
const NOISE_DRAWS = 1000;
const NOISE_SEED = 1;

export const variance: DistanceDefinition = {
  words: "largest gap between mean curve and Kaplan-Meier, in standard errors",
  wordsOfCauses: "largest gap between mean incidence and Aalen-Johansen, in standard errors",
  statistic: "meanCurve",
  findObstacle: ({ bins, km }, variant) => {
    const isUsable = variant === "default" || km.variance.subarray(1, bins + 1).some((one) => one > 0);
    return isUsable ? null : "no bin with a defined, positive variance";
  },
  measure: (constraints, group, statistics) =>
    findLargestGap(constraints, group, withStart(statistics)).value,
  fillGradient: (constraints, group, statistics, multiplier, gradient) => {
    const { t, slope } = findLargestGap(constraints, group, withStart(statistics));
    gradient[t - 1] = multiplier * slope;
  },
  noise: meanLargestGap,
  automaticSlack: (_group, variant) => VARIANCE_SLACK[variant],
  // In standard errors, with a slack of 2.8: the multipliers of atRisk fit; κ does not enter.
  defaults: { kappa: 1, dual: atRisk.defaults.dual },
  // §4's 95 % point.
  paper: { slack: VARIANCE_SLACK.paper },
};

interface LargestGap {
  readonly value: number;
  readonly t: number;
  /** ∂value/∂mean(t) */
  readonly slope: number;
}

function findLargestGap(constraints: Constraints, group: ConstraintGroup, mean: Float64Array): LargestGap {
  const { km, bins } = group;
  const ofGap = constraints.variant === "paper" ? km.variance : varianceOfMean(group, mean);
  const largest = distanceVariance(mean, km.survival, ofGap, { bins });
  // A mean curve that has not moved from 1 has no variance of its own in any bin.
  if (isAbsent(largest)) return { value: 0, t: 1, slope: 0 };
  const { value, t } = largest;
  return { value, t, slope: Math.sign(mean[t] - km.survival[t]) / Math.sqrt(ofGap[t]) };
}

/** The variance that the observed curve would have if the mean curve were true. */
export function varianceOfMean(
  { worth, rivals }: Pick<ConstraintGroup, "worth" | "rivals">,
  mean: Float64Array, // [T+1]
): Float64Array {
  if (rivals === undefined) return modelVariance(mean, worth);
  return incidenceVariance({ own: hazardsOfMean(mean, rivals), others: rivals, atRisk: worth });
}

/**
 * E max_t |B(v_t)|/√v_t, with B Brownian motion and v Greenwood's sum: the law of the standardised Kaplan-Meier error,
 * by simulation. 0 if no bin has a variance.
 */
function meanLargestGap(group: ConstraintGroup): number {
  if (group.rivals !== undefined) return meanLargestIncidenceGap(group, group.rivals);
  const { greenwood, variance: ofCurve } = group.km;
  const clock: number[] = [];
  for (let t = 1; t <= group.bins; t++) {
    if (ofCurve[t] > 0 && greenwood[t] !== clock[clock.length - 1]) clock.push(greenwood[t]);
  }
  const random = createRandom(NOISE_SEED);
  let sum = 0;
  for (let draw = 0; draw < NOISE_DRAWS; draw++) {
    let position = 0;
    let before = 0;
    let largest = 0;
    for (const v of clock) {
      position += Math.sqrt(v - before) * random.normal();
      before = v;
      largest = Math.max(largest, Math.abs(position) / Math.sqrt(v));
    }
    sum += largest;
  }
  return sum / NOISE_DRAWS;
}

/** The same of Aalen-Johansen, whose error is no Brownian motion: events of each bin are drawn, as normal errors. */
function meanLargestIncidenceGap({ km, bins, worth }: ConstraintGroup, rivals: Float64Array): number {
  const { hazard, variance: ofCurve } = km;
  const random = createRandom(NOISE_SEED);
  let sum = 0;
  for (let draw = 0; draw < NOISE_DRAWS; draw++) {
    let survival = 1;
    let error = 0; // of F(t)
    let lost = 0; // Σ error of p/(1 − p)
    let largest = 0;
    for (let t = 1; t <= bins && survival > 0; t++) {
      const [h, q, n] = [hazard[t], rivals[t], worth[t]];
      if (h + q > 0) {
        const ofOwn = Math.sqrt((h * (1 - h)) / n) * random.normal();
        const left = 1 - h - q;
        const apart = h < 1 ? Math.sqrt(Math.max(0, (q * left) / ((1 - h) * n))) * random.normal() : 0;
        const ofOthers = apart - (h < 1 ? (q * ofOwn) / (1 - h) : 0);
        error += survival * (ofOwn - h * lost);
        if (left > 0) lost += (ofOwn + ofOthers) / left;
        survival *= Math.max(0, left);
      }
      if (ofCurve[t] > 0) largest = Math.max(largest, Math.abs(error) / Math.sqrt(ofCurve[t]));
    }
    sum += largest;
  }
  return sum / NOISE_DRAWS;
}
