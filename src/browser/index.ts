export { openWasmBackend, type WasmBackendOptions } from "./wasm-backend.ts";
