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
import { betaQuantile, exp, isAbsent, log, normalUpperTail } from "graduate-survival/core";
import { correctedResampledT, pairedT } from "graduate-survival/stats";
import type { Plan, SystemName } from "../runs/plan.ts";
import type { RunResult } from "../runs/results.ts";
import { LEVEL, mean, pairRuns, type Read } from "../summaries/summary.ts";

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

/** How often a difference that is there is to be found. */
export const POWER = 0.8;

/**
 * The mean difference that the test calls significant with this power, in standard deviations of the differences.
 * The least difference that is significant is found about half of the time only.
 */
export function detectableWithPower({ n, kind, rows }: Repeats, power = POWER): number {
  if (n < 2) return Number.POSITIVE_INFINITY;
  const shared = kind === "splits" ? rows[2] / rows[0] : 0;
  return shiftOfPower(n - 1, power) * Math.sqrt(1 / n + shared);
}

/** The same in the units of a number of the runs; null where fewer than two repeats have it in both. */
export function detectableDifference(
  own: readonly RunResult[],
  others: readonly RunResult[],
  read: Read,
  kind: Plan["repeats"],
): number | null {
  const gaps = pairRuns(own, others, read).map(({ a, b }) => a - b);
  if (gaps.length < 2) return null;
  const center = mean(gaps);
  const sd = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - center) ** 2, 0) / (gaps.length - 1));
  return sd * detectableWithPower({ n: gaps.length, kind, rows: own[0].rows });
}

/** Found shifts, by degrees of freedom and power: a page asks for the same few many times. */
const SHIFTS = new Map<string, number>();

/** The shift of a noncentral t at which its two-sided test is significant with this power. */
function shiftOfPower(df: number, power: number): number {
  const key = `${df} ${power}`;
  const known = SHIFTS.get(key);
  if (known !== undefined) return known;
  let [low, high] = [0, 100];
  for (let k = 0; k < 60; k++) {
    const middle = (low + high) / 2;
    if (powerOfShift(df, middle) < power) low = middle;
    else high = middle;
  }
  const shift = (low + high) / 2;
  SHIFTS.set(key, shift);
  return shift;
}

/** Points of the midpoint rule over the standard deviation, and how far it reaches. */
const POINTS = 4000;
const FARTHEST = 4;

/**
 * P(|Z + shift| > s c) for the critical value c and a standard deviation s of df degrees of freedom, whose density is
 * in proportion to s^(df − 1) exp(−df s²/2).
 */
export function powerOfShift(df: number, shift: number): number {
  const critical = criticalT(df);
  let [found, all] = [0, 0];
  for (let k = 0; k < POINTS; k++) {
    const s = ((k + 0.5) * FARTHEST) / POINTS;
    const density = exp((df - 1) * log(s) - (df * (s * s - 1)) / 2);
    const tails = normalUpperTail(s * critical - shift) + normalUpperTail(s * critical + shift);
    found += density * tails;
    all += density;
  }
  return found / all;
}

/** |t| beyond which Student's test with df degrees of freedom is significant: df/(df + t²) has a beta distribution. */
function criticalT(df: number, level = LEVEL): number {
  const x = betaQuantile(level, df / 2, 0.5);
  return Math.sqrt((df * (1 - x)) / x);
}

/**
 * The least correlation between two systems' scores over n repeats at which a paired t-test of these means and standard
 * deviations is significant: the differences have the variance s₁² + s₂² − 2 r s₁ s₂, which may be at most n (d/t)².
 * Null where a standard deviation is 0, as printed or in fact.
 */
export function leastCorrelation(
  n: number,
  difference: number,
  [one, other]: readonly [number, number],
  level: number,
): number | null {
  if (one === 0 || other === 0) return null;
  const most = (difference / criticalT(n - 1, level)) ** 2 * n;
  return (one * one + other * other - most) / (2 * one * other);
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
