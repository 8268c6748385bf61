/**
 * Comparison of two methods on paired scores, and adjustment for many tests. The paired t test assumes independent
 * differences. Over overlapping train-test splits they are not independent, and the corrected resampled t of Nadeau &
 * Bengio (2003) uses the variance s²·(1/J + n_test/n_train). Wins, losses and draws are counted as in the GRADUATE
 * paper's Tables 5-7. Holm and Benjamini-Hochberg adjust p-values as R's p.adjust does; `binomialRange` says how many
 * rejections chance alone would give. Differences without variance do not cause a division by zero: see PairedTest.
 */
import { binomialUpperTail, studentTwoSidedTail } from "../core/distributions.ts";
import { InputError } from "../core/errors.ts";
import { absent, isAbsent, type Measured } from "../core/measured.ts";

/** A t test of a mean difference of 0. */
export interface PairedTest {
  readonly mean: number;
  readonly standardError: number;
  /** mean / standardError; 0 when all differences are 0, absent ("no variance") when they all equal another number. */
  readonly t: Measured;
  readonly df: number;
  /** Two-sided; 1 when all differences are 0, 0 when they all equal another number. */
  readonly p: number;
}

/**
 * Differences whose standard error is below this share of their mean count as one number, up to rounding, as in R's
 * t.test.
 */
const CONSTANT = 10 * Number.EPSILON;

/** Student's paired t test of mean difference 0; absent for fewer than two differences. */
export function pairedT(differences: ArrayLike<number>): Measured<PairedTest> {
  return testMean(differences, 1 / differences.length);
}

export interface SplitSizes {
  readonly testSize: number;
  readonly trainSize: number;
}

/** The same test over J splits of one data set that share rows. */
export function correctedResampledT(differences: ArrayLike<number>, sizes: SplitSizes): Measured<PairedTest> {
  const { testSize, trainSize } = sizes;
  if (!(testSize > 0 && trainSize > 0 && Number.isFinite(testSize / trainSize)))
    throw new InputError(`test and training sizes must be positive: ${testSize} and ${trainSize}`, {
      code: "comparison.sizes",
    });
  return testMean(differences, 1 / differences.length + testSize / trainSize);
}

/** t test with Var(mean) = s² · varianceFactor. */
function testMean(differences: ArrayLike<number>, varianceFactor: number): Measured<PairedTest> {
  const values = Array.from(differences);
  const J = values.length;
  if (J < 2) return absent(`a t test needs at least two paired scores, not ${J}`);
  if (!values.every(Number.isFinite)) return absent("a paired score is missing");
  const df = J - 1;
  const mean = values.reduce((sum, value) => sum + value, 0) / J;
  const variance = values.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / df;
  const standardError = Math.sqrt(variance * varianceFactor);
  if (standardError <= CONSTANT * Math.abs(mean)) {
    const none = mean === 0;
    return { mean, standardError: 0, t: none ? 0 : absent("no variance"), df, p: none ? 1 : 0 };
  }
  const t = mean / standardError;
  return { mean, standardError, t, df, p: studentTwoSidedTail(t, df) };
}

/** Scores of two methods on the same splits (or seeds), for one subgroup. */
export interface PairedScores {
  readonly name?: string;
  readonly a: ArrayLike<number>; // [J]
  readonly b: ArrayLike<number>; // [J]
}

export type CountWinsOptions = {
  /** Significance level of each two-sided test; default 0.05. */
  readonly level?: number;
  readonly higherIsBetter: boolean;
} & ({ readonly test: "paired" } | ({ readonly test: "corrected" } & SplitSizes));

export type Verdict = "win" | "loss" | "draw" | "untested";

export interface WinDetail {
  readonly name: string;
  readonly verdict: Verdict;
  /** Test of a − b. */
  readonly test: Measured<PairedTest>;
}

/** Subgroups in which one method is better than another, worse, or neither. */
export interface WinCount {
  /** Subgroups where a is significantly better than b. */
  readonly wins: number;
  readonly losses: number;
  readonly draws: number;
  /** Subgroups without a test, for lack of scores; wins + losses + draws + untested = all. */
  readonly untested: number;
  readonly details: readonly WinDetail[];
}

/** Win-loss-draw of method a against b over subgroups, each tested on its own. */
export function countWins(items: readonly PairedScores[], options: CountWinsOptions): WinCount {
  const { level = 0.05, higherIsBetter } = options;
  const details = items.map(({ name, a, b }, item): WinDetail => {
    if (a.length !== b.length)
      throw new InputError(`paired scores of unequal length: ${a.length} and ${b.length}`, {
        code: "comparison.pairs",
        where: name ?? `item ${item + 1}`,
      });
    const differences = Array.from(a, (score, j) => score - b[j]);
    const test = options.test === "paired" ? pairedT(differences) : correctedResampledT(differences, options);
    return { name: name ?? String(item + 1), verdict: judge(test, level, higherIsBetter), test };
  });
  const count = (verdict: Verdict) => details.filter((detail) => detail.verdict === verdict).length;
  return {
    wins: count("win"),
    losses: count("loss"),
    draws: count("draw"),
    untested: count("untested"),
    details,
  };
}

function judge(test: Measured<PairedTest>, level: number, higherIsBetter: boolean): Verdict {
  if (isAbsent(test)) return "untested";
  if (test.p >= level) return "draw";
  return test.mean > 0 === higherIsBetter ? "win" : "loss";
}

/** Holm's step-down adjusted p-values, in the order given; absent entries stay absent and are not counted. */
export function holm(p: readonly number[]): number[];
export function holm(p: readonly Measured[]): Measured[];
export function holm(p: readonly Measured[]): Measured[] {
  return adjust(p, (sorted) => {
    let largest = 0;
    return sorted.map((value, i) => {
      largest = Math.max(largest, Math.min(1, value * (sorted.length - i)));
      return largest;
    });
  });
}

/** Benjamini & Hochberg's step-up adjusted p-values (false discovery rate), in the order given. */
export function benjaminiHochberg(p: readonly number[]): number[];
export function benjaminiHochberg(p: readonly Measured[]): Measured[];
export function benjaminiHochberg(p: readonly Measured[]): Measured[] {
  return adjust(p, (sorted) => {
    let smallest = 1;
    const adjusted = sorted.map((value, i) => value * (sorted.length / (i + 1)));
    for (let i = sorted.length - 1; i >= 0; i--) {
      smallest = Math.min(smallest, adjusted[i]);
      adjusted[i] = smallest;
    }
    return adjusted;
  });
}

/** Applies `adjustSorted` to the present p-values in ascending order and puts the results back in place. */
function adjust(p: readonly Measured[], adjustSorted: (sorted: number[]) => number[]): Measured[] {
  const present: { p: number; at: number }[] = [];
  p.forEach((value, at) => {
    if (isAbsent(value)) return;
    if (!(value >= 0 && value <= 1))
      throw new InputError(`not a p-value: ${value}`, { code: "comparison.p", where: `entry ${at + 1}` });
    present.push({ p: value, at });
  });
  present.sort((first, second) => first.p - second.p);
  const result = [...p];
  adjustSorted(present.map((entry) => entry.p)).forEach((value, i) => {
    result[present[i].at] = value;
  });
  return result;
}

/** A tail that differs from (1 − level)/2 only by rounding counts as equal. */
const TAIL_SLACK = 1e-12;

export interface CountRange {
  readonly low: number;
  readonly high: number;
}

/**
 * The central range of a binomial (n, p) count: how many of n true hypotheses are expected to be rejected by tests at
 * level p. Each tail outside has probability at most (1 − level)/2, as with R's qbinom at these two points. It assumes
 * independent tests; those of overlapping groups are not independent, and their counts spread wider.
 */
export function binomialRange(n: number, p: number, level = 0.95): CountRange {
  if (!(Number.isInteger(n) && n >= 0 && p >= 0 && p <= 1 && level > 0 && level < 1))
    throw new InputError(`no such binomial range: n ${n}, p ${p}, level ${level}`, {
      code: "comparison.range",
    });
  const tail = (1 - level) / 2;
  const atMost = (k: number) => binomialUpperTail(n - k, n, 1 - p); // P(X ≤ k) = P(n − X ≥ n − k)
  let low = 0;
  while (low < n && atMost(low) < tail * (1 - TAIL_SLACK)) low++;
  let high = low;
  while (high < n && binomialUpperTail(high + 1, n, p) > tail * (1 + TAIL_SLACK)) high++;
  return { low, high };
}
