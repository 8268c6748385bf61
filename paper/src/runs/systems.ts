/**
 * The systems of the paper's tables and their controls, each as a request to `train`. Within a preset they share
 * features, network, split, seed and steps; a system differs in its loss, its constraint, or what happens afterwards.
 * Among the networks, only those that are held to groups are told who is in them (`default` preset); the features imply
 * this too:
 *   drsa, xcal, rps       their own losses, weights kept by validation C-index; drsa without tail is the
 *                         plain likelihood, which in `default` keeps the averaged weights of least validation loss, as
 *                         graduate does
 *   … kept by …           the same network and loss under the other of these two rules (`default`)
 *   mcboost               drsa's curves (`paper`) or drsa without tail's (`default`, as boosting the tail term's damage
 *                         would be no test), repaired on the validation rows by our corrected form of MCBoostSurv: with
 *                         the reference's 25 rounds (`paper`), or as many as folds allow (`default`); mcboost
 *                         reference: by the R package's form, faults included
 *   drsa kept by          drsa's loss (or drsa without tail's), and the iterate that GRADUATE would keep: the one that
 *   constraints           meets most constraints (`paper`)
 *   graduate l2 …         GRADUATE (L²) with another loss, or kept by validation C-index (`paper`)
 *   graduate l2, variance the paper's constraints; graduate is the `default` preset as it was in 0.1.0 (atRisk)
 *   five graduates        the ensemble of five runs of graduate, which also learns from the validation rows; so does
 *                         cox of all rows
 *   … with splines        graduate or five of them, with splines of every number among the features
 *   controls              placebo groups: the named groups have the same sizes and overlaps, but members drawn at
 *                         random; all only: no groups are named; no multipliers: the groups are named, but their
 *                         multipliers are held at 0, and nothing is solved
 *   generator             the family the simulated people are drawn from, fitted by maximum likelihood: the best that
 *                         can be reached
 */

import type { Backend, TrainEvent, TrainRequest } from "graduate-survival";
import { InputError } from "graduate-survival/core";
import {
  ALL_GROUP,
  addGroupColumns,
  binOutcomes,
  type Curves,
  fitTimeGrid,
  type Group,
  groupColumnName,
  joinRows,
  pickOutcomes,
  type Table,
  type TimeGrid,
} from "graduate-survival/data";
import { applyBoost, fitBoost, fitBoostRounds, type McBoost } from "graduate-survival/repair";
import type { Model, PresetName } from "graduate-survival/training";
import { fitGenerator } from "../eye/generator-fit.ts";
import type { EyeCohort } from "../eye/simulate.ts";
import type { OpenCohort } from "./cohorts.ts";
import { asIn010, fitModel, membersAmong, type PredictTable, predictTables, timeGridOf } from "./fit.ts";
import { addPlacebos, namePlacebos } from "./placebo.ts";
import type { Plan, RunLine, SystemName } from "./plan.ts";
import { boostedNetwork, isBoosted, type NetworkShelf } from "./shared-network.ts";

/** Runs of an ensemble. */
export const MEMBERS = 5;
export function isEnsemble(system: SystemName): boolean {
  return system === "five graduates" || system === "five with splines";
}

/** How the `default` preset chooses a boost's rounds: five folds, drawn twice. */
const BOOST_FOLDS = { folds: 5, repeats: 2 } as const;

export interface FitRequest {
  readonly system: SystemName;
  readonly preset: PresetName;
  readonly seed: number;
  /** Where it differs from the preset's. */
  readonly bins?: number;
  readonly steps?: number;
  readonly evaluateEvery?: number;
  readonly primalSteps?: number;
}

/** Nobody is held: not by multipliers, and not by the solve that ends a run. */
export const UNHELD = { dual: { form: "ascent", rate: 0, start: 0 }, solve: "none" } as const;

const WITHOUT_TAIL = { kind: "likelihood", tail: false } as const;

type TrainedRequest = FitRequest & { readonly system: Exclude<SystemName, "generator"> };

export interface FittedSystem {
  readonly grid: TimeGrid;
  /** For any table with the cohort's columns. */
  readonly predictCurves: PredictTable;
  /** Set for a system that knows simulated people as they were drawn, not by their table. */
  readonly predictDrawn?: (people: EyeCohort, rows?: ArrayLike<number>) => Curves;
  /** Null for a system that is not a model of the package. */
  readonly training: Model["training"] | null;
  /** Updates of a boost; null for a system without one. */
  readonly boostRounds: number | null;
}

/** The request of a plan for one of its systems. */
export function fitRequestOf(plan: Plan, { system, seed }: Pick<RunLine, "system" | "seed">): FitRequest {
  return { system, seed, preset: plan.preset, ...given(plan) };
}

export async function fitSystem(
  cohort: OpenCohort,
  request: FitRequest,
  backend: Backend,
  onEvent: (event: TrainEvent) => void = () => {},
  shelf?: NetworkShelf,
): Promise<FittedSystem> {
  const { system, seed } = request;
  if (system === "generator") return fitFamily(cohort, request.bins);
  const table = prepareTable(cohort, system, seed);
  const asked = requestOf(cohort, { ...request, system });
  const trainAnew = async () => {
    const members = isEnsemble(system) ? { ensemble: MEMBERS } : {};
    const trained = await fitModel(table, { ...asked, ...members }, backend, onEvent);
    shelf?.keep(trained);
    return trained;
  };
  const model = shelf?.find() ?? (await trainAnew());
  const predict = predictTables(model, backend);
  const widen = (one: Table) => {
    if (one === cohort.table) return table;
    if (system === "cox with group terms") return addGroupColumns(one, namedGroups(cohort));
    if (system !== "placebo groups") return one;
    return addPlacebos(
      one,
      namedGroups(cohort),
      [Int32Array.from({ length: one.rows }, (_, row) => row)],
      seed,
    );
  };
  const plain: PredictTable = async (one: Table, rows?: ArrayLike<number>) => predict(widen(one), rows);
  const fitted = { grid: timeGridOf(model), training: model.training };
  if (!isBoosted(system)) return { ...fitted, predictCurves: plain, boostRounds: null };
  const boost = await boostOnValidation(cohort, request, fitted.grid, plain);
  return {
    ...fitted,
    boostRounds: boost.updates.length,
    predictCurves: async (one, rows) =>
      applyBoost(boost, await plain(one, rows), { groups: membersAmong(cohort.groups, one, rows) }),
  };
}

/** Fits the generating family, on the same time grid as the others. */
function fitFamily({ eye, outcomes, split }: OpenCohort, bins: number | undefined): FittedSystem {
  if (eye === null) throw new InputError("only simulated people have a generator", { code: "plan.system" });
  const grid = fitTimeGrid(pickOutcomes(outcomes, split.train), bins === undefined ? {} : { T: bins });
  const fit = fitGenerator(eye, split.train);
  const predictDrawn = (people: EyeCohort, rows?: ArrayLike<number>): Curves => {
    const survival = fit.survival(people, grid.edges.subarray(1), rows);
    return { N: survival.length / grid.T, T: grid.T, survival };
  };
  return {
    grid,
    predictDrawn,
    predictCurves: async (_, rows) => predictDrawn(eye, rows),
    training: null,
    boostRounds: null,
  };
}

function namedGroups({ groups }: OpenCohort): readonly Group[] {
  return groups.filter(({ name }) => name !== ALL_GROUP.name);
}

/** What differs from the preset. */
function given({ bins, steps, evaluateEvery, primalSteps }: Partial<FitRequest>) {
  return {
    ...(bins === undefined ? {} : { bins }),
    ...(steps === undefined ? {} : { steps }),
    ...(evaluateEvery === undefined ? {} : { evaluateEvery }),
    ...(primalSteps === undefined ? {} : { primalSteps }),
  };
}

/** The request to `train`; everything else is the preset's. */
export function requestOf(cohort: OpenCohort, request: TrainedRequest): TrainRequest {
  const { system, preset, seed } = request;
  const { bins, ...options } = given(request);
  const { plan, time, event, split } = cohort;
  const real = namedGroups(cohort);
  const columns =
    plan.kind === "table"
      ? {
          drop: plan.drop,
          allowLeak: plan.allowLeak,
          ...(plan.features === undefined ? {} : { features: plan.features }),
        }
      : { drop: [] };
  const asked: TrainRequest = {
    time,
    event,
    ...columns,
    split,
    seed,
    preset,
    groups: real,
    inputGroups: "none",
    ...(bins === undefined ? {} : { bins }),
    ...asIn010(options),
  };
  const isPaper = preset === "paper";
  const held: TrainRequest = isPaper ? asked : { ...asked, inputGroups: real };
  const changeL2 = (options: TrainRequest["options"]): TrainRequest => {
    const l2 = requestOf(cohort, { ...request, system: "graduate l2" });
    return { ...l2, options: { ...l2.options, ...options } };
  };
  switch (system) {
    case "cox of all rows": {
      const rows = joinRows(split.train, split.validation);
      return {
        ...asked,
        method: "cox",
        split: { train: rows, validation: new Int32Array(), test: split.test },
      };
    }
    case "cox":
    case "cox with group terms":
      return { ...asked, method: "cox", ...widenFeatures(asked, system, real) };
    case "drsa":
    case "xcal":
    case "rps":
      return { ...asked, method: system, options: { ...asked.options, keep: "concordance" } };
    case "drsa kept by loss":
      return { ...asked, method: "drsa", options: { ...asked.options, keep: "validation" } };
    case "xcal kept by loss":
      return { ...asked, method: "xcal", options: { ...asked.options, keep: "validation" } };
    case "rps kept by loss":
      return { ...asked, method: "rps", options: { ...asked.options, keep: "validation" } };
    case "drsa without tail":
      return { ...asked, method: "nll" };
    case "drsa without tail kept by concordance":
      return { ...asked, method: "nll", options: { ...asked.options, keep: "concordance" } };
    case "mcboost":
    case "mcboost reference":
      return requestOf(cohort, { system: boostedNetwork(preset), preset, seed, ...given(request) });
    case "graduate l2":
      return { ...held, constraint: { distance: "l2", ...(isPaper ? { slack: plan.paperSlack } : {}) } };
    case "drsa kept by constraints":
      return changeL2(UNHELD);
    case "drsa without tail kept by constraints":
      return changeL2({ ...UNHELD, objective: WITHOUT_TAIL });
    case "graduate l2 kept by concordance":
      return changeL2({ keep: "concordance" });
    case "graduate l2 without tail":
      return changeL2({ objective: WITHOUT_TAIL });
    case "graduate l2 without tail kept by concordance":
      return changeL2({ objective: WITHOUT_TAIL, keep: "concordance" });
    case "graduate variance":
      return { ...held, constraint: { distance: "variance" } };
    case "graduate":
    case "five graduates":
      return held;
    case "graduate with splines":
    case "five with splines":
      return { ...held, splines: true };
    case "no multipliers":
      return { ...held, options: { ...asked.options, ...UNHELD } };
    case "all only":
      return { ...asked, groups: [] };
    case "placebo groups": {
      const placebos = namePlacebos(real);
      const drop = [...columns.drop, ...placebos.columns];
      return { ...asked, drop, groups: placebos.groups, inputGroups: placebos.groups };
    }
  }
}

/** Where features are named, the groups' columns must be named with them. */
function widenFeatures({ features }: TrainRequest, system: SystemName, groups: readonly Group[]) {
  if (features === undefined || system === "cox") return {};
  return { features: [...features, ...groups.map((group) => groupColumnName(group))] };
}

function prepareTable(cohort: OpenCohort, system: SystemName, seed: number): Table {
  if (system === "cox with group terms") return addGroupColumns(cohort.table, namedGroups(cohort));
  if (system !== "placebo groups") return cohort.table;
  const { train: training, validation: valid, test } = cohort.split;
  return addPlacebos(cohort.table, namedGroups(cohort), [training, valid, test], seed);
}

async function boostOnValidation(
  cohort: OpenCohort,
  { system, preset, seed }: FitRequest,
  grid: TimeGrid,
  predict: FittedSystem["predictCurves"],
): Promise<McBoost> {
  const { table, outcomes, split, groups } = cohort;
  const task = {
    curves: await predict(table, split.validation),
    outcomes: binOutcomes(pickOutcomes(outcomes, split.validation), grid),
    groups: membersAmong(groups, table, split.validation).filter(({ rows }) => rows.length > 0),
  };
  if (system === "mcboost reference") return fitBoost(task, { reference: true });
  return preset === "paper" ? fitBoost(task) : fitBoostRounds(task, { ...BOOST_FOLDS, seed }).boost;
}
