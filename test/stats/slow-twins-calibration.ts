/**
 * D-calibration and Brier scores written as their definitions read, with no thought of speed and nothing shared with
 * src/stats: counts by filtering, products over times, mass as the length of an overlap. Also the tied tables they are
 * tried on.
 */
import { createRandom } from "../../src/core/random.ts";
import type { Curves } from "../../src/data/curves/curves.ts";
import type { BinnedRightCensored, RightCensored } from "../../src/data/outcomes/outcomes.ts";

export interface CurvesWithOutcomes {
  readonly curves: Curves;
  readonly binned: BinnedRightCensored;
}

/** Few bins, many rows, falling curves; a share of the curve values is rounded to bin edges and some reach 0. */
export function createTiedTable(seed: number, N: number, T: number): CurvesWithOutcomes {
  const random = createRandom(seed);
  const survival = new Float64Array(N * T);
  for (let i = 0; i < N; i++) {
    const decay = random.uniform() * (2 / T);
    const rounded = random.uniform() < 0.3;
    for (let t = 1; t <= T; t++) {
      const value = random.uniform() < 0.02 * t ? 0 : Math.exp(-decay * t);
      const previous = t === 1 ? 1 : survival[i * T + t - 2];
      survival[i * T + t - 1] = Math.min(previous, rounded ? Math.round(value * 10) / 10 : value);
    }
  }
  const bin = Int32Array.from({ length: N }, () => 1 + random.integer(T));
  const event = Uint8Array.from({ length: N }, () => (random.uniform() < 0.5 ? 1 : 0));
  return { curves: { N, T, survival }, binned: { T, bin, event } };
}

/** Row i weights[i] times, copies side by side. */
export function repeatRows(table: CurvesWithOutcomes, weights: readonly number[]): CurvesWithOutcomes {
  const { T } = table.curves;
  const rows = weights.flatMap((weight, row) => Array<number>(weight).fill(row));
  const survival = new Float64Array(rows.length * T);
  rows.forEach((row, k) => {
    survival.set(table.curves.survival.subarray(row * T, (row + 1) * T), k * T);
  });
  return {
    curves: { N: rows.length, T, survival },
    binned: {
      T,
      bin: Int32Array.from(rows, (row) => table.binned.bin[row]),
      event: Uint8Array.from(rows, (row) => table.binned.event[row]),
    },
  };
}

export function repeatOutcomes(outcomes: RightCensored, weights: readonly number[]): RightCensored {
  const rows = weights.flatMap((weight, row) => Array<number>(weight).fill(row));
  return {
    time: Float64Array.from(rows, (row) => outcomes.time[row]),
    event: Uint8Array.from(rows, (row) => outcomes.event[row]),
  };
}

/** Each row is a uniform distribution on [0, S] (censored) or a point at S (event); a bin gets its share of it. */
export function slowDCalibration({ curves, binned }: CurvesWithOutcomes, bins: number): number[] {
  const counts = Array<number>(bins).fill(0);
  for (let i = 0; i < curves.N; i++) {
    const s = curves.survival[i * curves.T + binned.bin[i] - 1];
    for (let b = 0; b < bins; b++) {
      const low = b / bins;
      const high = (b + 1) / bins;
      const holds = s >= low && (s < high || b === bins - 1);
      if (binned.event[i] === 1 || s === 0) counts[b] += holds ? 1 : 0;
      else counts[b] += Math.max(Math.min(high, s) - low, 0) / s;
    }
  }
  return counts;
}

/** G just after (or just before) `at`: the product over censoring times up to (or before) it. */
function slowCensoring(rows: RightCensored, at: number, ties: "simple" | "reverse", before: boolean): number {
  const all = Array.from(rows.time, (time, i) => ({ time, event: rows.event[i] }));
  const times = [...new Set(all.filter((row) => row.event === 0).map((row) => row.time))];
  let G = 1;
  for (const time of times) {
    if (before ? time >= at : time > at) continue;
    const censored = all.filter((row) => row.time === time && row.event === 0).length;
    const atRisk = all.filter(
      (row) => row.time > time || (row.time === time && (ties === "simple" || row.event === 0)),
    ).length;
    G *= 1 - censored / atRisk;
  }
  return G;
}

export interface SlowBrierInput {
  readonly outcomes: RightCensored;
  readonly survivalAt: (row: number) => number;
  readonly at: number;
  readonly ties: "simple" | "reverse";
  /** Whether an event is weighted by G just before its time (r) or at it (mlr3proba). */
  readonly leftLimit: boolean;
}

/** One time, one row after the other, divided by n. */
export function slowBrier({ outcomes, survivalAt, at, ties, leftLimit }: SlowBrierInput): number {
  let sum = 0;
  outcomes.time.forEach((time, i) => {
    const s = survivalAt(i);
    if (time > at) sum += (1 - s) ** 2 / slowCensoring(outcomes, at, ties, false);
    else if (outcomes.event[i] === 1) sum += s ** 2 / slowCensoring(outcomes, time, ties, leftLimit);
  });
  return sum / outcomes.time.length;
}
