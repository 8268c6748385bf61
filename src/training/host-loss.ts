/**
 * Objective and constraints of a pass, on the host: logits come from the backend and are turned into curves, the loss
 * and the Lagrangian's term; their gradient goes back as dLogits. Both arrays are mirrors (compute/memory.ts): the
 * backend's own memory where that is shared, a copy where it is not. A device that computes likelihood and group
 * statistics itself replaces this file. With several causes the Lagrangian sees a row for each person and cause
 * (objectives/causes/).
 */
import type { Backend, DeviceArray } from "../compute/backend.ts";
import { mirrorArray } from "../compute/memory.ts";
import { type BinnedOutcomes, pickBinned, requireSingleCause } from "../data/outcomes/outcomes.ts";
import { backThroughConditional, fillCauseCurves } from "../objectives/causes/cause-curves.ts";
import { causeRows } from "../objectives/causes/cause-rows.ts";
import { type CurveWorkspace, createCurveWorkspace, fillCurves } from "../objectives/curves.ts";
import type { Lagrangian } from "./lagrangian/lagrangian.ts";
import { addCauseObjective, addObjective } from "./objective.ts";
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
  differentiate(rows: Int32Array, share: number): LossParts;
}

export function createHostLoss(backend: Backend, options: HostLossOptions): HostLoss {
  const { lagrangian, binned, K, room } = options;
  const { T } = binned;
  const logits = backend.allocate(room * K * T);
  const dLogits = backend.allocate(room * K * T);
  const onHost = { logits: mirrorArray(backend, logits), dLogits: mirrorArray(backend, dLogits) };
  const curves = createCurveWorkspace(room * K, T);
  const loss = K === 1 ? plainLoss(options, curves) : causeLoss(options, curves);
  return {
    logits,
    dLogits,
    curves,
    async readLogits(N) {
      await onHost.logits.pull();
      if (lagrangian) loss.fill(onHost.logits.values, N);
    },
    differentiate(rows, share) {
      const slopes = onHost.dLogits.values;
      slopes.fill(0);
      const parts = loss.add(onHost.logits.values, rows, slopes);
      if (share < 1) for (let k = 0; k < rows.length * K * T; k++) slopes[k] *= share;
      onHost.dLogits.push();
      return parts;
    },
  };
}

type Values = Float32Array | Float64Array;

/** How logits become curves, and what loss and term they have. */
interface LossOfLogits {
  fill(logits: Values, N: number): void;
  add(logits: Values, rows: Int32Array, dLogits: Values): LossParts;
}

function plainLoss({ objective, lagrangian, binned }: HostLossOptions, curves: CurveWorkspace): LossOfLogits {
  const plain = requireSingleCause(binned, "a network of one kind of event");
  return {
    fill: (logits, N) => fillCurves(logits, N, plain.T, curves),
    add(logits, rows, dLogits) {
      const loss = addObjective(objective, logits, pickBinned(plain, rows), dLogits);
      return { loss, term: lagrangian?.addLagrangianGradient(curves, rows, dLogits) ?? 0 };
    },
  };
}

function causeLoss(options: HostLossOptions, curves: CurveWorkspace): LossOfLogits {
  const { objective, lagrangian, binned, K, room } = options;
  const { T } = binned;
  const dConditional = new Float64Array(lagrangian ? room * K * T : 0);
  return {
    fill: (logits, N) => fillCauseCurves(logits, { N, K, T }, curves),
    add(logits, rows, dLogits) {
      const N = rows.length;
      const loss = addCauseObjective(objective, logits, pickBinned(binned, rows), K, dLogits);
      if (lagrangian === null) return { loss, term: 0 };
      dConditional.fill(0, 0, N * K * T);
      const term = lagrangian.addLagrangianGradient(curves, causeRows(rows, K), dConditional);
      backThroughConditional(curves.hazard, dConditional, { N, K, T }, dLogits);
      return { loss, term };
    },
  };
}
