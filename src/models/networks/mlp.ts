/**
 * A multilayer perceptron with T outputs: dense0, tanh, dense1, tanh, …, denseL → logits [N,T]. Unlike the LSTM it knows
 * nothing of neighbouring bins. hidden: [] leaves one layer, a linear hazard with slopes of their own in every bin.
 * tanh, not ReLU: hidden units stay within ±1, so a patient far outside the training rows gets bounded logits, and the
 * gradient has no kinks, so central differences hold on every backend.
 * Starts as PyTorch's nn.Linear; with baseline hazards the last bias starts at their logits and the last weights at a tenth.
 */
import type { Backend, DenseWeights, Floats } from "../../compute/backend.ts";
import { tanh } from "../../core/elementary.ts";
import {
  ANCHORED_OUTPUT_SCALE,
  checkRows,
  checkSize,
  createParameter,
  fillLogits,
  fillUniform,
} from "./initialise.ts";
import type { Network, Parameter } from "./network.ts";

export const DEFAULT_LAYERS: readonly number[] = [32];

export interface MlpOptions {
  readonly D: number;
  readonly T: number;
  /** Units of each hidden layer; default [32]. */
  readonly hidden?: readonly number[];
  readonly seed: number;
  /** As from anchorHazards. */
  readonly baselineHazard?: ArrayLike<number>; // [T]
}

interface Layer {
  readonly inputs: number;
  readonly outputs: number;
  readonly weights: DenseWeights;
  readonly gradient: DenseWeights;
}

/** Memory for the rows of one pass. */
interface Scratch {
  readonly rows: number;
  /** tanh of each hidden layer. */
  readonly hidden: readonly Floats[]; // [N,units] each
  readonly dHidden: readonly Floats[]; // [N,units] each
}

/** A perceptron with T outputs. */
export function createMlp(backend: Backend, options: MlpOptions): Network {
  const { D, T, hidden = DEFAULT_LAYERS, seed, baselineHazard } = options;
  checkSize("D", D);
  checkSize("T", T);
  for (const units of hidden) checkSize("a hidden layer", units);
  const widths = [D, ...hidden, T];
  const depth = hidden.length;
  const parameters: Parameter[] = [];
  const layers: Layer[] = [];
  for (let l = 0; l <= depth; l++) {
    const inputs = widths[l];
    const outputs = widths[l + 1];
    const weight = createParameter(backend, `dense${l}.weight`, [outputs, inputs], true);
    const bias = createParameter(backend, `dense${l}.bias`, [outputs], false);
    const isAnchored = l === depth && baselineHazard !== undefined;
    fillUniform(weight.values, inputs, seed, 2 * l, isAnchored ? ANCHORED_OUTPUT_SCALE : 1);
    if (isAnchored) fillLogits(bias.values, baselineHazard);
    else fillUniform(bias.values, inputs, seed, 2 * l + 1);
    parameters.push(weight, bias);
    layers.push({
      inputs,
      outputs,
      weights: { weight: weight.values, bias: bias.values },
      gradient: { weight: weight.gradient, bias: bias.gradient },
    });
  }

  let scratch: Scratch = { rows: 0, hidden: [], dHidden: [] };
  /** Taken for the most rows seen. */
  function reserve(N: number): Scratch {
    if (scratch.rows < N) {
      for (const array of [...scratch.hidden, ...scratch.dHidden]) backend.release(array);
      const take = () => hidden.map((units) => backend.allocate(N * units));
      scratch = { rows: N, hidden: take(), dHidden: take() };
    }
    return scratch;
  }

  /** Runs the hidden layers; what the last layer reads is the last of them, or x. */
  async function runHidden(x: Floats, N: number, { hidden: units }: Scratch): Promise<void> {
    for (let l = 0; l < depth; l++) {
      const { weights, inputs, outputs } = layers[l];
      await backend.denseForward(weights, inputs, outputs, l === 0 ? x : units[l - 1], N, units[l]);
      for (let i = 0; i < N * outputs; i++) units[l][i] = tanh(units[l][i]);
    }
  }

  return {
    kind: "mlp",
    D,
    T,
    parameters,
    async forward(x, N, logits) {
      checkRows({ D, T }, x, N, logits);
      const work = reserve(N);
      await runHidden(x, N, work);
      const { weights, inputs, outputs } = layers[depth];
      await backend.denseForward(
        weights,
        inputs,
        outputs,
        depth === 0 ? x : work.hidden[depth - 1],
        N,
        logits,
      );
    },
    async backward(x, N, dLogits) {
      checkRows({ D, T }, x, N, dLogits);
      const work = reserve(N);
      // Run again, not remembered: another forward pass may have come in between.
      await runHidden(x, N, work);
      let dOut = dLogits;
      for (let l = depth; l >= 0; l--) {
        const { weights, gradient, inputs, outputs } = layers[l];
        const input = l === 0 ? x : work.hidden[l - 1];
        const dInput = l === 0 ? null : work.dHidden[l - 1];
        await backend.denseBackward(weights, inputs, outputs, input, N, dOut, gradient, dInput);
        if (dInput === null) return;
        for (let i = 0; i < N * inputs; i++) dInput[i] *= 1 - input[i] * input[i]; // tanh' = 1 − tanh²
        dOut = dInput;
      }
    },
  };
}
