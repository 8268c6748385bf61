export { tableSourceFromPath } from "./io/table-file.ts";
export { bootstrapInParallel } from "./workers/replicate-pool.ts";
export { openWasmBackend } from "./workers/wasm-backend.ts";
