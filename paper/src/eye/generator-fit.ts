/**
 * The family the simulated people are drawn from (eye-survival.ts), fitted to some of them by maximum likelihood: the
 * best result for somebody who knew the form of the truth but not its constants. It sees the values as drawn, including
 * those that the table rounds or lacks, so nothing that learns from the table can be expected to do better. One family
 * serves all levels. Times are whole days rounded up: an event on day d has probability S(d−1) − S(d), which stays
 * bounded where a density with a shape below 1 would not; a censoring is placed at the middle of its day. Two steps
 * alternate until nothing moves: Newton's method with step halving for the 14 coefficients and 3 shapes, and, for the
 * delay, in which the likelihood has kinks, a search that adapts the level of the people concerned.
 */
import {
  type CholeskyFactor,
  exp,
  expm1,
  factorCholesky,
  InputError,
  invertCholesky,
  log,
  solveCholesky,
} from "graduate-survival/core";
import type { EyeCohort } from "./simulate.ts";
import { DAYS_PER_YEAR, type EventModel, SHAPE_NAMES, survivalOf, TERM_NAMES, TERMS } from "./survival.ts";

export interface GeneratorFit {
  /** S(t|x) of a cohort's rows (all by default) at times in days: [rows, times]. */
  readonly survival: (of: EyeCohort, times: ArrayLike<number>, rows?: ArrayLike<number>) => Float64Array;
  readonly logLikelihood: number;
  /** By the names in eye-survival.ts, and `delay` in years. */
  readonly parameters: Readonly<Record<string, number>>;
  /** For all parameters but the delay, which they treat as known. */
  readonly standardErrors: Readonly<Record<string, number>>;
}

const SHAPES = SHAPE_NAMES.length;
const PARAMETERS = TERMS + SHAPES;
const MAX_STEPS = 60;
const MAX_HALVINGS = 30;
/** Newton stops when the next step is shorter than this, in squared standard errors, */
const SHORTEST_STEP = 1e-12;
/** or promises no more than the rounding of the log-likelihood, this share of it. */
const ROUNDING = 1e-13;
/** A pivot below this share of its diagonal entry means that the rows cannot determine the parameter. */
const ALIASED_PIVOT = 1e-11;
/** Shapes are kept above the values at which powers of time carry no information. */
const SMALLEST_SHAPE = 0.05;
/**
 * How much the curvature's diagonal is raised where the likelihood is not concave, at first and then each further time.
 */
const FIRST_DAMPING = 1e-3;
const MORE_DAMPING = 10;
/** Points of the first search for the delay, and the precision in days of the second. */
const DELAY_POINTS = 24;
const DELAY_DAYS = 0.25;
/** Most alternations between the delay and the rest; each is much shorter than the one before. */
const MAX_ROUNDS = 20;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** The parameters that Newton may move: all, or only the one that adapts to a delay. */
const ALL = new Uint8Array(PARAMETERS).fill(1);
const MEDICATION = Uint8Array.from({ length: PARAMETERS }, (_, j) =>
  TERM_NAMES[j] === "eyeMedication" ? 1 : 0,
);

/** The contributions of rows, in the order given. */
interface FitRows {
  readonly n: number;
  readonly x: Float64Array; // [n,TERMS]
  readonly shape: Uint8Array;
  readonly delayed: Uint8Array;
  readonly event: Uint8Array;
  /** Years: the beginning and the end of an event's day; for a censoring, the middle twice. */
  readonly from: Float64Array;
  readonly to: Float64Array;
}

interface Evaluation {
  readonly value: number;
  readonly gradient: Float64Array; // [PARAMETERS]
  /** Minus the second derivatives, lower triangle. */
  readonly information: Float64Array; // [PARAMETERS,PARAMETERS]
}

interface Fitted {
  readonly parameters: Float64Array; // coefficients, then shapes
  readonly value: number;
  readonly factor: CholeskyFactor;
}

export function fitGenerator(cohort: EyeCohort, rows: ArrayLike<number>): GeneratorFit {
  const data = pickRows(cohort, rows);
  let events = 0;
  let years = 0;
  /** The delay must end before the first event it could have put off. */
  let latest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < data.n; i++) {
    years += data.to[i];
    if (data.event[i] === 0) continue;
    events++;
    if (data.delayed[i] === 1) latest = Math.min(latest, (data.from[i] + data.to[i]) / 2);
  }
  if (events === 0)
    throw new InputError(`no events among ${data.n} rows to fit the generator on`, { code: "events.none" });
  const start = new Float64Array(PARAMETERS).fill(1, TERMS); // constant hazards
  start[0] = log(events / years);

  let delay = 0;
  let fit = maximise(data, delay, start);
  if (Number.isFinite(latest)) {
    const delayed = pickRows(
      cohort,
      Int32Array.from(rows).filter((row) => cohort.terms.delayed[row] === 1),
    );
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const found = searchDelay(delayed, latest, fit.parameters);
      const moved = Math.abs(found.delay - delay) * DAYS_PER_YEAR;
      const next = maximise(data, found.delay, found.parameters);
      if (!(next.value > fit.value)) break;
      delay = found.delay;
      fit = next;
      if (moved < DELAY_DAYS) break;
    }
  }

  const model: EventModel = {
    coefficients: fit.parameters.slice(0, TERMS),
    shapes: fit.parameters.slice(TERMS),
    delay,
  };
  const variances = invertCholesky(fit.factor);
  const names = [...TERM_NAMES, ...SHAPE_NAMES];
  return {
    survival: (of, times, chosen) => survivalOf(model, of.terms, times, chosen),
    logLikelihood: fit.value,
    parameters: { ...Object.fromEntries(names.map((name, j) => [name, fit.parameters[j]])), delay },
    standardErrors: Object.fromEntries(
      names.map((name, j) => [name, Math.sqrt(variances[j * PARAMETERS + j])]),
    ),
  };
}

/** Evenly spaced delays first, then a golden-section search around the best of them. */
function searchDelay(
  delayed: FitRows,
  latest: number,
  parameters: Float64Array,
): { readonly delay: number; readonly parameters: Float64Array } {
  let best = { delay: 0, fit: maximise(delayed, 0, parameters, MEDICATION) };
  const profile = (delay: number): number => {
    const fit = maximise(delayed, delay, best.fit.parameters, MEDICATION);
    if (fit.value > best.fit.value) best = { delay, fit };
    return fit.value;
  };
  const width = latest / DELAY_POINTS;
  for (let k = 1; k <= DELAY_POINTS; k++) profile(width * k);
  let low = Math.max(0, best.delay - width);
  let high = Math.min(latest, best.delay + width);
  let left = high - GOLDEN * (high - low);
  let right = low + GOLDEN * (high - low);
  let atLeft = profile(left);
  let atRight = profile(right);
  while ((high - low) * DAYS_PER_YEAR > DELAY_DAYS) {
    if (atLeft < atRight) {
      low = left;
      left = right;
      atLeft = atRight;
      right = low + GOLDEN * (high - low);
      atRight = profile(right);
    } else {
      high = right;
      right = left;
      atRight = atLeft;
      left = high - GOLDEN * (high - low);
      atLeft = profile(left);
    }
  }
  return { delay: best.delay, parameters: best.fit.parameters };
}

function pickRows({ terms, outcomes }: EyeCohort, rows: ArrayLike<number>): FitRows {
  const n = rows.length;
  const x = new Float64Array(n * TERMS);
  const from = new Float64Array(n);
  const to = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const row = rows[i];
    x.set(terms.x.subarray(row * TERMS, (row + 1) * TERMS), i * TERMS);
    const day = outcomes.time[row];
    const isEvent = outcomes.event[row] === 1;
    from[i] = (isEvent ? day - 1 : day - 0.5) / DAYS_PER_YEAR;
    to[i] = (isEvent ? day : day - 0.5) / DAYS_PER_YEAR;
  }
  return {
    n,
    x,
    shape: Uint8Array.from(rows, (row) => terms.shape[row]),
    delayed: Uint8Array.from(rows, (row) => terms.delayed[row]),
    event: Uint8Array.from(rows, (row) => outcomes.event[row]),
    from,
    to,
  };
}

/** The likelihood's maximum over the free coefficients and shapes for a given delay. */
function maximise(data: FitRows, delay: number, start: Float64Array, free = ALL): Fitted {
  let parameters = start;
  let current = evaluate(data, delay, parameters);
  let damping = 0;
  for (let steps = 0; ; steps++) {
    const { factor, damping: used } = factorCurvature(current.information, damping, free);
    damping = used;
    const step = solveCholesky(factor, current.gradient);
    const length = step.reduce((sum, s, j) => sum + s * current.gradient[j], 0);
    const fitted = { parameters, value: current.value, factor };
    const leastGain = ROUNDING * Math.abs(current.value);
    if (length <= Math.max(SHORTEST_STEP, 2 * leastGain) || steps === MAX_STEPS) return fitted;
    let accepted = false;
    for (let halvings = 0, size = 1; halvings <= MAX_HALVINGS && !accepted; halvings++, size /= 2) {
      const candidate = parameters.map((value, j) => value + size * step[j]);
      if (candidate.subarray(TERMS).some((shape) => shape < SMALLEST_SHAPE)) continue;
      const evaluation = evaluate(data, delay, candidate);
      if (!(evaluation.value > current.value + leastGain)) continue;
      accepted = true;
      parameters = candidate;
      current = evaluation;
    }
    if (!accepted) return fitted;
    damping = damping > FIRST_DAMPING ? damping / MORE_DAMPING : 0;
  }
}

/**
 * Where the likelihood is not concave, its curvature is raised until it is; parameters the rows cannot determine stay
 * where they are.
 */
function factorCurvature(information: Float64Array, damping: number, free: Uint8Array) {
  for (let raised = damping; ; raised = Math.max(FIRST_DAMPING, raised * MORE_DAMPING)) {
    const matrix = information.slice();
    const pivots = new Float64Array(PARAMETERS);
    let isConcave = true;
    for (let j = 0; j < PARAMETERS; j++) {
      const own = information[j * PARAMETERS + j];
      matrix[j * PARAMETERS + j] = own + raised * Math.abs(own);
      pivots[j] = free[j] === 1 ? ALIASED_PIVOT * Math.abs(own) : Number.POSITIVE_INFINITY;
      if (own < 0 && free[j] === 1) isConcave = false;
    }
    const factor = factorCholesky(matrix, PARAMETERS, pivots);
    const isSettled = (kept: number, j: number) =>
      kept === 1 || free[j] === 0 || information[j * PARAMETERS + j] === 0;
    if ((isConcave && factor.kept.every(isSettled)) || raised > 1 / ALIASED_PIVOT) {
      return { factor, damping: raised };
    }
  }
}

/**
 * Value and derivatives. With cumulative hazards H = exp(η + shape · log u) at the two ends of the day, D their
 * difference and r = 1/(e^D − 1): an event adds −H₁ + log(1 − e^−D), whose derivatives are −H₁' + r D' and −H₁'' + r
 * D'' − r(1+r) D'D'ᵀ; a censoring adds −H. Both depend on the parameters through η and their own shape.
 */
function evaluate(data: FitRows, delay: number, parameters: Float64Array): Evaluation {
  const { n, x, shape, delayed, event, from, to } = data;
  const gradient = new Float64Array(PARAMETERS);
  const information = new Float64Array(PARAMETERS * PARAMETERS);
  let value = 0;
  for (let i = 0; i < n; i++) {
    const at = i * TERMS;
    let eta = 0;
    for (let j = 0; j < TERMS; j++) eta += parameters[j] * x[at + j];
    const own = TERMS + shape[i];
    const power = parameters[own];
    const late = delayed[i] === 1 ? delay : 0;
    const logTo = log(Math.max(0, to[i] - late)); // −∞ before the delay is over
    const h2 = exp(eta + power * logTo);
    if (h2 === 0) {
      if (event[i] === 0) continue;
      value = Number.NEGATIVE_INFINITY; // an event where there can be none
      break;
    }
    // First and second derivatives by η (e) and by the shape (k).
    let de: number, dk: number, dee: number, dek: number, dkk: number;
    if (event[i] === 0) {
      value -= h2;
      de = dee = -h2;
      dk = dek = -h2 * logTo;
      dkk = dk * logTo;
    } else {
      const h1 = exp(eta + power * log(Math.max(0, from[i] - late)));
      const logFrom = h1 === 0 ? 0 : log(from[i] - late);
      const gap = h2 - h1;
      const r = 1 / expm1(gap);
      value += log(-expm1(-gap)) - h1;
      const gapK = h2 * logTo - h1 * logFrom;
      const gapKK = h2 * logTo * logTo - h1 * logFrom * logFrom;
      const bend = r * (1 + r);
      de = r * gap - h1;
      dee = r * gap - h1 - bend * gap * gap;
      dk = r * gapK - h1 * logFrom;
      dek = dk - bend * gap * gapK;
      dkk = r * gapKK - h1 * logFrom * logFrom - bend * gapK * gapK;
    }
    for (let j = 0; j < TERMS; j++) {
      const xj = x[at + j];
      if (xj === 0) continue;
      gradient[j] += de * xj;
      const scaled = dee * xj;
      for (let k = 0; k <= j; k++) information[j * PARAMETERS + k] -= scaled * x[at + k];
      information[own * PARAMETERS + j] -= dek * xj;
    }
    gradient[own] += dk;
    information[own * PARAMETERS + own] -= dkk;
  }
  return { value, gradient, information };
}
