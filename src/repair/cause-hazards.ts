/**
 * A repair of predicted incidences where causes compete: in each block of time the hazards of cause k are multiplied by
 * exp(a_gk) for everyone in group g. The log likelihood of hazard-ratios.ts is a sum over the causes, so each has its
 * own blocks and ratios, found as if it were alone (hazard-boost.ts), with its part of the exposure. With p_k its part
 * of a bin's hazard (hazard-exposure.ts),
 *   r = Σ_k p_k exp(a_k),   S'(t) = S'(t−1) (S(t)/S(t−1))^r,   F'_k(t) = F'_k(t−1) + (S'(t−1) − S'(t)) p_k exp(a_k)/r.
 * No incidence falls or leaves [0, 1], and Σ F_k + S stays 1. With one cause this is the repair of hazard-boost.ts.
 */
import { exp, power } from "../core/elementary.ts";
import { InputError, NumericalError } from "../core/errors.ts";
import { type CauseCurves, survivalOf } from "../data/curves/cause-curves.ts";
import type { BinnedOutcomes } from "../data/outcomes/outcomes.ts";
import { seeCause } from "../objectives/causes/cause-rows.ts";
import { equalEventBlocks } from "../objectives/time-blocks.ts";
import { type BoostGroup, checkGroups } from "./boost-input.ts";
import {
  checkHazardOptions,
  fitRatios,
  HAZARD_BOOST_DEFAULTS,
  type HazardBoost,
  type HazardBoostOptions,
  scaleHazardBoost,
  sumRatios,
} from "./hazard-boost.ts";
import { divideHazards, fillSteps, findBlocks, measureExposure } from "./hazard-exposure.ts";

/** Plain data that survives JSON. */
export interface CauseHazardBoost {
  readonly kind: "cause hazards";
  readonly T: number;
  /** The names of causes 1, 2, … K. */
  readonly causes: readonly string[];
  /** What the hazards of each cause are multiplied by. */
  readonly hazards: readonly HazardBoost[]; // [K]
}

/** Incidences and outcomes of the rows that a repair is fitted on. */
export interface CauseBoostInput {
  readonly curves: CauseCurves;
  /** The cause of every event; first bins at risk and weights where there are any. */
  readonly outcomes: BinnedOutcomes;
  readonly groups: readonly BoostGroup[];
}

/** Finds every cause's ratios. */
export function fitCauseHazards(
  { curves, outcomes, groups }: CauseBoostInput,
  options: Partial<HazardBoostOptions> = {},
): CauseHazardBoost {
  const settings = checkHazardOptions({ ...HAZARD_BOOST_DEFAULTS, ...options });
  checkGroups(groups);
  if (curves.N === 0) throw new InputError("no rows to calibrate on", { code: "rows.none" });
  const survival = survivalOf(curves);
  const hazards = divideHazards(curves).map((parts, k) => {
    const own = seeCause(outcomes, k);
    const blocks = equalEventBlocks(own, settings.timeBuckets);
    const exposure = measureExposure(survival, outcomes, blocks, parts);
    return fitRatios({ outcomes: own, blocks, exposure }, groups, settings);
  });
  return { kind: "cause hazards", T: curves.T, causes: curves.causes, hazards };
}

/** The repair scaled to the given share, for every cause. */
export function scaleCauseHazards(boost: CauseHazardBoost, share: number): CauseHazardBoost {
  return { ...boost, hazards: boost.hazards.map((one) => scaleHazardBoost(one, share)) };
}

/** Repairs the same model's incidences for any rows; groups are matched by name. */
export function applyCauseHazards(
  boost: CauseHazardBoost,
  curves: CauseCurves,
  groups: readonly BoostGroup[] = [],
): CauseCurves {
  checkRepairedCauses(boost, curves);
  const { N, K, T } = curves;
  const factors = boost.hazards.map((one) => sumRatios(one, N, groups).map(exp));
  const blockOf = boost.hazards.map(({ blocks }) => findBlocks(blocks, T));
  const incidence = curves.incidence.slice();
  const steps = new Float64Array(K);
  for (let i = 0; i < N; i++) {
    const own = factors.map((all, k) => {
      const B = boost.hazards[k].blocks.length;
      return all.subarray(i * B, (i + 1) * B);
    });
    // A person whom no group moves keeps the curves to the last bit.
    if (own.every((ratios) => ratios.every((ratio) => ratio === 1))) continue;
    const reached = new Float64Array(K);
    const repaired = new Float64Array(K);
    let [before, now] = [1, 1];
    for (let t = 0; t < T; t++) {
      const total = fillSteps(curves, i, t, reached, steps);
      const S = Math.max(0, before - total);
      if (total > 0 && before > 0) {
        let moved = 0;
        for (let k = 0; k < K; k++) {
          steps[k] *= own[k][blockOf[k][t + 1]];
          moved += steps[k];
        }
        const next = now * power(S / before, moved / total);
        for (let k = 0; k < K && moved > 0; k++) repaired[k] += ((now - next) * steps[k]) / moved;
        now = next;
      }
      before = S;
      // Rounding may take a sum past 1 by its last bit.
      for (let k = 0; k < K; k++) incidence[(i * K + k) * T + t] = Math.min(repaired[k], 1);
    }
    if (repaired.some((F) => Number.isNaN(F))) throw NOT_OF_THESE();
  }
  return { ...curves, incidence };
}

const NOT_OF_THESE = () =>
  new NumericalError("the repaired curves are not probabilities", {
    code: "boost.curves",
    hint: "the boost does not belong to these curves, or was changed: fit it again",
  });

/** Refuses incidences that a repair is not of. */
export function checkRepairedCauses(
  { T, causes }: Pick<CauseHazardBoost, "T" | "causes">,
  curves: CauseCurves,
): void {
  if (T !== curves.T) {
    throw new InputError(`boost and curves are on different grids: ${T} and ${curves.T} bins`, {
      code: "grid.mismatch",
    });
  }
  const isSame = causes.length === curves.K && causes.every((name, k) => name === curves.causes[k]);
  if (isSame) return;
  throw new InputError(`the boost is of other causes: ${causes.join(", ")}`, {
    code: "boost.causes",
    hint: `the curves are of ${curves.causes.join(", ")}: give those it was fitted to, in their order`,
  });
}
