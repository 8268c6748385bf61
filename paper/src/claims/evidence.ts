/**
 * When runs may judge a statement, and how. A statement is judged by runs only where a test over them could have
 * decided either way:
 *   enough runs   the exact sign test of that many pairs can reach 5 % at all, two-sided: 2^(1−n) < .05, so six;
 *   enough power  the smallest mean difference that the plan's t test calls significant is at most two standard
 *                 deviations of the differences. Two initialisations need nine; over splits the corrected test needs
 *                 more than over cohorts.
 * Otherwise the verdict is "too few runs", with how many exist and were planned. What is judged is a list of contrasts,
 * one number per repeat each, positive where the statement is right: the statement holds where all are above 0 at 5 %,
 * does not hold where one is below 0 at 5 %, and is "not separated" in between.
 */
import { betaQuantile, isAbsent } from "graduate-survival/core";
import { correctedResampledT, pairedT } from "graduate-survival/stats";
import type { Plan, SystemName } from "../runs/plan.ts";
import type { RunResult } from "../runs/results.ts";
import { LEVEL } from "../summaries/summary.ts";

/** An effect of this many standard deviations shows in 98 of 100 repeats: a test that would miss it decides nothing. */
export const LARGEST_PLAUSIBLE_EFFECT = 2;

/** What a test over n repeats needs to know; for splits, also their sizes. */
export interface Repeats {
  readonly n: number;
  readonly kind: Plan["repeats"];
  /** Training, validation and test rows. */
  readonly rows: readonly [number, number, number];
}

/** The smallest p of the exact two-sided sign test of n pairs. */
export function leastSignP(n: number): number {
  return 2 ** (1 - n);
}

/**
 * The smallest mean difference that is significant, in standard deviations of the differences; infinite for one
 * repeat.
 */
export function detectableEffect({ n, kind, rows }: Repeats): number {
  if (n < 2) return Number.POSITIVE_INFINITY;
  const shared = kind === "splits" ? rows[2] / rows[0] : 0;
  return criticalT(n - 1) * Math.sqrt(1 / n + shared);
}

/** |t| beyond which Student's test with df degrees of freedom is significant: df/(df + t²) has a beta distribution. */
function criticalT(df: number): number {
  const x = betaQuantile(LEVEL, df / 2, 0.5);
  return Math.sqrt((df * (1 - x)) / x);
}

export function couldDecide(repeats: Repeats): boolean {
  return leastSignP(repeats.n) < LEVEL && detectableEffect(repeats) <= LARGEST_PLAUSIBLE_EFFECT;
}

/** Runs of each system, made and planned; the smallest number counts. */
export interface Evidence {
  readonly made: number;
  readonly planned: number;
  readonly decides: boolean;
}

export function weighEvidence(
  systems: readonly SystemName[],
  runsOf: (system: SystemName) => readonly RunResult[],
  plannedOf: (system: SystemName) => number,
  kind: Plan["repeats"],
): Evidence {
  const fewest = systems
    .map((system) => ({ runs: runsOf(system), planned: plannedOf(system) }))
    .reduce((least, one) => (one.runs.length < least.runs.length ? one : least));
  const [first] = fewest.runs;
  const made = fewest.runs.length;
  const rows = first?.rows ?? [1, 1, 1];
  return { made, planned: fewest.planned, decides: couldDecide({ n: made, kind, rows }) };
}

export type Decision = "holds" | "does not hold" | "not separated";

/** One number per repeat, positive where the statement is right. */
export type Contrast = readonly number[];

export function decide(contrasts: readonly Contrast[], { kind, rows }: Omit<Repeats, "n">): Decision {
  const signs = contrasts.map((differences) => signOf(differences, { kind, rows }));
  if (signs.some((sign) => sign < 0)) return "does not hold";
  return signs.every((sign) => sign > 0) ? "holds" : "not separated";
}

/** 1 or −1 where the mean is above or below 0 at the level, else 0. */
export function signOf(differences: Contrast, { kind, rows }: Omit<Repeats, "n">): number {
  const test =
    kind === "splits"
      ? correctedResampledT(differences, { trainSize: rows[0], testSize: rows[2] })
      : pairedT(differences);
  return isAbsent(test) || test.p >= LEVEL ? 0 : Math.sign(test.mean);
}
