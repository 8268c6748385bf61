/**
 * The WebGPU backend: the operations of backend.ts in float32 on a graphics device with memory of its own. This file
 * depends on neither Node nor the DOM: it is given a device. Operations return when they are submitted; only `read`
 * waits for the device.
 */
import type { Backend } from "../backend.ts";
import type { DeviceTraining } from "../device-training.ts";
import { createHandles, rowsOnHost } from "../host.ts";
import { additiveOnDevice } from "./additive.ts";
import { denseOnDevice } from "./dense.ts";
import { bindingLimit, deviceAccess, type Placed } from "./device-memory.ts";
import { createEngine } from "./engine.ts";
import type { GpuDevice } from "./gpu.ts";
import { lstmOnDevice } from "./lstm/lstm.ts";
import { GRAPHICS, type LstmEffort, SOFTWARE } from "./lstm/lstm-plan.ts";
import { createTapes } from "./tapes.ts";
import { openDeviceLoss } from "./training/device-loss.ts";
import { openDeviceOptimiser } from "./training/device-optimiser.ts";

export interface WebGpuParts {
  /** The backend's own from now on: closing the backend ends it. */
  readonly device: GpuDevice;
  /** What to call the device. */
  readonly adapter: string;
  /** Whether a program plays the device on the processor. */
  readonly software: boolean;
  /** Neighbouring threads that can pass values to each other; none where it is not given. */
  readonly lanes?: number;
  /** Bytes that activations may take; beyond them they are computed again. */
  readonly tapeLimit: number;
  /** How the LSTM is laid out, where it is not what is best for such a device. */
  readonly effort?: LstmEffort | undefined;
}

export interface WebGpuBackend extends Backend {
  readonly name: "webgpu";
  /** The device's name. */
  readonly adapter: string;
  /** Whether a program plays the device on the processor: slower than the wasm backend. */
  readonly software: boolean;
}

/** A group's statistics must fit into workgroup memory. */
const MOST_BINS = 1024;
/** With several causes, what a row and cause adds to its groups: events of ten blocks of time, and their variances. */
const BLOCK_SUMS = 20;

export function createWebGpuBackend(parts: WebGpuParts): WebGpuBackend {
  const { device, adapter, software, lanes = 0, tapeLimit } = parts;
  const effort = parts.effort ?? (software ? SOFTWARE : GRAPHICS);
  const engine = createEngine(device);
  const handles = createHandles<Placed>();
  const tapes = createTapes(engine, tapeLimit);
  const { releaseArray, ...access } = deviceAccess(engine, handles);
  const limit = bindingLimit(engine);
  const memory = { ...access, release: releaseArray };
  const training: DeviceTraining = {
    // Logits, their slopes, the curves and what rows add to groups are each seen by a kernel whole, and so is x.
    fits: ({ N, D, T, K }) =>
      N * Math.max(K * (K > 1 ? Math.max(T, BLOCK_SUMS) : T), D) * 4 <= limit && T <= MOST_BINS,
    openLoss: (settings) => openDeviceLoss(engine, handles, memory, settings),
    openOptimiser: (parameters, settings) =>
      openDeviceOptimiser(engine, handles, memory, parameters, settings),
  };
  return {
    name: "webgpu",
    precision: "f32",
    threads: 1,
    adapter,
    software,
    // An array of logits is seen by a kernel whole.
    rowsAtOnce: (pass) =>
      Math.max(1, Math.min(rowsOnHost(pass), Math.floor(limit / (4 * pass.T * (pass.K ?? 1))))),
    training,
    ...access,
    createTape: () => tapes.create(),
    release(memory) {
      if (memory.kind === "tape") tapes.release(memory);
      else releaseArray(memory);
    },
    ...lstmOnDevice(engine, handles, tapes, { lanes, effort }),
    ...denseOnDevice(engine, handles),
    ...additiveOnDevice(engine, handles),
    close: async () => engine.close(),
  };
}
