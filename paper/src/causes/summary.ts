/**
 * What the page on competing causes shows: of every part of the plan the means over seeds by system, mean ranks, and
 * differences of graduate from the others, paired by seed.
 */
import {
  type PairedRow,
  type PairedSystems,
  pairSystems,
  type Score,
  testCohorts,
  testSplits,
} from "../summaries/paired.ts";
import { mean } from "../summaries/summary.ts";
import {
  type CauseLine,
  type CauseSystem,
  type CausesPlan,
  type CauseTable,
  expandCausesPlan,
  type LawLine,
  type TableLine,
} from "./plan.ts";

export type CauseRow = PairedRow<CauseSystem>;

export interface CausePart extends PairedSystems<CauseSystem> {
  readonly part: string;
  readonly planned: number;
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
        ...pairSystems(own, systems, LAW_SCORES, testCohorts),
      };
      return { ...summary, groups: summariseGroups(own, summary.seeds, systems) };
    }),
    tables: plan.tables.tables.map((table) => {
      const own = made.filter((line): line is TableLine => line.kind === "table" && line.part === table.name);
      const rowsOf = own.at(0)?.rows ?? null;
      const test = (differences: readonly number[]) => testSplits(differences, rowsOf);
      const summary = pairSystems(own, plan.tables.systems, TABLE_SCORES, test);
      return { part: table.name, planned: plannedOf(table.name), ...summary, table, rowsOf };
    }),
  };
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
