/**
 * One of several causes as if it were the only kind of event: its hazards h_k as curves Π (1 − h_k), and the outcomes
 * in which other causes end the follow-up. These are no probabilities of anything that can be seen; observed and
 * expected events at risk, which is all that is read off them here, are those of the cause.
 */
import { InputError } from "../../core/errors.ts";
import { type CauseCurves, hazardsOf } from "../../data/curves/cause-curves.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { BinnedOutcomes, BinnedSingleCause } from "../../data/outcomes/outcomes.ts";
import { seeCause } from "../../objectives/causes/cause-rows.ts";

/** Curves and outcomes of one cause. */
export interface CauseAlone {
  readonly curves: Curves;
  readonly binned: BinnedSingleCause;
}

/** `k` counts from 0. */
export function isolateCause(curves: CauseCurves, binned: BinnedOutcomes, k: number): CauseAlone {
  const { N, K, T } = curves;
  const hazards = hazardsOf(curves);
  const survival = new Float64Array(N * T);
  for (let n = 0; n < N; n++) {
    let left = 1;
    for (let t = 0; t < T; t++) {
      left *= 1 - hazards[(n * K + k) * T + t];
      survival[n * T + t] = left;
    }
  }
  return { curves: { N, T, survival }, binned: seeCause(binned, k) };
}

/** The place of a cause among those there are, from 0; refuses an unknown one, and none where there are several. */
export function placeCause(causes: readonly string[] | undefined, cause: string | undefined): number | null {
  const have = `have ${(causes ?? []).join(", ")}`;
  if (causes === undefined) {
    if (cause === undefined) return null;
    throw new InputError(`no causes are told apart: "${cause}"`, {
      code: "model.causes",
      hint: "leave --cause out",
    });
  }
  const place = cause === undefined ? -1 : causes.indexOf(cause);
  if (place >= 0) return place;
  throw new InputError(
    cause === undefined ? `there are several causes (${have})` : `unknown cause: "${cause}" (${have})`,
    { code: "model.causes", hint: "name the one that is meant: --cause NAME" },
  );
}
