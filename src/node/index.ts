export { replaceFile } from "./io/growing-file.ts";
export { readTextFile, tableSourceFromPath } from "./io/input-file.ts";
export { writeModel } from "./io/model-file.ts";
export { refuseUnwritable } from "./io/output-path.ts";
export { hashFile } from "./io/provenance.ts";
export {
  type GrowingLines,
  type GrowingLinesOptions,
  hashKey,
  type KeepOptions,
  type KeptRun,
  keepRuns,
  type LineForm,
  type LinesFile,
  openGrowingLines,
  openLines,
  openRunResults,
  parseLines,
  type RunForm,
  type RunResults,
} from "./io/run-results.ts";
export { createUnwritableError } from "./io/write-errors.ts";
export { readModel } from "./library.ts";
export { addQueueAddress, type QueueOptions, refuseQueueConflicts } from "./options/queue-option.ts";
export { placeShard, shardOption } from "./options/shard-option.ts";
export { parseThreads } from "./options/table-options.ts";
export { sayQueueGoesOn } from "./print/follow-runs.ts";
export {
  clearLive,
  createProgress,
  EXIT_INPUT,
  EXIT_INTERRUPTED,
  isLive,
  type Progress,
  print,
  say,
  showLive,
  warn,
} from "./print/output.ts";
export type { PlanHead } from "./queue/plan-heads.ts";
export { requirePlanFile } from "./queue/plan-tables.ts";
export type { OpenRuns } from "./queue/run-kinds.ts";
export type { RunSource } from "./queue/run-lane.ts";
export { runSubmitted, type SubmittedPlan } from "./queue/submit-plan.ts";
export { pickShard, type Shard } from "./shards/shard.ts";
export { createHead, HEAD_START, parseHead, type ShardHead } from "./shards/shard-head.ts";
export { bootstrapInParallel } from "./workers/replicate-pool.ts";
export { type PoolOptions, runInPool } from "./workers/run-pool.ts";
export { serveRuns } from "./workers/run-worker.ts";
export { openWasmBackend } from "./workers/wasm-backend.ts";
export { openWebGpuBackend } from "./workers/webgpu-backend.ts";
