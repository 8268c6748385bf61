export { openWasmBackend, type WasmBackendOptions } from "./wasm-backend.ts";
export { openWebGpuBackend } from "./webgpu-backend.ts";
