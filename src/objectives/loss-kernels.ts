/**
 * Curves and likelihood by a backend's kernels over rows (compute/row-kernels.ts), where it has them: the same numbers
 * to the last bit as curves.ts and likelihood.ts, which remain the truth, and take over wherever a kernel declines: a
 * logit beyond the table of exponentials, more bins than a product of (1 + u) can hold, no room in the backend's
 * memory. Kernels compute rows; logarithms, and the sum over rows in their order, are computed here.
 */
import type { Backend, DeviceArray } from "../compute/backend.ts";
import { allocateDoubles, allocateWords } from "../compute/shared-arrays.ts";
import { expm1, log1p } from "../core/elementary.ts";
import type { BinnedRightCensored } from "../data/outcomes/outcomes.ts";
import type { CurveWorkspace } from "./curves.ts";
import { exponentialTable } from "./exponential.ts";
import { findAll, openGroupKernels } from "./group-kernels.ts";
import { logOneMinusSurvival, SMALLEST_CUMULATIVE_HAZARD } from "./likelihood.ts";

/** With no more bins than this, the product of (1 + u) ≤ 2 stays below 1e300, where likelihood.ts would fold it. */
const MOST_BINS = 990;
/** Numbers that a kernel leaves for each row. */
const VALUES = 4;

/** The arrays of a pass in the backend's memory. */
export interface LossArrays {
  readonly logits: DeviceArray; // [room,T]
  readonly dLogits: DeviceArray; // [room,T]
  /** The outcomes of all training rows. */
  readonly binned: BinnedRightCensored;
  /** The largest number of rows in a pass. */
  readonly room: number;
}

export interface LossKernels {
  readonly curves: CurveWorkspace;
  /** Fills the curves of the first N rows of logits; false where that is declined. */
  fillCurves(N: number): Promise<boolean>;
  /** The mean loss of these training rows; overwrites their dLogits with its gradient. Null where it is declined. */
  likelihood(rows: Int32Array, tail: boolean): Promise<number | null>;
}

/** Null where the backend has no such kernels, or no room for what they need. */
export function openLossKernels(backend: Backend, arrays: LossArrays): LossKernels | null {
  const { rowKernels } = backend;
  const { logits, dLogits, binned, room } = arrays;
  const { T, bin, event } = binned;
  if (rowKernels === undefined || T > MOST_BINS) return null;
  const table = exponentialTable();
  const views = {
    table: allocateDoubles(backend, table.length),
    hazard: allocateDoubles(backend, room * T),
    survival: allocateDoubles(backend, room * T),
    values: allocateDoubles(backend, VALUES * room),
    rows: allocateWords(backend, room),
    order: allocateWords(backend, room),
    bin: allocateWords(backend, bin.length),
    event: allocateWords(backend, bin.length),
  };
  const places = findAll(views);
  if (places === null) return null;
  views.table.set(table);
  views.bin.set(bin);
  views.event.set(event);
  const { hazard, survival } = views;
  return {
    curves: { hazard, survival, kernels: openGroupKernels(backend, rowKernels, { ...views, dLogits }) },
    fillCurves: (N) => rowKernels.fillCurves({ ...places, N, T, logits }),
    async likelihood(rows, tail) {
      const N = rows.length;
      if (N === 0) return 0;
      views.rows.set(rows);
      const pass = { ...places, N, T, logits, dLogits, tail, share: 1 / N };
      if (!(await rowKernels.likelihood(pass))) return null;
      const loss = addLosses(event, rows, views.values, tail);
      if (tail) await rowKernels.likelihoodTail(pass);
      return loss / N;
    },
  };
}

/** The sum of the rows' losses. Event rows with the tail term get S(T)/(1 − S(T)) as the third of their numbers. */
function addLosses(event: Uint8Array, rows: Int32Array, values: Float64Array, tail: boolean): number {
  let loss = 0;
  for (let k = 0; k < rows.length; k++) {
    const at = VALUES * k;
    loss += values[at] + log1p(values[at + 1]);
    if (!tail || event[rows[k]] !== 1) continue;
    const H = values[at + 2] + log1p(values[at + 3]);
    loss -= logOneMinusSurvival(H);
    values[at + 2] = 1 / expm1(Math.max(H, SMALLEST_CUMULATIVE_HAZARD));
  }
  return loss;
}
