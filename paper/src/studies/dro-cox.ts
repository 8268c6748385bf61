/**
 * DRO-Cox: a linear Cox model that minimises not the mean of people's losses but their worst case over all
 * subpopulations of a share of at least α (dro-loss.ts), without knowing any group (Hu and Chen, Distributionally
 * robust survival analysis: a novel fairness loss without demographics, ML4H 2022; Fairness in survival analysis with
 * distributionally robust optimization, 2024). A person's loss is δ_i(log Σ_{j: t_j ≥ t_i} exp f_j − f_i), f = xβ; a
 * censored person's is 0. The loss of one person contains the others, which the theory does not allow for. DRO-Cox
 * (split) answers this: rows are halved by event, and a person is compared with himself and the other half only; each
 * half has its own η, and the two worst cases are averaged.
 * What differs from the published versions: Adam with a learning rate and a number of epochs to be tuned is replaced by
 * L-BFGS to convergence on all rows (the objective is convex); η is exact at every evaluation where a bounded search
 * was used; tied times share a risk set (Breslow), where the order of the rows decided; ridge is ours; curves come from
 * Breslow's baseline of all training rows, in the split version too; and α is given, not chosen on validation rows by
 * a fairness score of known groups. Where C²·(D + 1) is above the number of rows, the worst case is that of a handful
 * of people whose losses become equal: the objective has kinks there, and the fit ends near its minimum without
 * claiming to have converged. The later paper's exact form without a split, and deep predictors, are not here.
 */
import { createRandom, exp, InputError, log, shuffle } from "graduate-survival/core";
import { coxCurves } from "graduate-survival/models";
import { robustFactor, worstCase } from "./dro-loss.ts";
import { minimise } from "./lbfgs.ts";

export interface DroCoxInput {
  readonly N: number;
  readonly D: number;
  readonly x: Float64Array; // [N,D]
  readonly time: ArrayLike<number>; // [N]
  readonly event: ArrayLike<number>; // [N]
}

export interface DroCoxOptions {
  /** The smallest share of people that is guarded, above 0; 1 is plain Cox. */
  readonly alpha: number;
  /** λ of the penalty ½·λ·Σβ² beside the sum of losses, on the columns as given, as in fitCox; default 0. */
  readonly ridge?: number;
  /** Take DRO-Cox (split), with rows halved by this seed. */
  readonly splitSeed?: number;
  readonly maxIterations?: number;
  /** Largest entry of the gradient by standardised columns at which to stop; default 1e-8. */
  readonly tolerance?: number;
}

export interface DroCoxModel {
  readonly alpha: number;
  readonly D: number;
  readonly coefficients: Float64Array; // [D]
  readonly means: Float64Array; // [D]
  /** Breslow's, for a person at the means. */
  readonly baseline: { readonly time: Float64Array; readonly cumulativeHazardAtMeans: Float64Array };
  /** The worst case, without the penalty. */
  readonly worstCase: number;
  /** One, or one for each half. */
  readonly etas: readonly number[];
  readonly converged: boolean;
  readonly iterations: number;
}

const DEFAULT_TOLERANCE = 1e-8;
const DEFAULT_ITERATIONS = 2000;

/** People who are judged, and those at whose side they are at risk; both by ascending time. */
interface Part {
  readonly judged: Int32Array;
  readonly reference: Int32Array;
  /** The judged person is not in the reference and joins its own risk set. */
  readonly joins: boolean;
}

/** The value and gradient of the objective at coefficients of the columns as given. */
export interface DroCoxObjective {
  readonly value: number;
  readonly gradient: Float64Array; // [D]
  readonly etas: readonly number[];
  readonly worstCase: number;
}

export function fitDroCox(input: DroCoxInput, options: DroCoxOptions): DroCoxModel {
  const { N, D, x } = input;
  const means = new Float64Array(D);
  const scales = new Float64Array(D);
  for (let at = 0; at < N * D; at++) means[at % D] += x[at] / N;
  for (let at = 0; at < N * D; at++) scales[at % D] += (x[at] - means[at % D]) ** 2 / N;
  for (let j = 0; j < D; j++) scales[j] = scales[j] > 0 ? Math.sqrt(scales[j]) : 1;
  const evaluate = droCoxObjective(input, options);
  const found = minimise(
    (scaled) => {
      const { value, gradient } = evaluate(scaled.map((one, j) => one / scales[j]));
      return { value, gradient: gradient.map((one, j) => one / scales[j]) };
    },
    new Float64Array(D),
    {
      tolerance: options.tolerance ?? DEFAULT_TOLERANCE,
      maxIterations: options.maxIterations ?? DEFAULT_ITERATIONS,
    },
  );
  const coefficients = found.at.map((one, j) => one / scales[j]);
  const { etas, worstCase: worst } = evaluate(coefficients);
  return {
    alpha: options.alpha,
    D,
    coefficients,
    means,
    baseline: breslow(input, coefficients, means),
    worstCase: worst,
    etas,
    converged: found.converged,
    iterations: found.iterations,
  };
}

/** S(t|x) for every row of x [N,D] at each of the times: [N, times.length] row-major. */
export function droCoxCurves(
  model: DroCoxModel,
  x: ArrayLike<number>,
  times: ArrayLike<number>,
): Float64Array {
  return coxCurves(model, x, times);
}

/** Prepares the objective of some rows: worst case + ½·ridge/N·Σβ². */
export function droCoxObjective(
  input: DroCoxInput,
  { alpha, ridge = 0, splitSeed }: DroCoxOptions,
): (coefficients: Float64Array) => DroCoxObjective {
  const { N, D, x, time, event } = input;
  const C = robustFactor(alpha);
  if (!(ridge >= 0 && ridge < Number.POSITIVE_INFINITY))
    throw new InputError(`ridge is not a number from 0 up: ${ridge}`, { code: "dro.ridge" });
  if (!Array.prototype.some.call(event, (one: number) => one === 1))
    throw new InputError(`no events among ${N} rows`, { code: "outcome.noEvents" });
  const order = Int32Array.from({ length: N }, (_, i) => i).sort((a, b) => time[a] - time[b]);
  const parts: readonly Part[] =
    splitSeed === undefined
      ? [{ judged: order, reference: order, joins: false }]
      : halve(order, event, splitSeed);
  return (coefficients) => {
    const f = predictors(x, N, D, coefficients);
    const dF = new Float64Array(N);
    const etas: number[] = [];
    let worst = 0;
    for (const part of parts) {
      const share = part.judged.length / N;
      const risks = sumRisks(part, f, time, event);
      const { value, eta, weights } = worstCase(risks.losses, C);
      etas.push(eta);
      worst += share * value;
      addSlopes(part, { f, time, event, ...risks, weights: weights.map((one) => one * share) }, dF);
    }
    const gradient = coefficients.map((one) => (ridge / N) * one);
    for (let i = 0, at = 0; i < N; i++) for (let j = 0; j < D; j++, at++) gradient[j] += dF[i] * x[at];
    const squares = coefficients.reduce((sum, one) => sum + one * one, 0);
    return { value: worst + ((ridge / N) * squares) / 2, gradient, etas, worstCase: worst };
  };
}

function predictors(x: Float64Array, N: number, D: number, coefficients: Float64Array): Float64Array {
  const f = new Float64Array(N);
  for (let i = 0, at = 0; i < N; i++) {
    let sum = 0;
    for (let j = 0; j < D; j++, at++) sum += coefficients[j] * x[at];
    f[i] = sum;
  }
  return f;
}

/** Two halves with equally many events, as nearly as that goes. */
function halve(order: Int32Array, event: ArrayLike<number>, seed: number): readonly Part[] {
  const isFirst = new Uint8Array(order.length);
  const random = createRandom(seed);
  let next = 1;
  for (const kind of [1, 0]) {
    const rows = Int32Array.from(order.filter((row) => event[row] === kind)).sort();
    shuffle(rows, random);
    for (const row of rows) {
      isFirst[row] = next;
      next = 1 - next;
    }
  }
  const first = order.filter((row) => isFirst[row] === 1);
  const second = order.filter((row) => isFirst[row] === 0);
  return [
    { judged: first, reference: second, joins: true },
    { judged: second, reference: first, joins: true },
  ];
}

interface Risks {
  readonly losses: Float64Array; // [judged]
  /** log Σ exp f of the reference at risk, and of the whole risk set; of events only. */
  readonly logReference: Float64Array; // [judged]
  readonly logRisk: Float64Array; // [judged]
}

/** From the last time to the first. The sum is kept relative to the largest predictor so far and cannot overflow. */
function sumRisks(
  { judged, reference, joins }: Part,
  f: Float64Array,
  time: ArrayLike<number>,
  event: ArrayLike<number>,
): Risks {
  const losses = new Float64Array(judged.length);
  const logReference = new Float64Array(judged.length);
  const logRisk = new Float64Array(judged.length);
  let largest = Number.NEGATIVE_INFINITY;
  let sum = 0;
  let next = reference.length - 1;
  for (let k = judged.length - 1; k >= 0; k--) {
    const i = judged[k];
    for (; next >= 0 && time[reference[next]] >= time[i]; next--) {
      const one = f[reference[next]];
      if (one > largest) {
        sum = sum * exp(largest - one) + 1;
        largest = one;
      } else sum += exp(one - largest);
    }
    if (event[i] !== 1) continue;
    logReference[k] = sum === 0 ? Number.NEGATIVE_INFINITY : largest + log(sum);
    logRisk[k] = joins ? logAdd(logReference[k], f[i]) : logReference[k];
    losses[k] = logRisk[k] - f[i];
  }
  return { losses, logReference, logRisk };
}

function logAdd(a: number, b: number): number {
  const larger = Math.max(a, b);
  return larger + log(exp(a - larger) + exp(b - larger));
}

interface Slopes extends Risks {
  readonly f: Float64Array;
  readonly time: ArrayLike<number>;
  readonly event: ArrayLike<number>;
  readonly weights: Float64Array; // [judged]
}

/**
 * Adds Σ weight · ∂loss/∂f: each judged event lowers its own f, and pushes everybody in its risk set by his share of
 * it. From the first time to the last, the pushes so far are kept relative to the latest risk set, the smallest yet.
 */
function addSlopes(part: Part, slopes: Slopes, dF: Float64Array): void {
  const { judged, reference, joins } = part;
  const { f, time, event, weights, logReference, logRisk } = slopes;
  let pushes = 0;
  let relativeTo = 0;
  let next = 0;
  for (const j of reference) {
    for (; next < judged.length && time[judged[next]] <= time[j]; next++) {
      if (event[judged[next]] !== 1) continue;
      const now = logReference[next];
      pushes = pushes === 0 ? 0 : pushes * exp(now - relativeTo);
      pushes += weights[next] * exp(now - logRisk[next]);
      relativeTo = now;
    }
    if (pushes > 0) dF[j] += exp(f[j] - relativeTo) * pushes;
  }
  for (let k = 0; k < judged.length; k++) {
    const i = judged[k];
    if (event[i] !== 1) continue;
    dF[i] += weights[k] * ((joins ? exp(f[i] - logRisk[k]) : 0) - 1);
  }
}

/** ΔH = events ÷ Σ exp(f − f at the means) over those at risk. */
function breslow(
  { N, D, x, time, event }: DroCoxInput,
  coefficients: Float64Array,
  means: Float64Array,
): DroCoxModel["baseline"] {
  const centre = coefficients.reduce((sum, one, j) => sum + one * means[j], 0);
  const ratio = predictors(x, N, D, coefficients).map((one) => exp(one - centre));
  const order = Int32Array.from({ length: N }, (_, i) => i).sort((a, b) => time[b] - time[a]);
  const steps: { time: number; hazard: number }[] = [];
  let atRisk = 0;
  for (let k = 0; k < N; ) {
    const now = time[order[k]];
    let events = 0;
    for (; k < N && time[order[k]] === now; k++) {
      atRisk += ratio[order[k]];
      events += event[order[k]];
    }
    if (events > 0) steps.push({ time: now, hazard: events / atRisk });
  }
  steps.reverse();
  let sum = 0;
  return {
    time: Float64Array.from(steps, (step) => step.time),
    cumulativeHazardAtMeans: Float64Array.from(steps, ({ hazard }) => {
      sum += hazard;
      return sum;
    }),
  };
}
