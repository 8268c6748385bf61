/**
 * What survival known from outside adds to few local people. Here: people of the simulated eye cohort, with the
 * Kaplan-Meier curves of an independent cohort as targets; the model's curves are scored on fresh people against their
 * true ones. life-table.ts does the same on real people. paper/plans/targets.json is the plan. A run saves a line for
 * each seed and system, and does not repeat lines it finds.
 */
import { type Backend, prepare } from "graduate-survival";
import { isAbsent } from "graduate-survival/core";
import {
  ALL_GROUP,
  type Group,
  parseTargets,
  pickOutcomes,
  resolveGroups,
  splitByOrder,
  type Targets,
} from "graduate-survival/data";
import { type Clash, kaplanMeier, survivalAt, testClash } from "graduate-survival/stats";
import { z } from "zod";
import { type EyeSettings, simulateEye } from "../eye/simulate.ts";
import { keepLastTruth } from "../eye/truth.ts";
import { readCheckout, VERSION } from "../runs/checkout.ts";
import {
  fitModel,
  membersAmong,
  predictTables,
  type TrainRequest,
  timeGridOf,
  trainingSupports,
} from "../runs/fit.ts";
import { createPlanRunner, parseStudyPlan, round, secondsSince } from "./lines.ts";

export const TARGET_SYSTEMS = ["without targets", "with targets", "with targets, slack 1"] as const;
export type TargetSystem = (typeof TARGET_SYSTEMS)[number];
export const TARGET_COHORTS = ["eye", "flchain"] as const;
export type TargetCohort = (typeof TARGET_COHORTS)[number];

const DAYS_PER_YEAR = 365.25;
const seeds = z.strictObject({ from: z.int(), count: z.int().positive() });
const count = z.int().positive();
const systems = z.array(z.enum(TARGET_SYSTEMS));

const planSchema = z.strictObject({
  name: z.string(),
  about: z.string(),
  systems,
  eye: z.strictObject({
    seeds,
    rows: count,
    split: z.tuple([z.number(), z.number(), z.number()]),
    level: z.literal([0, 1, 2]),
    censoring: z.enum(["independent", "dependent", "late"]),
    years: z.array(z.number().positive()),
    /** Expressions. */
    groups: z.array(z.string()),
    registryPeople: count,
    registrySeedOffset: count,
    truthPeople: count,
    truthSeedOffset: count,
  }),
  flchain: z.strictObject({
    seeds,
    rows: count,
    /** Share of the rows. */
    validation: z.number().min(0).max(1),
    table: z.string(),
    drop: z.array(z.string()),
    /** A targets file of the checkout. */
    targets: z.string(),
    systems,
  }),
});
export type TargetsPlan = z.infer<typeof planSchema>;

export interface TargetRun {
  readonly cohort: TargetCohort;
  readonly seed: number;
  readonly system: TargetSystem;
}

/** What every line of paper/targets.jsonl says. */
export interface TargetLineBase extends TargetRun {
  readonly concordance: number;
  /** Of each target against the local rows; with Holm's p-value. */
  readonly clashes: readonly Pick<Clash, "group" | "observed" | "expected" | "p" | "adjusted">[];
  /** Of the fit. */
  readonly seconds: number;
  readonly version: string;
}

export interface EyeTargetLine extends TargetLineBase {
  readonly cohort: "eye";
  /** The largest error A of everyone's and the target groups' mean curves. */
  readonly worstError: number;
  readonly worstGroup: string;
  readonly errors: Readonly<Record<string, number>>;
  /** Mean over the fresh people. */
  readonly ise: number;
  readonly concordanceOfTruth: number;
}

export interface FlchainTargetLine extends TargetLineBase {
  readonly cohort: "flchain";
  readonly ibs: number;
  /** Mean over the bands that have enough events, and everyone's. */
  readonly groupEce: number;
  readonly ece: number;
  readonly groupEces: Readonly<Record<string, number | null>>;
}
export type TargetLine = EyeTargetLine | FlchainTargetLine;

export function parseTargetsPlan(text: string, where: string): TargetsPlan {
  return parseStudyPlan(planSchema, text, where);
}

const PLAN = "paper/plans/targets.json";

/** The committed plan. */
export function readTargetsPlan(): TargetsPlan {
  return parseTargetsPlan(readCheckout(PLAN), PLAN);
}

/** Systems of the same people follow each other. */
export function expandTargetsPlan(plan: TargetsPlan): TargetRun[] {
  return TARGET_COHORTS.flatMap((cohort) => {
    const { seeds: drawn } = plan[cohort];
    const all = cohort === "flchain" ? plan.flchain.systems : plan.systems;
    return Array.from({ length: drawn.count }, (_, k) => drawn.from + k).flatMap((seed) =>
      all.map((system): TargetRun => ({ cohort, seed, system })),
    );
  });
}

export function sameTargetRun(a: TargetRun, b: TargetRun): boolean {
  return a.cohort === b.cohort && a.seed === b.seed && a.system === b.system;
}

export const runTargetsPlan = createPlanRunner<TargetRun, TargetLine>(sameTargetRun);

/** The part of a request that says which targets are held, and how. */
export function targetRequest(system: TargetSystem, targets: Targets): Partial<TrainRequest> {
  if (system === "without targets") return {};
  const allowClash = targets.curves.map(({ group }) => group);
  return { targets, allowClash, targetSlack: system === "with targets" ? "auto" : 1 };
}

export function describeClashes(clashes: readonly Clash[]): TargetLineBase["clashes"] {
  return clashes.map(({ group, observed, expected, p, adjusted }) => {
    const [few, one, all] = [expected, p, adjusted].map((value) => Number(value.toPrecision(4)));
    return { group, observed, expected: few, p: one, adjusted: all };
  });
}

export type RunEye = (run: TargetRun) => Promise<EyeTargetLine>;

/** Runs one line after the other; systems of a seed share their fresh people. */
export function createEyeRunner({ eye: plan }: TargetsPlan, backend: Backend): RunEye {
  const truth = keepLastTruth();
  const groups: Group[] = plan.groups.map((expression) => ({ name: expression, expression }));
  const { level, censoring } = plan;
  return async ({ seed, system }) => {
    const settings: EyeSettings = { seed, n: plan.rows, level, censoring };
    const { table, outcomes } = simulateEye(settings);
    const split = splitByOrder(table.rows, { seed, fractions: plan.split });
    const request: TrainRequest = { time: "time", event: "event", groups, split, seed };
    const { grid } = prepare(table, request);
    const targets = registryTargets(plan, settings, groups, grid.edges[grid.T]);
    const started = performance.now();
    const model = await fitModel(table, { ...request, ...targetRequest(system, targets) }, backend);
    const seconds = secondsSince(started);
    const judged = [ALL_GROUP, ...groups];
    const supports = trainingSupports({ table, outcomes, split, groups: judged }, grid);
    const fresh = { ...settings, seed: seed + plan.truthSeedOffset, n: plan.truthPeople };
    const sample = truth({ settings: fresh, groups: judged, supports, grid: timeGridOf(model) });
    const predict = predictTables(model, backend);
    const scores = await sample.score(async (one) => predict(one));
    const worst = scores.groups.reduce((one, other) => (other.A > one.A ? other : one));
    return {
      cohort: "eye",
      seed,
      system,
      worstError: round(worst.A, 6),
      worstGroup: worst.name,
      errors: Object.fromEntries(scores.groups.map(({ name, A }) => [name, round(A, 6)])),
      ise: round(scores.groups[0].ise, 8),
      concordance: round(scores.concordance, 6),
      concordanceOfTruth: round(scores.concordanceOfTruth, 6),
      clashes: describeClashes(testClash(outcomes, membersAmong(groups, table), targets)),
      seconds,
      version: VERSION,
    };
  };
}

/** Kaplan-Meier and Greenwood's standard errors of an independent cohort, at the years before the horizon. */
export function registryTargets(
  plan: TargetsPlan["eye"],
  settings: EyeSettings,
  groups: readonly Group[],
  horizon: number,
): Targets {
  const registry = simulateEye({
    ...settings,
    seed: settings.seed + plan.registrySeedOffset,
    n: plan.registryPeople,
  });
  const days = plan.years.map((year) => Math.round(year * DAYS_PER_YEAR)).filter((day) => day <= horizon);
  const lines = resolveGroups([ALL_GROUP, ...groups], registry.table).flatMap(({ name, rows }) => {
    const curve = kaplanMeier(pickOutcomes(registry.outcomes, rows));
    return days.flatMap((day) => {
      const { survival, standardError } = survivalAt(curve, day);
      if (isAbsent(survival) || isAbsent(standardError)) return [];
      return [`"${name}",${day},${survival},${standardError}`];
    });
  });
  return parseTargets(["group,time,survival,se", ...lines].join("\n"), { name: "the registry" });
}
