/**
 * The start, fitted again to the rows of the last solve. The validation rows have chosen between start and network by
 * then, so the additive part below the layer may learn from them too, smoothly over time and under the start's own
 * priors. A layer that alone must carry what they add is rougher: its offsets are free in each block. Measured on
 * simulated people: docs/decisions/008-default-preset.md. What training added to the start is kept as it is.
 */
import type { Turns } from "../../core/progress.ts";
import { logitsOfHazards } from "../../models/networks/initialise.ts";
import type { ParameterValues } from "../../models/networks/parameters.ts";
import { fitStartInTurns } from "../../models/start/additive-start.ts";
import type { ChosenBase } from "./choose-base.ts";
import type { HoldInput } from "./hold.ts";
import { canMix } from "./mixture.ts";
import type { PriorSource } from "./prior.ts";

/** What it needs of a run, beside the mixture. */
export type RefitInput = Pick<
  HoldInput,
  "validation" | "start" | "spec" | "told" | "splines" | "precisions" | "solvedOn" | "cause" | "onProgress"
>;

/**
 * The parameters of the chosen mixture with the new start in place of the old one, and the prior that goes with them.
 * Null where there is no start, or no validation rows in the solve, so that it has seen them all.
 */
export function* refitStart(
  { validation, start, spec, told, splines, precisions, solvedOn, cause, onProgress }: RefitInput,
  { gathered, parameters: chosen, source }: Omit<ChosenBase, "mixture">,
): Turns<PriorSource | null> {
  if (start === null || validation === null || solvedOn === "training rows") return null;
  if (!canMix(start) || !("baselineHazard" in spec) || spec.baselineHazard === undefined) return null;
  const { x, D } = gathered;
  const binned = cause?.startBinned ?? gathered.binned;
  const fitted = yield* fitStartInTurns(
    { ...binned, x, D, groups: told, splines, knotHazard: spec.baselineHazard },
    (done, total) => onProgress?.("fitting the start again", done, total),
    {
      slopes: Float64Array.from(start.skip),
      offsets: Float64Array.from(start.groupOffsets ?? []),
      precisions,
    },
  );
  const fresh: ParameterValues = {
    baseline: Array.from(logitsOfHazards(binned.T, fitted.baselineHazard)),
    skip: Array.from(fitted.slopes),
    groupOffsets: Array.from(fitted.offsets),
  };
  const parameters = Object.fromEntries(
    Object.entries(chosen).map(([name, values]) => [
      name,
      name in fresh ? values.map((value, k) => value + fresh[name][k] - start[name][k]) : values,
    ]),
  );
  return { ...source, parameters, precisions: joinPrecisions(source, fitted.precisions) };
}

/** Where the start estimates nothing of the groups, what was estimated for all of them together stays. */
function joinPrecisions(
  { precisions: before }: PriorSource,
  fitted: PriorSource["precisions"],
): PriorSource["precisions"] {
  if (fitted === null) return before;
  if (before === null || fitted.level.length > 0) return fitted;
  return { ...before, slopes: fitted.slopes, splines: fitted.splines };
}
