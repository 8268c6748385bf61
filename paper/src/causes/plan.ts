/**
 * The plan of the study of competing causes, its runs and its lines. A line of parts A and B has the true error of
 * every group and cause and the ISE of every cause; one of a public table has the integrated Brier score and the
 * calibration of every cause. paper/plans/causes.json is the plan, paper/causes.jsonl has the lines.
 */
import { z } from "zod";
import { readCheckout } from "../runs/checkout.ts";
import { createPlanRunner, parseStudyPlan } from "../studies/lines.ts";

export const CAUSE_SYSTEMS = [
  "graduate",
  "without groups",
  "start",
  "cox",
  "cox with group terms",
  "fine-gray",
  "survivalboost",
  "forest",
] as const;
export type CauseSystem = (typeof CAUSE_SYSTEMS)[number];

const share = z.number().positive().max(1);
const seeds = z.strictObject({ from: z.int(), count: z.int().positive() });
const systems = z.array(z.enum(CAUSE_SYSTEMS)).min(1);
const partSchema = z.strictObject({ part: z.enum(["A", "B"]), late: z.boolean(), seeds, systems });
const tableSchema = z.strictObject({
  name: z.string(),
  about: z.string(),
  /** Values of the column `event`; "censored" is the other one. */
  causes: z.array(z.string()).min(2),
  /** Scores go from 0 to here, in the table's own unit. */
  horizon: z.number().positive(),
  groups: z.array(z.string()),
});
const planSchema = z.strictObject({
  name: z.string(),
  about: z.string(),
  split: z.tuple([share, share, share]),
  people: z.int().positive(),
  truthPeople: z.int().positive(),
  truthSeedOffset: z.int().positive(),
  /** Times at which simulated people are scored, in months. */
  times: z.strictObject({ step: z.number().positive(), count: z.int().positive() }),
  parts: z.array(partSchema),
  tables: z.strictObject({
    seeds,
    systems,
    /** How many equal steps there are from 0 to a table's horizon. */
    times: z.int().positive(),
    tables: z.array(tableSchema),
  }),
});
export type CausesPlan = z.infer<typeof planSchema>;
export type CauseTable = z.infer<typeof tableSchema>;

/** A part of the plan, "A" or "B", or the name of a public table. */
export interface CauseRun {
  readonly part: string;
  readonly seed: number;
  readonly system: CauseSystem;
}

interface CauseLineOf<Kind extends string> extends CauseRun {
  readonly kind: Kind;
  /** Of the fit and the prediction. */
  readonly seconds: number;
  readonly version: string;
}

/** Of simulated people. */
export interface LawLine extends CauseLineOf<"law"> {
  /** The true error of each cause, group by group. */
  readonly errors: Readonly<Record<string, readonly number[]>>; // [K]
  readonly ise: readonly number[]; // [K]
}

/** Of a public table's test rows. */
export interface TableLine extends CauseLineOf<"table"> {
  readonly rows: { readonly learnt: number; readonly test: number };
  readonly brier: readonly number[]; // [K]
  /** The mean over groups, everyone among them, of the gap to Aalen-Johansen. */
  readonly gap: readonly number[]; // [K]
}

export type CauseLine = LawLine | TableLine;

export function readCausesPlan(): CausesPlan {
  const path = "paper/plans/causes.json";
  return parseStudyPlan(planSchema, readCheckout(path), path);
}

function expand(part: string, plan: Pick<CausesPlan["parts"][number], "seeds" | "systems">): CauseRun[] {
  const own = Array.from({ length: plan.seeds.count }, (_, k) => plan.seeds.from + k);
  return own.flatMap((seed) => plan.systems.map((system) => ({ part, seed, system })));
}

/** Part after part, and in each seed after seed, so that whatever is done is balanced. */
export function expandCausesPlan({ parts, tables }: CausesPlan): CauseRun[] {
  const [seedsOf, systemsOf] = [tables.seeds, tables.systems];
  return [
    ...parts.flatMap((one) => expand(one.part, one)),
    ...tables.tables.flatMap(({ name }) => expand(name, { seeds: seedsOf, systems: systemsOf })),
  ];
}

export const runCausesPlan = createPlanRunner<CauseRun, CauseLine>(
  (line, run) => line.part === run.part && line.seed === run.seed && line.system === run.system,
);
