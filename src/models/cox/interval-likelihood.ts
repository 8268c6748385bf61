/**
 * Cox's partial likelihood where rows are at risk over intervals (intervals.ts): the quantities of likelihood.ts, which
 * has the formulas, with others at risk W_N and x̄_N summed by ranges of groups. Two things differ from the sums of
 * plain rows. Sums of r are kept relative to the largest of the whole stratum. And the information is a difference,
 *   Σ_i r_i E_i x_i x_iᵀ − Σ_t Σ_k v x̄_k x̄_kᵀ,  E_i the hazard that row i was exposed to,
 * of centred columns, since a spread about a moving mean cannot be added up where rows leave it again. Score residuals
 * (coefficients.ts) of such rows are here as well.
 */
import { exp, log } from "../../core/elementary.ts";
import { addOuter, createOuterSum, flushOuter } from "../../core/linear-algebra.ts";
import { type CoxIntervals, createRangeSums } from "./intervals.ts";
import type { CoxDerivatives, CoxVisitor, CoxWork } from "./likelihood.ts";
import type { CoxRows } from "./rows.ts";

/** How many tied deaths share a time, and each one's f_k. */
export function tiedDeaths({ deaths, ties }: CoxRows, k: number) {
  const d = deaths[k];
  return ties === "efron" ? { terms: d, share: 1 / d } : { terms: 1, share: 0 };
}

const ONE = Float64Array.of(1);

/** Fills `work`; returns the log-likelihood. */
export function sumIntervalRisks(
  rows: CoxRows,
  intervals: CoxIntervals,
  beta: Float64Array,
  work: CoxWork,
): number {
  const { D, x, event, weight, start, firstGroup, deaths } = rows;
  const { risk, shift, others, dying, deathWeight, hazard, spared, exposure } = work;
  let logLikelihood = 0;
  dying.fill(0);
  deathWeight.fill(0);
  for (let s = 0; s + 1 < firstGroup.length; s++) {
    const [begin, end] = [start[firstGroup[s]], start[firstGroup[s + 1]]];
    let largest = Number.NEGATIVE_INFINITY;
    for (let i = begin; i < end; i++) {
      let predictor = 0;
      for (let j = 0, at = i * D; j < D; j++, at++) predictor += x[at] * beta[j];
      risk[i] = predictor;
      if (predictor > largest) largest = predictor;
    }
    shift.fill(largest, firstGroup[s], firstGroup[s + 1]);
    for (let i = begin; i < end; i++) {
      const predictor = risk[i] - largest;
      risk[i] = weight[i] * exp(predictor);
      if (event[i] === 0) continue;
      dying[intervals.own[i]] += risk[i];
      deathWeight[intervals.own[i]] += weight[i];
      logLikelihood += weight[i] * predictor;
    }
  }
  others.set(sumOthers(rows, intervals, work, 1, ONE));
  for (let k = 0; k < deaths.length; k++) {
    hazard[k] = 0;
    spared[k] = 0;
    if (deathWeight[k] === 0) continue;
    const { terms, share } = tiedDeaths(rows, k);
    const v = deathWeight[k] / terms;
    for (let m = 0; m < terms; m++) {
      const f = m * share;
      const left = others[k] + (1 - f) * dying[k];
      logLikelihood -= v * log(left);
      hazard[k] += v / left;
      spared[k] += (v * f) / left;
    }
  }
  accumulate(rows, hazard, exposure);
  return logLikelihood;
}

/** Running sums within each stratum. */
function accumulate({ firstGroup }: CoxRows, values: Float64Array, sums: Float64Array): void {
  for (let s = 0; s + 1 < firstGroup.length; s++)
    for (let k = firstGroup[s]; k < firstGroup[s + 1]; k++)
      sums[k] = values[k] + (k === firstGroup[s] ? 0 : sums[k - 1]);
}

/** Σ r x over those at risk in each group who do not die in it: [K, width]; x is `ONE` or the rows' covariates. */
function sumOthers(
  { N, event, deaths, firstGroup, start }: CoxRows,
  { first, own, staying }: CoxIntervals,
  { risk }: CoxWork,
  width: number,
  x: Float64Array,
): Float64Array {
  const K = deaths.length;
  const sums = createRangeSums(K, width);
  const at = (i: number) => (x === ONE ? 0 : i * width);
  for (let i = 0; i < N; i++) sums.add(first[i], own[i] + 1 - event[i], risk[i], x, at(i));
  const others = sums.collect();
  if (staying === null) return others;
  const stayed = new Float64Array(width);
  for (let s = 0; s + 1 < firstGroup.length; s++) {
    stayed.fill(0);
    for (let k = firstGroup[s]; k < firstGroup[s + 1]; k++) {
      const G = staying.uncensored[k];
      for (let j = 0; j < width; j++) others[k * width + j] += G * stayed[j];
      for (let i = start[k]; i < start[k + 1]; i++) {
        if (staying.rows[i] === 0) continue;
        for (let j = 0; j < width; j++) stayed[j] += (risk[i] / G) * x[at(i) + j];
      }
    }
  }
  return others;
}

/** Σ of `step` over the groups in which each row is at risk, less what it was spared, as it weighs there. */
function exposeRows(
  rows: CoxRows,
  { first, own, staying }: CoxIntervals,
  steps: Float64Array, // [K]
  spared: (k: number) => number,
): Float64Array {
  const { N, deaths, event, firstGroup } = rows;
  const K = deaths.length;
  const sums = new Float64Array(K);
  accumulate(rows, steps, sums);
  const begins = new Uint8Array(K);
  for (let s = 0; s + 1 < firstGroup.length; s++) begins[firstGroup[s]] = 1;
  const exposed = new Float64Array(N);
  for (let i = 0; i < N; i++) {
    const before = begins[first[i]] === 1 ? 0 : sums[first[i] - 1];
    exposed[i] = sums[own[i]] - before - (event[i] === 1 ? spared(own[i]) : 0);
  }
  if (staying === null) return exposed;
  const falling = new Float64Array(K);
  accumulate(
    rows,
    steps.map((step, k) => step * staying.uncensored[k]),
    falling,
  );
  for (let s = 0; s + 1 < firstGroup.length; s++) {
    const last = firstGroup[s + 1] - 1;
    for (let i = rows.start[firstGroup[s]]; i < rows.start[last + 1]; i++) {
      if (staying.rows[i] === 1) exposed[i] += (falling[last] - falling[own[i]]) / staying.uncensored[own[i]];
    }
  }
  return exposed;
}

/** x̄_E and Δ at the death times. */
function meansOfDeaths(rows: CoxRows, intervals: CoxIntervals, work: CoxWork) {
  const { N, D, x, event, deaths } = rows;
  const K = deaths.length;
  const deathMeans = new Float64Array(K * D);
  for (let i = 0; i < N; i++) {
    if (event[i] === 0) continue;
    const k = intervals.own[i];
    const share = work.dying[k] > 0 ? work.risk[i] / work.dying[k] : 1 / deaths[k];
    for (let j = 0; j < D; j++) deathMeans[k * D + j] += share * x[i * D + j];
  }
  const differences = sumOthers(rows, intervals, work, D, x);
  for (let k = 0; k < K; k++) {
    const W = work.others[k];
    for (let at = k * D; at < (k + 1) * D; at++)
      differences[at] = W > 0 ? deathMeans[at] - differences[at] / W : 0;
  }
  return { deathMeans, differences };
}

/** Score and information, each death time multiplied by its entry of `emphasis` if given. */
export function differentiateIntervals(
  rows: CoxRows,
  intervals: CoxIntervals,
  work: CoxWork,
  emphasis: Float64Array | undefined, // [K]
  visit: CoxVisitor | undefined,
): CoxDerivatives {
  const { N, D, x, event, weight, deaths } = rows;
  const { risk, others, dying, deathWeight, hazard, spared } = work;
  const g = (k: number) => (emphasis === undefined ? 1 : emphasis[k]);
  const { deathMeans, differences } = meansOfDeaths(rows, intervals, work);
  const score = new Float64Array(D);
  const sum = createOuterSum(D);
  const steps = hazard.map((step, k) => step * g(k));
  const exposed = exposeRows(rows, intervals, steps, (k) => spared[k] * g(k));
  for (let i = 0; i < N; i++) {
    addOuter(sum, risk[i] * exposed[i], x, i * D, D);
    if (event[i] === 0) continue;
    const k = intervals.own[i];
    for (let j = 0; j < D; j++) score[j] += g(k) * weight[i] * (x[i * D + j] - deathMeans[k * D + j]);
  }
  const mean = new Float64Array(D);
  for (let k = deaths.length - 1; k >= 0; k--) {
    if (deaths[k] === 0) continue;
    const { terms, share } = tiedDeaths(rows, k);
    const v = deathWeight[k] / terms;
    for (let m = 0; m < terms; m++) {
      const pull = others[k] / (others[k] + (1 - m * share) * dying[k]);
      for (let j = 0, at = k * D; j < D; j++, at++) {
        mean[j] = deathMeans[at] - pull * differences[at];
        score[j] += g(k) * v * pull * differences[at];
      }
      addOuter(sum, -g(k) * v, mean, 0, D);
    }
    visit?.(k, deathMeans.subarray(k * D, (k + 1) * D), differences.subarray(k * D, (k + 1) * D));
  }
  flushOuter(sum);
  const information = new Float64Array(D * D);
  for (let j = 0; j < D; j++)
    for (let k = 0; k <= j; k++)
      information[j * D + k] = information[k * D + j] = sum.matrix[j * sum.width + k];
  return { score, information };
}

/** Score residuals of every row, of its weight 1. */
export function visitIntervalResiduals(
  rows: CoxRows,
  intervals: CoxIntervals,
  work: CoxWork,
  visit: (i: number, residual: Float64Array) => void,
): void {
  const { N, D, x, event, weight, deaths } = rows;
  const { risk, others, dying, deathWeight, hazard, spared } = work;
  const K = deaths.length;
  const { deathMeans, differences } = meansOfDeaths(rows, intervals, work);
  const passed: Float64Array[] = []; // of each column, Σ x̄ dH that each row was exposed to
  const meanOfMeans = new Float64Array(K * D);
  for (let j = 0; j < D; j++) {
    const steps = new Float64Array(K);
    const sparedMean = new Float64Array(K);
    for (let k = 0; k < K; k++) {
      if (deaths[k] === 0) continue;
      const { terms, share } = tiedDeaths(rows, k);
      const v = deathWeight[k] / terms;
      for (let m = 0; m < terms; m++) {
        const left = others[k] + (1 - m * share) * dying[k];
        const mean = deathMeans[k * D + j] - (others[k] / left) * differences[k * D + j];
        steps[k] += (v / left) * mean;
        sparedMean[k] += ((v * m * share) / left) * mean;
        meanOfMeans[k * D + j] += mean / terms;
      }
    }
    passed.push(exposeRows(rows, intervals, steps, (k) => sparedMean[k]));
  }
  const exposed = exposeRows(rows, intervals, hazard, (k) => spared[k]);
  const residual = new Float64Array(D);
  for (let i = 0; i < N; i++) {
    const ratio = risk[i] / weight[i];
    for (let j = 0, at = i * D; j < D; j++, at++) {
      const own = event[i] === 1 ? x[at] - meanOfMeans[intervals.own[i] * D + j] : 0;
      residual[j] = own - ratio * (x[at] * exposed[i] - passed[j][i]);
    }
    visit(i, residual);
  }
}
