/**
 * Tests whether hazards are proportional: the score test, at θ = 0, of coefficients that change with time, β_j(t) = β_j
 * + θ_j g(t), for each term (all columns of a category together) and for all terms at once, as cox.zph of R's survival
 * ≥ 3 computes it from the Schoenfeld residuals (Grambsch & Therneau 1994; their test replaced V_t by its mean, this
 * one does not):
 *   χ² = u_θᵀ (K − J I⁻¹ J)⁻¹ u_θ,  u_θ = Σ g (x − x̄),  I, J, K = Σ V_t, Σ g V_t, Σ g² V_t over the deaths.
 * g is the time itself (identity) or 1 − S(t−) of the overall Kaplan-Meier curve (km, R's default), minus its mean over
 * events.
 */
import { countBelow } from "../../core/ascending.ts";
import { factorCholesky, solveCholesky, solveQuadratic } from "../../core/linear-algebra.ts";
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import { type ChiSquareTest, type CoxFit, chiSquareTest } from "./cox.ts";
import { createCoxWork, differentiate, sumRisks } from "./likelihood.ts";
import { type CoxRows, type CoxSource, toPreparedRows } from "./rows.ts";

/** The time scale on which a coefficient may have changed. */
export type TimeTransform = "identity" | "km";

/** Columns of the design that form one term: a number, or all levels of a category. */
export interface CoxTerm {
  readonly name: string;
  readonly columns: readonly number[];
}

/** Tests of whether hazard ratios change over time, by term and for all together. */
export interface ProportionalHazards {
  readonly transform: TimeTransform;
  readonly terms: readonly { readonly name: string; readonly test: Measured<ChiSquareTest> }[];
  readonly global: Measured<ChiSquareTest>;
}

/**
 * The cost of the test's matrices is cubic in the columns: beyond this many the test would take longer than the fit.
 */
const MAX_TESTED_COLUMNS = 500;

/** The test for each term and for all of them. */
export function testProportionalHazards(
  input: CoxSource,
  fit: CoxFit,
  terms: readonly CoxTerm[],
  transform: TimeTransform,
  weights?: ArrayLike<number>, // [N]
): ProportionalHazards {
  const statistic = createStatistic(input, fit, transform, weights);
  const test = (columns: readonly number[]): Measured<ChiSquareTest> => {
    if (isAbsent(statistic)) return statistic;
    const used = columns.filter((j) => !Number.isNaN(fit.coefficients[j]));
    if (used.length === 0) return absent("no estimable covariate");
    const chiSquare = solveQuadratic(statistic.variance, statistic.score, used);
    return chiSquare === undefined
      ? absent("the events cannot tell a change over time from no change")
      : chiSquareTest(chiSquare, used.length);
  };
  return {
    transform,
    terms: terms.map(({ name, columns }) => ({ name, test: test(columns) })),
    global: test([...fit.coefficients.keys()]),
  };
}

/** u_θ and K − J I⁻¹ J, on the scaled columns. */
function createStatistic(
  input: CoxSource,
  fit: CoxFit,
  transform: TimeTransform,
  weights: ArrayLike<number> | undefined,
): Measured<{ readonly score: Float64Array; readonly variance: Float64Array }> {
  const { D } = fit;
  if (fit.ridge > 0) return absent("fitted with a ridge penalty");
  if (fit.infinite.length > 0) return absent("a coefficient is infinite");
  if ("rows" in input && input.rows.intervals?.staying)
    return absent("no test of this kind for a subdistribution");
  if (D > MAX_TESTED_COLUMNS) return absent(`more than ${MAX_TESTED_COLUMNS} columns`);
  const { rows, scales } = toPreparedRows(input, { ties: fit.ties, timefix: fit.timefix, weights });
  const g = centreTimes(rows, transform === "identity" ? rows.times : deadShare(rows));
  if (g === null) return absent("all events are at one time");
  const gamma = Float64Array.from(fit.coefficients, (b, j) => (Number.isNaN(b) ? 0 : b * scales[j]));
  const work = createCoxWork(rows);
  sumRisks(rows, gamma, work);
  const plain = differentiate(rows, work);
  const first = differentiate(rows, work, g);
  const second = differentiate(
    rows,
    work,
    g.map((value) => value * value),
  );
  const bounds = Float64Array.from(fit.coefficients, (b) => (Number.isNaN(b) ? Number.POSITIVE_INFINITY : 0));
  const factor = factorCholesky(plain.information, D, bounds);
  const variance = second.information.slice();
  for (let j = 0; j < D; j++) {
    const solved = solveCholesky(factor, first.information.subarray(j * D, j * D + D));
    for (let k = 0; k < D; k++)
      for (let m = 0; m < D; m++) variance[j * D + k] -= first.information[k * D + m] * solved[m];
  }
  return { score: first.score, variance };
}

/**
 * Subtracts the mean over events and scales the largest size to 1, which changes no statistic; null if nothing varies.
 */
function centreTimes({ deaths }: CoxRows, value: Float64Array): Float64Array | null {
  let sum = 0;
  let events = 0;
  for (let k = 0; k < deaths.length; k++) {
    sum += deaths[k] * value[k];
    events += deaths[k];
  }
  const centred = value.map((one, k) => (deaths[k] === 0 ? 0 : one - sum / events));
  const largest = centred.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
  const first = deaths.findIndex((d) => d > 0);
  if (deaths.every((d, k) => d === 0 || value[k] === value[first])) return null;
  return centred.map((one) => one / largest);
}

/** 1 − S(t−) at each group's time, where S is that of the rows of all strata together, unweighted as in R. */
function deadShare({ times, start, deaths, intervals }: CoxRows): Float64Array {
  const entries = intervals?.from.slice().sort();
  const byTime = Uint32Array.from(times.keys());
  // One stratum's times ascend already.
  if (!times.every((time, k) => k === 0 || times[k - 1] <= time)) byTime.sort((a, b) => times[a] - times[b]);
  const share = new Float64Array(times.length);
  let atRisk = start[times.length];
  let S = 1;
  for (let from = 0; from < byTime.length; ) {
    let end = from;
    let dead = 0;
    let leaving = 0;
    for (; end < byTime.length && times[byTime[end]] === times[byTime[from]]; end++) {
      const k = byTime[end];
      share[k] = 1 - S;
      dead += deaths[k];
      leaving += start[k + 1] - start[k];
    }
    const late = entries === undefined ? 0 : entries.length - countBelow(entries, times[byTime[from]]);
    if (dead > 0) S *= (atRisk - late - dead) / (atRisk - late);
    atRisk -= leaving;
    from = end;
  }
  return share;
}
