export type { Backend, DeviceArray, Floats } from "./compute/backend.ts";
export { createReferenceBackend } from "./compute/reference.ts";
export * from "./core/errors.ts";
export * from "./core/measured.ts";
export type { CellWarning } from "./data/encode/new-cells.ts";
export * from "./data/index.ts";
export * from "./files/index.ts";
export * from "./models/index.ts";
export * from "./objectives/index.ts";
export * from "./repair/index.ts";
export * from "./stats/index.ts";
export * from "./training/index.ts";
export {
  type AuditedScores,
  type AuditGroup,
  type AuditInput,
  type AuditOptions,
  type AuditTable,
  audit,
} from "./verbs/audit.ts";
export {
  type BoostedGroup,
  type BoostResult,
  type BoostRowSets,
  type BoostTask,
  type BoostTaskInput,
  type BoostVerdict,
  boost,
  type GuardedBoostOptions,
} from "./verbs/boost.ts";
export {
  type CompareChoices,
  type ComparedSplit,
  type CompareEvent,
  type CompareOptions,
  type Comparison,
  compare,
  type MethodRun,
} from "./verbs/compare.ts";
export {
  type ComparedScore,
  compareResampled,
  compareSplits,
  type MethodDifference,
  type MethodScores,
  type ResampledMethod,
  readScores,
  type ScoreDraws,
  type SplitMethod,
} from "./verbs/comparison/differences.ts";
export type {
  ComparedMethod,
  CompareTask,
  MethodMeans,
  MethodResult,
  NamedSplit,
} from "./verbs/comparison/method-run.ts";
export { type CoxRequest, coxDocument } from "./verbs/cox.ts";
export type { CoxDocument, CoxHazardsEntry, CoxTestEntry } from "./verbs/cox-document.ts";
export {
  chooseSearchColumns,
  type LeftOutColumn,
  listModelColumns,
  type SearchColumnsChoice,
  type SearchColumnsRequest,
} from "./verbs/discover/columns.ts";
export {
  type DiscoverInput,
  type DiscoverOptions,
  type Discovery,
  discover,
} from "./verbs/discover/discover.ts";
export { type EnsembleHooks, type EnsembleRequest, trainEnsemble } from "./verbs/ensemble.ts";
export { type FitOptions, type FitRequest, fit } from "./verbs/fit.ts";
export { type KmDocument, type KmGroup, type KmRequest, kmDocument } from "./verbs/km.ts";
export { gridOf, type Prediction, type PredictRows, predict, preparePredictor } from "./verbs/predict.ts";
export {
  judgeRequirements,
  parseRequirement,
  type Requirement,
  type RequirementResult,
} from "./verbs/requirements.ts";
export { type Run, type RunEvent, type Runner, runInTurn, runWithShares } from "./verbs/runs.ts";
export {
  type CandidateEvent,
  type DoneEvent,
  prepare,
  type StartEvent,
  type TrainEvent,
  type TrainHooks,
  type TrainingRequest,
  type TrainRequest,
  train,
} from "./verbs/train.ts";
export {
  type ChosenModel,
  type TuneChoices,
  type TuneEvent,
  type TuneOptions,
  type TuneOutcome,
  type TuneResult,
  type TuneTask,
  trainChosen,
  tune,
} from "./verbs/tune.ts";
export { type RunScores, scoreRun, type WorstGroup } from "./verbs/tuning/scores.ts";
export {
  findFrontier,
  type Selection,
  type SelectionRule,
  type SettingSummary,
  selectSetting,
  summariseRuns,
  type TuneRun,
} from "./verbs/tuning/selection.ts";
export {
  expandSweep,
  parseSweep,
  requestOfSetting,
  type Setting,
  type Sweep,
} from "./verbs/tuning/settings.ts";
