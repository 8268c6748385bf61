/**
 * The wasm backend: the operations of backend.ts in float32 SIMD on threads that share one memory. This file knows no Node and no
 * DOM: it is given a compiled module and a way to start a thread. It owns what is decided outside the kernels: how rows
 * are cut into slots (by the shape alone, so that any number of threads gives the same bytes), where work areas lie, and
 * whether the activations of a forward pass are kept for the backward pass.
 *
 * They are kept (the tape) when the same array x was differentiated before and while half of the memory limit holds them; tiles
 * beyond it are run again, with the same result.
 */
import { BackendError } from "../../core/errors.ts";
import type { Backend, DenseWeights, Floats, LstmShape, LstmWeights } from "../backend.ts";
import {
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
  JOB_TAPE,
  JOB_TAPED_TILES,
  JOB_WEIGHTS,
  JOB_WORDS,
  JOB_X,
  TILE_ROWS,
} from "./kernels/job.ts";
import { createSharedMemory, type MemoryArea } from "./memory.ts";
import type { Tape, TapeKey } from "./tape.ts";
import { describeTape, isSamePlace, isTapeOf, lengthsOfWeights, listWeights } from "./tape.ts";
import { type JobWords, type StartThread, startTeam } from "./team.ts";
import type { KernelModule } from "./web-assembly.ts";
import { instantiateKernels } from "./worker.ts";

/** Slots of one job: many enough for even load, few enough that adding up their sums costs nothing. */
const MOST_SLOTS = 48;
/** Slots become fewer rather than take more memory for their sums than this: 64 MiB. */
const MOST_SLOT_BYTES = 67108864;
/** A slot of a dense layer has at least this many rows. */
const DENSE_SLOT_ROWS = 64;
/** The share of the memory limit that a tape may take. */
const TAPE_SHARE = 0.5;
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
  allocate(length: number): Float32Array;
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
  const areas: Record<"scratch" | "slots" | "tape", MemoryArea | null> = {
    scratch: null,
    slots: null,
    tape: null,
  };
  /** What was differentiated last: a forward pass over it keeps its activations. */
  let wanted: TapeKey | null = null;
  let tape: Tape | null = null;
  const handedOut = new WeakMap<Floats, MemoryArea>();
  const job = takeOrFail(JOB_WORDS * 4, false);
  const team = await startTeam(module, shared.memory, job.address, threads, parts.startThread);

  /** The tape is given up before anything is refused: it can be made again. */
  function takeOrFail(bytes: number, tapeIsFree: boolean): MemoryArea {
    let found = shared.take(bytes);
    if (found === null && tapeIsFree && areas.tape !== null) {
      shared.giveBack(areas.tape);
      areas.tape = null;
      tape = null;
      found = shared.take(bytes);
    }
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

  function placeTape(bytes: number): MemoryArea | null {
    const had = areas.tape;
    if (had !== null && had.bytes >= bytes) return had;
    if (had !== null) shared.giveBack(had);
    areas.tape = shared.take(bytes);
    return areas.tape;
  }

  function addressOf(name: string, array: Floats, length: number): number {
    if (!(array instanceof Float32Array) || !shared.holds(array)) {
      throw new BackendError(`array not allocated by this backend: ${name}`, {
        code: "array.foreign",
        hint: "arrays given to a backend's operations come from its allocate()",
      });
    }
    if (array.length < length) {
      throw new BackendError(`array too short: ${name} has ${array.length} values, needs ${length}`, {
        code: "array.length",
      });
    }
    return array.byteOffset;
  }

  /** What both LSTM kernels are told; checks everything before any work area is moved. */
  function lstmJob(
    shape: LstmShape,
    weights: LstmWeights,
    x: Floats,
    N: number,
    out: Floats,
    gradient: LstmWeights | null,
  ): JobWords {
    const { D, H, T } = shape;
    checkSizes({ D, H, T, N });
    const lengths = lengthsOfWeights(shape);
    const words: JobWords = { [JOB_N]: N, [JOB_D]: D, [JOB_H]: H, [JOB_T]: T };
    words[JOB_X] = addressOf("x", x, N * D);
    words[JOB_OUT] = addressOf(gradient === null ? "logits" : "dLogits", out, N * T);
    listWeights(weights).forEach((array, k) => {
      words[JOB_WEIGHTS + k] = addressOf(`weights[${k}]`, array, lengths[k]);
    });
    const slotBytes = kernels.lstmSlotBytes(D, H);
    const slots = countSlots(Math.ceil(N / TILE_ROWS), slotBytes);
    words[JOB_SLOTS] = slots;
    if (gradient !== null) {
      listWeights(gradient).forEach((array, k) => {
        words[JOB_GRADIENTS + k] = addressOf(`gradient[${k}]`, array, lengths[k]);
      });
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
    weights: DenseWeights,
    inputs: number,
    outputs: number,
    x: Floats,
    N: number,
    out: Floats,
  ): JobWords {
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
      [JOB_WEIGHTS]: addressOf("weight", weights.weight, inputs * outputs),
      [JOB_WEIGHTS + 1]: addressOf("bias", weights.bias, outputs),
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

    allocate(length) {
      checkSizes({ length });
      const area = takeOrFail(length * 4, !team.isBusy());
      const array = shared.floats(area, length);
      array.fill(0);
      handedOut.set(array, area);
      return array;
    },

    release(array) {
      const area = handedOut.get(array);
      if (area === undefined) {
        throw new BackendError("array not allocated by this backend, or released before", {
          code: "array.foreign",
          hint: "release() takes what allocate() gave, once",
        });
      }
      handedOut.delete(array);
      shared.giveBack(area);
    },

    async lstmForward(shape, weights, x, N, logits) {
      team.check("lstmForward");
      const words = lstmJob(shape, weights, x, N, logits, null);
      if (N === 0) return;
      const key: TapeKey = { shape, N, address: x.byteOffset };
      if (!isSamePlace(wanted, key)) return team.run("lstmForward", words);
      tape = null;
      const tileBytes = kernels.lstmTapeBytes(shape.H, shape.T) >>> 0;
      let tiles = Math.min(Math.ceil(N / TILE_ROWS), Math.floor((memoryLimit * TAPE_SHARE) / tileBytes));
      let place = tiles === 0 ? null : placeTape(tiles * tileBytes);
      // What the arrays of a long table leave may be less than the share.
      while (place === null && tiles > 1) {
        tiles >>= 1;
        place = placeTape(tiles * tileBytes);
      }
      if (place === null) return team.run("lstmForward", words);
      const made = describeTape(key, tiles, weights, x);
      await team.run("lstmForward", { ...words, [JOB_TAPE]: place.address, [JOB_TAPED_TILES]: tiles });
      tape = made;
    },

    async lstmBackward(shape, weights, x, N, dLogits, gradient) {
      team.check("lstmBackward");
      const words = lstmJob(shape, weights, x, N, dLogits, gradient);
      if (N === 0) return;
      wanted = { shape, N, address: x.byteOffset };
      if (areas.tape !== null && isTapeOf(tape, wanted, weights, x)) {
        words[JOB_TAPE] = areas.tape.address;
        words[JOB_TAPED_TILES] = tape.tiles;
      }
      await team.run("lstmBackward", words);
    },

    async denseForward(weights, inputs, outputs, x, N, out) {
      team.check("denseForward");
      const words = denseJob(weights, inputs, outputs, x, N, out);
      if (N > 0) await team.run("denseForward", words);
    },

    async denseBackward(weights, inputs, outputs, x, N, dOut, gradient, dX) {
      team.check("denseBackward");
      const words = denseJob(weights, inputs, outputs, x, N, dOut);
      words[JOB_GRADIENTS] = addressOf("gradient.weight", gradient.weight, inputs * outputs);
      words[JOB_GRADIENTS + 1] = addressOf("gradient.bias", gradient.bias, outputs);
      if (dX !== null) words[JOB_D_X] = addressOf("dX", dX, N * inputs);
      if (N > 0) await team.run("denseBackward", words);
    },

    close: () => team.close(),
  };
}
