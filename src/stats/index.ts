export { AGREEMENTS, type Agreement } from "./calibration/agreement.ts";
export {
  distanceL2,
  distanceVariance,
  expectedCalibrationError,
  kmCalibration,
  meanCurve,
  modelVariance,
  totalScore,
} from "./calibration/calibration.ts";
export { dCalibration, dCalScore, oneCalibration } from "./calibration/d-calibration.ts";
export { type NoiseFloor, noiseFloor, simultaneousNoiseFloor } from "./calibration/noise-floor.ts";
export {
  type AalenJohansen,
  type AalenJohansenOptions,
  aalenJohansen,
  type CauseIncidence,
  type CausesInput,
} from "./causes/aalen-johansen.ts";
export {
  calibrateIncidence,
  type IncidenceCalibration,
  logrankOfCause,
} from "./causes/cause-calibration.ts";
export { boundCauses, type CauseBoundOptions, type CauseBounds } from "./causes/cause-bounds.ts";
export {
  type CauseNoise,
  type CauseNoiseFloor,
  type CauseNoiseOptions,
  causeNoiseFloor,
} from "./causes/cause-noise-floor.ts";
export { type CauseResamples, type CauseResampling, resampleCauses } from "./causes/cause-resamples.ts";
export { type IncidenceScores, type IncidenceScoresInput, scoreIncidence } from "./causes/cause-scores.ts";
export { type GrayTest, grayTest } from "./causes/gray.ts";
export type { CauseIncidenceCurves, CauseScoresAt, ScoredCause } from "./causes/score-cause.ts";
export { censoringKaplanMeier, censoringKaplanMeierBinned, stepValue } from "./censoring.ts";
export {
  boundGroups,
  boundOfTheorem,
  type Certificates,
  type CertifyOptions,
  certify,
  type GroupBounds,
  type GroupCertificate,
} from "./certificates/certificates.ts";
export { boundExactly, type FollowUp, tallyFollowUp } from "./certificates/exact.ts";
export { type Clash, type ClashGroup, EXACT_BELOW, testClash } from "./clash.ts";
export {
  benjaminiHochberg,
  binomialRange,
  correctedResampledT,
  countWins,
  holm,
  type PairedTest,
  pairedT,
  type WinCount,
} from "./comparison.ts";
export { concordanceHarrell, concordanceUno, type UnoOptions } from "./concordance/concordance.ts";
export {
  concordanceAntolini,
  concordanceHalfTies,
  concordancePaper,
  type TimeDependentPairs,
  timeDependentPairs,
} from "./concordance/time-dependent.ts";
export { quantileTimes, restrictedMeanTimes, riskAt, survivalAtTimes } from "./curve-readings.ts";
export {
  type MedianSurvival,
  medianSurvival,
  type RestrictedMean,
  restrictedMean,
  type SurvivalAtTime,
  survivalAt,
} from "./curve-summary.ts";
export {
  type BinnedKaplanMeier,
  groupSupport,
  hasEnoughData,
  type IntervalScale,
  type KaplanMeier,
  kaplanMeier,
  kaplanMeierBinned,
  MINIMUM_EVENTS,
  MINIMUM_SUPPORT,
} from "./kaplan-meier.ts";
export { logrankIndividual } from "./individual-logrank.ts";
export { logrank, logrankMeanCurve, logrankOneSample } from "./logrank.ts";
export { atRiskShare, mortalityRisk } from "./mortality-risk.ts";
export {
  type BootstrapOptions,
  bootstrapScores,
  bootstrapWeights,
  type GroupBootstrap,
  type Interval,
  pairedDifference,
  percentileInterval,
  type ScoreIntervals,
} from "./scores/bootstrap.ts";
export {
  type BrierConvention,
  type BrierInput,
  brierBinned,
  brierScore,
  integrateBrier,
  integratedBrier,
  mlr3probaTimes,
} from "./scores/brier.ts";
export { evaluate, SCORE_FIELDS, type ScoreField } from "./scores/evaluate-scores.ts";
export { type PreparedScores, prepareScores } from "./scores/prepared-scores.ts";
export { rankedProbabilityScore } from "./scores/rps.ts";
export { type Scores, scoreCurves } from "./scores/scores.ts";
export { type SmallestGroup, smallestGroup } from "./smallest-group.ts";
