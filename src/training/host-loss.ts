/**
 * Objective and constraints of a pass, on the host: logits come from the backend and are turned into curves, the loss
 * and the Lagrangian's term; their gradient goes back as dLogits. Both arrays are mirrors (compute/memory.ts): the
 * backend's own memory where that is shared, a copy where it is not. Where the backend has kernels for the outcomes,
 * they compute it, to the same bits. A device that computes likelihood and group statistics itself replaces this file.
 * With several causes the Lagrangian sees a row for each person and cause (objectives/causes/).
 */
import type { Backend, DeviceArray } from "../compute/backend.ts";
import { mirrorArray } from "../compute/memory.ts";
import {
  type BinnedOutcomes,
  isRightCensored,
  pickBinned,
  requireSingleCause,
} from "../data/outcomes/outcomes.ts";
import {
  backThroughConditional,
  backThroughFreeCurves,
  fillCauseCurves,
  fillFreeCurves,
} from "../objectives/causes/cause-curves.ts";
import { openCauseKernels } from "../objectives/causes/cause-kernels.ts";
import { causeLikelihoodOf } from "../objectives/causes/cause-likelihood.ts";
import { causeRows } from "../objectives/causes/cause-rows.ts";
import { type CurveWorkspace, createCurveWorkspace, fillCurves } from "../objectives/curves.ts";
import { openLossKernels } from "../objectives/loss-kernels.ts";
import type { Lagrangian } from "./lagrangian/lagrangian.ts";
import { addCauseObjective, addObjective, refuseCauseObjective } from "./objective.ts";
import type { ObjectiveSpec } from "./options.ts";

export interface HostLossOptions {
  readonly objective: ObjectiveSpec;
  readonly lagrangian: Lagrangian | null;
  /** The outcomes of all training rows. */
  readonly binned: BinnedOutcomes;
  /** How many causes the logits are of. */
  readonly K: number;
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
  readonly logits: DeviceArray; // [room,K,T]
  readonly dLogits: DeviceArray; // [room,K,T]
  /** Curves of the rows read last, a row for each person and cause; filled only under a constraint. */
  readonly curves: CurveWorkspace; // [room·K,T]
  /** Call after a forward pass over N rows. */
  readLogits(N: number): Promise<void>;
  /** Loss and term of these training rows at the logits last read; their gradient times `share` becomes dLogits. */
  differentiate(rows: Int32Array, share: number): Promise<LossParts>;
}

export function createHostLoss(backend: Backend, options: HostLossOptions): HostLoss {
  const { lagrangian, binned, K, room } = options;
  const { T } = binned;
  const logits = backend.allocate(room * K * T);
  const dLogits = backend.allocate(room * K * T);
  const onHost = { logits: mirrorArray(backend, logits), dLogits: mirrorArray(backend, dLogits) };
  const loss =
    K === 1
      ? plainLoss(backend, options, { logits, dLogits })
      : causeLoss(backend, options, { logits, dLogits });
  return {
    logits,
    dLogits,
    curves: loss.curves,
    async readLogits(N) {
      await onHost.logits.pull();
      if (lagrangian) await loss.fill(onHost.logits.values, N);
    },
    async differentiate(rows, share) {
      const slopes = onHost.dLogits.values;
      const parts = await loss.add(onHost.logits.values, rows, slopes);
      if (share < 1) for (let k = 0; k < rows.length * K * T; k++) slopes[k] *= share;
      onHost.dLogits.push();
      return parts;
    },
  };
}

type Values = Float32Array | Float64Array;

/** How logits become curves, and what loss and term they have. */
interface LossOfLogits {
  readonly curves: CurveWorkspace;
  fill(logits: Values, N: number): Promise<void> | void;
  /** Overwrites dLogits. */
  add(logits: Values, rows: Int32Array, dLogits: Values): Promise<LossParts> | LossParts;
}

function plainLoss(
  backend: Backend,
  { objective, lagrangian, binned, room }: HostLossOptions,
  arrays: Pick<HostLoss, "logits" | "dLogits">,
): LossOfLogits {
  const plain = requireSingleCause(binned, "a network of one kind of event");
  const { T } = plain;
  const kernels = isRightCensored(plain)
    ? openLossKernels(backend, { ...arrays, binned: plain, room })
    : null;
  const curves = kernels?.curves ?? createCurveWorkspace(room, T);

  /** By the backend's kernels where they take it. */
  async function addLoss(logits: Values, rows: Int32Array, dLogits: Values): Promise<number> {
    const known = objective.kind === "likelihood" ? await kernels?.likelihood(rows, objective.tail) : null;
    if (typeof known === "number") return known;
    dLogits.fill(0);
    return addObjective(objective, logits, pickBinned(plain, rows), dLogits);
  }

  return {
    curves,
    async fill(logits, N) {
      if (!(await kernels?.fillCurves(N))) fillCurves(logits, N, T, curves);
    },
    async add(logits, rows, dLogits) {
      const loss = await addLoss(logits, rows, dLogits);
      return { loss, term: lagrangian?.addLagrangianGradient(curves, rows, dLogits) ?? 0 };
    },
  };
}

function causeLoss(
  backend: Backend,
  { objective, lagrangian, binned, K, room }: HostLossOptions,
  arrays: Pick<HostLoss, "logits" | "dLogits">,
): LossOfLogits {
  const { T } = binned;
  const curvesOf = lagrangian?.constraints.isIncidence ? "incidences" : "hazards";
  const kernels = lagrangian && openCauseKernels(backend, { ...arrays, binned, K, room, curvesOf });
  const curves = kernels?.curves ?? createCurveWorkspace(room * K, T);
  // Slopes of conditional logits, or of incidences where the distance is of those.
  const slopes = kernels?.slopes ?? new Float64Array(lagrangian ? room * K * T : 0);
  const [fillHere, backHere] =
    curvesOf === "incidences"
      ? [fillFreeCurves, backThroughFreeCurves]
      : [fillCauseCurves, backThroughConditional];

  /** By the backend's kernels where they take it. */
  async function addLikelihood(rows: Int32Array, dLogits: Values): Promise<number> {
    const known = await kernels?.likelihood(rows);
    if (typeof known === "number") return known;
    dLogits.fill(0);
    return causeLikelihoodOf(curves.hazard, pickBinned(binned, rows), K, dLogits);
  }

  return {
    curves,
    async fill(logits, N) {
      if (!(await kernels?.fillCurves(N))) fillHere(logits, { N, K, T }, curves);
    },
    async add(logits, rows, dLogits) {
      const N = rows.length;
      // Without a Lagrangian no hazards are known.
      if (lagrangian === null) {
        dLogits.fill(0);
        const loss = addCauseObjective(objective, logits, pickBinned(binned, rows), K, dLogits);
        return { loss, term: 0 };
      }
      refuseCauseObjective(objective);
      const loss = await addLikelihood(rows, dLogits);
      slopes.fill(0, 0, N * K * T);
      const term = lagrangian.addLagrangianGradient(curves, causeRows(rows, K), slopes);
      if (kernels) await kernels.backThrough(rows);
      else backHere(curves.hazard, slopes, { N, K, T }, dLogits);
      return { loss, term };
    },
  };
}
