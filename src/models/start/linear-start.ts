/**
 * Where a network with a linear skip starts (not in the paper): the slopes of a ridge-penalised Cox model of the
 * training rows, and the baseline hazard that goes with them, events over Σ exp(wᵀx) of those at risk, floored and
 * smoothed as anchorHazards does. Newton's method finds them at once; a gradient method needs hundreds of steps, during
 * which the LSTM memorises rows. Training then adds what a linear model of the log-hazard cannot express.
 */
import { exp } from "../../core/elementary.ts";
import type { SingleCauseInput } from "../../data/plain-input.ts";
import { fitCox } from "../cox/cox.ts";
import { anchorHazards } from "../networks/initialise.ts";

/** λ of the penalty ½·λ·Σw²: a standard normal prior on the slopes of standardised features. */
const START_RIDGE = 1;
/** A start need not be exact: Newton stops when the next step is shorter than this many standard errors. */
const START_TOLERANCE = 1e-6;
/** Newton's step is cubic in the number of columns; beyond this many, the slopes start at 0. */
export const MOST_START_COLUMNS = 400;

export interface LinearStart {
  readonly slopes: Float64Array; // [D]
  readonly baselineHazard: Float64Array; // [T]
}

export interface LinearStartInput {
  readonly T: number;
  readonly bin: Int32Array; // [N]
  readonly event: Uint8Array; // [N]
  /** The first bin at risk, where not bin 1 for all; the weight of each row, where not 1. */
  readonly firstBin?: Int32Array; // [N]
  readonly weight?: Float64Array; // [N]
  readonly x: ArrayLike<number>; // [N,D]
  readonly D: number;
  /** How many of the last columns give group membership: their slopes are 0, since their offsets say more. */
  readonly groups: number;
  /** Columns that are splines of others. */
  readonly splines?: readonly number[];
  /** The baseline hazard whose expected events place the knots of the groups; the fit's own unless given. */
  readonly knotHazard?: ArrayLike<number>; // [T]
}

/** The columns before the groups'. */
export function takeFeatures({
  bin,
  x,
  D,
  groups,
}: Pick<LinearStartInput, "bin" | "x" | "D" | "groups">): Float64Array {
  const own = D - groups;
  const features = new Float64Array(bin.length * own);
  for (let i = 0; i < bin.length; i++) for (let d = 0; d < own; d++) features[i * own + d] = x[i * D + d];
  return features;
}

export function fitLinearStart(input: LinearStartInput): LinearStart {
  const { T, bin, event, firstBin, weight, x, D, groups } = input;
  const N = bin.length;
  const own = D - groups;
  const slopes = new Float64Array(D);
  if (own > 0 && own <= MOST_START_COLUMNS) {
    const { coefficients } = fitCox(
      { ...timesOfBins(input), x: takeFeatures({ bin, x, D, groups }), D: own },
      { ridge: START_RIDGE, tolerance: START_TOLERANCE },
    );
    coefficients.forEach((slope, d) => {
      slopes[d] = Number.isFinite(slope) ? slope : 0;
    });
  }
  const events = new Float64Array(T);
  const exposed = new Float64Array(T);
  for (let i = 0; i < N; i++) {
    const first = firstBin === undefined ? 1 : firstBin[i];
    if (first > bin[i]) continue;
    let risk = 0;
    for (let d = 0; d < own; d++) risk += slopes[d] * x[i * D + d];
    const share = weight === undefined ? 1 : weight[i];
    exposed[bin[i] - 1] += share * exp(risk);
    if (first > 1) exposed[first - 2] -= share * exp(risk);
    events[bin[i] - 1] += share * event[i];
  }
  for (let t = T - 2; t >= 0; t--) exposed[t] += exposed[t + 1];
  return { slopes, baselineHazard: anchorHazards(events, exposed) };
}

/** Bins as times; a row that is at risk in no bin is there with weight 0, over an interval that it may have. */
function timesOfBins({ bin, event, firstBin, weight }: LinearStartInput): SingleCauseInput {
  const time = Float64Array.from(bin);
  if (firstBin === undefined) return { time, event, ...(weight && { weight }) };
  const isAtRisk = Uint8Array.from(bin, (last, i) => (firstBin[i] <= last ? 1 : 0));
  return {
    time,
    event: event.map((one, i) => one * isAtRisk[i]),
    entry: Float64Array.from(firstBin, (first, i) => (isAtRisk[i] === 1 ? first - 1 : 0)),
    weight: Float64Array.from(isAtRisk, (one, i) => one * (weight === undefined ? 1 : weight[i])),
  };
}
