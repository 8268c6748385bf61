/**
 * Do bands cover, and do lower bounds hold? On simulated people whose true curves and event times are known
 * (bands-cohorts.ts), for the default and for Cox. Of each fit: which share of fresh people and times has the true curve
 * within the band, by tenths of risk and of the grid and by group, for the band as shipped and for its rivals; and how
 * many fresh people's events come after their lower bound. paper/plans/bands.json is the plan.
 */
import type { Backend } from "graduate-survival";
import type { Table } from "graduate-survival/data";
import type { Model } from "graduate-survival/training";
import { drawBands, type ErrorParts, halfWidths, measureMissed } from "graduate-survival/verbs";
import { z } from "zod";
import { readCheckout, VERSION } from "../runs/checkout.ts";
import {
  boundRows,
  fitDefault,
  measureErrors,
  membersAmong,
  predictTables,
  timeGridOf,
} from "../runs/fit.ts";
import { BAND_LAWS, type BandCohort, drawBandCohort } from "./bands-cohorts.ts";
import { createPlanRunner, parseStudyPlan, round, secondsSince } from "./lines.ts";

export const BAND_SYSTEMS = ["graduate", "cox"] as const;
/** "products" is in lines of the plan that judged it; what it was, and that it was not taken, says decision 19. */
export const BAND_KINDS = ["shipped", "products", "posterior alone", "spread of the runs"] as const;
export type BandKind = (typeof BAND_KINDS)[number];

const seeds = z.strictObject({ from: z.int(), count: z.int().positive() });
const planSchema = z.strictObject({
  name: z.string(),
  about: z.string(),
  level: z.number(),
  boundLevel: z.number(),
  freshPeople: z.int().positive(),
  parts: z.array(
    z.strictObject({
      law: z.enum(BAND_LAWS),
      rows: z.int().positive(),
      seeds,
      /** Those of the plan unless named. */
      systems: z.array(z.enum(BAND_SYSTEMS)).optional(),
    }),
  ),
  systems: z.array(z.enum(BAND_SYSTEMS)),
});
export type BandsPlan = z.infer<typeof planSchema>;

export interface BandRun {
  readonly law: (typeof BAND_LAWS)[number];
  readonly rows: number;
  readonly seed: number;
  readonly system: (typeof BAND_SYSTEMS)[number];
}

/** How often a band holds the truth. */
export interface Coverage {
  readonly covered: number;
  /** Mean of upper less lower. */
  readonly width: number;
  /** By tenths of the true risk at the horizon, and of the time grid. */
  readonly byRisk: readonly number[]; // [10]
  readonly byTime: readonly number[]; // [10]
  readonly byGroup: Readonly<Record<string, number>>;
}

/** How often an event comes after its bound. */
export interface BoundCoverage {
  readonly held: number;
  /** Share of people whose bound is the last time that can be spoken of. */
  readonly beyond: number;
  readonly byGroup: Readonly<Record<string, number>>;
}

/** A line of paper/bands.jsonl. */
export interface BandLine extends BandRun {
  readonly bands: { readonly [Kind in BandKind]?: Coverage };
  readonly bound: BoundCoverage;
  /** Training rows of each group. */
  readonly groups: Readonly<Record<string, number>>;
  readonly bytes: { readonly model: number; readonly uncertainty: number };
  readonly members: number;
  readonly events: number;
  readonly seconds: number;
  readonly version: string;
}

/** The plan of the shipped form, and after it the parts of the one that judged another form beside it. */
export function readBandsPlan(): BandsPlan {
  const read = (path: string) => parseStudyPlan(planSchema, readCheckout(path), path);
  const plan = read("paper/plans/bands.json");
  const { parts, systems } = read("paper/plans/bands-products.json");
  return { ...plan, parts: [...plan.parts, ...parts.map((part) => ({ systems, ...part }))] };
}

export function expandBandsPlan(plan: BandsPlan): BandRun[] {
  return plan.parts.flatMap(({ law, rows, seeds: { from, count }, systems = plan.systems }) =>
    Array.from({ length: count }, (_, k) => from + k).flatMap((seed) =>
      systems.map((system) => ({ law, rows, seed, system })),
    ),
  );
}

export const runBandsPlan = createPlanRunner<BandRun, BandLine>(
  (line, run) =>
    line.law === run.law && line.rows === run.rows && line.seed === run.seed && line.system === run.system,
);

export function createBandsRunner(
  plan: BandsPlan,
  backend: Backend,
  sizes: (model: Model) => BandLine["bytes"],
): (run: BandRun) => Promise<BandLine> {
  return async (run) => {
    const { law, rows, seed, system } = run;
    const cohort = await drawBandCohort(law, { rows, fresh: plan.freshPeople, seed });
    const { table, split, groups, outcome, fresh } = cohort;
    const asked = { ...outcome, split, seed };
    const started = performance.now();
    const model = await fitDefault(
      table,
      system === "cox" ? { ...asked, method: "cox" } : { ...asked, groups },
      backend,
    );
    const seconds = secondsSince(started);
    const curves = await predictTables(model, backend)(fresh);
    const parts = await measureErrors(model, fresh, curves, backend);
    const judge = createJudge(cohort, model);
    const bounds = await boundRows(
      model,
      { table, split },
      { table: fresh, curves },
      plan.boundLevel,
      backend,
    );
    const inTraining = membersAmong(groups, table, split.train);
    return {
      ...run,
      bands: Object.fromEntries(
        listKinds(parts, measureMissed(model, curves)).map(([kind, own, missed]) => {
          const { lower, upper } = drawBands(curves, halfWidths(own, plan.level, missed));
          return [kind, judge(lower, upper)];
        }),
      ),
      bound: judgeBounds(cohort, bounds),
      groups: Object.fromEntries(inTraining.map((group) => [group.name, group.rows.length])),
      bytes: sizes(model),
      members: parts.members,
      events: countEvents(table, outcome.event, split.train),
      seconds,
      version: VERSION,
    };
  };
}

/** Kinds of band from one fit: their errors, and what is added to them for the form. */
function listKinds(
  parts: ErrorParts,
  missed: Float64Array | null,
): [BandKind, ErrorParts, Float64Array | null][] {
  // Nothing is added to Cox's: there is one kind.
  if (missed === null) return [["shipped", parts, null]];
  const runs: ErrorParts = { ...parts, posterior: null };
  return [
    ["shipped", parts, missed],
    ["posterior alone", parts, null],
    ...(parts.spread === null ? [] : [["spread of the runs", runs, null] as [BandKind, ErrorParts, null]]),
  ];
}

const TENTHS = 10;

/** Judges bands of the fresh people at the edges of the model's bins. */
function createJudge({ fresh, truth, groups }: BandCohort, model: Model) {
  const grid = timeGridOf(model);
  const { T } = grid;
  const N = fresh.rows;
  const real = truth(grid.edges.subarray(1));
  const order = Array.from({ length: N }, (_, n) => n).sort(
    (a, b) => real[b * T + T - 1] - real[a * T + T - 1],
  );
  const tenth = new Int32Array(N);
  order.forEach((n, rank) => {
    tenth[n] = Math.floor((TENTHS * rank) / N);
  });
  const members = membersAmong(groups, fresh);
  return (lower: Float64Array, upper: Float64Array): Coverage => {
    const ofPerson = new Float64Array(N);
    const byRisk = new Float64Array(TENTHS);
    const byTime = new Float64Array(TENTHS);
    let width = 0;
    for (let n = 0; n < N; n++) {
      for (let t = 0; t < T; t++) {
        const at = n * T + t;
        width += upper[at] - lower[at];
        if (real[at] < lower[at] || real[at] > upper[at]) continue;
        ofPerson[n] += 1 / T;
        byRisk[tenth[n]] += TENTHS / (N * T);
        const part = Math.floor((TENTHS * t) / T);
        byTime[part] += 1 / (N * binsOf(part, T));
      }
    }
    const mean = (rows: Int32Array) => rows.reduce((sum, n) => sum + ofPerson[n], 0) / rows.length;
    return {
      covered: round(ofPerson.reduce((sum, one) => sum + one, 0) / N, 5),
      width: round(width / (N * T), 5),
      byRisk: Array.from(byRisk, (share) => round(share, 4)),
      byTime: Array.from(byTime, (share) => round(share, 4)),
      byGroup: Object.fromEntries(members.map(({ name, rows }) => [name, round(mean(rows), 4)])),
    };
  };
}

/** Bins of a tenth of the grid. */
function binsOf(part: number, T: number): number {
  return Math.ceil(((part + 1) * T) / TENTHS) - Math.ceil((part * T) / TENTHS);
}

function judgeBounds(
  { fresh, eventTime, groups }: BandCohort,
  { time, isBeyond }: { readonly time: Float64Array; readonly isBeyond: Uint8Array },
): BoundCoverage {
  const share = (rows: ArrayLike<number>) => {
    let held = 0;
    for (let k = 0; k < rows.length; k++) if (eventTime[rows[k]] >= time[rows[k]]) held++;
    return round(held / rows.length, 4);
  };
  return {
    held: share(Array.from({ length: fresh.rows }, (_, n) => n)),
    beyond: round(isBeyond.reduce((sum, one) => sum + one, 0) / fresh.rows, 4),
    byGroup: Object.fromEntries(membersAmong(groups, fresh).map(({ name, rows }) => [name, share(rows)])),
  };
}

function countEvents(table: Table, name: string, rows: Int32Array): number {
  const column = table.columns.find((one) => one.name === name);
  if (column?.type !== "number") return 0;
  return rows.reduce((sum, row) => sum + column.values[row], 0);
}
