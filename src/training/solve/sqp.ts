/**
 * The constrained solve of the output layer: min F(θ) = −ℓ(θ) + prior(θ) subject to r_g = √(dist_g/c_g) − 1 ≤ 0 for
 * every held group, dist_g = mean_b D²/V over the blocks in which the group is followed. F is convex, the constraints
 * are not. Sequential quadratic programming in float64: the Hessian of the Lagrangian (the constraints' Gauss-Newton
 * part exact, the rest as changed weights that stay positive), a dual quadratic program over the multipliers, steps
 * accepted by an ℓ₁ merit. V is differentiated too: without that, multipliers come out two to three times too large.
 * What is left of the conditions of optimality is part of the result, so that a solve can be checked and not believed.
 */
import { log10, square } from "../../core/elementary.ts";
import { finishTurns, type Turns } from "../../core/progress.ts";
import { MINIMUM_BLOCK_VARIANCE } from "../../objectives/distances/at-risk.ts";
import type { ArrowFactor } from "./algebra/arrow.ts";
import { solveBoxQp } from "./algebra/box-qp.ts";
import type { CurveTerms } from "./curves/curve-terms.ts";
import { type Assembled, assemble, type Point, takeMeasure } from "./lagrangian-parts.ts";
import { countTheta, type Layout, type Prior } from "./layout.ts";
import type { RowSums } from "./sums.ts";

/** A problem with everything frozen but θ. */
export interface HeldProblem {
  readonly layout: Layout;
  readonly sums: RowSums;
  readonly prior: Prior;
  readonly rows: number;
  /** Σ y φ, which residuals are measured against. */
  readonly eventTotals: Float64Array; // [P]
  /** Blocks in which a group is followed. */
  readonly followed: ArrayLike<number>; // [G]
  /** Mean curves that are held, to Kaplan-Meier or to targets from outside. */
  readonly curves?: CurveTerms;
}

/** How far from optimal a solution is, each part relative to its own scale. */
export interface Residuals {
  /** Largest entry of ∇F + Σ μ ∇r, over the largest of Σ y φ. */
  readonly stationarity: number;
  /** Largest r_g above 0. */
  readonly violation: number;
  /** Largest |μ_g r_g| over |F|. */
  readonly complementarity: number;
}

export interface Solved {
  readonly theta: Float64Array; // [P]
  /** F. */
  readonly value: number;
  readonly distance: Float64Array; // [constraints]
  readonly variance: Float64Array; // [G,B], V of every group and block
  readonly multipliers: Float64Array; // [constraints], of r
  readonly residuals: Residuals;
  readonly iterations: number;
  readonly converged: boolean;
  /** Of the last Hessian, for a problem close to this one. */
  readonly factor: ArrowFactor | null;
}

export interface SolveOptions {
  /** Largest residual of each kind. */
  readonly tolerance?: number;
  readonly iterations?: number;
  /** Largest multiplier: what a constraint that cannot be met is pressed with. */
  readonly mostPressure?: number;
  readonly from?: Float64Array;
  /** A Hessian's factor to begin with, of a problem close to this one. */
  readonly factor?: ArrowFactor | null;
  /** Told how many of the digits that are wanted of the residuals are there. */
  readonly onStep?: (done: number, total: number) => void;
}

const TOLERANCE = 1e-7;
const MOST_ITERATIONS = 60;
const MOST_PRESSURE = 1e7;
/** The longest step of any parameter. */
const LONGEST_STEP = 3;
const MOST_HALVINGS = 25;
const ARMIJO = 1e-4;
/** The merit's weight is this many times the multiplier. */
const MERIT = 1.5;
/** Above this many rows the information is taken from about this many, until the end is near. */
const INFORMATION_ROWS = 8000;
const NEAR_THE_END = 1e-2;
/** Near the end it is taken from about this many: their chance error is a small share of it, and is stepped away. */
const LAST_INFORMATION_ROWS = 200_000;
/** A factor is used again as long as each step with it leaves at most this share of the gradient. */
const FAST_ENOUGH = 0.3;

/** To the end at one go. */
export function solveHeld(...asked: Parameters<typeof solveInTurns>): Solved {
  return finishTurns(solveInTurns(...asked));
}

/** `slack` Infinity: measured, not held. A turn is one step. */
export function* solveInTurns(
  problem: HeldProblem,
  slack: Float64Array,
  options: SolveOptions = {},
): Turns<Solved> {
  const { tolerance = TOLERANCE, iterations: most = MOST_ITERATIONS } = options;
  const pressure = options.mostPressure ?? MOST_PRESSURE;
  let theta: Float64Array = options.from?.slice() ?? new Float64Array(countTheta(problem.layout));
  let mu: Float64Array = new Float64Array(slack.length);
  let weights: Float64Array = new Float64Array(slack.length);
  let point = takeMeasure(problem, theta, slack);
  let residuals: Residuals = { stationarity: Number.POSITIVE_INFINITY, violation: 0, complementarity: 0 };
  let iteration = 0;
  let stride = Math.max(1, Math.floor(problem.rows / INFORMATION_ROWS));
  const lastStride = Math.max(1, Math.floor(problem.rows / LAST_INFORMATION_ROWS));
  let factor = options.factor ?? null;
  for (; ; iteration++) {
    const parts = assemble(problem, theta, slack, point);
    // Without a constraint in sight a Hessian serves several steps: it costs as much as many gradients.
    const before = residuals.stationarity;
    const isFast = largest(parts.gradient) / largest(problem.eventTotals) <= FAST_ENOUGH * before;
    const isReused = factor !== null && parts.near.length === 0 && (iteration === 0 || isFast);
    let step = planStep(parts, isReused && factor ? factor : parts.factor(mu, stride), pressure);
    // The first multipliers are found without the constraints' own curvature: once more, with it.
    if (iteration === 0 && step.mu.some((one) => one > 0)) {
      step = planStep(parts, parts.factor(step.mu, stride), pressure);
    }
    factor = step.factor;
    residuals = measureResiduals(problem, parts, step.mu);
    mu = step.mu;
    const isDone = Object.values(residuals).every((one) => one <= tolerance);
    options.onStep?.(...digitsDone(residuals, tolerance, isDone));
    yield;
    if (isDone || iteration === most) break;
    if (residuals.stationarity < NEAR_THE_END && stride > lastStride) {
      stride = lastStride;
      step = planStep(parts, parts.factor(mu, stride), pressure);
      factor = step.factor;
      mu = step.mu;
    }
    weights = weights.map((one, g) => Math.max(one, MERIT * mu[g]));
    const moved = searchLine(problem, { theta, point, slack, weights }, step, parts);
    if (moved === null) {
      if (stride === 1 && !isReused) break;
      stride = 1;
      factor = null;
      continue;
    }
    theta = moved.theta;
    point = moved.point;
  }
  return {
    theta,
    value: point.value,
    distance: point.distance,
    variance: point.V,
    multipliers: mu,
    residuals,
    iterations: iteration,
    factor,
    converged: Object.values(residuals).every((one) => one <= tolerance),
  };
}

function digitsDone(residuals: Residuals, tolerance: number, isDone: boolean): [number, number] {
  const wanted = Math.round(-log10(tolerance));
  const left = Math.max(...Object.values(residuals));
  return [isDone ? wanted : Math.min(Math.max(Math.floor(-log10(left)), 0), wanted - 1), wanted];
}

interface PlannedStep {
  readonly move: Float64Array; // [P]
  readonly mu: Float64Array; // [constraints]
  readonly factor: ArrowFactor;
}

/** The step to the optimum of the quadratic model, and its multipliers. */
function planStep(parts: Assembled, factor: ArrowFactor, pressure: number): PlannedStep {
  const { near, normals, gradient, point } = parts;
  const free = factor.solve(gradient);
  const solved = normals.map((normal) => factor.solve(normal));
  const K = new Float64Array(near.length * near.length);
  const p = new Float64Array(near.length);
  normals.forEach((normal, i) => {
    p[i] = point.r[near[i]] - dot(normal, free);
    solved.forEach((other, j) => {
      K[i * near.length + j] = dot(normal, other);
    });
  });
  const own = solveBoxQp(K, p, pressure);
  const move = free.map((one) => -one);
  const next = new Float64Array(point.r.length);
  own.forEach((multiplier, i) => {
    next[near[i]] = multiplier;
    if (multiplier === 0) return;
    for (let k = 0; k < move.length; k++) move[k] -= multiplier * solved[i][k];
  });
  return { move, mu: next, factor };
}

function measureResiduals(
  { eventTotals }: HeldProblem,
  { near, normals, gradient, point }: Assembled,
  mu: Float64Array,
): Residuals {
  const left = gradient.slice();
  normals.forEach((normal, i) => {
    const multiplier = mu[near[i]];
    if (multiplier > 0) for (let k = 0; k < left.length; k++) left[k] += multiplier * normal[k];
  });
  const scale = largest(eventTotals);
  let violation = 0;
  let complementarity = 0;
  point.r.forEach((r, g) => {
    violation = Math.max(violation, r);
    complementarity = Math.max(complementarity, Math.abs(mu[g] * Math.max(r, -1)) / Math.abs(point.value));
  });
  return { stationarity: largest(left) / scale, violation, complementarity };
}

interface Standing {
  readonly theta: Float64Array;
  readonly point: Point;
  readonly slack: Float64Array;
  readonly weights: Float64Array;
}

/** Halves the step until the merit falls enough; where the constraints' curvature spoils a full step, corrects it. */
function searchLine(
  problem: HeldProblem,
  { theta, point, slack, weights }: Standing,
  { move, mu, factor }: PlannedStep,
  { near, normals, gradient }: Assembled,
): { readonly theta: Float64Array; readonly point: Point } | null {
  const merit = (at: Point) => at.r.reduce((sum, r, g) => sum + weights[g] * Math.max(r, 0), at.value);
  const before = merit(point);
  let fall = dot(gradient, move);
  normals.forEach((normal, i) => {
    const r = point.r[near[i]];
    fall += weights[near[i]] * (Math.max(r + dot(normal, move), 0) - Math.max(r, 0));
  });
  // Rounding decides below this.
  const noise = 1e-13 * Math.abs(before);
  const longest = largest(move);
  let size = Math.min(1, LONGEST_STEP / longest);
  for (let halving = 0; halving <= MOST_HALVINGS; halving++, size /= 2) {
    const tried = theta.map((one, k) => one + size * move[k]);
    const at = takeMeasure(problem, tried, slack);
    if (merit(at) <= before + ARMIJO * size * fall + noise) return { theta: tried, point: at };
    if (halving > 0 || size < 1) continue;
    const corrected = correctStep(tried, at, { near, normals }, mu, factor);
    if (corrected === null) continue;
    const again = takeMeasure(problem, corrected, slack);
    if (merit(again) <= before + ARMIJO * fall + noise) return { theta: corrected, point: again };
  }
  return null;
}

/** Second-order correction: back to the active constraints along their normals. */
function correctStep(
  theta: Float64Array,
  { r }: Point,
  { near, normals }: Pick<Assembled, "near" | "normals">,
  mu: Float64Array,
  factor: ArrowFactor,
): Float64Array | null {
  const active = Array.from(near.keys()).filter((i) => mu[near[i]] > 0);
  if (active.length === 0) return null;
  const solved = active.map((i) => factor.solve(normals[i]));
  const K = new Float64Array(active.length * active.length);
  active.forEach((i, a) => {
    for (let b = 0; b < active.length; b++) K[a * active.length + b] = dot(normals[i], solved[b]);
  });
  const back = solveBoxQp(
    K,
    Float64Array.from(active, (i) => r[near[i]]),
    Number.POSITIVE_INFINITY,
  );
  const out = theta.slice();
  solved.forEach((one, a) => {
    for (let k = 0; k < out.length; k++) out[k] -= back[a] * one[k];
  });
  return out;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
}

function largest(values: Float64Array): number {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value));
  return most;
}

/** dist_g of every group from its D and V. */
export function distancesOf(
  D: Float64Array,
  V: Float64Array,
  followed: ArrayLike<number>,
  B: number,
): Float64Array {
  return Float64Array.from({ length: followed.length }, (_, g) => {
    let sum = 0;
    for (let b = 0; b < B; b++) sum += square(D[g * B + b]) / Math.max(V[g * B + b], MINIMUM_BLOCK_VARIANCE);
    return followed[g] === 0 ? 0 : sum / followed[g];
  });
}
