/**
 * A smooth convex function minimised from its gradient alone: L-BFGS (Nocedal and Wright, algorithm 7.4) with a line
 * search that doubles or bisects until Wolfe's weak conditions hold. Deterministic; no step length to choose.
 */

export interface Evaluation {
  readonly value: number;
  readonly gradient: Float64Array;
}

export interface Minimum {
  readonly at: Float64Array;
  readonly value: number;
  /** The gradient is below the tolerance, or rounding leaves nothing to gain. */
  readonly converged: boolean;
  readonly iterations: number;
}

export interface MinimiseOptions {
  /** Largest entry of the gradient at which to stop. */
  readonly tolerance: number;
  readonly maxIterations: number;
}

/** Pairs of steps and gradient changes that stand for the curvature. */
const MEMORY = 20;
const MAX_TRIALS = 30;
/** Wolfe's constants: the share of the promised decrease, and of the slope, that a step must reach. */
const DECREASE = 1e-4;
const CURVATURE = 0.9;
/** A search may fail from rounding once the gradient is this many times the tolerance. */
const ROUNDED = 1000;
/** It ends, not converged unless the gradient says so, where this many steps gained less than this share of the value. */
const PATIENCE = 20;
const LEAST_GAIN = 1e-9;

interface Pair {
  readonly step: Float64Array;
  readonly change: Float64Array;
  readonly inverse: number;
}

const dot = (a: Float64Array, b: Float64Array) => a.reduce((sum, one, j) => sum + one * b[j], 0);
const largestOf = (values: Float64Array) => values.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
const move = (from: Float64Array, along: Float64Array, size: number) =>
  from.map((one, j) => one + size * along[j]);

export function minimise(
  evaluate: (at: Float64Array) => Evaluation,
  start: Float64Array,
  { tolerance, maxIterations }: MinimiseOptions,
): Minimum {
  let at = start;
  let now = evaluate(at);
  const pairs: Pair[] = [];
  const values: number[] = [];
  for (let iterations = 0; ; iterations++) {
    const slope = largestOf(now.gradient);
    values.push(now.value);
    const before = values.at(-1 - PATIENCE) ?? Number.POSITIVE_INFINITY;
    const isStuck = before - now.value < LEAST_GAIN * Math.abs(now.value);
    if (slope <= tolerance || isStuck || iterations === maxIterations)
      return { at, value: now.value, converged: slope <= ROUNDED * tolerance, iterations };
    let direction = descend(now.gradient, pairs);
    if (!(dot(direction, now.gradient) < 0)) {
      pairs.length = 0;
      direction = now.gradient.map((one) => -one);
    }
    const next = search(evaluate, at, now, direction, pairs.length === 0 ? 1 / Math.max(1, slope) : 1);
    if (next === null) {
      // Begin anew from the steepest descent; where that fails too, nothing is left to gain.
      if (pairs.length === 0)
        return { at, value: now.value, converged: slope <= ROUNDED * tolerance, iterations };
      pairs.length = 0;
      continue;
    }
    const step = next.at.map((one, j) => one - at[j]);
    const change = next.evaluation.gradient.map((one, j) => one - now.gradient[j]);
    const curvature = dot(step, change);
    if (curvature > 0) pairs.push({ step, change, inverse: 1 / curvature });
    if (pairs.length > MEMORY) pairs.shift();
    at = next.at;
    now = next.evaluation;
  }
}

/** The two loops: minus the inverse curvature times the gradient. */
function descend(gradient: Float64Array, pairs: readonly Pair[]): Float64Array {
  let direction = gradient.map((one) => -one);
  const sizes = new Float64Array(pairs.length);
  for (let k = pairs.length - 1; k >= 0; k--) {
    sizes[k] = pairs[k].inverse * dot(pairs[k].step, direction);
    direction = move(direction, pairs[k].change, -sizes[k]);
  }
  const last = pairs.at(-1);
  if (last !== undefined) {
    const scale = 1 / (last.inverse * dot(last.change, last.change));
    direction = direction.map((one) => one * scale);
  }
  pairs.forEach(({ step, change, inverse }, k) => {
    direction = move(direction, step, sizes[k] - inverse * dot(change, direction));
  });
  return direction;
}

function search(
  evaluate: (at: Float64Array) => Evaluation,
  from: Float64Array,
  { value, gradient }: Evaluation,
  direction: Float64Array,
  first: number,
): { readonly at: Float64Array; readonly evaluation: Evaluation } | null {
  const slope = dot(direction, gradient);
  let low = 0;
  let high = Number.POSITIVE_INFINITY;
  let size = first;
  let best: { readonly at: Float64Array; readonly evaluation: Evaluation } | null = null;
  for (let trial = 0; trial < MAX_TRIALS; trial++) {
    const at = move(from, direction, size);
    const evaluation = evaluate(at);
    if (!(evaluation.value <= value + DECREASE * size * slope)) high = size;
    else {
      best = { at, evaluation };
      if (dot(direction, evaluation.gradient) >= CURVATURE * slope) return best;
      low = size;
    }
    size = high === Number.POSITIVE_INFINITY ? 2 * low : (low + high) / 2;
    if (size === low || size === high) break;
  }
  return best;
}
