export type { Backend, Floats } from "./compute/backend.ts";
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
  type ComparedScore,
  compareResampled,
  compareSplits,
  type MethodDifference,
  type MethodScores,
  type ResampledMethod,
  readScores,
  type SplitMethod,
} from "./verbs/compare.ts";
export { type CoxRequest, coxDocument } from "./verbs/cox.ts";
export type { CoxDocument, CoxHazardsEntry, CoxTestEntry } from "./verbs/cox-document.ts";
export { type DiscoverInput, type DiscoverOptions, type Discovery, discover } from "./verbs/discover.ts";
export {
  chooseSearchColumns,
  type LeftOutColumn,
  listModelColumns,
  type SearchColumnsChoice,
  type SearchColumnsRequest,
} from "./verbs/discover-columns.ts";
export { type EnsembleHooks, type EnsembleRequest, trainEnsemble } from "./verbs/ensemble.ts";
export { type FitOptions, fit } from "./verbs/fit.ts";
export { type KmDocument, type KmGroup, type KmRequest, kmDocument } from "./verbs/km.ts";
export { gridOf, type Prediction, type PredictRows, predict, preparePredictor } from "./verbs/predict.ts";
export {
  judgeRequirements,
  parseRequirement,
  type Requirement,
  type RequirementResult,
} from "./verbs/requirements.ts";
export {
  type CandidateEvent,
  type DoneEvent,
  type StartEvent,
  type TrainEvent,
  type TrainHooks,
  type TrainRequest,
  train,
} from "./verbs/train.ts";
export {
  findFrontier,
  type RunScores,
  type Selection,
  type SelectionRule,
  type SettingSummary,
  scoreRun,
  selectSetting,
  summariseRuns,
  type TuneRun,
} from "./verbs/tune.ts";
export { expandSweep, parseSweep, type Setting, type Sweep, toTrainRequest } from "./verbs/tune-settings.ts";
