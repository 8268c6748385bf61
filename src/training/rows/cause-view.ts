/**
 * How constraints and verdicts see training rows: as they are where there is one kind of event, otherwise as a row for
 * each person and cause, with every group once for each cause.
 */
import { type BinnedSingleCause, requireSingleCause } from "../../data/outcomes/outcomes.ts";
import { crossCauses, spreadCauses } from "../../objectives/causes/cause-rows.ts";
import type { NamedRows } from "../../objectives/constraints.ts";
import type { TrainingRows } from "../trainer.ts";

/** Rows of one kind of event, and the groups among them. */
export interface SeenRows {
  readonly binned: BinnedSingleCause;
  readonly groups: readonly NamedRows[];
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
