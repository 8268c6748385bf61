/**
 * What backends on the host's own processor have in common: handles of typed arrays that the host can also see, reading
 * and writing them, how many rows they take at once, and the additive part of a network,
 *   logit = b_t + wᵀx + Σ_g x_g·scale·a_g(t)   (for each cause, with weights of its own),
 * in plain loops on any memory: D + T numbers per row are nothing beside an LSTM. A handle of another backend, a
 * released handle, and an array that is too short are refused by name before anything is computed.
 */
import { BackendError } from "../core/errors.ts";
import type { Backend, DeviceArray, Floats, PassShape } from "./backend.ts";
import {
  type AdditiveShape,
  type AdditiveWeights,
  additiveWeightShapes,
  countNumbers,
  type GroupOffsetsShape,
  type WeightShapes,
  type Weights,
} from "./shapes.ts";

/**
 * Rows in a part of a table that is differentiated: its activations (H = 50, T = 102) fit into half of 2 GiB. It does
 * not depend on a backend's memory limit: sums over rows are split where parts end, and the same run must give the same
 * bytes in any memory.
 */
const ROWS_KEPT = 8192;
/** Logits of such a part: 256 MiB in float32; it matters only beyond 8192 bins. */
const LOGITS_KEPT = 2 ** 26;
/** Rows in a part that is only predicted: memory stays small whatever the table … */
const ROWS_PREDICTED = 4096;
/** … and however many bins the grid has: 16 MiB of logits. */
const LOGITS_PREDICTED = 2 ** 22;

export function rowsOnHost({ T, K = 1, keep }: PassShape): number {
  const rows = keep ? ROWS_KEPT : ROWS_PREDICTED;
  const logits = keep ? LOGITS_KEPT : LOGITS_PREDICTED;
  return Math.max(1, Math.min(rows, Math.floor(logits / (T * K))));
}

export interface HandleTable<View extends { readonly length: number }> {
  /** A new handle for a view. */
  add(view: View): DeviceArray;
  /** The view of a handle; it must have at least `length` numbers. */
  find(name: string, array: DeviceArray, length?: number): View;
  /** The views of a set of weights, by name, each as long as its shape says. */
  findWeights<Name extends string>(
    name: string,
    weights: Weights<Name>,
    shapes: WeightShapes<Name>,
  ): Record<Name, View>;
  /** The handle's view from now on; it must be as long as the one before. */
  replace(array: DeviceArray, view: View): void;
  remove(array: DeviceArray): View;
}

/** A write past the end of a typed array is silently lost, and a read gives NaN, so lengths are checked here. */
export function createHandles<View extends { readonly length: number }>(): HandleTable<View> {
  const views = new WeakMap<DeviceArray, View>();
  function find(name: string, array: DeviceArray, length = 0): View {
    const view = views.get(array);
    if (view === undefined) {
      throw new BackendError(`array not allocated by this backend, or released before: ${name}`, {
        code: "array.foreign",
        hint: "arrays given to a backend come from its own allocate()",
      });
    }
    if (view.length >= length) return view;
    throw new BackendError(`array too short: ${name} has ${view.length} values, needs ${length}`, {
      code: "array.length",
    });
  }
  return {
    add(view) {
      const array: DeviceArray = { kind: "array", length: view.length };
      views.set(array, view);
      return array;
    },
    find,
    findWeights(name, weights, shapes) {
      const found = Object.entries<readonly number[]>(shapes).map(([key, shape]) => [
        key,
        find(`${name}.${key}`, weights[key as keyof typeof weights], countNumbers(shape)),
      ]);
      return Object.fromEntries(found);
    },
    replace(array, view) {
      find("what is moved", array, view.length);
      views.set(array, view);
    },
    remove(array) {
      const view = find("what is released", array);
      views.delete(array);
      return view;
    },
  };
}

/** Reading, writing and gathering on views. */
export function hostAccess(
  handles: HandleTable<Floats>,
): Pick<Backend, "read" | "write" | "clear" | "view" | "gatherRows"> {
  return {
    async read(array, from = 0, count = array.length - from) {
      return handles.find("what is read", array, from + count).slice(from, from + count);
    },
    write(array, values, from = 0) {
      handles.find("what is written", array, from + values.length).set(values, from);
    },
    clear(array, count = array.length) {
      handles.find("what is cleared", array, count).fill(0, 0, count);
    },
    view: (array) => handles.find("what is viewed", array),
    gatherRows(from, width, rows, to) {
      const source = handles.find("the rows", from);
      const target = handles.find("the gathered rows", to, rows.length * width);
      if (width <= FEW_COLUMNS) return copyRows(source, width, rows, target);
      for (let k = 0; k < rows.length; k++) {
        target.set(source.subarray(rows[k] * width, (rows[k] + 1) * width), k * width);
      }
    },
  };
}

/** Up to this many numbers are copied one by one: a view of a row takes longer to make. */
const FEW_COLUMNS = 128;

function copyRows(from: Floats, width: number, rows: Int32Array, to: Floats): void {
  for (let k = 0; k < rows.length; k++) {
    const start = rows[k] * width;
    const at = k * width;
    for (let j = 0; j < width; j++) to[at + j] = from[start + j];
  }
}

export function refuseForeignTape(): BackendError {
  return new BackendError("tape not created by this backend, or released before", {
    code: "tape.foreign",
    hint: "tapes given to a backend come from its own createTape()",
  });
}

export function refuseEmptyTape(): BackendError {
  return new BackendError("nothing is on this tape: no forward pass has filled it", {
    code: "tape.empty",
    hint: "give the tape to a forward pass first",
  });
}

/**
 * The two additive operations over a backend's handles. Gradients are summed over rows in float64, because the memory
 * they are added to may be float32.
 */
export function additiveOnHost(
  handles: HandleTable<Floats>,
): Pick<Backend, "additiveForward" | "additiveBackward"> {
  const viewsOf = (name: string, shape: AdditiveShape, weights: AdditiveWeights): AdditiveViews =>
    handles.findWeights(
      name,
      weights as Weights<"baseline" | "skip">,
      additiveWeightShapes(shape, shape.groups),
    );
  return {
    async additiveForward(shape, weights, x, N, logits) {
      const views = viewsOf("weights", shape, weights);
      const { D, T, K = 1 } = shape;
      const [rows, out] = [handles.find("x", x, N * D), handles.find("logits", logits, N * K * T)];
      if (K === 1) return addUp(shape, views, rows, N, out);
      eachCause(shape, views, (own, k) => {
        const curves = out.slice(0, N * T);
        addUp(shape, own, rows, N, curves);
        for (let n = 0; n < N; n++) out.set(curves.subarray(n * T, (n + 1) * T), (n * K + k) * T);
      });
    },
    async additiveBackward(shape, x, N, dLogits, gradient) {
      const views = viewsOf("gradient", shape, gradient);
      const { D, T, K = 1 } = shape;
      const [rows, slopes] = [handles.find("x", x, N * D), handles.find("dLogits", dLogits, N * K * T)];
      const add = (own: AdditiveViews, ofCause: Floats) => {
        differentiate(shape, rows, N, ofCause, own);
        if (shape.groups !== null && own.groupOffsets)
          differentiateOffsets(shape, shape.groups, rows, N, ofCause, own.groupOffsets);
      };
      if (K === 1) return add(views, slopes);
      eachCause(shape, views, (own, k) => {
        const curves = slopes.slice(0, N * T);
        for (let n = 0; n < N; n++) curves.set(slopes.subarray((n * K + k) * T, (n * K + k + 1) * T), n * T);
        add(own, curves);
      });
    },
  };
}

/** The causes' own weights in turn, as if there were no other. */
function eachCause(
  shape: AdditiveShape,
  views: AdditiveViews,
  run: (own: AdditiveViews, k: number) => void,
): void {
  const { K = 1 } = shape;
  const sizes = Object.entries<readonly number[]>(additiveWeightShapes(shape, shape.groups));
  const all: Readonly<Record<string, Floats>> = views;
  for (let k = 0; k < K; k++) {
    const own = sizes.map(([name, one]) => {
      const size = countNumbers(one) / K;
      return [name, all[name].subarray(k * size, (k + 1) * size)];
    });
    run(Object.fromEntries(own), k);
  }
}

type AdditiveViews = Record<"baseline" | "skip", Floats> & { readonly groupOffsets?: Floats };

function addUp(
  { D, T, groups }: AdditiveShape,
  weights: AdditiveViews,
  x: Floats,
  N: number,
  logits: Floats,
): void {
  const { baseline, skip, groupOffsets } = weights;
  for (let n = 0; n < N; n++) {
    let risk = 0;
    for (let d = 0; d < D; d++) risk += skip[d] * x[n * D + d];
    for (let t = 0; t < T; t++) logits[n * T + t] = baseline[t] + risk;
  }
  if (groups === null || groupOffsets === undefined) return;
  const { G, K, knot, share, scale } = groups;
  const atKnots = new Float64Array(K);
  for (let n = 0; n < N; n++) {
    atKnots.fill(0);
    for (let g = 0; g < G; g++) {
      const member = x[n * D + D - G + g] * scale;
      if (member === 0) continue;
      for (let k = 0; k < K; k++) atKnots[k] += member * groupOffsets[g * K + k];
    }
    for (let t = 0; t < T; t++) {
      const k = knot[t];
      logits[n * T + t] += atKnots[k] + share[t] * (atKnots[k + 1] - atKnots[k]);
    }
  }
}

function differentiate(
  { D, T }: AdditiveShape,
  x: Floats,
  N: number,
  dLogits: Floats,
  gradient: AdditiveViews,
): void {
  const dBaseline = new Float64Array(T);
  const dSkip = new Float64Array(D);
  for (let n = 0; n < N; n++) {
    let dRisk = 0;
    for (let t = 0; t < T; t++) {
      dBaseline[t] += dLogits[n * T + t];
      dRisk += dLogits[n * T + t];
    }
    for (let d = 0; d < D; d++) dSkip[d] += dRisk * x[n * D + d];
  }
  for (let t = 0; t < T; t++) gradient.baseline[t] += dBaseline[t];
  for (let d = 0; d < D; d++) gradient.skip[d] += dSkip[d];
}

function differentiateOffsets(
  { D, T }: AdditiveShape,
  { G, K, knot, share, scale }: GroupOffsetsShape,
  x: Floats,
  N: number,
  dLogits: Floats,
  gradient: Floats,
): void {
  const atKnots = new Float64Array(K);
  const sums = new Float64Array(G * K);
  for (let n = 0; n < N; n++) {
    atKnots.fill(0);
    for (let t = 0; t < T; t++) {
      const dLogit = dLogits[n * T + t];
      atKnots[knot[t]] += (1 - share[t]) * dLogit;
      atKnots[knot[t] + 1] += share[t] * dLogit;
    }
    for (let g = 0; g < G; g++) {
      const member = x[n * D + D - G + g] * scale;
      if (member === 0) continue;
      for (let k = 0; k < K; k++) sums[g * K + k] += member * atKnots[k];
    }
  }
  for (let i = 0; i < G * K; i++) gradient[i] += sums[i];
}
