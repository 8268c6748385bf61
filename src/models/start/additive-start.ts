/**
 * Where a network with group offsets starts (not in the paper): the additive hazard model
 *   logit h_t(x) = b_t + c(t) + wᵀx + Σ_g x_g a_g(t),
 * with a_g and c piecewise linear between the knots of group-offsets.ts, fitted by Newton's method to the discrete
 * likelihood with normal priors on the slopes, on the splines' slopes, and on every group's level and shape. Their
 * precisions are estimated too (empirical Bayes: MacKay's fixed point λ = (γ + 2p)/(Σθ² + 2q), γ the number of
 * parameters that the data determine): a group that is like the others is left alone, and one that is not is fitted, in
 * level and over time, before the LSTM has learnt a row. b_t comes from linear-start.ts and stays fixed.
 */
import { exp, square } from "../../core/elementary.ts";
import {
  type CholeskyFactor,
  factorCholesky,
  invertCholesky,
  solveCholesky,
} from "../../core/linear-algebra.ts";
import { finishTurns, type Turns } from "../../core/progress.ts";
import { GROUP_KNOTS, OFFSET_SCALE, placeKnots } from "../networks/group-offsets.ts";
import { createHazardFit, type HazardFit } from "./additive-hazard.ts";
import {
  fitLinearStart,
  type LinearStart,
  type LinearStartInput,
  MOST_START_COLUMNS,
  takeFeatures,
} from "./linear-start.ts";

export interface AdditiveStart extends LinearStart {
  /** In the layout of group-offsets.ts. */
  readonly offsets: Float64Array; // [G,K]
  /** The estimated precisions; null where nothing but slopes was fitted. */
  readonly precisions: Precisions | null;
}

/**
 * A Newton step is cubic in the number of slopes and offsets; beyond this many, the offsets start at 0 and only the
 * slopes and splines are fitted.
 */
export const MOST_START_PARAMETERS = 900;
/** Rounds of Newton steps, with the precisions re-estimated between them; most are settled after four. */
const ROUNDS = 6;
const STEPS = 4;
/** Newton stops when a step would gain less log-likelihood than this: a start need not be exact. */
const SETTLED_GAIN = 1e-4;
/** A step is halved at most this many times. */
const MAX_HALVINGS = 12;
/** The Gamma prior on precisions: one extra parameter, as small as .1, so that no precision runs off to infinity. */
const PRIOR_PARAMETERS = 1;
const PRIOR_SQUARES = 0.01;
/** Before any estimate: slopes as in linear-start.ts, offsets within a third of a unit of log-hazard. */
const FIRST_SLOPES = 1;
const FIRST_OFFSETS = 10;
/** Splines are kept as small as offsets. */
const FIRST_SPLINES = 10;
/**
 * Splines are held this much more tightly than the data ask for: an estimated precision is too small as often as too
 * large, and undue bends cost more (the reason for mgcv's gamma above 1). On simulated people with 27 numbers the
 * curves were worse at 1 and no worse at 4; the gain on flchain remains (docs/decisions/011-splines.md).
 */
const SPLINE_CAUTION = 4;
/** Precision of everyone's own offset, which only keeps the baseline in step with the rest. */
const EVERYONE = 0.1;
/** Rounds that suffice from the precisions of almost the same rows. */
const NEARBY_ROUNDS = 2;

/**
 * Precisions of the priors: one for all slopes, one for all splines, and one each for every group's level (of √K times
 * its mean over the K knots) and shape (of what a knot differs from that mean).
 */
export interface Precisions {
  readonly slopes: number;
  readonly splines: number;
  readonly level: readonly number[]; // [G+1], everyone last; empty where groups were too many
  readonly shape: readonly number[]; // as level
}

/** Where a fit to almost the same rows begins. */
export type NearbyStart = Pick<AdditiveStart, "slopes" | "offsets" | "precisions">;

/** Whether Newton's method can handle this many features: without it, splines would have no prior. */
export function canStart(own: number): boolean {
  return own <= MOST_START_COLUMNS;
}

/** To the end at one go. */
export function fitAdditiveStart(...asked: Parameters<typeof fitStartInTurns>): AdditiveStart {
  return finishTurns(fitStartInTurns(...asked));
}

/**
 * `onRound`: told how many of the rounds are done. `near`: a start of almost the same rows, to begin at. A turn is one
 * step of Newton's.
 */
export function* fitStartInTurns(
  input: LinearStartInput,
  onRound: (done: number, total: number) => void = () => {},
  near: NearbyStart | null = null,
): Turns<AdditiveStart> {
  const { D, groups: G } = input;
  const own = D - G;
  if (own + (G + 1) * GROUP_KNOTS <= MOST_START_PARAMETERS) return yield* fitWithGroups(input, onRound, near);
  const without = { ...input, x: takeFeatures(input), D: own, groups: 0 };
  const { slopes, baselineHazard, precisions } = yield* fitWithGroups(without, onRound, near);
  const padded = new Float64Array(D);
  padded.set(slopes);
  return {
    slopes: padded,
    baselineHazard,
    offsets: new Float64Array(G * GROUP_KNOTS),
    precisions: precisions && { ...precisions, level: [], shape: [] },
  };
}

function* fitWithGroups(
  input: LinearStartInput,
  onRound: (done: number, total: number) => void,
  near: NearbyStart | null,
): Turns<AdditiveStart> {
  const { T, D, groups: G, splines = [], knotHazard } = input;
  const K = GROUP_KNOTS;
  const own = D - G;
  const start = fitLinearStart(input);
  yield;
  if (G + splines.length === 0 || own + (G + 1) * K > MOST_START_PARAMETERS) {
    return { ...start, offsets: new Float64Array(G * K), precisions: null };
  }
  const fit = createHazardFit(input, start.baselineHazard);
  let theta = new Float64Array(fit.P);
  theta.set((near?.slopes ?? start.slopes).subarray(0, own));
  if (near && G > 0)
    theta.set(
      near.offsets.map((offset) => OFFSET_SCALE * offset),
      own,
    );
  let precisions = firstPrecisions(G, near?.precisions ?? null);
  const rounds = near?.precisions ? NEARBY_ROUNDS : ROUNDS;
  for (let round = 1; ; round++) {
    onRound(round - 1, rounds);
    const { theta: reached, factor } = yield* climb(fit, theta, precisions, splines);
    theta = reached;
    if (round === rounds) break;
    precisions = estimatePrecisions(precisions, theta, invertCholesky(factor), { own, splines });
  }
  onRound(rounds, rounds);
  const { knot, share } = placeKnots(T, knotHazard ?? start.baselineHazard);
  const everyone = theta.subarray(own + G * K);
  const slopes = new Float64Array(D);
  slopes.set(theta.subarray(0, own));
  return {
    slopes,
    precisions,
    offsets: theta.slice(own, own + G * K).map((offset) => offset / OFFSET_SCALE),
    baselineHazard: start.baselineHazard.map((hazard, t) => {
      const added = everyone[knot[t]] + share[t] * (everyone[knot[t] + 1] - everyone[knot[t]]);
      return 1 / (1 + ((1 - hazard) / hazard) * exp(-added));
    }),
  };
}

/** Those of a nearby start where it has any. Everyone's are the same in every fit. */
function firstPrecisions(G: number, near: Precisions | null): Precisions {
  const ofGroups = (estimated: readonly number[] | undefined) => [
    ...(estimated?.slice(0, G) ?? Array<number>(G).fill(FIRST_OFFSETS)),
    EVERYONE,
  ];
  return {
    slopes: near?.slopes ?? FIRST_SLOPES,
    splines: near?.splines ?? FIRST_SPLINES,
    level: ofGroups(near?.level),
    shape: ofGroups(near?.shape),
  };
}

interface Climbed {
  readonly theta: Float64Array<ArrayBuffer>;
  /** Factor of the penalised information at the last step. */
  readonly factor: CholeskyFactor;
}

/** Newton steps to the mode at fixed precisions. */
export function* climb(
  fit: HazardFit,
  from: Float64Array<ArrayBuffer>,
  precisions: Precisions,
  splines: readonly number[] = [],
  settled = SETTLED_GAIN,
  steps = STEPS,
): Turns<Climbed> {
  const { P } = fit;
  const prior = priorMatrix(precisions, P, splines);
  let theta = from;
  for (let step = 1; ; step++) {
    const { value, gradient, information } = fit.measure(theta);
    const before = value + addPenalty(theta, prior, gradient);
    for (let k = 0; k < P * P; k++) information[k] += prior[k];
    const factor = factorCholesky(information, P, new Float64Array(P));
    const move = solveCholesky(factor, gradient);
    const gain = move.reduce((sum, part, p) => sum + part * gradient[p], 0) / 2;
    if (gain < settled || step > steps) return { theta, factor };
    let next = theta;
    for (let halving = 0, size = 1; halving <= MAX_HALVINGS; halving++, size /= 2) {
      const tried = theta.map((now, p) => now - size * move[p]);
      if (!(fit.evaluate(tried) + addPenalty(tried, prior, null) < before)) continue;
      next = tried;
      break;
    }
    if (next === theta) return { theta, factor };
    theta = next;
    yield;
  }
}

/** λ_shape (I − 11ᵀ/K) + λ_level 11ᵀ/K for every group, λ I for the slopes and for the splines. */
function priorMatrix(
  { slopes, splines, level, shape }: Precisions,
  P: number,
  bends: readonly number[],
): Float64Array {
  const K = GROUP_KNOTS;
  const own = P - level.length * K;
  const prior = new Float64Array(P * P);
  for (let j = 0; j < own; j++) prior[j * P + j] = slopes;
  for (const j of bends) prior[j * P + j] = splines;
  level.forEach((ofLevel, g) => {
    const at = own + g * K;
    for (let k = 0; k < K; k++) {
      for (let l = 0; l < K; l++) {
        prior[(at + k) * P + at + l] = (ofLevel - shape[g]) / K + (k === l ? shape[g] : 0);
      }
    }
  });
  return prior;
}

/** ½ θᵀΛθ; adds Λθ to the gradient. */
function addPenalty(theta: Float64Array, prior: Float64Array, gradient: Float64Array | null): number {
  const P = theta.length;
  let value = 0;
  for (let p = 0; p < P; p++) {
    let product = 0;
    for (let q = 0; q < P; q++) product += prior[p * P + q] * theta[q];
    value += (theta[p] * product) / 2;
    if (gradient !== null) gradient[p] += product;
  }
  return value;
}

/** The right-hand side of the fixed point; everyone's precisions stay the same. */
function estimatePrecisions(
  { slopes, splines, level, shape }: Precisions,
  theta: Float64Array,
  covariance: Float64Array,
  columns: { readonly own: number; readonly splines: readonly number[] },
): Precisions {
  const K = GROUP_KNOTS;
  const P = theta.length;
  const G = level.length - 1;
  const estimate = (determined: number, squares: number) =>
    (Math.max(determined, 0) + PRIOR_PARAMETERS) / (squares + PRIOR_SQUARES);
  /** Estimates the precision that these parameters share. */
  const estimateShared = (precision: number, which: readonly number[]) => {
    let trace = 0;
    let squares = 0;
    for (const j of which) {
      trace += covariance[j * P + j];
      squares += square(theta[j]);
    }
    return which.length === 0 ? precision : estimate(which.length - precision * trace, squares);
  };
  const bends = new Set(columns.splines);
  const straight = Array.from({ length: columns.own }, (_, j) => j).filter((j) => !bends.has(j));
  const newLevel = [...level];
  const newShape = [...shape];
  for (let g = 0; g < G; g++) {
    const at = columns.own + g * K;
    let sum = 0;
    let squares = 0;
    let trace = 0;
    let total = 0;
    for (let k = 0; k < K; k++) {
      sum += theta[at + k];
      squares += square(theta[at + k]);
      trace += covariance[(at + k) * P + at + k];
      for (let l = 0; l < K; l++) total += covariance[(at + k) * P + at + l];
    }
    newLevel[g] = estimate(1 - (level[g] * total) / K, square(sum) / K);
    newShape[g] = estimate(K - 1 - shape[g] * (trace - total / K), Math.max(squares - square(sum) / K, 0));
  }
  return {
    slopes: estimateShared(slopes, straight),
    splines: SPLINE_CAUTION * estimateShared(splines, columns.splines),
    level: newLevel,
    shape: newShape,
  };
}
