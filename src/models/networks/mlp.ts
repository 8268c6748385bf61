/**
 * A multilayer perceptron with K·T outputs: dense0, tanh, dense1, tanh, …, denseL → logits [N,K,T]. Unlike the LSTM it
 * knows nothing of neighbouring bins. hidden: [] leaves one layer, a linear hazard with separate slopes in every bin.
 * tanh, not ReLU: hidden units stay within ±1, so a patient far outside the training rows gets bounded logits, and the
 * gradient has no kinks, so central differences hold on every backend. Starts as PyTorch's nn.Linear does; with
 * baseline hazards the last bias starts at their logits and the last weights at a tenth of their usual size.
 */
import * as z from "zod";
import type { Backend, DeviceArray } from "../../compute/backend.ts";
import { type DenseShape, type DenseWeightName, denseWeightShapes } from "../../compute/shapes.ts";
import {
  ANCHORED_OUTPUT_SCALE,
  checkRows,
  checkSize,
  drawUniform,
  logitsOfHazards,
  refuseEmpty,
} from "./initialise.ts";
import type { Activations, Network, NetworkDefinition, SpecSizes } from "./network.ts";
import { createLayer, type Layer, type LayerShapes, listShapes } from "./parameters.ts";
import {
  causesSchema,
  describeCauses,
  hazardsFit,
  hazardsLeaveSome,
  hazardsSchema,
  sizeSchema,
} from "./spec-fields.ts";

export const DEFAULT_LAYERS: readonly number[] = [32];
/** Deeper than anyone builds; a file must not ask for millions. */
const MAX_LAYERS = 1000;

export interface MlpSpec extends SpecSizes {
  readonly kind: "mlp";
  /** Units of each hidden layer; default [32]. */
  readonly hidden?: readonly number[];
  /** The hazard of each bin at the start, cause by cause. */
  readonly baselineHazard?: readonly number[]; // [K,T]
}

export interface MlpOptions extends Omit<MlpSpec, "kind" | "baselineHazard"> {
  readonly seed: number;
  /** For example from anchorHazards. */
  readonly baselineHazard?: ArrayLike<number>; // [K,T]
}

/** The layers of a perceptron: all but the last end in tanh. */
export function listDenseLayers(spec: Omit<MlpSpec, "kind">): DenseShape[] {
  const { D, T, causes: K = 1, hidden = DEFAULT_LAYERS } = spec;
  const widths = [D, ...hidden, K * T];
  return widths.slice(1).map((outputs, l) => ({
    inputs: widths[l],
    outputs,
    activation: l < hidden.length ? "tanh" : "none",
  }));
}

function denseLayer(shape: DenseShape, l: number): LayerShapes<DenseWeightName> {
  return { prefix: `dense${l}.`, shapes: denseWeightShapes(shape), decays: ["weight"] };
}

/** The outputs of the hidden layers, and room for their gradients; allocated for the largest number of rows seen. */
export interface MlpActivations extends Activations {
  rows: number;
  x: DeviceArray | null;
  /** How many rows there is room for. */
  room: number;
  hidden: readonly DeviceArray[]; // [N,units] each
  dHidden: readonly DeviceArray[]; // [N,units] each
}

/** A perceptron with an output for each bin and cause. */
export function createMlp(backend: Backend, options: MlpOptions): Network<MlpActivations> {
  const { D, T, causes: K = 1, hidden = DEFAULT_LAYERS } = options;
  checkSize("D", D);
  checkSize("T", T);
  checkSize("causes", K);
  for (const units of hidden) checkSize("a hidden layer", units);
  const shapes = listDenseLayers({ D, T, causes: K, hidden });
  const layers = shapes.map((shape, l) => createLayer(backend, denseLayer(shape, l)));
  startLayers(backend, shapes, layers, options);
  const depth = hidden.length;

  const createActivations = (): MlpActivations => ({ rows: 0, x: null, room: 0, hidden: [], dHidden: [] });
  function reserve(work: MlpActivations, N: number): void {
    if (work.room >= N) return;
    for (const array of [...work.hidden, ...work.dHidden]) backend.release(array);
    const take = () => hidden.map((units) => backend.allocate(N * units));
    Object.assign(work, { room: N, hidden: take(), dHidden: take() });
  }
  /** For passes that keep nothing. */
  const spare = createActivations();

  return {
    kind: "mlp",
    D,
    T,
    K,
    backend,
    parameters: layers.flatMap(({ parameters }) => parameters),
    createActivations,
    async forward(x, N, logits, keep) {
      checkRows({ D, T, K }, x, N, logits);
      const work = keep ?? spare;
      work.rows = 0;
      reserve(work, N);
      for (let l = 0; l <= depth; l++) {
        const input = l === 0 ? x : work.hidden[l - 1];
        await backend.denseForward(
          shapes[l],
          layers[l].weights,
          input,
          N,
          l === depth ? logits : work.hidden[l],
        );
      }
      Object.assign(work, { rows: N, x });
    },
    async backward({ rows: N, x, hidden: units, dHidden }, dLogits) {
      if (x === null) throw refuseEmpty();
      checkRows({ D, T, K }, x, N, dLogits);
      for (let l = depth; l >= 0; l--) {
        const { weights, gradient } = layers[l];
        const input = l === 0 ? x : units[l - 1];
        // The last layer has no activation, so its output is not needed.
        const [out, dOut] = l === depth ? [dLogits, dLogits] : [units[l], dHidden[l]];
        const dInput = l === 0 ? null : dHidden[l - 1];
        await backend.denseBackward(shapes[l], weights, input, N, out, dOut, gradient, dInput);
      }
    },
  };
}

function startLayers(
  backend: Backend,
  shapes: readonly DenseShape[],
  layers: readonly Layer<DenseWeightName>[],
  { seed, T, causes: K = 1, baselineHazard }: MlpOptions,
): void {
  layers.forEach(({ weights: { weight, bias } }, l) => {
    const { inputs } = shapes[l];
    const isAnchored = l === layers.length - 1 && baselineHazard !== undefined;
    const scale = isAnchored ? ANCHORED_OUTPUT_SCALE : 1;
    backend.write(weight, drawUniform(weight.length, inputs, seed, 2 * l, scale));
    backend.write(
      bias,
      isAnchored ? logitsOfHazards(T, baselineHazard, K) : drawUniform(bias.length, inputs, seed, 2 * l + 1),
    );
  });
}

const layersSchema = z.custom<number[]>(
  (list) =>
    Array.isArray(list) &&
    list.length <= MAX_LAYERS &&
    list.every((units) => Number.isSafeInteger(units) && units >= 1),
  `expected at most ${MAX_LAYERS} whole numbers from 1`,
);

export const mlp = {
  kind: "mlp",
  words: "a multilayer perceptron around the training rows' hazards",
  schema: z
    .strictObject({
      kind: z.literal("mlp"),
      D: sizeSchema,
      T: sizeSchema,
      causes: causesSchema.exactOptional(),
      hidden: layersSchema.exactOptional(),
      baselineHazard: hazardsSchema.exactOptional(),
    })
    .refine(...hazardsFit)
    .refine(...hazardsLeaveSome),
  takesGroups: false,
  startsAtRandom: false,
  // The presets' numbers of hidden units are meant for an LSTM.
  describe: ({ D, T, causes, hidden, hiddenIsGiven, baselineHazard }) => ({
    kind: "mlp",
    D,
    T,
    ...describeCauses(causes),
    ...(hiddenIsGiven && hidden !== undefined && { hidden: [hidden] }),
    baselineHazard,
  }),
  parameters: (spec) => listDenseLayers(spec).flatMap((shape, l) => listShapes(denseLayer(shape, l))),
  create: (backend, spec, seed) => createMlp(backend, { ...spec, seed }),
} as const satisfies NetworkDefinition<MlpSpec>;
