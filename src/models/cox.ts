/**
 * Cox's proportional hazards model, h(t|x) = h0(t) exp(xβ), fitted by Newton's method on the partial likelihood
 * (cox-likelihood.ts) with step halving, optionally with a ridge penalty ½·ridge·Σβ² on the columns as given. Covariates are
 * centred and scaled inside for conditioning; every result is in the units given. What cannot be estimated is said, as R's
 * coxph says it: a column determined by earlier ones has no coefficient (NaN) and a warning; a coefficient the likelihood
 * pushes to infinity keeps the value where the likelihood stopped changing, and a warning. Case weights act as in coxph: under
 * Efron's ties a weight of 2 is not quite the same as two rows. Curves are cox-baseline.ts' business. No strata, no delayed
 * entry, no time-varying covariates.
 */
import { chiSquareUpperTail, logChiSquareUpperTail } from "../core/distributions.ts";
import { InputError } from "../core/errors.ts";
import { factorCholesky, invertCholesky, solveCholesky } from "../core/linear-algebra.ts";
import { absent, type Measured } from "../core/measured.ts";
import { type CoxBaseline, readBaseline } from "./cox-baseline.ts";
import { type CoxEvaluation, createCoxWork, evaluateCox } from "./cox-likelihood.ts";
import {
  type CoxInput,
  type CoxRows,
  type CoxTies,
  checkInput,
  nameColumn,
  prepareRows,
} from "./cox-rows.ts";

export {
  type CoxBaseline,
  type CoxPredictor,
  coxCurves,
  coxCurvesOnGrid,
  cumulativeHazardAtZero,
  linearPredictor,
} from "./cox-baseline.ts";
export type { CoxInput, CoxTies } from "./cox-rows.ts";

/** Ties and limits of the iteration. */
export interface CoxOptions {
  /** How tied deaths are treated; default "efron". */
  readonly ties?: CoxTies;
  /** λ of the penalty ½·λ·Σβ²; default 0. */
  readonly ridge?: number;
  /** Largest number of Newton steps; default 50. */
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

/** A fitted Cox model: coefficients, their errors, tests and baseline. */
export interface CoxModel {
  readonly kind: "cox";
  readonly ties: CoxTies;
  readonly ridge: number;
  readonly D: number;
  readonly names: readonly string[]; // [D]
  /** NaN where the column is determined by earlier ones; such a column is left out of every prediction. */
  readonly coefficients: Float64Array; // [D]
  readonly standardErrors: Float64Array; // [D], NaN where there is no coefficient
  /** Inverse of the (penalised) information; rows and columns without a coefficient are NaN. */
  readonly covariance: Float64Array; // [D,D]
  /** (Weighted) column means, the person `baseline` belongs to. */
  readonly means: Float64Array; // [D]
  readonly baseline: CoxBaseline;
  /** Partial log-likelihood at the coefficients, without the penalty. */
  readonly logLikelihood: number;
  /** The same with all coefficients 0. */
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

/** Newton's method keeps a D × D matrix (32 MB at this many columns) and factors it at every step. */
const MAX_COLUMNS = 2000;
const DEFAULT_MAX_ITERATIONS = 50;
const DEFAULT_TOLERANCE = 1e-12;
/** A pivot of the information below this share of the column's second moment is rounding: R's toler.chol, ε^(3/4). */
const ALIASED_PIVOT = 1.8e-12;
/** Rounding of a sum over the rows: a log-likelihood this little lower (relatively) does not count as lower. */
const ROUNDING_SLACK = 1e-11;
/** Half the step at most this often, to 1e-6 of it. */
const MAX_HALVINGS = 20;
/** The log-likelihood counts as settled when a step gains less than this share of it (or of 1, as it may go to 0): R's eps. */
const SETTLED_GAIN = 1e-9;
/** … and a linear predictor still moving by this much then is on its way to infinity (each Newton step moves it by about 1). */
const STILL_MOVING = 0.1;
/** Steps this short (in squared standard errors) shrink quadratically; one that does not … */
const ROUNDING_FLOOR = 1e-14;
/** … by at least this factor is rounding error, hence convergence. */
const ROUNDING_SHRINKAGE = 0.01;

/** Fits a proportional hazards model by Newton's method. */
export function fitCox(input: CoxInput, options: CoxOptions = {}): CoxModel {
  const { D } = input;
  const ties = options.ties ?? "efron";
  const ridge = options.ridge ?? 0;
  const maxIterations = options.maxIterations ?? DEFAULT_MAX_ITERATIONS;
  const tolerance = options.tolerance ?? DEFAULT_TOLERANCE;
  checkInput(input, options.weights);
  if (D > MAX_COLUMNS) {
    throw new InputError(`too many columns for a Cox model: ${D} (at most ${MAX_COLUMNS})`, {
      code: "cox.columns",
      hint: "choose among them (--features, --drop), or train a network: --method nll --network linear",
    });
  }
  if (!(ridge >= 0 && ridge < Number.POSITIVE_INFINITY))
    throw new InputError(`ridge is not a number from 0 up: ${ridge}`, { code: "cox.ridge" });
  const names = Array.from({ length: D }, (_, j) => nameColumn(input.names, j));
  const { rows, means, scales, ranges } = prepareRows(input, ties, options.weights);
  const events = rows.event.reduce((sum, event) => sum + event, 0);
  if (events === 0)
    throw new InputError(`no events among ${rows.N} rows: a Cox model needs at least one`, {
      code: "outcome.noEvents",
      hint: "check which value of the event column means that the event happened",
    });
  const penalty = scales.map((scale) => ridge / (scale * scale)); // of the scaled coefficients
  const work = createCoxWork(rows);
  const warnings: string[] = [];

  let beta = new Float64Array(D);
  let current = evaluateCox(rows, beta, work);
  const atZero = current;
  const penalised = (evaluation: CoxEvaluation, at: Float64Array) =>
    at.reduce((sum, value, j) => sum - 0.5 * penalty[j] * value * value, evaluation.logLikelihood);
  const curvature = ({ information }: CoxEvaluation) => {
    const sum = information.slice();
    for (let j = 0; j < D; j++) sum[j * D + j] += penalty[j];
    return sum;
  };
  let factor = factorCholesky(
    curvature(current),
    D,
    current.secondMoment.map((moment, j) => ALIASED_PIVOT * (moment + penalty[j])),
  );
  // Which columns the others determine does not depend on β: decided once, here.
  const { kept, rank } = factor;
  const pivotBounds = Float64Array.from(kept, (use) => (use === 1 ? 0 : Number.POSITIVE_INFINITY));
  for (let j = 0; j < D; j++)
    if (kept[j] === 0)
      warnings.push(
        `column "${names[j]}" is constant or determined by the columns before it: no coefficient`,
      );

  let value = penalised(current, beta);
  let iterations = 0;
  let converged = false;
  let lastLength = Number.POSITIVE_INFINITY;
  let lastMove = Number.POSITIVE_INFINITY;
  while (true) {
    const gradient = current.score.map((score, j) => score - penalty[j] * beta[j]);
    const step = solveCholesky(factor, gradient);
    const length = step.reduce((sum, s, j) => sum + s * gradient[j], 0); // squared, in standard errors
    converged =
      length <= tolerance * tolerance ||
      (length <= ROUNDING_FLOOR && length >= ROUNDING_SHRINKAGE * lastLength);
    if (converged || iterations === maxIterations) break;
    lastLength = length;

    let accepted: { beta: Float64Array<ArrayBuffer>; value: number } | undefined;
    for (let halvings = 0, size = 1; halvings <= MAX_HALVINGS && !accepted; halvings++, size /= 2) {
      const candidate = beta.map((b, j) => b + size * step[j]);
      const evaluation = evaluateCox(rows, candidate, work);
      const candidateValue = penalised(evaluation, candidate);
      if (!(candidateValue >= value - ROUNDING_SLACK * Math.abs(value))) continue;
      const candidateFactor = factorCholesky(curvature(evaluation), D, pivotBounds);
      if (candidateFactor.rank < rank) continue;
      current = evaluation;
      factor = candidateFactor;
      accepted = { beta: candidate, value: candidateValue };
    }
    if (!accepted) {
      current = evaluateCox(rows, beta, work); // the work arrays hold the last candidate's hazards
      break;
    }
    iterations++;
    const gain = accepted.value - value;
    beta = accepted.beta;
    value = accepted.value;
    const columnMoves = step.map((s, j) => Math.abs(s) * ranges[j]);
    // Their sum bounds the predictor's move, which needs a pass over the rows (nearly collinear columns move against each other).
    if (
      gain <= SETTLED_GAIN * Math.max(1, Math.abs(value)) &&
      columnMoves.reduce((sum, m) => sum + m, 0) > STILL_MOVING
    ) {
      const move = predictorMove(rows, step);
      if (move > STILL_MOVING && move > lastMove / 2) {
        const infinite = names.filter((_, j) => columnMoves[j] > STILL_MOVING).map((name) => `"${name}"`);
        warnings.push(
          `the likelihood settled while the coefficient of ${infinite.join(", ")} was still growing: it may be infinite`,
        );
        converged = true;
        break;
      }
      lastMove = move;
    }
  }
  if (!converged) warnings.push(`Newton's method did not converge in ${iterations} iterations`);

  // Back to the units given: β = γ / scale.
  const missing = (j: number) => kept[j] === 0;
  const inverse = invertCholesky(factor);
  const covariance = inverse.map((entry, at) => {
    const j = Math.floor(at / D);
    const k = at % D;
    return missing(j) || missing(k) ? Number.NaN : entry / (scales[j] * scales[k]);
  });
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
  const scoreStep = () => solveCholesky(factorCholesky(atZero.information, D, pivotBounds), atZero.score);
  return {
    kind: "cox",
    ties,
    ridge,
    D,
    names,
    coefficients: beta.map((b, j) => (missing(j) ? Number.NaN : b / scales[j])),
    standardErrors: Float64Array.from(scales, (_, j) => Math.sqrt(covariance[j * D + j])),
    covariance,
    means,
    baseline: readBaseline(rows, work),
    logLikelihood: current.logLikelihood,
    logLikelihoodNull: atZero.logLikelihood,
    tests: {
      likelihoodRatio: test(() => 2 * (current.logLikelihood - atZero.logLikelihood)),
      score: test(() => scoreStep().reduce((sum, s, j) => sum + s * atZero.score[j], 0)),
      wald: test(() => quadraticForm(current.information, beta)),
    },
    converged,
    iterations,
    n: rows.N,
    events,
    warnings,
  };
}

function chiSquareTest(value: number, df: number): ChiSquareTest {
  const chiSquare = Math.max(0, value); // rounding may put a zero statistic just below 0
  return { chiSquare, df, p: chiSquareUpperTail(chiSquare, df), logP: logChiSquareUpperTail(chiSquare, df) };
}

function quadraticForm(matrix: Float64Array, v: Float64Array): number {
  return matrix.reduce((sum, entry, at) => sum + entry * v[Math.floor(at / v.length)] * v[at % v.length], 0);
}

/** The range over the rows by which a step moves the linear predictor. */
function predictorMove({ N, D, x }: CoxRows, step: Float64Array): number {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let i = 0, at = 0; i < N; i++, at += D) {
    let move = 0;
    for (let j = 0; j < D; j++) move += x[at + j] * step[j];
    if (move < low) low = move;
    if (move > high) high = move;
  }
  return high - low;
}
