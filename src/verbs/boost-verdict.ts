/**
 * What a repair did to every group on rows that neither the model nor the repair has seen: scores before and after.
 * Right-censored people are scored as everywhere (stats/scores/scores.ts), and so is each of several causes
 * (verbs/causes/boost-causes.ts). With weights the curves, Kaplan-Meier and the Brier score are weighted. Under late
 * entry means of curves are not comparable with Kaplan-Meier: a group's distance is then that of its events at risk
 * from the expected ones, mean_b (O_b − E_b)²/V_b over blocks of time, about 1 for right curves, with O/E beside it.
 */
import { present } from "../core/present.ts";
import type { Curves } from "../data/curves/curves.ts";
import type { BinnedRightCensored } from "../data/outcomes/outcomes.ts";
import { equalEventBlocks } from "../objectives/time-blocks.ts";
import type { BoostTask } from "../repair/boost-input.ts";
import { hasEnoughData } from "../stats/kaplan-meier.ts";
import { areHistories, scoreHistories } from "../stats/scores/history-scores.ts";
import { type Scores, scoreCurves } from "../stats/scores/scores.ts";

/** One group on the rows that neither model nor boost has seen. */
export interface BoostedGroup {
  readonly name: string;
  readonly n: number;
  readonly events: number;
  /** Bins with at least ten rows at risk; the distances are over these. */
  readonly bins: number;
  /** False where there are too few events or too little follow-up to speak of a distance. */
  readonly judged: boolean;
  /** L2 distance of the mean curve from what was observed; under late entry, of events at risk from the expected. */
  readonly distance: Change;
  readonly ece: Change;
  /** Under late entry: observed over expected events. */
  readonly ratio?: Change;
}

export interface Change {
  readonly before: number | null;
  readonly after: number | null;
}

export interface WorstChange {
  /** The judged group furthest from what was observed. */
  readonly before: { readonly group: string; readonly distance: number } | null;
  readonly after: { readonly group: string; readonly distance: number } | null;
}

/** Scores of the judging rows before and after the repair. */
export interface BoostVerdict {
  readonly rows: number;
  readonly events: number;
  /** Under late entry: distances are those of events at risk. */
  readonly distanceOf?: "events at risk";
  readonly groups: readonly BoostedGroup[];
  readonly worst: WorstChange;
  /** Null under late entry, where it is not defined. */
  readonly ibs: Change;
  /** after / before − 1. */
  readonly ibsChange: number | null;
  readonly concordance: Change;
}

/** What a verdict reads of a group's scores. */
export type JudgedScores = Pick<
  Scores,
  "concordance" | "distanceL2" | "ece" | "events" | "ibs" | "n" | "name"
> & {
  readonly supported: { readonly bins: number };
  readonly atRisk?: Scores["atRisk"] | readonly number[];
};

/** The scores of everyone, the first, and of the groups, before and after. */
export interface JudgedChange {
  readonly T: number;
  readonly rows: number;
  readonly before: readonly JudgedScores[];
  readonly after: readonly JudgedScores[];
}

/** Compares the task's curves with others of the same rows. */
export function judgeBoost(task: BoostTask, boosted: Curves): BoostVerdict {
  const { curves } = task;
  return summariseChange({
    T: curves.T,
    rows: curves.N,
    before: scoreAll(task),
    after: scoreAll({ ...task, curves: boosted }),
  });
}

/** Everyone, then the groups. */
export function scoreAll({ curves, outcomes, groups }: BoostTask): readonly Scores[] {
  const everyone = { name: "all", rows: Int32Array.from({ length: curves.N }, (_, row) => row) };
  if (!areHistories(outcomes)) {
    const plain = outcomes as BinnedRightCensored;
    return [
      scoreCurves(everyone.name, curves, plain),
      ...groups.map(({ name, rows }) => scoreCurves(name, curves, plain, rows)),
    ];
  }
  const blocks = equalEventBlocks(outcomes);
  return [everyone, ...groups].map(({ name, rows }) =>
    scoreHistories(name, curves, outcomes, Int32Array.from(rows), blocks),
  );
}

/** Scores before and after as a verdict. */
export function summariseChange({ T, rows, before, after }: JudgedChange): BoostVerdict {
  const changeOf = (g: number, read: (scores: JudgedScores) => number | null): Change => ({
    before: read(before[g]),
    after: read(after[g]),
  });
  const isLate = readLate(before[0]) !== null;
  const groups = before.slice(1).map(({ name, n, events, supported: { bins } }, k): BoostedGroup => {
    const g = k + 1;
    const late = isLate ? { ratio: changeOf(g, (scores) => readLate(scores)?.ratio ?? null) } : {};
    return {
      name,
      n,
      events,
      bins,
      judged: hasEnoughData(events, bins, T),
      distance: changeOf(g, (scores) => (isLate ? (readLate(scores)?.distance ?? null) : scores.distanceL2)),
      ece: changeOf(g, ({ ece }) => ece),
      ...late,
    };
  });
  const ibs = changeOf(0, (scores) => scores.ibs);
  const hasBoth = ibs.before !== null && ibs.after !== null && ibs.before > 0;
  return {
    rows,
    events: before[0].events,
    ...present({ distanceOf: isLate ? ("events at risk" as const) : undefined }),
    groups,
    worst: { before: findWorst(groups, "before"), after: findWorst(groups, "after") },
    ibs,
    ibsChange: hasBoth ? (ibs.after ?? 0) / (ibs.before ?? 1) - 1 : null,
    concordance: changeOf(0, ({ concordance }) => concordance),
  };
}

/** What stands in place of distances of mean curves under late entry. */
function readLate({ atRisk }: JudgedScores) {
  return atRisk !== undefined && "hasEntries" in atRisk && atRisk.hasEntries ? atRisk : null;
}

function findWorst(groups: readonly BoostedGroup[], when: keyof Change): WorstChange["before"] {
  let worst: WorstChange["before"] = null;
  for (const { name, judged, distance } of groups) {
    const value = distance[when];
    if (judged && value !== null && !(worst !== null && worst.distance >= value)) {
      worst = { group: name, distance: value };
    }
  }
  return worst;
}
