/**
 * Systems beside each other on the same seeds: means and mean ranks of their scores, and differences of one of them
 * from the others, paired by seed. Seeds count where every system has a line. Simulated cohorts share nobody and are
 * tested by Student's t; splits of one table share rows, which the corrected resampled t allows for, and its standard
 * errors are the wider.
 */
import { isAbsent } from "graduate-survival/core";
import { correctedResampledT, pairedT } from "graduate-survival/stats";
import { type Estimate, estimate, LEVEL, mean } from "./summary.ts";

/** A score of a line; lower is better. */
export interface Score<Line> {
  readonly name: string;
  readonly read: (line: Line) => number;
}

/** Ours less another system. */
export interface PairedDifference {
  readonly mean: number;
  readonly error: number;
  readonly p: number;
}

export interface PairedScore extends Estimate {
  /** The mean over seeds of the place among the systems, 1 for the lowest. */
  readonly rank: number;
  /** Null for ours itself, and where it cannot be tested. */
  readonly difference: PairedDifference | null;
}

export interface PairedRow<System extends string> {
  readonly system: System;
  readonly scores: readonly PairedScore[];
}

export interface PairedSystems<System extends string> {
  readonly made: number;
  /** Seeds that every system has a line of. */
  readonly seeds: readonly number[];
  readonly scores: readonly string[];
  readonly rows: readonly PairedRow<System>[];
}

export type Test = (differences: readonly number[]) => PairedDifference | null;

export const testCohorts: Test = (differences) => {
  const test = pairedT(differences);
  return isAbsent(test) ? null : { mean: test.mean, error: test.standardError, p: test.p };
};

/** How many were learnt from, and how many a score is taken on. */
export interface SplitSizes {
  readonly learnt: number;
  readonly test: number;
}

export function testSplits(differences: readonly number[], rows: SplitSizes | null): PairedDifference | null {
  if (rows === null) return null;
  const test = correctedResampledT(differences, { trainSize: rows.learnt, testSize: rows.test });
  return isAbsent(test) ? null : { mean: test.mean, error: test.standardError, p: test.p };
}

/** The lines of one part; differences are those of the system "graduate". */
export function pairSystems<
  System extends string,
  Line extends { readonly seed: number; readonly system: System },
>(
  lines: readonly Line[],
  systems: readonly System[],
  scores: readonly Score<Line>[],
  test: Test,
): PairedSystems<System> {
  const find = (seed: number, system: string) =>
    lines.find((line) => line.seed === seed && line.system === system);
  const seeds = [...new Set(lines.map(({ seed }) => seed))]
    .filter((seed) => systems.every((system) => find(seed, system) !== undefined))
    .sort((a, b) => a - b);
  const linesOf = (system: string) => seeds.flatMap((seed) => find(seed, system) ?? []);
  const names = scores.map(({ name }) => name);
  if (seeds.length === 0) return { made: lines.length, seeds, scores: names, rows: [] };
  const rows = systems.map((system) => ({
    system,
    scores: scores.map(({ read }) => {
      const values = linesOf(system).map(read);
      const ours = linesOf("graduate").map(read);
      const others = systems.map((one) => linesOf(one).map(read));
      const rank = mean(
        values.map((value, s) =>
          placeAmong(
            value,
            others.map((one) => one[s]),
          ),
        ),
      );
      const difference = system === "graduate" ? null : test(values.map((value, s) => ours[s] - value));
      return { ...estimate(values), rank, difference };
    }),
  }));
  return { made: lines.length, seeds, scores: names, rows };
}

/** 1 for the lowest; those who share a value share the mean of their places. */
export function placeAmong(value: number, values: readonly number[]): number {
  const below = values.filter((one) => one < value).length;
  const equal = values.filter((one) => one === value).length;
  return below + (equal + 1) / 2;
}

export type Verdict = "better" | "par" | "worse";

/** Whether our score is lower, higher, or not separated, at the level of the pages. */
export function judge(difference: PairedDifference | null): Verdict {
  if (difference === null || !(difference.p < LEVEL)) return "par";
  return difference.mean < 0 ? "better" : "worse";
}
