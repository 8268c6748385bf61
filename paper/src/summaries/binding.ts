/**
 * The contents of the page on holding: means over seeds of the lines of paper/binding.jsonl with their standard errors,
 * and whether what was wanted holds. Differences are paired by seed, and only seeds with both systems count.
 */
import {
  type AbsentLine,
  type BindingLine,
  type BindingPlan,
  type BindingRun,
  expandBindingPlan,
  sameBindingRun,
} from "../studies/binding.ts";
import type { BindingPartLine } from "../studies/binding-parts.ts";
import { type BindingSystem, isSplineCox } from "../studies/binding-systems.ts";
import { type Estimate, estimate, mean } from "./summary.ts";

/** A line of the study, of whatever part. */
export type AnyBindingLine = BindingLine | AbsentLine | BindingPartLine;

/** The starts, which the held run is compared with. */
const STARTS: readonly BindingSystem[] = ["start of 0.1.0", "start", "start of all rows"];
/** Held's worst error is to be at most this share of 0.1.0's. */
export const WANTED_SHARE = 3 / 4;
/** The largest residual that a solve may leave. */
export const WANTED_RESIDUAL = 1e-6;

/** One system at one size. */
export interface BindingMeans {
  readonly system: BindingSystem;
  readonly seeds: number;
  readonly everyone: Estimate;
  readonly worst: Estimate;
  readonly average: Estimate;
  readonly ise: Estimate;
  readonly concordance: Estimate;
  /** Over all runs. */
  readonly met: number;
  readonly held: number;
  /** The largest of all runs; null without a solve. */
  readonly residual: number | null;
  /** Runs that kept the start, of those that chose; null where none chose. */
  readonly keptStart: { readonly runs: number; readonly of: number } | null;
  readonly seconds: number;
  readonly endSeconds: number | null;
}

/** Scores in which systems are compared, with the name of each in a line. */
const COMPARED = {
  worst: "worstError",
  ise: "ise",
  everyone: "everyoneError",
  average: "meanError",
} as const satisfies Readonly<Record<string, keyof BindingLine>>;
export type ComparedScore = keyof typeof COMPARED;

/** A system whose strata have too few events at a size, over the seeds. */
export interface AbsentSystem {
  readonly system: BindingSystem;
  readonly seeds: number;
  /** The fewest and the most of any seed. */
  readonly strata: readonly [number, number];
  readonly withoutEvents: readonly [number, number];
  /** Fresh people, a share of all. */
  readonly lost: readonly [number, number];
}

/** Runs with the same rows. */
export interface BindingSize {
  readonly rows: number;
  readonly done: number;
  readonly planned: number;
  readonly means: readonly BindingMeans[];
  readonly absent: readonly AbsentSystem[];
  readonly worstGroups: readonly WorstGroup[];
  /** Held against the Cox models with splines. */
  readonly rivals: readonly BindingDifference[];
}

/** Held minus another system, over the seeds that have both; less is better. */
export interface BindingDifference {
  readonly part: BindingRun["part"];
  readonly rows: number;
  readonly score: ComparedScore;
  readonly other: BindingSystem;
  readonly seeds: number;
  readonly difference: Estimate;
  readonly wins: number;
  /** By the t-test of the paired differences at 5 %; "unclear" with one seed. */
  readonly found: "better" | "worse" | "unclear";
}

/** Two-sided 5 % points of Student's t with 1, 2, … degrees of freedom. */
const STUDENT = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145,
];

/** A group that was the worst of runs of "held", and its mean error in those. */
export interface WorstGroup {
  readonly group: string;
  readonly runs: number;
  readonly error: number;
}

export interface BindingSummary {
  readonly done: number;
  readonly planned: number;
  readonly truthPeople: number;
  readonly told: number;
  readonly sizes: readonly BindingSize[];
  /** With three groups told, and which. */
  readonly three: BindingSize & { readonly told: readonly string[] };
  /** Held's worst error over 0.1.0's with the most rows, a ratio of means, and for how many seeds it is as wanted. */
  readonly ratio: {
    readonly rows: number;
    readonly seeds: number;
    readonly value: number;
    readonly within: number;
  } | null;
  readonly differences: readonly BindingDifference[];
  /** Of the runs of "held". */
  readonly allMet: { readonly runs: number; readonly of: number; readonly supported: number };
  /** Runs of "held", by rows, in which the solve without constraints met them all: the last solve took no step. */
  readonly idle: readonly { readonly rows: number; readonly runs: number; readonly of: number }[];
  /** Of all runs with a solve. */
  readonly residual: { readonly largest: number; readonly runs: number } | null;
  readonly parts: readonly BindingPartLine[];
}

export function summariseBinding(plan: BindingPlan, all: readonly AnyBindingLine[]): BindingSummary {
  const kept = all.filter(isPlanned);
  const planned = expandBindingPlan(plan);
  const isDone = (run: BindingRun) => kept.some((line) => sameBindingRun(line, run));
  const lines = scoredOf(kept.filter(({ part }) => part === "systems"));
  const sizes = plan.sizes.map(({ rows }) => rows);
  const own = lines.filter(({ system }) => system === "held");
  const residuals = scoredOf(kept).flatMap(({ residual }) => (residual === null ? [] : [residual]));
  const summariseSize = (part: BindingRun["part"], rows: number, systems: readonly BindingSystem[]) => {
    const wanted = planned.filter((run) => run.part === part && run.rows === rows);
    const made = kept.filter((line) => line.part === part && line.rows === rows);
    return {
      done: wanted.filter(isDone).length,
      planned: wanted.length,
      ...describeSize(made, plan.truthPeople, rows, systems),
    };
  };
  return {
    done: planned.filter(isDone).length,
    planned: planned.length,
    truthPeople: plan.truthPeople,
    told: plan.told.length,
    sizes: plan.sizes.map(({ rows, systems }) => summariseSize("systems", rows, systems)),
    three: { told: plan.three.told, ...summariseSize("three", plan.three.rows, plan.three.systems) },
    ratio: compareRatio(lines, Math.max(...sizes)),
    differences: sizes.flatMap((rows) =>
      (["worst", "ise", "everyone", "average"] as const).flatMap((score) =>
        STARTS.flatMap((other) => compareWith(lines, rows, score, other)),
      ),
    ),
    allMet: {
      runs: own.filter(({ met, held }) => met === held).length,
      of: own.length,
      supported: own.filter(({ held }) => held === plan.told.length + 1).length,
    },
    idle: sizes.map((rows) => {
      const ofSize = own.filter((line) => line.rows === rows);
      return { rows, runs: ofSize.filter(({ iterations }) => iterations === 0).length, of: ofSize.length };
    }),
    residual: residuals.length === 0 ? null : { largest: Math.max(...residuals), runs: residuals.length },
    parts: all.filter((line) => !isPlanned(line)),
  };
}

function isPlanned(line: AnyBindingLine): line is BindingLine | AbsentLine {
  return line.part === "systems" || line.part === "three";
}

function scoredOf(lines: readonly (BindingLine | AbsentLine)[]): readonly BindingLine[] {
  return lines.flatMap((line) => ("absent" in line ? [] : [line]));
}

/** The rows of a size's tables. */
function describeSize(
  made: readonly (BindingLine | AbsentLine)[],
  people: number,
  rows: number,
  systems: readonly BindingSystem[],
): Omit<BindingSize, "done" | "planned"> {
  const lines = scoredOf(made);
  return {
    rows,
    means: systems.flatMap((system) => averageSystem(lines, rows, system)),
    absent: systems.flatMap((system) => countAbsent(made, people, system)),
    worstGroups: countWorst(
      lines.filter(({ system }) => system === "held"),
      rows,
    ),
    rivals: (["worst", "ise"] as const).flatMap((score) =>
      systems
        .filter((system) => isSplineCox(system) || system === "held, all only")
        .flatMap((other) => compareWith(lines, rows, score, other)),
    ),
  };
}

function countAbsent(
  made: readonly (BindingLine | AbsentLine)[],
  people: number,
  system: BindingSystem,
): AbsentSystem | readonly [] {
  const own = made.flatMap((line) => (line.system === system && "absent" in line ? [line] : []));
  if (own.length === 0) return [];
  const range = (read: (line: AbsentLine) => number): readonly [number, number] => {
    const values = own.map(read);
    return [Math.min(...values), Math.max(...values)];
  };
  return {
    system,
    seeds: own.length,
    strata: range(({ strata }) => strata),
    withoutEvents: range(({ withoutEvents }) => withoutEvents),
    lost: range(({ lost }) => lost / people),
  };
}

function averageSystem(
  lines: readonly BindingLine[],
  rows: number,
  system: BindingSystem,
): BindingMeans | readonly [] {
  const runs = lines.filter((line) => line.rows === rows && line.system === system);
  if (runs.length === 0) return [];
  const over = (read: (line: BindingLine) => number) => estimate(runs.map(read));
  const sum = (read: (line: BindingLine) => number) => runs.reduce((total, run) => total + read(run), 0);
  const residuals = runs.flatMap(({ residual }) => (residual === null ? [] : [residual]));
  const shares = runs.flatMap(({ share }) => (share === null ? [] : [share]));
  const ends = runs.flatMap(({ endSeconds, residual }) =>
    endSeconds === null || residual === null ? [] : [endSeconds],
  );
  return {
    system,
    seeds: runs.length,
    everyone: over((run) => run.everyoneError),
    worst: over((run) => run.worstError),
    average: over((run) => run.meanError),
    ise: over((run) => run.ise),
    concordance: over((run) => run.concordance),
    met: sum((run) => run.met),
    held: sum((run) => run.held),
    residual: residuals.length === 0 ? null : Math.max(...residuals),
    keptStart:
      shares.length === 0 ? null : { runs: shares.filter((share) => share === 0).length, of: shares.length },
    seconds: mean(runs.map((run) => run.seconds)),
    endSeconds: ends.length === 0 ? null : mean(ends),
  };
}

function countWorst(own: readonly BindingLine[], rows: number): WorstGroup[] {
  const lines = own.filter((line) => line.rows === rows);
  return [...new Set(lines.map(({ worstGroup }) => worstGroup))].map((group) => {
    const errors = lines.flatMap((line) => (line.worstGroup === group ? [line.worstError] : []));
    return { group, runs: errors.length, error: mean(errors) };
  });
}

interface Pair {
  readonly own: BindingLine;
  readonly rival: BindingLine;
}

function pairWith(lines: readonly BindingLine[], rows: number, other: BindingSystem): Pair[] {
  const ofSize = lines.filter((line) => line.rows === rows);
  return ofSize.flatMap((own) => {
    if (own.system !== "held") return [];
    const rival = ofSize.find(({ system, seed }) => system === other && seed === own.seed);
    return rival === undefined ? [] : [{ own, rival }];
  });
}

function compareRatio(lines: readonly BindingLine[], rows: number): BindingSummary["ratio"] {
  const pairs = pairWith(lines, rows, "0.1.0");
  if (pairs.length === 0) return null;
  const value =
    mean(pairs.map(({ own }) => own.worstError)) / mean(pairs.map(({ rival }) => rival.worstError));
  const within = pairs.filter(({ own, rival }) => own.worstError <= WANTED_SHARE * rival.worstError).length;
  return { rows, seeds: pairs.length, value, within };
}

function compareWith(
  lines: readonly BindingLine[],
  rows: number,
  score: BindingDifference["score"],
  other: BindingSystem,
): BindingDifference | readonly [] {
  const key = COMPARED[score];
  const gaps = pairWith(lines, rows, other).map(({ own, rival }) => own[key] - rival[key]);
  if (gaps.length === 0) return [];
  const difference = estimate(gaps);
  return {
    part: lines[0].part,
    rows,
    score,
    other,
    seeds: gaps.length,
    difference,
    wins: gaps.filter((gap) => gap < 0).length,
    found: judge(difference, gaps.length),
  };
}

function judge({ mean: gap, error }: Estimate, seeds: number): BindingDifference["found"] {
  if (error === null || Math.abs(gap) <= STUDENT[Math.min(seeds - 1, STUDENT.length) - 1] * error)
    return "unclear";
  return gap < 0 ? "better" : "worse";
}
