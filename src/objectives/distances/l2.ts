/**
 * The squared gap between curves: (1/L) Σ_{t≤L} (mean_g(t) − S_KM,g(t))², with ∂/∂mean(t) = 2 (mean − S_KM)/L. Its
 * noise is the mean Greenwood variance over the bins compared, which itself shrinks as 1/N. Of one of several causes it
 * is the gap between incidences, and S_KM is 1 − Aalen-Johansen with its variance.
 */
import { square } from "../../core/elementary.ts";
import { isAbsent } from "../../core/measured.ts";
import { distanceL2 } from "../../stats/calibration/calibration.ts";
import type { ConstraintGroup } from "../constraints.ts";
import { type DistanceDefinition, withStart } from "./distance.ts";

export const l2: DistanceDefinition = {
  words: "mean squared gap between mean curve and Kaplan-Meier",
  wordsOfCauses: "mean squared gap between mean incidence and Aalen-Johansen",
  statistic: "meanCurve",
  findObstacle: () => null,
  measure: (_, { km, bins }, statistics) => {
    const distance = distanceL2(withStart(statistics), km.survival, { bins });
    return isAbsent(distance) ? 0 : distance;
  },
  fillGradient: (_, { bins, km }, statistics, multiplier, gradient) => {
    for (let t = 1; t <= bins; t++) {
      gradient[t - 1] = (multiplier * 2 * (statistics[t - 1] - km.survival[t])) / bins;
    }
  },
  noise: meanVariance,
  automaticSlack: (group, _, kappa) => kappa * meanVariance(group),
  // A mean square of probabilities; on this scale 2 and 100 do about what the multipliers of atRisk do on theirs.
  defaults: { kappa: 0.25, dual: { form: "ascent", rate: 100, start: 2 } },
  // §6.3's value for nwtco, an r.m.s. gap of .14; its flchain and eye use .01, set in their plans.
  paper: { slack: 0.02 },
};

/**
 * Mean Greenwood variance over the bins compared. A group without events has none; the square of the smallest step its
 * Kaplan-Meier curve can make, 1/N_g, is used instead, so that the slack stays positive.
 */
function meanVariance(group: ConstraintGroup): number {
  let sum = 0;
  let defined = 0;
  for (let t = 1; t <= group.bins; t++) {
    const variance = group.km.variance[t];
    if (Number.isNaN(variance)) continue;
    sum += variance;
    defined++;
  }
  return sum > 0 ? sum / defined : 1 / square(Math.max(group.rows.length, 1));
}
