/**
 * Every score of the predicted incidences of one cause in one group, as an audit lists them, in the spelling of
 * scores/scores.ts where the same thing is meant:
 *   ece, distanceL2, distanceVariance  gap between mean predicted F_k and Aalen-Johansen over the supported bins
 *   ibs            mean over the bins 1…T of the Brier score of 1[event of the cause by t], weights of censoring as in
 *                  cause-scores.ts
 *   concordance    Wolbers', of the incidences at `concordanceBin`: the last supported bin before all are censored
 *   at             Brier score, AUC and Wolbers' concordance at chosen bins
 *   logrankIndividual  events of the cause against each row's own hazards while at risk
 * A score that does not exist on these rows is null with the reason in `absent`; under late entry all are but the last.
 */
import { square } from "../../core/elementary.ts";
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import type { CauseCurves } from "../../data/curves/cause-curves.ts";
import { pickBinned } from "../../data/outcomes/outcomes.ts";
import { distanceL2, distanceVariance, expectedCalibrationError } from "../calibration/calibration.ts";
import { censoringKaplanMeierBinned } from "../censoring.ts";
import type { People } from "../../data/outcomes/people.ts";
import type { Departure } from "../calibration/draw-noise.ts";
import { sumByPerson } from "../individual-logrank.ts";
import type { EceNoise } from "../scores/scores.ts";
import type { CausesInput } from "./aalen-johansen.ts";
import {
  type BinnedCauses,
  LATE_ENTRY,
  meanIncidence,
  type ObservedIncidence,
  observedIncidences,
  rowsAtRisk,
  supportOfCauses,
} from "./binned-causes.ts";
import { logrankOfCause } from "./cause-calibration.ts";
import { scoreIncidence } from "./cause-scores.ts";

/** Scores at the end of one bin. */
export interface CauseScoresAt {
  readonly bin: number;
  readonly brier: number | null;
  readonly auc: number | null;
  readonly concordance: number | null;
}

/** A group's incidence of one cause, t = 0…T. */
export interface CauseIncidenceCurves {
  /** The mean of the predicted curves. */
  readonly predicted: readonly number[]; // [T+1]
  /** Aalen-Johansen. */
  readonly observed: readonly number[]; // [T+1]
  /** Pointwise 95 % limits on the log scale; null where nothing has been observed yet. */
  readonly lower: readonly (number | null)[]; // [T+1]
  readonly upper: readonly (number | null)[]; // [T+1]
}

/** Every score of one cause in one group. */
export interface ScoredCause {
  /** The group. */
  readonly name: string;
  readonly n: number;
  /** Rows with an event of this cause. */
  readonly events: number;
  /** Where people have several rows: how many of them had an event of this cause. */
  readonly peopleWithEvents?: number;
  /** Events of the cause that are expected while rows are at risk, as in scores.ts. */
  readonly expectedEvents: number;
  readonly concordance: number | null;
  /** The bin of `concordance`; null where there is none. */
  readonly concordanceBin: number | null;
  readonly ece: number | null;
  readonly distanceL2: number | null;
  readonly distanceVariance: number | null;
  readonly ibs: number | null;
  readonly logrankIndividual: Readonly<
    Record<"observed" | "expected" | "variance" | "chi2" | "p", number | null>
  >;
  readonly at: readonly CauseScoresAt[];
  /** How many bins have at least ten rows at risk; without late entry, the last of them. */
  readonly supported: { readonly bins: number };
  /** What a perfect model's ece would be, and where this one ranks; null until it is drawn. */
  readonly noiseFloor: EceNoise | null;
  /** How surprising the group is among draws of a perfect model, as in scores.ts. */
  readonly departure: Departure | null;
  /** Null, with the reason, where there is nothing to compare. */
  readonly incidence: CauseIncidenceCurves | null;
  /** Rows at risk in bins 0…T. */
  readonly atRisk: readonly number[]; // [T+1]
  /** Path of a null field → why it is null. */
  readonly absent: Readonly<Record<string, string>>;
}

/** What the scores of all groups share. */
export interface CauseScoring {
  readonly curves: CauseCurves;
  readonly outcomes: BinnedCauses;
  /** Of every cause, [N,T] each. */
  readonly hazards: readonly Float64Array[];
  /** The bins of `at`, ascending. */
  readonly bins: readonly number[];
}

/** The Brier score of one cause at the end of every bin, and their mean. */
export interface CauseBrier {
  readonly brier: Float64Array; // [T], entry t−1 is bin t
  readonly ibs: number;
}

/** In one pass over the rows, as scores/brier.ts does for survival; N·T multiplications. */
export function brierOfCause(
  { K, T, incidence }: CauseCurves,
  outcomes: BinnedCauses,
  cause: number,
  rows: ArrayLike<number>,
): Measured<CauseBrier> {
  const { bin, event, weight } = outcomes;
  const weights = weight === undefined ? {} : { weights: weight };
  const G = censoringKaplanMeierBinned({ T, bin, event }, { ties: "reverse", rows, ...weights });
  const alive = new Float64Array(T + 1);
  const gone = new Float64Array(T + 1);
  let total = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    const w = weight?.[row] ?? 1;
    if (w === 0) continue;
    total += w;
    const start = (row * K + cause - 1) * T - 1;
    for (let t = 1; t < bin[row]; t++) alive[t] += w * square(incidence[start + t]);
    if (event[row] !== 1) continue;
    const inverse = w / G.leftLimit[bin[row]];
    const had = outcomes.cause[row] === cause ? 1 : 0;
    for (let t = bin[row]; t <= T; t++) gone[t] += inverse * square(had - incidence[start + t]);
  }
  if (total === 0) return absent("no rows");
  // G reaches 0 only where nobody is left alive.
  const brier = Float64Array.from({ length: T }, (_, k) => {
    const t = k + 1;
    return (gone[t] + (alive[t] === 0 ? 0 : alive[t] / G.survival[t])) / total;
  });
  return { brier, ibs: brier.reduce((sum, one) => sum + one, 0) / T };
}

/** All causes of some rows (0-based), in the order of the causes; never throws for a small or unusual group. */
export function scoreCauses(name: string, scoring: CauseScoring, rows: Int32Array): readonly ScoredCause[] {
  const { curves, outcomes } = scoring;
  const isComparable = outcomes.firstBin === undefined && rows.length > 0;
  const observed = isComparable ? observedIncidences(outcomes, curves.K, rows) : null;
  const bins = supportOfCauses(outcomes, rows);
  const atRisk = Array.from(rowsAtRisk(outcomes, rows));
  return Array.from({ length: curves.K }, (_, k) => {
    const cause = k + 1;
    const own = observed === null ? null : observed[k];
    const reasons: Record<string, string> = {};
    const take = <Value>(path: string, value: Measured<Value>): Value | null => {
      if (!isAbsent(value)) return value as Value;
      reasons[path] = value.absent;
      return null;
    };
    const judged = rows.filter((row) => (outcomes.firstBin?.[row] ?? 1) <= outcomes.bin[row]);
    const logrank = take(
      "logrankIndividual",
      logrankOfCause({ outcomes, cause, hazard: scoring.hazards[k], rows }),
    );
    return {
      name,
      n: rows.length,
      events: judged.reduce((sum, row) => sum + (outcomes.cause[row] === cause ? 1 : 0), 0),
      expectedEvents: expectedOfCause(scoring, k, rows),
      ...rankPeople(scoring, cause, rows, bins, take),
      ...measureGaps(scoring, cause, rows, own, bins, take),
      ibs: take("ibs", ibsOf(scoring, cause, rows)),
      logrankIndividual: {
        observed: logrank?.observed ?? null,
        expected: logrank?.expected ?? null,
        variance: logrank?.variance ?? null,
        chi2: logrank?.chi2 ?? null,
        p: logrank?.p ?? null,
      },
      supported: { bins },
      noiseFloor: null,
      departure: null,
      atRisk,
      absent: reasons,
    };
  });
}

/** Events of cause k, from 0, that are expected of the rows while at risk; of people, at most one each. */
export function expectedOfCause(
  { hazards, outcomes: { T, bin, firstBin } }: Pick<CauseScoring, "hazards" | "outcomes">,
  k: number,
  rows: ArrayLike<number>,
  people?: People,
): number {
  const each = Float64Array.from(rows, (row) => {
    let sum = 0;
    for (let t = firstBin?.[row] ?? 1; t <= bin[row]; t++) sum += hazards[k][row * T + t - 1];
    return sum;
  });
  return sumByPerson(each, rows, people);
}

type Take = <Value>(path: string, value: Measured<Value>) => Value | null;

const NO_SCORES = "not defined under late entry: censoring weights count people from the start";

function ibsOf({ curves, outcomes }: CauseScoring, cause: number, rows: Int32Array): Measured {
  if (outcomes.firstBin !== undefined) return absent(NO_SCORES);
  const brier = brierOfCause(curves, outcomes, cause, rows);
  return isAbsent(brier) ? brier : brier.ibs;
}

/** The mean predicted curve beside Aalen-Johansen, and the distances between them. */
function measureGaps(
  { curves, outcomes }: CauseScoring,
  cause: number,
  rows: Int32Array,
  observed: ObservedIncidence | null,
  bins: number,
  take: Take,
): Pick<ScoredCause, "ece" | "distanceL2" | "distanceVariance" | "incidence"> {
  const mean: Measured<Float64Array> =
    outcomes.firstBin !== undefined
      ? absent(LATE_ENTRY)
      : meanIncidence(curves, cause, rows, outcomes.weight);
  if (isAbsent(mean) || observed === null) {
    const why = isAbsent(mean) ? mean : absent("no rows");
    const names = ["ece", "distanceL2", "distanceVariance", "incidence"] as const;
    for (const path of names) take(path, why);
    return { ece: null, distanceL2: null, distanceVariance: null, incidence: null };
  }
  const { incidence, variance, lower, upper } = observed;
  const calibration = take("ece", expectedCalibrationError(mean, incidence, { bins }));
  const worst = take("distanceVariance", distanceVariance(mean, incidence, variance, { bins }));
  const limits = (values: Float64Array) => Array.from(values, (one) => (Number.isNaN(one) ? null : one));
  return {
    ece: calibration?.ece ?? null,
    distanceL2: take("distanceL2", distanceL2(mean, incidence, { bins })),
    distanceVariance: worst?.value ?? null,
    incidence: {
      predicted: Array.from(mean),
      observed: Array.from(incidence),
      lower: limits(lower),
      upper: limits(upper),
    },
  };
}

/** Concordance over the support, and the scores at chosen bins. */
function rankPeople(
  { curves, outcomes, bins }: CauseScoring,
  cause: number,
  rows: Int32Array,
  supported: number,
  take: Take,
): Pick<ScoredCause, "concordance" | "concordanceBin" | "at"> {
  const { K, T, incidence } = curves;
  const picked = pickBinned(outcomes, rows);
  const last = outcomes.firstBin === undefined ? lastUncensored(picked, supported) : 0;
  const times = [...new Set([...bins, ...(last > 0 ? [last] : [])])].sort((a, b) => a - b);
  const values = Float64Array.from({ length: rows.length * times.length }, (_, at) => {
    const row = rows[Math.floor(at / times.length)];
    return incidence[(row * K + cause - 1) * T + times[at % times.length] - 1];
  });
  const { bin: time, event, cause: own, weight } = picked;
  const input = { time, event, cause: own, ...(weight && { weight }) } as CausesInput;
  const scores: ReturnType<typeof scoreIncidence> =
    outcomes.firstBin !== undefined
      ? absent(NO_SCORES)
      : rows.length === 0
        ? absent("no rows")
        : scoreIncidence({ outcomes: input, cause, times, incidence: values });
  const read = (path: string, field: "brier" | "auc" | "concordance", bin: number) =>
    take(path, isAbsent(scores) ? scores : scores[field][times.indexOf(bin)]);
  const at = bins.map((bin, k) => ({
    bin,
    brier: read(`at.${k}.brier`, "brier", bin),
    auc: read(`at.${k}.auc`, "auc", bin),
    concordance: read(`at.${k}.concordance`, "concordance", bin),
  }));
  if (last > 0) {
    const concordance = read("concordance", "concordance", last);
    if (concordance !== null) return { concordance, concordanceBin: last, at };
    take("concordanceBin", absent("there is no concordance"));
    return { concordance, concordanceBin: null, at };
  }
  const why = isAbsent(scores) ? scores : absent("no bin with follow-up before all are censored");
  take("concordance", why);
  take("concordanceBin", why);
  return { concordance: null, concordanceBin: null, at };
}

/** The last supported bin at whose end not everyone left has been censored: beyond, pairs have infinite weights. */
export function lastUncensored(
  { T, bin, event, weight }: ReturnType<typeof pickBinned>,
  supported: number,
): number {
  const weights = weight === undefined ? {} : { weights: weight };
  const G = censoringKaplanMeierBinned({ T, bin, event }, { ties: "reverse", ...weights });
  let t = supported;
  while (t > 0 && G.survival[t] === 0) t--;
  return t;
}
