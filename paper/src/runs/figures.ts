/**
 * The paper's figures of curves: each system of a plan is trained once, and only what the figures need is kept. Per
 * cohort: Kaplan-Meier of the test rows with its pointwise 95 % band and its support, the mean predicted curve of
 * everyone in the test rows per system, and the curves of six of them for Cox, DRSA and graduate (L² under the paper's recipe); where people are
 * simulated, the true curves too. The six are chosen by their outcomes alone: those at the 10th, 50th and 90th
 * percentile of the event times, and of the censored times. No system decides who is shown. Curves are at the edges of
 * the time grid, t = 0…T, to four decimals. The report draws them (report/cohort-plots.ts).
 */

import type { Backend, TrainEvent } from "graduate-survival";
import { FormatError, InputError, isAbsent } from "graduate-survival/core";
import {
  binOutcomes,
  type Curves,
  fitTimeGrid,
  interpolateCurve,
  pickOutcomes,
  type RightCensored,
  type TimeGrid,
} from "graduate-survival/data";
import { groupSupport, kaplanMeier } from "graduate-survival/stats";
import { z } from "zod";
import type { OpenCohort } from "./cohorts.ts";
import { type Plan, SWITCHED, SYSTEM_NAMES, type SystemName } from "./plan.ts";
import { fitRequestOf, fitSystem } from "./systems.ts";
import { FIGURE_COHORTS, PAGE_TARGETS, type PagePlan, plansOf, targetOf } from "./targets.ts";

const curve = z.array(z.number().min(0).max(1));
const limits = z.array(z.number().min(0).max(1).nullable());

const tracedSchema = z.strictObject({
  system: z.enum(SYSTEM_NAMES),
  /** Version of the package that trained it. */
  version: z.string(),
  /** Mean over the test rows. */
  mean: curve,
  /** Curves of the six, in their order; only for the systems that are drawn person by person. */
  people: z.array(curve).exactOptional(),
});

const cohortSchema = z.strictObject({
  cohort: z.string(),
  seed: z.int(),
  /** The plan that the curves come from: its preset, and its settings for this cohort. */
  settings: z.looseObject({}),
  /** Test rows, and how many of them have the event. */
  rows: z.int(),
  events: z.int(),
  /** Days; t = 0…T, as are all curves. */
  edges: z.array(z.number()),
  kaplanMeier: z.strictObject({
    survival: curve,
    /** Null where undefined. */
    lower: limits,
    upper: limits,
    /** The last bin with ten test rows at risk. */
    support: z.int(),
  }),
  /** Row in the table, counted from 1; days; 1 = event. */
  people: z.array(
    z.strictObject({ row: z.int(), time: z.number(), event: z.union([z.literal(0), z.literal(1)]) }),
  ),
  /** For simulated people; null for others. */
  truth: z.strictObject({ mean: curve, people: z.array(curve) }).nullable(),
  systems: z.array(tracedSchema),
});

const fileSchema = z.strictObject({
  /** The plan whose systems are drawn. */
  figures: z.enum(PAGE_TARGETS.flatMap(plansOf)),
  cohorts: z.array(cohortSchema),
});

export type TracedSystem = Readonly<z.infer<typeof tracedSchema>>;
export type CohortFigure = Readonly<z.infer<typeof cohortSchema>>;
export interface FiguresFile {
  readonly figures: PagePlan;
  readonly cohorts: readonly CohortFigure[];
}

/** Drawn person by person. */
export const PEOPLE_SYSTEMS: Readonly<Record<Plan["preset"], readonly SystemName[]>> = {
  default: ["drsa", "cox", "graduate"],
  paper: ["drsa", "cox", "graduate l2"],
};

/** Quantiles of the times of those with the event, and of those without. */
const PEOPLE_QUANTILES = [0.1, 0.5, 0.9];
/** A curve is drawn over a few hundred pixels. */
const CURVE_DECIMALS = 4;
/** Decimals of the edges, in days. */
const EDGE_DECIMALS = 2;

/** One run for the figures: the first seed that the plan gives the cohort, and the cohort's systems. */
export interface FigureRuns {
  readonly cohort: string;
  readonly seed: number;
  readonly systems: readonly SystemName[];
}

/** Variants of a system that is drawn: their curves would coincide with it. */
const NOT_DRAWN: readonly SystemName[] = [
  "drsa kept by loss",
  "drsa without tail kept by concordance",
  "xcal kept by loss",
  "rps kept by loss",
  "mcboost reference",
  ...SWITCHED,
];

export function listFigureRuns(name: PagePlan, plan: Plan): readonly FigureRuns[] {
  return FIGURE_COHORTS[targetOf(name)].map((cohort) => {
    const parts = plan.parts.filter(({ cohorts }) => cohorts.includes(cohort));
    if (parts.length === 0) throw new FormatError(`plan: no runs of "${cohort}"`, { code: "plan" });
    return {
      cohort,
      seed: parts[0].seeds.from,
      systems: [...new Set(parts.flatMap(({ systems }) => systems))].filter(
        (system) => !NOT_DRAWN.includes(system),
      ),
    };
  });
}

/** Rows of `outcomes` at the quantiles of the times with the event, then of those without; ties by row. */
export function pickPeople({ time, event }: RightCensored): readonly number[] {
  return [1, 0].flatMap((kind) => {
    const rows = Array.from(time, (_, row) => row)
      .filter((row) => event[row] === kind)
      .sort((a, b) => time[a] - time[b] || a - b);
    const places = PEOPLE_QUANTILES.map((quantile) => Math.round(quantile * (rows.length - 1)));
    return [...new Set(places)].flatMap((place) => rows.slice(place, place + 1));
  });
}

/** The part of a figure that needs no system. */
export function beginFigure(open: OpenCohort, plan: Plan, seed: number): CohortFigure {
  const { outcomes, split, eye } = open;
  const grid = gridOfCohort(open, plan);
  const test = pickOutcomes(outcomes, split.test);
  const chosen = pickPeople(test);
  const truth =
    eye === null
      ? null
      : { N: split.test.length, T: grid.T, survival: eye.trueSurvival(grid.edges.subarray(1), split.test) };
  return {
    cohort: open.plan.name,
    seed,
    settings: settingsOf(open, plan),
    rows: split.test.length,
    events: test.event.reduce((sum, event) => sum + event, 0),
    edges: Array.from(grid.edges, (edge) => Number(edge.toFixed(EDGE_DECIMALS))),
    kaplanMeier: estimateObserved(test, grid),
    people: chosen.map((place) => ({
      row: split.test[place] + 1,
      time: test.time[place],
      event: test.event[place] === 1 ? 1 : 0,
    })),
    truth: truth && { mean: meanCurve(truth), people: chosen.map((place) => personCurve(truth, place)) },
    systems: [],
  };
}

/** Trains one system and keeps its curves. */
export async function traceSystem(
  open: OpenCohort,
  plan: Plan,
  { system, seed }: { readonly system: SystemName; readonly seed: number },
  backend: Backend,
  onEvent?: (event: TrainEvent) => void,
): Promise<Omit<TracedSystem, "version">> {
  const { grid, predictCurves } = await fitSystem(
    open,
    fitRequestOf(plan, { system, seed }),
    backend,
    onEvent,
  );
  const curves = readOnGrid(await predictCurves(open.table, open.split.test), grid, gridOfCohort(open, plan));
  const mean = meanCurve(curves);
  if (!PEOPLE_SYSTEMS[plan.preset].includes(system)) return { system, mean };
  const chosen = pickPeople(pickOutcomes(open.outcomes, open.split.test));
  return { system, mean, people: chosen.map((place) => personCurve(curves, place)) };
}

/**
 * Curves of a system that learns from more rows, and whose grid can therefore reach further, are interpolated between
 * its bins' edges; others stay as they are.
 */
export function readOnGrid(curves: Curves, own: TimeGrid, grid: TimeGrid): Curves {
  if (own.T === grid.T && own.edges.every((edge, t) => edge === grid.edges[t])) return curves;
  const { N, T } = curves;
  const survival = new Float64Array(N * grid.T);
  for (let i = 0; i < N; i++) {
    const curve = curves.survival.subarray(i * T, (i + 1) * T);
    for (let t = 0; t < grid.T; t++) {
      const value = interpolateCurve(curve, own, grid.edges[t + 1]);
      if (isAbsent(value)) throw new InputError(value.absent, { code: "figure.grid" });
      survival[i * grid.T + t] = value;
    }
  }
  return { N, T: grid.T, survival };
}

/** The figure with one more system, in the order of the plan. */
export function addSystem(figure: CohortFigure, traced: TracedSystem): CohortFigure {
  const systems = [...figure.systems.filter(({ system }) => system !== traced.system), traced];
  const place = ({ system }: TracedSystem) => SYSTEM_NAMES.indexOf(system);
  return { ...figure, systems: systems.sort((a, b) => place(a) - place(b)) };
}

/** Whether the curves are from this plan and seed. */
export function isOfPlan(figure: CohortFigure, begun: CohortFigure): boolean {
  const { systems: _, ...kept } = figure;
  const { systems: __, ...asked } = begun;
  return JSON.stringify(kept) === JSON.stringify(JSON.parse(JSON.stringify(asked)));
}

function gridOfCohort({ outcomes, split }: OpenCohort, { bins }: Plan): TimeGrid {
  return fitTimeGrid(pickOutcomes(outcomes, split.train), bins === undefined ? {} : { T: bins });
}

function settingsOf({ plan: cohort }: OpenCohort, { name, preset, repeats, bins, steps }: Plan) {
  return JSON.parse(JSON.stringify({ plan: name, preset, repeats, bins, steps, cohort })) as Record<
    string,
    unknown
  >;
}

function estimateObserved(test: RightCensored, grid: TimeGrid): CohortFigure["kaplanMeier"] {
  const binned = binOutcomes(test, grid);
  const { time, survival, lower, upper } = kaplanMeier({
    time: Float64Array.from(binned.bin),
    event: binned.event,
  });
  // Bins in which nobody's time ended take the value of the one before.
  let k = -1;
  const carried = Array.from({ length: grid.T + 1 }, (_, t) => {
    while (k + 1 < time.length && time[k + 1] <= t) k++;
    return k < 0 ? { S: 1, low: 1, high: 1 } : { S: survival[k], low: lower[k], high: upper[k] };
  });
  const limit = (value: number) => (Number.isNaN(value) ? null : roundCurve(value));
  return {
    survival: carried.map(({ S }) => roundCurve(S)),
    lower: carried.map(({ low }) => limit(low)),
    upper: carried.map(({ high }) => limit(high)),
    support: groupSupport(binned),
  };
}

function roundCurve(value: number): number {
  return Number(value.toFixed(CURVE_DECIMALS));
}

function meanCurve({ N, T, survival }: Curves): number[] {
  const sums = new Float64Array(T);
  for (let i = 0; i < N; i++) for (let t = 0; t < T; t++) sums[t] += survival[i * T + t];
  return [1, ...Array.from(sums, (sum) => roundCurve(sum / N))];
}

function personCurve({ T, survival }: Curves, row: number): number[] {
  return [1, ...Array.from(survival.subarray(row * T, (row + 1) * T), roundCurve)];
}

/** One line per cohort head and one per system, so that a diff shows where a change is. */
export function writeFigures({ figures, cohorts }: FiguresFile): string {
  const inOrder = FIGURE_COHORTS[targetOf(figures)].flatMap((name) =>
    cohorts.filter(({ cohort }) => cohort === name),
  );
  const lines = inOrder.map(({ systems, ...head }) => {
    const traced = systems.map((one) => JSON.stringify(one)).join(",\n");
    return `${JSON.stringify(head).slice(0, -1)},"systems":[\n${traced}\n]}`;
  });
  return `{"figures":${JSON.stringify(figures)},"cohorts":[\n${lines.join(",\n")}\n]}\n`;
}

export function parseFigures(text: string, where: string): FiguresFile {
  const refuse = (reason: string) =>
    new FormatError(`not the curves of figures: ${reason}`, {
      code: "figures",
      where,
      hint: "name another folder (--out), or delete this file to begin anew",
    });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error));
  }
  const parsed = fileSchema.safeParse(json);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0];
    throw refuse(`${path.length > 0 ? `${path.join(".")}: ` : ""}${message}`);
  }
  for (const [c, { edges, kaplanMeier: km, people, truth, systems }] of parsed.data.cohorts.entries()) {
    const curves = [
      ...[km.survival, km.lower, km.upper],
      ...(truth === null ? [] : [truth.mean, ...truth.people]),
      ...systems.flatMap((one) => [one.mean, ...(one.people ?? [])]),
    ];
    const odd = curves.find(({ length }) => length !== edges.length);
    if (odd !== undefined)
      throw refuse(`cohorts.${c}: a curve of ${odd.length} values on ${edges.length} edges`);
    const lists = [truth?.people, ...systems.map((one) => one.people)];
    if (lists.some((list) => list !== undefined && list.length !== people.length))
      throw refuse(`cohorts.${c}: not a curve for each of ${people.length} people`);
  }
  return parsed.data;
}
