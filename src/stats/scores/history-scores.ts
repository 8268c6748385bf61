/**
 * Every score of one group's rows where people enter late or have weights, in the shape of scores.ts. What counts rows
 * only in the bins where they are at risk holds under late entry: observed and expected events, their ratio, the
 * individual logrank, the at-risk distance mean_b D_b²/V_b over blocks of bins (D = Σ w(y − h), V = Σ w² h(1 − h)), and
 * the concordance, which compares j with i only if j had come by then. What compares a mean of curves with Kaplan-Meier
 * is absent. With weights alone, Kaplan-Meier, means, concordance, Brier score and ranked probability score are
 * weighted; tests and bounds that count people are absent. `absent` has the reason of each.
 */
import { square } from "../../core/elementary.ts";
import { isAbsent, type Measured } from "../../core/measured.ts";
import { namesOf } from "../../core/names.ts";
import { present } from "../../core/present.ts";
import type { BinnedRightCensored, BinnedSingleCause } from "../../data/outcomes/outcomes.ts";
import type { BinnedSingleCauseInput, CurvesInput } from "../../data/plain-input.ts";
import { matchHistories, meanCurve } from "../calibration/calibration.ts";
import { timeDependentPairs } from "../concordance/time-dependent.ts";
import { expectedEvents, logrankIndividual } from "../individual-logrank.ts";
import { groupSupport, kaplanMeierBinned } from "../kaplan-meier.ts";
import { type BinBlock, sumTotals, tallyBlocks, VARIANCE_FLOOR } from "../search/excess-events.ts";
import { brierBinned } from "./brier.ts";
import { METRICS, type MetricName, PAPER_METRICS, type ScoredGroup } from "./metrics.ts";
import { rankedProbabilityScore } from "./rps.ts";
import type { AtRiskScores, Scores } from "./scores.ts";

/** Why scores that average curves are absent under late entry. */
export const ENTERED_LATE =
  "means of curves over people who entered late are not comparable with Kaplan-Meier";
/** Why scores that weight by the censoring are absent under late entry. */
const COUNTED_FROM_START = "not defined under late entry: it counts people from the start of the clock";
/** Why tests and bounds that count people are absent with weights. */
export const WEIGHED = "its variance counts people, and a weight of 2 is not two people seen";

/** Metrics that are defined under late entry; every other is a mean of curves against Kaplan-Meier, or censoring. */
const UNDER_ENTRY: readonly MetricName[] = ["concordance", "concordanceHalfTies"];
/** Metrics that weight or count people from the start. */
const FROM_START: readonly MetricName[] = ["ibs", "rps"];

/** Why a metric is absent whatever the rows are; null where it can be measured. */
function reasonAgainst(name: MetricName, { firstBin, weight }: BinnedSingleCause): string | null {
  if (firstBin !== undefined && !UNDER_ENTRY.includes(name))
    return FROM_START.includes(name) ? COUNTED_FROM_START : ENTERED_LATE;
  return weight !== undefined && name === "distanceVariance" ? WEIGHED : null;
}

/** Whether outcomes are more than right-censored ones of one kind of event. */
export function areHistories({
  firstBin,
  weight,
}: {
  readonly firstBin?: unknown;
  readonly weight?: unknown;
}): boolean {
  return firstBin !== undefined || weight !== undefined;
}

/** All scores of the rows (0-based) that are defined; `blocks` cover the bins of the at-risk distance. */
export function scoreHistories(
  name: string,
  predicted: CurvesInput,
  observed: BinnedSingleCauseInput,
  rows: Int32Array,
  blocks: readonly BinBlock[],
): Scores {
  const { curves, binned } = matchHistories(predicted, observed, "a table of scores");
  const { firstBin, weight } = binned;
  const absent: Record<string, string> = {};
  const take = <Value>(path: string, value: Measured<Value>): Value | null => {
    if (!isAbsent(value)) return value as Value;
    absent[path] = value.absent;
    return null;
  };
  const bins = groupSupport(binned, { rows });
  const group = sumGroup(curves, binned, rows, bins);
  const measure = <Name extends MetricName>(names: readonly Name[], of: ScoredGroup, prefix = "") =>
    Object.fromEntries(
      names.map((one) => {
        const reason = reasonAgainst(one, binned);
        return [one, take(prefix + one, reason === null ? METRICS[one].measure(of) : { absent: reason })];
      }),
    ) as Record<Name, number | null>;
  const { rps, totalScore, ...others } = measure(namesOf(METRICS), group);
  const supported = measure(["ece", "distanceL2", "distanceVariance"], group, "supported.");
  const individual = take("logrankIndividual", logrankIndividual(curves, binned, rows));
  const reason = firstBin === undefined ? WEIGHED : ENTERED_LATE;
  absent.dCalibration = firstBin === undefined ? WEIGHED : COUNTED_FROM_START;
  absent.logrank = reason;
  if (firstBin !== undefined) absent.noiseFloor = ENTERED_LATE;
  const isAtRisk = (row: number) => firstBin === undefined || firstBin[row] <= binned.bin[row];
  const numbers = <Key extends string>(keys: readonly Key[], from: Readonly<Record<Key, number>> | null) =>
    Object.fromEntries(keys.map((key) => [key, from?.[key] ?? null])) as Record<Key, number | null>;
  return {
    name,
    n: rows.length,
    events: rows.reduce((sum, row) => sum + (isAtRisk(row) ? binned.event[row] : 0), 0),
    expectedEvents: expectedEvents(curves, binned, rows),
    ...others,
    dCalibration: { chi2: null, p: null, counts: null },
    rps,
    logrank: numbers(["observed", "expected", "chi2", "p"], null),
    logrankIndividual: numbers(["observed", "expected", "variance", "chi2", "p"], individual),
    totalScore,
    supported: { bins, ...supported },
    paper: measure(PAPER_METRICS, { ...group, supported: {} }, "paper."),
    noiseFloor: null,
    departure: null,
    atRisk: {
      hasEntries: firstBin !== undefined,
      hasWeights: weight !== undefined,
      ratio: individual === null ? null : individual.observed / individual.expected,
      ...measureBlocks(curves, binned, rows, blocks),
      outside: rows.reduce((sum, row) => sum + (isAtRisk(row) ? 0 : 1), 0),
      noiseFloor: null,
    },
    absent,
  };
}

/** The weighted sums of a group; under late entry only its pairs are read. */
function sumGroup(
  curves: CurvesInput,
  binned: BinnedSingleCause,
  rows: Int32Array,
  bins: number,
): ScoredGroup {
  const { firstBin, weight, ...rest } = binned;
  const plain = rest as BinnedRightCensored;
  const own = { rows, ...present({ weights: weight }) };
  const undefinedHere = { absent: COUNTED_FROM_START };
  const brier = firstBin === undefined ? brierBinned(curves, plain, own) : undefinedHere;
  const ranked = firstBin === undefined ? rankedProbabilityScore(curves, plain, own) : undefinedHere;
  return {
    km: kaplanMeierBinned(binned, undefined, rows),
    mean: meanCurve(curves, weight, rows),
    pairs: timeDependentPairs(curves, binned, { rows }),
    supported: { bins },
    ibs: isAbsent(brier) ? brier : brier.ibs,
    rps: isAbsent(ranked) ? ranked : ranked.sum,
  };
}

/** mean_b D_b²/V_b, with the variance floored as in the constraint; null without expected events. */
function measureBlocks(
  curves: CurvesInput,
  binned: BinnedSingleCause,
  rows: Int32Array,
  blocks: readonly BinBlock[],
): Pick<AtRiskScores, "distance" | "blocks"> {
  const { curves: typed } = matchHistories(curves, binned, "the at-risk distance");
  const totals = tallyBlocks(typed, binned, blocks, rows);
  const B = blocks.length;
  const sums = sumTotals(totals, Int32Array.from(rows.keys()));
  if (!(sums.subarray(B, 2 * B).reduce((sum, E) => sum + E, 0) > 0)) return { distance: null, blocks: B };
  let distance = 0;
  for (let b = 0; b < B; b++)
    distance += square(sums[b] - sums[B + b]) / Math.max(sums[2 * B + b], VARIANCE_FLOOR) / B;
  return { distance, blocks: B };
}
