/**
 * How uncertain the curves of a Cox model are, as R's survfit(coxph) has it: for a person x
 *   Var Λ(t|x) = exp(2xβ) [Σ_{u ≤ t} Σ_k v/W_k² + d(t)ᵀ Cov(β) d(t)],   d(t) = Σ_{u ≤ t} Σ_k (x − x̄_k(u)) v/W_k,
 * with the quantities of likelihood.ts (Therneau & Grambsch 2000, §10.2). The sums are kept on the time grid, for the
 * person at the column means, so that a model needs T·(D + 1) numbers and the covariance and no rows.
 */
import { countAtMost } from "../../core/ascending.ts";
import { exp } from "../../core/elementary.ts";
import { type CoxPredictor, gridTimes, hazardOnGrid } from "./baseline.ts";
import type { CoxModel } from "./cox.ts";
import { createCoxWork, differentiate, sumRisks } from "./likelihood.ts";
import { type CoxInput, type PreparedCoxRows, prepareRows } from "./rows.ts";

/** What curves need beside the predictor to have errors. */
export interface CoxUncertainty {
  readonly kind: "cox";
  /** Of the coefficients, a lower triangle row by row; 0 where a column has no coefficient. */
  readonly covariance: readonly number[]; // [D(D+1)/2]
  /** Σ v/W² up to each edge, for the person at the column means. */
  readonly variance: readonly number[]; // [T]
  /** Σ (mean − x̄) v/W up to each edge. */
  readonly drift: readonly number[]; // [T,D]
}

/** Beyond this many columns the covariance would be most of a model file. */
const MOST_COLUMNS = 400;

/** Null where a coefficient is infinite, has no error, or there are too many of them. */
export function measureCoxUncertainty(
  input: CoxInput,
  fit: CoxModel,
  edges: ArrayLike<number>,
): CoxUncertainty | null {
  const { D, covariance, infinite, coefficients, ties, timefix } = fit;
  if (D > MOST_COLUMNS || infinite.length > 0) return null;
  const prepared = prepareRows(input, { ties, timefix, weights: undefined });
  const { time, variance, drift } = cumulateDrift(prepared, coefficients);
  const T = edges.length - 1;
  const passed = gridTimes(edges).map((at) => countAtMost(time, at) - 1);
  const packed: number[] = [];
  for (let j = 0; j < D; j++) {
    for (let k = 0; k <= j; k++) packed.push(Number.isNaN(covariance[j * D + k]) ? 0 : covariance[j * D + k]);
  }
  return {
    kind: "cox",
    covariance: packed,
    variance: Array.from(passed, (k) => (k < 0 ? 0 : variance[k])),
    drift: Array.from({ length: T * D }, (_, at) => {
      const k = passed[Math.floor(at / D)];
      return k < 0 ? 0 : drift[k * D + (at % D)];
    }),
  };
}

/** Both sums at every time, in the units of the columns given. */
function cumulateDrift({ rows, means, centres, scales }: PreparedCoxRows, coefficients: Float64Array) {
  const { D, times, deaths, ties } = rows;
  const K = times.length;
  const beta = coefficients.map((slope, j) => (Number.isNaN(slope) ? 0 : slope * scales[j]));
  const work = createCoxWork(rows);
  sumRisks(rows, beta, work);
  const atMeans = means.map((mean, j) => (mean - centres[j]) / scales[j]);
  const toMeans = beta.reduce((sum, slope, j) => sum + slope * atMeans[j], 0);
  const variance = new Float64Array(K);
  const drift = new Float64Array(K * D);
  differentiate(rows, work, undefined, (k, deathMean, difference) => {
    const terms = ties === "efron" ? deaths[k] : 1;
    const v = work.deathWeight[k] / terms;
    const ratio = exp(toMeans - work.shift[k]);
    for (let m = 0; m < terms; m++) {
      const dying = (1 - (ties === "efron" ? m / terms : 0)) * work.dying[k];
      const left = work.others[k] + dying;
      variance[k] += v * (ratio / left) * (ratio / left);
      for (let j = 0; j < D; j++) {
        // x̄ of the risk set is x̄_E less the others' share of Δ.
        const mean = deathMean[j] - (work.others[k] / left) * difference[j];
        drift[k * D + j] += ((v * ratio) / left) * (atMeans[j] - mean) * scales[j];
      }
    }
  });
  for (let k = 1; k < K; k++) {
    variance[k] += variance[k - 1];
    for (let j = 0; j < D; j++) drift[k * D + j] += drift[(k - 1) * D + j];
  }
  return { time: times, variance, drift };
}

/** Standard errors of log Λ(t|x) at the edges: x [N,D] gives [N,T]. */
export function coxErrors(
  model: CoxPredictor,
  { covariance, variance, drift }: CoxUncertainty,
  x: ArrayLike<number>, // [N,D]
  edges: ArrayLike<number>,
): Float64Array {
  const { D, means } = model;
  const T = variance.length;
  const hazard = hazardOnGrid(model.baseline, edges);
  const N = D === 0 ? x.length : x.length / D;
  const errors = new Float64Array(N * T);
  const d = new Float64Array(D);
  for (let n = 0; n < N; n++) {
    for (let t = 0; t < T; t++) {
      if (hazard[t] === 0) continue;
      for (let j = 0; j < D; j++) d[j] = (x[n * D + j] - means[j]) * hazard[t] + drift[t * D + j];
      errors[n * T + t] = Math.sqrt(variance[t] + quadratic(covariance, d)) / hazard[t];
    }
  }
  return errors;
}

/** dᵀ C d of a packed lower triangle. */
function quadratic(packed: readonly number[], d: Float64Array): number {
  let sum = 0;
  for (let j = 0, at = 0; j < d.length; j++) {
    for (let k = 0; k < j; k++) sum += 2 * packed[at++] * d[j] * d[k];
    sum += packed[at++] * d[j] * d[j];
  }
  return sum;
}

/** The standard error of (x − y)β, a log hazard ratio. */
export function coxContrastError(
  { covariance }: Pick<CoxUncertainty, "covariance">,
  x: ArrayLike<number>, // [D]
  y: ArrayLike<number>, // [D]
): number {
  let variance = 0;
  for (let j = 0, at = 0; j < x.length; j++) {
    for (let k = 0; k <= j; k++)
      variance += (j === k ? 1 : 2) * covariance[at++] * (x[j] - y[j]) * (x[k] - y[k]);
  }
  return Math.sqrt(Math.max(variance, 0));
}
