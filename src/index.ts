export {
  type AuditedScores,
  type AuditGroup,
  type AuditInput,
  type AuditOptions,
  type AuditTable,
  audit,
} from "./audit.ts";
export {
  type BoostedGroup,
  type BoostResult,
  type BoostRowSets,
  type BoostTask,
  type BoostTaskInput,
  type BoostVerdict,
  boost,
  type GuardedBoostOptions,
} from "./boost.ts";
export {
  type ComparedScore,
  compareResampled,
  compareSplits,
  type MethodDifference,
  type MethodScores,
  type ResampledMethod,
  readScores,
  type SplitMethod,
} from "./compare.ts";
export type { Backend, Floats } from "./compute/backend.ts";
export { createReferenceBackend } from "./compute/reference.ts";
export * from "./core/errors.ts";
export * from "./core/measured.ts";
export * from "./data/index.ts";
export type { CellWarning } from "./data/new-cells.ts";
export { type DiscoverInput, type DiscoverOptions, type Discovery, discover } from "./discover.ts";
export {
  chooseSearchColumns,
  type LeftOutColumn,
  listModelColumns,
  type SearchColumnsChoice,
  type SearchColumnsRequest,
} from "./discover-columns.ts";
export { type EnsembleHooks, type EnsembleRequest, trainEnsemble } from "./ensemble.ts";
export * from "./files/index.ts";
export { type FitOptions, fit } from "./fit.ts";
export * from "./models/index.ts";
export * from "./objectives/index.ts";
export { gridOf, type Prediction, type PredictRows, predict, preparePredictor } from "./predict.ts";
export {
  judgeRequirements,
  parseRequirement,
  type Requirement,
  type RequirementResult,
} from "./requirements.ts";
export * from "./stats/index.ts";
export {
  type CandidateEvent,
  type DoneEvent,
  type StartEvent,
  type TrainEvent,
  type TrainHooks,
  type TrainRequest,
  train,
} from "./train.ts";
export * from "./training/index.ts";
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
} from "./tune.ts";
export { expandSweep, parseSweep, type Setting, type Sweep, toTrainRequest } from "./tune-settings.ts";
