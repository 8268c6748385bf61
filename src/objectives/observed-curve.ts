/**
 * The curve that a group's mean curve is compared with, and its variance: Kaplan-Meier with Greenwood's, or of one of
 * several causes 1 − Aalen-Johansen with its own (stats/causes/incidence-variance.ts). Rows that stand for several
 * people weigh in both; their variance is the robust one, each row by itself.
 */
import { square } from "../core/elementary.ts";
import { present } from "../core/present.ts";
import type { BinnedSingleCause } from "../data/outcomes/outcomes.ts";
import { observedIncidences } from "../stats/causes/binned-causes.ts";
import { incidenceVariance } from "../stats/causes/incidence-variance.ts";
import type { BinnedKaplanMeier } from "../stats/kaplan-meier.ts";

/** What is observed of a group. */
export interface ObservedCurve {
  /** With `rivals`, 1 − Aalen-Johansen of the cause takes the place of survival; the rest is of its own events. */
  readonly km: BinnedKaplanMeier; // [T+1]
  /** Where mean curves are those of one of several causes: the observed hazards of all others. */
  readonly rivals?: Float64Array; // [T+1]
  /** How many people those at risk are worth: (Σ ω)²/Σ ω², their number where all weigh the same. */
  readonly worth: Float64Array; // [T+1]
}

/** From Kaplan-Meier of the rows' own cause, which censors the others. Weighted rows have robust variances. */
export function observeCurve(
  km: BinnedKaplanMeier,
  binned: Pick<BinnedSingleCause, "bin" | "event" | "rival" | "weight">,
  rows: Int32Array,
): ObservedCurve {
  const { bin, rival, weight } = binned;
  const { atRisk, hazard } = km;
  const worth = weight === undefined ? atRisk : worthAtRisk(bin, weight, rows, km);
  if (rival === undefined && weight === undefined) return { km, worth };
  const others = new Float64Array(atRisk.length);
  for (const row of rows) others[bin[row]] += (rival?.[row] ?? 0) * (weight?.[row] ?? 1);
  const free = new Float64Array(atRisk.length).fill(1);
  let survival = 1;
  for (let t = 1; t < free.length; t++) {
    if (others[t] > 0) others[t] /= atRisk[t];
    free[t] = free[t - 1] - survival * hazard[t];
    survival *= Math.max(0, 1 - hazard[t] - others[t]);
  }
  const variance =
    weight === undefined
      ? incidenceVariance({ own: hazard, others, atRisk })
      : robustVariance(binned, free.length - 1, rows);
  const greenwood = weight === undefined ? km.greenwood : sumHazards(hazard, worth);
  return {
    km: { ...km, survival: rival === undefined ? km.survival : free, variance, greenwood },
    worth,
    ...(rival !== undefined && { rivals: others }),
  };
}

/** (Σ ω)²/Σ ω² of those at risk in each bin. */
function worthAtRisk(
  bin: Int32Array,
  weight: Float64Array,
  rows: Int32Array,
  { atRisk }: BinnedKaplanMeier,
): Float64Array {
  const squares = new Float64Array(atRisk.length);
  for (const row of rows) squares[bin[row]] += square(weight[row]);
  for (let t = squares.length - 2; t >= 0; t--) squares[t] += squares[t + 1];
  return atRisk.map((sum, t) => (squares[t] > 0 ? square(sum) / squares[t] : 0));
}

/** Greenwood's sum of people who are worth so many. */
function sumHazards(hazard: Float64Array, worth: Float64Array): Float64Array {
  let sum = 0;
  return hazard.map((h, t) => {
    if (h > 0) sum += h / (worth[t] * (1 - h));
    return sum;
  });
}

/** survfit's infinitesimal jackknife of the own cause beside the others. */
function robustVariance(
  { bin, event, rival, weight }: Pick<BinnedSingleCause, "bin" | "event" | "rival" | "weight">,
  T: number,
  rows: Int32Array,
): Float64Array {
  const cause = event.map((own, row) => (own === 1 ? 1 : 2 * (rival?.[row] ?? 0)));
  const any = cause.map((one) => Math.min(one, 1));
  return observedIncidences({ T, bin, event: any, cause, ...present({ weight }) }, 2, rows)[0].variance;
}
