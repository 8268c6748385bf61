export { AGREEMENTS, type Agreement } from "./calibration/agreement.ts";
export {
  distanceL2,
  distanceVariance,
  expectedCalibrationError,
  kmCalibration,
  modelVariance,
  totalScore,
} from "./calibration/calibration.ts";
export type { NoiseFloor } from "./calibration/noise-floor.ts";
export { stepValue } from "./censoring.ts";
export {
  boundGroups,
  boundOfTheorem,
  type Certificates,
  type CertifyOptions,
  type GroupBounds,
  type GroupCertificate,
} from "./certificates/certificates.ts";
export { boundExactly, type FollowUp } from "./certificates/exact.ts";
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
export {
  concordanceAntolini,
  concordanceHalfTies,
  concordancePaper,
  type TimeDependentPairs,
} from "./concordance/time-dependent.ts";
export {
  type BrierArrays,
  brierBinned,
  brierScore,
  censoringKaplanMeier,
  censoringKaplanMeierBinned,
  certify,
  concordanceHarrell,
  concordanceUno,
  dCalibration,
  dCalScore,
  groupSupport,
  integratedBrier,
  kaplanMeier,
  kaplanMeierBinned,
  logrank,
  logrankIndividual,
  logrankMeanCurve,
  meanCurve,
  mlr3probaTimes,
  noiseFloor,
  oneCalibration,
  prepareScores,
  rankedProbabilityScore,
  scoreCurves,
  simultaneousNoiseFloor,
  tallyFollowUp,
  timeDependentPairs,
  type UnoArrays,
} from "./from-arrays.ts";
export type { BinnedKaplanMeier, IntervalScale, KaplanMeier } from "./kaplan-meier.ts";
export {
  type MedianSurvival,
  medianSurvival,
  type RestrictedMean,
  restrictedMean,
  type SurvivalAtTime,
  survivalAt,
} from "./kaplan-meier-summary.ts";
export { logrankOneSample } from "./logrank.ts";
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
export { type BrierConvention, integrateBrier } from "./scores/brier.ts";
export { evaluate, SCORE_FIELDS, type ScoreField } from "./scores/evaluate-scores.ts";
export type { PreparedScores } from "./scores/prepared-scores.ts";
export type { Scores } from "./scores/scores.ts";
