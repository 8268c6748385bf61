/** The contents of the quality page: means over seeds of the lines of paper/quality.jsonl, and who is ahead of whom. */
import type { QualityLine, QualityStrata, QualitySystem, QualityTable } from "../studies/quality.ts";
import { mean } from "./summary.ts";

const SCORES = [
  { key: "concordance", title: "C", better: 1 },
  { key: "ece", title: "ECE", better: -1 },
  { key: "subgroupEce", title: "subgroup ECE", better: -1 },
  { key: "ibs", title: "IBS", better: -1 },
] as const;
type ScoreKey = (typeof SCORES)[number]["key"];

const CONTROLS: readonly QualitySystem[] = ["no multipliers", "all only", "placebo groups"];
const COX_MODELS: readonly QualitySystem[] = ["cox", "cox with group terms"];

/** Groups of the simulated law whose hazard has a different level and shape. */
const PLANTED = ["age 75 and over", "eye medication", "Malay in 1-2 room housing"];
/** Groups whose true errors are shown. */
export const SHOWN_GROUPS = ["all", ...PLANTED, "women", "insulin"];

/** Means of one system over its runs on a table. */
export interface SystemMeans {
  readonly system: QualitySystem;
  readonly runs: number;
  readonly scores: Readonly<Record<ScoreKey, number>>;
  /** Runs whose mean-curve logrank of everyone has a p of at least .05. */
  readonly passes: number;
  readonly groupsRejected: number;
  readonly groups: number;
  readonly met: number;
  readonly held: number;
  readonly seconds: number;
}

/** True errors A of one system on the simulated cohort, means over its runs. */
export interface TrueErrors {
  readonly system: QualitySystem;
  /** For the groups that are shown, in their order. */
  readonly shown: readonly number[];
  readonly mean: number;
}

/** Scores in which graduate has a better mean than another system, with the splits on which it is better. */
export interface Lead {
  readonly other: QualitySystem;
  readonly scores: readonly { readonly title: string; readonly wins: number; readonly of: number }[];
}

/** A planted group's true errors: graduate's, the Cox models' and the controls'. */
export interface PlantedGroup {
  readonly name: string;
  readonly own: number;
  readonly cox: readonly number[];
  readonly controls: readonly number[];
}

/** What becomes of strata of all groups of a public table, over the splits. */
export interface StrataOfTable {
  readonly table: QualityStrata["table"];
  /** Everyone included. */
  readonly groups: number;
  /** The fewest and the most. */
  readonly strata: readonly [number, number];
  readonly withoutEvents: readonly [number, number];
  /** Test rows whose stratum has no event or is new, a share of all. */
  readonly lost: number;
}

export interface QualitySummary {
  readonly strata: readonly StrataOfTable[];
  readonly means: Readonly<Record<QualityTable, readonly SystemMeans[]>>;
  readonly trueErrors: readonly TrueErrors[];
  readonly leads: readonly { readonly table: QualityTable; readonly leads: readonly Lead[] }[];
  /** ECE on the split of nwtco on which the paper's recipe was run. */
  readonly recipe: Readonly<Record<"drsa" | "graduate" | "cox" | "own", number>> & { readonly seed: number };
  readonly planted: readonly PlantedGroup[];
  /** The system with the smallest ECE on the simulated cohort, and its rank by mean true error. */
  readonly leastEce: {
    readonly system: QualitySystem;
    readonly ece: number;
    readonly trueMean: number;
    readonly place: number;
    readonly of: number;
  };
}

export function summariseQuality(all: readonly (QualityLine | QualityStrata)[]): QualitySummary {
  const tables: readonly QualityStrata["table"][] = ["nwtco", "flchain"];
  const lines = all.flatMap((line) => ("withoutEvents" in line ? [] : [line]));
  const counted = all.flatMap((line) => ("withoutEvents" in line ? [line] : []));
  return {
    strata: tables.flatMap((table) => countStrata(counted, table)),
    means: {
      nwtco: averageSystems(lines, "nwtco"),
      flchain: averageSystems(lines, "flchain"),
      eye: averageSystems(lines, "eye"),
    },
    trueErrors: systemsOf(lines, "eye").map((system) => ({
      system,
      shown: SHOWN_GROUPS.map((group) => trueError(lines, system, group)),
      mean: trueMean(lines, system),
    })),
    leads: tables.map((table) => ({
      table,
      leads: (["cox", ...CONTROLS] as const).map((other) => findLead(lines, table, other)),
    })),
    recipe: compareRecipe(lines),
    planted: PLANTED.map((name) => ({
      name,
      own: trueError(lines, "graduate", name),
      cox: COX_MODELS.map((system) => trueError(lines, system, name)),
      controls: CONTROLS.map((system) => trueError(lines, system, name)),
    })),
    leastEce: findLeastEce(lines),
  };
}

function countStrata(
  lines: readonly QualityStrata[],
  table: StrataOfTable["table"],
): StrataOfTable | readonly [] {
  const own = lines.filter((line) => line.table === table);
  if (own.length === 0) return [];
  const range = (read: (line: QualityStrata) => number): readonly [number, number] => [
    Math.min(...own.map(read)),
    Math.max(...own.map(read)),
  ];
  return {
    table,
    groups: own[0].groups + 1,
    strata: range(({ strata }) => strata),
    withoutEvents: range(({ withoutEvents }) => withoutEvents),
    lost: mean(own.map(({ lost, test }) => lost / test)),
  };
}

const runsOf = (lines: readonly QualityLine[], table: QualityTable, system: QualitySystem) =>
  lines.filter((line) => line.table === table && line.system === system);

function systemsOf(lines: readonly QualityLine[], table: QualityTable): QualitySystem[] {
  return [...new Set(lines.filter((line) => line.table === table).map(({ system }) => system))];
}

function averageSystems(lines: readonly QualityLine[], table: QualityTable): SystemMeans[] {
  return systemsOf(lines, table).map((system) => {
    const runs = runsOf(lines, table, system);
    const average = (read: (run: QualityLine) => number) => mean(runs.map(read));
    return {
      system,
      runs: runs.length,
      scores: {
        concordance: average((run) => run.concordance),
        ece: average((run) => run.ece),
        subgroupEce: average((run) => run.subgroupEce),
        ibs: average((run) => run.ibs),
      },
      passes: runs.filter(({ logrankP }) => logrankP >= 0.05).length,
      groupsRejected: average((run) => run.groupsRejected),
      groups: runs[0].groups,
      met: average((run) => run.met),
      held: average((run) => run.held),
      seconds: average((run) => run.seconds),
    };
  });
}

function trueError(lines: readonly QualityLine[], system: QualitySystem, group: string): number {
  return mean(runsOf(lines, "eye", system).map((run) => run.trueError?.[group] ?? Number.NaN));
}

function trueMean(lines: readonly QualityLine[], system: QualitySystem): number {
  return mean(runsOf(lines, "eye", system).map((run) => mean(Object.values(run.trueError ?? {}))));
}

function findLead(lines: readonly QualityLine[], table: QualityTable, other: QualitySystem): Lead {
  const own = runsOf(lines, table, "graduate");
  const theirs = runsOf(lines, table, other);
  return {
    other,
    scores: SCORES.flatMap(({ key, title, better }) => {
      const isAhead = (one: number, two: number) => better * (one - two) > 0;
      if (!isAhead(mean(own.map((run) => run[key])), mean(theirs.map((run) => run[key])))) return [];
      const bySeed = new Map(theirs.map((run) => [run.seed, run[key]]));
      const pairs = own.flatMap((run) => {
        const rival = bySeed.get(run.seed);
        return rival === undefined ? [] : [{ own: run[key], rival }];
      });
      const wins = pairs.filter((pair) => isAhead(pair.own, pair.rival)).length;
      return [{ title, wins, of: pairs.length }];
    }),
  };
}

/** The paper's recipe beside Cox and ours, on the split on which it was run. */
function compareRecipe(lines: readonly QualityLine[]): QualitySummary["recipe"] {
  const [{ seed }] = runsOf(lines, "nwtco", "paper drsa");
  const eceOf = (system: QualitySystem) =>
    runsOf(lines, "nwtco", system).find((run) => run.seed === seed)?.ece ?? Number.NaN;
  return {
    seed,
    drsa: eceOf("paper drsa"),
    graduate: eceOf("paper graduate"),
    cox: eceOf("cox"),
    own: eceOf("graduate"),
  };
}

/** Whether ECE against Kaplan-Meier orders the systems as the truth does. */
function findLeastEce(lines: readonly QualityLine[]): QualitySummary["leastEce"] {
  const systems = systemsOf(lines, "eye");
  const order = (read: (system: QualitySystem) => number) => [...systems].sort((a, b) => read(a) - read(b));
  const eceOf = (system: QualitySystem) => mean(runsOf(lines, "eye", system).map((run) => run.ece));
  const [least] = order(eceOf);
  return {
    system: least,
    ece: eceOf(least),
    trueMean: trueMean(lines, least),
    place: order((system) => trueMean(lines, system)).indexOf(least) + 1,
    of: systems.length,
  };
}
