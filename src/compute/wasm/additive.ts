/**
 * The additive part of networks on a wasm backend: the kernels of kernels/additive.ts, run by the calling thread, with
 * the same bits as additiveOnHost of host.ts. Knots and shares are copied beside the scratch at every call: they are a
 * few numbers per bin. Several causes are taken one by one on the host.
 */
import type { Backend, DeviceArray } from "../backend.ts";
import { additiveOnHost, type HandleTable } from "../host.ts";
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

export function additiveInKernels({
  kernels,
  memory,
  handles,
  ownJob,
}: AdditiveMemory): Pick<Backend, "additiveForward" | "additiveBackward"> {
  /** Writes the job; `logits` are dLogits where the weights are gradients. */
  function writeJob(
    shape: AdditiveShape,
    [name, weights]: readonly [string, AdditiveWeights],
    x: DeviceArray,
    N: number,
    [which, logits]: readonly ["logits" | "dLogits", DeviceArray],
  ): void {
    const { D, T, groups } = shape;
    const shapes = additiveWeightShapes(shape, groups);
    const views: Partial<Record<string, Float32Array>> = handles.findWeights(
      name,
      weights as Weights<"baseline" | "skip">,
      shapes,
    );
    const G = groups?.G ?? 0;
    const K = groups?.K ?? 0;
    const xAt = handles.find("x", x, N * D).byteOffset;
    const logitsAt = handles.find(which, logits, N * T).byteOffset;
    // Shares and knots come before the scratch; each begins at a multiple of 8 bytes.
    const words = ownJob.open(16 * T + kernels.additiveScratchBytes(D, T, G, K));
    const shares = words[JOB_SCRATCH];
    const knots = shares + 8 * T;
    words[JOB_SCRATCH] = knots + 8 * T;
    words[ROW_N] = N;
    words[ROW_T] = T;
    words[ROW_D] = D;
    words[ROW_X] = xAt;
    words[which === "logits" ? ROW_LOGITS : ROW_D_LOGITS] = logitsAt;
    words[ROW_BASELINE] = views.baseline?.byteOffset ?? 0;
    words[ROW_SKIP] = views.skip?.byteOffset ?? 0;
    if (groups === null) return;
    new Float64Array(memory.buffer, shares, T).set(groups.share);
    new Int32Array(memory.buffer, knots, T).set(groups.knot);
    words[ROW_OFFSETS] = views.groupOffsets?.byteOffset ?? 0;
    words[ROW_GROUPS] = G;
    words[ROW_KNOTS] = K;
    words[ROW_KNOT_SHARE] = shares;
    words[ROW_KNOT] = knots;
    writeDouble(words, ROW_SHARE, groups.scale);
  }

  const onHost = additiveOnHost(handles);
  return {
    async additiveForward(shape, weights, x, N, logits) {
      if ((shape.K ?? 1) > 1) return onHost.additiveForward(shape, weights, x, N, logits);
      writeJob(shape, ["weights", weights], x, N, ["logits", logits]);
      kernels.additiveForward(ownJob.address);
    },
    async additiveBackward(shape, x, N, dLogits, gradient) {
      if ((shape.K ?? 1) > 1) return onHost.additiveBackward(shape, x, N, dLogits, gradient);
      writeJob(shape, ["gradient", gradient], x, N, ["dLogits", dLogits]);
      kernels.additiveBackward(ownJob.address);
    },
  };
}
