export type { Curves } from "./curves.ts";
export { buildDataset, type SurvivalDataset } from "./dataset.ts";
export { type ColumnSummary, describeTable, summariseColumn, type TableDescription } from "./describe.ts";
export {
  type ColumnEncoding,
  type EncodedFeatures,
  type Encoder,
  type EncoderOptions,
  encode,
  fitEncoder,
} from "./encode.ts";
export { chooseFeatures, completeRows, type FeatureChoice, type FeatureRequest } from "./features.ts";
export type { Finding, FindingCode, FindingLevel } from "./findings.ts";
export { type DisjointGroups, groupByColumns } from "./group-by.ts";
export { formatGroup, type GroupExpression, parseGroup } from "./group-expression.ts";
export { evaluateGroup } from "./group-members.ts";
export {
  ALL_GROUP,
  type AutomaticChoice,
  type AutomaticGroupOptions,
  chooseAutomaticGroups,
  type Group,
  type GroupMembers,
  type GroupsFile,
  groupsFromFile,
  parseGroupsFile,
  parseNamedGroup,
  resolveGroups,
  selectGroups,
} from "./groups.ts";
export { type BinnedOutcomes, type Outcomes, pickOutcomes, type RowWeights } from "./outcomes.ts";
export { type People, type PersonColumn, pickPeople, readPeople } from "./people.ts";
export type { BinnedOutcomesInput, CurvesInput, OutcomesInput } from "./plain-input.ts";
export { type CurvesWithOutcomes, type ReadCurvesOptions, readCurves } from "./read-curves.ts";
export { inspectOutcomes, type OutcomeColumns, readOutcomes } from "./read-outcomes.ts";
export { type ReadTableOptions, readTable, type TableSource, tableSourceFromBytes } from "./read-table.ts";
export { type ReadChunksOptions, readTableChunks } from "./read-table-chunks.ts";
export type { RowIndependence } from "./repeated-people.ts";
export { checkFollowup, checkGroups, checkTable } from "./sanity.ts";
export { type SetName, type Split, type SplitOptions, splitFromTable, splitRows } from "./split.ts";
export {
  type BooleanColumn,
  type CategoryColumn,
  type Column,
  type ColumnType,
  cellText,
  type DateColumn,
  findColumn,
  isMissing,
  type NumberColumn,
  selectRows,
  type Table,
} from "./table.ts";
export {
  type BinningGap,
  binningGap,
  binOutcomes,
  equalTimeGrid,
  fitTimeGrid,
  interpolateCurve,
  medianTime,
  quantileTime,
  type TimeGrid,
  type TimeGridOptions,
} from "./time-grid.ts";
