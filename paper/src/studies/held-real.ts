/**
 * Held, not told, on real tables: a column is kept from the model, and groups over it are held through the other
 * features (held-systems.ts). The truth is unknown here, so the test rows judge: the root-mean-square gap between a held
 * group's mean curve and its Kaplan-Meier curve beside what a perfect model would show on so few people; the at-risk
 * distance, as the verdict has it; the largest gap of the other groups; and everyone's C and IBS.
 * paper/plans/held-real.json is the plan. A run saves a line for each table, column, split and system, and does not
 * repeat lines it finds.
 */
import { join } from "node:path";
import type { Backend } from "graduate-survival";
import { InputError, isAbsent } from "graduate-survival/core";
import {
  ALL_GROUP,
  type BinnedRightCensored,
  binOutcomes,
  type Curves,
  type GroupMembers,
  pickOutcomes,
  readOutcomes,
  readTable,
  splitByOrder,
  type Table,
} from "graduate-survival/data";
import { tableSourceFromPath } from "graduate-survival/node";
import {
  equalEventBlocks,
  measureDistances,
  measureStatistics,
  prepareConstraints,
} from "graduate-survival/objectives";
import { MINIMUM_EVENTS, noiseFloor } from "graduate-survival/stats";
import type { Model, VerdictStatus } from "graduate-survival/training";
import { z } from "zod";
import { checkoutFile, readCheckout, VERSION } from "../runs/checkout.ts";
import { auditCurves, membersAmong } from "../runs/fit.ts";
import {
  type FittedModel,
  fitTrainedSystem,
  type HeldPeople,
  type HeldTraining,
  TRAINED_SYSTEMS,
  type TrainedSystem,
} from "./held-systems.ts";
import { createPlanRunner, parseStudyPlan, round, secondsSince } from "./lines.ts";

const share = z.number().positive().max(1);

const planSchema = z.strictObject({
  name: z.string(),
  about: z.string(),
  /** Each is a split. */
  seeds: z.strictObject({ from: z.int(), count: z.int().positive() }),
  split: z.tuple([share, share, share]),
  systems: z.array(z.enum(TRAINED_SYSTEMS)),
  tables: z.array(
    z.strictObject({
      name: z.string(),
      /** What the protected columns are, in a word. */
      by: z.string(),
      /** Where the file is: in the checkout, or in a folder that the command names. */
      folder: z.enum(["checkout", "data"]),
      file: z.string(),
      time: z.string(),
      event: z.string(),
      drop: z.array(z.string()),
      protected: z.array(z.string()),
      held: z.array(z.strictObject({ name: z.string(), expression: z.string() })),
      /** Expressions. */
      told: z.array(z.string()),
    }),
  ),
});
export type HeldRealPlan = z.infer<typeof planSchema>;
export type HeldRealTable = HeldRealPlan["tables"][number];

export interface HeldRealRun {
  readonly table: string;
  readonly by: string;
  readonly seed: number;
  readonly system: TrainedSystem;
}

/** What the test rows say of a held group. */
export interface HeldGroupScores {
  readonly group: string;
  readonly n: number;
  readonly events: number;
  /** Root mean square over time of mean curve less Kaplan-Meier; what a perfect model shows, and its 95 % point. */
  readonly gap: number;
  readonly noise: number;
  readonly critical: number;
  readonly p: number;
  /** As the verdict measures it on fresh rows: about 1 for a perfect model. */
  readonly atRisk: number;
}

/** What a run that holds the group says of it. */
export interface HeldGroupVerdict {
  readonly status: VerdictStatus;
  /** The at-risk distance of the test rows and its p-value, not adjusted; null where they say too little. */
  readonly freshDistance: number | null;
  readonly freshP: number | null;
  readonly auc: number | null;
  /** The features that give most away. */
  readonly tells: readonly string[];
  /** At-risk distance of the training rows before the group is held, and after; null where it was not tried. */
  readonly before: number | null;
  readonly after: number | null;
}

/** A line of paper/held-real.jsonl. */
export interface HeldRealLine extends HeldRealRun {
  readonly rows: { readonly train: number; readonly test: number };
  readonly groups: readonly (HeldGroupScores & Partial<HeldGroupVerdict>)[];
  /** The largest gap of the other groups that have enough events among the test rows. */
  readonly worstGap: number;
  readonly worstGroup: string;
  readonly concordance: number;
  readonly ibs: number;
  /** Of the fit. */
  readonly seconds: number;
  readonly version: string;
}

export function parseHeldRealPlan(text: string, where: string): HeldRealPlan {
  return parseStudyPlan(planSchema, text, where);
}

/** The committed plan. */
export function readHeldRealPlan(): HeldRealPlan {
  const path = "paper/plans/held-real.json";
  return parseHeldRealPlan(readCheckout(path), path);
}

/** Seed after seed, so that whatever is done is balanced. */
export function expandHeldRealPlan({ seeds, tables, systems }: HeldRealPlan): HeldRealRun[] {
  return Array.from({ length: seeds.count }, (_, k) => seeds.from + k).flatMap((seed) =>
    tables.flatMap(({ name, by }) =>
      systems.map((system): HeldRealRun => ({ table: name, by, seed, system })),
    ),
  );
}

export function sameHeldRealRun(a: HeldRealRun, b: HeldRealRun): boolean {
  return a.table === b.table && a.by === b.by && a.seed === b.seed && a.system === b.system;
}

export const runHeldRealPlan = createPlanRunner<HeldRealRun, HeldRealLine>(sameHeldRealRun);

/** `data`: the folder of the tables that are in no checkout. */
export function createHeldRealRunner(
  plan: HeldRealPlan,
  backend: Backend,
  { data, training }: { readonly data?: string; readonly training?: HeldTraining } = {},
): (run: HeldRealRun) => Promise<HeldRealLine> {
  return async (run) => {
    const entry = plan.tables.find(({ name, by }) => name === run.table && by === run.by);
    if (entry === undefined)
      throw new InputError(`the plan has no ${run.table} by ${run.by}`, { code: "plan.table" });
    const people = openPeople(await openTable(entry, data), entry, plan.split, run.seed);
    const started = performance.now();
    const fitted = await fitTrainedSystem(run.system, people, backend, training);
    const seconds = secondsSince(started);
    const { train, test } = people.split;
    return {
      ...run,
      rows: { train: train.length, test: test.length },
      ...(await scoreTestRows(people, fitted)),
      seconds,
      version: VERSION,
    };
  };
}

async function openTable({ folder, file }: HeldRealTable, data: string | undefined): Promise<Table> {
  if (folder === "checkout") return readTable(await tableSourceFromPath(checkoutFile(file)));
  if (data !== undefined) return readTable(await tableSourceFromPath(join(data, file)));
  throw new InputError(`where is ${file}?`, { code: "tables.data", hint: "--data names its folder" });
}

function openPeople(
  table: Table,
  { time, event, drop, protected: hidden, held, told }: HeldRealTable,
  fractions: HeldRealPlan["split"],
  seed: number,
): HeldPeople {
  const columns = { time, event };
  return {
    columns,
    leftOut: drop,
    protected: hidden,
    held,
    table,
    outcomes: readOutcomes(table, columns),
    split: splitByOrder(table.rows, { seed, fractions }),
    groups: [ALL_GROUP, ...told.map((expression) => ({ name: expression, expression })), ...held],
    seed,
  };
}

async function scoreTestRows(people: HeldPeople, { grid, predictCurves, model }: FittedModel) {
  const { table, outcomes, split, groups, held } = people;
  const curves = await predictCurves(table, split.test);
  const [training, test] = [split.train, split.test].map((rows) =>
    binOutcomes(pickOutcomes(outcomes, rows), grid),
  );
  const named = membersAmong(groups, table, split.test).filter(({ name }) => name !== ALL_GROUP.name);
  const isHeld = ({ name }: { readonly name: string }) => held.some((group) => group.name === name);
  const members = named.filter(isHeld);
  const atRisk = measureAtRisk(curves, training, test, members);
  // Floors are drawn for the held groups alone.
  const { overall, groups: audited } = await auditCurves(curves, test, named, { draws: 0 });
  const others = audited.flatMap((group) => {
    const { distanceL2 } = group.supported;
    return isHeld(group) || group.events < MINIMUM_EVENTS || distanceL2 === null
      ? []
      : [{ name: group.name, gap: Math.sqrt(distanceL2) }];
  });
  const [first, ...rest] = others;
  const worst = rest.reduce((one, other) => (other.gap > one.gap ? other : one), need(first));
  return {
    groups: members.map((group, g) => ({
      ...scoreGroup(curves, test, group, people.seed),
      events: need(audited.find(({ name }) => name === group.name)).events,
      atRisk: round(atRisk[g], 4),
      ...readVerdict(model, group.name),
    })),
    worstGap: round(worst.gap, 6),
    worstGroup: worst.name,
    concordance: round(need(overall.concordance), 6),
    ibs: round(need(overall.ibs), 6),
  };
}

function scoreGroup(curves: Curves, test: BinnedRightCensored, { name, rows }: GroupMembers, seed: number) {
  const floor = noiseFloor(curves, test, rows, { seed });
  const noise = isAbsent(floor) ? floor : floor.metrics.distanceL2;
  if (isAbsent(noise)) throw tooFew(noise.absent);
  const root = (square: number) => round(Math.sqrt(square), 6);
  return {
    group: name,
    n: rows.length,
    gap: root(noise.observed),
    noise: root(noise.floor),
    critical: root(noise.critical),
    p: round(noise.p, 4),
  };
}

/** The distance of the verdict on fresh rows, for curves of any system. */
export function measureAtRisk(
  { N, T, survival }: Curves,
  training: BinnedRightCensored,
  test: BinnedRightCensored,
  groups: readonly GroupMembers[],
): Float64Array {
  const constraints = prepareConstraints({
    binned: test,
    groups,
    distance: "atRisk",
    variant: "default",
    blocks: equalEventBlocks(training),
  });
  const hazard = Float64Array.from({ length: N * T }, (_, at) => {
    const before = at % T === 0 ? 1 : survival[at - 1];
    // Nobody is left to have the event.
    return before > 0 ? 1 - survival[at] / before : 0;
  });
  const curves = { hazard, survival: Float64Array.from(survival) };
  return measureDistances(constraints, measureStatistics(constraints, curves));
}

/** Nothing for systems that do not hold the group. */
function readVerdict({ training: { verdict, solve } }: Model, name: string): Partial<HeldGroupVerdict> {
  const found = verdict.find(({ group }) => group === name);
  if (found === undefined) return {};
  const blind = solve?.blind.find(({ group }) => group === name);
  const { frontier = [], features = [] } = blind ?? {};
  const distance = (place: number) => {
    const point = frontier.at(place);
    return point === undefined ? null : round(point.distance, 4);
  };
  return {
    status: found.status,
    freshDistance: found.distance.fresh === null ? null : round(found.distance.fresh, 4),
    freshP: found.fresh && Number(found.fresh.p.toPrecision(4)),
    auc: blind === undefined ? null : round(blind.auc, 4),
    tells: features.slice(0, 3).map((feature) => feature.name),
    before: distance(0),
    after: distance(-1),
  };
}

function need<Value>(value: Value | null | undefined): Value {
  if (value !== null && value !== undefined) return value;
  throw tooFew("nothing to compare");
}

function tooFew(why: string): InputError {
  return new InputError(`the test rows are too few to judge: ${why}`, { code: "plan.size" });
}
