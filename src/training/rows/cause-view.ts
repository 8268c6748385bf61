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

/** Means over people who entered late are not comparable with Kaplan-Meier or Aalen-Johansen. */
export function refuseLateDistance(distance: DistanceName, { firstBin }: BinnedOutcomes): void {
  if (firstBin === undefined || DISTANCES[distance].statistic !== "meanCurve") return;
  throw new InputError(`the distance ${distance} of mean curves is not defined under late entry`, {
    code: "distance.entry",
    hint: "atRisk, the default, compares observed with expected events while people are under observation",
  });
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
