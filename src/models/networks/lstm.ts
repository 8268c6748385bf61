/**
 * The LSTM over the bins as a part of networks: its parameters, where they start, and its passes, which add
 * to the logits. Input [x, t/T] at bin t, one linear output shared by all bins, or one for each competing cause. Starts
 * as PyTorch's nn.LSTM and nn.Linear do.
 */
import type { Backend, DeviceArray, LstmTape } from "../../compute/backend.ts";
import { countNumbers, type LstmShape, type LstmWeightName, lstmWeightShapes } from "../../compute/shapes.ts";
import { ANCHORED_OUTPUT_SCALE, checkSize, drawUniform } from "./initialise.ts";
import type { Activations, Parameter } from "./network.ts";
import { createLayer, type LayerShapes } from "./parameters.ts";

/** The paper's number of hidden units. */
export const DEFAULT_HIDDEN = 50;

export function lstmLayer(shape: Pick<LstmShape, "D" | "H" | "K">): LayerShapes<LstmWeightName> {
  return { prefix: "lstm.", shapes: lstmWeightShapes(shape), decays: ["input", "recurrent", "output"] };
}

/** For a network with an LSTM: what its pass left, and the rows it was run on. */
export interface LstmActivations extends Activations {
  readonly tape: LstmTape;
  x: DeviceArray | null;
}

export interface LstmOptions {
  readonly seed: number;
  /** Whether a baseline already carries the level: output weights start at a tenth, the output bias at 0. */
  readonly isAnchored: boolean;
}

export interface Lstm {
  readonly parameters: readonly Parameter[];
  createActivations(): LstmActivations;
  /** Adds to the logits. */
  forward(x: DeviceArray, N: number, logits: DeviceArray, keep: LstmActivations | null): Promise<void>;
  backward(kept: LstmActivations, dLogits: DeviceArray): Promise<void>;
}

export function createLstm(backend: Backend, shape: LstmShape, { seed, isAnchored }: LstmOptions): Lstm {
  const { D, H, T, K = 1 } = shape;
  checkSize("D", D);
  checkSize("H", H);
  checkSize("T", T);
  checkSize("causes", K);
  const { parameters, weights, gradient } = createLayer(backend, lstmLayer(shape));
  parameters.forEach(({ shape: own, values }, index) => {
    backend.write(values, drawUniform(countNumbers(own), H, seed, index));
  });
  if (isAnchored) {
    const drawn = drawUniform(K * H, H, seed, Object.keys(weights).indexOf("output"));
    // Scaled after rounding to the backend's precision, so that these are its own weights times a tenth.
    const held = backend.precision === "f32" ? Float32Array.from(drawn) : drawn;
    backend.write(
      weights.output,
      Float64Array.from(held, (weight) => weight * ANCHORED_OUTPUT_SCALE),
    );
    backend.clear(weights.outputBias);
  }
  return {
    parameters,
    createActivations() {
      const tape = backend.createTape();
      return {
        tape,
        x: null,
        get rows() {
          return tape.rows;
        },
      };
    },
    async forward(x, N, logits, keep) {
      if (keep) keep.x = x;
      await backend.lstmForward(shape, weights, x, N, logits, keep === null ? null : keep.tape);
    },
    backward: ({ tape }, dLogits) => backend.lstmBackward(tape, dLogits, gradient),
  };
}
