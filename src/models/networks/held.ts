/**
 * A network with the output layer on which its constraints are solved (training/solve): to the logits of the network
 * below it adds, in time block b of bin t,
 *   β_t + Σ_j u_j c_jb,   u = [x, σ(M [x, 1])],
 * a free baseline, a coefficient for each input in each block (group columns are inputs), and with `chances` the chance
 * of membership in groups that the model may not see. Competing causes have a layer each and share the chances.
 * Everything is linear in the coefficients, which is why they can be solved for exactly. Computed in float64 on the
 * host. The layer is solved, not trained.
 */
import * as z from "zod";
import type { Backend } from "../../compute/backend.ts";
import { mirrorArray } from "../../compute/memory.ts";
import { countNumbers, ofCauses } from "../../compute/shapes.ts";
import { exp } from "../../core/elementary.ts";
import { BackendError } from "../../core/errors.ts";
import { checkRows } from "./initialise.ts";
import type { SingleNetworkSpec } from "./list.ts";
import type { MeanSpec } from "./mean.ts";
import type { Network, Parameter, ParameterShape, SpecSizes } from "./network.ts";

/** The network below, and how the layer's coefficients lie over time. */
export interface HeldSpec extends SpecSizes {
  readonly kind: "held";
  /** The network whose logits the layer adds to. */
  readonly base: SingleNetworkSpec | MeanSpec;
  /** The last bin of each time block, ascending; the last is T. */
  readonly blocks: readonly number[]; // [B]
  /** How many groups enter by the chance of membership. */
  readonly chances: number;
}

/** Name of a parameter of the network below. */
export function baseParameter(name: string): string {
  return `base.${name}`;
}

/** The layer's own parameters. */
export function heldParameters(spec: Omit<HeldSpec, "base" | "kind">): ParameterShape[] {
  const { D, T, causes: K = 1, blocks, chances } = spec;
  return [
    { name: "held.baseline", shape: ofCauses(K, [T]), decays: false },
    { name: "held.coefficients", shape: ofCauses(K, [D + chances, blocks.length]), decays: false },
    ...(chances > 0 ? [{ name: "held.membership", shape: [chances, D + 1], decays: false }] : []),
  ];
}

/** The schema of the layer's own fields. */
export const heldFields = {
  blocks: z.array(z.int().min(1)).min(1),
  chances: z.int().min(0),
} as const;

/** Whether the blocks cover the bins in order. */
export function blocksFit({ T, blocks }: Pick<HeldSpec, "T" | "blocks">): boolean {
  return blocks[blocks.length - 1] === T && blocks.every((last, b) => b === 0 || last > blocks[b - 1]);
}

export function createHeld(backend: Backend, spec: HeldSpec, base: Network): Network {
  const { D, T, causes: K = 1, blocks, chances } = spec;
  const own = heldParameters(spec).map((one): Parameter => {
    const length = countNumbers(one.shape);
    return { ...one, values: backend.allocate(length), gradient: backend.allocate(0) };
  });
  return {
    kind: "held",
    D,
    T,
    K,
    backend,
    parameters: [...base.parameters.map((one) => ({ ...one, name: baseParameter(one.name) })), ...own],
    createActivations: refuseTraining,
    async forward(x, N, logits) {
      checkRows({ D, T, K }, x, N, logits);
      await base.forward(x, N, logits, null);
      const [baseline, coefficients, membership] = await Promise.all(
        own.map(({ values }) => backend.read(values)),
      );
      const rows = mirrorArray(backend, x);
      const out = mirrorArray(backend, logits);
      await rows.pull();
      await out.pull();
      const inputs = new Float64Array(D + chances);
      for (let n = 0; n < N; n++) {
        for (let j = 0; j < D; j++) inputs[j] = rows.values[n * D + j];
        for (let c = 0; c < chances; c++) inputs[D + c] = chanceOf(inputs, membership, c, D);
        for (let k = 0; k < K; k++) {
          addLayer(inputs, { baseline, coefficients, blocks }, k, out.values, (n * K + k) * T);
        }
      }
      out.push();
    },
    backward: async () => refuseTraining(),
  };
}

/** σ(M [x, 1]) of one group. */
export function chanceOf(
  x: ArrayLike<number>,
  membership: ArrayLike<number>,
  group: number,
  D: number,
): number {
  const from = group * (D + 1);
  let sum = membership[from + D];
  for (let j = 0; j < D; j++) sum += membership[from + j] * x[j];
  return 1 / (1 + exp(-sum));
}

interface LayerValues {
  readonly baseline: ArrayLike<number>; // [K,T]
  readonly coefficients: ArrayLike<number>; // [K,D+chances,B]
  readonly blocks: readonly number[];
}

/** Adds the layer of cause k to a curve of logits. */
function addLayer(
  inputs: Float64Array,
  { baseline, coefficients, blocks }: LayerValues,
  k: number,
  logits: Float32Array | Float64Array,
  from: number,
): void {
  const B = blocks.length;
  const J = inputs.length;
  const T = blocks[B - 1];
  let t = 0;
  for (let b = 0; b < B; b++) {
    let sum = 0;
    for (let j = 0; j < J; j++) if (inputs[j] !== 0) sum += inputs[j] * coefficients[(k * J + j) * B + b];
    for (; t < blocks[b]; t++) logits[from + t] += baseline[k * T + t] + sum;
  }
}

function refuseTraining(): never {
  throw new BackendError("a held network is not trained: its layer is solved, on top of a trained network", {
    code: "network.held",
  });
}
