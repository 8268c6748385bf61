/**
 * Cox's partial log-likelihood with Efron's or Breslow's treatment of ties: value, score, information and baseline hazard
 * at a given coefficient vector, in two passes over rows sorted by time. With r_i = w_i exp(x_iβ), risk-set sums S0, S1 of
 * r and r·x, tied deaths' sums E0, E1, mean death weight v, and f_k = k/d (Efron) or 0 (Breslow) for k = 0 … d−1:
 *   logL = Σ_deaths w x β − Σ_t Σ_k v log(S0 − f_k E0);  ΔH(t) = Σ_k v / (S0 − f_k E0);
 *   information = Σ_i r_i A_i x_i x_iᵀ − Σ_t Σ_k v x̄_k x̄_kᵀ,  x̄_k = (S1 − f_k E1)/(S0 − f_k E0),  score = Σ_i (w_i δ_i − r_i A_i) x_i,
 * where A_i is the hazard row i was exposed to: H(t_i), less Σ_k v f_k/(S0 − f_k E0) for a death itself. Exchanging the sums
 * this way costs one D×D update per row and two per death time, however many deaths are tied (Therneau & Grambsch 2000, §3.3
 * for the quantities). Fitting is cox.ts' business.
 */
import { addOuter, createOuterSum, flushOuter, type OuterSum } from "../core/linear-algebra.ts";
import type { CoxRows } from "./cox-rows.ts";

/** Reused between evaluations. */
export interface CoxWork {
  readonly risk: Float64Array; // [N] r_i, up to the factor exp(shift)
  /** ΔH at each distinct time and the part of it that a death at that time was not exposed to; both × exp(−shift). */
  readonly hazard: Float64Array; // [K]
  readonly spared: Float64Array; // [K]
}

export interface CoxEvaluation {
  readonly logLikelihood: number;
  readonly score: Float64Array; // [D]
  readonly information: Float64Array; // [D,D], both triangles
  /** Σ r_i A_i x_ij², the information's diagonal before the means are taken off: the scale of its rounding error. */
  readonly secondMoment: Float64Array; // [D]
}

export function createCoxWork(rows: CoxRows): CoxWork {
  const K = rows.times.length;
  return { risk: new Float64Array(rows.N), hazard: new Float64Array(K), spared: new Float64Array(K) };
}

/** Evaluates at `beta` (of the scaled covariates). A log-likelihood of −Infinity or NaN says that beta is out of reach. */
export function evaluateCox(rows: CoxRows, beta: Float64Array, work: CoxWork): CoxEvaluation {
  const { D } = rows;
  // exp(xβ − shift) cannot overflow; the shift cancels everywhere but in the hazard.
  const shift = predictRows(rows, beta, work.risk);
  const means = createOuterSum(D);
  const logLikelihood = sumRiskSets(rows, work, shift, means);
  const moments = createOuterSum(D);
  const score = new Float64Array(D);
  sumExposures(rows, work, score, moments);

  const information = new Float64Array(D * D);
  const secondMoment = new Float64Array(D);
  for (let j = 0; j < D; j++) {
    const row = j * moments.width;
    secondMoment[j] = moments.matrix[row + j];
    for (let k = 0; k <= j; k++)
      information[j * D + k] = information[k * D + j] = moments.matrix[row + k] - means.matrix[row + k];
  }
  const unshift = Math.exp(-shift);
  for (let k = 0; k < work.hazard.length; k++) work.hazard[k] *= unshift;
  return { logLikelihood, score, information, secondMoment };
}

/** x_iβ into `risk`; returns the largest. */
function predictRows({ N, D, x }: CoxRows, beta: Float64Array, risk: Float64Array): number {
  let largest = Number.NEGATIVE_INFINITY;
  for (let i = 0, at = 0; i < N; i++, at += D) {
    let predictor = 0;
    for (let j = 0; j < D; j++) predictor += x[at + j] * beta[j];
    risk[i] = predictor;
    if (predictor > largest) largest = predictor;
  }
  return largest;
}

/** Backwards in time: r_i into `risk`, the hazards, Σ_t Σ_k v x̄_k x̄_kᵀ into `means`; returns the log-likelihood. */
function sumRiskSets(rows: CoxRows, work: CoxWork, shift: number, means: OuterSum): number {
  const { D, x, event, weight, start, deaths, ties } = rows;
  const { risk, hazard, spared } = work;
  let logLikelihood = 0;
  let S0 = 0;
  const S1 = new Float64Array(D);
  const E1 = new Float64Array(D);
  const mean = new Float64Array(D);
  for (let k = deaths.length - 1; k >= 0; k--) {
    const d = deaths[k];
    const shared = ties === "efron" && d > 1;
    let E0 = 0;
    let deathWeight = 0;
    if (shared) E1.fill(0);
    for (let i = start[k]; i < start[k + 1]; i++) {
      const predictor = risk[i] - shift;
      const r = weight[i] * Math.exp(predictor);
      risk[i] = r;
      S0 += r;
      const at = i * D;
      for (let j = 0; j < D; j++) S1[j] += r * x[at + j];
      if (event[i] === 0) continue;
      deathWeight += weight[i];
      logLikelihood += weight[i] * predictor;
      if (!shared) continue;
      E0 += r;
      for (let j = 0; j < D; j++) E1[j] += r * x[at + j];
    }
    hazard[k] = 0;
    spared[k] = 0;
    if (d === 0) continue;
    if (!shared) {
      logLikelihood -= deathWeight * Math.log(S0);
      hazard[k] = deathWeight / S0;
      const inverse = 1 / S0;
      for (let j = 0; j < D; j++) mean[j] = S1[j] * inverse;
      addOuter(means, deathWeight, mean, 0, D);
      continue;
    }
    // Σ_k v x̄_k x̄_kᵀ is a quadratic form in (S1, E1): with q = E0/S0, c_k = v/(1 − f_k q)² and f̄ the c-weighted mean of f,
    // it is (Σc) m mᵀ + (Σ c (f − f̄)²) e eᵀ for m = (S1 − f̄ E1)/S0 and e = E1/S0.
    const v = deathWeight / d;
    const q = E0 / S0;
    let sumC = 0;
    let sumCf = 0;
    for (let m = 0; m < d; m++) {
      const f = m / d;
      const left = 1 - f * q;
      logLikelihood -= v * Math.log(S0 * left);
      hazard[k] += v / (S0 * left);
      spared[k] += (v * f) / (S0 * left);
      const c = v / (left * left);
      sumC += c;
      sumCf += c * f;
    }
    const meanF = sumCf / sumC;
    let spread = 0;
    for (let m = 0; m < d; m++) {
      const f = m / d;
      const left = 1 - f * q;
      spread += (v / (left * left)) * (f - meanF) * (f - meanF);
    }
    for (let j = 0; j < D; j++) {
      mean[j] = (S1[j] - meanF * E1[j]) / S0;
      E1[j] /= S0;
    }
    addOuter(means, sumC, mean, 0, D);
    addOuter(means, spread, E1, 0, D);
  }
  flushOuter(means);
  return logLikelihood;
}

/** Forwards in time: Σ_i (w_i δ_i − r_i A_i) x_i into `score`, Σ_i r_i A_i x_i x_iᵀ into `moments`. */
function sumExposures(rows: CoxRows, work: CoxWork, score: Float64Array, moments: OuterSum): void {
  const { D, x, event, weight, start } = rows;
  const { risk, hazard, spared } = work;
  let H = 0;
  for (let k = 0; k < hazard.length; k++) {
    H += hazard[k];
    if (H === 0) continue; // before the first death
    for (let i = start[k]; i < start[k + 1]; i++) {
      const death = event[i] === 1;
      const exposure = risk[i] * (death ? H - spared[k] : H);
      const residual = (death ? weight[i] : 0) - exposure;
      const at = i * D;
      for (let j = 0; j < D; j++) score[j] += residual * x[at + j];
      addOuter(moments, exposure, x, at, D);
    }
  }
  flushOuter(moments);
}
