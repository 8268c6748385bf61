/**
 * The anchored network, our default: logit_t = b_t + wᵀx + LSTM_t(x). It starts at the training rows'
 * Kaplan-Meier hazard (b_t) with slopes 0 and an LSTM whose output weights are a tenth of their usual size and whose
 * output bias is 0, so that training begins with a calibrated population curve instead of having to find it: the best
 * model after 30–400 full-batch steps instead of 765–2405. Slopes may start at a penalised fit instead
 * (linear-start.ts), and groups may have offsets of their own over time (group-offsets.ts). Not in the paper. Without
 * the LSTM (H = 0 or lstm: false) it is the logistic-hazard model, and says so: its kind is then "linear".
 */
import * as z from "zod";
import type { Backend } from "../../compute/backend.ts";
import { present } from "../../core/present.ts";
import { additiveParameters, createAdditive } from "./additive.ts";
import { checkRows, refuseEmpty } from "./initialise.ts";
import { createLinear } from "./linear.ts";
import { createLstm, DEFAULT_HIDDEN, type LstmActivations, lstmLayer } from "./lstm.ts";
import type { Network, NetworkDefinition, SpecSizes } from "./network.ts";
import { listShapes } from "./parameters.ts";
import {
  causesSchema,
  describeCauses,
  groupsFit,
  hazardsFit,
  hazardsLeaveSome,
  hazardsSchema,
  sizeSchema,
} from "./spec-fields.ts";

export interface AnchoredSpec extends SpecSizes {
  readonly kind: "anchored";
  /** Hidden units; default 50. */
  readonly H?: number;
  /** The hazard of each bin at the start, cause by cause, e.g. from anchorHazards of the training rows. */
  readonly baselineHazard: readonly number[]; // [K,T]
  /** Default true; false is the linear network. */
  readonly lstm?: boolean;
  /** How many of the last columns of x give group membership; default 0. */
  readonly groups?: number;
}

/** Sizes, seed and start of an anchored network. */
export interface AnchoredOptions extends Omit<AnchoredSpec, "kind" | "baselineHazard"> {
  /** The hazard of each bin at the start, cause by cause. */
  readonly baselineHazard: ArrayLike<number>; // [K,T]
  /** Seed of the weights. */
  readonly seed: number;
}

/** 0 without the LSTM. */
export function hiddenOf({ H = DEFAULT_HIDDEN, lstm = true }: Pick<AnchoredSpec, "H" | "lstm">): number {
  return lstm ? H : 0;
}

/** The LSTM with a Kaplan-Meier baseline and a linear skip. */
export function createAnchored(backend: Backend, options: AnchoredOptions): Network {
  const { D, T, causes: K = 1, seed } = options;
  const H = hiddenOf(options);
  if (H === 0) return createLinear(backend, options);
  const additive = createAdditive(backend, options);
  const lstm = createLstm(backend, { D, H, T, K }, { seed, isAnchored: true });
  const network: Network<LstmActivations> = {
    kind: "anchored",
    D,
    T,
    K,
    backend,
    parameters: [...lstm.parameters, ...additive.parameters],
    createActivations: lstm.createActivations,
    async forward(x, N, logits, keep) {
      checkRows({ D, T, K }, x, N, logits);
      await additive.forward(x, N, logits);
      await lstm.forward(x, N, logits, keep);
    },
    async backward(kept, dLogits) {
      if (kept.x === null) throw refuseEmpty();
      checkRows({ D, T, K }, kept.x, kept.rows, dLogits);
      await additive.backward(kept.x, kept.rows, dLogits);
      await lstm.backward(kept, dLogits);
    },
  };
  return network;
}

export const anchored = {
  kind: "anchored",
  words: "a linear part around the training rows' hazards, with a small LSTM beside it",
  schema: z
    .strictObject({
      kind: z.literal("anchored"),
      D: sizeSchema,
      T: sizeSchema,
      causes: causesSchema.exactOptional(),
      H: z.int().min(0).exactOptional(),
      baselineHazard: hazardsSchema,
      lstm: z.boolean().exactOptional(),
      groups: z.int().min(0).exactOptional(),
    })
    .refine(...groupsFit)
    .refine(...hazardsFit)
    .refine(...hazardsLeaveSome),
  takesGroups: true,
  startsAtRandom: false,
  describe: ({ D, T, causes, hidden, baselineHazard, groups }) => ({
    kind: "anchored",
    D,
    T,
    ...describeCauses(causes),
    ...present({ H: hidden }),
    baselineHazard,
    ...(groups > 0 && { groups }),
  }),
  parameters(spec) {
    const H = hiddenOf(spec);
    return [
      ...(H === 0 ? [] : listShapes(lstmLayer({ D: spec.D, H, K: spec.causes ?? 1 }))),
      ...additiveParameters(spec),
    ];
  },
  create: (backend, spec, seed) => createAnchored(backend, { ...spec, seed }),
} as const satisfies NetworkDefinition<AnchoredSpec>;
