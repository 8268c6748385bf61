/**
 * Cox's proportional hazards model, h(t|x) = h0(t) exp(xβ), fitted on the partial likelihood (likelihood.ts) by
 * Newton's method (newton.ts), optionally with a ridge penalty ½·ridge·Σβ² on the columns as given, and with a baseline
 * hazard of its own for each stratum. Covariates are centred and scaled inside for conditioning; every result is in the
 * units given. What cannot be estimated is reported as in R's coxph: a column determined by earlier ones has no
 * coefficient (NaN) and a warning; a coefficient the likelihood pushes to infinity keeps the value where the likelihood
 * stopped changing, has no error, and a warning. Case weights act as in coxph: under Efron's ties a weight of 2 is not
 * quite the same as two rows. Curves are in baseline.ts, errors robust to repeated rows in coefficients.ts, and the
 * test of proportional hazards in proportional.ts. Rows are at risk after their entry, where they have one, so a person
 * whose covariates change is several rows, one after the other.
 */
import { chiSquareUpperTail, logChiSquareUpperTail } from "../../core/distributions.ts";
import { InputError, NumericalError } from "../../core/errors.ts";
import { factorCholesky, invertCholesky, solveCholesky } from "../../core/linear-algebra.ts";
import { absent, type Measured } from "../../core/measured.ts";
import { type CoxBaseline, readBaselines, type StratumBaseline } from "./baseline.ts";
import { checkInput, nameColumn } from "./check-input.ts";
import { createCoxWork } from "./likelihood.ts";
import { type CoxMaximum, maximiseCox } from "./newton.ts";
import {
  type CoxInput,
  type CoxTies,
  type PreparedCoxRows,
  prepareRows,
  type StratifiedCoxInput,
  takeRows,
} from "./rows.ts";

export {
  type CoxBaseline,
  type CoxPredictor,
  coxCurves,
  coxCurvesOnGrid,
  cumulativeHazardAtZero,
  linearPredictor,
  type StratumBaseline,
} from "./baseline.ts";
export type { CoxInput, CoxTies, PreparedCoxRows, StratifiedCoxInput } from "./rows.ts";

/** Ties and limits of the iteration. */
export interface CoxOptions {
  /** How tied deaths are treated; default "efron". */
  readonly ties?: CoxTies;
  /** Whether times that differ only by rounding are tied, by R's rule (core/ascending.ts); default true, as in R. */
  readonly timefix?: boolean;
  /** λ of the penalty ½·λ·Σβ²; default 0. */
  readonly ridge?: number;
  /** Largest number of Newton steps; default 100. */
  readonly maxIterations?: number;
  /** Newton stops when the next step is shorter than this many standard errors; default 1e-12. */
  readonly tolerance?: number;
  /** Case weights ≥ 0; rows of weight 0 take no part. Default 1 each. */
  readonly weights?: ArrayLike<number>; // [N]
}

export interface ChiSquareTest {
  readonly chiSquare: number;
  readonly df: number;
  readonly p: number;
  /** log p, which stays finite where p underflows to 0. */
  readonly logP: number;
}

/** A fitted Cox model: coefficients, their errors and tests, and the baseline of each stratum. */
export interface CoxFit {
  readonly kind: "cox";
  readonly ties: CoxTies;
  readonly timefix: boolean;
  readonly ridge: number;
  readonly D: number;
  readonly names: readonly string[]; // [D]
  /** NaN where the column is determined by earlier ones; such a column is left out of every prediction. */
  readonly coefficients: Float64Array; // [D]
  /** NaN where there is no coefficient or it is infinite. */
  readonly standardErrors: Float64Array; // [D]
  /** Inverse of the (penalised) information; rows and columns without a standard error are NaN. */
  readonly covariance: Float64Array; // [D,D]
  /** Columns whose coefficients the likelihood pushes to infinity. */
  readonly infinite: readonly number[];
  /** (Weighted) column means: the covariates of the person the baselines describe. */
  readonly means: Float64Array; // [D]
  /** One for each stratum that has rows, ascending. */
  readonly baselines: readonly StratumBaseline[];
  /** Partial log-likelihood at the coefficients, without the penalty. */
  readonly logLikelihood: number;
  /** The partial log-likelihood with all coefficients 0. */
  readonly logLikelihoodNull: number;
  readonly tests: {
    readonly likelihoodRatio: Measured<ChiSquareTest>;
    readonly score: Measured<ChiSquareTest>;
    readonly wald: Measured<ChiSquareTest>;
  };
  readonly converged: boolean;
  readonly iterations: number;
  /** Rows used, and events among them. */
  readonly n: number;
  readonly events: number;
  readonly warnings: readonly string[];
}

/** A Cox model with one baseline hazard for everyone, from which curves follow. */
export interface CoxModel extends CoxFit {
  readonly baseline: CoxBaseline;
}

/** Newton's method keeps a D × D matrix (32 MB at this many columns) and factors it at every step. */
export const MAX_COX_COLUMNS = 2000;
const DEFAULT_MAX_ITERATIONS = 100;
const DEFAULT_TOLERANCE = 1e-12;
/** The most columns that one message names. */
const MAX_COLUMNS_NAMED = 5;

/**
 * Fits a proportional hazards model by Newton's method; where strata are given, only rows of the same stratum are
 * compared.
 */
export function fitCox(input: StratifiedCoxInput, options?: CoxOptions): CoxFit;
export function fitCox(input: CoxInput, options?: CoxOptions): CoxModel;
export function fitCox(
  input: CoxInput | StratifiedCoxInput,
  options: CoxOptions = {},
): CoxFit & { readonly baseline?: CoxBaseline } {
  const { weights } = options;
  checkFit(input, options);
  const fit = fitPreparedCox(prepareRows(input, { ...tiesOf(options), weights }), input, options);
  return input.strata === undefined ? { ...fit, baseline: fit.baselines[0] } : fit;
}

/** A fit and the rows it was made of, for tests and errors of the same rows. */
export interface FittedRows {
  readonly fit: CoxFit;
  readonly prepared: PreparedCoxRows;
}

/** The same for a design that nobody else needs: its memory is taken for the sorted rows. */
export function fitCoxInPlace(
  input: (CoxInput | StratifiedCoxInput) & { readonly x: Float64Array },
  options: Omit<CoxOptions, "weights"> = {},
): FittedRows {
  checkFit(input, options);
  const prepared = takeRows(input, tiesOf(options));
  return { fit: fitPreparedCox(prepared, input, options), prepared };
}

function tiesOf({ ties = "efron", timefix = true }: CoxOptions): { ties: CoxTies; timefix: boolean } {
  return { ties, timefix };
}

function checkFit(input: CoxInput | StratifiedCoxInput, { ridge = 0, weights }: CoxOptions): void {
  checkColumns(input.D);
  checkInput(input, weights);
  if (!(ridge >= 0 && ridge < Number.POSITIVE_INFINITY))
    throw new InputError(`ridge is not a number from 0 up: ${ridge}`, { code: "cox.ridge" });
}

/** The fit of rows that are prepared already; the rest of the input names columns and strata. */
export function fitPreparedCox(
  prepared: PreparedCoxRows,
  { D, strata, ...input }: Pick<CoxInput | StratifiedCoxInput, "D" | "names" | "strata">,
  options: CoxOptions,
): CoxFit {
  const { ridge = 0 } = options;
  const names = Array.from({ length: D }, (_, j) => nameColumn(input.names, j));
  const { rows, means, scales, ranges } = prepared;
  const events = rows.event.reduce((sum, event) => sum + event, 0);
  if (events === 0)
    throw new InputError(`no events among ${rows.N} rows: a Cox model needs at least one`, {
      code: "outcome.noEvents",
      hint: "check which value of the event column means that the event happened",
    });
  const work = createCoxWork(rows);
  const maximum = maximiseCox(rows, work, {
    penalty: scales.map((scale) => ridge / (scale * scale)),
    ranges,
    maxIterations: options.maxIterations ?? DEFAULT_MAX_ITERATIONS,
    tolerance: options.tolerance ?? DEFAULT_TOLERANCE,
  });
  const { beta, kept, infinite, factor, converged, iterations } = maximum;

  // Back to the units given: β = γ / scale.
  const noError = new Uint8Array(D);
  for (let j = 0; j < D; j++) noError[j] = kept[j] === 0 || infinite.includes(j) ? 1 : 0;
  const covariance = invertCholesky(factor).map((entry, at) => {
    const j = Math.floor(at / D);
    const k = at % D;
    return noError[j] + noError[k] > 0 ? Number.NaN : entry / (scales[j] * scales[k]);
  });
  return {
    kind: "cox",
    ...tiesOf(options),
    ridge,
    D,
    names,
    coefficients: beta.map((b, j) => (kept[j] === 0 ? Number.NaN : b / scales[j])),
    standardErrors: Float64Array.from(scales, (_, j) => Math.sqrt(covariance[j * D + j])),
    covariance,
    infinite,
    means,
    baselines: readBaselines(prepared, work, beta, strata),
    logLikelihood: maximum.evaluation.logLikelihood,
    logLikelihoodNull: maximum.atZero.logLikelihood,
    tests: testCoefficients(maximum, ridge),
    converged,
    iterations,
    n: rows.N,
    events,
    warnings: warnOfFit(maximum, names),
  };
}

/** Refuses a fit whose curves cannot be trusted: it did not converge, or its hazards overflow. */
export function requireCurves({ converged, iterations, baseline }: CoxModel): void {
  if (!converged)
    throw new NumericalError(`the Cox fit did not converge in ${iterations} iterations`, {
      code: "cox.notConverged",
      hint: "leave out features that are nearly determined by others",
    });
  const largest = baseline.cumulativeHazardAtMeans.at(-1) ?? 0;
  if (largest > 0 && largest < Number.POSITIVE_INFINITY) return;
  throw new NumericalError(`the baseline hazard of the Cox fit is not a number above 0: ${largest}`, {
    code: "cox.baseline",
    hint: "a feature has values so far out that nobody is like the mean: correct them or take logarithms",
  });
}

/** Refuses more columns than Newton's method can handle. */
export function checkColumns(D: number): void {
  if (D <= MAX_COX_COLUMNS) return;
  throw new InputError(`too many columns for a Cox model: ${D} (at most ${MAX_COX_COLUMNS})`, {
    code: "cox.columns",
    hint: "choose among them (--features, --drop), or train a network: --method nll --network linear",
  });
}

function testCoefficients(maximum: CoxMaximum, ridge: number): CoxFit["tests"] {
  const { beta, atZero, evaluation, kept, rank, infinite } = maximum;
  const D = beta.length;
  const untested =
    D === 0
      ? "no covariates"
      : rank === 0
        ? "no estimable covariate"
        : ridge > 0
          ? "fitted with a ridge penalty"
          : "";
  const test = (chiSquare: () => number): Measured<ChiSquareTest> =>
    untested === "" ? chiSquareTest(chiSquare(), rank) : absent(untested);
  const pivotBounds = Float64Array.from(kept, (use) => (use === 1 ? 0 : Number.POSITIVE_INFINITY));
  const scoreStep = () => solveCholesky(factorCholesky(atZero.information, D, pivotBounds), atZero.score);
  return {
    likelihoodRatio: test(() => 2 * (evaluation.logLikelihood - atZero.logLikelihood)),
    score: test(() => scoreStep().reduce((sum, s, j) => sum + s * atZero.score[j], 0)),
    wald:
      untested === "" && infinite.length > 0
        ? absent("a coefficient is infinite")
        : test(() => quadraticForm(evaluation.information, beta)),
  };
}

function warnOfFit(
  { kept, infinite, converged, iterations }: CoxMaximum,
  names: readonly string[],
): string[] {
  const warnings = names
    .filter((_, j) => kept[j] === 0)
    .map((name) => `column "${name}" is constant or determined by the columns before it: no coefficient`);
  if (infinite.length > 0) warnings.push(describeInfinite(infinite.map((j) => names[j])));
  if (!converged) warnings.push(`Newton's method did not converge in ${iterations} iterations`);
  return warnings;
}

/** A sentence that names the coefficients without a maximum. */
export function describeInfinite(names: readonly string[]): string {
  const shown = names.slice(0, MAX_COLUMNS_NAMED).map((name) => `"${name}"`);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : "";
  const [who, run, it] =
    names.length === 1
      ? [`coefficient of ${shown[0]}`, "runs", "it"]
      : [`coefficients of ${shown.join(", ")}${more}`, "run", "them"];
  return `the ${who} ${run} to infinity: the likelihood keeps growing with ${it}`;
}

export function chiSquareTest(value: number, df: number): ChiSquareTest {
  const chiSquare = Math.max(0, value); // rounding may put a zero statistic just below 0
  return { chiSquare, df, p: chiSquareUpperTail(chiSquare, df), logP: logChiSquareUpperTail(chiSquare, df) };
}

function quadraticForm(matrix: Float64Array, v: Float64Array): number {
  return matrix.reduce((sum, entry, at) => sum + entry * v[Math.floor(at / v.length)] * v[at % v.length], 0);
}
