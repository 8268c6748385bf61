/**
 * Scores of predicted incidences F(t|x) of one cause at given times, where causes compete, with G the Kaplan-Meier
 * curve of the censoring of the scored rows (reverse ties). Every row whose state at t is known has the weight w =
 * 1/G(T−) if it had an event by t, 1/G(t) if it is event-free then; rows censored before drop out. As R's
 * riskRegression::Score with cens.model "km":
 *   Brier (t)   Σ w (1[event of the cause by t] − F)² / n
 *   AUC (t)     the share of weighted pairs of a case, the cause by t, and a control, any other row whose state is
 * known,
 *               in which the case has the higher F; ties count half
 *   integrated  Brier scores over the times given, each held to the next, over the last: Σ (t_{k+1} − t_k) B(t_k) / t
 * and Wolbers' concordance as pec::cindex: i has the event of the cause, j is event-free longer (or censored then),
 * weight 1/(G(T_i−) G(T_i)), or has had another cause by then, weight 1/(G(T_i−) G(T_j−)); only T_i ≤ t count. A row
 * that stands for several people counts as often, in G too. Under late entry G is not that of people from the start, so
 * the scores are absent, with the reason.
 */
import { countBelow } from "../../core/ascending.ts";
import { square } from "../../core/elementary.ts";
import { InputError } from "../../core/errors.ts";
import { absent, type Measured } from "../../core/measured.ts";
import { INCIDENCE_TOLERANCE, NO_PROBABILITY } from "../../data/curves/cause-curves.ts";
import { refuseBeyondCensoring } from "../../data/outcomes/outcomes.ts";
import { checkLength, distinctAscending } from "../../data/outcomes/rows-by-time.ts";
import { checkCauseNumber } from "../../data/plain-input.ts";
import { type CensoringCurve, censoringKaplanMeier, stepValue } from "../censoring.ts";
import { createRankSums } from "../concordance/concordance.ts";
import { type CausesInput, toCauses } from "./aalen-johansen.ts";

/** Predicted incidences of one cause, and what was observed of the same people. */
export interface IncidenceScoresInput {
  /** The scored rows. */
  readonly outcomes: CausesInput;
  /** The cause that was predicted: 1, 2, … */
  readonly cause: number;
  /** Strictly ascending. */
  readonly times: ArrayLike<number>; // [K]
  /** F(t|x) at the times, row by row. */
  readonly incidence: ArrayLike<number>; // [N,K]
}

/** The scores at every time. */
export interface IncidenceScores {
  readonly times: Float64Array; // [K]
  readonly brier: readonly Measured[]; // [K]
  /** The mean Brier score from the first time given to each; absent at the first. */
  readonly integratedBrier: readonly Measured[]; // [K]
  readonly auc: readonly Measured[]; // [K]
  /** Wolbers' concordance of the incidences at each time, over events up to it. */
  readonly concordance: readonly Measured[]; // [K]
}

interface ScoredRows {
  readonly time: Float64Array;
  /** How many people each row stands for. */
  readonly weight: Float64Array;
  /** 0 = censored, 1 = the cause, 2 = another. */
  readonly state: Uint8Array;
  /** G(T−) of every row. */
  readonly before: Float64Array;
  readonly G: CensoringCurve;
}

/** Scores incidences at the times given. */
export function scoreIncidence(input: IncidenceScoresInput): Measured<IncidenceScores> {
  const { outcomes, cause: causes } = toCauses(input.outcomes);
  checkCauseNumber(input.cause);
  if (outcomes.entry !== undefined)
    return absent("not defined under late entry: censoring weights count people from the start");
  refuseBeyondCensoring(outcomes, "a score of a cause", ["cause", "weight"]);
  const N = outcomes.time.length;
  const times = Float64Array.from(input.times);
  checkLength("incidence", input.incidence.length, N * times.length);
  const outside = Array.from(input.incidence).findIndex(
    (F) => F < -INCIDENCE_TOLERANCE || F > 1 + INCIDENCE_TOLERANCE,
  );
  if (outside >= 0)
    throw new InputError(`cumulative incidence outside 0 to 1: ${input.incidence[outside]}`, {
      code: "curves.range",
      where: `row ${Math.floor(outside / times.length) + 1}`,
      hint: NO_PROBABILITY,
    });
  if (times.some((time, k) => !(time >= 0) || (k > 0 && !(time > times[k - 1]))))
    throw new InputError("times are not ascending from 0 up", { code: "time.values" });
  const { time, event, weight = new Float64Array(N).fill(1) } = outcomes;
  const G = censoringKaplanMeier({ time, event }, { ties: "reverse", weights: weight });
  const rows: ScoredRows = {
    time,
    weight,
    state: Uint8Array.from(causes, (one) => (one === 0 ? 0 : one === input.cause ? 1 : 2)),
    before: time.map((own) => stepValue(G.time, G.survival, own, true)),
    G,
  };
  const column = (k: number) =>
    Float64Array.from({ length: N }, (_, i) => input.incidence[i * times.length + k]);
  const each = Array.from(times, (t, k) => scoreAt(rows, column(k), t));
  const brier = each.map((one) => one.brier);
  return {
    times,
    brier,
    integratedBrier: integrate(times, brier),
    auc: each.map((one) => one.auc),
    concordance: Array.from(times, (t, k) => concordanceWolbers(rows, column(k), t)),
  };
}

/** Each score held until the next time, over the time passed. */
function integrate(times: Float64Array, brier: readonly Measured[]): Measured[] {
  let sum = 0;
  return brier.map((_, k) => {
    if (k === 0) return absent("nothing lies before the first time");
    const last = brier[k - 1];
    sum += typeof last === "number" ? last * (times[k] - times[k - 1]) : Number.NaN;
    return Number.isNaN(sum) ? absent("a Brier score before it is absent") : sum / times[k];
  });
}

function scoreAt(rows: ScoredRows, F: Float64Array, t: number): { brier: Measured; auc: Measured } {
  const { time, state, before, G } = rows;
  const N = time.length;
  const alive = stepValue(G.time, G.survival, t);
  const weight = new Float64Array(N);
  let sum = 0;
  let people = 0;
  for (let i = 0; i < N; i++) {
    people += rows.weight[i];
    const had = time[i] <= t && state[i] > 0;
    if (rows.weight[i] === 0 || (!had && time[i] <= t)) continue;
    if (!had && alive === 0) return bothAbsent("everyone was censored before this time");
    weight[i] = rows.weight[i] / (had ? before[i] : alive);
    sum += weight[i] * square((had && state[i] === 1 ? 1 : 0) - F[i]);
  }
  if (people === 0) return bothAbsent("no rows");
  const isCase = (i: number) => time[i] <= t && state[i] === 1;
  return { brier: sum / people, auc: shareOrdered(F, weight, isCase) };
}

function bothAbsent(reason: string): { brier: Measured; auc: Measured } {
  return { brier: absent(reason), auc: absent(reason) };
}

/** The weighted share of pairs of a case and a control in which the case has the higher score. */
function shareOrdered(score: Float64Array, weight: Float64Array, isCase: (i: number) => boolean): Measured {
  const values = distinctAscending(score, "incidence");
  const controls = new Float64Array(values.length);
  const cases = new Float64Array(values.length);
  for (let i = 0; i < score.length; i++)
    (isCase(i) ? cases : controls)[countBelow(values, score[i])] += weight[i];
  let below = 0;
  let ordered = 0;
  let all = 0;
  for (let v = 0; v < values.length; v++) {
    ordered += cases[v] * (below + controls[v] / 2);
    below += controls[v];
    all += cases[v];
  }
  if (all === 0) return absent("nobody had the event of this cause by then");
  return below === 0 ? absent("everyone had the event of this cause by then") : ordered / (all * below);
}

/** Pairs of an event of the cause by t with everyone event-free longer, or with another cause by then. */
function concordanceWolbers(rows: ScoredRows, F: Float64Array, t: number): Measured {
  const { time, state, before, weight, G } = rows;
  const values = distinctAscending(F, "incidence");
  const rank = Int32Array.from(F, (one) => countBelow(values, one));
  const counted = Int32Array.from(time.keys()).filter((i) => weight[i] > 0);
  const order = counted.sort((a, b) => time[b] - time[a]);
  const longer = createRankSums(values.length);
  const others = createRankSums(values.length);
  let [longerWeight, otherWeight, pairs, ordered] = [0, 0, 0, 0];
  const stay = (i: number) => {
    longer.add(rank[i], weight[i]);
    longerWeight += weight[i];
  };
  const compete = (i: number, sign: 1 | -1) => {
    others.add(rank[i], (sign * weight[i]) / before[i]);
    otherWeight += (sign * weight[i]) / before[i];
  };
  for (const j of order) if (state[j] === 2) compete(j, 1);
  // From the last time back: those passed are event-free longer, and other causes leave as their time is passed.
  // Whoever is censored at the time of an event is event-free longer.
  for (let from = 0; from < order.length; ) {
    let end = from;
    while (end < order.length && time[order[end]] === time[order[from]]) end++;
    const here = order.subarray(from, end);
    for (const i of here) if (state[i] === 0) stay(i);
    for (const i of here) {
      if (state[i] !== 1 || time[i] > t) continue;
      const first = weight[i] / (before[i] * stepValue(G.time, G.survival, time[i]));
      const second = weight[i] / before[i];
      const half = (sums: typeof longer) => (sums.below(rank[i]) + sums.below(rank[i] + 1)) / 2;
      // With nobody longer there is nothing to weigh, even where G = 0 would make the weight infinite.
      if (longerWeight > 0) {
        pairs += first * longerWeight;
        ordered += first * half(longer);
      }
      pairs += second * otherWeight;
      ordered += second * half(others);
    }
    for (const i of here) {
      if (state[i] !== 0) stay(i);
      if (state[i] === 2) compete(i, -1);
    }
    from = end;
  }
  if (!Number.isFinite(pairs))
    return absent("everyone was censored before an event time: its weight is infinite");
  return pairs > 0 ? ordered / pairs : absent("no comparable pairs");
}
