/**
 * Cox's partial log-likelihood with Efron's or Breslow's treatment of ties: value, score, information and hazards at a
 * given coefficient vector. Let r_i = w_i exp(x_iβ). At a death time, W_E and x̄_E are the sum of r and the r-weighted
 * mean of x over the tied deaths, and W_N and x̄_N the same over the others at risk; v is the mean death weight, f_k =
 * k/d (Efron) or 0 (Breslow) for k = 0 … d−1, and W_k = W_N + (1−f_k) W_E, Δ = x̄_E − x̄_N (Therneau & Grambsch 2000,
 * §3.3 for the quantities):
 *   logL = Σ_deaths w x β − Σ_t Σ_k v log W_k;  ΔH(t) = Σ_k v / W_k;
 *   score = Σ_t [Σ_deaths w (x − x̄_E) + Σ_k v W_N/W_k Δ];
 *   information = Σ_t Σ_k v/W_k · (second moment of the weighted risk set about its own mean).
 * That second moment grows by one outer product r W/(W+r)·(x−x̄)(x−x̄)ᵀ per row (Welford), so the sum over times is,
 * row by row, that product times the hazard the row was exposed to: nothing is subtracted, so no digits are lost,
 * however extreme a value is. Sums of r are kept relative to the largest in their own risk set: exp can neither
 * overflow nor leave a risk set empty. Fitting is in newton.ts; rows that enter late, or stay on after a competing
 * event, are summed by interval-likelihood.ts.
 */
import { exp, log } from "../../core/elementary.ts";
import { addOuter, createOuterSum, flushOuter, type OuterSum } from "../../core/linear-algebra.ts";
import { differentiateIntervals, sumIntervalRisks, tiedDeaths } from "./interval-likelihood.ts";
import type { CoxRows } from "./rows.ts";

/** What an evaluation leaves per row and per group of tied times; reused between evaluations. */
export interface CoxWork {
  /** r_i × exp(−shift of its group). */
  readonly risk: Float64Array; // [N]
  /** The largest x_iβ among those at risk. */
  readonly shift: Float64Array; // [K]
  /** W_N and W_E, × exp(−shift). */
  readonly others: Float64Array; // [K]
  readonly dying: Float64Array; // [K]
  readonly deathWeight: Float64Array; // [K], Σ w over the deaths
  /** ΔH and the part of it that a death at that time was not exposed to, × exp(shift). */
  readonly hazard: Float64Array; // [K]
  readonly spared: Float64Array; // [K]
  /** Σ ΔH up to and including the group, within the stratum, × exp(shift). */
  readonly exposure: Float64Array; // [K]
}

export interface CoxDerivatives {
  readonly score: Float64Array; // [D]
  readonly information: Float64Array; // [D,D], both triangles
}

export interface CoxEvaluation extends CoxDerivatives {
  readonly logLikelihood: number;
}

/**
 * Called at every death time, from the last of the last stratum back to the first; x̄_E and Δ are overwritten
 * afterwards.
 */
export type CoxVisitor = (k: number, deathMean: Float64Array, difference: Float64Array) => void;

export function createCoxWork(rows: CoxRows): CoxWork {
  const K = rows.times.length;
  const perGroup = () => new Float64Array(K);
  return {
    risk: new Float64Array(rows.N),
    shift: perGroup(),
    others: perGroup(),
    dying: perGroup(),
    deathWeight: perGroup(),
    hazard: perGroup(),
    spared: perGroup(),
    exposure: perGroup(),
  };
}

/**
 * Evaluates at `beta` (of the scaled covariates). A log-likelihood of −Infinity or NaN means that beta is out of range.
 */
export function evaluateCox(rows: CoxRows, beta: Float64Array, work: CoxWork): CoxEvaluation {
  const logLikelihood = sumRisks(rows, beta, work);
  return { logLikelihood, ...differentiate(rows, work) };
}

/** Fills `work`; returns the log-likelihood. */
export function sumRisks(rows: CoxRows, beta: Float64Array, work: CoxWork): number {
  if (rows.intervals !== undefined) return sumIntervalRisks(rows, rows.intervals, beta, work);
  const { D, x, event, weight, start, firstGroup } = rows;
  const { risk, shift, others, dying, deathWeight, hazard, spared, exposure } = work;
  for (let i = 0, at = 0; i < rows.N; i++, at += D) {
    let predictor = 0;
    for (let j = 0; j < D; j++) predictor += x[at + j] * beta[j];
    risk[i] = predictor;
  }
  let logLikelihood = 0;
  for (let s = 0; s + 1 < firstGroup.length; s++) {
    let largest = Number.NEGATIVE_INFINITY;
    let later = 0;
    for (let k = firstGroup[s + 1] - 1; k >= firstGroup[s]; k--) {
      const before = largest;
      for (let i = start[k]; i < start[k + 1]; i++) if (risk[i] > largest) largest = risk[i];
      let W = later === 0 ? 0 : later * exp(before - largest);
      let E = 0;
      let deadWeight = 0;
      for (let i = start[k]; i < start[k + 1]; i++) {
        const predictor = risk[i] - largest;
        const r = weight[i] * exp(predictor);
        risk[i] = r;
        if (event[i] === 0) {
          W += r;
          continue;
        }
        E += r;
        deadWeight += weight[i];
        logLikelihood += weight[i] * predictor;
      }
      shift[k] = largest;
      others[k] = W;
      dying[k] = E;
      deathWeight[k] = deadWeight;
      hazard[k] = 0;
      spared[k] = 0;
      later = W + E;
      if (deadWeight === 0) continue;
      const { terms, share } = tiedDeaths(rows, k);
      const v = deadWeight / terms;
      for (let m = 0; m < terms; m++) {
        const f = m * share;
        const left = W + (1 - f) * E;
        logLikelihood -= v * log(left);
        hazard[k] += v / left;
        spared[k] += (v * f) / left;
      }
    }
  }
  accumulate(rows, work, hazard, exposure);
  return logLikelihood;
}

/** Running sums of values × exp(shift) within each stratum, each relative to the shift of its group. */
function accumulate({ firstGroup }: CoxRows, { shift }: CoxWork, values: Float64Array, sums: Float64Array) {
  for (let s = 0; s + 1 < firstGroup.length; s++)
    for (let k = firstGroup[s]; k < firstGroup[s + 1]; k++)
      sums[k] = values[k] + (k === firstGroup[s] ? 0 : sums[k - 1] * exp(shift[k] - shift[k - 1]));
}

/** Score and information from what `work` holds, each death time multiplied by its entry of `emphasis` if given. */
export function differentiate(
  rows: CoxRows,
  work: CoxWork,
  emphasis?: Float64Array, // [K]
  visit?: CoxVisitor,
): CoxDerivatives {
  if (rows.intervals !== undefined)
    return differentiateIntervals(rows, rows.intervals, work, emphasis, visit);
  const { D } = rows;
  let exposure = work.exposure;
  if (emphasis !== undefined) {
    exposure = new Float64Array(emphasis.length);
    accumulate(
      rows,
      work,
      work.hazard.map((h, k) => h * emphasis[k]),
      exposure,
    );
  }
  const score = new Float64Array(D);
  const sum = createOuterSum(D);
  for (let s = 0; s + 1 < rows.firstGroup.length; s++) {
    const groups = { first: rows.firstGroup[s], end: rows.firstGroup[s + 1] };
    goBackwards(rows, work, groups, { exposure, emphasis, visit, score, sum });
  }
  flushOuter(sum);
  const information = new Float64Array(D * D);
  for (let j = 0; j < D; j++)
    for (let k = 0; k <= j; k++)
      information[j * D + k] = information[k * D + j] = sum.matrix[j * sum.width + k];
  return { score, information };
}

interface Sums {
  readonly exposure: Float64Array; // [K]
  readonly emphasis: Float64Array | undefined; // [K]
  readonly visit: CoxVisitor | undefined;
  readonly score: Float64Array; // [D]
  readonly sum: OuterSum;
}

/** Processes one stratum from its last time to its first; rows enter the risk set as their times are reached. */
function goBackwards(
  rows: CoxRows,
  work: CoxWork,
  { first, end }: { readonly first: number; readonly end: number },
  { exposure, emphasis, visit, score, sum }: Sums,
): void {
  const { D, x, event, weight, start, deaths } = rows;
  const { risk, shift, others, dying, deathWeight, spared } = work;
  const mean = new Float64Array(D); // x̄_N
  const deathMean = new Float64Array(D); // x̄_E
  const difference = new Float64Array(D);
  /** Adds row i to a set of weight W and mean `of`; its spread counts `exposed` times. Returns the new weight. */
  const enter = (i: number, W: number, of: Float64Array, exposed: number): number => {
    const r = risk[i];
    const at = i * D;
    if (W === 0) {
      for (let j = 0; j < D; j++) of[j] = x[at + j];
      return r;
    }
    if (r === 0) return W;
    const share = r / (W + r);
    for (let j = 0; j < D; j++) difference[j] = x[at + j] - of[j];
    addOuter(sum, W * share * exposed, difference, 0, D);
    for (let j = 0; j < D; j++) of[j] += share * difference[j];
    return W + r;
  };
  let W = 0;
  for (let k = end - 1; k >= first; k--) {
    if (k + 1 < end) W *= exp(shift[k + 1] - shift[k]);
    for (let i = start[k]; i < start[k + 1]; i++) if (event[i] === 0) W = enter(i, W, mean, exposure[k]);
    if (deaths[k] === 0) continue;

    const g = emphasis === undefined ? 1 : emphasis[k];
    let E = 0;
    for (let i = start[k]; i < start[k + 1]; i++)
      if (event[i] === 1) E = enter(i, E, deathMean, exposure[k] - g * spared[k]);
    if (deaths[k] > 1)
      for (let i = start[k]; i < start[k + 1]; i++) {
        if (event[i] === 0) continue;
        for (let j = 0; j < D; j++) score[j] += g * weight[i] * (x[i * D + j] - deathMean[j]);
      }
    const all = others[k] + dying[k];
    const { terms, share } = tiedDeaths(rows, k);
    const v = deathWeight[k] / terms;
    let towards = 0; // Σ_k v W_N/W_k
    let apart = 0; // Σ_k v W_N (1−f_k) W_E/W_k²
    for (let m = 0; m < terms; m++) {
      const part = 1 - m * share;
      const left = others[k] + part * dying[k];
      const pull = (v * others[k]) / left;
      towards += pull;
      apart += (pull * part * dying[k]) / left;
    }
    const earlier = k === first ? 0 : exposure[k - 1] * exp(shift[k] - shift[k - 1]);
    if (W === 0) mean.set(deathMean);
    for (let j = 0; j < D; j++) {
      difference[j] = deathMean[j] - mean[j];
      score[j] += g * towards * difference[j];
    }
    visit?.(k, deathMean, difference);
    addOuter(sum, ((others[k] * dying[k]) / all) * earlier + g * apart, difference, 0, D);
    if (W === 0) W = E;
    else {
      for (let j = 0; j < D; j++) mean[j] += (dying[k] / all) * difference[j];
      W += E;
    }
  }
}
