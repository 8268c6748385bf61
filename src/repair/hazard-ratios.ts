/**
 * Estimates from few events how many times higher than predicted the hazards of one group are in each time block. In
 * block b the group had O_b events on an exposure W_b (the predicted cumulative hazards that its people lived through):
 * with log ratios a,
 *   log likelihood = Σ_b O_b a_b − W_b exp(a_b),
 * without censoring weights. A group is right (a = 0) or, with a given probability, wrong: then a ∼ N(0, λ² 11ᵀ + σ²
 * ρ^|b−c|), a level with spread λ and a shape with spread σ about it. Each pair of spreads on a grid is weighted by its
 * marginal likelihood (Laplace's approximation) and the modes are averaged: a group without excess is hardly moved, one
 * with a clear excess nearly as far as its events say. This file handles one group at a time; hazard-boost.ts handles
 * groups that overlap.
 */
import { exp, expm1, log, power, square } from "../core/elementary.ts";
import { factorCholesky, invertCholesky, solveCholesky } from "../core/linear-algebra.ts";

/** Spreads of log ratios considered possible in a group that is wrong: from a tenth to more than twofold. */
const LEVEL_SPREADS = [0.1, 0.2, 0.4, 0.8];
/** The first is practically zero, but not zero: the covariance must have an inverse. */
const SHAPE_SPREADS = [0.02, 0.2, 0.4];
/** Correlation of the shape in neighbouring blocks. */
const NEIGHBOURS = 0.5;
/** Newton's method stops when no log ratio moves by more than this. */
const SETTLED = 1e-10;
const MAX_NEWTON_STEPS = 100;
/** A Newton step is cut to this: a full step from 0 overshoots where events are many times the exposure. */
const LARGEST_STEP = 1;
/** No group is moved further than this, twentyfold: events with hardly any exposure would send it anywhere. */
const LARGEST_LOG_RATIO = 3;

export interface HazardRatios {
  /** The mean over the spreads, given that the group is wrong. */
  readonly logRatios: Float64Array; // [B]
  /** Probability that it is wrong, given its events. */
  readonly probability: number;
  /** √(2 × log likelihood ratio of these ratios to 1): the excess in standard errors. */
  readonly z: number;
}

interface Prior {
  readonly inverse: Float64Array; // [B,B]
  readonly logDeterminant: number;
}

/** One prior for each pair of spreads, over B blocks. */
export function preparePriors(B: number): readonly Prior[] {
  return LEVEL_SPREADS.flatMap((level) =>
    SHAPE_SPREADS.map((shape): Prior => {
      const covariance = new Float64Array(B * B);
      for (let b = 0; b < B; b++) {
        for (let c = 0; c < B; c++) {
          covariance[b * B + c] = square(level) + square(shape) * power(NEIGHBOURS, Math.abs(b - c));
        }
      }
      const factor = factorCholesky(covariance, B, new Float64Array(B));
      return { inverse: invertCholesky(factor), logDeterminant: logDeterminantOf(factor.lower, B) };
    }),
  );
}

function logDeterminantOf(lower: Float64Array, B: number): number {
  let sum = 0;
  for (let b = 0; b < B; b++) sum += 2 * log(lower[b * B + b]);
  return sum;
}

export interface GroupEvents {
  readonly observed: ArrayLike<number>; // [B]
  readonly exposure: ArrayLike<number>; // [B]
}

/** `wrong` is the prior probability that the group is wrong. */
export function estimateRatios(events: GroupEvents, priors: readonly Prior[], wrong: number): HazardRatios {
  const B = events.observed.length;
  const modes = priors.map((prior) => findMode(events, prior));
  const largest = Math.max(...modes.map(({ logEvidence }) => logEvidence));
  const weights = modes.map(({ logEvidence }) => exp(logEvidence - largest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const logRatios = new Float64Array(B);
  modes.forEach(({ mode }, k) => {
    for (let b = 0; b < B; b++) logRatios[b] += (weights[k] / total) * mode[b];
  });
  for (let b = 0; b < B; b++) {
    logRatios[b] = Math.max(-LARGEST_LOG_RATIO, Math.min(logRatios[b], LARGEST_LOG_RATIO));
  }
  const logOdds = largest + log(total / modes.length) + log(wrong / (1 - wrong));
  return {
    logRatios,
    probability: 1 / (1 + exp(-logOdds)),
    z: Math.sqrt(2 * Math.max(0, gainOf(events, logRatios))),
  };
}

/** The log likelihood minus that of ratios of 1. */
function gainOf({ observed, exposure }: GroupEvents, logRatios: Float64Array): number {
  return logRatios.reduce((sum, a, b) => sum + observed[b] * a - exposure[b] * expm1(a), 0);
}

/** The mode under one prior, and the log marginal likelihood minus that of ratios of 1. */
function findMode(events: GroupEvents, { inverse, logDeterminant }: Prior) {
  const { observed, exposure } = events;
  const B = observed.length;
  const mode = new Float64Array(B);
  const curvature = new Float64Array(B * B);
  const pivots = new Float64Array(B);
  const gradient = new Float64Array(B);
  const pullOf = (b: number) => {
    let sum = 0;
    for (let c = 0; c < B; c++) sum += inverse[b * B + c] * mode[c];
    return sum;
  };
  const factorCurvature = () => {
    curvature.set(inverse);
    for (let b = 0; b < B; b++) curvature[b * B + b] += exposure[b] * exp(mode[b]);
    return factorCholesky(curvature, B, pivots);
  };
  for (let step = 0; step < MAX_NEWTON_STEPS; step++) {
    for (let b = 0; b < B; b++) gradient[b] = observed[b] - exposure[b] * exp(mode[b]) - pullOf(b);
    const move = solveCholesky(factorCurvature(), gradient);
    const longest = move.reduce((most, by) => Math.max(most, Math.abs(by)), 0);
    const share = Math.min(1, LARGEST_STEP / longest);
    for (let b = 0; b < B; b++) mode[b] += share * move[b];
    if (longest < SETTLED) break;
  }
  let logEvidence = gainOf(events, mode);
  logEvidence -= 0.5 * (logDeterminantOf(factorCurvature().lower, B) + logDeterminant);
  for (let b = 0; b < B; b++) logEvidence -= 0.5 * mode[b] * pullOf(b);
  return { mode, logEvidence };
}
