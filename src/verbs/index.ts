export {
  type AuditedCauseRows,
  auditCauseModel,
  type PredictedCauseRows,
  predictCauseRows,
} from "./causes/audit-cause-model.ts";
export type { EnsemblePart } from "../training/model.ts";
export {
  type AuditedScores,
  type AuditGroup,
  BOUND_ALPHA,
  bootstrapHere,
  DEFAULT_DRAWS,
  REPORT_REPLICATES,
} from "./audit.ts";
export {
  addIntervals,
  auditRows,
  type PredictedRows,
  predictRows,
  tallyTrainingRows,
} from "./audit-model.ts";
export type {
  BoostedGroup,
  BoostRowSets,
  BoostTask,
  BoostTaskInput,
  BoostVerdict,
  GuardedBoostOptions,
} from "./boost.ts";
export type { AuditedCause } from "./causes/audit-causes.ts";
export type { CauseBoostResult, CauseBoostVerdict } from "./causes/boost-causes.ts";
export type { CifDocument, CifRequest } from "./statistics/cif.ts";
export type { CompareChoices, CompareEvent, CompareOptions } from "./compare.ts";
export {
  type CauseDifference,
  type CauseMethodScores,
  type CauseScoreDraws,
  type ComparedCauseScore,
  compareCauseDraws,
  compareCauseSplits,
  type DrawnCauseMethod,
  readCauseScores,
  type SplitCauseMethod,
} from "./comparison/cause-differences.ts";
export type { CauseResult } from "./comparison/cause-run.ts";
export {
  type ComparedScore,
  compareResampled,
  compareSplits,
  type MethodDifference,
  type MethodScores,
  type ResampledMethod,
  readScores,
  type SplitMethod,
} from "./comparison/differences.ts";
export type {
  ComparedMethod,
  CompareTask,
  MethodMeans,
  MethodResult,
  NamedSplit,
} from "./comparison/method-run.ts";
export type { CoxRequest } from "./statistics/cox.ts";
export type { CoxDocument, CoxHazardsEntry, CoxTestEntry } from "./statistics/cox-document.ts";
export {
  chooseSearchColumns,
  type LeftOutColumn,
  listModelColumns,
  type SearchColumnsChoice,
  type SearchColumnsRequest,
} from "./discover/columns.ts";
export type { DiscoverInput, DiscoverOptions } from "./discover/discover.ts";
export type { ModelDiscoverOptions, ModelDiscovery } from "./discover/discover-model.ts";
export { chooseMembers } from "./ensemble/choose-members.ts";
export { type EnsembleHooks, joinEnsemble, trainMembers } from "./ensemble/ensemble.ts";
export { type MemberLanes, type MemberRuns, openMemberLanes } from "./ensemble/member-lanes.ts";
export {
  chooseBoostRows,
  chooseJudgedRows,
  chooseSearchedRows,
  type FitShare,
  type JudgedRows,
  type SearchedRows,
} from "./judged-rows.ts";
export type { KmDocument, KmRequest } from "./statistics/km.ts";
export { type Acquaintance, addGroups, type OpenStudyOptions, studyOf } from "./model-study.ts";
export { type CardData, type CardRisk, chooseRiskTimes, describeDoubts } from "./people/card.ts";
export { type JudgedGroups, judgeCardGroups } from "./people/card-groups.ts";
export type { CauseGap, JudgedCauses } from "./people/cause-groups.ts";
export { BACKGROUND_ROWS, type ExplainRow } from "./people/explain.ts";
export {
  type Breakdown,
  chooseCause,
  type ExplainedCause,
  type ExplainedTime,
} from "./people/explained-quantities.ts";
export { type ExplainDocument, explainDocument } from "./people/explain-document.ts";
export {
  BAND_LEVEL,
  type CurveBands,
  drawBands,
  type ErrorParts,
  halfWidths,
  hasBands,
  measureMissed,
  prepareBands,
  prepareErrors,
} from "./people/bands.ts";
export {
  BOUND_LEVEL,
  type BoundGroup,
  boundPeople,
  calibrateBound,
  type LowerBound,
  type PeopleBounds,
} from "./people/lower-bound.ts";
export {
  layOutPeople,
  type PeopleColumn,
  type PeopleLayout,
  type PeoplePart,
  type PeopleTable,
} from "./people/people-columns.ts";
export { findPersonRow } from "./people/person-row.ts";
export type { CurveReadings, PeopleBands, PredictPeople } from "./people/predict-people.ts";
export { categoriesOf, columnsNeeded, knowsAtRisk, medianTimes, type PredictRows } from "./predict.ts";
export type { Requirement, RequirementResult } from "./requirements.ts";
export { fingerprintRun, type HashedTable, originOf } from "./run-origin.ts";
export {
  type Run,
  type RunEvent,
  type Runner,
  runInTurn,
  runWithShares,
} from "./runs.ts";
export type { ContrastBasis } from "./summary/contrasts.ts";
export type { CauseSummary, ColumnEffect, Contrast, GroupSummary } from "./summary/model-summary.ts";
export { type SummaryDocument, summaryDocument } from "./summary/summary-document.ts";
export type { CandidateEvent, DoneEvent, StartEvent, TrainHooks } from "./train.ts";
export {
  type TuneChoices,
  type TuneEvent,
  type TuneOptions,
  type TuneResult,
  type TuneTask,
  trainChosen,
} from "./tune.ts";
export { type RunScores, scoreRun } from "./tuning/scores.ts";
export {
  findFrontier,
  type Selection,
  type SelectionRule,
  type SettingSummary,
  selectSetting,
  summariseRuns,
  type TuneRun,
} from "./tuning/selection.ts";
export { expandSweep, parseSweep, requestOfSetting, type Setting, type Sweep } from "./tuning/settings.ts";
