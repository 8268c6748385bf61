/**
 * DRSA (method §4): one LSTM layer over the bins, input [x, t/T] at bin t, and one linear output shared by all bins. Two
 * deviations from the paper: it feeds the raw t, we feed t/T to keep time on the scale of the features; and its wording
 * allows an output layer per bin, we share one. Starts as PyTorch's nn.LSTM and nn.Linear do.
 * `createLstm` is the same layer for networks that add something to it.
 */
import type { Backend, LstmShape, LstmWeights } from "../../compute/backend.ts";
import { checkRows, checkSize, createParameter, fillUniform } from "./initialise.ts";
import type { Network, Parameter } from "./network.ts";

/** The paper's number of hidden units. */
export const DEFAULT_HIDDEN = 50;

export interface DrsaOptions {
  readonly D: number;
  /** Hidden units; default 50. */
  readonly H?: number;
  readonly T: number;
  readonly seed: number;
}

export interface Lstm {
  readonly shape: LstmShape;
  readonly parameters: readonly Parameter[];
  readonly weights: LstmWeights;
  readonly gradient: LstmWeights;
}

export function createLstm(backend: Backend, shape: LstmShape, seed: number): Lstm {
  const { D, H, T } = shape;
  checkSize("D", D);
  checkSize("H", H);
  checkSize("T", T);
  const input = createParameter(backend, "lstm.input", [4 * H, D + 1], true);
  const recurrent = createParameter(backend, "lstm.recurrent", [4 * H, H], true);
  const inputBias = createParameter(backend, "lstm.inputBias", [4 * H], false);
  const recurrentBias = createParameter(backend, "lstm.recurrentBias", [4 * H], false);
  const output = createParameter(backend, "lstm.output", [H], true);
  const outputBias = createParameter(backend, "lstm.outputBias", [1], false);
  const parameters = [input, recurrent, inputBias, recurrentBias, output, outputBias];
  parameters.forEach((parameter, index) => {
    fillUniform(parameter.values, H, seed, index);
  });
  return {
    shape,
    parameters,
    weights: {
      input: input.values,
      recurrent: recurrent.values,
      inputBias: inputBias.values,
      recurrentBias: recurrentBias.values,
      output: output.values,
      outputBias: outputBias.values,
    },
    gradient: {
      input: input.gradient,
      recurrent: recurrent.gradient,
      inputBias: inputBias.gradient,
      recurrentBias: recurrentBias.gradient,
      output: output.gradient,
      outputBias: outputBias.gradient,
    },
  };
}

/** The paper's network: an LSTM over the bins of time. */
export function createDrsa(backend: Backend, options: DrsaOptions): Network {
  const { D, H = DEFAULT_HIDDEN, T, seed } = options;
  const { shape, parameters, weights, gradient } = createLstm(backend, { D, H, T }, seed);
  return {
    kind: "drsa",
    D,
    T,
    parameters,
    async forward(x, N, logits) {
      checkRows(shape, x, N, logits);
      logits.fill(0, 0, N * T);
      await backend.lstmForward(shape, weights, x, N, logits);
    },
    async backward(x, N, dLogits) {
      checkRows(shape, x, N, dLogits);
      await backend.lstmBackward(shape, weights, x, N, dLogits, gradient);
    },
  };
}
