/**
 * A second layout of the LSTM, for devices whose threads can pass values to their neighbours. Four neighbouring threads
 * own a unit: each multiplies a quarter of the hidden units for all rows of the tile, then they pass sums among
 * themselves until each has the whole sums of a quarter of the rows, a block. So gates become cells where they were
 * summed, in registers, and a bin has one barrier, since what is passed on has two buffers that take turns.
 *
 * Rows are neighbours in memory: a vector of up to four rows that is read serves all four sums of a thread; a block of
 * five is a vector of four and one of one. Backward keeps no gradient of weights in registers: gradients of the gates'
 * sums replace the activations on the tape, and the recurrent weights' gradient is one product over all rows and bins
 * afterwards (lanes-products.ts).
 *
 * A tape has for each tile, bin, quantity and vector of a block one vector a thread; where a block's vectors differ,
 * one number a row.
 */
import type { GpuLimits } from "../gpu.ts";
import type { TapeNumbers } from "./output-products.ts";

export type VectorWidth = 1 | 2 | 4;

export interface LanesPlan {
  readonly H: number;
  /** Rows of a tile: four blocks. */
  readonly tileRows: number;
  /** Rows of each vector of a block. */
  readonly widths: readonly VectorWidth[];
  /** Rows that are neighbours on the tape: those of a vector, or 1 where vectors differ. */
  readonly tapeWidth: VectorWidth;
  readonly threads: number;
  /** Hidden units of a thread's quarter: ⌈H/4⌉. */
  readonly quarter: number;
  /** Vectors from one gate's gradients to the next in workgroup memory. */
  readonly gateStride: number;
  /** Neighbours that pass values directly; further ones go through workgroup memory. */
  readonly lanes: number;
  /** Whether lines are written out one after the other. */
  readonly writtenOut: boolean;
  readonly products: ProductsPlan;
}

/** Outputs of a network: so many of which each is written into the code, or any number, gone through in a loop. */
export type LanesOutputs = 1 | 2 | 3 | 4 | "several";

/** Forward, an output takes the place of a gate, of which a unit has four. */
export function countOutputs(K: number): LanesOutputs {
  return K === 1 || K === 2 || K === 3 || K === 4 ? K : "several";
}

/** How the product over rows and bins is cut: a thread has rows × columns of it, a workgroup all of it. */
export interface ProductsPlan {
  readonly rows: number;
  readonly columns: number;
  /** Threads over the product's rows and over its columns. */
  readonly down: number;
  readonly across: number;
  /** Workgroups, each with a slice of the tiles and bins. */
  readonly slices: number;
}

export interface LanesEffort {
  /** Rows of a table that it is for, at most. */
  readonly upTo: number;
  readonly tileRows: number;
  readonly products: readonly [rows: number, columns: number];
  readonly slices: number;
  readonly writtenOut: boolean;
}

/** Null where this layout does not fit the device or the units. */
export function planLanes(
  { H }: { readonly H: number },
  limits: GpuLimits,
  lanes: number,
  { tileRows, products, slices, writtenOut }: LanesEffort,
): LanesPlan | null {
  const widths = cutBlock(tileRows / 4);
  const tapeWidth = widths.every((width) => width === widths[0]) ? widths[0] : 1;
  const quarter = Math.ceil(H / 4);
  // One more unit, forward: the output weights.
  const threads = Math.ceil(Math.max(16 * quarter, 4 * (H + 1)) / 32) * 32;
  const gateStride = findGateStride(quarter * 16, widths[0]);
  const [rows, columns] = products;
  const down = Math.ceil((4 * H) / rows);
  const across = Math.ceil(H / columns);
  const most = Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX);
  const passedBytes = lanes < 16 ? 4 * threads * countTogether(widths) : 0;
  const backwardBytes = tileRows * 8 * gateStride + passedBytes;
  const productBytes = 4 * 2 * 5 * tileRows * H;
  const bytes = Math.max(backwardBytes, productBytes);
  if (lanes < 4 || Math.max(threads, down * across) > most) return null;
  if (bytes > limits.maxComputeWorkgroupStorageSize) return null;
  return {
    ...{ H, tileRows, widths, tapeWidth, threads, quarter, gateStride, lanes, writtenOut },
    products: { rows, columns, down, across, slices },
  };
}

/** As many fours as there are, then a two and a one: of these, what makes up the block. */
function cutBlock(rows: number): VectorWidth[] {
  const rest = ([2, 1] as const).filter((width) => rows & width);
  return [...new Array<VectorWidth>(rows >> 2).fill(4), ...rest];
}

/** Rows of one vector of each width that there is. */
function countTogether(widths: readonly VectorWidth[]): number {
  return [...new Set(widths)].reduce((sum, width) => sum + width, 0);
}

/**
 * Sixteen neighbours read at once, from four gates: gates start at those of the 32 banks where the most that one bank
 * is asked for is least.
 */
function findGateStride(least: number, width: VectorWidth): number {
  let best = { stride: least, most: Number.POSITIVE_INFINITY };
  for (let stride = least; stride < least + 32 / width; stride++) {
    let most = 0;
    for (let b = 0; b < 4; b++) {
      const asked = new Array<number>(32).fill(0);
      for (let lane = 0; lane < 16; lane++) {
        const q = lane % 4;
        const at = width * ((lane >> 2) * stride + q * 4 + (b ^ q));
        for (let c = 0; c < width; c++) asked[(at + c) % 32]++;
      }
      most = Math.max(most, ...asked);
    }
    if (most < best.most) best = { stride, most };
  }
  return best.stride;
}

/** Arrays of the tape forward: i, f, g, o and c. Backward turns them into the four gates' gradients and h before. */
export const LANES_TAPED = 5;

/** Vectors of `tapeWidth` rows of one tile and bin on the tape. */
export function binVectors({ H, tileRows, tapeWidth }: LanesPlan): number {
  return (LANES_TAPED * tileRows * H) / tapeWidth;
}

/** Where o and c of a row and unit lie on the tape. */
export function lanesNumbers(plan: LanesPlan): TapeNumbers {
  const { H, tileRows, tapeWidth } = plan;
  const block = tileRows / 4;
  return {
    name: nameLanes("tape", plan),
    H,
    tileRows,
    binNumbers: LANES_TAPED * tileRows * H,
    placeOf: (quantity) => {
      const vector = `(${quantity * block}u + row % ${block}u) / ${tapeWidth}u`;
      const lane = `(${vector} * ${4 * H}u + unit * 4u + row / ${block}u)`;
      return `(${lane} * ${tapeWidth}u + row % ${block}u % ${tapeWidth}u)`;
    },
  };
}

/** Says which kernel this is: everything that is written into its code. */
export function nameLanes(kernel: string, { H, tileRows, lanes, writtenOut }: LanesPlan): string {
  return `LSTM ${kernel}, ${H} units, blocks of ${tileRows / 4}, ${lanes} lanes${writtenOut ? "" : ", loops"}`;
}
