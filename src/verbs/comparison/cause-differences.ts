/**
 * Methods of several causes on the same rows: what they are compared on, cause by cause, and the difference of each
 * from the first, by the tests of differences.ts. The integrated Brier score and Wolbers' concordance are those of the
 * audit by cause; calibration is the gap to Aalen-Johansen, of everyone and as a mean over the groups with enough
 * events of the cause; the error of the expected events, |E/O − 1|, is all that is left under late entry. Holm's
 * correction is over all causes, scores and methods together.
 */
import type { SplitSizes } from "../../stats/comparison.ts";
import type { CauseResamples } from "../../stats/causes/cause-resamples.ts";
import { hasEnoughData } from "../../stats/kaplan-meier.ts";
import type { AuditedCause, CauseAuditTable } from "../causes/audit-causes.ts";
import { adjust, differOnDraws, differOverSplits, type Untested } from "./differences.ts";

export const COMPARED_CAUSE_SCORES = ["concordance", "ece", "groupEce", "ibs", "eventError"] as const;
/** One of the scores of a cause that methods are compared on. */
export type ComparedCauseScore = (typeof COMPARED_CAUSE_SCORES)[number];

/** One cause, as a method predicts it on the test rows of one split; null where a score is undefined. */
export interface CauseMethodScores extends Readonly<Record<ComparedCauseScore, number | null>> {
  readonly cause: string;
  /** The judged group with the largest gap to Aalen-Johansen, and that gap. */
  readonly worstGroup: string | null;
  readonly worstEce: number | null;
  /** Groups with enough events of the cause to be judged. */
  readonly judged: number;
  /** Events of the cause: observed, and expected from everyone's own hazards while at risk. */
  readonly observed: number | null;
  readonly expected: number | null;
  /** Of the individual logrank of these two. */
  readonly logrankP: number | null;
}

/** Every compared score of one cause in every resample; NaN where it is undefined. */
export type CauseScoreDraws = Readonly<Record<ComparedCauseScore, Float64Array>>; // [R]

/** A method's score of one cause less the first method's. */
export interface CauseDifference extends Untested {
  readonly method: string;
  readonly against: string;
  readonly cause: string;
  readonly score: ComparedCauseScore;
  /** Holm's, over all differences of the comparison. */
  readonly adjustedP: number | null;
}

/** The places of the groups that are judged: the same for all methods, since outcomes alone decide. */
export function judgedPlaces({ groups }: AuditedCause, T: number): readonly number[] {
  return groups.flatMap(({ events, supported }, g) => (hasEnoughData(events, supported.bins, T) ? [g] : []));
}

/** The compared scores of an audit by cause. */
export function readCauseScores({ causes, T }: CauseAuditTable): readonly CauseMethodScores[] {
  return causes.map((cause) => {
    const { overall, groups } = cause;
    const judged = judgedPlaces(cause, T);
    const errors = judged.flatMap((g) =>
      groups[g].ece === null ? [] : [{ name: groups[g].name, ece: groups[g].ece }],
    );
    const worst = errors.reduce<(typeof errors)[number] | null>(
      (most, one) => (most === null || one.ece > most.ece ? one : most),
      null,
    );
    const { observed, expected, p } = overall.logrankIndividual;
    return {
      cause: cause.name,
      concordance: overall.concordance,
      ece: overall.ece,
      groupEce: worst === null ? null : errors.reduce((sum, { ece }) => sum + ece, 0) / errors.length,
      ibs: overall.ibs,
      eventError:
        observed === null || expected === null || observed === 0 ? null : Math.abs(expected / observed - 1),
      worstGroup: worst?.name ?? null,
      worstEce: worst?.ece ?? null,
      judged: judged.length,
      observed,
      expected,
      logrankP: p,
    };
  });
}

/** Everyone's scores, and the mean over the judged groups of each resample. */
export function drawsOfCause(
  { groupEce, ...everyone }: CauseResamples,
  judged: readonly number[],
): CauseScoreDraws {
  const ofGroups = everyone.ece.map((_, r) => {
    const values = judged.map((g) => groupEce[g][r]).filter((value) => !Number.isNaN(value));
    return values.length === 0 ? Number.NaN : values.reduce((sum, one) => sum + one, 0) / values.length;
  });
  return { ...everyone, groupEce: ofGroups };
}

/** A method on one split; null for one that failed. */
export interface DrawnCauseMethod {
  readonly method: string;
  readonly scores: readonly CauseMethodScores[] | null;
  /** From the same resamples for all methods. */
  readonly draws: readonly CauseScoreDraws[] | null;
}

/** Differences on one split. */
export function compareCauseDraws(
  causes: readonly string[],
  methods: readonly DrawnCauseMethod[],
  level = 0.95,
): CauseDifference[] {
  return eachDifference(causes, methods, (other, first, k, score) => {
    const read = ({ scores, draws }: DrawnCauseMethod) => ({
      value: scores?.[k][score] ?? null,
      draws: draws?.[k][score] ?? null,
    });
    return differOnDraws(read(other), read(first), level);
  });
}

/** A method on several splits, in the same order for all methods; null where a run failed. */
export interface SplitCauseMethod {
  readonly method: string;
  readonly scores: readonly (readonly CauseMethodScores[] | null)[]; // [J]
}

/** Differences over several splits; `sizes` are those of the test and training rows, as means where they vary. */
export function compareCauseSplits(
  causes: readonly string[],
  methods: readonly SplitCauseMethod[],
  sizes: SplitSizes,
  level = 0.95,
): CauseDifference[] {
  return eachDifference(causes, methods, (other, first, k, score) => {
    const read = ({ scores }: SplitCauseMethod) => scores.map((one) => one?.[k][score] ?? null);
    return differOverSplits(read(other), read(first), sizes, level);
  });
}

/** Method by method, and for each of them cause by cause. */
function eachDifference<Method extends { readonly method: string }>(
  causes: readonly string[],
  [first, ...others]: readonly Method[],
  differ: (other: Method, first: Method, k: number, score: ComparedCauseScore) => Untested,
): CauseDifference[] {
  return adjust(
    others.flatMap((other) =>
      causes.flatMap((cause, k) =>
        COMPARED_CAUSE_SCORES.map((score) => ({
          method: other.method,
          against: first.method,
          cause,
          score,
          ...differ(other, first, k, score),
        })),
      ),
    ),
  );
}
