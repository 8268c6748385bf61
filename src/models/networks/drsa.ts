/**
 * DRSA: one LSTM layer over the bins, input [x, t/T] at bin t, and one linear output shared by all bins. Two deviations
 * from the paper: it feeds the raw t, while we feed t/T to keep time on the scale of the features; and its wording
 * allows an output layer per bin, while we share one.
 */
import * as z from "zod";
import type { Backend } from "../../compute/backend.ts";
import { present } from "../../core/present.ts";
import { checkRows } from "./initialise.ts";
import { createLstm, DEFAULT_HIDDEN, type LstmActivations, lstmLayer } from "./lstm.ts";
import type { Network, NetworkDefinition, SpecSizes } from "./network.ts";
import { listShapes } from "./parameters.ts";
import { causesSchema, describeCauses, sizeSchema } from "./spec-fields.ts";

export interface DrsaSpec extends SpecSizes {
  readonly kind: "drsa";
  /** Hidden units; default 50. */
  readonly H?: number;
}

export type DrsaOptions = Omit<DrsaSpec, "kind"> & { readonly seed: number };

/** The paper's network: an LSTM over the bins of time. */
export function createDrsa(backend: Backend, options: DrsaOptions): Network<LstmActivations> {
  const { D, H = DEFAULT_HIDDEN, T, causes: K = 1, seed } = options;
  const lstm = createLstm(backend, { D, H, T, K }, { seed, isAnchored: false });
  return {
    kind: "drsa",
    D,
    T,
    K,
    backend,
    parameters: lstm.parameters,
    createActivations: lstm.createActivations,
    async forward(x, N, logits, keep) {
      checkRows({ D, T, K }, x, N, logits);
      backend.clear(logits, N * K * T);
      await lstm.forward(x, N, logits, keep);
    },
    backward: lstm.backward,
  };
}

export const drsa = {
  kind: "drsa",
  words: "the LSTM of deep recurrent survival analysis",
  schema: z.strictObject({
    kind: z.literal("drsa"),
    D: sizeSchema,
    T: sizeSchema,
    causes: causesSchema.exactOptional(),
    H: sizeSchema.exactOptional(),
  }),
  takesGroups: false,
  startsAtRandom: true,
  describe: ({ D, T, causes, hidden }) => ({
    kind: "drsa",
    D,
    T,
    ...describeCauses(causes),
    ...present({ H: hidden }),
  }),
  parameters: ({ D, H = DEFAULT_HIDDEN, causes: K = 1 }) => listShapes(lstmLayer({ D, H, K })),
  create: (backend, spec, seed) => createDrsa(backend, { ...spec, seed }),
} as const satisfies NetworkDefinition<DrsaSpec>;
