export { countOf } from "../core/text.ts";
export {
  type ColumnSummary,
  describeTable,
  summariseColumn,
  type TableDescription,
} from "./checks/describe.ts";
export type { Finding, FindingCode, FindingLevel } from "./checks/findings.ts";
export {
  checkFollowup,
  checkGroups,
  checkIndependence,
  checkTable,
  type RowIndependence,
} from "./checks/sanity.ts";
export {
  type CauseCurves,
  type CauseCurvesInput,
  causeCurves,
  hazardsOf,
  survivalOf,
} from "./curves/cause-curves.ts";
export type { Curves } from "./curves/curves.ts";
export { type CauseFile, type ReadCauseCurves, readCauseCurves } from "./curves/read-cause-curves.ts";
export { type CurvesWithOutcomes, type ReadCurvesOptions, readCurves } from "./curves/read-curves.ts";
export { type DoubtfulCells, findDoubtfulCells } from "./encode/doubtful-cells.ts";
export { type EncodedBlock, type EncodedFeatures, encode, encodeBlocks } from "./encode/encode.ts";
export type { ColumnEncoding, Encoder } from "./encode/encoder.ts";
export { chooseFeatures, completeRows, type FeatureChoice, type FeatureRequest } from "./encode/features.ts";
export { type EncoderOptions, fitEncoder } from "./encode/fit-encoder.ts";
export { type AutomaticChoice, chooseAutomaticGroups } from "./groups/automatic-groups.ts";
export { type DisjointGroups, groupByColumns } from "./groups/group-by.ts";
export { columnsOf, formatGroup, type GroupExpression } from "./groups/group-expression.ts";
export { evaluateGroup } from "./groups/group-members.ts";
export { type AutomaticGroupOptions, selectGroups } from "./groups/group-selection.ts";
export {
  ALL_GROUP,
  addGroupColumns,
  type Group,
  type GroupMembers,
  type GroupsFile,
  groupColumnName,
  groupsFromFile,
  parseGroupsFile,
  parseNamedGroup,
  resolveGroups,
} from "./groups/groups.ts";
export { parseGroup } from "./groups/parse-group.ts";
export {
  type BinnedOutcomes,
  type BinnedRightCensored,
  type Outcomes,
  pickOutcomes,
  type RightCensored,
  type RowWeights,
  requireRightCensored,
} from "./outcomes/outcomes.ts";
export { type People, type PersonColumn, pickPeople, readPeople } from "./outcomes/people.ts";
export {
  type EventHistory,
  type HistoryColumns,
  type InspectedHistory,
  inspectHistory,
  readHistory,
} from "./outcomes/read-history.ts";
export {
  inspectOutcomes,
  type OutcomeColumns,
  outcomeNames,
  readOutcomes,
} from "./outcomes/read-outcomes.ts";
export {
  joinRows,
  type SetName,
  type Split,
  type SplitColumns,
  type SplitOptions,
  splitByOrder,
  splitFromTable,
  splitTable,
} from "./outcomes/split.ts";
export {
  type BinningGap,
  binningGap,
  binOutcomes,
  DEFAULT_BINS,
  equalTimeGrid,
  findBin,
  fitTimeGrid,
  interpolateCurve,
  MAX_BINS,
  medianTime,
  quantileTime,
  restrictedMeanTime,
  type TimeGrid,
  type TimeGridOptions,
} from "./outcomes/time-grid.ts";
export type {
  BinnedOutcomesInput,
  BinnedRightCensoredInput,
  CurvesInput,
  OutcomesInput,
  RightCensoredInput,
} from "./plain-input.ts";
export { joinSources } from "./reading/join-sources.ts";
export {
  type ReadChunksOptions,
  type ReadTableOptions,
  readTable,
  readTableChunks,
  type TableSource,
  tableSourceFromBytes,
} from "./reading/read-table.ts";
export {
  type BooleanColumn,
  type CategoryColumn,
  type Column,
  type ColumnType,
  cellText,
  countMissing,
  type DateColumn,
  findColumn,
  isMissing,
  MISSING_CODE,
  type NumberColumn,
  selectRows,
  type Table,
  type TablePart,
  tableBlocks,
} from "./table.ts";
export { type ParseTargetsOptions, parseTargets } from "./targets/parse-targets.ts";
export {
  type AboutTargets,
  type CheckTargetsOptions,
  checkTargets,
  MORTALITIES,
  type Mortality,
  SE_FLOOR,
  type TargetCurve,
  type Targets,
} from "./targets/targets.ts";
