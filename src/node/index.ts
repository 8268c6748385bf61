export {
  hashKey,
  type KeepOptions,
  type KeptRun,
  keepRuns,
  type LineForm,
  type LinesFile,
  openLines,
  openRunResults,
  parseLines,
  type RunForm,
  type RunResults,
} from "./io/run-results.ts";
export { tableSourceFromPath } from "./io/table-file.ts";
export { bootstrapInParallel } from "./workers/replicate-pool.ts";
export { type PoolOptions, runInPool } from "./workers/run-pool.ts";
export { serveRuns } from "./workers/run-worker.ts";
export { openWasmBackend } from "./workers/wasm-backend.ts";
