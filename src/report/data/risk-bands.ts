/**
 * People by predicted risk: fifths (thirds if there are few people) by the predicted risk at the end of the audited
 * time. Each has its mean predicted curve beside the Kaplan-Meier curve of the same people, as far as ten of them are
 * at risk. This shows what predictions look like and whether high and low risks are told apart, without anyone's own
 * curve.
 */

import { isAbsent } from "../../core/measured.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { BinnedRightCensored } from "../../data/outcomes/outcomes.ts";
import { meanCurve } from "../../stats/calibration/calibration.ts";
import { groupSupport, kaplanMeierBinned } from "../../stats/kaplan-meier.ts";
import type { RiskBand } from "./report-data.ts";

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
export function cutByRisk(curves: Curves, binned: BinnedRightCensored, last: number): readonly RiskBand[] {
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
