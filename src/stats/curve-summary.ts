/**
 * What is read off a Kaplan-Meier curve, as in R: survival at chosen times as in `summary(survfit, times)`, the median
 * as in `print(survfit)`, where the curve's own pointwise limits cross one half, and the restricted mean ∫₀^τ S(t) dt
 * as in `print(survfit, rmean = τ)`, whose error is Greenwood's (that of people with weights or several rows is in
 * jackknife.ts).
 */
import { countAtMost, countBelow } from "../core/ascending.ts";
import { absent, type Measured } from "../core/measured.ts";
import type { KaplanMeier } from "./kaplan-meier.ts";

/** R's tolerance in survmean, √ε: a curve this close to one half is at one half. */
const AT_HALF = 1.4901161193847656e-8;

/** Survival at one time, with its limits and the number at risk. */
export interface SurvivalAtTime {
  readonly time: number;
  /** Number under observation just before the time. */
  readonly atRisk: number;
  readonly survival: Measured;
  /** Greenwood's standard error of S. */
  readonly standardError: Measured;
  readonly lower: Measured;
  readonly upper: Measured;
}

/** The median time with its limits. */
export interface MedianSurvival {
  readonly estimate: Measured;
  readonly lower: Measured;
  readonly upper: Measured;
}

/** The area under a curve up to a time, with its standard error. */
export interface RestrictedMean {
  /** τ. */
  readonly until: number;
  readonly estimate: number;
  readonly standardError: number;
}

/** The curve at a time; after its last time it has no value, unless it has reached 0. */
export function survivalAt(km: KaplanMeier, time: number): SurvivalAtTime {
  const passed = countAtMost(km.time, time);
  const atRisk = km.atRisk[countBelow(km.time, time)] ?? 0;
  if (passed === 0) return { time, atRisk, survival: 1, standardError: 0, lower: 1, upper: 1 };
  const last = passed - 1;
  if (passed === km.time.length && time > km.time[last] && km.survival[last] > 0) {
    const ended = absent(`nobody is followed that long: the curve ends at ${km.time[last]}`);
    return { time, atRisk, survival: ended, standardError: ended, lower: ended, upper: ended };
  }
  const defined = (value: number): Measured =>
    Number.isNaN(value) ? absent(`undefined where survival is ${km.survival[last]}`) : value;
  return {
    time,
    atRisk,
    survival: km.survival[last],
    standardError: defined(Math.sqrt(km.variance[last])),
    lower: defined(km.lower[last]),
    upper: defined(km.upper[last]),
  };
}

/** The times at which the curve and its limits reach one half; the middle of the stretch if they stay there. */
export function medianSurvival(km: KaplanMeier): MedianSurvival {
  const crossing = (values: Float64Array, what: string): Measured => {
    const at = values.findIndex((value) => value < 0.5 + AT_HALF);
    if (at < 0) return absent(`${what} does not come down to one half`);
    if (Math.abs(values[at] - 0.5) < AT_HALF) {
      const below = values.findIndex((value, k) => k > at && value < values[at]);
      if (below >= 0) return (km.time[at] + km.time[below]) / 2;
    }
    return km.time[at];
  };
  return {
    estimate: crossing(km.survival, "the curve"),
    lower: crossing(km.lower, "its lower limit"),
    upper: crossing(km.upper, "its upper limit"),
  };
}

/** ∫₀^τ S(t) dt; a curve that ends before τ is carried on at its last value, as in R. */
export function restrictedMean(km: KaplanMeier, until: number): RestrictedMean {
  const K = countAtMost(km.time, until);
  // From τ backwards: the area to the right of each time, which is what that time's events affect.
  let area = 0;
  let variance = 0;
  for (let k = K - 1; k >= 0; k--) {
    const end = k + 1 < K ? km.time[k + 1] : until;
    area += (end - km.time[k]) * km.survival[k];
    const [n, d] = [km.atRisk[k], km.events[k]];
    if (n > d) variance += (area * area * d) / (n * (n - d));
  }
  const first = K > 0 ? km.time[0] : until;
  return { until, estimate: area + first, standardError: Math.sqrt(variance) };
}
