/**
 * The statistics as they are called from outside: times, events, bins and curves may be plain lists. Each converts what it is given and hands it
 * to the function of the same name, which works on typed arrays.
 */
import type { Measured } from "../core/measured.ts";
import { toInt32 } from "../core/plain-arrays.ts";
import type { RowWeights } from "../data/outcomes/outcomes.ts";
import {
  type BinnedOutcomesInput,
  type CurvesInput,
  type OutcomesInput,
  toBinnedOutcomes,
  toCurves,
  toOutcomes,
} from "../data/plain-input.ts";
import * as typedCalibration from "./calibration/calibration.ts";
import type { DCalibration, DCalibrationOptions, DCalScore } from "./calibration/d-calibration.ts";
import * as typedDCalibration from "./calibration/d-calibration.ts";
import type {
  NoiseFloor,
  NoiseFloorOptions,
  NoiseGroup,
  SimultaneousNoiseFloor,
} from "./calibration/noise-floor.ts";
import * as typedNoiseFloor from "./calibration/noise-floor.ts";
import type { OneCalibration, OneCalibrationOptions } from "./calibration/one-calibration.ts";
import * as typedOneCalibration from "./calibration/one-calibration.ts";
import type { CensoringCurve, CensoringOptions } from "./censoring.ts";
import * as typedCensoring from "./censoring.ts";
import type { Certificates, CertifyOptions } from "./certificates/certificates.ts";
import * as typedCertificates from "./certificates/certificates.ts";
import type { FollowUp } from "./certificates/exact.ts";
import * as typedCertificateExact from "./certificates/exact.ts";
import type {
  ConcordanceHarrell,
  ConcordanceUno,
  HarrellOptions,
  UnoOptions,
} from "./concordance/concordance.ts";
import * as typedConcordance from "./concordance/concordance.ts";
import type { TimeDependentOptions, TimeDependentPairs } from "./concordance/time-dependent.ts";
import * as typedConcordanceTimeDependent from "./concordance/time-dependent.ts";
import type { BinnedKaplanMeier, KaplanMeier, KaplanMeierOptions, SupportOptions } from "./kaplan-meier.ts";
import * as typedKaplanMeier from "./kaplan-meier.ts";
import type { Logrank, LogrankOptions, OneSampleLogrank } from "./logrank.ts";
import * as typedLogrank from "./logrank.ts";
import type { BrierBinned, BrierBinnedOptions, BrierScores, Mlr3probaTimesOptions } from "./scores/brier.ts";
import * as typedBrier from "./scores/brier.ts";
import type { PreparedScores } from "./scores/prepared-scores.ts";
import * as typedPreparedScores from "./scores/prepared-scores.ts";
import type { RankedProbabilityScore, RankedProbabilityScoreOptions } from "./scores/rps.ts";
import * as typedRps from "./scores/rps.ts";
import type { Scores } from "./scores/scores.ts";
import * as typedScores from "./scores/scores.ts";

/** What the Brier score at given times is computed from. */
export type BrierArrays = Omit<typedBrier.BrierInput, "outcomes" | "training"> & {
  /** The scored rows. */
  readonly outcomes: OutcomesInput;
  /** The rows the censoring is estimated from; the scored rows without it. */
  readonly training?: OutcomesInput;
};

function toBrierInput({ outcomes, training, ...rest }: BrierArrays): typedBrier.BrierInput {
  return {
    ...rest,
    outcomes: toOutcomes(outcomes),
    ...(training === undefined ? {} : { training: toOutcomes(training) }),
  };
}

/** Brier's score at given times, by another program's convention. */
export function brierScore(input: BrierArrays): BrierScores {
  return typedBrier.brierScore(toBrierInput(input));
}

/** Brier's score integrated over the given times. */
export function integratedBrier(input: BrierArrays): Measured {
  return typedBrier.integratedBrier(toBrierInput(input));
}

/** Bounds on the true distance of every group that all hold at once. */
export function certify(
  curves: CurvesInput,
  outcomes: BinnedOutcomesInput,
  groups: readonly { readonly name: string; readonly rows: ArrayLike<number> }[],
  options: CertifyOptions,
): Certificates {
  const typed = groups.map(({ name, rows }) => ({ name, rows: toInt32(rows) }));
  return typedCertificates.certify(toCurves(curves), toBinnedOutcomes(outcomes), typed, options);
}

/** Kaplan-Meier's estimate with pointwise limits, at every observed time. */
export function kaplanMeier(outcomes: OutcomesInput, options?: KaplanMeierOptions): KaplanMeier {
  return typedKaplanMeier.kaplanMeier(toOutcomes(outcomes), options);
}

/** Kaplan-Meier's estimate on a time grid, of all rows or of some. */
export function kaplanMeierBinned(
  outcomes: BinnedOutcomesInput,
  weights?: RowWeights,
  rows?: ArrayLike<number>,
): BinnedKaplanMeier {
  return typedKaplanMeier.kaplanMeierBinned(toBinnedOutcomes(outcomes), weights, rows);
}

/** The last bin in which enough people are at risk; 0 when there is none. */
export function groupSupport(outcomes: BinnedOutcomesInput, options?: SupportOptions): number {
  return typedKaplanMeier.groupSupport(toBinnedOutcomes(outcomes), options);
}

/** Kaplan-Meier of the censoring, at every observed time. */
export function censoringKaplanMeier(outcomes: OutcomesInput, options: CensoringOptions): CensoringCurve {
  return typedCensoring.censoringKaplanMeier(toOutcomes(outcomes), options);
}

/** Kaplan-Meier of the censoring on a time grid. */
export function censoringKaplanMeierBinned(
  outcomes: BinnedOutcomesInput,
  options: CensoringOptions,
): CensoringCurve {
  return typedCensoring.censoringKaplanMeierBinned(toBinnedOutcomes(outcomes), options);
}

/** The logrank test between G groups; `group` holds 0…G−1 a row, −1 for rows of none. */
export function logrank(
  outcomes: OutcomesInput,
  group: ArrayLike<number>,
  G: number,
  options?: LogrankOptions,
): Measured<Logrank> {
  return typedLogrank.logrank(toOutcomes(outcomes), toInt32(group), G, options);
}

/** The one-sample logrank test of the mean predicted curve. */
export function logrankMeanCurve(
  curves: CurvesInput,
  outcomes: BinnedOutcomesInput,
  rows?: ArrayLike<number>,
  weights?: RowWeights,
): Measured<OneSampleLogrank> {
  return typedLogrank.logrankMeanCurve(toCurves(curves), toBinnedOutcomes(outcomes), rows, weights);
}

/** The one-sample logrank test of everyone's own predicted curve. */
export function logrankIndividual(
  curves: CurvesInput,
  outcomes: BinnedOutcomesInput,
  rows?: ArrayLike<number>,
  weights?: RowWeights,
): Measured<OneSampleLogrank> {
  return typedLogrank.logrankIndividual(toCurves(curves), toBinnedOutcomes(outcomes), rows, weights);
}

/** Harrell's C and its counts of pairs; a higher risk is an earlier event. */
export function concordanceHarrell(
  outcomes: OutcomesInput,
  risk: ArrayLike<number>,
  options?: HarrellOptions,
): ConcordanceHarrell {
  return typedConcordance.concordanceHarrell(toOutcomes(outcomes), risk, options);
}

/** Options of Uno's C. */
export type UnoArrays = Omit<UnoOptions, "censoring"> & {
  /** The rows the censoring is estimated from; the scored rows without it. */
  readonly censoring?: OutcomesInput;
};

/** Uno's C, weighted for censoring. */
export function concordanceUno(
  outcomes: OutcomesInput,
  risk: ArrayLike<number>,
  { censoring, ...options }: UnoArrays,
): ConcordanceUno {
  return typedConcordance.concordanceUno(toOutcomes(outcomes), risk, {
    ...options,
    ...(censoring === undefined ? {} : { censoring: toOutcomes(censoring) }),
  });
}

/** The pairs that the time-dependent C-indices count. */
export function timeDependentPairs(
  curves: CurvesInput,
  outcomes: BinnedOutcomesInput,
  options?: TimeDependentOptions,
): TimeDependentPairs {
  return typedConcordanceTimeDependent.timeDependentPairs(
    toCurves(curves),
    toBinnedOutcomes(outcomes),
    options,
  );
}

/** Brier's score at every bin and their mean, weighted for censoring. */
export function brierBinned(
  curves: CurvesInput,
  binned: BinnedOutcomesInput,
  options?: BrierBinnedOptions,
): Measured<BrierBinned> {
  return typedBrier.brierBinned(toCurves(curves), toBinnedOutcomes(binned), options);
}

/** mlr3proba's grid of times to integrate over. */
export function mlr3probaTimes(outcomes: OutcomesInput, options?: Mlr3probaTimesOptions): Float64Array {
  return typedBrier.mlr3probaTimes(toOutcomes(outcomes), options);
}

/** The mean predicted curve over t = 0…T, of all rows or of some. */
export function meanCurve(
  curves: CurvesInput,
  weights?: RowWeights,
  rows?: ArrayLike<number>,
): Measured<Float64Array> {
  return typedCalibration.meanCurve(toCurves(curves), weights, rows);
}

/** D-calibration: are predicted probabilities at the event uniform? */
export function dCalibration(
  curves: CurvesInput,
  binned: BinnedOutcomesInput,
  options?: DCalibrationOptions,
): Measured<DCalibration> {
  return typedDCalibration.dCalibration(toCurves(curves), toBinnedOutcomes(binned), options);
}

/** X-Cal's squared distance from D-calibration. */
export function dCalScore(
  curves: CurvesInput,
  binned: BinnedOutcomesInput,
  options?: DCalibrationOptions,
): Measured<DCalScore> {
  return typedDCalibration.dCalScore(toCurves(curves), toBinnedOutcomes(binned), options);
}

/** 1-calibration at one bin: predicted and observed risk in groups by risk. */
export function oneCalibration(
  curves: CurvesInput,
  binned: BinnedOutcomesInput,
  options: OneCalibrationOptions,
): Measured<OneCalibration> {
  return typedOneCalibration.oneCalibration(toCurves(curves), toBinnedOutcomes(binned), options);
}

/** The ranked probability score. */
export function rankedProbabilityScore(
  curves: CurvesInput,
  binned: BinnedOutcomesInput,
  options?: RankedProbabilityScoreOptions,
): Measured<RankedProbabilityScore> {
  return typedRps.rankedProbabilityScore(toCurves(curves), toBinnedOutcomes(binned), options);
}

/** What a perfect model would show on so many people. */
export function noiseFloor(
  curves: CurvesInput,
  binned: BinnedOutcomesInput,
  rows: ArrayLike<number> | undefined,
  options: NoiseFloorOptions,
): Measured<NoiseFloor> {
  return typedNoiseFloor.noiseFloor(toCurves(curves), toBinnedOutcomes(binned), rows, options);
}

/** The noise floor of several groups, with one test for all of them. */
export function simultaneousNoiseFloor(
  curves: CurvesInput,
  binned: BinnedOutcomesInput,
  groups: readonly NoiseGroup[],
  options: NoiseFloorOptions,
): SimultaneousNoiseFloor {
  return typedNoiseFloor.simultaneousNoiseFloor(toCurves(curves), toBinnedOutcomes(binned), groups, options);
}

/** What the scores of a group's resamples share, computed once. */
export function prepareScores(
  name: string,
  curves: CurvesInput,
  binned: BinnedOutcomesInput,
  rows?: ArrayLike<number>,
): PreparedScores {
  return typedPreparedScores.prepareScores(name, toCurves(curves), toBinnedOutcomes(binned), rows);
}

/** Every score of predicted curves, of all rows or of some. */
export function scoreCurves(
  name: string,
  curves: CurvesInput,
  binned: BinnedOutcomesInput,
  rows?: ArrayLike<number>,
): Scores {
  return typedScores.scoreCurves(name, toCurves(curves), toBinnedOutcomes(binned), rows);
}

/** Who was at risk and had the event, bin by bin. */
export function tallyFollowUp(outcomes: BinnedOutcomesInput, rows: ArrayLike<number>): FollowUp {
  return typedCertificateExact.tallyFollowUp(toBinnedOutcomes(outcomes), rows);
}
