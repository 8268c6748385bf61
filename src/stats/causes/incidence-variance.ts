/**
 * The variance of Aalen-Johansen on a time grid, from hazards: with h those of the cause, q those of all others,
 * p = h + q, n at risk, S the survival and F the incidence that the hazards give,
 *   Var F(t) = Σ_{s≤t} [S(s−1)² h(1−h) − 2 S(s−1) h (F(t)−F(s)) + p/(1−p) (F(t)−F(s))²]/n,
 * what events, multinomial in each bin, leave uncertain. At the observed hazards it is survfit's infinitesimal
 * jackknife, which sums the same terms person by person; where there are no others it is Greenwood's.
 */

/** One cause beside the others, in bins 0…T. */
export interface CauseHazards {
  readonly own: Float64Array; // [T+1]
  /** Of all other causes together. */
  readonly others: Float64Array; // [T+1]
  readonly atRisk: ArrayLike<number>; // [T+1]
}

/** NaN from the first bin in which nobody is at risk of a positive hazard, or hazards are more than 1. */
export function incidenceVariance({ own, others, atRisk }: CauseHazards): Float64Array {
  const variance = new Float64Array(own.length);
  let survival = 1;
  let sum = 0;
  // Over the bins so far: Σ S h/n, Σ w (F(t) − F(s)) and Σ w, with w = p/((1−p) n).
  let passed = 0;
  let ahead = 0;
  let weight = 0;
  for (let t = 1; t < own.length; t++) {
    const [h, p, n] = [own[t], own[t] + others[t], atRisk[t]];
    if (!(p >= 0 && p <= 1) || (p > 0 && !(n > 0))) return variance.fill(Number.NaN, t);
    if (p > 0) {
      const step = survival * h;
      sum += step * (2 * (ahead - passed) + step * weight) + (survival * step * (1 - h)) / n;
      ahead += step * weight;
      passed += step / n;
      // Where everyone has gone, nothing is ahead.
      if (p < 1) weight += p / ((1 - p) * n);
      survival *= 1 - p;
    }
    variance[t] = Math.max(0, sum);
  }
  return variance;
}

/** The hazards of a mean curve 1 − F beside given hazards of the others; NaN where the two leave nobody. */
export function hazardsOfMean(free: Float64Array, others: Float64Array): Float64Array {
  const own = new Float64Array(free.length);
  let survival = 1;
  for (let t = 1; t < free.length; t++) {
    const step = free[t - 1] - free[t];
    own[t] = step === 0 ? 0 : survival > 0 ? step / survival : Number.NaN;
    survival *= 1 - own[t] - others[t];
  }
  return own;
}
