/**
 * Held, not told: can a group be right that the model may not see? People of the simulated eye cohort with a column
 * that hints at the protected group more or less (eye/proxy.ts); systems that are told of it, that hold it, and that
 * do neither (held-systems.ts). Each is scored on fresh people against their true curves: the error A of group means
 * (eye/truth.ts) for the protected group, for everyone and for the worst of the other named groups; everyone's mean
 * ISE; and the C-index of the same people uncensored. paper/plans/held-not-told.json is the plan. A run saves a line
 * for each strength, seed, size and system, and does not repeat lines it finds.
 */
import type { Backend } from "graduate-survival";
import { InputError } from "graduate-survival/core";
import {
  ALL_GROUP,
  type Group,
  groupsFromFile,
  parseGroupsFile,
  readOutcomes,
  splitByOrder,
  type Table,
} from "graduate-survival/data";
import type { Model, VerdictStatus } from "graduate-survival/training";
import { z } from "zod";
import {
  addProxy,
  drawProxy,
  LEFT_OUT,
  PROTECTED_COLUMNS,
  PROTECTED_GROUP,
  PROXY_LEVELS,
  proxyLevel,
} from "../eye/proxy.ts";
import { type EyeCohort, simulateEye } from "../eye/simulate.ts";
import { keepLastTruth, type PredictCurves, type TruthScores } from "../eye/truth.ts";
import { readCheckout, VERSION } from "../runs/checkout.ts";
import { trainingSupports } from "../runs/fit.ts";
import {
  fitHeldSystem,
  HELD_SYSTEMS,
  type HeldOptions,
  type HeldPeople,
  type HeldSystem,
} from "./held-systems.ts";
import { createPlanRunner, parseStudyPlan, round, secondsSince } from "./lines.ts";

/** What all simulated people share. */
export const EYE_PEOPLE = {
  columns: { time: "time", event: "event" },
  leftOut: LEFT_OUT,
  protected: PROTECTED_COLUMNS,
  held: [PROTECTED_GROUP],
} as const;

const share = z.number().positive().max(1);

const planSchema = z.strictObject({
  name: z.string(),
  about: z.string(),
  strengths: z.array(z.number().refine((area) => PROXY_LEVELS.some((level) => level.area === area))),
  seeds: z.strictObject({ from: z.int(), count: z.int().positive() }),
  rows: z.array(z.int().positive()),
  split: z.tuple([share, share, share]),
  systems: z.array(z.enum(HELD_SYSTEMS)),
  level: z.literal([0, 1, 2]),
  censoring: z.enum(["independent", "dependent", "late"]),
  /** A file of the checkout. */
  groups: z.string(),
  truthPeople: z.int().positive(),
  truthSeedOffset: z.int().positive(),
  dro: z.strictObject({ alpha: share, ridge: z.number().min(0), split: z.boolean().optional() }),
});
export type HeldPlan = z.infer<typeof planSchema>;

export interface HeldRun {
  readonly strength: number;
  readonly seed: number;
  readonly rows: number;
  readonly system: HeldSystem;
}

/** A line of paper/held-not-told.jsonl. */
export interface HeldLine extends HeldRun {
  /** Errors A of group means: of the protected group, of everyone, and of the worst other named group. */
  readonly protectedError: number;
  readonly everyoneError: number;
  readonly worstError: number;
  readonly worstGroup: string;
  /** Mean over the fresh people. */
  readonly ise: number;
  readonly concordance: number;
  readonly concordanceOfTruth: number;
  /** A of every group. */
  readonly errors: Readonly<Record<string, number>>;
  readonly converged?: boolean;
  /** What the run said of the protected group, and how well its features tell the group; where it was held. */
  readonly status?: VerdictStatus;
  readonly auc?: number;
  /** Of the fit, with the network that a repair starts from; and of the scoring. */
  readonly seconds: number;
  readonly scoringSeconds: number;
  readonly version: string;
}

export function parseHeldPlan(text: string, where: string): HeldPlan {
  return parseStudyPlan(planSchema, text, where);
}

const PLAN = "paper/plans/held-not-told.json";

/** The committed plan. */
export function readHeldPlan(): HeldPlan {
  return parseHeldPlan(readCheckout(PLAN), PLAN);
}

/** The plan's lines; systems of the same people follow each other, in the order of the plan. */
export function expandHeldPlan({ strengths, seeds, rows, systems }: HeldPlan): HeldRun[] {
  return Array.from({ length: seeds.count }, (_, k) => seeds.from + k).flatMap((seed) =>
    rows.flatMap((size) =>
      strengths.flatMap((strength) =>
        systems.map((system): HeldRun => ({ strength, seed, rows: size, system })),
      ),
    ),
  );
}

export function sameHeldRun(a: HeldRun, b: HeldRun): boolean {
  return a.strength === b.strength && a.seed === b.seed && a.rows === b.rows && a.system === b.system;
}

/** Runs one line after the other, and keeps what the next line can use. */
export type RunHeld = (run: HeldRun) => Promise<HeldLine>;

interface LastFree {
  readonly run: HeldRun;
  readonly model: Model;
  readonly seconds: number;
}

export function createHeldRunner(
  plan: HeldPlan,
  backend: Backend,
  training?: HeldOptions["training"],
): RunHeld {
  const truth = keepLastTruth();
  const file = parseGroupsFile(readCheckout(plan.groups), plan.groups);
  const options: HeldOptions = { dro: plan.dro, ...(training === undefined ? {} : { training }) };
  let cohort: EyeCohort | null = null;
  let free: LastFree | null = null;
  const drawCohort = (seed: number, n: number): EyeCohort => {
    const isKept = cohort?.settings.seed === seed && cohort.settings.n === n;
    if (cohort === null || !isKept)
      cohort = simulateEye({ seed, n, level: plan.level, censoring: plan.censoring });
    return cohort;
  };
  return async (run) => {
    const { seed, rows, strength, system } = run;
    const eye = drawCohort(seed, rows);
    const people = openPeople(eye, plan, strength, (table, training) =>
      groupsFromFile({ ...file, all: true }, table, training, { exclude: ["time", "event"] }),
    );
    const base = free !== null && sameHeldRun({ ...run, system: "free" }, free.run) ? free : null;
    const started = performance.now();
    const fitted = await fitHeldSystem(system, people, options, backend, base?.model);
    const own = (performance.now() - started) / 1000;
    if (system === "free" && fitted.model !== undefined) free = { run, model: fitted.model, seconds: own };
    const scoringStarted = performance.now();
    const settings = { ...eye.settings, seed: seed + plan.truthSeedOffset, n: plan.truthPeople };
    const supports = trainingSupports(people, fitted.grid);
    const sample = truth({ settings, groups: people.groups, supports, grid: fitted.grid });
    const scores = await sample.score(withProxy(sample.people, strength, fitted.predictCurves));
    return {
      ...run,
      ...readHeldScores(scores),
      ...(fitted.converged === undefined ? {} : { converged: fitted.converged }),
      ...(fitted.model === undefined ? {} : readVerdict(fitted.model)),
      seconds: round(own + (system === "hazard boost" ? (base?.seconds ?? 0) : 0), 2),
      scoringSeconds: secondsSince(scoringStarted),
      version: VERSION,
    };
  };
}

export const runHeldPlan = createPlanRunner<HeldRun, HeldLine>(sameHeldRun);

function openPeople(
  eye: EyeCohort,
  { split: fractions }: HeldPlan,
  strength: number,
  chooseGroups: (table: Table, training: Int32Array) => Group[],
): HeldPeople {
  const { seed } = eye.settings;
  const table = addProxy(eye.table, drawProxy(eye.table, seed, proxyLevel(strength).strength));
  const outcomes = readOutcomes(table, EYE_PEOPLE.columns);
  const split = splitByOrder(table.rows, { seed, fractions });
  return { ...EYE_PEOPLE, table, outcomes, split, groups: chooseGroups(table, split.train), seed };
}

/** The fresh people come in chunks, in order; each chunk gets its part of the column. */
function withProxy({ table, settings }: EyeCohort, strength: number, predict: PredictCurves): PredictCurves {
  const proxy = drawProxy(table, settings.seed, proxyLevel(strength).strength);
  let from = 0;
  return async (chunk) => {
    const values = proxy.values.subarray(from, from + chunk.rows);
    from += chunk.rows;
    return predict(addProxy(chunk, { ...proxy, values }));
  };
}

function readHeldScores({ groups, concordance, concordanceOfTruth }: TruthScores) {
  const find = (wanted: string) => {
    const found = groups.find(({ name }) => name === wanted);
    if (found !== undefined) return found;
    throw new InputError(`the groups of the plan lack "${wanted}"`, { code: "plan.groups" });
  };
  const everyone = find(ALL_GROUP.name);
  const own = find(PROTECTED_GROUP.name);
  const others = groups.filter((group) => group !== everyone && group !== own);
  const worst = others.reduce((one, other) => (other.A > one.A ? other : one));
  return {
    protectedError: round(own.A, 6),
    everyoneError: round(everyone.A, 6),
    worstError: round(worst.A, 6),
    worstGroup: worst.name,
    ise: round(everyone.ise, 8),
    concordance: round(concordance, 6),
    concordanceOfTruth: round(concordanceOfTruth, 6),
    errors: Object.fromEntries(groups.map(({ name, A }) => [name, round(A, 6)])),
  };
}

function readVerdict({ training: { verdict, solve } }: Model): Pick<HeldLine, "status" | "auc"> {
  const status = verdict.find(({ group }) => group === PROTECTED_GROUP.name)?.status;
  const auc = solve?.blind.find(({ group }) => group === PROTECTED_GROUP.name)?.auc;
  return {
    ...(status === undefined ? {} : { status }),
    ...(auc === undefined ? {} : { auc: round(auc, 4) }),
  };
}
