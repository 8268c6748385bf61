export type { CardData } from "./card/card-data.ts";
export { CARD_STYLE } from "./card/card-style.ts";
export { type CardPageOptions, renderCardBody, renderCardPage } from "./card/render-card.ts";
export type { ReportedModel } from "./data/describe-model.ts";
export { type GatherInput, gatherReport } from "./data/gather-report.ts";
export type { ReportData } from "./data/report-data.ts";
export { svgMarkup } from "./page/html.ts";
export { type RenderOptions, renderReport } from "./page/render-report.ts";
export { formatNumber, shorten } from "./words/text-table.ts";
