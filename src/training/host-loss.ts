/**
 * Objective and constraints of a pass, on the host: logits come from the backend and are turned into curves, the loss
 * and the Lagrangian's term; their gradient goes back as dLogits. Both arrays are mirrors (compute/memory.ts): the
 * backend's own memory where that is shared, a copy where it is not. Where the backend has kernels for it, they compute
 * it, to the same bits. A device that computes likelihood and group statistics itself replaces this file.
 */
import type { Backend, DeviceArray } from "../compute/backend.ts";
import { mirrorArray } from "../compute/memory.ts";
import { type BinnedRightCensored, pickBinned } from "../data/outcomes/outcomes.ts";
import { type CurveWorkspace, createCurveWorkspace, fillCurves } from "../objectives/curves.ts";
import { openLossKernels } from "../objectives/loss-kernels.ts";
import type { Lagrangian } from "./lagrangian/lagrangian.ts";
import { addObjective } from "./objective.ts";
import type { ObjectiveSpec } from "./options.ts";

export interface HostLossOptions {
  readonly objective: ObjectiveSpec;
  readonly lagrangian: Lagrangian | null;
  /** The outcomes of all training rows. */
  readonly binned: BinnedRightCensored;
  /** The largest number of rows in a pass. */
  readonly room: number;
}

export interface LossParts {
  readonly loss: number;
  /** What the Lagrangian adds to the loss. */
  readonly term: number;
}

export interface HostLoss {
  /** A forward pass writes the logits; the backward pass reads dLogits. */
  readonly logits: DeviceArray; // [room,T]
  readonly dLogits: DeviceArray; // [room,T]
  /** Curves of the rows read last; filled only under a constraint. */
  readonly curves: CurveWorkspace;
  /** Call after a forward pass over N rows. */
  readLogits(N: number): Promise<void>;
  /** Loss and term of these training rows at the logits last read; their gradient times `share` becomes dLogits. */
  differentiate(rows: Int32Array, share: number): Promise<LossParts>;
}

export function createHostLoss(backend: Backend, options: HostLossOptions): HostLoss {
  const { objective, lagrangian, binned, room } = options;
  const { T } = binned;
  const logits = backend.allocate(room * T);
  const dLogits = backend.allocate(room * T);
  const onHost = { logits: mirrorArray(backend, logits), dLogits: mirrorArray(backend, dLogits) };
  const kernels = openLossKernels(backend, { logits, dLogits, binned, room });
  const curves = kernels?.curves ?? createCurveWorkspace(room, T);

  /** By the backend's kernels where they take it. */
  async function addLoss(rows: Int32Array): Promise<number> {
    const known = objective.kind === "likelihood" ? await kernels?.likelihood(rows, objective.tail) : null;
    if (typeof known === "number") return known;
    const slopes = onHost.dLogits.values;
    slopes.fill(0);
    return addObjective(objective, onHost.logits.values, pickBinned(binned, rows), slopes);
  }

  return {
    logits,
    dLogits,
    curves,
    async readLogits(N) {
      await onHost.logits.pull();
      if (!lagrangian || (await kernels?.fillCurves(N))) return;
      fillCurves(onHost.logits.values, N, T, curves);
    },
    async differentiate(rows, share) {
      const slopes = onHost.dLogits.values;
      const loss = await addLoss(rows);
      const term = lagrangian?.addLagrangianGradient(curves, rows, slopes) ?? 0;
      if (share < 1) for (let k = 0; k < rows.length * T; k++) slopes[k] *= share;
      onHost.dLogits.push();
      return { loss, term };
    },
  };
}
