/**
 * A cohort of a plan, opened for one seed: its table, its split, the groups that systems are told of and those that are
 * only audited. Groups chosen by rule are chosen on the training rows of the plan's first split, so that all repeats
 * have the same groups (on flchain, sample.yr = 2001 has 100 training rows in some splits and not in others). Only
 * features decide, never an outcome.
 */
import {
  ALL_GROUP,
  type Group,
  type GroupsFile,
  groupsFromFile,
  outcomeNames,
  type RightCensored,
  readOutcomes,
  type Split,
  splitByOrder,
  type Table,
} from "graduate-survival/data";
import { type EyeCohort, simulateEye } from "../eye/simulate.ts";
import type { CohortPlan, Plan } from "./plan.ts";

/** The contents of the files that a cohort names. */
export interface CohortSources {
  /** Null for a simulated cohort. */
  readonly table: Table | null;
  readonly groups: GroupsFile;
  readonly auditOnly: GroupsFile | null;
}

export interface OpenCohort {
  readonly plan: CohortPlan;
  readonly table: Table;
  readonly time: string;
  readonly event: string;
  readonly outcomes: RightCensored;
  readonly split: Split;
  /** Everyone first. */
  readonly groups: readonly Group[];
  readonly auditOnly: readonly Group[];
  /** The people with their true curves, if they are simulated. */
  readonly eye: EyeCohort | null;
}

/** Seed of the split that the groups are chosen on. */
const GROUPS_SEED = 1;

export function openCohort(
  plan: CohortPlan,
  sources: CohortSources,
  { repeats, split: onlySplit }: Pick<Plan, "repeats" | "split">,
  seed: number,
): OpenCohort {
  const drawn = repeats === "initialisations" ? (onlySplit ?? seed) : seed;
  const eye =
    plan.kind === "eye"
      ? simulateEye({ seed: drawn, n: plan.people, level: plan.level, censoring: plan.censoring })
      : null;
  const table = eye?.table ?? sources.table;
  if (table === null) throw new Error(`no table for the cohort ${plan.name}`);
  const columns =
    plan.kind === "eye" ? { time: "time", event: "event" } : { time: plan.time, event: plan.event };
  const total = plan.sizes.reduce((sum, size) => sum + size, 0);
  const [train, valid, test] = plan.sizes;
  const fractions = [train / total, valid / total, test / total] as const;
  const exclude = outcomeNames(columns);
  const first = splitByOrder(table.rows, { seed: GROUPS_SEED, fractions });
  return {
    plan,
    table,
    ...columns,
    outcomes: readOutcomes(table, columns),
    split: splitByOrder(table.rows, { seed: drawn, fractions }),
    groups: groupsFromFile({ ...sources.groups, all: true }, table, first.train, { exclude }),
    auditOnly:
      sources.auditOnly === null
        ? []
        : groupsFromFile(sources.auditOnly, table, first.train, { exclude }).filter(
            ({ expression }) => expression !== ALL_GROUP.expression,
          ),
    eye,
  };
}
