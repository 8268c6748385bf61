/**
 * The statistics written down as they are defined, pair by pair and time by time, with no thought for speed: what the
 * fast forms in src/stats are compared with, count for count.
 */
import type { Curves } from "../../src/data/curves/curves.ts";
import type { BinnedRightCensored, RightCensored } from "../../src/data/outcomes/outcomes.ts";
import type { PairCounts } from "../../src/stats/concordance/concordance.ts";
import type { TimeDependentPairs } from "../../src/stats/concordance/time-dependent.ts";

/** Every row as many times as its (whole) weight says: the rows' numbers. */
export function repeatRows(weights: readonly number[]): number[] {
  return weights.flatMap((weight, row) => new Array<number>(weight).fill(row));
}

export function takeOutcomes(outcomes: RightCensored, rows: readonly number[]): RightCensored {
  return {
    time: Float64Array.from(rows, (row) => outcomes.time[row]),
    event: Uint8Array.from(rows, (row) => outcomes.event[row]),
  };
}

export function takeBinned(outcomes: BinnedRightCensored, rows: readonly number[]): BinnedRightCensored {
  return {
    T: outcomes.T,
    bin: Int32Array.from(rows, (row) => outcomes.bin[row]),
    event: Uint8Array.from(rows, (row) => outcomes.event[row]),
  };
}

export function takeCurves(curves: Curves, rows: readonly number[]): Curves {
  const { T } = curves;
  const survival = new Float64Array(rows.length * T);
  rows.forEach((row, i) => {
    survival.set(curves.survival.subarray(row * T, (row + 1) * T), i * T);
  });
  return { N: rows.length, T, survival };
}

/** P(event later than t) by the product over distinct times up to t, straight from the definition. */
export function survivalAt(outcomes: RightCensored, t: number): number {
  let S = 1;
  for (const time of new Set(outcomes.time)) {
    if (time > t) continue;
    let atRisk = 0;
    let events = 0;
    outcomes.time.forEach((other, row) => {
      if (other >= time) atRisk++;
      if (other === time && outcomes.event[row] === 1) events++;
    });
    S *= 1 - events / atRisk;
  }
  return S;
}

/** G(t), or G(t−): events of a time are still at risk of being censored then ("simple"), or have left ("reverse"). */
export function censoringAt(
  outcomes: RightCensored,
  t: number,
  ties: "simple" | "reverse",
  left: boolean,
): number {
  let G = 1;
  for (const time of new Set(outcomes.time)) {
    if (time > t || (left && time === t)) continue;
    let atRisk = 0;
    let events = 0;
    let censored = 0;
    outcomes.time.forEach((other, row) => {
      if (other >= time) atRisk++;
      if (other === time) outcomes.event[row] === 1 ? events++ : censored++;
    });
    if (ties === "reverse") atRisk -= events;
    if (censored > 0) G *= 1 - censored / atRisk;
  }
  return G;
}

export interface SlowPairRule {
  readonly sameTimeCensored: boolean;
  readonly tolerance: number;
  readonly timeWeight: (time: number) => number;
}

export function countPairsSlowly(
  outcomes: RightCensored,
  risk: ArrayLike<number>,
  rule: SlowPairRule,
): PairCounts {
  const { time, event } = outcomes;
  let concordant = 0;
  let discordant = 0;
  let tiedRisk = 0;
  let tiedTime = 0;
  let tiedBoth = 0;
  for (let i = 0; i < time.length; i++) {
    if (event[i] !== 1) continue;
    for (let j = 0; j < time.length; j++) {
      if (j < i && time[i] === time[j] && event[j] === 1) {
        if (risk[i] === risk[j]) tiedBoth++;
        else tiedTime++;
      }
      const comparable =
        time[i] < time[j] || (rule.sameTimeCensored && time[i] === time[j] && event[j] === 0);
      if (!comparable) continue;
      const weight = rule.timeWeight(time[i]);
      if (Math.abs(risk[i] - risk[j]) <= rule.tolerance) tiedRisk += weight;
      else if (risk[i] > risk[j]) concordant += weight;
      else discordant += weight;
    }
  }
  return { concordant, discordant, tiedRisk, tiedTime, tiedBoth };
}

export function timeDependentPairsSlowly(curves: Curves, outcomes: BinnedRightCensored): TimeDependentPairs {
  const { bin, event } = outcomes;
  const S = (row: number, t: number) => curves.survival[row * curves.T + t - 1];
  const counts = {
    pairs: 0,
    concordant: 0,
    tied: 0,
    censoredPairs: 0,
    censoredConcordant: 0,
    censoredTied: 0,
    eventPairs: 0,
    eventTied: 0,
  };
  for (let i = 0; i < curves.N; i++) {
    if (event[i] !== 1) continue;
    for (let j = 0; j < curves.N; j++) {
      const mine = S(i, bin[i]);
      const other = S(j, bin[i]);
      if (bin[j] > bin[i]) {
        counts.pairs++;
        if (mine < other) counts.concordant++;
        if (mine === other) counts.tied++;
      } else if (bin[j] === bin[i] && event[j] === 0) {
        counts.censoredPairs++;
        if (mine < other) counts.censoredConcordant++;
        if (mine === other) counts.censoredTied++;
      } else if (bin[j] === bin[i] && j < i) {
        counts.eventPairs++;
        if (mine === other) counts.eventTied++;
      }
    }
  }
  return counts;
}

export interface SlowLogrank {
  readonly observed: number[];
  readonly expected: number[];
  readonly variance: number[][];
}

/** O, E and the hypergeometric covariance, each event time on its own, weighted by S(t−)^rho. */
export function logrankSlowly(
  outcomes: RightCensored,
  group: Int32Array,
  G: number,
  rho: 0 | 1,
): SlowLogrank {
  const rows = Array.from(group.keys()).filter((row) => group[row] >= 0);
  const used = takeOutcomes(outcomes, rows);
  const groups = rows.map((row) => group[row]);
  const observed = new Array<number>(G).fill(0);
  const expected = new Array<number>(G).fill(0);
  const variance = Array.from({ length: G }, () => new Array<number>(G).fill(0));
  for (const time of new Set(used.time)) {
    let before = 1;
    for (const earlier of used.time) if (earlier < time) before = Math.min(before, survivalAt(used, earlier));
    const weight = rho === 0 ? 1 : before;
    const atRisk = new Array<number>(G).fill(0);
    let n = 0;
    let d = 0;
    used.time.forEach((other, row) => {
      if (other >= time) {
        atRisk[groups[row]]++;
        n++;
      }
      if (other === time && used.event[row] === 1) {
        observed[groups[row]] += weight;
        d++;
      }
    });
    for (let g = 0; g < G; g++) {
      expected[g] += (weight * d * atRisk[g]) / n;
      for (let h = 0; h < G && n > 1; h++) {
        const share = (g === h ? 1 : 0) - atRisk[h] / n;
        variance[g][h] += (weight ** 2 * d * (n - d) * atRisk[g] * share) / (n * (n - 1));
      }
    }
  }
  return { observed, expected, variance };
}
