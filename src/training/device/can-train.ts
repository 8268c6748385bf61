/** Which runs a device takes to itself; the others go through the host, step by step. */
import type { BinnedOutcomes } from "../../data/outcomes/outcomes.ts";
import { DISTANCES } from "../../objectives/distances/list.ts";
import type { ConstraintSpec, ObjectiveSpec, TrainingOptions } from "../options.ts";
import type { OptimiseHooks, TrainingInput } from "../trainer.ts";

/** Whether every step takes all rows at once, by operations that the device has. */
export function canTrainOnDevice(
  { backend, network: { D, T, K }, training: { binned } }: TrainingInput,
  { batch, objective, constraint, partRows }: TrainingOptions,
  { batches }: OptimiseHooks,
): boolean {
  const N = binned.bin.length;
  return (
    takesOutcomes(binned, objective, constraint) &&
    backend.training?.fits({ N, D, T, K }) === true &&
    N > 0 &&
    batches === undefined &&
    (batch === null || batch >= N) &&
    (partRows ?? N) >= N &&
    (objective.kind !== "rps" || objective.ranking === undefined) &&
    (constraint?.strata ?? 1) === 1
  );
}

/**
 * Whether loss and distance are on the device for such outcomes. Where they are not defined for them, the host's loop
 * says so; gaps of mean incidences in standard errors of their own, and mean curves and the tail term of weighted rows,
 * are defined, and go through the host.
 */
function takesOutcomes(
  { firstBin, weight, cause }: BinnedOutcomes,
  objective: ObjectiveSpec,
  constraint: ConstraintSpec | null,
): boolean {
  if ([firstBin, weight, cause].every((field) => field === undefined)) return true;
  if (objective.kind !== "likelihood" || objective.tail) return false;
  if (constraint === null || DISTANCES[constraint.distance].statistic === "blockTotals") return true;
  const isOfAll = firstBin === undefined && weight === undefined;
  return isOfAll && (constraint.distance !== "variance" || constraint.variant === "paper");
}
