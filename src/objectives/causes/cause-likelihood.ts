/**
 * The discrete-time likelihood of K competing causes, mean over people:
 *   event of cause k in bin t   −log h_k(t) − Σ_{l<t} log(1 − Σ_j h_j(l))
 *   censored in bin t           −Σ_{l≤t} log(1 − Σ_j h_j(l))
 * over the bins at risk, with gradient h_k − y_k in each of them. People may enter late and have weights.
 */
import type { Floats } from "../../compute/backend.ts";
import { exp, log } from "../../core/elementary.ts";
import { InputError, NumericalError } from "../../core/errors.ts";
import type { BinnedOutcomes } from "../../data/outcomes/outcomes.ts";
import { checkRoom } from "../curves.ts";

/** The mean loss; adds scale × its gradient to dLogits. */
export function causeLikelihood(
  logits: Floats, // [N,K,T]
  binned: BinnedOutcomes,
  K: number,
  dLogits: Floats | null, // [N,K,T]
  scale: number,
): number {
  const { T, bin, cause, firstBin, weight } = binned;
  if (cause === undefined) throw new InputError("the outcomes hold no causes", { code: "cause.none" });
  const N = bin.length;
  checkRoom("logits", logits, N * K, T);
  checkRoom("dLogits", dLogits, N * K, T);
  const total = weight === undefined ? N : weight.reduce((sum, one) => sum + one, 0);
  if (total === 0) return 0;
  let loss = 0;
  for (let n = 0; n < N; n++) {
    const begin = firstBin === undefined ? 0 : firstBin[n] - 1;
    const own = weight === undefined ? 1 : weight[n];
    const share = (scale * own) / total;
    for (let l = begin; l < bin[n]; l++) {
      const at = n * K * T + l;
      let most = 0;
      for (let k = 0; k < K; k++) most = Math.max(most, logits[at + k * T]);
      let sum = exp(-most);
      for (let k = 0; k < K; k++) sum += exp(logits[at + k * T] - most);
      // −log(1 − Σ h) = log(1 + Σ e^z), and an event of cause k takes z_k off.
      const happened = l === bin[n] - 1 ? cause[n] : 0;
      loss += own * (most + log(sum) - (happened > 0 ? logits[at + (happened - 1) * T] : 0));
      if (dLogits === null) continue;
      for (let k = 0; k < K; k++) {
        const h = exp(logits[at + k * T] - most) / sum;
        dLogits[at + k * T] += share * (h - (happened === k + 1 ? 1 : 0));
      }
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

/**
 * The same from hazards that are known already: one logarithm for each person and event, and no exponential. A person's
 * survival is kept as a product until it is small.
 */
export function causeLikelihoodOf(
  hazard: Float64Array, // [N,K,T]
  binned: BinnedOutcomes,
  K: number,
  dLogits: Floats, // [N,K,T]
): number {
  const { T, bin, cause, firstBin, weight } = binned;
  if (cause === undefined) throw new InputError("the outcomes hold no causes", { code: "cause.none" });
  const N = bin.length;
  checkRoom("hazard", hazard, N * K, T);
  checkRoom("dLogits", dLogits, N * K, T);
  const total = weight === undefined ? N : weight.reduce((sum, one) => sum + one, 0);
  if (total === 0) return 0;
  let loss = 0;
  for (let n = 0; n < N; n++) {
    const own = weight === undefined ? 1 : weight[n];
    const share = own / total;
    const end = bin[n] - 1;
    let left = 1;
    let folded = 0;
    for (let l = firstBin === undefined ? 0 : firstBin[n] - 1; l <= end; l++) {
      const at = n * K * T + l;
      const happened = l === end ? cause[n] : 0;
      let any = 0;
      for (let k = 0; k < K; k++) {
        const h = hazard[at + k * T];
        any += h;
        dLogits[at + k * T] += share * (h - (happened === k + 1 ? 1 : 0));
      }
      left *= happened > 0 ? hazard[at + (happened - 1) * T] : 1 - any;
      if (left < FOLD_BELOW) {
        folded -= log(Math.max(left, SMALLEST));
        left = 1;
      }
    }
    loss += own * (folded - log(left));
  }
  return loss / total;
}

/** A product above this loses nothing to underflow in the bin that follows. */
const FOLD_BELOW = 1e-100;
/** A hazard that has underflowed has a large finite loss. */
const SMALLEST = 1e-300;
