/**
 * The contents of the page of tables on which nothing was tuned: means over splits, paired differences with the
 * corrected resampled t, and the outcome of every command. Everything said of a table is computed here from its lines.
 */

import { isAbsent } from "graduate-survival/core";
import { holm } from "graduate-survival/stats";
import { compareSplits, type MethodDifference } from "graduate-survival/verbs";
import { type CommandLine, UNSEEN_COMMANDS } from "../studies/unseen-commands.ts";
import type {
  FailedRun,
  StrataLine,
  TableLine,
  UnseenPlan,
  UnseenRun,
  UnseenSystem,
  UnseenTable,
} from "../studies/unseen-tables.ts";
import { mean } from "./summary.ts";

/** A line of paper/tables.jsonl. */
export type UnseenLine = TableLine | CommandLine | UnseenRun | FailedRun | StrataLine;

export const SCORES = [
  { key: "concordance", title: "C", better: 1 },
  { key: "ece", title: "ECE", better: -1 },
  { key: "groupEce", title: "mean group ECE", better: -1 },
  { key: "worstEce", title: "worst group ECE", better: -1 },
  { key: "ibs", title: "IBS", better: -1 },
] as const;
export type Score = (typeof SCORES)[number];

/** Level of p and of Holm's p. */
export const LEVEL = 0.05;

export interface Pair {
  readonly system: UnseenSystem;
  readonly against: UnseenSystem;
}

/** The pairs of systems that are compared. */
export const PAIRS: readonly Pair[] = [
  { system: "cox with group terms", against: "cox" },
  { system: "graduate", against: "cox" },
  { system: "graduate", against: "cox with group terms" },
  { system: "graduate", against: "graduate 0.1.0" },
  { system: "graduate", against: "start" },
  { system: "one run", against: "start" },
];
/** The pairs that judge graduate. */
const OWN_PAIRS = PAIRS.filter(({ system }) => system === "graduate");
/** What graduate is expected to beat. */
const RIVALS: readonly UnseenSystem[] = ["cox", "cox with group terms"];

/** Means of a system over the splits. */
export interface UnseenMeans {
  readonly system: UnseenSystem;
  /** In the order of the scores; null where one is undefined on a split. */
  readonly scores: readonly (number | null)[];
  readonly eceFloor: number | null;
  readonly groupEceFloor: number | null;
  readonly rejected: number;
  readonly judged: number;
  readonly met: number;
  readonly held: number;
  readonly asked: number;
  readonly seconds: number;
}

/** One score of one pair over the splits. */
export interface ScoreDifference extends Pair, Omit<MethodDifference, "method" | "against" | "score"> {
  readonly score: Score;
  /** 1 where the mean is better, −1 where it is worse, 0 where there is no difference. */
  readonly side: number;
}

/** Where graduate is worse than the better of its rivals, on average. */
export interface Shortfall {
  readonly title: string;
  readonly value: number;
  readonly rival: number;
  readonly system: UnseenSystem;
}

/** Cox with splines, stratified by all groups, over the splits. */
export interface StrataMeans {
  /** The fewest and the most. */
  readonly strata: readonly [number, number];
  readonly withoutEvents: readonly [number, number];
  /** Test rows in no stratum with an event, a share of all. */
  readonly lost: number;
  /** In the order of the scores; null where too many are lost. */
  readonly scores: readonly (number | null)[] | null;
  readonly differences: readonly StrataDifference[];
}

/** graduate less the stratified Cox, in one score. */
export interface StrataDifference {
  readonly score: Score;
  readonly estimate: number | null;
  readonly p: number | null;
  readonly side: number;
}

export interface TableSummary {
  readonly strata: StrataMeans | null;
  readonly entry: UnseenTable;
  readonly found: TableLine;
  readonly means: readonly UnseenMeans[];
  /** Pair by pair, each in the order of the scores. */
  readonly differences: readonly ScoreDifference[];
  readonly shortfalls: readonly Shortfall[];
  /** Rows of the first split, and means over the splits, of graduate's runs. */
  readonly rows: UnseenRun["rows"];
  readonly testEvents: number;
  readonly supportedBins: number;
  /** Constraints missed on the training rows, and on how many splits. */
  readonly missed: readonly { readonly group: string; readonly times: number }[];
  /** In the order of the commands; null where one was not run. */
  readonly commands: readonly (CommandLine | null)[];
}

export interface UnseenSummary {
  readonly splits: number;
  readonly systems: readonly UnseenSystem[];
  readonly tables: readonly TableSummary[];
}

export function summariseUnseen(plan: UnseenPlan, lines: readonly UnseenLine[]): UnseenSummary {
  const tables = plan.tables.filter(({ name }) => lines.some(({ table }) => table === name));
  return {
    splits: plan.seeds.length,
    systems: plan.systems,
    tables: tables.map((entry) => summariseTable(plan, entry, lines)),
  };
}

function summariseTable(plan: UnseenPlan, entry: UnseenTable, lines: readonly UnseenLine[]): TableSummary {
  const own = lines.filter(({ table }) => table === entry.name);
  const found = own.find((line) => line.kind === "table");
  if (found === undefined) throw new Error(`no line describes the table ${entry.name}`);
  const runsOf = (system: UnseenSystem) =>
    own
      .filter((line) => line.kind === "run" && "concordance" in line)
      .filter((line) => line.system === system)
      .sort((a, b) => a.seed - b.seed);
  const means = plan.systems.map((system) => averageRuns(system, runsOf(system)));
  const graduate = runsOf("graduate");
  const commands = own.filter((line) => line.kind === "command");
  return {
    entry,
    found,
    means,
    strata: averageStrata(
      own.filter((line) => line.kind === "strata"),
      graduate,
      plan.strata.lostAtMost,
    ),
    differences: compareSystems(runsOf),
    shortfalls: findShortfalls(means),
    rows: graduate[0].rows,
    testEvents: mean(graduate.map((run) => run.testEvents)),
    supportedBins: mean(graduate.map((run) => run.supportedBins)),
    missed: countMissed(graduate),
    commands: UNSEEN_COMMANDS.map((name) => commands.find(({ command }) => command === name) ?? null),
  };
}

function averageRuns(system: UnseenSystem, runs: readonly UnseenRun[]): UnseenMeans {
  const average = (read: (run: UnseenRun) => number) => mean(runs.map(read));
  /** Null where a split has no value. */
  const averageAll = (read: (run: UnseenRun) => number | null) => {
    const values = runs.map(read);
    const present = values.filter((value) => value !== null);
    return present.length < values.length ? null : mean(present);
  };
  return {
    system,
    scores: SCORES.map(({ key }) => averageAll((run) => run[key])),
    eceFloor: averageAll((run) => run.eceFloor),
    groupEceFloor: averageAll((run) => run.groupEceFloor),
    rejected: average((run) => run.rejected),
    judged: average((run) => run.judged),
    met: average((run) => run.met),
    held: average((run) => run.held),
    asked: runs[0].asked,
    seconds: average((run) => run.seconds),
  };
}

function averageStrata(
  lines: readonly StrataLine[],
  graduate: readonly UnseenRun[],
  lostAtMost: number,
): StrataMeans | null {
  if (lines.length === 0) return null;
  const range = (read: (line: StrataLine) => number): readonly [number, number] => [
    Math.min(...lines.map(read)),
    Math.max(...lines.map(read)),
  ];
  const lost = mean(lines.map((line) => line.lost / line.test));
  const counts = {
    strata: range(({ strata }) => strata),
    withoutEvents: range(({ withoutEvents }) => withoutEvents),
    lost,
  };
  if (lost > lostAtMost) return { ...counts, scores: null, differences: [] };
  const sorted = lines.toSorted((a, b) => a.seed - b.seed);
  const methods = [
    { method: "stratified", scores: sorted },
    { method: "graduate", scores: graduate },
  ];
  const [testSize, trainSize] = [
    mean(graduate.map(({ rows }) => rows.test)),
    mean(graduate.map(({ rows }) => rows.train)),
  ];
  const compared = compareSplits(methods, { testSize, trainSize });
  return {
    ...counts,
    scores: SCORES.map(({ key }) => {
      const values = sorted.flatMap((line) => line[key] ?? []);
      return values.length < sorted.length ? null : mean(values);
    }),
    differences: SCORES.flatMap((score) =>
      compared
        .filter((one) => one.score === score.key)
        .map(({ estimate, p }) => ({
          score,
          estimate,
          p,
          side: Math.sign(estimate ?? 0) * score.better,
        })),
    ),
  };
}

/** Differences over the splits, with Holm's p over all differences of the table. */
function compareSystems(runsOf: (system: UnseenSystem) => readonly UnseenRun[]): ScoreDifference[] {
  const rows = runsOf("cox").map((run) => run.rows);
  const sizes = {
    testSize: mean(rows.map(({ test }) => test)),
    trainSize: mean(rows.map(({ train }) => train)),
  };
  const found = PAIRS.flatMap(({ system, against }) => {
    const methods = [against, system].map((method) => ({ method, scores: runsOf(method) }));
    const compared = compareSplits(methods, sizes);
    return SCORES.flatMap((score) =>
      compared
        .filter((one) => one.score === score.key)
        .map((one) => ({
          ...one,
          system,
          against,
          score,
          side: Math.sign(one.estimate ?? 0) * score.better,
        })),
    );
  });
  const adjusted = holm(found.map(({ p, absent }) => p ?? { absent: absent ?? "" }));
  return found.map((one, k) => {
    const p = adjusted[k];
    return { ...one, adjustedP: isAbsent(p) ? null : p };
  });
}

/** Digits to which scores are shown: scores that are equal at this precision are no shortfall. */
export const SCORE_DIGITS = 4;

function findShortfalls(means: readonly UnseenMeans[]): Shortfall[] {
  const own = means.find(({ system }) => system === "graduate");
  return SCORES.flatMap(({ title, better }, k) => {
    const rivals = means
      .filter(({ system }) => RIVALS.includes(system))
      .flatMap(({ system, scores }) => {
        const rival = scores[k];
        return rival === null ? [] : [{ system, rival }];
      })
      .sort((a, b) => better * (b.rival - a.rival));
    const value = own?.scores[k] ?? null;
    if (value === null || rivals.length === 0 || better * (value - rivals[0].rival) >= 0) return [];
    if (value.toFixed(SCORE_DIGITS) === rivals[0].rival.toFixed(SCORE_DIGITS)) return [];
    return [{ title, value, ...rivals[0] }];
  });
}

function countMissed(runs: readonly UnseenRun[]): TableSummary["missed"] {
  const unmet = runs.flatMap((run) => run.unmet ?? []);
  return [...new Set(unmet)].map((group) => ({
    group,
    times: unmet.filter((one) => one === group).length,
  }));
}

/** The differences of one pair. */
export function differencesOf({ differences }: TableSummary, { system, against }: Pair): ScoreDifference[] {
  return differences.filter((one) => one.system === system && one.against === against);
}

/** Names of the tables in which a pair differs at the level by p or by Holm's p, and of those in which it does not. */
export interface Separation extends Pair {
  readonly byP: readonly SeparatedTable[];
  readonly byHolm: readonly SeparatedTable[];
  readonly inNone: readonly string[];
}

export interface SeparatedTable {
  readonly name: string;
  readonly differences: readonly ScoreDifference[];
}

export function separatePairs({ tables }: UnseenSummary): readonly Separation[] {
  return OWN_PAIRS.map((pair) => {
    const separated = (key: "p" | "adjustedP") =>
      tables.flatMap((table): SeparatedTable[] => {
        const differences = differencesOf(table, pair).filter((one) => (one[key] ?? 1) < LEVEL);
        return differences.length === 0 ? [] : [{ name: table.entry.name, differences }];
      });
    const byP = separated("p");
    const names = tables.map(({ entry }) => entry.name);
    return {
      ...pair,
      byP,
      byHolm: separated("adjustedP"),
      inNone: names.filter((name) => !byP.some((one) => one.name === name)),
    };
  });
}

export interface Standing {
  readonly name: string;
  readonly against: UnseenSystem;
  readonly better: readonly ScoreDifference[];
  readonly worse: readonly ScoreDifference[];
}

/** Scores in which graduate is better or worse on average, table by table. */
export function listStandings({ tables }: UnseenSummary): readonly Standing[] {
  return tables.flatMap((table) =>
    OWN_PAIRS.map((pair) => {
      const found = differencesOf(table, pair).filter(({ estimate }) => estimate !== null);
      return {
        name: table.entry.name,
        against: pair.against,
        better: found.filter(({ side }) => side === 1),
        worse: found.filter(({ side }) => side === -1),
      };
    }),
  );
}

const meansOf = ({ means }: TableSummary, system: UnseenSystem) => {
  const found = means.find((one) => one.system === system);
  if (found === undefined) throw new Error(`no runs of ${system}`);
  return found;
};

const scoreOf = (table: TableSummary, system: UnseenSystem, key: Score["key"]) =>
  meansOf(table, system).scores[SCORES.findIndex((score) => score.key === key)] ?? Number.NaN;

/**
 * The ECE of everyone in units of what a perfect model of the same curves shows: smallest and largest over the tables.
 */
export function rangeOverFloor({ systems, tables }: UnseenSummary) {
  return systems.map((system) => {
    const ratios = tables.map(
      (table) => scoreOf(table, system, "ece") / (meansOf(table, system).eceFloor ?? Number.NaN),
    );
    return { system, least: Math.min(...ratios), most: Math.max(...ratios) };
  });
}

/** The share of graduate's reduction of plain Cox's worst-group error that Cox achieves with the groups as terms. */
export function compareWorstOfCox({ tables }: UnseenSummary) {
  const worst = (table: TableSummary, system: UnseenSystem) => scoreOf(table, system, "worstEce");
  const table = tables.reduce((most, one) => (worst(one, "cox") > worst(most, "cox") ? one : most));
  const [plain, terms, own] = (["cox", "cox with group terms", "graduate"] as const).map((system) =>
    worst(table, system),
  );
  const share = Math.round((100 * (plain - terms)) / (plain - own));
  return { name: table.entry.name, plain, terms, own, share };
}

/** Tables where fewer than half of the requested groups have enough data to be held. */
export function findUnheld({ tables }: UnseenSummary): readonly TableSummary[] {
  return tables.filter((table) => {
    const { held, asked } = meansOf(table, "graduate");
    return held < asked / 2;
  });
}

export function countHeld(table: TableSummary): { readonly held: number; readonly asked: number } {
  const { held, asked } = meansOf(table, "graduate");
  return { held, asked };
}
