/**
 * What may be said of each group after all of them were looked at. Two tests: the calibration error against the noise
 * floor, adjusted for the number of groups by the draws themselves (stats/noise-floor.ts), and the individual logrank, adjusted
 * by Holm. Each takes half of 0.05, so that a model that is right for everybody has any group marked as off in at most one
 * audit of twenty. A group with fewer than ten events, or followed for less than a quarter of the bins, is not judged
 * (method §5). "Agrees" means that no departure was found, which for a small group is weak praise.
 */
import { binomialRange, type CountRange, holm } from "../stats/comparison.ts";
import type { Scores } from "../stats/scores.ts";

export type VerdictKind = "agrees" | "uncertain" | "off" | "few" | "untested";
/** Predicted survival too high, too low, or right on average and wrong in shape. */
export type GapDirection = "high" | "low" | "shape";

export interface GroupVerdict {
  readonly kind: VerdictKind;
  /** Of the gap, whatever the verdict; null where there is none to measure. */
  readonly direction: GapDirection | null;
  /** What a group that is not judged has too little of; null for any other. */
  readonly lacks: "events" | "followUp" | null;
  /** Holm's adjustment over the groups judged; null where the test is absent or the group not judged. */
  readonly logrankAdjustedP: number | null;
  /** One sentence. */
  readonly reason: string;
}

export interface RejectionCount {
  /** Groups judged, everyone together not counted. */
  readonly tests: number;
  /** Of these, with an unadjusted p of at most SINGLE_LEVEL. */
  readonly rejected: number;
  /** How many chance alone gives a perfect model, in 95 % of audits, were the groups disjoint. */
  readonly range: CountRange;
}

/** The chance that a perfect model has any group marked as off. */
export const FAMILY_LEVEL = 0.05;
/** Below it a single test raises a doubt. */
export const SINGLE_LEVEL = 0.05;
/** As for constraints: fewer events cannot be told from noise. */
export const MINIMUM_EVENTS = 10;
const MINIMUM_FOLLOWED_SHARE = 0.25;
/** A mean gap below this share of the mean absolute gap is one whose signs cancel. */
const CANCELLING_SHARE = 0.5;

export interface JudgedGroup {
  readonly scores: Scores;
  readonly gap: { readonly mean: number; readonly meanAbsolute: number } | null;
}

/** Why a group is not judged; null when it is. */
function tooLittle({ events, supported }: Scores, T: number): Pick<GroupVerdict, "lacks" | "reason"> | null {
  if (events < MINIMUM_EVENTS) {
    const had = events === 1 ? "1 event" : `${events} events`;
    return { lacks: "events", reason: `${had}: fewer than ${MINIMUM_EVENTS}, too few to say` };
  }
  if (supported.bins < MINIMUM_FOLLOWED_SHARE * T) {
    const followed = `ten people or more are at risk in only ${supported.bins} of ${T} time bins`;
    return { lacks: "followUp", reason: `${followed}: too little follow-up to say` };
  }
  return null;
}

function directionOf(gap: JudgedGroup["gap"]): GapDirection | null {
  if (gap === null) return null;
  if (Math.abs(gap.mean) < CANCELLING_SHARE * gap.meanAbsolute) return "shape";
  return gap.mean > 0 ? "high" : "low";
}

/** The verdicts in the order of the groups, which are judged together: a p-value is adjusted for all of them. */
export function judgeGroups(groups: readonly JudgedGroup[], T: number): readonly GroupVerdict[] {
  const lacking = groups.map(({ scores }) => tooLittle(scores, T));
  const logrankPs = groups.map(({ scores }, g) => (lacking[g] === null ? scores.logrankIndividual.p : null));
  const present = logrankPs.filter((p) => p !== null);
  const adjusted = holm(present);
  let next = 0;
  return groups.map(({ scores, gap }, g): GroupVerdict => {
    const direction = directionOf(gap);
    const logrankAdjustedP = logrankPs[g] === null ? null : adjusted[next++];
    const lack = lacking[g];
    if (lack !== null) return { kind: "few", direction, logrankAdjustedP: null, ...lack };
    const tests = [
      { name: "calibration error", p: scores.noiseFloor?.p ?? null, adjusted: scores.noiseFloor?.adjustedP },
      { name: "logrank", p: logrankPs[g], adjusted: logrankAdjustedP },
    ].filter((test) => test.p !== null);
    if (tests.length === 0) {
      const reason = "no test could be made: there are neither draws of the noise floor nor expected events";
      return { kind: "untested", direction, lacks: null, logrankAdjustedP, reason };
    }
    const level = FAMILY_LEVEL / tests.length;
    const name = (chosen: typeof tests) => chosen.map((test) => test.name).join(" and ");
    const failed = tests.filter((test) => (test.adjusted ?? 1) <= level);
    if (failed.length > 0) {
      const reason = `further from the observed than chance explains (${name(failed)}, all groups considered)`;
      return { kind: "off", direction, lacks: null, logrankAdjustedP, reason };
    }
    const doubtful = tests.filter((test) => (test.p ?? 1) <= SINGLE_LEVEL);
    if (doubtful.length > 0) {
      const reason = `doubtful by itself (${name(doubtful)}), but among so many groups chance may explain it`;
      return { kind: "uncertain", direction, lacks: null, logrankAdjustedP, reason };
    }
    return {
      kind: "agrees",
      direction,
      lacks: null,
      logrankAdjustedP,
      reason: "no departure from the observed beyond chance",
    };
  });
}

/** How many of the groups a test rejects by itself, against what chance alone would give. Null without any test. */
export function countRejections(ps: readonly (number | null)[]): RejectionCount | null {
  const present = ps.filter((p) => p !== null);
  if (present.length === 0) return null;
  return {
    tests: present.length,
    rejected: present.filter((p) => p <= SINGLE_LEVEL).length,
    range: binomialRange(present.length, SINGLE_LEVEL),
  };
}
