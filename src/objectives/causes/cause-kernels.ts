/**
 * Curves and likelihood of several causes by a backend's kernels over rows (compute/row-kernels.ts), where it has them:
 * the same numbers to the last bit as cause-curves.ts and cause-likelihood.ts, which remain the truth, and take over
 * wherever a kernel declines: a logit 40 or more from the largest of its bin, a person who survives next to nothing, no
 * room in the backend's memory. Logarithms, and the sum over people in their order, are computed here.
 */
import type { Backend, DeviceArray } from "../../compute/backend.ts";
import { allocateDoubles, allocateWords } from "../../compute/shared-arrays.ts";
import { log } from "../../core/elementary.ts";
import type { BinnedOutcomes } from "../../data/outcomes/outcomes.ts";
import { type CurveWorkspace, sumWeights } from "../curves.ts";
import { exponentialTable } from "../exponential.ts";
import { findAll } from "../group-kernels.ts";

/** The arrays of a pass in the backend's memory. */
export interface CauseArrays {
  readonly logits: DeviceArray; // [room,K,T]
  readonly dLogits: DeviceArray; // [room,K,T]
  /** The outcomes of all training rows. */
  readonly binned: BinnedOutcomes;
  readonly K: number;
  /** The largest number of people in a pass. */
  readonly room: number;
  /** Whether curves are Π (1 − h_k) and slopes those of conditional logits, or both those of 1 − F_k. */
  readonly curvesOf: "hazards" | "incidences";
}

export interface CauseKernels {
  /** A row for each person and cause. */
  readonly curves: CurveWorkspace; // [room·K,T]
  /** Where slopes of conditional logits, or of 1 − F_k, are put. */
  readonly slopes: Float64Array; // [room,K,T]
  /** Fills the curves of the first N people of logits; false where that is declined. */
  fillCurves(N: number): Promise<boolean>;
  /** The mean loss at these people's hazards; overwrites their dLogits with its gradient. Null where it is declined. */
  likelihood(rows: Int32Array): Promise<number | null>;
  /** Takes the slopes of these people back to dLogits. */
  backThrough(rows: Int32Array): Promise<void>;
}

/** Null where the backend has no such kernels, no room for what they need, or the outcomes have no causes. */
export function openCauseKernels(backend: Backend, arrays: CauseArrays): CauseKernels | null {
  const { rowKernels } = backend;
  const { logits, dLogits, binned, K, room, curvesOf } = arrays;
  const { T, bin, cause, firstBin, weight } = binned;
  if (rowKernels === undefined || cause === undefined) return null;
  const table = exponentialTable();
  const views = {
    table: allocateDoubles(backend, table.length),
    hazard: allocateDoubles(backend, room * K * T),
    survival: allocateDoubles(backend, room * K * T),
    slopes: allocateDoubles(backend, room * K * T),
    values: allocateDoubles(backend, room),
    rows: allocateWords(backend, room),
    bin: allocateWords(backend, bin.length),
    cause: allocateWords(backend, bin.length),
    firstBin: allocateWords(backend, firstBin?.length ?? 0),
    weight: allocateDoubles(backend, weight?.length ?? 0),
  };
  const places = findAll(views);
  if (places === null) return null;
  views.table.set(table);
  views.bin.set(bin);
  views.cause.set(cause);
  views.firstBin.set(firstBin ?? []);
  views.weight.set(weight ?? []);
  const { hazard, survival, slopes, values } = views;
  const isIncidence = curvesOf === "incidences";
  const pass = {
    ...places,
    K,
    T,
    logits,
    dLogits,
    firstBin: firstBin === undefined ? null : places.firstBin,
    weight: weight === undefined ? null : places.weight,
  };
  return {
    curves: { hazard, survival },
    slopes,
    fillCurves: (N) => rowKernels[isIncidence ? "fillFreeCurves" : "fillCauseCurves"]({ ...pass, N }),
    async likelihood(rows) {
      const N = rows.length;
      const total = sumWeights(weight, rows);
      if (total === 0) return null;
      views.rows.set(rows);
      if (!(await rowKernels.causeLikelihood({ ...pass, N, total }))) return null;
      let loss = 0;
      for (let n = 0; n < N; n++) loss += (weight === undefined ? 1 : weight[rows[n]]) * (0 - log(values[n]));
      return loss / total;
    },
    async backThrough(rows) {
      views.rows.set(rows);
      const back = isIncidence ? "backThroughFreeCurves" : "backThroughConditional";
      await rowKernels[back]({ ...pass, N: rows.length }, places.slopes);
    },
  };
}
