/**
 * The additive part of networks on a wasm backend: the kernels of kernels/additive.ts, run by the calling thread, with
 * the same bits as additiveOnHost of host.ts. Knots and shares are copied beside the scratch at every call: they are a
 * few numbers per bin. Several causes are taken one by one: a cause's logits are rows that lie further apart.
 */
import type { Backend, DeviceArray } from "../backend.ts";
import type { HandleTable } from "../host.ts";
import { type AdditiveShape, type AdditiveWeights, additiveWeightShapes, type Weights } from "../shapes.ts";
import { JOB_SCRATCH } from "./kernels/job.ts";
import {
  ROW_BASELINE,
  ROW_D,
  ROW_D_LOGITS,
  ROW_GROUPS,
  ROW_KNOT,
  ROW_KNOT_SHARE,
  ROW_KNOTS,
  ROW_LOGITS,
  ROW_N,
  ROW_OFFSETS,
  ROW_SHARE,
  ROW_SKIP,
  ROW_STRIDE,
  ROW_T,
  ROW_X,
} from "./kernels/row-job.ts";
import { type OwnJob, writeDouble } from "./own-job.ts";
import type { KernelExports, KernelMemory } from "./worker.ts";

/** What the kernels work in. */
export interface AdditiveMemory {
  readonly kernels: KernelExports;
  readonly memory: KernelMemory;
  readonly handles: HandleTable<Float32Array>;
  readonly ownJob: OwnJob;
}

type AdditiveViews = Record<"baseline" | "skip", Float32Array> & { readonly groupOffsets?: Float32Array };

/** The rows of a pass, as addresses, and which word tells the kernel of their logits. */
interface Rows {
  readonly x: number;
  readonly N: number;
  readonly which: number;
  readonly logits: number;
}

export function additiveInKernels({
  kernels,
  memory,
  handles,
  ownJob,
}: AdditiveMemory): Pick<Backend, "additiveForward" | "additiveBackward"> {
  /** Writes the job of cause k; `logits` are dLogits where the weights are gradients. */
  function writeJob(
    shape: AdditiveShape,
    views: AdditiveViews,
    { x, N, which, logits }: Rows,
    k: number,
  ): void {
    const { D, T, K: causes = 1, groups } = shape;
    const G = groups?.G ?? 0;
    const K = groups?.K ?? 0;
    // Shares and knots come before the scratch; each begins at a multiple of 8 bytes.
    const words = ownJob.open(16 * T + kernels.additiveScratchBytes(D, T, G, K));
    const shares = words[JOB_SCRATCH];
    const knots = shares + 8 * T;
    words[JOB_SCRATCH] = knots + 8 * T;
    words[ROW_N] = N;
    words[ROW_T] = T;
    words[ROW_D] = D;
    words[ROW_X] = x;
    words[which] = logits + 4 * k * T;
    words[ROW_STRIDE] = causes * T;
    words[ROW_BASELINE] = views.baseline.byteOffset + 4 * k * T;
    words[ROW_SKIP] = views.skip.byteOffset + 4 * k * D;
    if (groups === null || views.groupOffsets === undefined) return;
    new Float64Array(memory.buffer, shares, T).set(groups.share);
    new Int32Array(memory.buffer, knots, T).set(groups.knot);
    words[ROW_OFFSETS] = views.groupOffsets.byteOffset + 4 * k * G * K;
    words[ROW_GROUPS] = G;
    words[ROW_KNOTS] = K;
    words[ROW_KNOT_SHARE] = shares;
    words[ROW_KNOT] = knots;
    writeDouble(words, ROW_SHARE, groups.scale);
  }

  const findViews = (name: string, shape: AdditiveShape, weights: AdditiveWeights): AdditiveViews =>
    handles.findWeights(
      name,
      weights as Weights<"baseline" | "skip">,
      additiveWeightShapes(shape, shape.groups),
    );
  const addressOf = (name: string, array: DeviceArray, length: number) =>
    handles.find(name, array, length).byteOffset;

  return {
    async additiveForward(shape, weights, x, N, logits) {
      const views = findViews("weights", shape, weights);
      const { D, T, K = 1 } = shape;
      const xAt = addressOf("x", x, N * D);
      const rows = { x: xAt, N, which: ROW_LOGITS, logits: addressOf("logits", logits, N * K * T) };
      for (let k = 0; k < K; k++) {
        writeJob(shape, views, rows, k);
        kernels.additiveForward(ownJob.address);
      }
    },
    async additiveBackward(shape, x, N, dLogits, gradient) {
      const views = findViews("gradient", shape, gradient);
      const { D, T, K = 1 } = shape;
      const xAt = addressOf("x", x, N * D);
      const rows = { x: xAt, N, which: ROW_D_LOGITS, logits: addressOf("dLogits", dLogits, N * K * T) };
      for (let k = 0; k < K; k++) {
        writeJob(shape, views, rows, k);
        kernels.additiveBackward(ownJob.address);
      }
    },
  };
}
