/**
 * The wasm backend: the operations of backend.ts in float32 SIMD on threads that share one memory. This file knows no Node and no
 * DOM: it is given a compiled module and a way to start a thread. It owns what is decided outside the kernels: how rows
 * are cut into slots (by the shape alone, so that any number of threads gives the same bytes), where work areas lie, and
 * whether the activations of a forward pass are kept for the backward pass.
 *
 * They are kept (the tape) when the same x was differentiated before and while half of the memory limit holds them; tiles
 * beyond it are run again. The tape is used only if x and the weights are still what they were, compared value by value.
 */

import { BackendError } from "../core/errors.ts";
import type { Backend, DenseWeights, Floats, LstmShape, LstmWeights } from "./backend.ts";
import {
  JOB_D,
  JOB_D_X,
  JOB_GENERATION,
  JOB_GRADIENTS,
  JOB_H,
  JOB_KERNEL,
  JOB_N,
  JOB_NEXT_SLOT,
  JOB_OUT,
  JOB_QUIT,
  JOB_RUNNING,
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
import { createSharedMemory, type MemoryArea } from "./wasm-memory.ts";
import {
  type FromKernelThread,
  instantiateKernels,
  KERNELS,
  type KernelName,
  type StartKernels,
} from "./wasm-worker.ts";
import type { KernelModule } from "./web-assembly.ts";

/** Slots of one job: many enough for even load, few enough that adding up their sums costs nothing. */
const MOST_SLOTS = 48;
/** Slots become fewer rather than take more memory for their sums than this: 64 MiB. */
const MOST_SLOT_BYTES = 67108864;
/** A slot of a dense layer has at least this many rows. */
const DENSE_SLOT_ROWS = 64;
/** The share of the memory limit that a tape may take. */
const TAPE_SHARE = 0.5;

export interface KernelThread {
  start(message: StartKernels): void;
  /** Between hold and release the thread keeps the process alive. */
  hold(): void;
  release(): void;
  end(): Promise<void>;
}

export interface WasmParts {
  readonly module: KernelModule;
  readonly simd: "plain" | "relaxed";
  readonly threads: number;
  /** Bytes the shared memory may grow to; at most 4 GiB are used. */
  readonly memoryLimit: number;
  startThread(listen: (message: FromKernelThread) => void): KernelThread;
}

export interface WasmBackend extends Backend {
  readonly name: "wasm";
  /** Relaxed SIMD rounds a multiplication and an addition once, plain SIMD twice. */
  readonly simd: "plain" | "relaxed";
  allocate(length: number): Float32Array;
}

/** What a tape was made from. */
interface TapeKey {
  readonly shape: LstmShape;
  readonly N: number;
  readonly address: number; // of x
}

interface Tape extends TapeKey {
  readonly tiles: number;
  readonly made: readonly Float32Array[]; // copies of x and the weights
}

/** A job's words by their number; what is not named is zero. */
type JobWords = Readonly<Record<number, number>>;

function sameKey(a: TapeKey | null, b: TapeKey): boolean {
  return (
    a !== null &&
    a.N === b.N &&
    a.address === b.address &&
    a.shape.D === b.shape.D &&
    a.shape.H === b.shape.H &&
    a.shape.T === b.shape.T
  );
}

function sameValues(a: Floats, b: Floats, length: number): boolean {
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return false;
  return true;
}

const asList = (w: LstmWeights): readonly Floats[] => [
  w.input,
  w.recurrent,
  w.inputBias,
  w.recurrentBias,
  w.output,
  w.outputBias,
];

function lstmLengths({ D, H }: LstmShape): readonly number[] {
  return [4 * H * (D + 1), 4 * H * H, 4 * H, 4 * H, H, 1];
}

/** Opens the backend; resolves when every thread is ready. */
export async function createWasmBackend(parts: WasmParts): Promise<WasmBackend> {
  const { module, simd, threads, memoryLimit } = parts;
  const shared = createSharedMemory(memoryLimit);
  const sizes = instantiateKernels(module, shared.memory);
  const job = takeOrFail(JOB_WORDS * 4);
  const words = new Int32Array(shared.memory.buffer, job.address, JOB_WORDS);
  words.fill(0);
  const areas: Record<"scratch" | "slots" | "tape", MemoryArea | null> = {
    scratch: null,
    slots: null,
    tape: null,
  };
  let state: "idle" | "busy" | "closed" | "failed" = "idle";
  let settle: (failure: BackendError | null) => void = () => {};
  let wanted: TapeKey | null = null;
  let tape: Tape | null = null;

  function takeOrFail(bytes: number): MemoryArea {
    const area = shared.take(bytes);
    if (area !== null) return area;
    throw new BackendError(`out of memory: ${bytes} bytes more than the limit of ${memoryLimit} allows`, {
      code: "memory.exhausted",
      hint: "raise memoryLimit (at most 4 GiB), or train on fewer rows or bins at a time",
    });
  }

  /** A work area of at least so many bytes; what it held is lost when it has to be larger than before. */
  function area(kind: "scratch" | "slots" | "tape", bytes: number): MemoryArea | null {
    const had = areas[kind];
    if (had !== null && had.bytes >= bytes) return had;
    if (had !== null) shared.giveBack(had);
    areas[kind] = shared.take(bytes);
    return areas[kind];
  }

  function needArea(kind: "scratch" | "slots", bytes: number): MemoryArea {
    return area(kind, bytes) ?? takeOrFail(bytes);
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

  function checkSizes(sizesOf: Readonly<Record<string, number>>): void {
    for (const [name, value] of Object.entries(sizesOf)) {
      const least = name === "D" || name === "N" ? 0 : 1;
      if (!(Number.isInteger(value) && value >= least)) {
        throw new BackendError(`size is not a whole number of at least ${least}: ${name} = ${value}`, {
          code: "size.invalid",
        });
      }
    }
  }

  function run(kernel: KernelName, jobWords: JobWords): Promise<void> {
    if (state !== "idle") {
      const why = {
        busy: "another operation is still running",
        closed: "it was closed",
        failed: "it failed before",
      };
      throw new BackendError(`the wasm backend cannot run ${kernel}: ${why[state]}`, {
        code: `backend.${state}`,
      });
    }
    words.fill(0, JOB_NEXT_SLOT);
    for (const [place, value] of Object.entries(jobWords)) words[Number(place)] = value;
    words[JOB_KERNEL] = KERNELS.findIndex((entry) => entry.run === kernel);
    words[JOB_RUNNING] = threads;
    state = "busy";
    for (const thread of team) thread.hold();
    return new Promise((resolve, reject) => {
      settle = (failure) => {
        for (const thread of team) thread.release();
        state = failure === null ? "idle" : "failed";
        if (failure === null) resolve();
        else reject(failure);
      };
      Atomics.add(words, JOB_GENERATION, 1);
      Atomics.notify(words, JOB_GENERATION);
    });
  }

  function failed(what: string): void {
    if (state === "closed") return;
    const failure = new BackendError(`a thread of the wasm backend failed: ${what}`, {
      code: "worker.failed",
    });
    if (state === "busy") settle(failure);
    else state = "failed";
  }

  const team: KernelThread[] = [];
  await new Promise<void>((resolve, reject) => {
    let ready = 0;
    for (let thread = 0; thread < threads; thread++) {
      const handle = parts.startThread((message) => {
        if (message.kind === "done") settle(null);
        else if (message.kind === "failed") {
          reject(new BackendError(`a wasm thread did not start: ${message.what}`, { code: "worker.failed" }));
          failed(message.what);
        } else if (++ready === threads) resolve();
      });
      team.push(handle);
      handle.start({ kind: "start", module, memory: shared.memory, job: job.address, thread });
    }
  });
  for (const thread of team) thread.release();

  function slotsOf(pieces: number, slotBytes: number): number {
    return Math.max(1, Math.min(MOST_SLOTS, pieces, Math.floor(MOST_SLOT_BYTES / slotBytes)));
  }

  function lstmJob(
    shape: LstmShape,
    weights: LstmWeights,
    x: Floats,
    N: number,
    out: Floats,
    backward: boolean,
  ) {
    const { D, H, T } = shape;
    checkSizes({ D, H, T, N });
    const lengths = lstmLengths(shape);
    const scratchBytes = sizes.lstmScratchBytes(D, H, T, backward) >>> 0;
    const slots = slotsOf(Math.ceil(N / TILE_ROWS), sizes.lstmSlotBytes(D, H));
    const jobWords: Record<number, number> = {
      [JOB_N]: N,
      [JOB_D]: D,
      [JOB_H]: H,
      [JOB_T]: T,
      [JOB_X]: addressOf("x", x, N * D),
      [JOB_OUT]: addressOf(backward ? "dLogits" : "logits", out, N * T),
      [JOB_SLOTS]: slots,
      [JOB_SCRATCH]: needArea("scratch", threads * scratchBytes).address,
      [JOB_SCRATCH_BYTES]: scratchBytes,
    };
    asList(weights).forEach((array, k) => {
      jobWords[JOB_WEIGHTS + k] = addressOf(`weights[${k}]`, array, lengths[k]);
    });
    const key: TapeKey = { shape, N, address: x.byteOffset };
    return { jobWords, key, slots };
  }

  return {
    name: "wasm",
    precision: "f32",
    threads,
    simd,

    allocate(length) {
      checkSizes({ N: length });
      const array = shared.floats(takeOrFail(length * 4), length);
      array.fill(0);
      return array;
    },

    async lstmForward(shape, weights, x, N, logits) {
      const { jobWords, key } = lstmJob(shape, weights, x, N, logits, false);
      if (N === 0) return;
      if (!sameKey(wanted, key)) return run("lstmForward", jobWords);
      tape = null;
      const tileBytes = sizes.lstmTapeBytes(shape.H, shape.T) >>> 0;
      const tiles = Math.min(Math.ceil(N / TILE_ROWS), Math.floor((memoryLimit * TAPE_SHARE) / tileBytes));
      const place = tiles === 0 ? null : area("tape", tiles * tileBytes);
      if (place === null) return run("lstmForward", jobWords);
      jobWords[JOB_TAPE] = place.address;
      jobWords[JOB_TAPED_TILES] = tiles;
      const lengths = lstmLengths(shape);
      const made = [
        Float32Array.from(x.subarray(0, N * shape.D)),
        ...asList(weights).map((array, k) => Float32Array.from(array.subarray(0, lengths[k]))),
      ];
      await run("lstmForward", jobWords);
      tape = { ...key, tiles, made };
    },

    async lstmBackward(shape, weights, x, N, dLogits, gradient) {
      const { jobWords, key, slots } = lstmJob(shape, weights, x, N, dLogits, true);
      const lengths = lstmLengths(shape);
      asList(gradient).forEach((array, k) => {
        jobWords[JOB_GRADIENTS + k] = addressOf(`gradient[${k}]`, array, lengths[k]);
      });
      if (N === 0) return;
      wanted = key;
      const slotBytes = sizes.lstmSlotBytes(shape.D, shape.H);
      jobWords[JOB_SLOT_SUMS] = needArea("slots", slots * slotBytes).address;
      jobWords[JOB_SLOT_BYTES] = slotBytes;
      const place = areas.tape;
      if (tape !== null && place !== null && sameKey(tape, key)) {
        const now = [x, ...asList(weights)];
        if (tape.made.every((array, k) => sameValues(array, now[k], array.length))) {
          jobWords[JOB_TAPE] = place.address;
          jobWords[JOB_TAPED_TILES] = tape.tiles;
        }
      }
      await run("lstmBackward", jobWords);
    },

    async denseForward(weights, inputs, outputs, x, N, out) {
      const jobWords = denseJob(weights, inputs, outputs, x, N, out);
      if (N === 0) return;
      await run("denseForward", jobWords);
    },

    async denseBackward(weights, inputs, outputs, x, N, dOut, gradient, dX) {
      const jobWords = denseJob(weights, inputs, outputs, x, N, dOut);
      jobWords[JOB_GRADIENTS] = addressOf("gradient.weight", gradient.weight, inputs * outputs);
      jobWords[JOB_GRADIENTS + 1] = addressOf("gradient.bias", gradient.bias, outputs);
      if (dX !== null) jobWords[JOB_D_X] = addressOf("dX", dX, N * inputs);
      if (N === 0) return;
      await run("denseBackward", jobWords);
    },

    async close() {
      if (state === "closed") return;
      state = "closed";
      words[JOB_KERNEL] = JOB_QUIT;
      Atomics.add(words, JOB_GENERATION, 1);
      Atomics.notify(words, JOB_GENERATION);
      await Promise.all(team.map((thread) => thread.end()));
    },
  };

  function denseJob(
    weights: DenseWeights,
    inputs: number,
    outputs: number,
    x: Floats,
    N: number,
    out: Floats,
  ): Record<number, number> {
    checkSizes({ inputs, outputs, N });
    const scratchBytes = sizes.denseScratchBytes(inputs, outputs);
    const slotBytes = sizes.denseSlotBytes(inputs, outputs);
    const slots = slotsOf(Math.ceil(N / DENSE_SLOT_ROWS), slotBytes);
    return {
      [JOB_N]: N,
      [JOB_D]: inputs,
      [JOB_H]: outputs,
      [JOB_X]: addressOf("x", x, N * inputs),
      [JOB_OUT]: addressOf("out", out, N * outputs),
      [JOB_SLOTS]: slots,
      [JOB_SLOT_SUMS]: needArea("slots", slots * slotBytes).address,
      [JOB_SLOT_BYTES]: slotBytes,
      [JOB_SCRATCH]: needArea("scratch", threads * scratchBytes).address,
      [JOB_SCRATCH_BYTES]: scratchBytes,
      [JOB_WEIGHTS]: addressOf("weight", weights.weight, inputs * outputs),
      [JOB_WEIGHTS + 1]: addressOf("bias", weights.bias, outputs),
    };
  }
}
