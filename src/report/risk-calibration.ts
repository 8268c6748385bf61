/**
 * Calibration by predicted risk: at a horizon, people sorted by predicted risk 1 − S(t|x) and cut into K parts of as equal
 * size as can be; in each the mean predicted risk beside the observed one, 1 − Kaplan-Meier, with 95 % limits on the log
 * scale of survival. A part without an event has no Greenwood error: its upper limit is the exact binomial one of those still
 * at risk. No p-value: the usual one (stats/one-calibration.ts) does not know of censoring.
 */
import { normalQuantile } from "../core/distributions.ts";
import { kaplanMeierBinned, MINIMUM_AT_RISK } from "../stats/kaplan-meier.ts";
import type { RiskBin, RiskCalibration } from "./report-data.ts";

export interface RiskCurves {
  readonly N: number;
  readonly T: number;
  readonly survival: Float64Array | Float32Array; // [N,T]
}

export interface RiskOutcomes {
  readonly T: number;
  readonly bin: Int32Array; // [N], 1…T
  readonly event: Uint8Array; // [N]
}

/** Tenths of the people, where each holds ten events on average; fifths where there are fewer. */
const MOST_BINS = 10;
const FEWER_BINS = 5;
const EVENTS_A_BIN = 10;
/** Below this many events by the horizon even fifths say nothing. */
const FEWEST_EVENTS = 20;
/** Probability outside either of the two limits. */
const TAIL = 0.025;
const Z = normalQuantile(1 - TAIL);

export function calibrateByRisk(
  curves: RiskCurves,
  binned: RiskOutcomes,
  t: number,
  time: number,
): RiskCalibration {
  const { N, T, survival } = curves;
  let events = 0;
  for (let i = 0; i < N; i++) if (binned.event[i] === 1 && binned.bin[i] <= t) events++;
  if (events < FEWEST_EVENTS) {
    return { t, time, bins: [], absent: `${events} events by then: fewer than ${FEWEST_EVENTS}` };
  }
  const K = events >= MOST_BINS * EVENTS_A_BIN ? MOST_BINS : FEWER_BINS;
  const riskOf = (row: number) => 1 - survival[row * T + t - 1];
  const order = Int32Array.from({ length: N }, (_, row) => row).sort(
    (a, b) => riskOf(a) - riskOf(b) || a - b,
  );
  const bins: RiskBin[] = [];
  for (let k = 0; k < K; k++) {
    const rows = order.subarray(Math.floor((k * N) / K), Math.floor(((k + 1) * N) / K));
    if (rows.length === 0) continue;
    bins.push(measureBin(rows, binned, t, riskOf));
  }
  return { t, time, bins, absent: null };
}

function measureBin(
  rows: Int32Array,
  binned: RiskOutcomes,
  t: number,
  riskOf: (row: number) => number,
): RiskBin {
  const km = kaplanMeierBinned(binned, undefined, rows);
  const events = km.events.subarray(0, t + 1).reduce((sum, count) => sum + count, 0);
  const S = km.survival[t];
  const reach = Math.exp(Z * Math.sqrt(km.greenwood[t]));
  const stillAtRisk = Math.max(km.atRisk[t], 1);
  return {
    n: rows.length,
    events,
    predicted: rows.reduce((sum, row) => sum + riskOf(row), 0) / rows.length,
    observed: 1 - S,
    lower: S === 0 ? 0 : 1 - Math.min(S * reach, 1),
    upper: events === 0 ? 1 - TAIL ** (1 / stillAtRisk) : S === 0 ? 1 : 1 - S / reach,
    supported: km.atRisk[t] >= MINIMUM_AT_RISK,
  };
}
