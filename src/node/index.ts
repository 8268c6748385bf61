export { bootstrapInParallel } from "./replicate-pool.ts";
export { tableSourceFromPath } from "./table-file.ts";
export { openWasmBackend } from "./wasm-backend.ts";
