/**
 * Predicted curves beside what was observed, as far as ten people are at risk: of a group; of fifths of the people by
 * predicted risk (thirds if there are few), without anyone's own curve; and the risk at a given time, in parts of the
 * people. Three people's own curves are for a report that shows rows. There is no p-value by risk, because the usual
 * one (oneCalibration in stats/calibration/d-calibration.ts) ignores censoring.
 */

import { normalQuantile } from "../../core/distributions.ts";
import { isAbsent } from "../../core/measured.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { BinnedSingleCause } from "../../data/outcomes/outcomes.ts";
import { meanCurve } from "../../stats/calibration/calibration.ts";
import {
  groupSupport,
  kaplanMeier,
  kaplanMeierBinned,
  MINIMUM_AT_RISK,
  tallyBins,
} from "../../stats/kaplan-meier.ts";
import { binOfTime } from "../words/report-time.ts";
import type { GatherInput } from "./gather-report.ts";
import type { ExampleCurve, GroupCurve, RiskBand, RiskBin, RiskCalibration } from "./report-data.ts";

const Z = normalQuantile(0.975);

/**
 * A group's mean predicted curve beside Kaplan-Meier with pointwise 95 % limits on the log scale (Greenwood). With
 * weights both are weighted and there are no limits; under late entry there is no mean curve to compare.
 */
export function measureCurve(
  curves: Curves,
  binned: BinnedSingleCause,
  rows: Int32Array,
  edges: readonly number[],
): GroupCurve {
  const { weight, ...counted } = binned;
  const km = kaplanMeierBinned(binned, undefined, rows);
  const mean = meanCurve(curves, weight, rows);
  const last = groupSupport(binned, { rows });
  const isComparable = !isAbsent(mean) && binned.firstBin === undefined;
  const limits = (sign: number) =>
    Array.from(km.survival, (S, t) =>
      S === 0 || weight !== undefined
        ? null
        : Math.min(S * Math.exp(sign * Z * Math.sqrt(km.greenwood[t])), 1),
    );
  return {
    last,
    predicted: isComparable ? Array.from(mean) : null,
    observed: Array.from(km.survival),
    lower: limits(-1),
    upper: limits(1),
    atRisk: Array.from(weight === undefined ? km.atRisk : tallyBins(counted, undefined, rows).atRisk),
    gap: !isComparable || last === 0 ? null : measureGap(mean, km.survival, last, edges),
  };
}

function measureGap(
  mean: Float64Array,
  observed: Float64Array,
  last: number,
  edges: readonly number[],
): NonNullable<GroupCurve["gap"]> {
  let sum = 0;
  let absolute = 0;
  let worst = 1;
  for (let t = 1; t <= last; t++) {
    const gap = mean[t] - observed[t];
    sum += gap;
    absolute += Math.abs(gap);
    if (Math.abs(gap) > Math.abs(mean[worst] - observed[worst])) worst = t;
  }
  return {
    mean: sum / last,
    meanAbsolute: absolute / last,
    largest: mean[worst] - observed[worst],
    largestAt: edges[worst],
  };
}

/** A band is the mean of at least this many people, so nobody's own prediction can be read off it. */
const FEWEST_PEOPLE = 20;
const MOST_BANDS = 5;
const FEWER_BANDS = 3;

/** The rows 0…N−1, lowest risk first; among equal risks, the earlier row first. */
export function orderByRisk(N: number, riskOf: (row: number) => number): Int32Array {
  const risks = Float64Array.from({ length: N }, (_, row) => riskOf(row));
  return Int32Array.from(risks.keys()).sort((a, b) => risks[a] - risks[b] || a - b);
}

/** Bands, lowest risk first; none where there are too few people to divide. */
export function cutByRisk(curves: Curves, binned: BinnedSingleCause, last: number): readonly RiskBand[] {
  const { N, T, survival } = curves;
  const K = [MOST_BANDS, FEWER_BANDS].find((bands) => N >= bands * FEWEST_PEOPLE);
  if (K === undefined || last < 1) return [];
  const order = orderByRisk(N, (row) => 1 - survival[row * T + last - 1]);
  return Array.from({ length: K }, (_, k): RiskBand[] => {
    const rows = order.subarray(Math.floor((k * N) / K), Math.floor(((k + 1) * N) / K));
    const mean = meanCurve(curves, undefined, rows);
    if (isAbsent(mean)) return [];
    const km = kaplanMeierBinned(binned, undefined, rows);
    const followed = Math.min(groupSupport(binned, { rows }), last);
    return [
      {
        n: rows.length,
        events: km.events.reduce((sum, count) => sum + count, 0),
        last: followed,
        predicted: Array.from(mean.subarray(0, last + 1)),
        observed: Array.from(km.survival.subarray(0, followed + 1)),
      },
    ];
  }).flat();
}

/** The percentiles of predicted risk of the people whose curves are shown, when rows are asked for. */
const EXAMPLES = [
  { risk: "low", percentile: 10 },
  { risk: "middle", percentile: 50 },
  { risk: "high", percentile: 90 },
] as const;

/** The person whose predicted risk is nearest to the percentile, among those with the event if there are any. */
export function chooseExamples(
  { curves, binned, outcomes, rowNumbers }: GatherInput,
  times: Float64Array,
  last: number,
): ExampleCurve[] {
  const { N, T, survival } = curves;
  const event = outcomes?.event ?? binned.event;
  if (last === 0) return [];
  const order = orderByRisk(N, (row) => 1 - survival[row * T + last - 1]);
  const candidates = Array.from(order, (row, rank) => ({ row, rank }));
  const withEvent = candidates.filter(({ row }) => event[row] === 1);
  const pool = withEvent.length >= EXAMPLES.length ? withEvent : candidates;
  const taken = new Set<number>();
  return EXAMPLES.flatMap(({ risk: level, percentile }) => {
    const wanted = (percentile / 100) * (N - 1);
    const free = pool.filter(({ row }) => !taken.has(row));
    if (free.length === 0) return [];
    const { row, rank } = free.reduce((best, one) =>
      Math.abs(one.rank - wanted) < Math.abs(best.rank - wanted) ? one : best,
    );
    taken.add(row);
    return [
      {
        risk: level,
        row: rowNumbers?.[row] ?? row + 1,
        percentile: Math.round((100 * rank) / Math.max(N - 1, 1)),
        time: times[row],
        event: event[row] === 1,
        survival: [1, ...survival.subarray(row * T, row * T + last)],
      },
    ];
  });
}

/** When each person was last seen, in the unit of the edges, and whether they had the event then. */
export interface ObservedTimes {
  readonly time: ArrayLike<number>; // [N]
  readonly event: ArrayLike<number>; // [N]
}

/** Tenths of the people where each holds ten events on average, fifths otherwise. */
const MOST_BINS = 10;
const FEWER_BINS = 5;
const EVENTS_A_BIN = 10;
/** With fewer events than this by the horizon, even fifths say nothing. */
const FEWEST_EVENTS = 20;
/** The probability outside each of the two limits. */
const TAIL = 0.025;

/**
 * At the time, people are sorted by predicted risk 1 − S(t|x) and cut into K parts of nearly equal size. For each, the
 * mean predicted risk stands beside the observed one, 1 − Kaplan-Meier of the times as observed, with 95 % limits on
 * the log scale of survival. A part without an event has no Greenwood error: its upper limit is the exact binomial one
 * for those still at risk.
 */
export function calibrateByRisk(
  curves: Curves,
  observed: ObservedTimes,
  edges: readonly number[],
  time: number,
): RiskCalibration {
  const { N } = curves;
  let events = 0;
  for (let i = 0; i < N; i++) if (observed.event[i] === 1 && observed.time[i] <= time) events++;
  if (events < FEWEST_EVENTS) {
    return { time, bins: [], absent: `fewer than ${FEWEST_EVENTS} events by then` };
  }
  const K = events >= MOST_BINS * EVENTS_A_BIN ? MOST_BINS : FEWER_BINS;
  const risks = readRisks(curves, edges, time);
  const order = orderByRisk(N, (row) => risks[row]);
  const bins: RiskBin[] = [];
  for (let k = 0; k < K; k++) {
    const rows = order.subarray(Math.floor((k * N) / K), Math.floor(((k + 1) * N) / K));
    if (rows.length === 0) continue;
    bins.push(measureBin(rows, observed, time, risks));
  }
  return { time, bins, absent: null };
}

/** 1 − S at the time, linear between the edges; after the last edge, the last value. */
function readRisks({ N, T, survival }: Curves, edges: readonly number[], time: number): Float64Array {
  const t = binOfTime(edges, time);
  const share = Math.min(Math.max((time - edges[t - 1]) / (edges[t] - edges[t - 1]), 0), 1);
  return Float64Array.from({ length: N }, (_, row) => {
    const before = t === 1 ? 1 : survival[row * T + t - 2];
    return 1 - ((1 - share) * before + share * survival[row * T + t - 1]);
  });
}

function measureBin(rows: Int32Array, observed: ObservedTimes, time: number, risks: Float64Array): RiskBin {
  const km = kaplanMeier({
    time: Float64Array.from(rows, (row) => observed.time[row]),
    event: Uint8Array.from(rows, (row) => observed.event[row]),
  });
  let at = -1;
  while (at + 1 < km.time.length && km.time[at + 1] <= time) at++;
  let events = 0;
  let stillAtRisk = 0;
  for (const row of rows) {
    if (observed.event[row] === 1 && observed.time[row] <= time) events++;
    if (observed.time[row] >= time) stillAtRisk++;
  }
  const S = at < 0 ? 1 : km.survival[at];
  return {
    n: rows.length,
    events,
    predicted: rows.reduce((sum, row) => sum + risks[row], 0) / rows.length,
    observed: 1 - S,
    lower: at < 0 || S === 0 ? 0 : 1 - Math.min(km.upper[at], 1),
    upper: events === 0 ? 1 - TAIL ** (1 / Math.max(stillAtRisk, 1)) : S === 0 ? 1 : 1 - km.lower[at],
    supported: stillAtRisk >= MINIMUM_AT_RISK,
  };
}
