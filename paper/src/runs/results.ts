/**
 * Results as JSON lines: first the plan they belong to, then, once per cohort, the names of its groups, and one line
 * per run. Scores are lists in the order of those groups (everyone first, the audit-only ones last), with 6 significant
 * digits; p-values and noise floors have 4. Total scores are not stored: they are the harmonic mean of C and 1 − ECE. A
 * failed run is a line with its reason; a later line of the same run replaces it. The caller handles files.
 */

import { FormatError } from "graduate-survival/core";
import { HEAD_START, type LineForm, parseHead, parseLines } from "graduate-survival/node";
import type { Scores } from "graduate-survival/stats";
import type { Model } from "graduate-survival/training";
import { z } from "zod";
import type { TruthScores as ComputedTruth } from "../eye/truth.ts";
import { lineKey, type Plan, planContent, SYSTEM_NAMES } from "./plan.ts";

const value = z.number().nullable();
const values = z.array(value);

const scoresSchema = z.strictObject({
  n: z.array(z.int()),
  events: z.array(z.int()),
  /** Bins with at least ten test rows at risk. */
  support: z.array(z.int()),
  /** The paper's C-index. */
  concordance: values,
  ece: values,
  supportedEce: values,
  ibs: values,
  /** p against the mean curve, and against each row's own curve. */
  logrank: values,
  individual: values,
  /** ECE of a perfect model: mean and 95 % point; and the rank of this ECE. */
  floor: values,
  critical: values,
  floorP: values,
});

const truthSchema = z.strictObject({
  A: values,
  B: values,
  ise: values,
  concordance: value,
  concordanceOfTruth: value,
});

const trainingSchema = z.strictObject({
  parameters: z.int(),
  steps: z.int(),
  bestStep: z.int(),
  /** One letter per constrained group: y met, n not met, - only reported. */
  met: z.string(),
  multipliers: z
    .strictObject({ start: z.union([z.number(), z.array(z.number())]), end: z.array(z.number()) })
    .nullable(),
  boostRounds: z.int().nullable(),
});

const runSchema = z.strictObject({
  run: z.strictObject({ plan: z.string(), cohort: z.string(), system: z.enum(SYSTEM_NAMES), seed: z.int() }),
  version: z.string(),
  rows: z.tuple([z.int(), z.int(), z.int()]),
  /** Null for systems that `train` did not make. */
  training: trainingSchema.nullable(),
  scores: scoresSchema,
  truth: truthSchema.nullable(),
  /** Where networks were trained; the processor (wasm) unless it says so. */
  backend: z.literal("webgpu").exactOptional(),
  /** CPU seconds of fitting and of scoring: the only numbers that differ when a run is repeated. */
  seconds: z.strictObject({ fit: z.number(), score: z.number() }),
});

const failureSchema = z.strictObject({ run: runSchema.shape.run, version: z.string(), failure: z.string() });
const planLineSchema = z.strictObject({
  reproduce: z.literal(1),
  plan: z.looseObject({ name: z.string() }),
});
const cohortSchema = z.strictObject({
  plan: z.string(),
  cohort: z.string(),
  groups: z.array(z.string()),
  auditOnly: z.array(z.string()),
});

export type GroupScores = Readonly<z.infer<typeof scoresSchema>>;
export type TruthScores = Readonly<z.infer<typeof truthSchema>>;
export type TrainingSummary = Readonly<z.infer<typeof trainingSchema>>;
export type RunResult = Readonly<z.infer<typeof runSchema>>;
export type RunFailure = Readonly<z.infer<typeof failureSchema>>;
export type CohortNames = Readonly<z.infer<typeof cohortSchema>>;

/** The results of one plan. */
export interface Results {
  /** The contents of the plan line. */
  readonly content: unknown;
  readonly cohorts: ReadonlyMap<string, CohortNames>;
  /** By lineKey. */
  readonly runs: ReadonlyMap<string, RunResult>;
  readonly failures: ReadonlyMap<string, RunFailure>;
}

export function planLine(plan: Plan): string {
  return JSON.stringify({ reproduce: 1, plan: planContent(plan) });
}

interface Collected extends Results {
  readonly cohorts: Map<string, CohortNames>;
  readonly runs: Map<string, RunResult>;
  readonly failures: Map<string, RunFailure>;
}

/** Lines of any number of plans, by the plan's name; `where` names the file. */
export function parseResults(text: string, where: string): ReadonlyMap<string, Results> {
  return collectResults(parseLines(text.endsWith("\n") ? text : `${text}\n`, where, RESULT_LINES), where);
}

export function collectResults(lines: readonly ResultLine[], where: string): ReadonlyMap<string, Results> {
  const plans = new Map<string, Collected>();
  lines.forEach((parsed, k) => {
    const place = `${where}, line ${k + 1}`;
    if (parsed.kind === "shard") return;
    if (parsed.kind === "plan") {
      const { plan } = parsed.line;
      const before = plans.get(plan.name);
      if (before !== undefined && !isSame(before.content, plan))
        throw refuseMixed(`plan "${plan.name}"`, place);
      if (before === undefined) {
        plans.set(plan.name, { content: plan, cohorts: new Map(), runs: new Map(), failures: new Map() });
      }
      return;
    }
    const results = plans.get(parsed.kind === "cohort" ? parsed.line.plan : parsed.line.run.plan);
    if (results === undefined) throw refuseLine(place);
    collect(results, parsed, place);
  });
  return plans;
}

function collect(
  results: Collected,
  parsed: Exclude<ResultLine, { kind: "plan" | "shard" }>,
  place: string,
): void {
  const { cohorts, runs, failures } = results;
  if (parsed.kind === "cohort") {
    const { cohort } = parsed.line;
    const before = cohorts.get(cohort);
    if (before !== undefined && !isSame(before, parsed.line))
      throw refuseMixed(`groups of the cohort "${cohort}"`, place);
    cohorts.set(cohort, parsed.line);
    return;
  }
  const key = lineKey(parsed.line.run);
  if (parsed.kind === "run") {
    runs.set(key, parsed.line);
    failures.delete(key);
  } else if (!runs.has(key)) failures.set(key, parsed.line);
}

/** Refuses results that were made under other settings than the plan's. */
export function requireSamePlan(results: Results | undefined, plan: Plan, where: string): void {
  if (results === undefined || isSame(results.content, JSON.parse(JSON.stringify(planContent(plan))))) return;
  throw new FormatError(`the results are of another form of the plan "${plan.name}"`, {
    code: "results.plan",
    where,
    hint: "name another file (--out), or delete this one to begin anew",
  });
}

export type ResultLine =
  | { readonly kind: "plan"; readonly line: z.infer<typeof planLineSchema> }
  | { readonly kind: "cohort"; readonly line: CohortNames }
  | { readonly kind: "run"; readonly line: RunResult }
  | { readonly kind: "failure"; readonly line: RunFailure }
  | { readonly kind: "shard" };

/** The kinds of lines in a results file: the plan, the groups of a cohort, a run, a failed run, a shard's head. */
export const RESULT_LINES: LineForm<ResultLine> = {
  of: "reproduce",
  code: "results.line",
  option: "--out",
  starts: ['{"reproduce":1,', '{"plan":"', '{"run":{', HEAD_START],
  parse: parseLine,
};

function parseLine(json: unknown): ResultLine | null {
  const plan = planLineSchema.safeParse(json);
  if (plan.success) return { kind: "plan", line: plan.data };
  const run = runSchema.safeParse(json);
  if (run.success) return { kind: "run", line: run.data };
  const cohort = cohortSchema.safeParse(json);
  if (cohort.success) return { kind: "cohort", line: cohort.data };
  const failure = failureSchema.safeParse(json);
  if (failure.success) return { kind: "failure", line: failure.data };
  return parseHead(json) === null ? null : { kind: "shard" };
}

/** Keys in a fixed order, so that two objects with the same content have the same text. */
function canonical(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(canonical);
  if (json === null || typeof json !== "object") return json;
  const entries = Object.entries(json).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, canonical(inner)]));
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(canonical(a)) === JSON.stringify(canonical(b));
}

const SCORE_DIGITS = 6;
const CHANCE_DIGITS = 4;
/** Errors on 200,000 people are known to two or three digits. */
const TRUTH_DIGITS = 5;

export function roundTo(digits: number, number: number | null | undefined): number | null {
  return number === null || number === undefined || !Number.isFinite(number)
    ? null
    : Number(number.toPrecision(digits));
}

/** Everyone's scores and the groups', as lists. */
export function summariseScores(all: readonly Scores[]): GroupScores {
  const score = (read: (one: Scores) => number | null | undefined) =>
    all.map((one) => roundTo(SCORE_DIGITS, read(one)));
  const chance = (read: (one: Scores) => number | null | undefined) =>
    all.map((one) => roundTo(CHANCE_DIGITS, read(one)));
  return {
    n: all.map(({ n }) => n),
    events: all.map(({ events }) => events),
    support: all.map(({ supported }) => supported.bins),
    concordance: score((one) => one.concordance),
    ece: score((one) => one.paper.ece),
    supportedEce: score((one) => one.ece),
    ibs: score((one) => one.ibs),
    logrank: chance((one) => one.logrank.p),
    individual: chance((one) => one.logrankIndividual.p),
    floor: chance((one) => one.paper.noiseFloor?.ece),
    critical: chance((one) => one.paper.noiseFloor?.eceCritical),
    floorP: chance((one) => one.paper.noiseFloor?.p),
  };
}

/** One letter a group. */
const MET_MARKS = { met: "y", unmet: "n", infeasible: "n", unsupported: "-" } as const;

export function summariseTraining(training: Model["training"], boostRounds: number | null): TrainingSummary {
  const { parameters, steps, bestStep, verdict, multipliers } = training;
  const short = (list: readonly number[]) => list.map((one) => Number(one.toPrecision(CHANCE_DIGITS)));
  return {
    parameters,
    steps,
    bestStep,
    met: verdict.map(({ status }) => MET_MARKS[status]).join(""),
    multipliers:
      multipliers === null || multipliers.end.length === 0
        ? null
        : { start: shortenStart(short(multipliers.start)), end: short(multipliers.end) },
    boostRounds,
  };
}

/** One number where all groups start at the same value. */
function shortenStart(start: readonly number[]): number | number[] {
  return start.every((one) => one === start[0]) ? start[0] : [...start];
}

export function summariseTruth({ groups, concordance, concordanceOfTruth }: ComputedTruth): TruthScores {
  const errors = (read: (one: ComputedTruth["groups"][number]) => number) =>
    groups.map((one) => roundTo(TRUTH_DIGITS, read(one)));
  return {
    A: errors(({ A }) => A),
    B: errors(({ B }) => B),
    ise: errors(({ ise }) => ise),
    concordance: roundTo(SCORE_DIGITS, concordance),
    concordanceOfTruth: roundTo(SCORE_DIGITS, concordanceOfTruth),
  };
}

function refuseLine(where: string): FormatError {
  return new FormatError("not a results file of reproduce", {
    code: "results.line",
    where,
    hint: "name another file (--out), or delete this one",
  });
}

function refuseMixed(what: string, where: string): FormatError {
  return new FormatError(`two different descriptions of the ${what} in one results file`, {
    code: "results.mixed",
    where,
    hint: "results of different plans or versions cannot stand in one file",
  });
}
