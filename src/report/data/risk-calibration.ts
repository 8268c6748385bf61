/**
 * Calibration by predicted risk. At a given time, people are sorted by predicted risk 1 − S(t|x) and cut into K parts
 * of nearly equal size. For each part, the mean predicted risk stands beside the observed one, 1 − Kaplan-Meier of the
 * times as observed, with 95 % limits on the log scale of survival. A part without an event has no Greenwood error: its
 * upper limit is the exact binomial one for those still at risk. There is no p-value, because the usual one
 * (stats/calibration/one-calibration.ts) ignores censoring.
 */
import type { Curves } from "../../data/curves/curves.ts";
import { kaplanMeier, MINIMUM_AT_RISK } from "../../stats/kaplan-meier.ts";
import { binOfTime } from "../plots/ticks.ts";
import type { RiskBin, RiskCalibration } from "./report-data.ts";
import { orderByRisk } from "./risk-bands.ts";

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
