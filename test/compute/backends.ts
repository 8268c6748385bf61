// The backends that every case of cases.ts is run on. A new one is one line here.
import type { Backend } from "../../src/compute/backend.ts";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import { openWebGpuBackend, openWithEffort } from "../../src/node/workers/webgpu-backend.ts";
import { findDevice, LANES } from "./webgpu-device.ts";

export interface TestedBackend {
  readonly name: string;
  open(): Promise<Backend>;
  /** Whether it is too slow for the heavy cases. */
  readonly slow?: boolean;
}

const device = await findDevice();
if ("missing" in device) console.log(`the compute cases are skipped on webgpu: ${device.missing}`);

export const BACKENDS: readonly TestedBackend[] = [
  { name: "reference", open: async () => createReferenceBackend() },
  { name: "reference behind a bus", open: async () => separateMemory(createReferenceBackend()) },
  { name: "wasm, plain SIMD, one thread", open: () => openWasmBackend({ threads: 1, deterministic: true }) },
  { name: "wasm, plain SIMD, two threads", open: () => openWasmBackend({ threads: 2, deterministic: true }) },
  { name: "wasm, relaxed SIMD, one thread", open: () => openWasmBackend({ threads: 1 }) },
  { name: "wasm, relaxed SIMD, two threads", open: () => openWasmBackend({ threads: 2 }) },
  ...("missing" in device
    ? []
    : [
        { name: "webgpu", open: () => openWebGpuBackend(), slow: device.software },
        { name: "webgpu, lanes", open: () => openWithEffort({}, LANES), slow: device.software },
      ]),
];

/** The same backend, with memory that the host does not see: what a graphics processor will look like. */
export function separateMemory(backend: Backend): Backend {
  return { ...backend, view: () => null };
}
