/**
 * How an LSTM is laid out on a device. A workgroup takes a tile of rows through all bins. What a thread owns is a pair
 * of neighbouring units of one gate, and of the hidden units that their weights go with a part: these weights are in
 * its registers, and a vector of the tile's hidden units, once read from workgroup memory, serves both. That memory's
 * reads are what binds: with one unit a thread they took all the time. Units go in fours, padded with units whose
 * weights are 0. A tape has for each tile, bin and quantity one vec4 per row and four units: tiles one after the other,
 * so that any run of tiles is one stretch of memory.
 */
import { BackendError } from "../../../core/errors.ts";
import type { LstmShape } from "../../shapes.ts";
import type { GpuLimits } from "../gpu.ts";
import type { LanesEffort } from "./lanes-plan.ts";
import type { TapeNumbers } from "./output-products.ts";

export interface LstmPlan {
  readonly H: number;
  /** Units in fours: ⌈H/4⌉. */
  readonly quads: number;
  /** Rows of a tile. */
  readonly tileRows: number;
  readonly threads: number;
  /** Parts that the hidden units are cut into, and fours of a part. */
  readonly splits: number;
  readonly partQuads: number;
  /** Pairs of units of a gate. */
  readonly pairs: number;
  /** Threads of a part, and the pairs that a thread owns: the output weights are one more pair, after the gates'. */
  readonly lanes: number;
  readonly owned: number;
  /** Pairs of a row and four units that a thread takes where gates turn into cells. */
  readonly tasks: number;
  /** Whether a thread's weights are few enough for registers; else they are read again at each bin, in loops. */
  readonly inRegisters: boolean;
}

/** Which layout it is, and how much is written out in a kernel. */
export interface LstmEffort {
  /** The layout of lanes-plan.ts where one fits: of these, the first that is for so many rows. */
  readonly lanes: readonly LanesEffort[];
  /** Bytes of activations that are worked on at once, at most: a device may not have more in one piece. */
  readonly stretchBytes: number;
  /** Rows of a tile, at most. */
  readonly tileRows: number;
  /** Vectors of weights in a thread's registers, at most; backward keeps as many sums. */
  readonly vectors: number;
}

/** The product of gradients and hidden units: 8 × 5 of it a thread, two workgroups for each processor of an H200. */
const LANES = { products: [8, 5], slices: 264, writtenOut: true } as const;
/**
 * Measured on an H200 with H 50, in turns: tiles of 20 rows the fastest at 2,416 rows (its 132 processors have 18
 * each), 12 beyond. Where neighbours cannot pass values, pairs with tiles of 10.
 */
export const GRAPHICS: LstmEffort = {
  lanes: [
    { ...LANES, upTo: 3_400, tileRows: 20 },
    { ...LANES, upTo: Number.POSITIVE_INFINITY, tileRows: 12 },
  ],
  stretchBytes: 2 ** 30,
  tileRows: 10,
  vectors: 32,
};
/** A device that is a program has no registers to gain from, and takes many seconds to compile a long kernel. */
export const SOFTWARE: LstmEffort = { lanes: [], stretchBytes: 2 ** 30, tileRows: 3, vectors: 8 };
/** Arrays of the tape: i, f, g, o and c; h is o·tanh(c). */
export const TAPED = 5;
/** Fewer fours than this are not cut. */
const LEAST_SPLIT = 4;

export function planLstm({ H }: Pick<LstmShape, "H">, limits: GpuLimits, effort: LstmEffort): LstmPlan {
  const quads = Math.ceil(H / 4);
  const splits = quads < LEAST_SPLIT ? 1 : 2;
  const partQuads = Math.ceil(quads / splits);
  // Backward: gradients of four gates, what each part of them sends back, and h of the bin before.
  const rowBytes = 16 * (5 * splits * partQuads + 4 * splits * quads);
  const tileRows = Math.min(effort.tileRows, Math.floor(limits.maxComputeWorkgroupStorageSize / rowBytes));
  if (tileRows < 1) {
    throw new BackendError(`too many hidden units for this graphics device: ${H}`, {
      code: "device.small",
      hint: "fewer units (--hidden), or --backend wasm",
    });
  }
  const most = Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX);
  const pairs = Math.ceil(H / 2);
  const slots = 4 * pairs + 1;
  const owned = Math.ceil((slots * splits) / most);
  const lanes = Math.ceil(slots / owned);
  const threads = Math.min(most, Math.ceil((lanes * splits) / 32) * 32);
  const tasks = Math.ceil((tileRows * quads) / threads);
  const inRegisters = 2 * owned * partQuads <= effort.vectors;
  return { H, quads, tileRows, threads, splits, partQuads, pairs, lanes, owned, tasks, inRegisters };
}

/** Bytes of one tile's activations in one bin. */
export function binBytes({ tileRows, quads }: LstmPlan): number {
  return TAPED * tileRows * quads * 16;
}

/** Where o and c of a row and unit lie on the tape. */
export function pairNumbers(plan: LstmPlan): TapeNumbers {
  const { H, tileRows, quads } = plan;
  const cells = tileRows * quads;
  return {
    name: nameLstm("tape", plan),
    H,
    tileRows,
    binNumbers: 4 * TAPED * cells,
    placeOf: (quantity) => `(${4 * quantity * cells}u + row * ${4 * quads}u + unit)`,
  };
}

/** Says which kernel this is: everything that is written into its code. */
export function nameLstm(kernel: string, { H, tileRows, threads, splits }: LstmPlan): string {
  return `LSTM ${kernel}, ${H} units, tiles of ${tileRows}, ${threads} threads in ${splits} parts`;
}
