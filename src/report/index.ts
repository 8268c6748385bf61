export {
  describeOutcome,
  findingsFor,
  type ReportedModel,
  timeLabelOf,
} from "./data/describe-model.ts";
export { type GatherInput, gatherReport } from "./data/gather-report.ts";
export type { ReportData } from "./data/report-data.ts";
export { svgMarkup } from "./page/html.ts";
export { PALETTE_RULES } from "./page/palette.ts";
export { PAGE_POLICY } from "./page/policy.ts";
export { type RenderOptions, renderReport } from "./page/render-report.ts";
export { describeCommand, quoteArgument } from "./words/command-words.ts";
export { BIN_LABEL } from "./words/report-time.ts";
export { DEFAULT_TOLERANCE } from "./words/report-words.ts";
export { formatNumber, shorten } from "./words/text-table.ts";
