/**
 * One group's mean predicted curve beside its Kaplan-Meier curve, with pointwise 95 % limits on the log scale
 * (Greenwood), numbers at risk, and the gap between the two over the bins in which at least ten people are at risk.
 */
import { normalQuantile } from "../../core/distributions.ts";
import { isAbsent } from "../../core/measured.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { BinnedRightCensored } from "../../data/outcomes/outcomes.ts";
import { meanCurve } from "../../stats/calibration/calibration.ts";
import { groupSupport, kaplanMeierBinned } from "../../stats/kaplan-meier.ts";
import type { GroupCurve } from "./report-data.ts";

const Z = normalQuantile(0.975);

export function measureCurve(
  curves: Curves,
  binned: BinnedRightCensored,
  rows: Int32Array,
  edges: readonly number[],
): GroupCurve {
  const km = kaplanMeierBinned(binned, undefined, rows);
  const mean = meanCurve(curves, undefined, rows);
  const last = groupSupport(binned, { rows });
  const limits = (sign: number) =>
    Array.from(km.survival, (S, t) =>
      S === 0 ? null : Math.min(S * Math.exp(sign * Z * Math.sqrt(km.greenwood[t])), 1),
    );
  return {
    last,
    predicted: isAbsent(mean) ? null : Array.from(mean),
    observed: Array.from(km.survival),
    lower: limits(-1),
    upper: limits(1),
    atRisk: Array.from(km.atRisk),
    gap: isAbsent(mean) || last === 0 ? null : measureGap(mean, km.survival, last, edges),
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
