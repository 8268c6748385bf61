/**
 * The discrete-time likelihood (paper eq. 4), mean over rows:
 *   event in bin t     −log h_t − Σ_{l<t} log(1−h_l) − log(1−S(T))
 *   censored in bin t  −Σ_{l≤t} log(1−h_l)
 * The last term of an event is the tail term: on in the paper's loss ("drsa"), off in ours ("nll"), because it ruins
 * calibration. The paper's expanded formula sums censored rows over l < t and S to l < T; its own definitions give l ≤
 * t and l ≤ T, which are used here. log(1−S(T)) is evaluated from log S(T), on the side of log 2 where it keeps its
 * digits. A row that enters late counts from its first bin at risk. Rows may have weights: the mean is weighted then.
 */

import type { Floats } from "../compute/backend.ts";
import { exp, expm1, log, log1p } from "../core/elementary.ts";
import { InputError, NumericalError } from "../core/errors.ts";
import type { BinnedSingleCause } from "../data/outcomes/outcomes.ts";
import { FOLD_PRODUCT_AT, openLoss } from "./curves.ts";
import { expMinus } from "./exponential.ts";

/** Whether the likelihood includes the paper's tail term. */
export interface LikelihoodOptions {
  /** Whether an event row also pays −log(1−S(T)). */
  readonly tail: boolean;
}

/**
 * −log S(T) is floored at this value, so that a row whose hazards have all underflowed (logits under −745) has a large
 * finite loss and no gradient instead of ∞ and NaN.
 */
export const SMALLEST_CUMULATIVE_HAZARD = 1e-300;

/** log(1 − e^−H) for a cumulative hazard H > 0. */
export function logOneMinusSurvival(cumulativeHazard: number): number {
  const H = Math.max(cumulativeHazard, SMALLEST_CUMULATIVE_HAZARD);
  return H < Math.LN2 ? log(-expm1(-H)) : log1p(-exp(-H));
}

/** The mean loss; adds scale × its gradient to dLogits. Rows and bins are those of `binned`. */
export function discreteLikelihood(
  logits: Floats, // [N,T]
  binned: BinnedSingleCause,
  options: LikelihoodOptions,
  dLogits: Floats | null, // [N,T]
  scale: number,
): number {
  const { N, T, bin, event } = openLoss("the likelihood", logits, binned, dLogits, ["firstBin", "weight"]);
  const { firstBin, weight } = binned;
  if (firstBin !== undefined && options.tail) refuseTail();
  const total = weight === undefined ? N : sumOf(weight);
  if (total === 0) return 0;
  const hazard = new Float64Array(T);
  const even = scale / total;
  let loss = 0;
  for (let i = 0; i < N; i++) {
    const start = i * T;
    const own = bin[i];
    const begin = firstBin === undefined ? 0 : firstBin[i] - 1;
    if (begin >= own) continue; // at risk in no bin
    const earlier = loss;
    const share = weight === undefined ? even : even * weight[i];
    const isEvent = event[i] === 1;
    const withTail = isEvent && options.tail;
    const through = withTail ? T : own;
    // −log S(l) = cumulative + log1p(Q), see curves.ts.
    let cumulative = 0;
    let Q = 0;
    let ownSurvival = 0; // 1 − h in the row's own bin, with the digits that 1 − h would lose
    for (let l = begin; l < through; l++) {
      if (Q > FOLD_PRODUCT_AT) {
        cumulative += log1p(Q);
        Q = 0;
      }
      const before = cumulative;
      const z = logits[start + l];
      const u = expMinus(Math.abs(z));
      hazard[l] = (z >= 0 ? 1 : u) / (1 + u);
      if (z > 0) cumulative += z;
      Q += u * (1 + Q);
      if (l !== own - 1) continue;
      ownSurvival = (z >= 0 ? u : 1) / (1 + u);
      // −log h = softplus(−z) has the same u as −log(1−h) = softplus(z).
      loss += (isEvent ? before + Math.max(-z, 0) : cumulative) + log1p(Q);
    }
    const H = withTail ? cumulative + log1p(Q) : 0;
    if (withTail) loss -= logOneMinusSurvival(H);
    if (weight !== undefined) loss = earlier + weight[i] * (loss - earlier);
    if (dLogits === null) continue;
    for (let l = begin; l < own - 1; l++) dLogits[start + l] += share * hazard[l];
    dLogits[start + own - 1] += share * (isEvent ? -ownSurvival : hazard[own - 1]);
    if (withTail) {
      const odds = 1 / expm1(Math.max(H, SMALLEST_CUMULATIVE_HAZARD)); // S(T) / (1 − S(T))
      for (let l = 0; l < T; l++) dLogits[start + l] -= share * odds * hazard[l];
    }
  }
  if (!Number.isFinite(loss)) {
    throw new NumericalError(`the likelihood is not finite: ${loss}`, {
      code: "loss.infinite",
      hint: "the logits hold NaN or infinite values; a smaller learning rate usually helps",
    });
  }
  return loss / total;
}

function sumOf(values: Float64Array): number {
  return values.reduce((sum, one) => sum + one, 0);
}

function refuseTail(): never {
  throw new InputError("the paper's tail term does not take late entry", {
    code: "likelihood.tail",
    hint: "it is the chance of an event by the horizon since time 0: train without it (the default preset)",
  });
}
