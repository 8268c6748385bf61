/**
 * What a fitted Cox model predicts: the linear predictor xβ, and survival curves S(t|x) = exp(−H0(t) exp(xβ)) from the
 * baseline hazard that goes with the treatment of ties, as R's survfit(coxph) computes it: Breslow ΔH0 = d/S0, Efron
 * ΔH0 = Σ_{k<d} 1/(S0 − (k/d) E0). The hazard is kept for the person at the column means, where its arithmetic is safe
 * however far from zero the covariates lie. H0 is a right-continuous step function, 0 before the first event and flat
 * after the last.
 */

import { countAtMost } from "../../core/ascending.ts";
import { exp, log } from "../../core/elementary.ts";
import { InputError } from "../../core/errors.ts";
import type { CoxWork } from "./likelihood.ts";
import type { PreparedCoxRows } from "./rows.ts";

export interface CoxBaseline {
  /** Distinct event times, ascending. */
  readonly time: Float64Array; // [K]
  /** H at those times for a person whose covariates are the column means. */
  readonly cumulativeHazardAtMeans: Float64Array; // [K]
}

/** The baseline of one stratum; without strata there is one, 0. */
export interface StratumBaseline extends CoxBaseline {
  readonly stratum: number;
}

/** What a linear predictor needs. */
interface LinearModel {
  readonly D: number;
  readonly coefficients: Float64Array; // [D]
}

/** What a prediction needs from a fitted model. */
export interface CoxPredictor extends LinearModel {
  readonly means: Float64Array; // [D]
  readonly baseline: CoxBaseline;
}

/**
 * A grid's upper edge may be rounded to just below an event time that lies in its bin; so edges are read later by this
 * relative amount.
 */
export const EDGE_SLACK = 1e-12;

/** The baselines of the last evaluation in `work`, at the scaled coefficients `beta`. */
export function readBaselines(
  { rows, means, centres, scales }: PreparedCoxRows,
  work: CoxWork,
  beta: Float64Array,
  strata: ArrayLike<number> | undefined,
): readonly StratumBaseline[] {
  const { firstGroup, deaths, order, start, times } = rows;
  // The sums are for a person at the centres; that person's hazards are exp(−shift) times what `work` holds.
  const toMeans = beta.reduce((sum, b, j) => sum + (b * (means[j] - centres[j])) / scales[j], 0);
  return Array.from({ length: firstGroup.length - 1 }, (_, s) => {
    const first = firstGroup[s];
    const at = Uint32Array.from(deaths.subarray(first, firstGroup[s + 1]).keys(), (k) => first + k).filter(
      (k) => deaths[k] > 0,
    );
    return {
      stratum: strata === undefined ? 0 : strata[order[start[first]]],
      time: Float64Array.from(at, (k) => times[k]),
      cumulativeHazardAtMeans: Float64Array.from(at, (k) => work.exposure[k] * exp(toMeans - work.shift[k])),
    };
  });
}

/** H0 at the baseline's event times for a person whose covariates are all 0 (R's basehaz(centered = FALSE)). */
export function cumulativeHazardAtZero(model: CoxPredictor): Float64Array {
  const logRatio = -sumProducts(model, (j) => model.means[j]);
  return model.baseline.cumulativeHazardAtMeans.map((hazard) => exp(log(hazard) + logRatio));
}

/** xβ per row, not centred; columns without a coefficient are left out. */
export function linearPredictor(model: LinearModel, x: ArrayLike<number>): Float64Array {
  return Float64Array.from({ length: countRows(model, x) }, (_, i) =>
    sumProducts(model, (j) => x[i * model.D + j]),
  );
}

/**
 * S(t|x) for every row of x [N,D] at each of the given times: [N, times.length] row-major. A model without covariates
 * takes one entry of x per row, which it does not read.
 */
export function coxCurves(model: CoxPredictor, x: ArrayLike<number>, times: ArrayLike<number>): Float64Array {
  const { D, means } = model;
  const N = countRows(model, x);
  const T = times.length;
  const hazard = readHazard(model.baseline, times);
  const survival = new Float64Array(N * T);
  for (let i = 0; i < N; i++) {
    const ratio = exp(sumProducts(model, (j) => x[i * D + j] - means[j]));
    for (let t = 0; t < T; t++) survival[i * T + t] = hazard[t] === 0 ? 1 : exp(-hazard[t] * ratio);
  }
  return survival;
}

/** Curves on a grid of T bins, read at each bin's upper edge; `edges` has T+1 entries, and edges[0] is the start. */
export function coxCurvesOnGrid(
  model: CoxPredictor,
  x: ArrayLike<number>,
  edges: ArrayLike<number>,
): { readonly N: number; readonly T: number; readonly survival: Float64Array } {
  const times = gridTimes(edges);
  return { N: countRows(model, x), T: times.length, survival: coxCurves(model, x, times) };
}

/** Where a grid's curves are read: just after each bin's upper edge. */
export function gridTimes(edges: ArrayLike<number>): Float64Array /* [T] */ {
  return Float64Array.from(
    { length: edges.length - 1 },
    (_, t) => edges[t + 1] + Math.abs(edges[t + 1]) * EDGE_SLACK,
  );
}

/** H at the upper edges for a person whose covariates are the column means. */
export function hazardOnGrid(baseline: CoxBaseline, edges: ArrayLike<number>): Float64Array /* [T] */ {
  return readHazard(baseline, gridTimes(edges));
}

function readHazard(baseline: CoxBaseline, times: ArrayLike<number>): Float64Array {
  return Float64Array.from(times, (time) => {
    const passed = countAtMost(baseline.time, time);
    return passed === 0 ? 0 : baseline.cumulativeHazardAtMeans[passed - 1];
  });
}

function sumProducts({ D, coefficients }: LinearModel, value: (j: number) => number): number {
  let sum = 0;
  for (let j = 0; j < D; j++) if (!Number.isNaN(coefficients[j])) sum += coefficients[j] * value(j);
  return sum;
}

/** How many rows x holds; see coxCurves for D = 0. */
function countRows({ D }: LinearModel, x: ArrayLike<number>): number {
  if (D === 0) return x.length;
  if (x.length % D !== 0)
    throw new InputError(`x has ${x.length} entries, not a multiple of the model's ${D} columns`, {
      code: "cox.input",
    });
  return x.length / D;
}
