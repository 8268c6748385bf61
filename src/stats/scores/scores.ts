/**
 * Every score of one group's rows in one record, in the shape that `graduate audit` prints as JSON. A score that
 * cannot be computed is null, and `absent` says why under its path ("concordance", "paper.ece"). Conventions:
 * concordance is the paper's, ties scoring 0; ece, the distances and the total score run over the group's support,
 * the bins up to the last with at least ten rows at risk (`supported` has its size, and the same numbers); `paper`
 * has them over all bins, Kaplan-Meier carried flat; ibs is the mean over bins with the reverse-ties censoring curve
 * of the same rows; rps is the sum over rows, censored rows through their own bin; logrank is against the mean curve,
 * logrankIndividual against each row's own. metrics.ts defines each metric. This is the plain form, using the plain
 * functions; evaluate-scores.ts is the fast form with weights.
 */

import { InputError } from "../../core/errors.ts";
import { isAbsent, type Measured } from "../../core/measured.ts";
import { namesOf } from "../../core/names.ts";
import { present } from "../../core/present.ts";
import {
  type BinnedRightCensoredInput,
  type CurvesInput,
  toBinnedRightCensored,
  toCurves,
} from "../../data/plain-input.ts";
import { meanCurve } from "../calibration/calibration.ts";
import { dCalibration } from "../calibration/d-calibration.ts";
import { timeDependentPairs } from "../concordance/time-dependent.ts";
import type { Departure } from "../calibration/draw-noise.ts";
import { expectedEvents, logrankIndividual } from "../individual-logrank.ts";
import { groupSupport, kaplanMeierBinned } from "../kaplan-meier.ts";
import { logrankMeanCurve } from "../logrank.ts";
import type { ScoreIntervals } from "./bootstrap.ts";
import { brierBinned } from "./brier.ts";
import { METRICS, type MetricName, PAPER_METRICS, type ScoredGroup } from "./metrics.ts";
import { rankedProbabilityScore } from "./rps.ts";

/** The support of the group's follow-up, and the group's calibration scores over it. */
export interface SupportedScores extends Readonly<Record<(typeof CALIBRATION)[number], number | null>> {
  /** τ_g: the last bin with at least ten rows at risk, 0 when there is none. */
  readonly bins: number;
}

/** What a perfect model's ECE would be, and where the observed one ranks. */
export interface EceNoise {
  readonly ece: number;
  readonly eceCritical: number;
  readonly p: number;
  readonly adjustedP: number | null;
}

/** The scores as in the paper: over all bins, with Kaplan-Meier carried flat past the follow-up. */
export interface PaperScores extends Readonly<Record<(typeof PAPER_METRICS)[number], number | null>> {
  /** Noise floor of its ece, if it was drawn. */
  readonly noiseFloor?: EceNoise;
}

/** Events against the predicted hazards of rows at risk, where people enter late or have weights. */
export interface AtRiskScores {
  readonly hasEntries: boolean;
  readonly hasWeights: boolean;
  /** Observed over expected events, weighted; both are in logrankIndividual. */
  readonly ratio: number | null;
  /** The mean over blocks of bins of (O − E)²/V: about 1 for a perfect model. */
  readonly distance: number | null;
  /** How many blocks there are. */
  readonly blocks: number;
  /** Rows that enter and leave within one bin of the grid: they are at risk in none and count nowhere. */
  readonly outside: number;
  /**
   * What (O − E)²/V is by chance alone: its mean over draws, 95 % point, the rank of the observed value, and that
   * adjusted for the groups audited together (event-noise.ts). Null until it is drawn.
   */
  readonly noiseFloor:
    | (Readonly<Record<"chi2" | "critical" | "p", number>> & {
        readonly adjustedP: number | null;
      })
    | null;
}

/** Every score of one group. */
export interface Scores extends Readonly<Record<MetricName, number | null>> {
  readonly name: string;
  readonly n: number;
  readonly events: number;
  /** Where people have several rows: how many of them had the event. */
  readonly peopleWithEvents?: number;
  /**
   * Events that the curves expect while rows are at risk, unweighted; where people have several rows, one each at
   * most.
   */
  readonly expectedEvents: number;
  readonly dCalibration: {
    readonly chi2: number | null;
    readonly p: number | null;
    /** Rows per tenth of predicted survival at the row's own time, lowest first. */
    readonly counts: readonly number[] | null;
  };
  readonly logrank: Readonly<Record<(typeof LOGRANK)[number], number | null>>;
  readonly logrankIndividual: Readonly<Record<(typeof LOGRANK_INDIVIDUAL)[number], number | null>>;
  readonly supported: SupportedScores;
  readonly paper: PaperScores;
  /**
   * The mean ECE of a perfect model on rows like these, its 95 % point, where this ECE ranks, and the same adjusted
   * for the number of groups audited together (noise-floor.ts). Null until it is drawn.
   */
  readonly noiseFloor: EceNoise | null;
  /**
   * How surprising the group is among draws of a perfect model, by what, and when (draw-noise.ts): what the verdict
   * is made of. Null until it is drawn.
   */
  readonly departure: Departure | null;
  /** Where people enter late or have weights. */
  readonly atRisk?: AtRiskScores;
  readonly intervals?: ScoreIntervals;
  /** Path of a null field → why it is null. */
  readonly absent: Readonly<Record<string, string>>;
}

const everyRow = (N: number) => Int32Array.from({ length: N }, (_, row) => row);

function checkRange(rows: ArrayLike<number>, N: number): void {
  for (let i = 0; i < rows.length; i++) {
    if (rows[i] >= 0 && rows[i] < N) continue;
    throw new InputError(`row outside the table of ${N} rows: ${rows[i] + 1}`, { code: "row.range" });
  }
}

/** Extracts numbers, and results of several fields, from measured values and records why one is missing. */
function createCollector() {
  const reasons: Record<string, string> = {};
  const take = <Value>(path: string, value: Measured<Value>): Value | null => {
    if (!isAbsent(value)) return value as Value;
    reasons[path] = value.absent;
    return null;
  };
  return { reasons, take };
}

type Collector = ReturnType<typeof createCollector>;

/** What the audit gives of its two logrank tests. */
const LOGRANK = ["observed", "expected", "chi2", "p"] as const;
const LOGRANK_INDIVIDUAL = ["observed", "expected", "variance", "chi2", "p"] as const;

/** Some numbers of a result, null where it is absent. */
function numbersOf<Key extends string>(keys: readonly Key[], result: Readonly<Record<Key, number>> | null) {
  const entries = keys.map((key) => [key, result?.[key] ?? null]);
  return Object.fromEntries(entries) as Readonly<Record<Key, number | null>>;
}

/** Calibration scores that the audit gives over the supported bins and, as in the paper, over all bins. */
const CALIBRATION = ["ece", "distanceL2", "distanceVariance"] as const satisfies readonly MetricName[];

function collectMetrics<Name extends MetricName>(
  names: readonly Name[],
  group: ScoredGroup,
  collect: Collector,
  prefix = "",
): Readonly<Record<Name, number | null>> {
  const entries = names.map((name) => [
    name,
    collect.take<number>(prefix + name, METRICS[name].measure(group)),
  ]);
  return Object.fromEntries(entries) as Record<Name, number | null>;
}

/**
 * All scores of the rows (0-based; all of them if `rows` is omitted; a row may be repeated). Never throws for a small
 * or unusual group. The rows' curves are read where they are: a group of a long table is not copied.
 */
export function scoreCurves(
  name: string,
  predicted: CurvesInput,
  observed: BinnedRightCensoredInput,
  rows?: ArrayLike<number>,
): Scores {
  const curves = toCurves(predicted);
  const binned = toBinnedRightCensored(observed, "a table of scores");
  if (rows !== undefined) checkRange(rows, curves.N);
  const own = present({ rows });
  const collect = createCollector();
  const km = kaplanMeierBinned(binned, undefined, rows);
  const brier = brierBinned(curves, binned, own);
  const ranked = rankedProbabilityScore(curves, binned, own);
  const bins = groupSupport(binned, own);
  const group: ScoredGroup = {
    km,
    mean: meanCurve(curves, undefined, rows),
    pairs: timeDependentPairs(curves, binned, own),
    supported: { bins },
    ibs: isAbsent(brier) ? brier : brier.ibs,
    rps: isAbsent(ranked) ? ranked : ranked.sum,
  };
  const unsupported = { ...group, supported: {} };
  // Absent scores are listed in the order in which they are found.
  collectMetrics(["ibs"], group, collect);
  const distribution = collect.take("dCalibration", dCalibration(curves, binned, own));
  collectMetrics(["rps"], group, collect);
  const logrank = collect.take("logrank", logrankMeanCurve(curves, binned, rows));
  const individual = collect.take("logrankIndividual", logrankIndividual(curves, binned, rows));
  const supported = collectMetrics(CALIBRATION, group, collect);
  collectMetrics(CALIBRATION, unsupported, collect, "paper.");
  for (const key of CALIBRATION) {
    if (collect.reasons[key] !== undefined) collect.reasons[`supported.${key}`] = collect.reasons[key];
  }
  const { rps, totalScore, ...others } = collectMetrics(namesOf(METRICS), group, collect);
  return {
    name,
    n: rows?.length ?? curves.N,
    events: km.events.reduce((sum, events) => sum + events, 0),
    expectedEvents: individual?.expected ?? expectedEvents(curves, binned, rows ?? everyRow(curves.N)),
    ...others,
    dCalibration: {
      chi2: distribution?.chi2 ?? null,
      p: distribution?.p ?? null,
      counts: distribution === null ? null : Array.from(distribution.counts),
    },
    rps,
    logrank: numbersOf(LOGRANK, logrank),
    logrankIndividual: numbersOf(LOGRANK_INDIVIDUAL, individual),
    totalScore,
    supported: { bins, ...supported },
    paper: collectMetrics(PAPER_METRICS, unsupported, collect, "paper."),
    noiseFloor: null,
    departure: null,
    absent: collect.reasons,
  };
}
