/**
 * Do the predicted incidences of one cause agree with what was observed? In the mean of a group: the gap between its
 * mean predicted incidence and its Aalen-Johansen curve at the end of every bin, in the norms of gap-norms.ts, over the
 * bins at whose end at least ten of the group are at risk. And person by person: the individual logrank of the cause,
 * events against E = ΣΣ h_k(s|x_i) over the bins in which each row was at risk, V = Σ w² Σ h_k(1 − h_k), or that of the
 * sums by person where that is larger; it holds under late entry and where censoring depends on x. A gap to
 * Aalen-Johansen needs censoring independent within the group, and means over people who came late are not comparable
 * with it: absent.
 */
import { countAtMost, countBelow } from "../../core/ascending.ts";
import { square } from "../../core/elementary.ts";
import { absent, type Measured } from "../../core/measured.ts";
import { type Outcomes, pickOutcomes } from "../../data/outcomes/outcomes.ts";
import { checkLength, checkWeights } from "../../data/outcomes/rows-by-time.ts";
import { type BinnedOutcomesInput, toBinnedOutcomes } from "../../data/plain-input.ts";
import { type GapNorms, measureGap, referGap } from "../calibration/gap-norms.ts";
import { numberClusters } from "../jackknife.ts";
import { MINIMUM_AT_RISK } from "../kaplan-meier.ts";
import { type OneSampleLogrank, oneSample } from "../logrank.ts";
import { aalenJohansen, type CausesInput, toCauses } from "./aalen-johansen.ts";

/** Predicted incidences of one cause on the ends of time bins. */
export interface IncidenceCalibrationInput {
  /** The people who are judged. */
  readonly outcomes: CausesInput;
  /** The cause that was predicted: 1, 2, … */
  readonly cause: number;
  /** The end of every bin, ascending. */
  readonly times: ArrayLike<number>; // [T]
  /** F(t|x) at the ends, row by row. */
  readonly incidence: ArrayLike<number>; // [N,T]
}

/** A group's mean prediction beside its Aalen-Johansen curve; t = 0…T. */
export interface IncidenceCalibration {
  readonly predicted: Float64Array; // [T+1]
  readonly observed: Float64Array; // [T+1]
  readonly variance: Float64Array; // [T+1]
  /** The last bin with at least ten people at risk; the norms are over bins up to it. */
  readonly supportedBins: number;
  readonly norms: GapNorms;
}

/** The gap of some rows (0-based), or of all. */
export function calibrateIncidence(
  input: IncidenceCalibrationInput,
  rows?: ArrayLike<number>,
): Measured<IncidenceCalibration> {
  const { outcomes, K } = toCauses(input.outcomes);
  const T = input.times.length;
  checkLength("incidence", input.incidence.length, outcomes.time.length * T);
  if (outcomes.entry !== undefined)
    return absent("means over people who came late are not comparable with Aalen-Johansen");
  const own = rows === undefined ? Int32Array.from(outcomes.time.keys()) : Int32Array.from(rows);
  if (own.length === 0) return absent("no rows");
  const group: Outcomes = pickOutcomes(outcomes, own);
  const curves = aalenJohansen(group as CausesInput, { causes: Math.max(K, input.cause) });
  const { incidence, variance } = curves.causes[input.cause - 1];
  const result = {
    predicted: new Float64Array(T + 1),
    observed: new Float64Array(T + 1),
    variance: new Float64Array(T + 1),
  };
  let total = 0;
  for (const row of own) {
    const w = outcomes.weight?.[row] ?? 1;
    total += w;
    for (let t = 0; t < T; t++) result.predicted[t + 1] += w * input.incidence[row * T + t];
  }
  let supportedBins = 0;
  for (let t = 1; t <= T; t++) {
    const at = input.times[t - 1];
    result.predicted[t] /= total;
    const passed = countAtMost(curves.time, at);
    if (passed > 0) {
      result.observed[t] = incidence[passed - 1];
      result.variance[t] = variance[passed - 1];
    }
    const people = own.reduce((sum, row) => sum + (outcomes.time[row] >= at ? 1 : 0), 0);
    if (people >= MINIMUM_AT_RISK && countBelow(curves.time, at) < curves.time.length) supportedBins = t;
  }
  const { predicted, observed } = result;
  const reference = referGap(predicted, { survival: observed, variance: result.variance }, supportedBins);
  return { ...result, supportedBins, norms: measureGap(reference.gap, reference, supportedBins) };
}

/** Outcomes on bins with causes, and each row's predicted hazards of one of them. */
export interface CauseLogrankInput {
  /** The people who are judged. */
  readonly outcomes: BinnedOutcomesInput;
  /** The cause that was predicted: 1, 2, … */
  readonly cause: number;
  /** h_k(t|x) = P(event of the cause in bin t | none before), row by row. */
  readonly hazard: ArrayLike<number>; // [N,T]
  /** Only these rows (0-based); all unless given. */
  readonly rows?: ArrayLike<number>;
}

/**
 * Events of the cause against each row's own hazards over the bins it was at risk. A row that enters and leaves within
 * one bin is at risk in none: neither it nor its event counts.
 */
export function logrankOfCause(input: CauseLogrankInput): Measured<OneSampleLogrank> {
  const binned = toBinnedOutcomes(input.outcomes);
  const { T, bin, firstBin, cause, weight } = binned;
  const N = bin.length;
  checkLength("hazard", input.hazard.length, N * T);
  checkWeights(weight, N);
  if (cause === undefined) return absent("no causes are given");
  const people = numberClusters({ ...(binned.id && { id: binned.id }), time: new Float64Array(N) });
  const rest = new Float64Array(people.count);
  let [observed, expected, variance] = [0, 0, 0];
  const count = input.rows === undefined ? N : input.rows.length;
  for (let at = 0; at < count; at++) {
    const i = input.rows === undefined ? at : input.rows[at];
    const first = firstBin?.[i] ?? 1;
    if (first > bin[i]) continue;
    const w = weight?.[i] ?? 1;
    let [E, V] = [0, 0];
    for (let t = first; t <= bin[i]; t++) {
      const h = input.hazard[i * T + t - 1];
      E += h;
      V += h * (1 - h);
    }
    const own = cause[i] === input.cause ? 1 : 0;
    observed += w * own;
    expected += w * E;
    variance += w * w * V;
    rest[people.of[i]] += w * (own - E);
  }
  if (binned.id === undefined) return oneSample(observed, expected, variance);
  const sandwich = rest.reduce((sum, one) => sum + square(one), 0);
  return oneSample(observed, expected, Math.max(variance, sandwich));
}
