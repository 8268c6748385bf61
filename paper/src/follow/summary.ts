/**
 * What the page on late entry, changing covariates and weights shows: of the simulated people and of every table the
 * means over seeds by system, mean ranks, and differences of graduate from the others, paired by seed.
 */
import { type PairedSystems, pairSystems, type Score, testCohorts, testSplits } from "../summaries/paired.ts";
import { mean } from "../summaries/summary.ts";
import {
  expandFollowPlan,
  type FollowLawLine,
  type FollowLine,
  type FollowPlan,
  type FollowSystem,
  type FollowTable,
  type FollowTableLine,
  type GroupEvents,
  LAW_PART,
  systemsOf,
} from "./plan.ts";

export interface FollowPart extends PairedSystems<FollowSystem> {
  readonly part: string;
  readonly planned: number;
}

/** A value of each group under every system, a mean over seeds. */
export interface FollowGroupRow {
  readonly group: string;
  readonly values: readonly number[];
}

export interface FollowLawPart extends FollowPart {
  /** True errors. */
  readonly groups: readonly FollowGroupRow[];
}

export interface FollowTablePart extends FollowPart {
  readonly table: FollowTable;
  /** Of the first line. */
  readonly people: FollowTableLine["people"] | null;
  /** Observed over expected events, both summed over the seeds. */
  readonly groups: readonly FollowGroupRow[];
  /** Observed events of a split, a mean. */
  readonly events: number;
}

export interface FollowSummary {
  readonly plan: FollowPlan;
  readonly planned: number;
  readonly made: number;
  readonly law: FollowLawPart;
  readonly tables: readonly FollowTablePart[];
}

const namedOf = <Value>(groups: Readonly<Record<string, Value>>) =>
  Object.entries(groups).flatMap(([name, value]) => (name === "all" ? [] : [value]));

/** |log((O + ½)/(E + ½))|: finite where a small group has no event. */
export function drift({ observed, expected }: GroupEvents): number {
  return Math.abs(Math.log((observed + 0.5) / (expected + 0.5)));
}

/** |O − E|/√V; 0 where nobody was at risk. */
export function misfit({ observed, expected, variance }: GroupEvents): number {
  return variance > 0 ? Math.abs(observed - expected) / Math.sqrt(variance) : 0;
}

const LAW_SCORES: readonly Score<FollowLawLine>[] = [
  { name: "groups", read: ({ errors }) => mean(namedOf(errors)) },
  { name: "worst", read: ({ errors }) => Math.max(...namedOf(errors)) },
  { name: "everyone", read: ({ errors }) => errors.all },
  { name: "ise", read: ({ ise }) => ise },
];

const TABLE_SCORES: readonly Score<FollowTableLine>[] = [
  { name: "concordance", read: ({ concordance }) => 1 - concordance },
  { name: "likelihood", read: ({ likelihood }) => -likelihood },
  { name: "everyone", read: ({ groups }) => drift(groups.all) },
  { name: "groups", read: ({ groups }) => mean(namedOf(groups).map(drift)) },
  { name: "misfit", read: ({ groups }) => mean(Object.values(groups).map(misfit)) },
];

export function summariseFollow(plan: FollowPlan, lines: readonly FollowLine[]): FollowSummary {
  const runs = expandFollowPlan(plan);
  const made = lines.filter((line) =>
    runs.some(({ part, seed, system }) => part === line.part && seed === line.seed && system === line.system),
  );
  const plannedOf = (part: string) => runs.filter((run) => run.part === part).length;
  const ofLaw = made.filter((line): line is FollowLawLine => line.kind === "law");
  const law = pairSystems(ofLaw, plan.law.systems, LAW_SCORES, testCohorts);
  return {
    plan,
    planned: runs.length,
    made: made.length,
    law: {
      part: LAW_PART,
      planned: plannedOf(LAW_PART),
      ...law,
      groups: groupRows(ofLaw, law, (own, group) => mean(own.map(({ errors }) => errors[group])), "errors"),
    },
    tables: plan.tables.tables.map((table) => {
      const own = made.filter(
        (line): line is FollowTableLine => line.kind === "table" && line.part === table.name,
      );
      const people = own.at(0)?.people ?? null;
      const part = pairSystems(own, systemsOf(plan, table), TABLE_SCORES, (differences) =>
        testSplits(differences, people),
      );
      const complete = own.filter(({ seed, system }) => system === "graduate" && part.seeds.includes(seed));
      return {
        part: table.name,
        planned: plannedOf(table.name),
        ...part,
        table,
        people,
        groups: groupRows(own, part, ratioOf, "groups"),
        events: complete.length === 0 ? 0 : mean(complete.map(({ events }) => events)),
      };
    }),
  };
}

function ratioOf(lines: readonly FollowTableLine[], group: string): number {
  const sum = (read: (events: GroupEvents) => number) =>
    lines.reduce((total, { groups }) => total + read(groups[group]), 0);
  return sum(({ observed }) => observed) / sum(({ expected }) => expected);
}

/** A value of every group that the lines have under `field`, for the seeds that every system has. */
function groupRows<
  Field extends string,
  Line extends FollowLine & { readonly [Name in Field]: Readonly<Record<string, unknown>> },
>(
  lines: readonly Line[],
  { seeds, rows }: PairedSystems<FollowSystem>,
  read: (own: readonly Line[], group: string) => number,
  field: Field,
): FollowGroupRow[] {
  const complete = lines.filter(({ seed }) => seeds.includes(seed));
  return Object.keys(complete.at(0)?.[field] ?? {}).map((group) => ({
    group,
    values: rows.map(({ system }) =>
      read(
        complete.filter((line) => line.system === system),
        group,
      ),
    ),
  }));
}
