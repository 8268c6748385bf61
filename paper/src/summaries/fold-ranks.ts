/**
 * The published table of the folds with our rows in it: means over the folds, each learner's rank, and the differences
 * from the Cox model (ours, which equals the published one) fold by fold. A published learner's C is from its tuning
 * for C, its Brier score from its tuning for that. A learner that failed on a fold is left out of that score's ranks. A
 * fold on which none of our systems has a score counts for nobody.
 * Folds of one cross-validation share training rows, so the differences are tested with the corrected resampled t.
 */

import { InputError } from "graduate-survival/core";
import { findColumn, type Table } from "graduate-survival/data";
import type { FoldScores, FoldSystem } from "../runs/folds.ts";
import { mean } from "./summary.ts";

export interface FoldLine extends FoldScores {
  readonly task: string;
  readonly system: FoldSystem;
  readonly iteration: number;
}

export interface PublishedFold {
  readonly task: string;
  readonly learner: string;
  readonly tunedFor: string;
  readonly iteration: number;
  /** NaN where the learner failed. */
  readonly harrell: number;
  readonly uno: number;
  readonly ibs: number;
}

/** The published Cox model. */
export const PUBLISHED_COX = "CPH";
export const MEASURES = [
  { key: "harrell", title: "Harrell's C", tunedFor: "harrell_c", higher: true },
  { key: "uno", title: "Uno's C", tunedFor: "harrell_c", higher: true },
  { key: "ibs", title: "IBS", tunedFor: "isbs", higher: false },
] as const;

/**
 * Our Cox must agree with the published one this closely before anything else is compared: C and Uno's C, and the Brier
 * score.
 */
export const GATE = { concordance: 1e-7, ibs: 1e-9 } as const;

export function readPublishedFolds(table: Table, where: string): PublishedFold[] {
  const numbers = (name: string) => {
    const column = findColumn(table, name);
    if (column.type === "number") return column.values;
    throw new InputError(`column "${name}" is not of numbers`, { code: "folds.column", where });
  };
  const words = (name: string) => {
    const column = findColumn(table, name);
    if (column.type !== "category")
      throw new InputError(`column "${name}" is not of words`, { code: "folds.column", where });
    return Array.from(column.codes, (code) => column.levels[code] ?? "");
  };
  const [task, learner, tunedFor] = [words("task_id"), words("learner_id"), words("tune_measure")];
  const [iteration, harrell, uno, ibs] = ["iteration", "harrell_c", "uno_c", "isbs"].map(numbers);
  return task.map((name, k) => ({
    task: name,
    learner: learner[k],
    tunedFor: tunedFor[k],
    iteration: iteration[k],
    harrell: harrell[k],
    uno: uno[k],
    ibs: ibs[k],
  }));
}

/** The largest differences between our Cox and the published one, and whether they are within the gate. */
export interface CoxGate {
  readonly folds: number;
  readonly concordance: number;
  readonly ibs: number;
  readonly passed: boolean;
}

export function compareCox(lines: readonly FoldLine[], published: readonly PublishedFold[]): CoxGate {
  let concordance = 0;
  let ibs = 0;
  let folds = 0;
  for (const line of lines) {
    if (line.system !== "cox") continue;
    const theirs = published.find(
      ({ task, learner, iteration }) =>
        task === line.task && learner === PUBLISHED_COX && iteration === line.iteration,
    );
    if (theirs === undefined) continue;
    folds++;
    concordance = Math.max(concordance, apart(line.harrell, theirs.harrell), apart(line.uno, theirs.uno));
    ibs = Math.max(ibs, apart(line.ibs, theirs.ibs));
  }
  return { folds, concordance, ibs, passed: concordance <= GATE.concordance && ibs <= GATE.ibs };
}

/** A score that is undefined here has nothing to be compared with. */
const apart = (own: number | null, theirs: number) => (own === null ? 0 : Math.abs(own - theirs));

export interface RankedLearner {
  readonly name: string;
  readonly ours: boolean;
  readonly mean: number;
  readonly rank: number;
}

/** By the mean over the folds, the best first; our Cox equals the published one and is not ranked twice. */
export function rankLearners(
  task: string,
  measure: (typeof MEASURES)[number],
  lines: readonly FoldLine[],
  published: readonly PublishedFold[],
): RankedLearner[] {
  const { key, tunedFor, higher } = measure;
  const scores = new Map<string, { ours: boolean; values: number[] }>();
  const add = (name: string, ours: boolean, value: number) => {
    const entry = scores.get(name) ?? { ours, values: [] };
    entry.values.push(value);
    scores.set(name, entry);
  };
  const folds = new Set<number>();
  for (const line of lines) {
    const score = line[key];
    if (line.task !== task || score === null) continue;
    folds.add(line.iteration);
    if (line.system !== "cox") add(line.system, true, score);
  }
  for (const one of published) {
    if (one.task !== task || !one.tunedFor.includes(tunedFor)) continue;
    if (folds.has(one.iteration)) add(one.learner, false, one[key]);
  }
  return Array.from(scores, ([name, { ours, values }]) => ({
    name,
    ours,
    count: values.length,
    mean: mean(values),
  }))
    .filter(({ count, mean }) => count === folds.size && Number.isFinite(mean))
    .sort((a, b) => (higher ? b.mean - a.mean : a.mean - b.mean))
    .map(({ name, ours, mean }, k) => ({ name, ours, mean, rank: k + 1 }));
}

export interface FoldSizes {
  readonly name: string;
  readonly test: number;
  readonly train: number;
}

export const linesOf = (lines: readonly FoldLine[], task: string, system: FoldSystem) =>
  lines.filter((line) => line.task === task && line.system === system);

export const systemsOf = (lines: readonly FoldLine[], task: string): FoldSystem[] => [
  ...new Set(lines.filter((line) => line.task === task).map(({ system }) => system)),
];
