/**
 * The systems of the study of holding (binding.ts). "held" is one run of the default, "held, five runs" the mean of
 * five, which is the default of small tables; the others leave something out. "trained" and "start" are the same run
 * without the solve, and without that and training (one step), "start of all rows" the latter with the validation rows
 * learnt from as held learns from them; the two of 0.1.0 take numbers as they are and no
 * splines, as version 0.1.0 did. "held, all only" names no groups, and "held, placebo groups" groups of the same sizes
 * and overlaps whose members are drawn at random. "no solve of groups" is the network on the likelihood alone. The Cox
 * models with splines (cox-strata.ts) learn from the validation rows too: with a term for each group, with a baseline for
 * every stratum of the groups, or of the plan's three, which are those whose hazards differ in the law.
 */
import type { Backend } from "graduate-survival";
import {
  ALL_GROUP,
  fitTimeGrid,
  type Group,
  pickOutcomes,
  type RightCensored,
  type Split,
  type Table,
  type TimeGrid,
} from "graduate-survival/data";
import type { Model } from "graduate-survival/training";
import type { EyeSettings } from "../eye/simulate.ts";
import type { PredictCurves } from "../eye/truth.ts";
import {
  type FitRequest,
  fitModel,
  joinSplit,
  type PredictTable,
  predictTables,
  type TrainRequest,
  timeGridOf,
} from "../runs/fit.ts";
import { addPlacebos, namePlacebos } from "../runs/placebo.ts";
import { fitSplineCox, type SplineCox, type SplineCoxRequest } from "./cox-strata.ts";

export const BINDING_SYSTEMS = [
  "cox",
  "start of 0.1.0",
  "0.1.0",
  "start",
  "start of all rows",
  "trained",
  "held",
  "held, five runs",
  "held, all only",
  "held, placebo groups",
  "no solve of groups",
  "cox with splines and group terms",
  "cox with splines, stratified by three",
  "cox with splines, stratified",
] as const;
export type BindingSystem = (typeof BINDING_SYSTEMS)[number];

/** The people of one line. */
export interface BindingPeople {
  readonly table: Table;
  readonly outcomes: RightCensored;
  readonly settings: EyeSettings;
  readonly split: Split;
  /** Everyone first, then those told. */
  readonly groups: readonly Group[];
  /** Of whom "stratified by three" makes its strata. */
  readonly three: readonly Group[];
  readonly seed: number;
}

export interface BindingOptions {
  /** Where a network differs from the default preset: for tests. */
  readonly training?: Pick<TrainRequest, "network" | "hidden" | "options" | "bins">;
}

export interface FittedBinding {
  readonly grid: TimeGrid;
  readonly predictCurves: PredictCurves;
  /** The same of chosen rows of any table. */
  readonly predictTable: PredictTable;
  /** Null for a system that is not a model of the package. */
  readonly model: Model | null;
  /** Seconds after the last event of training; null for what is not trained. */
  readonly endSeconds: number | null;
}

/** How version 0.1.0 took its columns. */
const AS_BEFORE = { splines: false, numbers: "raw" } as const;

/** Fitted outside the package's own training. */
const SPLINE_COX = [
  "cox with splines and group terms",
  "cox with splines, stratified by three",
  "cox with splines, stratified",
] as const satisfies readonly BindingSystem[];
export type SplineCoxSystem = (typeof SPLINE_COX)[number];

export function isSplineCox(system: BindingSystem): system is SplineCoxSystem {
  return SPLINE_COX.some((one) => one === system);
}

export function bindingRequest(
  system: Exclude<BindingSystem, SplineCoxSystem>,
  { split, seed, groups }: BindingPeople,
  { training }: BindingOptions,
): FitRequest {
  const told = groups.filter(({ name }) => name !== ALL_GROUP.name);
  const asked: FitRequest = { time: "time", event: "event", split, seed, groups: told, ...training };
  const without = { ...training?.options, solve: "none" } as const;
  switch (system) {
    case "cox": {
      const bins = training?.bins === undefined ? {} : { bins: training.bins };
      return { time: "time", event: "event", split, seed, method: "cox", ...bins };
    }
    case "start of 0.1.0":
      return { ...asked, ...AS_BEFORE, options: { ...without, steps: 1 } };
    case "0.1.0":
      return { ...asked, ...AS_BEFORE, options: without };
    case "start":
      return { ...asked, options: { ...without, steps: 1 } };
    case "start of all rows":
      return { ...asked, split: joinSplit(split), options: { ...without, steps: 1 } };
    case "trained":
      return { ...asked, options: without };
    case "held":
      return asked;
    case "held, five runs":
      return { ...asked, ensemble: 5 };
    case "held, all only":
      return { ...asked, groups: [] };
    case "held, placebo groups": {
      const placebos = namePlacebos(told);
      return { ...asked, drop: placebos.columns, groups: placebos.groups, inputGroups: placebos.groups };
    }
    case "no solve of groups":
      return { ...asked, method: "nll" };
  }
}

export async function fitBindingSystem(
  system: BindingSystem,
  people: BindingPeople,
  options: BindingOptions,
  backend: Backend,
): Promise<FittedBinding> {
  if (isSplineCox(system)) return openSplineCox(fitSplineCox(splineCoxRequest(system, people)), people);
  const { table, split, groups, seed } = people;
  const told = groups.filter(({ name }) => name !== ALL_GROUP.name);
  const withPlacebos = (one: Table, parts: readonly Int32Array[]) =>
    system === "held, placebo groups" ? addPlacebos(one, told, parts, seed) : one;
  let last: number | null = null;
  const used = withPlacebos(table, [split.train, split.validation, split.test]);
  const model = await fitModel(used, bindingRequest(system, people, options), backend, ({ type }) => {
    if (type !== "done") last = performance.now();
  });
  const ended = last === null ? null : (performance.now() - last) / 1000;
  const predict = predictTables(model, backend);
  return {
    grid: timeGridOf(model),
    model,
    predictTable: predict,
    endSeconds: ended === null ? null : Number(ended.toFixed(2)),
    predictCurves: async (one) =>
      predict(withPlacebos(one, [Int32Array.from({ length: one.rows }, (_, row) => row)])),
  };
}

/** Which groups are terms and which make strata. */
export function splineCoxRequest(
  system: SplineCoxSystem,
  { table, outcomes, split, groups, three }: Omit<BindingPeople, "settings" | "seed">,
): SplineCoxRequest {
  const told = groups.filter(({ name }) => name !== ALL_GROUP.name);
  const features = table.columns
    .map(({ name }) => name)
    .filter((name) => name !== "time" && name !== "event");
  const asked = { table, outcomes, rows: joinSplit(split).train, features, terms: [], strata: [] };
  switch (system) {
    case "cox with splines and group terms":
      return { ...asked, terms: told };
    case "cox with splines, stratified by three":
      return { ...asked, strata: three };
    case "cox with splines, stratified":
      return { ...asked, strata: told };
  }
}

/** On the grid that the other systems take from the training rows. */
function openSplineCox(fitted: SplineCox, { outcomes, split }: BindingPeople): FittedBinding {
  const grid = fitTimeGrid(pickOutcomes(outcomes, split.train));
  return {
    grid,
    model: null,
    endSeconds: null,
    predictTable: async (table, rows) => fitted.predictCurves(table, grid, rows),
    predictCurves: async (table) => fitted.predictCurves(table, grid),
  };
}
