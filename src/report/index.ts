export type { CardData } from "./card/card-data.ts";
export { CARD_STYLE } from "./card/card-style.ts";
export {
  type CardTime,
  type Driver,
  listDrivers,
  rangeSentence,
  riskSentence,
  showTime,
} from "./card/card-data.ts";
export { causeSentence } from "./card/render-causes.ts";
export { type CardPageOptions, renderCardBody, renderCardPage } from "./card/render-card.ts";
export { type CauseReportData, type CauseReportInput, gatherCauseReport } from "./data/cause-report.ts";
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
export { renderCauseReport } from "./page/render-cause-report.ts";
export { type RenderOptions, renderReport } from "./page/render-report.ts";
export { REPORT_STYLE } from "./page/report-style.ts";
export { describeCommand } from "./words/command-words.ts";
export { BIN_LABEL } from "./words/report-time.ts";
export { formatNumber, shorten } from "./words/text-table.ts";
