/**
 * One number per person by which curves rank people: the mean cumulative hazard at the times at which people leave the
 * study, r(x) = Σ_t a_t · (−log(1 − h_t(x))), where a_t is the share of the training rows still at risk in bin t. Of
 * many people like x, followed as the training rows were, about r would have the event each (Ishwaran et al. 2008,
 * "mortality"). Bins in which hardly anyone was left hardly count: their hazards are guesses, and a sum over all bins
 * alike would rank people by them. For proportional hazards the order is that of the linear predictor.
 */

import { log } from "../core/elementary.ts";
import { InputError } from "../core/errors.ts";
import type { Curves } from "../data/curves/curves.ts";
import { type BinnedSingleCauseInput, toBinnedSingleCause } from "../data/plain-input.ts";
import { tallyBins } from "./kaplan-meier.ts";

/** A network in single precision cannot tell survival probabilities below this from 0. */
export const LEAST_SURVIVAL = 1e-12;

/** The share of rows at risk in each bin, of the most that are at risk in any: without late entry, 1 in the first. */
export function atRiskShare(outcomes: BinnedSingleCauseInput): Float64Array {
  const { atRisk } = tallyBins(toBinnedSingleCause(outcomes, "the number at risk"));
  const most = atRisk.reduce((largest, rows) => Math.max(largest, rows), 0);
  return atRisk.slice(1).map((rows) => rows / most);
}

/** Greater for people who are expected to have the event earlier; `share` has a weight for every bin. */
export function mortalityRisk({ N, T, survival }: Curves, share: ArrayLike<number>): Float64Array {
  if (share.length !== T) {
    throw new InputError(`a weight for each of ${share.length} bins, but curves of ${T}`, {
      code: "risk.weights",
    });
  }
  return Float64Array.from({ length: N }, (_, i) => {
    let risk = 0;
    let before = 0;
    for (let t = 0; t < T; t++) {
      const cumulative = -log(Math.max(survival[i * T + t], LEAST_SURVIVAL));
      risk += share[t] * (cumulative - before);
      before = cumulative;
    }
    return risk;
  });
}
