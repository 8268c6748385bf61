/**
 * The plain float64 backend: every operation written out as its formula, one row after the other, on one thread. Faster
 * backends are tested against it, so nothing here is clever except two things: W_x·x + b is computed once per row,
 * because x does not change over bins, and backward runs a row forward again instead of keeping it, so memory is O(T·H)
 * for any N. LSTM as in PyTorch, gates in the order i, f, g, o, h_0 = c_0 = 0:
 *   a_t = W_x·x + w_time·t/T + b_input + R·h_{t−1} + b_recurrent;  i, f, o = σ(a), g = tanh(a)
 *   c_t = f·c_{t−1} + i·g;  h_t = o·tanh(c_t);  logit_qt = w_q·h_t + b_q for outputs q = 1…K
 */
import { exp, tanh } from "../core/elementary.ts";
import type { Backend, DeviceArray, LstmTape } from "./backend.ts";
import {
  additiveOnHost,
  createHandles,
  hostAccess,
  refuseEmptyTape,
  refuseForeignTape,
  rowsOnHost,
} from "./host.ts";
import {
  type DenseShape,
  type DenseWeightName,
  denseWeightShapes,
  type LstmShape,
  type LstmWeightName,
  type LstmWeights,
  lstmWeightShapes,
} from "./shapes.ts";

/** What a forward pass was run on: the backward pass runs it again, row by row. */
interface ReferenceTape extends LstmTape {
  rows: number;
  pass: { readonly shape: LstmShape; readonly weights: LstmWeights; readonly x: DeviceArray } | null;
}

type LstmViews = Readonly<Record<LstmWeightName, Float64Array>>;
type DenseViews = Readonly<Record<DenseWeightName, Float64Array>>;

/** The plain float64 backend: slow; the fast ones are tested against it. */
export function createReferenceBackend(): Backend {
  const handles = createHandles<Float64Array>();
  const tapes = new WeakSet<LstmTape>();
  const { find, findWeights } = handles;
  const openTape = (tape: LstmTape): ReferenceTape => {
    if (tapes.has(tape)) return tape as ReferenceTape;
    throw refuseForeignTape();
  };
  return {
    name: "reference",
    precision: "f64",
    threads: 1,
    rowsAtOnce: rowsOnHost,
    allocate: (length) => handles.add(new Float64Array(length)),
    createTape() {
      const tape: ReferenceTape = { kind: "tape", rows: 0, pass: null };
      tapes.add(tape);
      return tape;
    },
    release(memory) {
      if (memory.kind === "array") handles.remove(memory);
      else tapes.delete(openTape(memory));
    },
    ...hostAccess(handles),
    ...additiveOnHost(handles),

    async lstmForward(shape, weights, x, N, logits, tape) {
      const { D, T, K = 1 } = shape;
      const kept = tape && openTape(tape);
      lstmForward(
        shape,
        findWeights("weights", weights, lstmWeightShapes(shape)),
        find("x", x, N * D),
        N,
        find("logits", logits, N * K * T),
      );
      if (kept) Object.assign(kept, { rows: N, pass: { shape, weights, x } });
    },
    async lstmBackward(tape, dLogits, gradient) {
      const { pass, rows: N } = openTape(tape);
      if (pass === null) throw refuseEmptyTape();
      const { shape, weights, x } = pass;
      const shapes = lstmWeightShapes(shape);
      lstmBackward(
        shape,
        findWeights("weights", weights, shapes),
        find("x", x, N * shape.D),
        N,
        find("dLogits", dLogits, N * (shape.K ?? 1) * shape.T),
        findWeights("gradient", gradient, shapes),
      );
    },

    async denseForward(shape, weights, x, N, out) {
      denseForward(
        shape,
        findWeights("weights", weights, denseWeightShapes(shape)),
        find("x", x, N * shape.inputs),
        N,
        find("out", out, N * shape.outputs),
      );
    },
    async denseBackward(shape, weights, x, N, out, dOut, gradient, dX) {
      const shapes = denseWeightShapes(shape);
      denseBackward(
        shape,
        findWeights("weights", weights, shapes),
        find("x", x, N * shape.inputs),
        N,
        find("out", out, N * shape.outputs),
        find("dOut", dOut, N * shape.outputs),
        findWeights("gradient", gradient, shapes),
        dX && find("dX", dX, N * shape.inputs),
      );
    },

    close: async () => {},
  };
}

/** What one row leaves behind as it runs over the bins; the next row overwrites it. */
interface RowRun {
  /** W_x·x + b_input + b_recurrent. */
  readonly fixed: Float64Array; // [4H]
  /** i, f, g, o of bin t after their σ or tanh. */
  readonly gates: Float64Array; // [T,4H]
  readonly cell: Float64Array; // [T+1,H], the first row is c_0 = 0
  readonly hidden: Float64Array; // [T+1,H], the first row is h_0 = 0
}

function createRun({ H, T }: LstmShape): RowRun {
  return {
    fixed: new Float64Array(4 * H),
    gates: new Float64Array(T * 4 * H),
    cell: new Float64Array((T + 1) * H),
    hidden: new Float64Array((T + 1) * H),
  };
}

function sigmoid(a: number): number {
  return 1 / (1 + exp(-a));
}

/** Fills `run` for row n of x [N,D]. */
function runRow({ D, H, T }: LstmShape, weights: LstmViews, x: Float64Array, n: number, run: RowRun): void {
  const { input, recurrent, inputBias, recurrentBias } = weights;
  const { fixed, gates, cell, hidden } = run;
  for (let j = 0; j < 4 * H; j++) {
    let sum = inputBias[j] + recurrentBias[j];
    for (let d = 0; d < D; d++) sum += input[j * (D + 1) + d] * x[n * D + d];
    fixed[j] = sum;
  }
  for (let t = 1; t <= T; t++) {
    const before = (t - 1) * H; // of h_{t−1}, c_{t−1}
    const now = t * H; // of h_t, c_t
    const gate = (t - 1) * 4 * H;
    for (let k = 0; k < H; k++) {
      let i = fixed[k] + input[k * (D + 1) + D] * (t / T);
      let f = fixed[H + k] + input[(H + k) * (D + 1) + D] * (t / T);
      let g = fixed[2 * H + k] + input[(2 * H + k) * (D + 1) + D] * (t / T);
      let o = fixed[3 * H + k] + input[(3 * H + k) * (D + 1) + D] * (t / T);
      for (let m = 0; m < H; m++) {
        const h = hidden[before + m];
        i += recurrent[k * H + m] * h;
        f += recurrent[(H + k) * H + m] * h;
        g += recurrent[(2 * H + k) * H + m] * h;
        o += recurrent[(3 * H + k) * H + m] * h;
      }
      i = gates[gate + k] = sigmoid(i);
      f = gates[gate + H + k] = sigmoid(f);
      g = gates[gate + 2 * H + k] = tanh(g);
      o = gates[gate + 3 * H + k] = sigmoid(o);
      cell[now + k] = f * cell[before + k] + i * g;
      hidden[now + k] = o * tanh(cell[now + k]);
    }
  }
}

function lstmForward(
  shape: LstmShape,
  weights: LstmViews,
  x: Float64Array, // [N,D]
  N: number,
  logits: Float64Array, // [N,K,T]
): void {
  const { H, T, K = 1 } = shape;
  const run = createRun(shape);
  const { output, outputBias } = weights;
  for (let n = 0; n < N; n++) {
    runRow(shape, weights, x, n, run);
    for (let q = 0; q < K; q++) {
      for (let t = 1; t <= T; t++) {
        let logit = outputBias[q];
        for (let k = 0; k < H; k++) logit += output[q * H + k] * run.hidden[t * H + k];
        logits[(n * K + q) * T + t - 1] += logit;
      }
    }
  }
}

function lstmBackward(
  shape: LstmShape,
  weights: LstmViews,
  x: Float64Array, // [N,D]
  N: number,
  dLogits: Float64Array, // [N,K,T]
  gradient: LstmViews,
): void {
  const { D, H, T, K = 1 } = shape;
  const run = createRun(shape);
  const { gates, cell, hidden } = run;
  const { recurrent, output } = weights;
  const { recurrent: dRecurrent } = gradient;
  const dHidden = new Float64Array(H); // of h_t, from the output of bin t and from bin t+1
  const dCell = new Float64Array(H); // of c_t, from bin t+1
  const dGates = new Float64Array(4 * H); // of a_t, before σ and tanh
  const dFixed = new Float64Array(4 * H); // Σ_t dGates
  const dTime = new Float64Array(4 * H); // Σ_t dGates·t/T
  for (let n = 0; n < N; n++) {
    runRow(shape, weights, x, n, run);
    dHidden.fill(0);
    dCell.fill(0);
    dFixed.fill(0);
    dTime.fill(0);
    for (let t = T; t >= 1; t--) {
      const before = (t - 1) * H;
      const now = t * H;
      const gate = (t - 1) * 4 * H;

      // logit_qt = w_q·h_t + b_q
      for (let q = 0; q < K; q++) {
        const dLogit = dLogits[(n * K + q) * T + t - 1];
        gradient.outputBias[q] += dLogit;
        for (let k = 0; k < H; k++) {
          gradient.output[q * H + k] += dLogit * hidden[now + k];
          dHidden[k] += dLogit * output[q * H + k];
        }
      }

      // h_t = o·tanh(c_t), c_t = f·c_{t−1} + i·g, and the gates' own σ' = s(1−s), tanh' = 1−g²
      for (let k = 0; k < H; k++) {
        const i = gates[gate + k];
        const f = gates[gate + H + k];
        const g = gates[gate + 2 * H + k];
        const o = gates[gate + 3 * H + k];
        const tanhCell = tanh(cell[now + k]);
        const dC = dCell[k] + dHidden[k] * o * (1 - tanhCell * tanhCell);
        dGates[k] = dC * g * i * (1 - i);
        dGates[H + k] = dC * cell[before + k] * f * (1 - f);
        dGates[2 * H + k] = dC * i * (1 - g * g);
        dGates[3 * H + k] = dHidden[k] * tanhCell * o * (1 - o);
        dCell[k] = dC * f;
      }

      // a_t = fixed + w_time·t/T + R·h_{t−1}
      dHidden.fill(0);
      for (let j = 0; j < 4 * H; j++) {
        const dA = dGates[j];
        dFixed[j] += dA;
        dTime[j] += dA * (t / T);
        for (let k = 0; k < H; k++) {
          dRecurrent[j * H + k] += dA * hidden[before + k];
          dHidden[k] += dA * recurrent[j * H + k];
        }
      }
    }

    // fixed = W_x·x + b_input + b_recurrent
    for (let j = 0; j < 4 * H; j++) {
      for (let d = 0; d < D; d++) gradient.input[j * (D + 1) + d] += dFixed[j] * x[n * D + d];
      gradient.input[j * (D + 1) + D] += dTime[j];
      gradient.inputBias[j] += dFixed[j];
      gradient.recurrentBias[j] += dFixed[j];
    }
  }
}

function denseForward(
  { inputs, outputs, activation }: DenseShape,
  { weight, bias }: DenseViews,
  x: Float64Array, // [N,inputs]
  N: number,
  out: Float64Array, // [N,outputs]
): void {
  for (let n = 0; n < N; n++) {
    for (let o = 0; o < outputs; o++) {
      let sum = bias[o];
      for (let i = 0; i < inputs; i++) sum += weight[o * inputs + i] * x[n * inputs + i];
      out[n * outputs + o] = activation === "tanh" ? tanh(sum) : sum;
    }
  }
}

function denseBackward(
  { inputs, outputs, activation }: DenseShape,
  { weight }: DenseViews,
  x: Float64Array, // [N,inputs]
  N: number,
  out: Float64Array, // [N,outputs]
  dOut: Float64Array, // [N,outputs]
  gradient: DenseViews,
  dX: Float64Array | null, // [N,inputs]
): void {
  // tanh' = 1 − tanh²
  if (activation === "tanh") for (let k = 0; k < N * outputs; k++) dOut[k] *= 1 - out[k] * out[k];
  for (let n = 0; n < N; n++) {
    for (let o = 0; o < outputs; o++) {
      const d = dOut[n * outputs + o];
      gradient.bias[o] += d;
      for (let i = 0; i < inputs; i++) gradient.weight[o * inputs + i] += d * x[n * inputs + i];
    }
    if (dX === null) continue;
    for (let i = 0; i < inputs; i++) {
      let sum = 0;
      for (let o = 0; o < outputs; o++) sum += weight[o * inputs + i] * dOut[n * outputs + o];
      dX[n * inputs + i] = sum;
    }
  }
}
