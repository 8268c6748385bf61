/**
 * Boost where causes compete: repairs the predicted incidence of every cause, group by group, on rows the model has not
 * learnt from, and judges each cause on rows that neither has seen. The hazards of each cause are multiplied
 * (repair/cause-hazards.ts) by a share of what its events say that raises no cause's Brier score
 * (repair/share-choice.ts). The verdict is the audit's by cause; under late entry, that of the cause's events at risk.
 */
import { InputError } from "../../core/errors.ts";
import {
  type CauseCurves,
  type CauseCurvesInput,
  causeCurves,
  hazardsByCause,
} from "../../data/curves/cause-curves.ts";
import type { BinnedOutcomesInput } from "../../data/plain-input.ts";
import { type CauseBoostTask, pickTask } from "../../repair/boost-input.ts";
import { applyCauseHazards, type CauseHazardBoost } from "../../repair/cause-hazards.ts";
import { type CauseShareChoice, fitCauseShare } from "../../repair/share-choice.ts";
import { matchCauses } from "../../stats/causes/binned-causes.ts";
import { scoreCauses } from "../../stats/causes/score-cause.ts";
import { type BoostRowSets, type GuardedBoostOptions, hazardOptions, toRowSets } from "../boost.ts";
import { type BoostVerdict, type JudgedScores, scoreAll, summariseChange } from "../boost-verdict.ts";
import { isolateCause } from "./cause-alone.ts";

/** What is repaired: incidences, the outcomes of their rows, and the groups. */
export type CauseBoostInput = Omit<CauseBoostTask, "curves" | "outcomes"> & {
  /** Predicted incidence of each person and cause at the end of every bin. */
  readonly curves: CauseCurvesInput;
  /** The bin in which each person had an event or was censored, and the cause. */
  readonly outcomes: BinnedOutcomesInput;
};

/** What the judging rows say of one cause. */
export interface CauseVerdict extends BoostVerdict {
  /** The cause. */
  readonly name: string;
}

/** What the judging rows say of a repair. */
export interface CauseBoostVerdict {
  readonly rows: number;
  readonly causes: readonly CauseVerdict[];
}

/** A repair and what the judging rows say of it. */
export interface CauseBoostResult {
  readonly boost: CauseHazardBoost;
  readonly choice: CauseShareChoice;
  /** For all rows, including those that were fitted on. */
  readonly curves: CauseCurves; // [N,K,T]
  readonly verdict: CauseBoostVerdict;
}

/** Fits on some rows, applies to all and judges on others. */
export function boostCauses(
  given: CauseBoostInput,
  sets: Readonly<Record<keyof BoostRowSets, ArrayLike<number>>>,
  options: GuardedBoostOptions = {},
): CauseBoostResult {
  const task = toTask(given);
  const rows = toRowSets(sets);
  const { method = "hazards", ...settings } = options;
  if (method !== "hazards") {
    throw new InputError("MCBoostSurv is of one kind of event: it does not take several causes", {
      code: "boost.causes",
      hint: "its step moves survival and says of no cause: take the method hazards",
    });
  }
  const { boost, choice } = fitCauseShare(pickTask(task, rows.fit), hazardOptions(settings));
  const curves = applyCauseHazards(boost, task.curves, task.groups);
  const held = pickTask(task, rows.held);
  const boosted = pickTask({ ...task, curves }, rows.held).curves;
  return { boost, choice, curves, verdict: judgeCauseBoost(held, boosted) };
}

function toTask({ curves: incidences, outcomes, ...rest }: CauseBoostInput): CauseBoostTask {
  const curves = causeCurves(incidences);
  return { ...rest, curves, outcomes: matchCauses(curves, outcomes) };
}

/** Compares the task's incidences with others of the same rows, cause by cause. */
export function judgeCauseBoost(task: CauseBoostTask, boosted: CauseCurves): CauseBoostVerdict {
  const { N: rows, T, causes } = task.curves;
  const before = scoreByCause(task);
  const after = scoreByCause({ ...task, curves: boosted });
  return {
    rows,
    causes: causes.map((name, k) => ({
      name,
      ...summariseChange({ T, rows, before: before[k], after: after[k] }),
    })),
  };
}

/** The scores of everyone and of the groups, for each cause. */
function scoreByCause({ curves, outcomes, groups }: CauseBoostTask): readonly (readonly JudgedScores[])[] {
  if (outcomes.firstBin !== undefined) {
    return curves.causes.map((_, k) => {
      const { curves: alone, binned } = isolateCause(curves, outcomes, k);
      return scoreAll({ curves: alone, outcomes: binned, groups });
    });
  }
  const everyone = { name: "all", rows: Int32Array.from({ length: curves.N }, (_, row) => row) };
  const scoring = { curves, outcomes, hazards: hazardsByCause(curves), bins: [] };
  const scored = [everyone, ...groups].map(({ name, rows }) =>
    scoreCauses(name, scoring, Int32Array.from(rows)),
  );
  return curves.causes.map((_, k) => scored.map((own) => own[k]));
}
