/**
 * The logistic-hazard model: logit_t = b_t + wᵀx and nothing else (additive.ts). That is proportional odds of the
 * hazard, close to Cox where hazards per bin are small. For slopes that differ by bin, use an MLP of depth 0.
 */
import * as z from "zod";
import type { Backend, DeviceArray } from "../../compute/backend.ts";
import { type AdditiveOptions, additiveParameters, createAdditive } from "./additive.ts";
import { checkRows, refuseEmpty } from "./initialise.ts";
import type { Activations, Network, NetworkDefinition, SpecSizes } from "./network.ts";
import {
  causesSchema,
  describeCauses,
  groupsFit,
  hazardsFit,
  hazardsLeaveSome,
  hazardsSchema,
  sizeSchema,
} from "./spec-fields.ts";

export interface LinearSpec extends SpecSizes {
  readonly kind: "linear";
  /** The hazard of each bin at the start, cause by cause. */
  readonly baselineHazard?: readonly number[]; // [K,T]
  /** How many of the last columns of x give group membership. */
  readonly groups?: number;
}

/** Keeps only the rows themselves. */
export interface LinearActivations extends Activations {
  rows: number;
  x: DeviceArray | null;
}

/** One logit per bin plus a linear function of the features. */
export function createLinear(backend: Backend, options: AdditiveOptions): Network<LinearActivations> {
  const { D, T, causes: K = 1 } = options;
  const additive = createAdditive(backend, options);
  return {
    kind: "linear",
    D,
    T,
    K,
    backend,
    parameters: additive.parameters,
    createActivations: () => ({ rows: 0, x: null }),
    async forward(x, N, logits, keep) {
      checkRows({ D, T, K }, x, N, logits);
      await additive.forward(x, N, logits);
      if (keep) Object.assign(keep, { x, rows: N });
    },
    async backward({ x, rows }, dLogits) {
      if (x === null) throw refuseEmpty();
      checkRows({ D, T, K }, x, rows, dLogits);
      await additive.backward(x, rows, dLogits);
    },
  };
}

export const linear = {
  kind: "linear",
  words: "the linear part alone",
  schema: z
    .strictObject({
      kind: z.literal("linear"),
      D: sizeSchema,
      T: sizeSchema,
      causes: causesSchema.exactOptional(),
      baselineHazard: hazardsSchema.exactOptional(),
      groups: z.int().min(0).exactOptional(),
    })
    .refine(...groupsFit)
    .refine(...hazardsFit)
    .refine(...hazardsLeaveSome),
  takesGroups: true,
  startsAtRandom: false,
  describe: ({ D, T, causes, baselineHazard, groups }) => ({
    kind: "linear",
    D,
    T,
    ...describeCauses(causes),
    baselineHazard,
    ...(groups > 0 && { groups }),
  }),
  parameters: additiveParameters,
  create: (backend, spec) => createLinear(backend, spec),
} as const satisfies NetworkDefinition<LinearSpec>;
