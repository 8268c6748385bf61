/**
 * How constraints and verdicts see training rows: as they are where there is one kind of event, otherwise as a row for
 * each person and cause, with every group once for each cause.
 */
import { InputError } from "../../core/errors.ts";
import {
  type BinnedOutcomes,
  type BinnedSingleCause,
  requireSingleCause,
} from "../../data/outcomes/outcomes.ts";
import { crossCauses, spreadCauses } from "../../objectives/causes/cause-rows.ts";
import type { NamedRows } from "../../objectives/constraints.ts";
import { DISTANCES, type DistanceName } from "../../objectives/distances/list.ts";
import type { TrainingRows } from "../trainer.ts";

/** Rows of one kind of event, and the groups among them. */
export interface SeenRows {
  readonly binned: BinnedSingleCause;
  readonly groups: readonly NamedRows[];
}

/** A distance of mean curves compares survival with Kaplan-Meier, which no cause by itself has. */
export function refuseCurveDistance(distance: DistanceName, causes: readonly string[] | null): void {
  if (causes === null || !isOfCurves(distance)) return;
  throw new InputError(`the distance ${distance} is of one kind of event: it does not take several causes`, {
    code: "distance.causes",
    hint: "atRisk, the default, holds each group to the observed events of every cause",
  });
}

/** Means over people who entered late, or who stand for several, are not comparable with Kaplan-Meier. */
export function refuseUncountedDistance(
  distance: DistanceName,
  { firstBin, weight }: Pick<BinnedOutcomes, "firstBin" | "weight">,
): void {
  if (!isOfCurves(distance) || (firstBin === undefined && weight === undefined)) return;
  const [where, code] =
    firstBin !== undefined ? ["under late entry", "entry"] : ["for weighted rows", "weights"];
  throw new InputError(`the distance ${distance} of mean curves is not defined ${where}`, {
    code: `distance.${code}`,
    hint: "atRisk, the default, compares observed with expected events while people are under observation",
  });
}

function isOfCurves(distance: DistanceName): boolean {
  return DISTANCES[distance].statistic === "meanCurve";
}

export function seeRows({
  binned,
  groups,
  causes,
}: Pick<TrainingRows, "binned" | "groups" | "causes">): SeenRows {
  if (causes === undefined)
    return { binned: requireSingleCause(binned, "training without named causes"), groups };
  return { binned: spreadCauses(binned, causes.length), groups: crossCauses(groups, causes) };
}
