/**
 * An experiment as a JSON file: cohorts, systems and seeds, and what a repeat repeats. A plan is expanded to lines, one
 * per run; a run is a pure function of its line and of the plan's settings. There are three kinds of repeats (method
 * §9):
 *   splits           the seed draws the split and the weights; splits share rows, tests are the corrected resampled t
 *   cohorts          the seed draws simulated people, split and weights; repeats are independent
 *   initialisations  one split, as in the paper; the seed draws the weights only, and tests are conditional on that
 *                    test set
 * Nothing is read from disk here; paths in a plan are relative to the package.
 */

import { FormatError, InputError } from "graduate-survival/core";
import { MAX_BINS } from "graduate-survival/data";
import { explainIssue } from "graduate-survival/files";
import { z } from "zod";

export const SYSTEM_NAMES = [
  "cox",
  "cox with group terms",
  "drsa",
  "drsa kept by loss",
  "drsa without tail",
  "drsa without tail kept by concordance",
  "xcal",
  "xcal kept by loss",
  "mcboost",
  "mcboost reference",
  "rps",
  "rps kept by loss",
  "drsa kept by constraints",
  "drsa without tail kept by constraints",
  "graduate l2",
  "graduate l2 kept by concordance",
  "graduate l2 without tail",
  "graduate l2 without tail kept by concordance",
  "graduate variance",
  "graduate",
  "five graduates",
  "graduate with splines",
  "five with splines",
  "cox of all rows",
  "placebo groups",
  "all only",
  "no multipliers",
  "generator",
] as const;
export type SystemName = (typeof SYSTEM_NAMES)[number];

/** Only in the `default` preset: each differs from it in one thing. */
const DEFAULT_PRESET_ONLY: readonly SystemName[] = [
  "drsa kept by loss",
  "drsa without tail kept by concordance",
  "xcal kept by loss",
  "rps kept by loss",
  "graduate",
  "five graduates",
  "graduate with splines",
  "five with splines",
  "placebo groups",
  "all only",
  "no multipliers",
];

/**
 * What lies between DRSA and GRADUATE (L²), one switch at a time: the loss, and which weights are kept. Only in the
 * `paper` preset, and on no page of the paper's tables (method.page.ts has them).
 */
export const SWITCHED: readonly SystemName[] = [
  "drsa kept by constraints",
  "drsa without tail kept by constraints",
  "graduate l2 kept by concordance",
  "graduate l2 without tail",
  "graduate l2 without tail kept by concordance",
];

/** People, real or simulated; the limit exceeds any table here and what fits in memory. */
const people = z.int().min(1).max(10_000_000);
const seedNumber = z.int().min(0).max(0xffffffff);
/** Runs of a plan, each taking minutes: a plan that asks for more must be a mistake. */
const MAX_RUNS = 100_000;

const shared = {
  name: z.string().min(1),
  /** Groups file. */
  groups: z.string().min(1),
  /** Training, validation and test rows, or numbers in that ratio. */
  sizes: z.tuple([people, people, people]),
  /** The paper's c of the L2 constraint, chosen on its own validation rows. */
  paperSlack: z.number().positive(),
};

const tableCohort = z.strictObject({
  ...shared,
  kind: z.literal("table"),
  table: z.string().min(1),
  time: z.string().min(1),
  event: z.string().min(1),
  /** In this order; by default all columns but `drop`. */
  features: z.array(z.string()).exactOptional(),
  drop: z.array(z.string()).default([]),
  /** Columns of numbers that stand for categories. */
  category: z.array(z.string()).default([]),
  allowLeak: z.array(z.string()).default([]),
});

const eyeCohort = z.strictObject({
  ...shared,
  kind: z.literal("eye"),
  people,
  level: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  censoring: z.enum(["independent", "dependent", "late"]),
  /** Groups file of groups that no system is told of. */
  auditOnly: z.string().min(1),
});

const partSchema = z.strictObject({
  cohorts: z.array(z.string()).min(1),
  systems: z.array(z.enum(SYSTEM_NAMES)).min(1),
  /** The first seed and the number of seeds. */
  seeds: z.strictObject({ from: seedNumber, count: z.int().min(1).max(MAX_RUNS) }),
});

const settingsSchema = {
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  preset: z.enum(["default", "paper"]),
  repeats: z.enum(["splits", "cohorts", "initialisations"]),
  /** Seed of the one split, and of the simulated people, where initialisations repeat. */
  split: seedNumber.exactOptional(),
  /** Draws of the noise floor. */
  draws: z.int().min(0).max(1_000_000),
  /** Time bins and training steps that differ from the preset's, for trials. */
  bins: z.int().min(1).max(MAX_BINS).exactOptional(),
  steps: z.int().min(1).max(10_000_000).exactOptional(),
  /** Steps between evaluations, and updates per dual step, where they differ from the preset's. */
  evaluateEvery: z.int().min(1).exactOptional(),
  primalSteps: z.int().min(1).exactOptional(),
  /** Number of fresh people on whom systems of simulated cohorts are compared with the truth. */
  truthPeople: people.exactOptional(),
};

const planSchema = z.strictObject({
  ...settingsSchema,
  about: z.string().min(1),
  cohorts: z.array(z.discriminatedUnion("kind", [tableCohort, eyeCohort])).min(1),
  parts: z.array(partSchema).min(1),
});

export type Plan = Readonly<z.infer<typeof planSchema>>;
export type TableCohort = Readonly<z.infer<typeof tableCohort>>;
export type EyeCohortPlan = Readonly<z.infer<typeof eyeCohort>>;
export type CohortPlan = TableCohort | EyeCohortPlan;

/** One run. */
export interface RunLine {
  readonly plan: string;
  readonly cohort: string;
  readonly system: SystemName;
  readonly seed: number;
}

/** Reads and checks a plan file. */
export function parsePlan(text: string, fileName: string): Plan {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's message quotes the file, which may be any file.
    throw refusePlan(fileName, "the file is not JSON");
  }
  const result = planSchema.safeParse(json);
  if (!result.success) {
    throw refusePlan(fileName, explainIssue(result.error));
  }
  const problem = findContradiction(result.data);
  if (problem !== null) throw refusePlan(fileName, problem);
  return result.data;
}

function findContradiction(plan: Plan): string | null {
  const names = plan.cohorts.map(({ name }) => name);
  const twice = names.find((name, k) => names.indexOf(name) !== k);
  if (twice !== undefined) return `two cohorts of one name: "${twice}"`;
  if ((plan.repeats === "initialisations") !== (plan.split !== undefined)) {
    return 'the seed of the one split ("split") belongs to repeats of initialisations, and to no others';
  }
  for (const { name, kind } of plan.cohorts) {
    if (kind === "eye" && plan.truthPeople === undefined)
      return `"${name}" is simulated: "truthPeople" says on how many people its truth is scored`;
    if (kind === "table" && plan.repeats === "cohorts")
      return `"${name}" cannot be drawn anew: it is a table`;
    if (kind === "eye" && plan.repeats === "splits")
      return `"${name}" is simulated: repeat over "cohorts", which draws people and split anew`;
  }
  for (const part of plan.parts) {
    const unknown = part.cohorts.find((name) => !names.includes(name));
    if (unknown !== undefined) return `no such cohort: "${unknown}" (have ${names.join(", ")})`;
    for (const system of part.systems) {
      if (plan.preset === "paper" && DEFAULT_PRESET_ONLY.includes(system))
        return `"${system}" is of the default preset`;
      if (plan.preset === "default" && SWITCHED.includes(system))
        return `"${system}" is of the paper's preset`;
      const table = part.cohorts.find((name) =>
        plan.cohorts.some((one) => one.name === name && one.kind === "table"),
      );
      if (system === "generator" && table !== undefined)
        return `"generator" is for simulated cohorts, and "${table}" is a table`;
    }
  }
  const runs = plan.parts.reduce(
    (sum, { cohorts, systems, seeds }) => sum + cohorts.length * systems.length * seeds.count,
    0,
  );
  if (runs > MAX_RUNS) return `${runs} runs, and at most ${MAX_RUNS} can be planned`;
  const lines = expandPlan(plan).map(lineKey);
  return new Set(lines).size < lines.length ? "two parts have the same run" : null;
}

/** Every run, cohort by cohort and seed by seed, so that the systems of a seed are adjacent. */
export function expandPlan(plan: Plan): RunLine[] {
  return plan.parts.flatMap(({ cohorts, systems, seeds }) =>
    cohorts.flatMap((cohort) =>
      Array.from({ length: seeds.count }, (_, k) => seeds.from + k).flatMap((seed) =>
        systems.map((system) => ({ plan: plan.name, cohort, system, seed })),
      ),
    ),
  );
}

/** What distinguishes a run from the others of its plan. */
export function lineKey({ cohort, system, seed }: Pick<RunLine, "cohort" | "system" | "seed">): string {
  return JSON.stringify([cohort, system, seed]);
}

export interface Subset {
  readonly cohorts?: readonly string[];
  readonly systems?: readonly string[];
  readonly seeds?: readonly number[];
}

/** The requested runs of the plan. */
export function selectLines(plan: Plan, subset: Subset): RunLine[] {
  const lines = expandPlan(plan);
  const refuse = <Value>(what: string, asked: readonly Value[] | undefined, have: readonly Value[]) => {
    const unknown = asked?.find((value) => !have.includes(value));
    if (unknown === undefined) return;
    const list = [...new Set(have)].join(", ");
    throw new InputError(`the plan "${plan.name}" has no such ${what}: ${String(unknown)} (have ${list})`, {
      code: "plan.subset",
    });
  };
  const { cohorts, systems, seeds } = subset;
  refuse(
    "cohort",
    cohorts,
    lines.map((line) => line.cohort),
  );
  refuse<string>(
    "system",
    systems,
    lines.map((line) => line.system),
  );
  refuse(
    "seed",
    seeds,
    lines.map((line) => line.seed),
  );
  return lines.filter(
    (line) =>
      (cohorts?.includes(line.cohort) ?? true) &&
      (systems?.includes(line.system) ?? true) &&
      (seeds?.includes(line.seed) ?? true),
  );
}

/** The part of a plan that decides what a line means; it does not include which runs there are. */
export function planContent(plan: Plan): unknown {
  const { parts: _, about: __, ...content } = plan;
  return content;
}

function refusePlan(where: string, reason: string): FormatError {
  return new FormatError(`plan: ${reason}`, {
    code: "plan",
    where,
    hint: "paper/plans has plans that work",
  });
}
