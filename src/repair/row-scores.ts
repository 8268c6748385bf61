/**
 * What each row adds to the scores that a repair must not raise (share-choice.ts): the integrated Brier score, or under
 * late entry −log likelihood. A repair is chosen on rows left out of its fit, so the parts stay apart; their mean over
 * rows is the score.
 */
import { log, square } from "../core/elementary.ts";
import { present } from "../core/present.ts";
import { type CauseCurves, survivalOf } from "../data/curves/cause-curves.ts";
import type { Curves } from "../data/curves/curves.ts";
import type { BinnedOutcomes } from "../data/outcomes/outcomes.ts";
import { censoringKaplanMeierBinned } from "../stats/censoring.ts";
import type { BoostTask, CauseBoostTask } from "./boost-input.ts";
import { divideHazards, measureExposure, SMALLEST_SURVIVAL } from "./hazard-exposure.ts";

/** A hazard below this counts as this: an event where none was possible has a large finite loss. */
const SMALLEST_HAZARD = 1e-12;

/** Every row's part of each score. */
export type ScoreRows<Predicted> = (curves: Predicted, outcomes: BinnedOutcomes) => readonly Float64Array[];

/** Of survival curves. */
export function prepareScore({ outcomes }: BoostTask): ScoreRows<Curves> {
  if (outcomes.firstBin !== undefined) return (curves, own) => [scoreLikelihood(curves, own, own.event)];
  const G = censoringOf(outcomes);
  return (curves, own) => [scoreBrier(curves, own, own.event, G)];
}

/** Of incidences, a score for each cause. */
export function prepareCauseScores({ outcomes }: CauseBoostTask): ScoreRows<CauseCurves> {
  const isOf = ({ cause = new Uint8Array() }: BinnedOutcomes, k: number) =>
    cause.map((one) => (one === k + 1 ? 1 : 0));
  if (outcomes.firstBin !== undefined) {
    return (curves, own) => {
      const survival = survivalOf(curves);
      return divideHazards(curves).map((parts, k) => scoreLikelihood(survival, own, isOf(own, k), parts));
    };
  }
  const G = censoringOf(outcomes);
  return (curves, own) =>
    curves.causes.map((_, k) => scoreBrier(withoutCause(curves, k), own, isOf(own, k), G));
}

/** 1 − F_k, as if it were survival. */
function withoutCause({ N, K, T, incidence }: CauseCurves, k: number): Curves {
  const survival = new Float64Array(N * T);
  for (let i = 0; i < N; i++)
    for (let t = 0; t < T; t++) survival[i * T + t] = 1 - incidence[(i * K + k) * T + t];
  return { N, T, survival };
}

function censoringOf({ T, bin, event, weight }: BinnedOutcomes): CensoringCurve {
  return censoringKaplanMeierBinned({ T, bin, event }, { ties: "reverse", ...present({ weights: weight }) });
}

type CensoringCurve = ReturnType<typeof censoringKaplanMeierBinned>;

/**
 * Each row's part of the integrated Brier score, as `brierBinned` and `brierOfCause` add them up; `had`: who had the
 * event that is scored. One that had another is where the curve stays at 1.
 */
function scoreBrier(
  { N, T, survival }: Curves,
  { bin, event }: BinnedOutcomes,
  had: Uint8Array,
  G: CensoringCurve,
): Float64Array {
  const scores = new Float64Array(N);
  for (let i = 0; i < N; i++) {
    const start = i * T - 1;
    let sum = 0;
    for (let t = 1; t < bin[i]; t++) sum += square(1 - survival[start + t]) / G.survival[t];
    if (event[i] === 1) {
      const stays = had[i] === 1 ? 0 : 1;
      let squares = 0;
      for (let t = bin[i]; t <= T; t++) squares += square(stays - survival[start + t]);
      sum += squares / G.leftLimit[bin[i]];
    }
    scores[i] = sum / T;
  }
  return scores;
}

/** Each row's part of −log likelihood: the cumulative hazard at risk, less the log of that of an event's own bin. */
function scoreLikelihood(
  curves: Curves,
  outcomes: BinnedOutcomes,
  had: Uint8Array,
  parts?: Float64Array,
): Float64Array {
  const { bin } = outcomes;
  const { T, survival } = curves;
  const { values } = measureExposure(curves, outcomes, [{ first: 1, last: T }], parts);
  return values.map((hazard, i) => {
    if (had[i] === 0 || !isAtRisk(outcomes, i)) return hazard;
    const at = i * T + bin[i] - 1;
    const before = bin[i] === 1 ? 1 : survival[at - 1];
    const now = Math.max(survival[at], SMALLEST_SURVIVAL * before);
    const own = before > 0 ? log(before / now) * (parts?.[at] ?? 1) : 0;
    return hazard - log(Math.max(own, SMALLEST_HAZARD));
  });
}

/** Rows that enter and leave within one bin are at risk in none. */
export function isAtRisk({ bin, firstBin }: BinnedOutcomes, row: number): boolean {
  return firstBin === undefined || firstBin[row] <= bin[row];
}
