export { type GatherInput, gatherReport } from "./gather-report.ts";
export type { RecordedStep, ReportedModel } from "./gather-training.ts";
export { type RenderOptions, renderReport } from "./render-report.ts";
export type { ReportData } from "./report-data.ts";
