export type { ReportedModel } from "./data/describe-model.ts";
export { type GatherInput, gatherReport } from "./data/gather-report.ts";
export type { ReportData } from "./data/report-data.ts";
export { svgMarkup } from "./page/html.ts";
export { type RenderOptions, renderReport } from "./page/render-report.ts";
export { formatNumber, shorten } from "./words/text-table.ts";
