/**
 * Does holding a model to its groups make it truer of them? People of the simulated eye cohort, whose true curves are
 * known; the default run beside what it is made of: the starts, the trained networks without the solve, Cox, and
 * controls that name no groups or groups of random members (binding-systems.ts). Each is scored on fresh people by the
 * error A of group means (eye/truth.ts). paper/plans/binding.json is the plan. A run saves a line for each seed, size
 * and system and does not repeat lines it finds. The parts of a few lines are in binding-parts.ts.
 */
import type { Backend } from "graduate-survival";
import { InputError } from "graduate-survival/core";
import { ALL_GROUP, type Group, groupsFromFile, parseGroupsFile, splitByOrder } from "graduate-survival/data";
import { z } from "zod";
import { type EyeCohort, type EyeSettings, simulateEye } from "../eye/simulate.ts";
import { keepLastTruth, type TruthScores } from "../eye/truth.ts";
import { readCheckout, VERSION } from "../runs/checkout.ts";
import { trainingSupports } from "../runs/fit.ts";
import {
  BINDING_SYSTEMS,
  type BindingOptions,
  type BindingPeople,
  type BindingSystem,
  type FittedBinding,
  fitBindingSystem,
  isSplineCox,
  type SplineCoxSystem,
  splineCoxRequest,
} from "./binding-systems.ts";
import { countLost, openStrata, type StrataCounts } from "./cox-strata.ts";
import { createPlanRunner, parseStudyPlan, round, secondsSince } from "./lines.ts";

const share = z.number().positive().max(1);
const systems = z.array(z.enum(BINDING_SYSTEMS));

const planSchema = z.strictObject({
  name: z.string(),
  about: z.string(),
  seeds: z.strictObject({ from: z.int(), count: z.int().positive() }),
  sizes: z.array(z.strictObject({ rows: z.int().positive(), systems })),
  /** Other seeds, with these groups told and no other; "stratified by three" makes its strata of them everywhere. */
  three: z.strictObject({
    seeds: z.strictObject({ from: z.int(), count: z.int().positive() }),
    rows: z.int().positive(),
    told: z.array(z.string()).length(3),
    systems,
  }),
  /** A stratified model is scored where at most this share of fresh people is in no stratum with an event. */
  lostAtMost: share,
  split: z.tuple([share, share, share]),
  level: z.literal([0, 1, 2]),
  censoring: z.enum(["independent", "dependent", "late"]),
  /** A file of the checkout, and those of its groups that are told. */
  groups: z.string(),
  told: z.array(z.string()),
  truthPeople: z.int().positive(),
  truthSeedOffset: z.int().positive(),
});
export type BindingPlan = z.infer<typeof planSchema>;

export interface BindingRun {
  /** The plan's sizes, or its three groups. */
  readonly part: "systems" | "three";
  readonly seed: number;
  readonly rows: number;
  readonly system: BindingSystem;
}

/** True errors A of group means on fresh people, and the scores of everyone among them. */
export interface BindingScores {
  readonly everyoneError: number;
  /** Over the groups told, without everyone. */
  readonly worstError: number;
  readonly worstGroup: string;
  readonly meanError: number;
  /** Mean over the fresh people. */
  readonly ise: number;
  readonly concordance: number;
  readonly concordanceOfTruth: number;
}

/** What a run says of its own groups and of its solve; null where there was none. */
export interface BindingVerdict {
  readonly met: number;
  /** Groups with support enough to be held, with everyone. */
  readonly held: number;
  /** The largest of the residuals of the solve. */
  readonly residual: number | null;
  readonly iterations: number | null;
  /** Share of the trained network in the mixture: 0 keeps the start. */
  readonly share: number | null;
}

/** A line of a system that leaves too many people in strata without events to be scored. */
export interface AbsentLine extends BindingRun, StrataCounts {
  readonly absent: true;
  readonly version: string;
}

/** A line of paper/binding.jsonl. */
export interface BindingLine extends BindingRun, BindingScores, BindingVerdict, Partial<StrataCounts> {
  /** A of every group. */
  readonly errors: Readonly<Record<string, number>>;
  /** Of the fit; and of its end, in which the mixture is chosen and the layer solved. */
  readonly seconds: number;
  readonly endSeconds: number | null;
  readonly scoringSeconds: number;
  readonly version: string;
}

export function parseBindingPlan(text: string, where: string): BindingPlan {
  return parseStudyPlan(planSchema, text, where);
}

/** The committed plan. */
export function readBindingPlan(): BindingPlan {
  const path = "paper/plans/binding.json";
  return parseBindingPlan(readCheckout(path), path);
}

/** Seed after seed, each with every size and system, so that whatever is done is balanced; the three groups last. */
export function expandBindingPlan({ seeds, sizes, three }: BindingPlan): BindingRun[] {
  const listSeeds = ({ from, count }: BindingPlan["seeds"]) =>
    Array.from({ length: count }, (_, k) => from + k);
  return [
    ...listSeeds(seeds).flatMap((seed) =>
      sizes.flatMap(({ rows, systems: names }) =>
        names.map((system): BindingRun => ({ part: "systems", seed, rows, system })),
      ),
    ),
    ...listSeeds(three.seeds).flatMap((seed) =>
      three.systems.map((system): BindingRun => ({ part: "three", seed, rows: three.rows, system })),
    ),
  ];
}

export function sameBindingRun(a: BindingRun, b: BindingRun): boolean {
  return a.part === b.part && a.seed === b.seed && a.rows === b.rows && a.system === b.system;
}

/** Runs one line after the other; people and fresh people are kept for the next. */
export type RunBinding = (run: BindingRun) => Promise<BindingLine | AbsentLine>;

export function createBindingRunner(
  plan: BindingPlan,
  backend: Backend,
  options: BindingOptions = {},
): RunBinding {
  const truth = keepLastTruth();
  let kept: { readonly run: Omit<BindingRun, "system">; readonly people: BindingPeople } | null = null;
  return async (run) => {
    const { part, seed, rows, system } = run;
    if (kept?.run.seed !== seed || kept.run.rows !== rows || kept.run.part !== part)
      kept = { run, people: openPeople(plan, run) };
    const { people } = kept;
    const settings = { ...people.settings, seed: seed + plan.truthSeedOffset, n: plan.truthPeople };
    const counts = isSplineCox(system) ? countStrata(people, system, settings) : null;
    if (counts !== null && counts.lost > plan.lostAtMost * plan.truthPeople)
      return { ...run, absent: true, ...counts, version: VERSION };
    const started = performance.now();
    const fitted = await fitBindingSystem(system, people, options, backend);
    const seconds = secondsSince(started);
    const scoringStarted = performance.now();
    const { grid, predictCurves } = fitted;
    const supports = trainingSupports(people, grid);
    const scores = await truth({ settings, groups: people.groups, supports, grid }).score(predictCurves);
    return {
      ...run,
      ...readBindingScores(scores),
      ...readBindingVerdict(fitted),
      errors: Object.fromEntries(scores.groups.map(({ name, A }) => [name, round(A, 6)])),
      seconds,
      endSeconds: fitted.endSeconds,
      scoringSeconds: secondsSince(scoringStarted),
      ...counts,
      version: VERSION,
    };
  };
}

/** The parts of a few lines are in the same file. */
export const runBindingPlan = createPlanRunner<BindingRun, BindingLine | AbsentLine>(sameBindingRun);

/** How many of the fresh people are in no stratum with an event. */
function countStrata(people: BindingPeople, system: SplineCoxSystem, settings: EyeSettings): StrataCounts {
  return countLost(openStrata(splineCoxRequest(system, people)), simulateEye(settings).table);
}

function openPeople(plan: BindingPlan, { part, seed, rows }: Omit<BindingRun, "system">): BindingPeople {
  const { level, censoring, split: fractions, groups: path, three } = plan;
  const eye = simulateEye({ seed, n: rows, level, censoring });
  const split = splitByOrder(rows, { seed, fractions });
  const file = parseGroupsFile(readCheckout(path), path);
  const all = groupsFromFile({ ...file, all: true }, eye.table, split.train, { exclude: ["time", "event"] });
  const told = part === "three" ? three.told : plan.told;
  const [groups, ofThree] = [[ALL_GROUP.name, ...told], three.told].map((names) =>
    names.map((wanted) => findGroup(all, wanted)),
  );
  return peopleOf(eye, split, groups, ofThree);
}

function findGroup(groups: readonly Group[], wanted: string): Group {
  const found = groups.find(({ name }) => name === wanted);
  if (found !== undefined) return found;
  throw new InputError(`the groups of the plan lack "${wanted}"`, { code: "plan.groups" });
}

/** Everyone is the first of the groups. */
export function peopleOf(
  { table, outcomes, settings }: EyeCohort,
  split: BindingPeople["split"],
  groups: readonly Group[],
  three: readonly Group[] = [],
): BindingPeople {
  return { table, outcomes, settings, split, groups, three, seed: settings.seed };
}

export function readBindingScores({ groups, concordance, concordanceOfTruth }: TruthScores): BindingScores {
  const [everyone, ...told] = groups;
  const worst = told.reduce((one, other) => (other.A > one.A ? other : one));
  return {
    everyoneError: round(everyone.A, 6),
    worstError: round(worst.A, 6),
    worstGroup: worst.name,
    meanError: round(told.reduce((sum, { A }) => sum + A, 0) / told.length, 6),
    ise: round(everyone.ise, 8),
    concordance: round(concordance, 6),
    concordanceOfTruth: round(concordanceOfTruth, 6),
  };
}

export function readBindingVerdict({ model }: Pick<FittedBinding, "model">): BindingVerdict {
  if (model === null) return { met: 0, held: 0, residual: null, iterations: null, share: null };
  const { verdict, solve } = model.training;
  const residuals = solve === undefined || solve === null ? null : solve.residuals;
  return {
    met: verdict.filter(({ status }) => status === "met").length,
    held: verdict.filter(({ status }) => status !== "unsupported").length,
    residual: residuals && Math.max(residuals.stationarity, residuals.violation, residuals.complementarity),
    iterations: solve?.iterations ?? null,
    share: solve?.mixture?.share ?? null,
  };
}
