/**
 * The inputs of the tables: the scores of runs, their means over repeats, and tests of differences paired by repeat.
 * Splits of one table are tested with the corrected resampled t, whose variance allows for shared rows. Simulated
 * cohorts, which share nobody, and initialisations of one split are tested with Student's t; for initialisations the
 * result is about this test set only.
 */

import { isAbsent } from "graduate-survival/core";
import {
  correctedResampledT,
  countWins,
  hasEnoughData,
  holm,
  type PairedTest,
  pairedT,
  totalScore,
  type WinCount,
} from "graduate-survival/stats";
import type { Plan, SystemName } from "../runs/plan.ts";
import { SYSTEM_NAMES } from "../runs/plan.ts";
import type { Results, RunResult } from "../runs/results.ts";
import type { Metric } from "./published.ts";

/** Level of the logranks and of the tests of a paired difference. */
export const LEVEL = 0.05;

/** One of a run's numbers, or none. */
export type Read = (run: RunResult) => number | null;

/** A score of the paper for one group; 0 is everyone. Logrank: 1 for a pass. */
export function readMetric(metric: Metric, group: number): Read {
  return ({ scores }) => {
    const [c, ece, p] = [scores.concordance[group], scores.ece[group], scores.logrank[group]];
    switch (metric) {
      case "concordance":
        return c;
      case "ece":
        return ece;
      case "logrank":
        return p === null ? null : Number(p >= LEVEL);
      case "total": {
        if (c === null || ece === null) return null;
        const total = totalScore(c, ece);
        return isAbsent(total) ? null : total;
      }
    }
  };
}

export const HIGHER_IS_BETTER: Readonly<Record<Metric, boolean>> = {
  concordance: true,
  logrank: true,
  ece: false,
  total: true,
};

export interface Spread {
  readonly n: number;
  readonly mean: number;
  /** NaN for a single value. */
  readonly sd: number;
}

/** Mean and spread over the runs that have the number; null where none has. */
export function spreadOf(runs: readonly RunResult[], read: Read): Spread | null {
  const values = runs.map(read).filter((value) => value !== null);
  const n = values.length;
  if (n === 0) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { n, mean, sd: Math.sqrt(squares / (n - 1)) };
}

/** A cohort's runs by system, seeds ascending. */
export type RunsBySystem = ReadonlyMap<SystemName, readonly RunResult[]>;

export function collectRuns(results: Results, cohort: string): RunsBySystem {
  const bySystem = new Map<SystemName, RunResult[]>();
  for (const result of results.runs.values()) {
    if (result.run.cohort !== cohort) continue;
    const known = bySystem.get(result.run.system);
    if (known === undefined) bySystem.set(result.run.system, [result]);
    else known.push(result);
  }
  for (const runs of bySystem.values()) runs.sort((a, b) => a.run.seed - b.run.seed);
  return bySystem;
}

/** a and b on the repeats where both have the number. */
export function pairRuns(
  a: readonly RunResult[],
  b: readonly RunResult[],
  read: Read,
): { readonly a: number; readonly b: number }[] {
  const ofB = new Map(b.map((run) => [run.run.seed, read(run)]));
  return a.flatMap((run) => {
    const [one, other] = [read(run), ofB.get(run.run.seed) ?? null];
    return one === null || other === null ? [] : [{ a: one, b: other }];
  });
}

/** Which test a plan's repeats call for. */
function testOf(repeats: Plan["repeats"], { rows }: RunResult) {
  return repeats === "splits"
    ? ({ test: "corrected", trainSize: rows[0], testSize: rows[2] } as const)
    : ({ test: "paired" } as const);
}

/** Test of a − b; null where fewer than two repeats have both. */
export function compareRuns(
  a: readonly RunResult[],
  b: readonly RunResult[],
  read: Read,
  repeats: Plan["repeats"],
): PairedTest | null {
  const differences = pairRuns(a, b, read).map((pair) => pair.a - pair.b);
  if (differences.length < 2) return null;
  const test = testOf(repeats, a[0]);
  const result = test.test === "paired" ? pairedT(differences) : correctedResampledT(differences, test);
  return isAbsent(result) ? null : result;
}

/** Holm's p-values, in the order given; null stays null. */
export function adjust(tests: readonly (PairedTest | null)[]): (number | null)[] {
  const adjusted = holm(tests.flatMap((test) => (test === null ? [] : [test.p])));
  let next = 0;
  return tests.map((test) => (test === null ? null : adjusted[next++]));
}

/** Wins, losses and draws of a against b over the groups. */
export function countGroupWins(
  a: readonly RunResult[],
  b: readonly RunResult[],
  metric: Metric,
  groups: number,
  repeats: Plan["repeats"],
): WinCount {
  const items = Array.from({ length: groups }, (_, g) => {
    const pairs = pairRuns(a, b, readMetric(metric, g));
    return { a: pairs.map((pair) => pair.a), b: pairs.map((pair) => pair.b) };
  });
  return countWins(items, {
    level: LEVEL,
    higherIsBetter: HIGHER_IS_BETTER[metric],
    ...testOf(repeats, a[0]),
  });
}

/** Groups other than everyone whose test rows have enough events and follow-up to speak of an error. */
function judgedGroups({ scores }: RunResult, groups: number, bins: number): number[] {
  return Array.from({ length: groups }, (_, g) => g).filter(
    (g) => g > 0 && hasEnoughData(scores.events[g], scores.support[g], bins),
  );
}

/** The largest ECE of any judged group over its supported bins. */
export function readWorstEce(groups: number, bins: number): Read {
  return (run) => largest(judgedGroups(run, groups, bins).map((g) => run.scores.supportedEce[g]));
}

/** The mean of the paper's ECE over the groups, including everyone. */
export function readGroupEce(groups: number): Read {
  return ({ scores }) => meanOf(scores.ece.slice(0, groups));
}

/** The same in units of what a perfect model shows on the same rows. */
export function readEceOverFloor(groups: number): Read {
  return ({ scores }) =>
    meanOf(
      scores.ece.slice(0, groups).map((ece, g) => {
        const floor = scores.floor[g];
        return ece === null || floor === null || floor === 0 ? null : ece / floor;
      }),
    );
}

/** How many of the groups that have a p-value have one of at least .05. */
export function countPasses(p: readonly (number | null)[]): { readonly passed: number; readonly of: number } {
  const present = p.filter((value) => value !== null);
  return { passed: present.filter((value) => value >= LEVEL).length, of: present.length };
}

export function largest(values: readonly (number | null)[]): number | null {
  const present = values.filter((value) => value !== null);
  return present.length === 0 ? null : Math.max(...present);
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** A mean over seeds; the standard error is null for one seed. */
export interface Estimate {
  readonly mean: number;
  readonly error: number | null;
}

export function estimate(values: readonly number[]): Estimate {
  const center = mean(values);
  if (values.length < 2) return { mean: center, error: null };
  const squares = values.reduce((sum, value) => sum + (value - center) ** 2, 0);
  return { mean: center, error: Math.sqrt(squares / (values.length - 1) / values.length) };
}

/** Mean of the values that exist; null where none does. */
export function meanOf(values: readonly (number | null)[]): number | null {
  const present = values.filter((value) => value !== null);
  return present.length === 0 ? null : mean(present);
}

/** The runs of one cohort. */
export interface CohortRuns {
  readonly runs: RunsBySystem;
  readonly repeats: Plan["repeats"];
  /** Groups that systems are told of, including everyone; audit-only ones come after these. */
  readonly groups: number;
  /** Bins of the time grid. */
  readonly bins: number;
}

/** Systems that have runs, in the order of the plan's names. */
export function listSystems(runs: RunsBySystem): SystemName[] {
  return SYSTEM_NAMES.filter((system) => (runs.get(system)?.length ?? 0) > 0);
}

export function runsOf(runs: RunsBySystem, system: SystemName): readonly RunResult[] {
  return runs.get(system) ?? [];
}
