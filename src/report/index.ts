export { type GatherInput, gatherReport, type RecordedStep, type ReportedModel } from "./gather-report.ts";
export { type RenderOptions, renderReport } from "./render-report.ts";
export type { ReportData } from "./report-data.ts";
