/**
 * The wasm backend: the operations of backend.ts in float32 SIMD on threads that share one memory. This file depends on
 * neither Node nor the DOM: it is given a compiled module and a way to start a thread. jobs.ts decides what the kernels
 * are told, memory.ts where they work and what is kept of a forward pass.
 */
import type { Backend, DeviceArray } from "../backend.ts";
import { createHandles, hostAccess, refuseEmptyTape, rowsOnHost } from "../host.ts";
import { checkSizes } from "../shapes.ts";
import { additiveInKernels } from "./additive.ts";
import { createJobs } from "./jobs.ts";
import { JOB_TAPE, JOB_TAPED_TILES, JOB_WORDS } from "./kernels/job.ts";
import {
  createSharedMemory,
  createTapes,
  createWorkAreas,
  type MemoryArea,
  type TapePlace,
} from "./memory.ts";
import { createOwnJob } from "./own-job.ts";
import { createRowKernels } from "./rows.ts";
import { type JobWords, type StartThread, startTeam } from "./team.ts";
import type { KernelModule } from "./worker.ts";
import { instantiateKernels } from "./worker.ts";

export interface WasmParts {
  readonly module: KernelModule;
  readonly simd: "plain" | "relaxed";
  readonly threads: number;
  /** Bytes the shared memory may grow to; at most 4 GiB are used. */
  readonly memoryLimit: number;
  readonly startThread: StartThread;
}

export interface WasmBackend extends Backend {
  readonly name: "wasm";
  /** Relaxed SIMD rounds once for a multiplication and an addition together, plain SIMD twice. */
  readonly simd: "plain" | "relaxed";
}

/** Opens the backend; resolves when every thread is ready. */
export async function createWasmBackend(parts: WasmParts): Promise<WasmBackend> {
  const { module, simd, threads, memoryLimit } = parts;
  const shared = createSharedMemory(memoryLimit);
  const kernels = instantiateKernels(module, shared.memory);
  const handles = createHandles<Float32Array>();
  const areaOf = new WeakMap<DeviceArray, MemoryArea>();
  const tapes = createTapes(shared, memoryLimit);
  const areas = createWorkAreas(shared, tapes, memoryLimit);
  const jobs = createJobs(kernels, handles, areas, threads);
  const job = areas.take(JOB_WORDS * 4, false).address;
  const team = await startTeam(module, shared.memory, job, threads, parts.startThread);
  const { memory } = shared;
  const ownJob = createOwnJob(memory, areas);

  return {
    name: "wasm",
    precision: "f32",
    threads,
    simd,
    rowsAtOnce: rowsOnHost,

    allocate(length) {
      checkSizes({ length });
      const area = areas.take(length * 4, !team.isBusy());
      const view = shared.floats(area, length);
      view.fill(0);
      const array = handles.add(view);
      areaOf.set(array, area);
      return array;
    },
    createTape: () => tapes.create(),
    release(memory) {
      if (memory.kind === "tape") return tapes.release(memory);
      handles.remove(memory);
      shared.giveBack(areaOf.get(memory) as MemoryArea);
    },
    ...hostAccess(handles),
    ...additiveInKernels({ kernels, memory, handles, ownJob }),
    rowKernels: createRowKernels({ kernels, memory, handles, areas, team, threads, job, ownJob }),

    async lstmForward(shape, weights, x, N, logits, tape) {
      team.check("lstmForward");
      const words = jobs.lstm(shape, weights, x, N, logits, null);
      if (tape === null) {
        if (N > 0) await team.run("lstmForward", words);
        return;
      }
      const place = tapes.prepare(tape, N, kernels.lstmTapeBytes(shape.H, shape.T) >>> 0);
      if (N > 0) await team.run("lstmForward", { ...words, ...tapeWords(place) });
      tapes.seal(tape, { shape, weights, x, N });
    },

    async lstmBackward(tape, dLogits, gradient) {
      team.check("lstmBackward");
      const pass = tapes.read(tape);
      if (pass === null) throw refuseEmptyTape();
      const { shape, weights, x, N } = pass;
      const words = jobs.lstm(shape, weights, x, N, dLogits, gradient);
      if (N > 0) await team.run("lstmBackward", { ...words, ...tapeWords(tapes.place(tape)) });
    },

    async denseForward(shape, weights, x, N, out) {
      team.check("denseForward");
      const words = jobs.dense(shape, weights, x, N, out);
      if (N > 0) await team.run("denseForward", words);
    },

    async denseBackward(shape, weights, x, N, out, dOut, gradient, dX) {
      team.check("denseBackward");
      const words = {
        ...jobs.dense(shape, weights, x, N, dOut),
        ...jobs.denseGradient(shape, N, out, gradient, dX),
      };
      if (N > 0) await team.run("denseBackward", words);
    },

    close: () => team.close(),
  };
}

/** Where a tape's activations lie, if it has any. */
function tapeWords(place: TapePlace | null): JobWords {
  return place === null ? {} : { [JOB_TAPE]: place.address, [JOB_TAPED_TILES]: place.tiles };
}
