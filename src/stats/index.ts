export { AGREEMENTS, type Agreement } from "./agreement.ts";
export {
  type BootstrapOptions,
  bootstrapScores,
  bootstrapWeights,
  type GroupBootstrap,
  type Interval,
  pairedDifference,
  percentileInterval,
  type ScoreIntervals,
} from "./bootstrap.ts";
export {
  type BrierConvention,
  brierBinned,
  brierScore,
  integrateBrier,
  integratedBrier,
  mlr3probaTimes,
} from "./brier.ts";
export {
  distanceL2,
  distanceVariance,
  expectedCalibrationError,
  kmCalibration,
  meanCurve,
  modelVariance,
  totalScore,
} from "./calibration.ts";
export { censoringKaplanMeier, censoringKaplanMeierBinned, stepValue } from "./censoring.ts";
export { type FollowUp, tallyFollowUp } from "./certificate-exact.ts";
export {
  boundGroups,
  type Certificates,
  type CertifyOptions,
  certify,
  type GroupBounds,
  type GroupCertificate,
} from "./certificates.ts";
export {
  benjaminiHochberg,
  binomialRange,
  correctedResampledT,
  countWins,
  holm,
  pairedT,
} from "./comparison.ts";
export { concordanceHarrell, concordanceUno } from "./concordance.ts";
export {
  concordanceAntolini,
  concordanceHalfTies,
  concordancePaper,
  timeDependentPairs,
} from "./concordance-time-dependent.ts";
export { dCalibration, dCalScore } from "./d-calibration.ts";
export { evaluate, SCORE_FIELDS, type ScoreField } from "./evaluate-scores.ts";
export {
  type BinnedKaplanMeier,
  groupSupport,
  type IntervalScale,
  type KaplanMeier,
  kaplanMeier,
  kaplanMeierBinned,
} from "./kaplan-meier.ts";
export {
  type MedianSurvival,
  medianSurvival,
  type RestrictedMean,
  restrictedMean,
  type SurvivalAtTime,
  survivalAt,
} from "./kaplan-meier-summary.ts";
export { logrank, logrankIndividual, logrankMeanCurve, logrankOneSample } from "./logrank.ts";
export { type NoiseFloor, noiseFloor, simultaneousNoiseFloor } from "./noise-floor.ts";
export { oneCalibration } from "./one-calibration.ts";
export { type PreparedScores, prepareScores } from "./prepared-scores.ts";
export { rankedProbabilityScore } from "./rps.ts";
export { type Scores, scoreCurves } from "./scores.ts";
