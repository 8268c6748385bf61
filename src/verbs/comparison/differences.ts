/**
 * Differences between methods that were run on the same rows, each against the first. On one split the test rows are
 * resampled, with the same draw for all methods. A difference then has a percentile interval and the p-value that
 * inverts it, 2·min over sides of (1 + beyond 0)/(1 + draws), conditional on this split and these fits. Over several
 * splits of one table the scores are paired by split and tested with the corrected resampled t, since splits share
 * rows. Holm's correction is over all differences. Calibration errors are over the bins with ten rows at risk, group
 * errors over groups with enough events and follow-up to be judged. Resampling adds noise to every error, and more to a
 * small one, so intervals of their differences are shifted a little towards zero.
 */

import { betaQuantile } from "../../core/distributions.ts";
import { InputError } from "../../core/errors.ts";
import { isAbsent } from "../../core/measured.ts";
import { correctedResampledT, holm, type SplitSizes } from "../../stats/comparison.ts";
import { hasEnoughData } from "../../stats/kaplan-meier.ts";
import {
  type GroupBootstrap,
  MAX_UNDEFINED_SHARE,
  percentileInterval,
  replicatesOf,
} from "../../stats/scores/bootstrap.ts";
import type { AuditTable } from "../audit.ts";

export const COMPARED_SCORES = ["concordance", "ece", "groupEce", "worstEce", "ibs"] as const;
/** One of the scores that methods are compared on. */
export type ComparedScore = (typeof COMPARED_SCORES)[number];

/** Less is better for all scores but concordance. */
export const HIGHER_IS_BETTER: Readonly<Record<ComparedScore, boolean>> = {
  concordance: true,
  ece: false,
  groupEce: false,
  worstEce: false,
  ibs: false,
};

/** One method on the test rows of one split; null where a score is undefined. */
export interface MethodScores extends Readonly<Record<ComparedScore, number | null>> {
  /** The judged group with the largest error. */
  readonly worstGroup: string | null;
  /** Groups that were judged. */
  readonly judged: number;
}

/** Which groups are judged: the same for all methods, since this depends only on the rows' outcomes. */
export function judgedGroups({ groups }: AuditTable, T: number): readonly string[] {
  return groups
    .filter(({ events, supported }) => hasEnoughData(events, supported.bins, T))
    .map(({ name }) => name);
}

/** The compared scores of one audit on a grid of T bins. */
export function readScores(audit: AuditTable, T: number): MethodScores {
  const { overall, groups } = audit;
  const judged = new Set(judgedGroups(audit, T));
  let sum = 0;
  let worst: { name: string; ece: number } | null = null;
  for (const { name, ece } of groups) {
    if (!judged.has(name) || ece === null) continue;
    sum += ece;
    if (worst === null || ece > worst.ece) worst = { name, ece };
  }
  return {
    concordance: overall.concordance,
    ece: overall.ece,
    groupEce: worst === null ? null : sum / judged.size,
    worstEce: worst?.ece ?? null,
    ibs: overall.ibs,
    worstGroup: worst?.name ?? null,
    judged: judged.size,
  };
}

/** A method's score minus the first method's. */
export interface MethodDifference {
  readonly method: string;
  readonly against: string;
  readonly score: ComparedScore;
  readonly estimate: number | null;
  readonly lower: number | null;
  readonly upper: number | null;
  readonly p: number | null;
  /** Holm's, over all differences of the comparison. */
  readonly adjustedP: number | null;
  /** Why there is no difference. */
  readonly absent: string | null;
}

/** A difference between two methods in one score, of whatever name, before it is adjusted. */
export type Untested = Omit<MethodDifference, "method" | "against" | "score" | "adjustedP">;

/** A method on one split: its audit and its scores on the same resampled test rows as the others. */
export interface ResampledMethod {
  readonly method: string;
  readonly scores: MethodScores | null;
  /** Everyone first, then the judged groups; null for a method that failed. */
  readonly bootstrap: readonly GroupBootstrap[] | null;
}

/** Every compared score in every resample; NaN where it is undefined. */
export type ScoreDraws = Readonly<Record<ComparedScore, Float64Array>>; // [replicates]

/** A method on one split: its scores, and the same on resampled test rows. */
export interface DrawnMethod {
  readonly method: string;
  readonly scores: MethodScores | null;
  /** From the same resamples for all methods; null for a method that failed. */
  readonly draws: ScoreDraws | null;
}

/** Differences on one split. */
export function compareResampled(methods: readonly ResampledMethod[], level = 0.95): MethodDifference[] {
  const drawn = methods.map(({ bootstrap, ...rest }) => ({
    ...rest,
    draws: bootstrap === null ? null : drawsOf(bootstrap),
  }));
  return compareDraws(drawn, level);
}

/** Differences on one split, from scores drawn earlier. */
export function compareDraws(methods: readonly DrawnMethod[], level = 0.95): MethodDifference[] {
  const [first, ...others] = methods;
  return adjust(
    others.flatMap((other) => COMPARED_SCORES.map((score) => compareScore(other, first, score, level))),
  );
}

function compareScore(
  other: DrawnMethod,
  first: DrawnMethod,
  score: ComparedScore,
  level: number,
): Omit<MethodDifference, "adjustedP"> {
  const read = ({ scores, draws }: DrawnMethod): DrawnScore => ({
    value: scores?.[score] ?? null,
    draws: draws?.[score] ?? null,
  });
  return {
    method: other.method,
    against: first.method,
    score,
    ...differOnDraws(read(other), read(first), level),
  };
}

/** A score of a method, and the same in every resample; null where there is none. */
export interface DrawnScore {
  readonly value: number | null;
  readonly draws: Float64Array | null;
}

/** One score less another on the same resamples. */
export function differOnDraws(other: DrawnScore, first: DrawnScore, level: number): Untested {
  const [{ value: a }, { value: b }] = [other, first];
  if (a === null || b === null || other.draws === null || first.draws === null) {
    return { ...NOTHING, absent: "one of the two scores is absent" };
  }
  const before = first.draws;
  const drawn = other.draws.map((value, r) => value - before[r]);
  const found = drawn.filter((value) => !Number.isNaN(value));
  if (found.length < (1 - MAX_UNDEFINED_SHARE) * drawn.length) {
    const missing = drawn.length - found.length;
    return { ...NOTHING, absent: `undefined in ${missing} of ${drawn.length} resamples` };
  }
  const beyond = (isBeyond: (value: number) => boolean) =>
    (1 + found.filter(isBeyond).length) / (1 + found.length);
  const smaller = Math.min(
    beyond((value) => value <= 0),
    beyond((value) => value >= 0),
  );
  const p = Math.min(1, 2 * smaller);
  return { estimate: a - b, ...percentileInterval(found, level), p, absent: null };
}

const NOTHING = { estimate: null, lower: null, upper: null, p: null } as const;

/** Everyone first, then the judged groups, whose errors count by their mean and by the worst of them. */
export function drawsOf(bootstrap: readonly GroupBootstrap[]): ScoreDraws {
  const [everyone, ...groups] = bootstrap;
  const own = groups.map((group) => replicatesOf(group, "ece"));
  const ofGroups = (summarise: (values: readonly number[]) => number) =>
    Float64Array.from({ length: everyone.options.replicates }, (_, r) => {
      const values = own.map((draws) => draws[r]).filter((value) => !Number.isNaN(value));
      return values.length === 0 ? Number.NaN : summarise(values);
    });
  return {
    concordance: replicatesOf(everyone, "concordance"),
    ece: replicatesOf(everyone, "ece"),
    groupEce: ofGroups((values) => values.reduce((sum, value) => sum + value, 0) / values.length),
    worstEce: ofGroups((values) => Math.max(...values)),
    ibs: replicatesOf(everyone, "ibs"),
  };
}

/** A method on several splits, in the same order for all methods. */
export interface SplitMethod {
  readonly method: string;
  /** One per split, in the same order for all methods; null where the run failed. */
  readonly scores: readonly (MethodScores | null)[]; // [J]
}

/** Differences over several splits; `sizes` are those of the test and training rows, as means where they vary. */
export function compareSplits(
  methods: readonly SplitMethod[],
  sizes: SplitSizes,
  level = 0.95,
): MethodDifference[] {
  const [first, ...others] = methods;
  if (others.some(({ scores }) => scores.length !== first.scores.length)) {
    throw new InputError("methods were not run on the same splits", { code: "comparison.pairs" });
  }
  return adjust(
    others.flatMap((other) =>
      COMPARED_SCORES.map((score) => {
        const read = ({ scores }: SplitMethod) => scores.map((one) => one?.[score] ?? null);
        const names = { method: other.method, against: first.method, score };
        return { ...names, ...differOverSplits(read(other), read(first), sizes, level) };
      }),
    ),
  );
}

/** One score less another over splits that share rows. */
export function differOverSplits(
  other: readonly (number | null)[], // [J]
  first: readonly (number | null)[], // [J]
  sizes: SplitSizes,
  level: number,
): Untested {
  const values = other.map((value, j) => (value ?? Number.NaN) - (first[j] ?? Number.NaN));
  const test = correctedResampledT(values, sizes);
  if (isAbsent(test)) return { ...NOTHING, absent: test.absent };
  const half = test.standardError * studentQuantile(level, test.df);
  const { mean, p } = test;
  return { estimate: mean, lower: mean - half, upper: mean + half, p, absent: null };
}

/** t with P(|X| ≤ t) = level, where X is Student's t with df degrees of freedom: df/(df + t²) is a beta quantile. */
export function studentQuantile(level: number, df: number): number {
  const x = betaQuantile(1 - level, df / 2, 0.5);
  return Math.sqrt((df * (1 - x)) / x);
}

/** Holm's p-values over all differences of a comparison. */
export function adjust<Difference extends Pick<Untested, "p" | "absent">>(
  differences: readonly Difference[],
): (Difference & { readonly adjustedP: number | null })[] {
  const adjusted = holm(differences.map(({ p, absent }) => p ?? { absent: absent ?? "no test" }));
  return differences.map((one, k) => {
    const value = adjusted[k];
    return { ...one, adjustedP: isAbsent(value) ? null : value };
  });
}
