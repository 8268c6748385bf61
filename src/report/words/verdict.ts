/**
 * What the report says about each group: the audit's agreement (stats/calibration/agreement.ts), the direction of the
 * gap, the bound, and how it looks. Green is for a group whose bound is below what the reader calls acceptable, never
 * for a test that merely did not reject; a group where no disagreement is shown but much could be wrong is neutral.
 */
import { type GroupAgreement, judgeAgreement, SINGLE_LEVEL } from "../../stats/calibration/agreement.ts";
import { binomialRange, type CountRange } from "../../stats/comparison.ts";
import type { Scores } from "../../stats/scores/scores.ts";
import type { AuditedScores } from "../../verbs/audit.ts";

/**
 * Disagrees; no disagreement and a bound within the tolerance; no disagreement and a bound beyond it; too little data.
 */
export type VerdictLook = "off" | "within" | "open" | "few";
/** Predicted survival too high, too low, or right on average and wrong in shape. */
export type GapDirection = "high" | "low" | "shape";

export interface ReportVerdict extends GroupAgreement {
  readonly look: VerdictLook;
  /** The direction of the gap, whatever the verdict; null where there is no gap to measure. */
  readonly direction: GapDirection | null;
  /** How far off the group could be on average over time, in survival; null where no bound is given. */
  readonly bound: number | null;
  /** Why there is no bound. */
  readonly boundAbsent: string | null;
}

export interface RejectionCount {
  /** Groups judged, not counting everyone together. */
  readonly tests: number;
  /** Those of them with an unadjusted p of at most SINGLE_LEVEL. */
  readonly rejected: number;
  /** How many rejections chance alone gives a perfect model, in 95 % of audits, if the groups were disjoint. */
  readonly range: CountRange;
}

/** What counts as acceptable unless the reader says otherwise: five points of survival. */
export const DEFAULT_TOLERANCE = 0.05;
/** If the mean gap is below this share of the mean absolute gap, its signs cancel. */
const CANCELLING_SHARE = 0.5;

/** The scores that a verdict needs. */
export type JudgedScores = Scores & Pick<AuditedScores, "bound">;

export interface JudgedGroup {
  readonly scores: JudgedScores;
  readonly gap: { readonly mean: number; readonly meanAbsolute: number } | null;
}

function directionOf(gap: JudgedGroup["gap"]): GapDirection | null {
  if (gap === null) return null;
  if (Math.abs(gap.mean) < CANCELLING_SHARE * gap.meanAbsolute) return "shape";
  return gap.mean > 0 ? "high" : "low";
}

function lookOf({ agreement }: GroupAgreement, bound: number | null, tolerance: number): VerdictLook {
  switch (agreement) {
    case "disagrees":
      return "off";
    case "tooFewEvents":
      return "few";
    case "noDisagreementShown":
      return bound !== null && bound < tolerance ? "within" : "open";
  }
}

/** The verdicts in the order of the groups, which are judged together. */
export function judgeGroups(
  groups: readonly JudgedGroup[],
  T: number,
  tolerance: number,
): readonly ReportVerdict[] {
  const judged = judgeAgreement(
    groups.map(({ scores }) => scores),
    T,
  );
  return groups.map(
    ({ scores: { bound, absent }, gap }, g): ReportVerdict => ({
      ...judged[g],
      look: lookOf(judged[g], bound, tolerance),
      direction: directionOf(gap),
      bound,
      boundAbsent: bound === null ? (absent.bound ?? "none was drawn") : null,
    }),
  );
}

/** How many groups a test rejects on its own, against what chance alone would give. Null if there is no test. */
export function countRejections(ps: readonly (number | null)[]): RejectionCount | null {
  const present = ps.filter((p) => p !== null);
  if (present.length === 0) return null;
  return {
    tests: present.length,
    rejected: present.filter((p) => p <= SINGLE_LEVEL).length,
    range: binomialRange(present.length, SINGLE_LEVEL),
  };
}
