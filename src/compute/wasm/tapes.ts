/**
 * The tapes of a wasm backend: the activations of forward passes, tile after tile, kept for their backward passes. All
 * tapes together take at most half of the memory limit. Any part of a tape that has no room, or lost it to something
 * that needed it, is computed again by the backward pass, to the same bits; so a tape also remembers what its pass was
 * run on.
 */
import type { DeviceArray, LstmTape } from "../backend.ts";
import { refuseForeignTape } from "../host/memory.ts";
import type { LstmShape, LstmWeights } from "../shapes.ts";
import { TILE_ROWS } from "./kernels/job.ts";
import type { MemoryArea, SharedKernelMemory } from "./memory.ts";

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
