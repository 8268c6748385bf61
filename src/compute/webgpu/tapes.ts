/**
 * What forward passes leave on the device. A pass is cut into stretches of rows whose activations fit into one array;
 * stretches beyond the limit of all tapes have none, and the backward pass computes theirs again.
 */
import type { DeviceArray, LstmTape } from "../backend.ts";
import { refuseForeignTape } from "../host.ts";
import type { LstmShape, LstmWeights } from "../shapes.ts";
import { bindingLimit } from "./device-memory.ts";
import type { Engine } from "./engine.ts";
import type { GpuBuffer } from "./gpu.ts";

/** What a forward pass was run on. */
export interface LstmPass {
  readonly shape: LstmShape;
  readonly weights: LstmWeights;
  readonly x: DeviceArray;
  readonly N: number;
}

/** Rows that are worked on in one submission. */
export interface Stretch {
  readonly first: number;
  readonly rows: number;
  readonly tiles: number;
  /** Bytes of its activations. */
  readonly bytes: number;
}

interface WebGpuTape extends LstmTape {
  rows: number;
  /** Whether a backward pass has used up what was kept. */
  spent: boolean;
  pass: LstmPass | null;
  pages: GpuBuffer[];
}

/** A pass that keeps nothing is cut too, because it has work areas by the row. */
const MOST_STRETCH_ROWS = 65536;

/** Tiles of so many rows, with so many bytes of activations each. */
export interface Tiles {
  readonly tileRows: number;
  readonly bytes: number;
}

export function cutRows(
  engine: Engine,
  { tileRows, bytes }: Tiles,
  stretchBytes: number,
  N: number,
): Stretch[] {
  const most = Math.min(stretchBytes, bindingLimit(engine));
  const tiles = Math.max(1, Math.floor(Math.min(most / bytes, MOST_STRETCH_ROWS / tileRows)));
  const stretches: Stretch[] = [];
  for (let first = 0; first < N; first += tiles * tileRows) {
    const rows = Math.min(N - first, tiles * tileRows);
    const own = Math.ceil(rows / tileRows);
    stretches.push({ first, rows, tiles: own, bytes: own * bytes });
  }
  return stretches;
}

export interface TapeTable {
  create(): LstmTape;
  release(tape: LstmTape): void;
  /** Call before a forward pass: an array for each of the first stretches. The tape is empty until it is sealed. */
  prepare(tape: LstmTape, stretches: readonly Stretch[]): readonly GpuBuffer[];
  seal(tape: LstmTape, pass: LstmPass): void;
  /** Call when a backward pass has overwritten the arrays: another one has none, and computes them again. */
  spend(tape: LstmTape): void;
  /** What the tape's pass was run on, null when nothing is on it, and its arrays. */
  read(tape: LstmTape): { readonly pass: LstmPass | null; readonly pages: readonly GpuBuffer[] };
}

export function createTapes(engine: Engine, limit: number): TapeTable {
  const tapes = new Set<WebGpuTape>();

  function open(tape: LstmTape): WebGpuTape {
    if (tapes.has(tape as WebGpuTape)) return tape as WebGpuTape;
    throw refuseForeignTape();
  }
  const bytesOf = ({ pages }: WebGpuTape) => pages.reduce((sum, { size }) => sum + size, 0);

  return {
    create() {
      const tape: WebGpuTape = { kind: "tape", rows: 0, spent: false, pass: null, pages: [] };
      tapes.add(tape);
      return tape;
    },
    release(tape) {
      const own = open(tape);
      for (const page of own.pages) engine.destroy(page);
      tapes.delete(own);
    },
    prepare(tape, stretches) {
      const own = open(tape);
      own.rows = 0;
      own.pass = null;
      let room = limit;
      for (const other of tapes) if (other !== own) room -= bytesOf(other);
      const old = own.pages;
      own.pages = [];
      for (const { bytes } of stretches) {
        room -= bytes;
        if (room < 0) break;
        // An array is used again while it is large enough: passes of one run have similar sizes.
        const k = own.pages.length;
        const page = k < old.length && old[k].size >= bytes ? old[k] : engine.createBuffer(bytes);
        own.pages.push(page);
      }
      for (const page of old) if (!own.pages.includes(page)) engine.destroy(page);
      return own.pages;
    },
    seal(tape, pass) {
      Object.assign(open(tape), { rows: pass.N, spent: false, pass });
    },
    spend(tape) {
      open(tape).spent = true;
    },
    read(tape) {
      const { pass, spent, pages } = open(tape);
      return { pass, pages: spent ? [] : pages };
    },
  };
}
