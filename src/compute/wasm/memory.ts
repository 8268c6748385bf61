/**
 * The one shared memory of a wasm backend: its allocation, the tapes, and the areas where the kernels work. Arrays and
 * areas stay where they are until they are freed; they are then reused, with neighbouring ones joined. Everything is
 * aligned to 64 bytes, a cache line. The memory grows up to its limit and never shrinks. Tapes take at most half of the
 * limit; any part of a tape that has no room, or lost it to something that needed it, is computed again by the backward
 * pass, to the same bits; so a tape also remembers what its pass was run on.
 */
import { LOG_OF_POWER_STEP, powersOfTwo } from "../../core/elementary-tables.ts";
import { BackendError, createMemoryError, isMemoryFailure } from "../../core/errors.ts";
import type { DeviceArray, LstmTape } from "../backend.ts";
import { refuseForeignTape } from "../host.ts";
import type { LstmShape, LstmWeights } from "../shapes.ts";
import { TILE_ROWS } from "./kernels/job.ts";
import { type KernelMemory, webAssembly } from "./worker.ts";

const ALIGNMENT = 64;
const PAGE = 65536;
/** The limit of 32-bit addresses. */
const MOST_PAGES = 65536;
/** Grown by at least this much, because growing is slow: 16 MiB. */
const GROWTH_PAGES = 256;

export interface MemoryArea {
  readonly address: number;
  readonly bytes: number;
}

export interface SharedKernelMemory {
  readonly memory: KernelMemory;
  /** Null when the limit does not allow it. The area is not cleared. */
  take(bytes: number): MemoryArea | null;
  giveBack(area: MemoryArea): void;
  floats(area: MemoryArea, length: number): Float32Array;
}

/** An engine reserves addresses for the maximum size, and for more: several gigabytes before anything is used. */
function reserve(pages: number): KernelMemory {
  try {
    return new webAssembly.Memory({ initial: 1, maximum: pages, shared: true });
  } catch (error) {
    if (!isMemoryFailure(error)) throw error;
    throw createMemoryError(
      error,
      "the limit of addresses (ulimit -v) is too low for WebAssembly: about 13 GB do",
    );
  }
}

export function createSharedMemory(limit: number): SharedKernelMemory {
  const pages = Math.min(MOST_PAGES, Math.floor(limit / PAGE));
  if (!(pages >= 1)) {
    throw new BackendError(`memory limit is below one page of 64 KiB: ${limit}`, { code: "memory.limit" });
  }
  const memory = reserve(pages);
  // Address 0 is left out: to a kernel it means null.
  let end = ALIGNMENT;
  let free: MemoryArea[] = [];

  function grow(needed: number): boolean {
    const now = memory.buffer.byteLength / PAGE;
    const least = Math.ceil(needed / PAGE) - now;
    if (least <= 0) return true;
    if (now + least > pages) return false;
    try {
      memory.grow(Math.max(least, Math.min(GROWTH_PAGES, pages - now)));
    } catch {
      return false;
    }
    return true;
  }

  return {
    memory,
    take(asked) {
      const bytes = Math.max(ALIGNMENT, Math.ceil(asked / ALIGNMENT) * ALIGNMENT);
      const found = free.findIndex((area) => area.bytes >= bytes);
      if (found >= 0) {
        const { address, bytes: had } = free[found];
        const rest = had > bytes ? [{ address: address + bytes, bytes: had - bytes }] : [];
        free = free.toSpliced(found, 1, ...rest);
        return { address, bytes };
      }
      if (!grow(end + bytes)) return null;
      const area = { address: end, bytes };
      end += bytes;
      return area;
    },
    giveBack(area) {
      const joined: MemoryArea[] = [];
      for (const next of [...free, area].sort((a, b) => a.address - b.address)) {
        const last = joined.at(-1);
        if (last !== undefined && last.address + last.bytes === next.address) {
          joined[joined.length - 1] = { address: last.address, bytes: last.bytes + next.bytes };
        } else joined.push(next);
      }
      const last = joined.at(-1);
      if (last !== undefined && last.address + last.bytes === end) {
        end = last.address;
        joined.pop();
      }
      free = joined;
    },
    // Growing gives new buffers over the same bytes; arrays handed out earlier keep theirs.
    floats: (area, length) => new Float32Array(memory.buffer, area.address, length),
  };
}

/** The share of the memory limit that tapes may take. */
const TAPE_SHARE = 0.5;

/** What a forward pass was run on. */
export interface LstmPass {
  readonly shape: LstmShape;
  readonly weights: LstmWeights;
  readonly x: DeviceArray;
  readonly N: number;
}

/** The activations of the first `tiles` tiles. */
export interface TapePlace {
  readonly address: number;
  readonly tiles: number;
}

interface WasmTape extends LstmTape {
  rows: number;
  pass: LstmPass | null;
  area: MemoryArea | null;
  tiles: number;
}

export interface TapeTable {
  create(): LstmTape;
  release(tape: LstmTape): void;
  /**
   * Call before a forward pass: reserves as much room as there is; null when there is none. The tape counts as empty
   * until it is sealed.
   */
  prepare(tape: LstmTape, N: number, tileBytes: number): TapePlace | null;
  /** Call after the pass. */
  seal(tape: LstmTape, pass: LstmPass): void;
  /** What the tape's pass was run on; null when nothing is on it. */
  read(tape: LstmTape): LstmPass | null;
  /** Where its activations lie now. */
  place(tape: LstmTape): TapePlace | null;
  /** Frees the room of all tapes; returns whether there was any. */
  forget(): boolean;
}

export function createTapes(shared: SharedKernelMemory, memoryLimit: number): TapeTable {
  const tapes = new Set<WasmTape>();

  function open(tape: LstmTape): WasmTape {
    if (tapes.has(tape as WasmTape)) return tape as WasmTape;
    throw refuseForeignTape();
  }

  function drop(tape: WasmTape): void {
    if (tape.area !== null) shared.giveBack(tape.area);
    tape.area = null;
    tape.tiles = 0;
  }

  /** An area is reused while it is large enough: passes of one run have similar sizes. */
  function reserve(tape: WasmTape, bytes: number): boolean {
    if (tape.area !== null && tape.area.bytes >= bytes) return true;
    drop(tape);
    tape.area = shared.take(bytes);
    return tape.area !== null;
  }

  function place({ area, tiles }: WasmTape): TapePlace | null {
    return area === null || tiles === 0 ? null : { address: area.address, tiles };
  }

  return {
    create() {
      const tape: WasmTape = { kind: "tape", rows: 0, pass: null, area: null, tiles: 0 };
      tapes.add(tape);
      return tape;
    },
    release(tape) {
      const own = open(tape);
      drop(own);
      tapes.delete(own);
    },
    prepare(tape, N, tileBytes) {
      const own = open(tape);
      own.rows = 0;
      own.pass = null;
      const others = [...tapes].reduce((sum, one) => sum + (one === own ? 0 : (one.area?.bytes ?? 0)), 0);
      const room = memoryLimit * TAPE_SHARE - others;
      let tiles = Math.max(0, Math.min(Math.ceil(N / TILE_ROWS), Math.floor(room / tileBytes)));
      // The arrays of a long table may leave less than the share.
      while (tiles > 0 && !reserve(own, tiles * tileBytes)) tiles >>= 1;
      own.tiles = tiles;
      return place(own);
    },
    seal(tape, pass) {
      Object.assign(open(tape), { rows: pass.N, pass });
    },
    read: (tape) => open(tape).pass,
    place: (tape) => place(open(tape)),
    forget() {
      const had = [...tapes].filter(({ area }) => area !== null);
      for (const tape of had) drop(tape);
      return had.length > 0;
    },
  };
}

/** Scratch of the threads, sums of the slots, and scratch for kernels that the backend runs by itself. */
type AreaKind = "scratch" | "slots" | "host";

/**
 * Scratch for each thread and sums for each slot, as large as the largest job so far, and the table of tanh. Tapes are
 * given up before anything is refused: their contents can be computed again.
 */
export interface WorkAreas {
  /** Refused when the limit does not allow it; tapes are given up for it when no kernel is using them. */
  take(bytes: number, tapesAreFree: boolean): MemoryArea;
  /** The address of at least this many bytes; their contents are lost when the area has to grow. */
  place(kind: AreaKind, bytes: number): number;
  placeTanhTable(): number;
}

export function createWorkAreas(
  shared: SharedKernelMemory,
  tapes: TapeTable,
  memoryLimit: number,
): WorkAreas {
  const areas: Record<AreaKind, MemoryArea | null> = { scratch: null, slots: null, host: null };
  let tanhTable: MemoryArea | null = null;

  function take(bytes: number, tapesAreFree: boolean): MemoryArea {
    let found = shared.take(bytes);
    if (found === null && tapesAreFree && tapes.forget()) found = shared.take(bytes);
    if (found !== null) return found;
    throw new BackendError(`out of memory: another ${bytes} bytes would pass the limit of ${memoryLimit}`, {
      code: "memory.exhausted",
      hint: "raise memoryLimit (at most 4 GiB), or train on fewer rows or bins at a time",
    });
  }

  return {
    take,
    place(kind, bytes) {
      let area = areas[kind];
      if (area === null || area.bytes < bytes) {
        if (area !== null) shared.giveBack(area);
        areas[kind] = null;
        area = take(bytes, true);
        areas[kind] = area;
      }
      return area.address;
    },
    placeTanhTable() {
      if (tanhTable === null) {
        const table = buildTanhTable();
        tanhTable = take(table.byteLength, true);
        new Float64Array(shared.memory.buffer, tanhTable.address, table.length).set(table);
      }
      return tanhTable.address;
    },
  };
}

/**
 * What the kernels need to compute tanh as core/elementary.ts does, to the last bit: the constants of e^x and its table
 * of 2^(j/64), each in two pieces (kernels/activations.ts says where each number lies).
 */
function buildTanhTable(): Float64Array {
  const { high: step, low: stepRest } = LOG_OF_POWER_STEP;
  const { high, low } = powersOfTwo();
  return Float64Array.of(1 / step, step, stepRest, ...high, ...low);
}
