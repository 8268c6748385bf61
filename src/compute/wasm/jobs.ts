/**
 * What the kernels of a wasm backend are told: the words of a job (kernels/job.ts), made from an operation's arguments.
 * Everything is checked before any work area is moved. Rows are cut into slots by the shape alone, never by the number
 * of threads: slots decide the order in which sums are added, and any number of threads must give the same bytes.
 */
import type { DeviceArray } from "../backend.ts";
import type { HandleTable } from "../host.ts";
import {
  checkSizes,
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
  JOB_OUTPUTS,
  JOB_SCRATCH,
  JOB_SCRATCH_BYTES,
  JOB_SLOT_BYTES,
  JOB_SLOT_SUMS,
  JOB_SLOTS,
  JOB_T,
  JOB_TANH,
  JOB_WEIGHTS,
  JOB_X,
  TILE_ROWS,
} from "./kernels/job.ts";
import type { WorkAreas } from "./memory.ts";
import type { JobWords } from "./team.ts";
import type { KernelExports } from "./worker.ts";

/** Slots of one job: enough for an even load, few enough that adding up their sums costs nothing. */
const MOST_SLOTS = 48;
/** The number of slots is reduced rather than use more memory for their sums than this: 64 MiB. */
const MOST_SLOT_BYTES = 67108864;
/** A slot of a dense layer has at least this many rows. */
const DENSE_SLOT_ROWS = 64;
/** More than a thread's scratch takes per unit and bin, and per pair of units: keeps 32-bit sizes from overflowing. */
const SCRATCH_BOUND = 512;

function countSlots(pieces: number, slotBytes: number): number {
  return Math.max(1, Math.min(MOST_SLOTS, pieces, Math.floor(MOST_SLOT_BYTES / slotBytes)));
}

export interface KernelJobs {
  /** For both LSTM kernels: `out` is logits, or dLogits where there is a gradient. */
  lstm(
    shape: LstmShape,
    weights: LstmWeights,
    x: DeviceArray,
    N: number,
    out: DeviceArray,
    gradient: LstmWeights | null,
  ): JobWords;
  /** For both dense kernels: `out` is dOut in the backward one, whose other words come from `denseGradient`. */
  dense(shape: DenseShape, weights: DenseWeights, x: DeviceArray, N: number, out: DeviceArray): JobWords;
  denseGradient(
    shape: DenseShape,
    N: number,
    out: DeviceArray,
    gradient: DenseWeights,
    dX: DeviceArray | null,
  ): JobWords;
}

export function createJobs(
  kernels: KernelExports,
  handles: HandleTable<Float32Array>,
  areas: WorkAreas,
  threads: number,
): KernelJobs {
  const addressOf = (name: string, array: DeviceArray, length: number) =>
    handles.find(name, array, length).byteOffset;

  /** The words of a set of weights, starting at `first`, in the order of their shapes. */
  function weightWords<Name extends string>(
    name: string,
    weights: Weights<Name>,
    shapes: WeightShapes<Name>,
    first: number,
  ): JobWords {
    const views = Object.values<Float32Array>(handles.findWeights(name, weights, shapes));
    return Object.fromEntries(views.map((view, k) => [first + k, view.byteOffset]));
  }

  return {
    lstm(shape, weights, x, N, out, gradient) {
      const { D, H, T, K = 1 } = shape;
      checkSizes({ D, H, T, K, N });
      const shapes = lstmWeightShapes(shape);
      const slotBytes = kernels.lstmSlotBytes(D, H, K);
      const slots = countSlots(Math.ceil(N / TILE_ROWS), slotBytes);
      const words: JobWords = {
        [JOB_N]: N,
        [JOB_D]: D,
        [JOB_H]: H,
        [JOB_T]: T,
        [JOB_OUTPUTS]: K,
        [JOB_X]: addressOf("x", x, N * D),
        [JOB_OUT]: addressOf(gradient === null ? "logits" : "dLogits", out, N * K * T),
        [JOB_SLOTS]: slots,
        ...weightWords("weights", weights, shapes, JOB_WEIGHTS),
        ...(gradient && weightWords("gradient", gradient, shapes, JOB_GRADIENTS)),
      };
      if (gradient !== null) {
        words[JOB_SLOT_BYTES] = slotBytes;
        words[JOB_SLOT_SUMS] = areas.place("slots", slots * slotBytes);
      }
      const bound = (H + 1) * (T + H + D + 1) * SCRATCH_BOUND + (K - 1) * (T + H) * SCRATCH_BOUND;
      const exact = bound < 2 ** 32 ? kernels.lstmScratchBytes(D, H, T, K, gradient !== null) >>> 0 : bound;
      words[JOB_SCRATCH] = areas.place("scratch", threads * exact);
      words[JOB_SCRATCH_BYTES] = exact;
      return words;
    },
    dense(shape, weights, x, N, out) {
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
        [JOB_TANH]: activation === "tanh" ? areas.placeTanhTable() : 0,
        [JOB_SLOTS]: slots,
        [JOB_SLOT_BYTES]: slotBytes,
        [JOB_SLOT_SUMS]: areas.place("slots", slots * slotBytes),
        [JOB_SCRATCH]: areas.place("scratch", threads * scratchBytes),
        [JOB_SCRATCH_BYTES]: scratchBytes,
      };
    },
    denseGradient: (shape, N, out, gradient, dX) => ({
      ...weightWords("gradient", gradient, denseWeightShapes(shape), JOB_GRADIENTS),
      [JOB_ACTIVATED]: addressOf("out", out, N * shape.outputs),
      [JOB_D_X]: dX === null ? 0 : addressOf("dX", dX, N * shape.inputs),
    }),
  };
}
