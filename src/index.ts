// Prepare: a table, its groups, a study.

export { describeTable } from "./data/checks/describe.ts";
export { readCurves } from "./data/curves/read-curves.ts";
export { type Group, parseGroupsFile, parseNamedGroup } from "./data/groups/groups.ts";
export { type Split, splitByOrder, splitFromTable, splitTable } from "./data/outcomes/split.ts";
export { joinSources } from "./data/reading/join-sources.ts";
export {
  readTable,
  readTableChunks,
  type TableSource,
  tableSourceFromBytes,
} from "./data/reading/read-table.ts";
export type { Table } from "./data/table.ts";
export type { PreparedStudy } from "./study/prepare.ts";
export { prepare, type TrainRequest } from "./verbs/train-request.ts";

// Train: a study gives a model.

export type { Backend } from "./compute/backend.ts";
export { createReferenceBackend } from "./compute/reference.ts";
export {
  type DiscoverRequest,
  type ExplainRequest,
  FittedModel,
  type Judged,
  type JudgeOptions,
  type ModelAudit,
  type ModelAuditOptions,
  type ModelCauseAudit,
  type ModelCauseAuditOptions,
  type PredictOptions,
  type ReportOptions,
} from "./library/fitted-model.ts";
export type { BackendOption, Home } from "./library/home.ts";
export {
  auditModel,
  compare,
  discoverModel,
  explainPerson,
  fit,
  fitted,
  modelFromBytes,
  openStudy,
  plotKm,
  predict,
  predictPeople,
  reportCurves,
  summariseModel,
  tune,
} from "./library/page.ts";
export type { KmPlotOptions } from "./library/with-home.ts";
export type { Model } from "./training/model.ts";
export { type EnsembleRequest, trainEnsemble } from "./verbs/ensemble/ensemble.ts";
export type { FitOptions, FitRequest } from "./verbs/fit.ts";
export { type TrainEvent, type TrainingRequest, train } from "./verbs/train.ts";

// Keep: files of models.

export { checkpointFromBytes, checkpointToBytes } from "./files/model/checkpoint-file.ts";
export { modelToBytes } from "./files/model/model-file.ts";
export { modelToOnnx } from "./files/onnx/onnx.ts";

// Predict and audit: a model or anyone's curves, for everyone and by group.

export { type CauseCurves, causeCurves } from "./data/curves/cause-curves.ts";
export type { Curves } from "./data/curves/curves.ts";
export {
  type AuditCurvesOptions,
  auditCurves,
  type CurveAudit,
  type CurveReportOptions,
  type CurvesAtTimes,
} from "./library/audit-curves.ts";
export { type AuditInput, type AuditOptions, type AuditTable, audit } from "./verbs/audit.ts";
export type { AuditedRows } from "./verbs/audit-model.ts";
export {
  auditCauses,
  type CauseAuditInput,
  type CauseAuditOptions,
  type CauseAuditTable,
  type CauseScores,
} from "./verbs/causes/audit-causes.ts";
export type { ModelStudy } from "./verbs/model-study.ts";
export { type CardInput, gatherCard } from "./verbs/people/card.ts";
export {
  type ExplainOptions,
  type Explanation,
  prepareExplainer,
} from "./verbs/people/explain.ts";
export {
  type PeoplePrediction,
  type PeopleRequest,
  preparePeople,
} from "./verbs/people/predict-people.ts";
export { gridOf, type Prediction, preparePredictor, riskOf } from "./verbs/predict.ts";
export { judgeRequirements, parseRequirement } from "./verbs/requirements.ts";
export type { ModelSummary } from "./verbs/summary/model-summary.ts";

// Question and repair; many runs.

export { type BoostResult, boost } from "./verbs/boost.ts";
export { boostCauses } from "./verbs/causes/boost-causes.ts";
export type { Comparison } from "./verbs/compare.ts";
export { type Discovery, discover } from "./verbs/discover/discover.ts";
export type { TuneOutcome } from "./verbs/tune.ts";

// The statistics that people look for first; the others are in graduate-survival/stats and graduate-survival/models.

export { fitCox } from "./models/cox/cox.ts";
export { concordanceHarrell, concordanceUno } from "./stats/concordance/concordance.ts";
export { kaplanMeier } from "./stats/kaplan-meier.ts";
export { logrank } from "./stats/logrank.ts";
export { integratedBrier } from "./stats/scores/brier.ts";
export { cifDocument } from "./verbs/statistics/cif.ts";
export { coxDocument } from "./verbs/statistics/cox.ts";
export { kmDocument } from "./verbs/statistics/km.ts";

// Errors, and what a measured value is.

export { BackendError, FormatError, GraduateError, InputError, NumericalError } from "./core/errors.ts";
export { isAbsent, type Measured } from "./core/measured.ts";
