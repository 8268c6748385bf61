/**
 * Cohorts whose truth is known in closed form: each person is of one of a few types with survival curves on a grid,
 * censoring is uniform on the bins (within a bin the event comes first), so mean curves and concordance of the
 * population are finite sums.
 */
import { createRandom, type Random } from "../../src/core/random.ts";
import type { Curves } from "../../src/data/curves/curves.ts";
import type { BinnedRightCensored } from "../../src/data/outcomes/outcomes.ts";

export interface Cohort {
  readonly curves: Curves;
  readonly binned: BinnedRightCensored;
}

/**
 * Scales rounded survival values so that no mean of a few of them lies exactly on a tenth, where the last bit of a
 * sum would decide which probability bin of the ECE it falls in: 0.973·k/(7n) = m/10 only if n·m is a multiple of
 * 139.
 */
const OFF_THE_TENTHS = 0.973;

/** Random crossing curves, rounded to `ties` values when given, and outcomes that need not fit them. */
export function randomCohort(N: number, T: number, seed: number, ties = 0): Cohort {
  const random = createRandom(seed, 77);
  const survival = new Float64Array(N * T);
  const bin = new Int32Array(N);
  const event = new Uint8Array(N);
  for (let i = 0; i < N; i++) {
    const rate = Math.exp(random.normal() - 0.5);
    const shape = 0.5 + random.uniform();
    for (let t = 1; t <= T; t++) {
      const S = Math.exp(-rate * (t / T) ** shape);
      survival[i * T + t - 1] = ties > 0 ? (OFF_THE_TENTHS * Math.round(S * ties)) / ties : S;
    }
    bin[i] = 1 + random.integer(T);
    event[i] = random.uniform() < 0.4 ? 1 : 0;
  }
  return { curves: { N, T, survival }, binned: { T, bin, event } };
}

/** True curves of the types: exponential with these rates over the whole grid, equally frequent. */
export const RATES = [0.25, 0.6, 1.4];

export function trueSurvival(type: number, t: number, T: number): number {
  return Math.exp((-RATES[type] * t) / T);
}

export type Predict = (S: number) => number;

/** N people of random type; predicted curves are `predict` of the true ones. */
export function drawCohort(N: number, T: number, random: Random, predict: Predict): Cohort {
  const survival = new Float64Array(N * T);
  const bin = new Int32Array(N);
  const event = new Uint8Array(N);
  for (let i = 0; i < N; i++) {
    const type = random.integer(RATES.length);
    for (let t = 1; t <= T; t++) survival[i * T + t - 1] = predict(trueSurvival(type, t, T));
    const uniform = random.uniform();
    let dies = 1;
    while (dies <= T && trueSurvival(type, dies, T) > uniform) dies++;
    const leaves = 1 + random.integer(T);
    event[i] = dies <= leaves ? 1 : 0;
    bin[i] = Math.min(dies, leaves);
  }
  return { curves: { N, T, survival }, binned: { T, bin, event } };
}

/** E predicted − E true at t = 0…T. */
export function trueGap(T: number, predict: Predict): Float64Array {
  return Float64Array.from({ length: T + 1 }, (_, t) => {
    if (t === 0) return 0;
    let gap = 0;
    RATES.forEach((_, type) => {
      const S = trueSurvival(type, t, T);
      gap += (predict(S) - S) / RATES.length;
    });
    return gap;
  });
}

/** The paper's concordance of the population for any increasing `predict`: pairs of equal type tie and score 0. */
export function trueConcordance(T: number): number {
  let pairs = 0;
  let concordant = 0;
  for (let t = 1; t <= T; t++) {
    RATES.forEach((_, dying) => {
      const seen = ((T - t + 1) / T) * (trueSurvival(dying, t - 1, T) - trueSurvival(dying, t, T));
      RATES.forEach((_, other) => {
        const later = ((T - t) / T) * trueSurvival(other, t, T);
        pairs += seen * later;
        if (trueSurvival(dying, t, T) < trueSurvival(other, t, T)) concordant += seen * later;
      });
    });
  }
  return concordant / pairs;
}
