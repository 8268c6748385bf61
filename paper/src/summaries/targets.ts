/** The contents of the page on targets: means over seeds, paired comparisons, clashes, and what was wanted. */
import { isAbsent } from "graduate-survival/core";
import { pairedT } from "graduate-survival/stats";
import {
  type EyeTargetLine,
  expandTargetsPlan,
  type FlchainTargetLine,
  sameTargetRun,
  TARGET_COHORTS,
  TARGET_SYSTEMS,
  type TargetCohort,
  type TargetLine,
  type TargetSystem,
  type TargetsPlan,
} from "../studies/targets.ts";
import { mean } from "./summary.ts";

/** The worst error with targets at most this share of that without. */
export const WANTED_SHARE = 0.55;
/** A clash has Holm's p-value below it; for people of the same law, one in twenty draws has any. */
export const CLASH_LEVEL = 0.05;

/** Mean of one number by system, on the seeds that have every system. */
export interface TargetMeans {
  readonly system: TargetSystem;
  readonly values: readonly number[];
}

/** With targets less without: mean and its standard error (null for one seed). */
export interface TargetDifference {
  readonly system: TargetSystem;
  readonly column: string;
  readonly mean: number;
  readonly error: number | null;
}

export interface TargetTable {
  readonly cohort: TargetCohort;
  readonly seeds: number;
  /** Which those are. */
  readonly drawn: readonly number[];
  readonly planned: number;
  readonly lines: number;
  readonly plannedLines: number;
  readonly columns: readonly { readonly name: string; readonly digits: number }[];
  readonly means: readonly TargetMeans[];
  readonly differences: readonly TargetDifference[];
  /** Draws with any clash, and for each group the draws in which it clashed. */
  readonly clashed: number;
  readonly clashes: readonly GroupClashes[];
}

/** One group's local events, over all draws. */
export interface GroupClashes {
  readonly group: string;
  /** In which it clashed. */
  readonly draws: number;
  /** Events of a draw, on average. */
  readonly events: number;
  /** Observed over expected. */
  readonly ratio: number;
}

export interface TargetWish {
  readonly what: string;
  readonly measured: string;
  readonly isMet: boolean;
}

export interface TargetsSummary {
  readonly plan: TargetsPlan;
  readonly tables: readonly TargetTable[];
  readonly wishes: readonly TargetWish[];
  /** Of the simulated people: the group whose error is the largest most often, by system. */
  readonly worst: readonly {
    readonly system: TargetSystem;
    readonly group: string;
    readonly draws: number;
  }[];
}

interface Read<Line> {
  readonly name: string;
  readonly digits: number;
  readonly read: (line: Line) => number;
}

/** Of each group, too: a group of few local people has the largest error. */
function readEye(groups: readonly string[]): Read<EyeTargetLine>[] {
  return [
    { name: "worst A", digits: 4, read: (line) => line.worstError },
    { name: "A of everyone", digits: 4, read: (line) => line.errors.all },
    ...groups.map((group) => ({
      name: `\`${group}\``,
      digits: 4,
      read: ({ errors }: EyeTargetLine) => errors[group],
    })),
    { name: "ISE", digits: 5, read: (line) => line.ise },
    { name: "C", digits: 4, read: (line) => line.concordance },
  ];
}

const FLCHAIN: readonly Read<FlchainTargetLine>[] = [
  { name: "C", digits: 4, read: (line) => line.concordance },
  { name: "IBS", digits: 4, read: (line) => line.ibs },
  { name: "ECE of everyone", digits: 4, read: (line) => line.ece },
  { name: "mean ECE of the bands", digits: 4, read: (line) => line.groupEce },
];

export function summariseTargets(plan: TargetsPlan, all: readonly TargetLine[]): TargetsSummary {
  const runs = expandTargetsPlan(plan);
  const lines = all.filter((line) => runs.some((run) => sameTargetRun(run, line)));
  const ofEye = lines.flatMap((line) => (line.cohort === "eye" ? [line] : []));
  const ofFlchain = lines.flatMap((line) => (line.cohort === "flchain" ? [line] : []));
  const tables = TARGET_COHORTS.map((cohort): TargetTable => {
    const plannedLines = runs.filter((run) => run.cohort === cohort).length;
    const frame = { cohort, planned: plan[cohort].seeds.count, plannedLines };
    return cohort === "eye"
      ? summariseCohort(frame, plan.systems, ofEye, readEye(plan.eye.groups))
      : summariseCohort(frame, plan.flchain.systems, ofFlchain, FLCHAIN);
  });
  return {
    plan,
    tables,
    wishes: judge(tables[0]),
    worst: plan.systems.map((system) =>
      findWorst(
        system,
        ofEye.filter(({ seed }) => tables[0].drawn.includes(seed)),
      ),
    ),
  };
}

function findWorst(system: TargetSystem, lines: readonly EyeTargetLine[]): TargetsSummary["worst"][number] {
  const names = lines.filter((line) => line.system === system).map(({ worstGroup }) => worstGroup);
  const counted = [...new Set(names)].map((group) => ({
    group,
    draws: names.filter((name) => name === group).length,
  }));
  const [most] = counted.sort((one, other) => other.draws - one.draws);
  return { system, group: most?.group ?? "", draws: most?.draws ?? 0 };
}

function summariseCohort<Line extends TargetLine>(
  frame: Pick<TargetTable, "cohort" | "planned" | "plannedLines">,
  systems: readonly TargetSystem[],
  lines: readonly Line[],
  reads: readonly Read<Line>[],
): TargetTable {
  const of = (system: TargetSystem) => lines.filter((line) => line.system === system);
  const seeds = [...new Set(lines.map(({ seed }) => seed))].filter((seed) =>
    systems.every((system) => of(system).some((line) => line.seed === seed)),
  );
  const paired = (system: TargetSystem) =>
    seeds.flatMap((seed) => of(system).filter((line) => line.seed === seed));
  const known = paired(TARGET_SYSTEMS[0]);
  return {
    ...frame,
    seeds: seeds.length,
    drawn: seeds,
    lines: lines.length,
    columns: reads.map(({ name, digits }) => ({ name, digits })),
    means: systems.map((system) => ({
      system,
      values: reads.map(({ read }) => mean(paired(system).map(read))),
    })),
    differences: systems.slice(1).flatMap((system) =>
      reads.map(({ name, read }): TargetDifference => {
        const gaps = paired(system).map((line, k) => read(line) - read(known[k]));
        const test = gaps.length < 2 ? null : pairedT(gaps);
        const error = test === null || isAbsent(test) ? null : test.standardError;
        return { system, column: name, mean: mean(gaps), error };
      }),
    ),
    clashed: known.filter(({ clashes }) => clashes.some(({ adjusted }) => adjusted < CLASH_LEVEL)).length,
    clashes: (known[0]?.clashes ?? []).map(({ group }) => {
      const own = known.flatMap(({ clashes }) => clashes.filter((one) => one.group === group));
      const sum = (key: "observed" | "expected") => own.reduce((total, one) => total + one[key], 0);
      return {
        group,
        draws: own.filter(({ adjusted }) => adjusted < CLASH_LEVEL).length,
        events: sum("observed") / own.length,
        ratio: sum("observed") / sum("expected"),
      };
    }),
  };
}

/** The wishes of both ways to hold the targets. */
function judge({ means, columns }: TargetTable): TargetWish[] {
  const place = (name: string) => columns.findIndex((column) => column.name === name);
  const [without, ...others] = means;
  return others.flatMap(({ system, values }) => {
    const pair = (name: string) => [values[place(name)], without.values[place(name)]] as const;
    const [[worst, before], [ise, iseBefore], [c, cBefore]] = [pair("worst A"), pair("ISE"), pair("C")];
    const share = worst / before;
    return [
      {
        what: `*${system}*: worst A at most ${WANTED_SHARE} of that without`,
        measured: `${share.toFixed(2)} (${worst.toFixed(4)}; ${before.toFixed(4)})`,
        isMet: share <= WANTED_SHARE,
      },
      {
        what: `*${system}*: ISE lower`,
        measured: `${ise.toFixed(5)}; ${iseBefore.toFixed(5)}`,
        isMet: ise < iseBefore,
      },
      {
        what: `*${system}*: C not lower`,
        measured: `${c.toFixed(4)}; ${cBefore.toFixed(4)}`,
        isMet: c >= cBefore,
      },
    ];
  });
}
