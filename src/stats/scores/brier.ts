/**
 * Brier score under censoring (Graf et al. 1999): rows with the event by t score S(t)², rows alive at t score (1 −
 * S(t))², rows censored before t drop out, and inverse probabilities of being uncensored, 1/G, make up for them.
 * Programs disagree on G and on the divisor, so a convention is always named:
 *   r                riskRegression, pec. G reverse ties; G(T−) for events, G(t) for the living; divided by n; exact
 *                    step integral
 *   scikit-survival  G reverse ties; G(T), right-continuous; G = 0 has weight 0; divided by n; trapezoids / range
 *   pycox            G simple ties; G(T−); divided by the sum of weights; Simpson / range
 *   mlr3proba        G simple ties; G(T), right-continuous; G = 0 becomes 0.001; divided by n; trapezoids / range
 * G comes from `training` where given, else from the scored rows. `brierBinned` is the r convention on the bins, in one
 * pass.
 */

import { countBelow } from "../../core/ascending.ts";
import { square } from "../../core/elementary.ts";
import { InputError } from "../../core/errors.ts";
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import { present } from "../../core/present.ts";
import type { RightCensored, RowWeights } from "../../data/outcomes/outcomes.ts";
import { checkLength, checkWeights, tallyRisk } from "../../data/outcomes/rows-by-time.ts";
import {
  type BinnedRightCensoredInput,
  type CurvesInput,
  type RightCensoredInput,
  toRightCensored,
} from "../../data/plain-input.ts";
import { matchOutcomes } from "../calibration/calibration.ts";
import {
  type CensoringCurve,
  type CensoringTies,
  censoringKaplanMeier,
  censoringKaplanMeierBinned,
  stepValue,
} from "../censoring.ts";

export interface BrierBinnedOptions {
  readonly ties?: CensoringTies;
  readonly weights?: RowWeights;
  /** Only these rows (0-based); weights stay indexed by table row. */
  readonly rows?: ArrayLike<number>;
}

export interface BrierBinned {
  readonly brier: Float64Array; // [T], entry t−1 is bin t
  /** Mean over t = 1…T. */
  readonly ibs: number;
  /** Trapezoids over 1…T divided by T−1; absent on a grid of one bin. */
  readonly ibsTrapezoid: Measured;
}

/** G from the same rows, G(bin−) for events and G(t) for the living, divided by n; N·T multiplications. */
export function brierBinned(
  predicted: CurvesInput,
  observed: BinnedRightCensoredInput,
  options: BrierBinnedOptions = {},
): Measured<BrierBinned> {
  const { ties = "reverse", weights, rows } = options;
  const { curves, binned } = matchOutcomes(predicted, observed, "the Brier score", weights);
  const { N, T, survival } = curves;
  const G = censoringKaplanMeierBinned(binned, { ties, ...present({ weights, rows }) });
  const alive = new Float64Array(T + 1);
  const dead = new Float64Array(T + 1);
  let n = 0;
  const count = rows === undefined ? N : rows.length;
  for (let i = 0; i < count; i++) {
    const row = rows === undefined ? i : rows[i];
    const weight = weights === undefined ? 1 : weights[row];
    if (weight === 0) continue;
    n += weight;
    const bin = binned.bin[row];
    const start = row * T - 1;
    for (let t = 1; t < bin; t++) {
      const gap = 1 - survival[start + t];
      alive[t] += weight * gap * gap;
    }
    if (binned.event[row] !== 1) continue;
    const inverse = weight / G.leftLimit[bin];
    for (let t = bin; t <= T; t++) dead[t] += inverse * survival[start + t] * survival[start + t];
  }
  if (n === 0) return absent("no rows");
  const brier = new Float64Array(T);
  let sum = 0;
  for (let t = 1; t <= T; t++) {
    // G reaches 0 only where nobody is left alive, so nothing is ever divided by it.
    brier[t - 1] = (dead[t] + (alive[t] === 0 ? 0 : alive[t] / G.survival[t])) / n;
    sum += brier[t - 1];
  }
  const trapezoids = sum - (brier[0] + brier[T - 1]) / 2;
  return { brier, ibs: sum / T, ibsTrapezoid: T > 1 ? trapezoids / (T - 1) : absent("only one bin") };
}

/** Whose treatment of ties, end points and integration to follow. */
export type BrierConvention = "r" | "scikit-survival" | "pycox" | "mlr3proba";

const TIES: Readonly<Record<BrierConvention, CensoringTies>> = {
  r: "reverse",
  "scikit-survival": "reverse",
  pycox: "simple",
  mlr3proba: "simple",
};

/** What mlr3proba (since 0.8.1) divides by where G is exactly 0; a positive G is left as it is. */
export const MLR3PROBA_EPSILON = 1e-3;
/**
 * mlr3proba's horizon in the published benchmark: the first time at which more than this share has left the risk set.
 */
export const MLR3PROBA_P_MAX = 0.8;

/** Predicted survival at some times, and the observed outcomes of the same people. */
export interface BrierInput {
  /** The scored rows. */
  readonly outcomes: RightCensoredInput;
  /** Strictly ascending. */
  readonly times: ArrayLike<number>; // [K]
  /** Predicted survival at the times, row by row. */
  readonly survival: ArrayLike<number>; // [N,K]
  /** Whose Brier score: weights and ties as in that program. */
  readonly convention: BrierConvention;
  /** The rows G is estimated from; the scored rows if omitted. */
  readonly training?: RightCensoredInput;
  /** Weights of the scored rows. */
  readonly weights?: RowWeights;
  /** Weights of the rows the censoring distribution is estimated on. */
  readonly trainingWeights?: RowWeights;
  /** pycox only: the most rows that one row may stand for. */
  readonly maxWeight?: number;
}

export interface BrierScores {
  readonly times: Float64Array; // [K]
  readonly brier: readonly Measured[]; // [K]
}

/**
 * pycox' G(T−): the entry before the first one at or after T, in an index that starts at time 0 unless a row does. Two
 * of its corner cases are kept: a row at time 0 gets G(0), and one past the last training time the last entry but one.
 */
function pycoxLeftLimit(G: CensoringCurve, time: number): number {
  const startsAtZero = G.time[0] <= 0;
  const last = startsAtZero ? G.time.length - 1 : G.time.length;
  const atOrAfter = countBelow(G.time, time) + (startsAtZero || time <= 0 ? 0 : 1);
  const entry = Math.max(Math.min(atOrAfter, last) - 1, 0);
  if (startsAtZero) return G.survival[entry];
  return entry === 0 ? 1 : G.survival[entry - 1];
}

/**
 * 1/G for one look-up: at a row's event time if `own`, otherwise at the time scored. Infinity where the convention has
 * no answer.
 */
function inverseCensoring(input: BrierInput, G: CensoringCurve, time: number, own: boolean): number {
  switch (input.convention) {
    case "r":
      return 1 / stepValue(G.time, G.survival, time, own);
    case "pycox": {
      const value = own ? pycoxLeftLimit(G, time) : stepValue(G.time, G.survival, time);
      return Math.min(1 / value, input.maxWeight ?? Number.POSITIVE_INFINITY);
    }
    case "scikit-survival": {
      const value = stepValue(G.time, G.survival, time);
      if (value === 0) return 0;
      return time > G.time[G.time.length - 1] ? Number.POSITIVE_INFINITY : 1 / value;
    }
    case "mlr3proba": {
      const value = stepValue(G.time, G.survival, time);
      return 1 / (value === 0 ? MLR3PROBA_EPSILON : value);
    }
  }
}

function checkBrierInput(input: BrierInput, outcomes: RightCensored): void {
  const { times, survival, training, weights, trainingWeights } = input;
  const N = outcomes.time.length;
  checkLength("event", outcomes.event.length, N);
  if (survival.length !== N * times.length) {
    throw new InputError(`survival: ${survival.length} values for ${N} rows and ${times.length} times`, {
      code: "rows.mismatch",
    });
  }
  checkWeights(weights, N);
  if (trainingWeights !== undefined && training === undefined) {
    throw new InputError("training weights without training rows", { code: "option.invalid" });
  }
  for (let k = 0; k < times.length; k++) {
    if (k > 0 ? times[k] > times[k - 1] : Number.isFinite(times[0])) continue;
    throw new InputError(`times are not ascending: ${times[k]} at position ${k + 1}`, {
      code: "times.order",
    });
  }
}

/** The score at each time, absent where its convention cannot give one. */
export function brierScore(input: BrierInput): BrierScores {
  const { survival, convention, weights } = input;
  const outcomes = toRightCensored(input.outcomes, "the Brier score");
  checkBrierInput(input, outcomes);
  const times = Float64Array.from(input.times);
  const N = outcomes.time.length;
  const K = times.length;
  const source = input.training ?? outcomes;
  const sourceWeights = input.training === undefined ? weights : input.trainingWeights;
  const G = censoringKaplanMeier(source, { ties: TIES[convention], ...present({ weights: sourceWeights }) });

  const deadScore = new Float64Array(K);
  const deadWeight = new Float64Array(K);
  const aliveScore = new Float64Array(K);
  const aliveWeight = new Float64Array(K);
  let n = 0;
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < N; i++) {
    const weight = weights === undefined ? 1 : weights[i];
    if (weight === 0) continue;
    n += weight;
    const time = outcomes.time[i];
    if (time < first) first = time;
    if (time > last) last = time;
    // Alive at t means that the row's time is beyond t, whether it ends in an event or a censoring.
    const aliveUntil = countBelow(times, time);
    const start = i * K;
    for (let k = 0; k < aliveUntil; k++) {
      const gap = 1 - survival[start + k];
      aliveScore[k] += weight * gap * gap;
      aliveWeight[k] += weight;
    }
    if (outcomes.event[i] !== 1 || aliveUntil === K) continue;
    const inverse = weight * inverseCensoring(input, G, time, true);
    for (let k = aliveUntil; k < K; k++) {
      deadScore[k] += inverse * survival[start + k] * survival[start + k];
      deadWeight[k] += inverse;
    }
  }

  const brier = Array.from(times, (time, k): Measured => {
    if (n === 0) return absent("no rows");
    if (G.time.length === 0) return absent("no training rows");
    if (convention === "scikit-survival" && !(time >= first && time < last)) {
      return absent(`time ${time} is outside the follow-up of the scored rows, ${first} to below ${last}`);
    }
    const inverse = aliveWeight[k] === 0 ? 0 : inverseCensoring(input, G, time, false);
    const score = deadScore[k] + aliveScore[k] * inverse;
    const divisor = convention === "pycox" ? deadWeight[k] + aliveWeight[k] * inverse : n;
    if (!Number.isFinite(inverse) || !Number.isFinite(deadWeight[k])) {
      return absent(
        `the censoring distribution of the training rows is 0 or unknown at or before time ${time}`,
      );
    }
    if (divisor === 0) return absent(`every row is censored by time ${time}`);
    return score / divisor;
  });
  return { times, brier };
}

/**
 * Composite Simpson on uneven spacing; with an odd number of intervals the last one uses Cartwright's (2017)
 * correction, as in SciPy ≥ 1.11.
 */
function integrateSimpson(x: ArrayLike<number>, y: ArrayLike<number>): number {
  const intervals = x.length - 1;
  if (intervals === 1) return ((x[1] - x[0]) * (y[0] + y[1])) / 2;
  let sum = 0;
  for (let k = 0; k + 2 <= intervals; k += 2) {
    const a = x[k + 1] - x[k];
    const b = x[k + 2] - x[k + 1];
    sum +=
      ((a + b) / 6) * ((2 - b / a) * y[k] + (square(a + b) / (a * b)) * y[k + 1] + (2 - a / b) * y[k + 2]);
  }
  if (intervals % 2 === 1) {
    const a = x[intervals - 1] - x[intervals - 2];
    const b = x[intervals] - x[intervals - 1];
    sum += ((2 * b * b + 3 * a * b) / (6 * (a + b))) * y[intervals];
    sum += ((b * b + 3 * a * b) / (6 * a)) * y[intervals - 1];
    sum -= ((b * b * b) / (6 * a * (a + b))) * y[intervals - 2];
  }
  return sum;
}

/**
 * The convention's integral over the scored times divided by their range; absent if the score at any of them is. `r`
 * holds each score until the next time: exact for step curves when the times are 0, every distinct observed time and,
 * last, the horizon.
 */
export function integrateBrier(scores: BrierScores, convention: BrierConvention): Measured {
  const { times } = scores;
  const y = new Float64Array(times.length);
  for (let k = 0; k < times.length; k++) {
    const score = scores.brier[k];
    if (isAbsent(score)) return score;
    y[k] = score;
  }
  const last = times.length - 1;
  // mlr3proba does not integrate over a single time: it returns the score there.
  if (last === 0 && convention === "mlr3proba") return y[0];
  if (last < 1) return absent("fewer than two times to integrate over");
  let sum = 0;
  if (convention === "pycox") {
    sum = integrateSimpson(times, y);
  } else {
    for (let k = 0; k < last; k++) {
      sum += (times[k + 1] - times[k]) * (convention === "r" ? y[k] : (y[k] + y[k + 1]) / 2);
    }
  }
  return sum / (times[last] - times[0]);
}

/** The Brier score integrated over time, with censoring weights. */
export function integratedBrier(input: BrierInput): Measured {
  return integrateBrier(brierScore(input), input.convention);
}

export interface Mlr3probaTimesOptions {
  readonly pMax?: number;
  readonly weights?: RowWeights;
}

/**
 * mlr3proba's grid: the distinct times up to and including the first with 1 − atRisk/n above pMax (all, if none is).
 */
export function mlr3probaTimes(
  observed: RightCensoredInput,
  options: Mlr3probaTimesOptions = {},
): Float64Array {
  const outcomes = toRightCensored(observed, "the Brier score");
  const { pMax = MLR3PROBA_P_MAX, weights } = options;
  const { time, atRisk } = tallyRisk(outcomes, { weights });
  const horizon = atRisk.findIndex((count) => 1 - count / atRisk[0] > pMax);
  return horizon < 0 ? time.slice() : time.slice(0, horizon + 1);
}
