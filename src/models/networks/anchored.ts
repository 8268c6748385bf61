/**
 * The anchored network, our default (method §4): logit_t = b_t + wᵀx + LSTM_t(x). It starts at the training rows'
 * Kaplan-Meier hazard (b_t) with slopes 0 and an LSTM whose output weights are a tenth of their usual size and whose output
 * bias is 0, so that training begins with a calibrated population curve instead of having to find it: the best model after
 * 30–400 full-batch steps instead of 765–2405. Slopes may start at a penalised fit instead (linear-start.ts), and groups may
 * have offsets of their own over time (group-offsets.ts). Not in the paper. Without the LSTM (H = 0 or lstm: false) it is the
 * logistic-hazard model, and says so: its kind is then "linear".
 */
import type { Backend } from "../../compute/backend.ts";
import { createLstm, DEFAULT_HIDDEN } from "./drsa.ts";
import { ANCHORED_OUTPUT_SCALE, checkRows } from "./initialise.ts";
import { createBaselineAndSkip, createLinear } from "./linear.ts";
import type { Network } from "./network.ts";

/** Sizes, seed and start of an anchored network. */
export interface AnchoredOptions {
  /** Columns of x. */
  readonly D: number;
  /** Hidden units; default 50. */
  readonly H?: number;
  /** Time bins. */
  readonly T: number;
  /** Seed of the weights. */
  readonly seed: number;
  /** As from anchorHazards, of the training rows. */
  readonly baselineHazard: ArrayLike<number>; // [T]
  /** Default true. */
  readonly lstm?: boolean;
  /** How many of the last columns of x say who is in a group; default 0. */
  readonly groups?: number;
}

/** The LSTM with a Kaplan-Meier baseline and a linear skip. */
export function createAnchored(backend: Backend, options: AnchoredOptions): Network {
  const { D, H = DEFAULT_HIDDEN, T, seed, baselineHazard, lstm = true, groups = 0 } = options;
  if (H === 0 || !lstm) return createLinear(backend, { D, T, baselineHazard, groups });
  const anchor = createBaselineAndSkip(backend, { D, T, baselineHazard, groups });
  const { shape, parameters, weights, gradient } = createLstm(backend, { D, H, T }, seed);
  for (let k = 0; k < H; k++) weights.output[k] *= ANCHORED_OUTPUT_SCALE;
  weights.outputBias[0] = 0;
  return {
    kind: "anchored",
    D,
    T,
    parameters: [...parameters, ...anchor.parameters],
    async forward(x, N, logits) {
      checkRows(shape, x, N, logits);
      anchor.forward(x, N, logits);
      await backend.lstmForward(shape, weights, x, N, logits);
    },
    async backward(x, N, dLogits) {
      checkRows(shape, x, N, dLogits);
      anchor.backward(x, N, dLogits);
      await backend.lstmBackward(shape, weights, x, N, dLogits, gradient);
    },
  };
}
