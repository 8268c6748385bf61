/**
 * What is reported for each coefficient of a Cox model: hazard ratio with a 95 % interval, z and p, from the robust
 * error where there is one. A column determined by others has no estimate; one that runs to infinity has no ratio,
 * error or test. Each missing number carries its reason. Robust errors stay right when rows of one cluster (the visits
 * of a person, both eyes) depend on each other: the sandwich V (Σ_c u_c u_cᵀ) V of R's `cluster()`, where V is the
 * inverse information and u_c the score residuals summed over the cluster (Lin & Wei 1989). A row's score residual (for
 * Efron's ties, the mean over the d steps of a tied time) is
 *   δ_i (x_i − x̄(t_i)) − ∫₀^{t_i} (x_i − x̄(t)) exp(x_iβ) dH(t).
 * The Wald test uses the sandwich; the robust score test uses the residuals at β = 0, as R's summary prints it.
 */
import { chiSquareUpperTail, normalQuantile } from "../../core/distributions.ts";
import { exp, square } from "../../core/elementary.ts";
import { InputError } from "../../core/errors.ts";
import { solveQuadratic } from "../../core/linear-algebra.ts";
import { absent, type Measured } from "../../core/measured.ts";
import { type ChiSquareTest, type CoxFit, chiSquareTest } from "./cox.ts";
import { visitIntervalResiduals } from "./interval-likelihood.ts";
import { type CoxWork, createCoxWork, differentiate, sumRisks } from "./likelihood.ts";
import { type CoxRows, type CoxSource, type PreparedCoxRows, toPreparedRows } from "./rows.ts";

/** One line of a Cox table: estimate, errors, hazard ratio with its interval, test. */
export interface CoxCoefficient {
  readonly name: string;
  /** Log hazard ratio per unit; if it runs to infinity, the value at which the likelihood stopped changing. */
  readonly estimate: Measured;
  /** From the inverse information. */
  readonly standardError: Measured;
  readonly robustStandardError: Measured;
  readonly hazardRatio: Measured;
  /** 95 % limits of the hazard ratio. */
  readonly lower: Measured;
  readonly upper: Measured;
  readonly z: Measured;
  readonly p: Measured;
}

const LEVEL = 0.95;
const ALIASED = "earlier columns determine this one";
const INFINITE = "the coefficient runs to infinity";
const OUT_OF_RANGE = "beyond the largest or smallest number there is: give the column in a larger unit";

/** The table of a Cox fit, with robust errors in place of the usual ones where they are given. */
export function describeCoefficients(fit: CoxFit, robust?: CoxRobust): readonly CoxCoefficient[] {
  const reach = normalQuantile(1 - (1 - LEVEL) / 2);
  const infinite = new Set(fit.infinite);
  return fit.names.map((name, j) => {
    const estimate = fit.coefficients[j];
    const standardError = fit.standardErrors[j];
    const robustStandardError = robust === undefined ? Number.NaN : robust.standardErrors[j];
    const used = robust === undefined ? standardError : robustStandardError;
    const reason = Number.isNaN(estimate) ? ALIASED : infinite.has(j) ? INFINITE : undefined;
    const unless = (value: () => Measured): Measured => (reason === undefined ? value() : absent(reason));
    const test = (value: () => number): Measured =>
      unless(() => (used > 0 ? value() : absent("the standard error is 0")));
    const ratio = (logRatio: number): Measured => {
      const value = exp(logRatio);
      return value > 0 && value < Number.POSITIVE_INFINITY ? value : absent(OUT_OF_RANGE);
    };
    return {
      name,
      estimate: Number.isNaN(estimate) ? absent(ALIASED) : estimate,
      standardError: unless(() => standardError),
      robustStandardError:
        robust === undefined
          ? absent("no column says which rows belong together")
          : unless(() => robustStandardError),
      hazardRatio: unless(() => ratio(estimate)),
      lower: unless(() => ratio(estimate - reach * used)),
      upper: unless(() => ratio(estimate + reach * used)),
      z: test(() => estimate / used),
      p: test(() => chiSquareUpperTail(square(estimate / used), 1)),
    };
  });
}

/** Robust errors of a fitted model, and the tests that use them. */
export interface CoxRobust {
  /** The number of clusters among the rows. */
  readonly clusters: number;
  /** NaN where the fit has none. */
  readonly standardErrors: Float64Array; // [D]
  readonly covariance: Float64Array; // [D,D]
  readonly wald: Measured<ChiSquareTest>;
  readonly score: Measured<ChiSquareTest>;
}

/** `cluster` holds a number for each row of the input; rows with the same number belong together. */
export function robustCox(
  input: CoxSource,
  fit: CoxFit,
  cluster: ArrayLike<number>, // [N]
  weights?: ArrayLike<number>, // [N]
): CoxRobust {
  const { D } = fit;
  if (fit.ridge > 0)
    throw new InputError("robust errors are not defined for a ridge penalty", {
      code: "cox.robust",
      hint: "leave out the penalty or the clusters",
    });
  const N = "rows" in input ? input.rows.N : input.time.length;
  if (cluster.length !== N)
    throw new InputError(`cluster has ${cluster.length} entries, time has ${N}`, { code: "cox.input" });
  const prepared = toPreparedRows(input, { ties: fit.ties, timefix: fit.timefix, weights });
  const { scales } = prepared;
  const V = Float64Array.from(fit.covariance, (entry, at) =>
    Number.isNaN(entry) ? 0 : entry * scales[Math.floor(at / D)] * scales[at % D],
  );
  const gamma = Float64Array.from(fit.coefficients, (b, j) => (Number.isNaN(b) ? 0 : b * scales[j]));
  const own = sumByCluster(prepared, gamma, cluster);
  const clusters = own.length;
  const scaled = new Float64Array(D * D);
  for (const u of own) addOuterInto(scaled, multiply(V, u));
  const covariance = scaled.map((entry, at) =>
    Number.isNaN(fit.covariance[at]) ? Number.NaN : entry / (scales[Math.floor(at / D)] * scales[at % D]),
  );

  const used = [...fit.standardErrors.keys()].filter((j) => !Number.isNaN(fit.standardErrors[j]));
  const test = (matrix: Float64Array, u: Float64Array): Measured<ChiSquareTest> => {
    if (used.length === 0) return absent("no estimable covariate");
    if (fit.infinite.length > 0) return absent("a coefficient is infinite");
    const chiSquare = solveQuadratic(matrix, u, used);
    return chiSquare === undefined
      ? absent(`${clusters} people are too few for ${used.length} coefficients`)
      : chiSquareTest(chiSquare, used.length);
  };
  const atZero = sumByCluster(prepared, new Float64Array(D), cluster);
  const spread = new Float64Array(D * D);
  const total = new Float64Array(D);
  for (const u of atZero) {
    addOuterInto(spread, u);
    for (let j = 0; j < D; j++) total[j] += u[j];
  }
  return {
    clusters,
    standardErrors: Float64Array.from(scales, (_, j) => Math.sqrt(covariance[j * D + j])),
    covariance,
    wald: test(scaled, gamma),
    score: test(spread, total),
  };
}

function multiply(matrix: Float64Array, v: Float64Array): Float64Array {
  const D = v.length;
  return Float64Array.from(v, (_, j) => {
    let sum = 0;
    for (let k = 0; k < D; k++) sum += matrix[j * D + k] * v[k];
    return sum;
  });
}

function addOuterInto(matrix: Float64Array, v: Float64Array): void {
  const D = v.length;
  for (let j = 0; j < D; j++) for (let k = 0; k < D; k++) matrix[j * D + k] += v[j] * v[k];
}

/** Weighted score residuals of the scaled columns, summed over each cluster. */
function sumByCluster(
  { rows }: PreparedCoxRows,
  gamma: Float64Array,
  cluster: ArrayLike<number>,
): readonly Float64Array[] {
  const { D, order, weight } = rows;
  const work = createCoxWork(rows);
  sumRisks(rows, gamma, work);
  const sums = new Map<number, Float64Array>();
  visitScoreResiduals(rows, work, (i, residual) => {
    const of = cluster[order[i]];
    const sum = sums.get(of) ?? new Float64Array(D);
    sums.set(of, sum);
    for (let j = 0; j < D; j++) sum[j] += weight[i] * residual[j];
  });
  return [...sums.values()];
}

/** Goes forwards in time within each stratum: Σ ΔH and Σ x̄ ΔH at the time each row leaves. */
function visitScoreResiduals(
  rows: CoxRows,
  work: CoxWork,
  visit: (i: number, residual: Float64Array) => void,
): void {
  if (rows.intervals !== undefined) {
    visitIntervalResiduals(rows, rows.intervals, work, visit);
    return;
  }
  const { D, x, event, weight, start, deaths, firstGroup, ties } = rows;
  const { risk, shift, others, dying, deathWeight, exposure, spared } = work;
  const K = deaths.length;
  const deathMeans = new Float64Array(K * D);
  const differences = new Float64Array(K * D);
  differentiate(rows, work, undefined, (k, deathMean, difference) => {
    deathMeans.set(deathMean, k * D);
    differences.set(difference, k * D);
  });
  const residual = new Float64Array(D);
  const meanHazard = new Float64Array(D); // Σ x̄ ΔH
  const sparedMean = new Float64Array(D); // the part of it that a death at this time was not exposed to
  const meanOfMeans = new Float64Array(D);
  for (let s = 0; s + 1 < firstGroup.length; s++) {
    meanHazard.fill(0);
    for (let k = firstGroup[s]; k < firstGroup[s + 1]; k++) {
      const fade = k === firstGroup[s] ? 0 : exp(shift[k] - shift[k - 1]);
      for (let j = 0; j < D; j++) meanHazard[j] *= fade;
      sparedMean.fill(0);
      meanOfMeans.fill(0);
      const terms = deaths[k] === 0 ? 0 : ties === "efron" ? deaths[k] : 1;
      const v = deathWeight[k] / terms;
      for (let m = 0; m < terms; m++) {
        const f = m / terms;
        const left = others[k] + (1 - f) * dying[k];
        for (let j = 0, at = k * D; j < D; j++, at++) {
          const mean = deathMeans[at] - (others[k] / left) * differences[at];
          meanHazard[j] += (v / left) * mean;
          sparedMean[j] += ((v * f) / left) * mean;
          meanOfMeans[j] += mean / terms;
        }
      }
      for (let i = start[k]; i < start[k + 1]; i++) {
        const death = event[i] === 1;
        const ratio = risk[i] / weight[i];
        const exposed = death ? exposure[k] - spared[k] : exposure[k];
        for (let j = 0, at = i * D; j < D; j++, at++) {
          const passed = death ? meanHazard[j] - sparedMean[j] : meanHazard[j];
          residual[j] = (death ? x[at] - meanOfMeans[j] : 0) - ratio * (x[at] * exposed - passed);
        }
        visit(i, residual);
      }
    }
  }
}
