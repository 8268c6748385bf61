/**
 * The wasm backend: the operations of backend.ts in float32 SIMD on threads that share one memory. This file knows no Node and no
 * DOM: it is given a compiled module and a way to start a thread. It owns what is decided outside the kernels: how rows
 * are cut into slots (by the shape alone, so that any number of threads gives the same bytes), and where work areas lie.
 * Tapes are kept while half of the memory limit holds them; tiles beyond it are run again, with the same result (tapes.ts).
 */
import { BackendError } from "../../core/errors.ts";
import type { Backend, DeviceArray } from "../backend.ts";
import { additiveOnHost } from "../host/additive.ts";
import { createHandles, hostAccess, refuseEmptyTape, rowsOnHost } from "../host/memory.ts";
import {
  type DenseShape,
  type DenseWeights,
  denseWeightShapes,
  type LstmShape,
  type LstmWeights,
  lstmWeightShapes,
  type WeightShapes,
  type Weights,
} from "../shapes.ts";
import {
  JOB_ACTIVATED,
  JOB_D,
  JOB_D_X,
  JOB_GRADIENTS,
  JOB_H,
  JOB_N,
  JOB_OUT,
  JOB_SCRATCH,
  JOB_SCRATCH_BYTES,
  JOB_SLOT_BYTES,
  JOB_SLOT_SUMS,
  JOB_SLOTS,
  JOB_T,
  JOB_TANH,
  JOB_TAPE,
  JOB_TAPED_TILES,
  JOB_WEIGHTS,
  JOB_WORDS,
  JOB_X,
  TILE_ROWS,
} from "./kernels/job.ts";
import { createSharedMemory, type MemoryArea } from "./memory.ts";
import { buildTanhTable } from "./tanh-table.ts";
import { createTapes, type TapePlace } from "./tapes.ts";
import { type JobWords, type StartThread, startTeam } from "./team.ts";
import type { KernelModule } from "./web-assembly.ts";
import { instantiateKernels } from "./worker.ts";

/** Slots of one job: many enough for even load, few enough that adding up their sums costs nothing. */
const MOST_SLOTS = 48;
/** Slots become fewer rather than take more memory for their sums than this: 64 MiB. */
const MOST_SLOT_BYTES = 67108864;
/** A slot of a dense layer has at least this many rows. */
const DENSE_SLOT_ROWS = 64;
/** More than a thread's scratch takes per unit and bin, and per pair of units: keeps 32-bit sizes from running over. */
const SCRATCH_BOUND = 512;

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
  /** Relaxed SIMD rounds a multiplication and an addition once, plain SIMD twice. */
  readonly simd: "plain" | "relaxed";
}

function checkSizes(sizes: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(sizes)) {
    const least = name === "D" || name === "N" || name === "length" ? 0 : 1;
    if (!(Number.isInteger(value) && value >= least)) {
      throw new BackendError(`size is not a whole number of at least ${least}: ${name} = ${value}`, {
        code: "size.invalid",
      });
    }
  }
}

/** By the shape alone, never by the number of threads: slots decide in which order sums are added up. */
function countSlots(pieces: number, slotBytes: number): number {
  return Math.max(1, Math.min(MOST_SLOTS, pieces, Math.floor(MOST_SLOT_BYTES / slotBytes)));
}

/** Opens the backend; resolves when every thread is ready. */
export async function createWasmBackend(parts: WasmParts): Promise<WasmBackend> {
  const { module, simd, threads, memoryLimit } = parts;
  const shared = createSharedMemory(memoryLimit);
  const kernels = instantiateKernels(module, shared.memory);
  const areas: Record<"scratch" | "slots" | "tanh", MemoryArea | null> = {
    scratch: null,
    slots: null,
    tanh: null,
  };
  const handles = createHandles<Float32Array>();
  const areaOf = new WeakMap<DeviceArray, MemoryArea>();
  const tapes = createTapes(shared, memoryLimit);
  const job = takeOrFail(JOB_WORDS * 4, false);
  const team = await startTeam(module, shared.memory, job.address, threads, parts.startThread);

  /** Tapes are given up before anything is refused: what was on them can be computed again. */
  function takeOrFail(bytes: number, tapesAreFree: boolean): MemoryArea {
    let found = shared.take(bytes);
    if (found === null && tapesAreFree && tapes.forget()) found = shared.take(bytes);
    if (found !== null) return found;
    throw new BackendError(`out of memory: ${bytes} bytes more than the limit of ${memoryLimit} allows`, {
      code: "memory.exhausted",
      hint: "raise memoryLimit (at most 4 GiB), or train on fewer rows or bins at a time",
    });
  }

  /** A work area of at least so many bytes; what it held is lost when it has to be larger than before. */
  function placeArea(kind: "scratch" | "slots", bytes: number): number {
    let area = areas[kind];
    if (area === null || area.bytes < bytes) {
      if (area !== null) shared.giveBack(area);
      areas[kind] = null;
      area = takeOrFail(bytes, true);
      areas[kind] = area;
    }
    return area.address;
  }

  function placeTanhTable(): number {
    if (areas.tanh === null) {
      const table = buildTanhTable();
      areas.tanh = takeOrFail(table.byteLength, true);
      new Float64Array(shared.memory.buffer, areas.tanh.address, table.length).set(table);
    }
    return areas.tanh.address;
  }

  const addressOf = (name: string, array: DeviceArray, length: number) =>
    handles.find(name, array, length).byteOffset;

  /** The words of a set of weights, from `first` on, in the order of their shapes. */
  function weightWords<Name extends string>(
    name: string,
    weights: Weights<Name>,
    shapes: WeightShapes<Name>,
    first: number,
  ): JobWords {
    const views = Object.values<Float32Array>(handles.findWeights(name, weights, shapes));
    return Object.fromEntries(views.map((view, k) => [first + k, view.byteOffset]));
  }

  /** What both LSTM kernels are told; checks everything before any work area is moved. */
  function lstmJob(
    shape: LstmShape,
    weights: LstmWeights,
    x: DeviceArray,
    N: number,
    out: DeviceArray,
    gradient: LstmWeights | null,
  ): JobWords {
    const { D, H, T } = shape;
    checkSizes({ D, H, T, N });
    const shapes = lstmWeightShapes(shape);
    const slotBytes = kernels.lstmSlotBytes(D, H);
    const slots = countSlots(Math.ceil(N / TILE_ROWS), slotBytes);
    const words: JobWords = {
      [JOB_N]: N,
      [JOB_D]: D,
      [JOB_H]: H,
      [JOB_T]: T,
      [JOB_X]: addressOf("x", x, N * D),
      [JOB_OUT]: addressOf(gradient === null ? "logits" : "dLogits", out, N * T),
      [JOB_SLOTS]: slots,
      ...weightWords("weights", weights, shapes, JOB_WEIGHTS),
      ...(gradient && weightWords("gradient", gradient, shapes, JOB_GRADIENTS)),
    };
    if (gradient !== null) {
      words[JOB_SLOT_BYTES] = slotBytes;
      words[JOB_SLOT_SUMS] = placeArea("slots", slots * slotBytes);
    }
    const bound = (H + 1) * (T + H + D + 1) * SCRATCH_BOUND;
    const exact = bound < 2 ** 32 ? kernels.lstmScratchBytes(D, H, T, gradient !== null) >>> 0 : bound;
    words[JOB_SCRATCH] = placeArea("scratch", threads * exact);
    words[JOB_SCRATCH_BYTES] = exact;
    return words;
  }

  function denseJob(
    shape: DenseShape,
    weights: DenseWeights,
    x: DeviceArray,
    N: number,
    out: DeviceArray,
  ): JobWords {
    const { inputs, outputs, activation } = shape;
    checkSizes({ inputs, outputs, N });
    const scratchBytes = kernels.denseScratchBytes(inputs, outputs) >>> 0;
    const slotBytes = kernels.denseSlotBytes(inputs, outputs) >>> 0;
    const slots = countSlots(Math.ceil(N / DENSE_SLOT_ROWS), slotBytes);
    return {
      [JOB_N]: N,
      [JOB_D]: inputs,
      [JOB_H]: outputs,
      [JOB_X]: addressOf("x", x, N * inputs),
      [JOB_OUT]: addressOf("out", out, N * outputs),
      ...weightWords("weights", weights, denseWeightShapes(shape), JOB_WEIGHTS),
      [JOB_TANH]: activation === "tanh" ? placeTanhTable() : 0,
      [JOB_SLOTS]: slots,
      [JOB_SLOT_BYTES]: slotBytes,
      [JOB_SLOT_SUMS]: placeArea("slots", slots * slotBytes),
      [JOB_SCRATCH]: placeArea("scratch", threads * scratchBytes),
      [JOB_SCRATCH_BYTES]: scratchBytes,
    };
  }

  return {
    name: "wasm",
    precision: "f32",
    threads,
    simd,
    rowsAtOnce: rowsOnHost,

    allocate(length) {
      checkSizes({ length });
      const area = takeOrFail(length * 4, !team.isBusy());
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
    ...additiveOnHost(handles),

    async lstmForward(shape, weights, x, N, logits, tape) {
      team.check("lstmForward");
      const words = lstmJob(shape, weights, x, N, logits, null);
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
      const words = lstmJob(shape, weights, x, N, dLogits, gradient);
      if (N > 0) await team.run("lstmBackward", { ...words, ...tapeWords(tapes.place(tape)) });
    },

    async denseForward(shape, weights, x, N, out) {
      team.check("denseForward");
      const words = denseJob(shape, weights, x, N, out);
      if (N > 0) await team.run("denseForward", words);
    },

    async denseBackward(shape, weights, x, N, out, dOut, gradient, dX) {
      team.check("denseBackward");
      const words = {
        ...denseJob(shape, weights, x, N, dOut),
        ...weightWords("gradient", gradient, denseWeightShapes(shape), JOB_GRADIENTS),
        [JOB_ACTIVATED]: addressOf("out", out, N * shape.outputs),
        [JOB_D_X]: dX === null ? 0 : addressOf("dX", dX, N * shape.inputs),
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
