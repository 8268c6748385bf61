/**
 * Aalen-Johansen on a time grid: F_k(t) = Σ_{s≤t} S(s−1) d_k(s)/n(s), over bins 0…T, with late entry and weights. Bins
 * in which nobody is at risk leave it as it is.
 */
import { type BinnedOutcomes, requireSingleCause } from "../../data/outcomes/outcomes.ts";
import { tallyBins } from "../kaplan-meier.ts";

/** The incidence of cause `k`, from 1, among some rows. */
export function incidenceBinned(binned: BinnedOutcomes, k: number, rows?: ArrayLike<number>): Float64Array {
  const { cause, ...anyCause } = binned;
  const { events, atRisk } = tallyBins(requireSingleCause(anyCause, "the incidence"), undefined, rows);
  const own = Uint8Array.from(anyCause.event, (event, row) => (event === 1 && cause?.[row] === k ? 1 : 0));
  const { events: ofCause } = tallyBins({ ...anyCause, event: own }, undefined, rows);
  const incidence = new Float64Array(binned.T + 1);
  let survival = 1;
  for (let t = 1; t <= binned.T; t++) {
    incidence[t] = incidence[t - 1] + (ofCause[t] > 0 ? (survival * ofCause[t]) / atRisk[t] : 0);
    if (events[t] > 0) survival *= (atRisk[t] - events[t]) / atRisk[t];
  }
  return incidence;
}
