/**
 * The plan of the study of late entry, changing covariates and weights, its runs and its lines. A line of simulated
 * people has the true error of every group and the ISE; one of a public table has the scores of its test rows.
 * paper/plans/follow.json is the plan, paper/follow.jsonl has the lines.
 */
import { z } from "zod";
import { readCheckout } from "../runs/checkout.ts";
import { createPlanRunner, parseStudyPlan } from "../studies/lines.ts";
import type { SplitSizes } from "../summaries/paired.ts";

export const FOLLOW_SYSTEMS = [
  "graduate",
  "without groups",
  "start",
  "cox",
  "cox with group terms",
  "cox without weights",
] as const;
export type FollowSystem = (typeof FOLLOW_SYSTEMS)[number];

const share = z.number().positive().max(1);
const seeds = z.strictObject({ from: z.int(), count: z.int().positive() });
const systems = z.array(z.enum(FOLLOW_SYSTEMS)).min(1);
const tableSchema = z.strictObject({
  name: z.string(),
  about: z.string(),
  /** What the rows have beyond time and event. */
  rows: z.enum(["start-stop", "entry", "weights"]),
  groups: z.array(z.string()).min(1),
  /** Systems of this table alone. */
  also: systems.optional(),
});
const planSchema = z.strictObject({
  name: z.string(),
  about: z.string(),
  split: z.tuple([share, share, share]),
  /** Equal bins, up to the horizon, on which observed and expected events are counted. */
  bins: z.int().positive(),
  /** Intervals within which the likelihood takes hazards as constant, at most. */
  intervals: z.int().positive(),
  /** Over the horizon: the least rate that an interval counts as. */
  leastRate: z.number().positive(),
  law: z.strictObject({
    seeds,
    systems,
    people: z.int().positive(),
    truthPeople: z.int().positive(),
    truthSeedOffset: z.int().positive(),
    /** Times at which fresh people are scored, in months. */
    times: z.strictObject({ step: z.number().positive(), count: z.int().positive() }),
  }),
  tables: z.strictObject({ seeds, systems, tables: z.array(tableSchema) }),
});
export type FollowPlan = z.infer<typeof planSchema>;
export type FollowTable = z.infer<typeof tableSchema>;

/** The simulated people, or a public table by its name. */
export interface FollowRun {
  readonly part: string;
  readonly seed: number;
  readonly system: FollowSystem;
}
/** The part of the simulated people. */
export const LAW_PART = "law";

interface FollowLineOf<Kind extends string> extends FollowRun {
  readonly kind: Kind;
  /** Of the fit and the prediction. */
  readonly seconds: number;
  readonly version: string;
}

/** Of simulated people. */
export interface FollowLawLine extends FollowLineOf<"law"> {
  /** The true error, group by group, everyone under "all". */
  readonly errors: Readonly<Record<string, number>>;
  readonly ise: number;
}

/** Observed and expected events of a group, and V of the individual logrank. */
export interface GroupEvents {
  readonly observed: number;
  readonly expected: number;
  readonly variance: number;
}

/** Of a public table's test rows. */
export interface FollowTableLine extends FollowLineOf<"table"> {
  /** People, where rows have an id. */
  readonly people: SplitSizes;
  readonly events: number;
  readonly concordance: number;
  /** Log likelihood per event. */
  readonly likelihood: number;
  /** Everyone under "all". */
  readonly groups: Readonly<Record<string, GroupEvents>>;
}

export type FollowLine = FollowLawLine | FollowTableLine;

export function readFollowPlan(): FollowPlan {
  const path = "paper/plans/follow.json";
  return parseStudyPlan(planSchema, readCheckout(path), path);
}

export function systemsOf(plan: FollowPlan, { also = [] }: FollowTable): readonly FollowSystem[] {
  return [...plan.tables.systems, ...also];
}

/** Seed by seed, the tables first, so that whatever is done is balanced. */
export function expandFollowPlan(plan: FollowPlan): FollowRun[] {
  const { law, tables } = plan;
  const parts = [
    ...tables.tables.map((table) => ({
      part: table.name,
      seeds: tables.seeds,
      systems: systemsOf(plan, table),
    })),
    { part: LAW_PART, seeds: law.seeds, systems: law.systems },
  ];
  const runs = parts.flatMap(({ part, seeds: { from, count }, systems }) =>
    Array.from({ length: count }, (_, k) =>
      systems.map((system): FollowRun => ({ part, seed: from + k, system })),
    ).flat(),
  );
  return runs.sort((a, b) => a.seed - b.seed);
}

export const runFollowPlan = createPlanRunner<FollowRun, FollowLine>(
  (line, run) => line.part === run.part && line.seed === run.seed && line.system === run.system,
);
