export {
  type ConstraintGroup,
  type ConstraintKind,
  type ConstraintOptions,
  type Constraints,
  type ConstraintVariant,
  MINIMUM_EVENTS,
  MINIMUM_SUPPORT,
  type NamedRows,
  prepareConstraints,
} from "./constraints.ts";
export {
  backThroughSurvival,
  type CurveWorkspace,
  createCurveWorkspace,
  fillCurves,
  groupMeans,
  logSurvival,
  survivalCurves,
} from "./curves.ts";
export { distanceGradients, groupDistances, measureDistances } from "./distances.ts";
export {
  backThroughStatistics,
  createStatisticsCache,
  emptyCache,
  measureStatistics,
  readStatistics,
  regroupCache,
  replaceRows,
  type StatisticsCache,
} from "./group-statistics.ts";
export { discreteLikelihood, type LikelihoodOptions } from "./likelihood.ts";
export { type RankingOptions, rankedProbability, rankingKernel } from "./rps.ts";
export { freshNoise, resolveSlack, type SlackOptions, type SlackSpecification } from "./slack.ts";
export {
  buildStrata,
  carryMultipliers,
  measureRisks,
  type RowRisks,
  type StrataOptions,
  type StratumCell,
} from "./strata.ts";
export { equalEventBlocks, type TimeBlock } from "./time-blocks.ts";
export { type XCalOptions, xcalPenalty } from "./xcal.ts";
