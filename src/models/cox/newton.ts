/**
 * The maximum of Cox's partial likelihood, penalised or not, by Newton's method on the scaled columns: full steps where
 * they gain what their length promises, halved ones elsewhere. The log-likelihood is concave, so this can only end at
 * its maximum or on the way to infinity. Which columns the others determine is decided once, at β = 0. On the way to
 * infinity each step moves some linear predictor by about 1 and leaves a fraction 1/e to be gained; a single extreme
 * value does the same for a while, until the other rows hold it. So Newton continues until almost nothing is left to
 * gain: a coefficient is infinite if its column still moves the predictor then (R's "coefficient may be infinite").
 */
import { type CholeskyFactor, factorCholesky, solveCholesky } from "../../core/linear-algebra.ts";
import { type CoxEvaluation, type CoxWork, evaluateCox } from "./likelihood.ts";
import type { CoxRows } from "./rows.ts";

/** A pivot of the information below this share of its own diagonal is rounding: R's toler.chol, ε^(3/4). */
const ALIASED_PIVOT = 1.8e-12;
/** Rounding of a sum over the rows: a log-likelihood this little lower (relatively) does not count as lower. */
const ROUNDING_SLACK = 1e-11;
/** A step must gain this share of what its slope promises (Armijo's rule; any small number will do). */
const SUFFICIENT_GAIN = 1e-4;
/** The step is halved at most this often: 1e-18 of a step moves nothing that counts. */
const MAX_HALVINGS = 60;
/**
 * The log-likelihood counts as settled when a step gains less than this share of it (or of 1, as it may go to 0): R's
 * eps.
 */
const SETTLED_GAIN = 1e-9;
/** A step that moves the linear predictor by this much when nothing is left to gain belongs to an endless sequence … */
const STILL_MOVING = 0.1;
/** … if it also changes the coefficient by this share: R's toler.inf. An extreme value moves for less. */
const STILL_GROWING = 3e-5;
/**
 * The way to infinity is abandoned when a step gains no more than this: rounding is then as large, and the rest has
 * settled …
 */
const NOTHING_LEFT = 1e-14;
/** … or after this many steps in a row, where the rounding of a sum over very many rows comes first. */
const MAX_RUNNING_STEPS = 40;
/** Fewer steps in a row prove nothing: the last ones before a maximum may move an extreme value as well. */
const FEWEST_RUNNING_STEPS = 3;
/** Steps this short (in squared standard errors) shrink quadratically; one that does not … */
const ROUNDING_FLOOR = 1e-14;
/** … by at least this factor is rounding error, hence convergence. */
const ROUNDING_SHRINKAGE = 0.01;
/** Where no step gains anything more, a step this short (1e-4 standard errors, squared) is rounding too. */
const STALLED = 1e-8;

export interface NewtonOptions {
  readonly penalty: Float64Array; // [D], of the scaled coefficients
  readonly ranges: Float64Array; // [D], of the scaled columns
  readonly maxIterations: number;
  /** In standard errors. */
  readonly tolerance: number;
}

export interface CoxMaximum {
  readonly beta: Float64Array; // [D], of the scaled columns
  readonly atZero: CoxEvaluation;
  readonly evaluation: CoxEvaluation;
  /** Factor of the (penalised) information at `beta`. */
  readonly factor: CholeskyFactor;
  /** 1 where the column has a coefficient; 0 where earlier columns determine it. */
  readonly kept: Uint8Array; // [D]
  readonly rank: number;
  /** Columns whose coefficients have no finite maximum. */
  readonly infinite: readonly number[];
  readonly converged: boolean;
  readonly iterations: number;
}

/** Leaves `work` as evaluated at the maximum. */
export function maximiseCox(rows: CoxRows, work: CoxWork, options: NewtonOptions): CoxMaximum {
  const { penalty, ranges, maxIterations, tolerance } = options;
  const { D } = rows;
  const penalised = (evaluation: CoxEvaluation, at: Float64Array) =>
    at.reduce((sum, value, j) => sum - 0.5 * penalty[j] * value * value, evaluation.logLikelihood);
  const factorAt = ({ information }: CoxEvaluation, smallestPivot: ArrayLike<number>) => {
    const curvature = information.slice();
    for (let j = 0; j < D; j++) curvature[j * D + j] += penalty[j];
    return factorCholesky(curvature, D, smallestPivot);
  };

  let beta = new Float64Array(D);
  const atZero = evaluateCox(rows, beta, work);
  let evaluation = atZero;
  let factor = factorAt(
    atZero,
    penalty.map((own, j) => ALIASED_PIVOT * (atZero.information[j * D + j] + own)),
  );
  const { kept, rank } = factor;
  // From here on a vanishing pivot means that the likelihood is flat, not that other columns determine this one.
  const pivotBounds = Float64Array.from(kept, (use) => (use === 1 ? 0 : Number.POSITIVE_INFINITY));

  let value = penalised(evaluation, beta);
  let iterations = 0;
  let converged = false;
  let running: readonly number[] = [];
  let runningSteps = 0;
  let lastLength = Number.POSITIVE_INFINITY;
  while (true) {
    const gradient = evaluation.score.map((score, j) => score - penalty[j] * beta[j]);
    const step = solveCholesky(factor, gradient);
    const length = step.reduce((sum, s, j) => sum + s * gradient[j], 0); // squared, in standard errors
    const isSettled = length <= SETTLED_GAIN * Math.max(1, Math.abs(value));
    running = isSettled ? findRunning(rows, beta, step, ranges) : [];
    runningSteps = running.length > 0 ? runningSteps + 1 : 0;
    const isEndless =
      runningSteps >= FEWEST_RUNNING_STEPS && (length <= NOTHING_LEFT || runningSteps >= MAX_RUNNING_STEPS);
    converged =
      isEndless ||
      length <= tolerance * tolerance ||
      (length <= ROUNDING_FLOOR && length >= ROUNDING_SHRINKAGE * lastLength && running.length === 0);
    if (converged || iterations === maxIterations) break;
    lastLength = length;

    let accepted: { beta: Float64Array<ArrayBuffer>; value: number } | undefined;
    for (let halvings = 0, size = 1; halvings <= MAX_HALVINGS && !accepted; halvings++, size /= 2) {
      const candidate = beta.map((b, j) => b + size * step[j]);
      const tried = evaluateCox(rows, candidate, work);
      const gained = penalised(tried, candidate);
      if (!(gained >= value + SUFFICIENT_GAIN * size * length - ROUNDING_SLACK * Math.abs(value))) continue;
      evaluation = tried;
      accepted = { beta: candidate, value: gained };
    }
    if (!accepted) {
      evaluation = evaluateCox(rows, beta, work); // the work arrays hold the last candidate's sums
      converged = length <= STALLED;
      break;
    }
    iterations++;
    beta = accepted.beta;
    value = accepted.value;
    factor = factorAt(evaluation, pivotBounds);
  }
  const flat = [...kept.keys()].filter((j) => kept[j] === 1 && factor.kept[j] === 0);
  const endless = runningSteps >= FEWEST_RUNNING_STEPS ? running : [];
  const infinite = [...new Set([...endless, ...flat])].sort((a, b) => a - b);
  if (endless.length > 0) converged = true;
  return { beta, atZero, evaluation, factor, kept, rank, infinite, converged, iterations };
}

/** Columns whose step moves the linear predictor of some row. */
function findRunning(
  rows: CoxRows,
  beta: Float64Array,
  step: Float64Array,
  ranges: Float64Array,
): readonly number[] {
  const moves = step.map((s, j) =>
    Math.abs(s) > STILL_GROWING * Math.abs(beta[j]) ? Math.abs(s) * ranges[j] : 0,
  );
  // Their sum bounds the predictor's move; the move itself needs a pass over the rows (nearly collinear columns move
  // against each other).
  if (!(moves.reduce((sum, move) => sum + move, 0) > STILL_MOVING)) return [];
  if (!(predictorMove(rows, step) > STILL_MOVING)) return [];
  return [...moves.keys()].filter((j) => moves[j] > STILL_MOVING);
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
