/**
 * The WebGPU backend: the operations of backend.ts in float32 on a graphics device with memory of its own. This file
 * depends on neither Node nor the DOM: it is given a device. Operations return when they are submitted; only `read`
 * waits for the device.
 */
import type { Backend } from "../backend.ts";
import { createHandles, rowsOnHost } from "../host.ts";
import { additiveOnDevice } from "./additive.ts";
import { denseOnDevice } from "./dense.ts";
import { bindingLimit, deviceAccess, type Placed } from "./device-memory.ts";
import { createEngine } from "./engine.ts";
import type { GpuDevice } from "./gpu.ts";
import { lstmOnDevice } from "./lstm.ts";
import { GRAPHICS, SOFTWARE } from "./lstm-plan.ts";
import { createTapes } from "./tapes.ts";

export interface WebGpuParts {
  /** The backend's own from now on: closing the backend ends it. */
  readonly device: GpuDevice;
  /** What to call the device. */
  readonly adapter: string;
  /** Whether a program plays the device on the processor. */
  readonly software: boolean;
  /** Bytes that activations may take; beyond them they are computed again. */
  readonly tapeLimit: number;
}

export interface WebGpuBackend extends Backend {
  readonly name: "webgpu";
  /** The device's name. */
  readonly adapter: string;
  /** Whether a program plays the device on the processor: slower than the wasm backend. */
  readonly software: boolean;
}

export function createWebGpuBackend({ device, adapter, software, tapeLimit }: WebGpuParts): WebGpuBackend {
  const engine = createEngine(device);
  const handles = createHandles<Placed>();
  const tapes = createTapes(engine, tapeLimit);
  const { releaseArray, ...access } = deviceAccess(engine, handles);
  const limit = bindingLimit(engine);
  return {
    name: "webgpu",
    precision: "f32",
    threads: 1,
    adapter,
    software,
    // An array of logits is seen by a kernel whole.
    rowsAtOnce: (pass) => Math.max(1, Math.min(rowsOnHost(pass), Math.floor(limit / (4 * pass.T)))),
    ...access,
    createTape: () => tapes.create(),
    release(memory) {
      if (memory.kind === "tape") tapes.release(memory);
      else releaseArray(memory);
    },
    ...lstmOnDevice(engine, handles, tapes, software ? SOFTWARE : GRAPHICS),
    ...denseOnDevice(engine, handles),
    ...additiveOnDevice(engine, handles),
    close: async () => engine.close(),
  };
}
