/**
 * A band for a group's true survival curve that holds at any sample size, and the bound it gives on ‖m − S_g‖ (method
 * §13). With e events among k at risk, Λ = Σ h and any λ fixed before the outcomes are seen, Π (1 − λ/k)^e e^{λh} and Π
 * (1 + λ/k)^e e^{−λh} are non-negative supermartingales that start at 1, so by Ville's inequality, for all t at once,
 *   Λ(t) ≤ [Σ −e log(1 − λ/k) + log 1/a]/λ     Λ(t) ≥ [Σ e log(1 + λ/k) − log 1/a]/λ     each with probability ≥ 1 − a.
 * Four λ per side are tried, with a = α/12, and the best is kept. S ≤ e^{−Λ}, and S ≥ e^{−rΛ} with r = −log(1 − η)/η
 * where no hazard up to t exceeds η, the largest Clopper-Pearson limit up to t at α/(3T). The band holds in every bin,
 * and so for a norm over any of them, wherever they end. It needs e ~ Bin(k, h) given the past: independent rows, and
 * independent censoring within the group.
 */

import { betaQuantile, betaRegularised } from "../../core/distributions.ts";
import { exp, log, log1p, power } from "../../core/elementary.ts";
import { type BinnedRightCensoredInput, toBinnedRightCensored } from "../../data/plain-input.ts";
import { type BinTable, MINIMUM_AT_RISK, tallyBins } from "../kaplan-meier.ts";

/** How a group was followed, or is expected to be: who was at risk and what happened in each bin. */
export interface FollowUp extends Pick<BinTable, "atRisk" | "events"> {
  readonly n: number;
}

/** Limits of S(t) for all t at once, t = 0…T. */
export interface SurvivalBand {
  readonly lower: Float64Array; // [T+1]
  readonly upper: Float64Array; // [T+1]
}

/**
 * Where along the bins the λ are fitted, as shares of them: late ones, since only a small λ says anything where few are
 * left at risk (nwtco, 500 rows: bound .165; at the quarters .253; no difference where many are left).
 */
const PLACES = [0.4, 0.75, 0.9, 1] as const;
/**
 * Largest λ as a share of the number at risk: log(1 − λ/k) stays far from its pole even if fewer are at risk than
 * expected.
 */
const MOST_OF_AT_RISK = 0.6;
/** α is split into thirds: one for each side of the hazard band and one for the Clopper-Pearson limits. */
const PARTS = 3;
/** If nothing is known about the follow-up, the largest λ is this share of the group. */
const LARGEST_SHARE = 0.5;
/** The share of α spent on the mean curve if the bound is for the population. */
const MEAN_SHARE = 0.25;

/** Numbers at risk and events among some rows, bin by bin: what a certificate may know beforehand. */
export function tallyFollowUp(observed: BinnedRightCensoredInput, rows: ArrayLike<number>): FollowUp {
  const outcomes = toBinnedRightCensored(observed, "a certificate");
  const { atRisk, events } = tallyBins(outcomes, undefined, rows);
  return { n: rows.length, atRisk, events };
}

/** The last bin in which ten of n people followed like these are expected at risk; 0 when there is none. */
export function expectedSupport({ n: from, atRisk }: FollowUp, n: number): number {
  let t = atRisk.length - 1;
  while (t > 0 && atRisk[t] * n < MINIMUM_AT_RISK * from) t--;
  return t;
}

/**
 * λ_j = min(√(2 log(1/a) / Σ_{s≤t_j} e/k²), 0.6 k_{t_j}) at four places t_j of bins 1…last, for n people followed like
 * these: the first term minimises the width at t_j.
 */
export function chooseRates(followUp: FollowUp, n: number, last: number, a: number): Float64Array {
  const { atRisk, events } = followUp;
  const scale = n / followUp.n;
  const squares = new Float64Array(last + 1);
  for (let t = 1; t <= last; t++) {
    squares[t] = squares[t - 1] + (atRisk[t] > 0 ? events[t] / (scale * atRisk[t] * atRisk[t]) : 0);
  }
  return Float64Array.from(PLACES, (place) => {
    const t = Math.max(1, Math.ceil(place * last));
    return Math.min(
      Math.sqrt((2 * log(1 / a)) / squares[t]),
      MOST_OF_AT_RISK * scale * Math.max(atRisk[t], 1),
    );
  });
}

/**
 * The same if nothing is known about the follow-up: equal steps of log λ from half of the group down to what ten people
 * at risk allow. Only n is used; a poor fit costs width, not validity.
 */
export function spreadRates(n: number): Float64Array {
  const smallest = MOST_OF_AT_RISK * MINIMUM_AT_RISK;
  const largest = Math.max(LARGEST_SHARE * n, smallest);
  const J = PLACES.length;
  return Float64Array.from({ length: J }, (_, j) => largest * power(smallest / largest, j / (J - 1)));
}

/** The probability with which each of J λ may miss its side of the band. */
export function missingPerRate(alpha: number, J: number): number {
  return alpha / (PARTS * J);
}

/** A band that the true S leaves anywhere with probability at most α. */
export function survivalBand(
  { atRisk, events }: Pick<FollowUp, "atRisk" | "events">,
  rates: ArrayLike<number>,
  alpha: number,
): SurvivalBand {
  const T = atRisk.length - 1;
  const cost = log(1 / missingPerRate(alpha, rates.length));
  const cumulativeLower = new Float64Array(T + 1);
  const cumulativeUpper = new Float64Array(T + 1).fill(Number.POSITIVE_INFINITY);
  cumulativeUpper[0] = 0;
  for (let j = 0; j < rates.length; j++) {
    const rate = rates[j];
    let high = cost;
    let low = -cost;
    for (let t = 1; t <= T; t++) {
      const [e, k] = [events[t], atRisk[t]];
      // Where λ ≥ k the process is undefined: this λ is stopped and says nothing from here on.
      if (rate >= k) high = Number.POSITIVE_INFINITY;
      if (e > 0) {
        high -= e * log1p(-Math.min(rate / k, 1));
        low += e * log1p(rate / k);
      }
      if (low / rate > cumulativeLower[t]) cumulativeLower[t] = low / rate;
      if (high / rate < cumulativeUpper[t]) cumulativeUpper[t] = high / rate;
    }
  }
  const lower = new Float64Array(T + 1);
  const upper = new Float64Array(T + 1);
  let eta = 0;
  for (let t = 0; t <= T; t++) {
    if (t > 0) eta = raiseHazardLimit(eta, events[t], atRisk[t], alpha / (PARTS * T));
    upper[t] = exp(-cumulativeLower[t]);
    lower[t] = eta < 1 ? exp(-ratioOfLogs(eta) * cumulativeUpper[t]) : 0;
  }
  return { lower, upper };
}

/** −log(1 − η)/η, 1 at η = 0. */
function ratioOfLogs(eta: number): number {
  return eta === 0 ? 1 : -log1p(-eta) / eta;
}

/** The larger of `eta` and the Clopper-Pearson upper limit of e of k at 1 − a; 1 where nobody is at risk. */
export function raiseHazardLimit(eta: number, e: number, k: number, a: number): number {
  if (k <= e || eta >= 1) return 1;
  // P(Bin(k, η) ≤ e) ≤ a: the limit lies below η already.
  if (eta > 0 && betaRegularised(1 - eta, k - e, e + 1, eta) <= a) return eta;
  return Math.max(eta, 1 - betaQuantile(a, k - e, e + 1));
}

/** √ of the mean over 1…last of max(m − S_L, S_U − m)²: no curve inside the band is further from m. */
export function furthestInBand(
  mean: ArrayLike<number>,
  { lower, upper }: SurvivalBand,
  last: number,
): number {
  let sum = 0;
  for (let t = 1; t <= last; t++) {
    const furthest = Math.max(mean[t] - lower[t], upper[t] - mean[t]);
    sum += furthest * furthest;
  }
  return Math.sqrt(sum / last);
}

export interface ExactBounds {
  /** Bound on ‖m − S_g‖, where m is the mean curve of these very rows. */
  readonly sample: number;
  /** Bound on ‖E[Ŝ|g] − S_g‖. */
  readonly population: number;
}

/**
 * Both bounds, each by itself at level 1 − α. The mean curve of n rows lies within (½ + √(log(1/a)/2))/√n of its
 * expectation with probability 1 − a (McDiarmid; curves lie in [0, 1]).
 */
export function boundExactly(
  mean: ArrayLike<number>,
  followed: FollowUp,
  options: {
    readonly alpha: number;
    /** Follow-up of the training rows; null if it is not known. */
    readonly trained: FollowUp | null;
    /** The bins of the norm. */
    readonly last: number;
  },
): ExactBounds {
  const { alpha, trained, last } = options;
  const { n } = followed;
  const at = (level: number) => {
    const rates =
      trained === null
        ? spreadRates(n)
        : chooseRates(trained, n, expectedSupport(trained, n), missingPerRate(level, PLACES.length));
    return furthestInBand(mean, survivalBand(followed, rates, level), last);
  };
  const drift = (0.5 + Math.sqrt(log(1 / (MEAN_SHARE * alpha)) / 2)) / Math.sqrt(n);
  return { sample: at(alpha), population: at((1 - MEAN_SHARE) * alpha) + drift };
}
