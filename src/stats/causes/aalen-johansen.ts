/**
 * Aalen-Johansen: the cumulative incidence of each cause where causes compete, F_k(t) = Σ_{s≤t} S(s−) d_k(s)/n(s), with
 * S the Kaplan-Meier curve of any event, over the distinct times as R's survfit lists them; Σ_k F_k + S = 1. The
 * variance is survfit's for several states, the infinitesimal jackknife by person (jackknife.ts). Limits are pointwise,
 * by default symmetric on the log scale as survfit's are; where F_k = 0 they are undefined. Rows are at risk in (entry,
 * time]; weights say how many people a row stands for.
 */
import { InputError } from "../../core/errors.ts";
import { checkIntervals, joinIntervals, joinOutcomeTimes } from "../../data/outcomes/intervals.ts";
import type { Outcomes, RowWeights } from "../../data/outcomes/outcomes.ts";
import { checkWeights, productLimit, type RiskTable, tallyRisk } from "../../data/outcomes/rows-by-time.ts";
import { type OutcomesInput, toOutcomes } from "../../data/plain-input.ts";
import { createSquares, numberClusters, passRows, sumGreenwood } from "../jackknife.ts";
import { type IntervalScale, limitsOf, quantileOf } from "../kaplan-meier.ts";

/** Outcomes that say which cause an event was of. */
export interface CausesInput extends OutcomesInput {
  /** 0: censored; 1, 2, …: the cause of the event. */
  readonly cause: ArrayLike<number>; // [N]
}

/** How many causes there are, how limits are drawn, and which times are one. */
export interface AalenJohansenOptions {
  /** How many causes there are; the largest that occurs unless given. */
  readonly causes?: number;
  /** The scale on which the pointwise limits are symmetric; R's `conf.type`, "log" unless given. */
  readonly interval?: IntervalScale;
  /** Of the limits; 0.95 unless given. */
  readonly level?: number;
  /** Whether times that differ only by rounding are merged, by R's rule (core/ascending.ts); default true, as in R. */
  readonly timefix?: boolean;
}

/** The incidence of one cause, at every time. */
export interface CauseIncidence {
  readonly events: Float64Array; // [K]
  readonly incidence: Float64Array; // [K]
  readonly variance: Float64Array; // [K]
  /** Pointwise limits, kept within [0, 1]; NaN where the incidence is 0. */
  readonly lower: Float64Array;
  readonly upper: Float64Array;
}

/** The incidences of all causes and the probability of none. */
export interface AalenJohansen extends RiskTable {
  readonly survival: Float64Array; // [K]
  readonly causes: readonly CauseIncidence[];
}

/** Causes as typed arrays, checked; how many there are. */
export function toCauses(
  input: CausesInput,
  causes?: number,
): { outcomes: Outcomes; cause: Uint8Array; K: number } {
  const outcomes = toOutcomes(input);
  const { cause } = outcomes;
  if (cause === undefined)
    throw new InputError("no causes are given", {
      code: "cause.value",
      hint: "cause is 0 where censored, and 1, 2, … where the event was of that cause",
    });
  checkIntervals(outcomes);
  checkWeights(outcomes.weight, outcomes.time.length);
  const largest = cause.reduce((most, one) => Math.max(most, one), 0);
  const K = causes ?? largest;
  if (largest > K)
    throw new InputError(`a cause beyond the last: ${largest} (of ${K})`, { code: "cause.value" });
  return { outcomes, cause, K };
}

/** Cumulative incidence curves of raw times. */
export function aalenJohansen(observed: CausesInput, options: AalenJohansenOptions = {}): AalenJohansen {
  const { outcomes: given, K } = toCauses(observed, options.causes);
  const { interval = "log", timefix = true } = options;
  const z = quantileOf(options.level);
  const outcomes = joinIntervals(timefix ? joinOutcomeTimes(given) : given);
  const { weight, cause = new Uint8Array(0) } = outcomes;
  const table = tallyRisk(outcomes, { weights: weight });
  const { survival } = productLimit(table);
  const events = Array.from({ length: K }, () => new Float64Array(table.time.length));
  const { leaving, start } = passRows(outcomes, weight);
  for (let k = 0; k < table.time.length; k++)
    for (let i = start[k]; i < start[k + 1]; i++) {
      const row = leaving[i];
      if (cause[row] > 0) events[cause[row] - 1][k] += weight === undefined ? 1 : weight[row];
    }
  const causes = events.map((own, c) => {
    const incidence = accumulateIncidence(table, survival, own);
    const variance = jackknifeIncidence(outcomes, { table, survival, incidence, cause: c + 1 }, weight);
    const lower = new Float64Array(own.length);
    const upper = new Float64Array(own.length);
    for (let k = 0; k < own.length; k++) {
      const error = incidence[k] > 0 ? Math.sqrt(variance[k]) / incidence[k] : 0;
      const { low, high } = limitsOf(incidence[k], error, z, interval);
      lower[k] = low;
      upper[k] = high;
    }
    return { events: own, incidence, variance, lower, upper };
  });
  return { ...table, survival, causes };
}

/** Σ S(t−) d/n. */
function accumulateIncidence(
  { atRisk }: RiskTable,
  survival: Float64Array,
  events: Float64Array,
): Float64Array {
  const incidence = new Float64Array(events.length);
  let F = 0;
  for (let k = 0; k < events.length; k++) {
    if (events[k] > 0) F += ((k === 0 ? 1 : survival[k - 1]) * events[k]) / atRisk[k];
    incidence[k] = Math.min(F, 1); // rounding may put a whole just above 1
  }
  return incidence;
}

interface Incidence {
  readonly table: RiskTable;
  readonly survival: Float64Array;
  readonly incidence: Float64Array;
  readonly cause: number;
}

/** The robust variance of one incidence at each time; the formulas are in jackknife.ts. */
function jackknifeIncidence(
  outcomes: Outcomes,
  { table, survival, incidence, cause }: Incidence,
  weights: RowWeights | undefined,
): Float64Array {
  const { from, leaving, start, entering, firstEntering } = passRows(outcomes, weights);
  const { of, count } = numberClusters(outcomes);
  const A = sumGreenwood(table);
  const K = A.length;
  const squares = createSquares(count);
  const B = new Float64Array(K);
  const variance = new Float64Array(K);
  const weightOf = (row: number) => (weights === undefined ? 1 : weights[row]);
  const before = (values: Float64Array, k: number) => (k === 0 ? 0 : values[k - 1]);
  for (let k = 0; k < K; k++) {
    const n = table.atRisk[k];
    const S = k === 0 ? 1 : survival[k - 1];
    const early = before(A, k);
    const step = incidence[k] - before(incidence, k);
    B[k] = before(B, k) + (step === 0 ? 0 : step * (early - 1 / n));
    for (let i = firstEntering[k]; i < firstEntering[k + 1]; i++) {
      const w = weightOf(entering[i]);
      // Once everyone has had an event, nobody who comes later can change anything.
      if (S > 0)
        squares.add(of[entering[i]], w * (early * before(incidence, k) - before(B, k)), -w * early, w);
    }
    for (let i = start[k]; i < start[k + 1]; i++) {
      const row = leaving[i];
      const e = from[row];
      if (e > 0 && survival[e - 1] === 0) continue;
      if (S === 0) continue;
      const w = weightOf(row);
      const entered = before(A, e);
      const passed = B[k] - before(B, e) - entered * (incidence[k] - before(incidence, e));
      const own = passed + (outcomes.cause?.[row] === cause ? S / n : 0);
      const left = outcomes.event[row] === 1 ? 1 / (n - table.events[k]) : 0;
      const u = survival[k] > 0 ? A[k] - entered - left : 0;
      const start0 = entered * before(incidence, e) - before(B, e);
      squares.add(of[row], w * (own - u * incidence[k] - start0), w * (u + entered), -w);
    }
    variance[k] = squares.at(incidence[k], B[k]);
  }
  return variance;
}
