/**
 * What the page on competing causes shows: of every part of the plan the means over seeds by system, mean ranks, and
 * differences of graduate from the others, paired by seed. Seeds count where every system of the part has a line.
 * Simulated cohorts share nobody and are tested by Student's t; splits of one table share rows, which the corrected
 * resampled t allows for, and its standard errors are the wider.
 */
import { isAbsent } from "graduate/core";
import { correctedResampledT, pairedT } from "graduate/stats";
import { type Estimate, estimate, LEVEL, mean } from "../summaries/summary.ts";
import {
  type CauseLine,
  type CauseSystem,
  type CausesPlan,
  type CauseTable,
  expandCausesPlan,
  type LawLine,
  type TableLine,
} from "./plan.ts";

/** A score of a line; lower is better. */
interface Score<Line> {
  readonly name: string;
  readonly read: (line: Line) => number;
}

/** graduate less another system. */
export interface CauseDifference {
  readonly mean: number;
  readonly error: number;
  readonly p: number;
}

export interface CauseScore extends Estimate {
  /** The mean over seeds of the place among the systems, 1 for the lowest. */
  readonly rank: number;
  /** Null for graduate itself, and where it cannot be tested. */
  readonly difference: CauseDifference | null;
}

export interface CauseRow {
  readonly system: CauseSystem;
  readonly scores: readonly CauseScore[];
}

export interface CausePart {
  readonly part: string;
  readonly planned: number;
  readonly made: number;
  /** Seeds that every system has a line of. */
  readonly seeds: readonly number[];
  readonly scores: readonly string[];
  readonly rows: readonly CauseRow[];
}

/** The mean true error of a group and a cause under every system. */
export interface CauseGroupRow {
  readonly group: string;
  readonly cause: number;
  readonly errors: readonly number[];
}

export interface LawPart extends CausePart {
  readonly groups: readonly CauseGroupRow[];
}

export interface TablePart extends CausePart {
  readonly table: CauseTable;
  readonly rowsOf: TableLine["rows"] | null;
}

export interface CausesSummary {
  readonly plan: CausesPlan;
  readonly planned: number;
  readonly made: number;
  readonly laws: readonly LawPart[];
  readonly tables: readonly TablePart[];
}

/** Groups that are named; everyone is beside them. */
const namedErrors = ({ errors }: LawLine) =>
  Object.entries(errors).flatMap(([name, ofCauses]) => (name === "all" ? [] : ofCauses));

const LAW_SCORES: readonly Score<LawLine>[] = [
  { name: "groups", read: (line) => mean(namedErrors(line)) },
  { name: "worst", read: (line) => Math.max(...namedErrors(line)) },
  { name: "everyone", read: (line) => mean(line.errors.all) },
  { name: "ise 1", read: (line) => line.ise[0] },
  { name: "ise 2", read: (line) => line.ise[1] },
];

const TABLE_SCORES: readonly Score<TableLine>[] = [
  { name: "brier 1", read: (line) => line.brier[0] },
  { name: "brier 2", read: (line) => line.brier[1] },
  { name: "gap 1", read: (line) => line.gap[0] },
  { name: "gap 2", read: (line) => line.gap[1] },
];

export function summariseCauses(plan: CausesPlan, lines: readonly CauseLine[]): CausesSummary {
  const runs = expandCausesPlan(plan);
  const isMade = (line: CauseLine) =>
    runs.some(({ part, seed, system }) => part === line.part && seed === line.seed && system === line.system);
  const made = lines.filter(isMade);
  const plannedOf = (part: string) => runs.filter((run) => run.part === part).length;
  return {
    plan,
    planned: runs.length,
    made: made.length,
    laws: plan.parts.map(({ part, systems }) => {
      const own = made.filter((line): line is LawLine => line.kind === "law" && line.part === part);
      const summary = {
        part,
        planned: plannedOf(part),
        ...summarisePart(own, systems, LAW_SCORES, testCohorts),
      };
      return { ...summary, groups: summariseGroups(own, summary.seeds, systems) };
    }),
    tables: plan.tables.tables.map((table) => {
      const own = made.filter((line): line is TableLine => line.kind === "table" && line.part === table.name);
      const rowsOf = own.at(0)?.rows ?? null;
      const test = (differences: readonly number[]) => testSplits(differences, rowsOf);
      const summary = summarisePart(own, plan.tables.systems, TABLE_SCORES, test);
      return { part: table.name, planned: plannedOf(table.name), ...summary, table, rowsOf };
    }),
  };
}

type Test = (differences: readonly number[]) => CauseDifference | null;

const testCohorts: Test = (differences) => {
  const test = pairedT(differences);
  return isAbsent(test) ? null : { mean: test.mean, error: test.standardError, p: test.p };
};

function testSplits(differences: readonly number[], rows: TableLine["rows"] | null): CauseDifference | null {
  if (rows === null) return null;
  const test = correctedResampledT(differences, { trainSize: rows.learnt, testSize: rows.test });
  return isAbsent(test) ? null : { mean: test.mean, error: test.standardError, p: test.p };
}

function summarisePart<Line extends CauseLine>(
  lines: readonly Line[],
  systems: readonly CauseSystem[],
  scores: readonly Score<Line>[],
  test: Test,
): Omit<CausePart, "part" | "planned"> {
  const find = (seed: number, system: CauseSystem) =>
    lines.find((line) => line.seed === seed && line.system === system);
  const seeds = [...new Set(lines.map(({ seed }) => seed))]
    .filter((seed) => systems.every((system) => find(seed, system) !== undefined))
    .sort((a, b) => a - b);
  const linesOf = (system: CauseSystem) => seeds.flatMap((seed) => find(seed, system) ?? []);
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

function summariseGroups(
  lines: readonly LawLine[],
  seeds: readonly number[],
  systems: readonly CauseSystem[],
): CauseGroupRow[] {
  const complete = lines.filter(({ seed }) => seeds.includes(seed));
  const names = Object.keys(complete.at(0)?.errors ?? {});
  return names.flatMap((group) =>
    (complete[0].errors[group] ?? []).map((_, k) => ({
      group,
      cause: k,
      errors: systems.map((system) =>
        mean(complete.filter((line) => line.system === system).map(({ errors }) => errors[group][k])),
      ),
    })),
  );
}

export type Verdict = "better" | "par" | "worse";

/** Whether graduate's score is lower, higher, or not separated, at the level of the pages. */
export function judge(difference: CauseDifference | null): Verdict {
  if (difference === null || !(difference.p < LEVEL)) return "par";
  return difference.mean < 0 ? "better" : "worse";
}
