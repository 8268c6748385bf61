/**
 * The systems of the paper's tables and their controls, each as what `train` is asked for. Within a preset they share features, network,
 * split, seed and steps; a system differs in its loss, its constraint, or what happens afterwards. Of the networks only those that
 * are held to groups are told who is in them (`default` preset), which the features say too:
 *   drsa, xcal, rps       the losses of method §3 and §8, weights kept by validation C-index; drsa without tail is the plain likelihood,
 *                         which in `default` keeps the averaged weights of least validation loss, as graduate does
 *   … kept by …           the same network and loss under the other of these two rules (`default`)
 *   mcboost               drsa's curves (`paper`) or drsa without tail's (`default`, as boosting the tail term's damage would be no test),
 *                         repaired on the validation rows by our mended form of MCBoostSurv: as many rounds as the reference, 25
 *                         (`paper`), or as many as folds allow (`default`); mcboost reference: by the R package's form, faults included
 *   graduate l2, variance the paper's constraints; graduate is the `default` preset as it is (atRisk)
 *   five graduates        the ensemble of five runs of graduate, which learns from the validation rows as well; cox of all rows does too
 *   … with splines        graduate or five of them, with splines of every number among the features (data/spline.ts)
 *   controls              placebo groups: who names groups of the same sizes and overlaps whose members are drawn at random; all only: who
 *                         names none; no multipliers: the groups are named, but their multipliers are held at 0
 *   generator             the family the simulated people are drawn from, fitted by maximum likelihood: what can be reached
 */
import {
  type Backend,
  gridOf,
  preparePredictor,
  type TrainEvent,
  type TrainRequest,
  train,
  trainEnsemble,
} from "graduate";
import { createRandom, InputError, shuffle } from "graduate/core";
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
  resolveGroups,
  type Table,
  type TimeGrid,
} from "graduate/data";
import { applyBoost, fitBoost, fitBoostRounds, type McBoost } from "graduate/repair";
import type { Model, PresetName } from "graduate/training";
import { fitGenerator } from "../eye/generator-fit.ts";
import type { EyeCohort } from "../eye/simulate.ts";
import type { OpenCohort } from "./cohorts.ts";
import type { Plan, RunLine, SystemName } from "./plan.ts";
import { boostedNetwork, isBoosted, type NetworkShelf } from "./shared-network.ts";

/** Apart from every stream that a run of the same seed uses. */
const PLACEBO_STREAM = 0x50000000;

/** Runs of an ensemble. */
export const MEMBERS = 5;
export function isEnsemble(system: SystemName): boolean {
  return system === "five graduates" || system === "five with splines";
}

/** How the `default` preset chooses a boost's rounds: two dealings of five folds. */
const BOOST_FOLDS = { folds: 5, repeats: 2 } as const;

export interface FitRequest {
  readonly system: SystemName;
  readonly preset: PresetName;
  readonly seed: number;
  /** Other than the preset's. */
  readonly bins?: number;
  readonly steps?: number;
}

type TrainedRequest = FitRequest & { readonly system: Exclude<SystemName, "generator"> };

export interface FittedSystem {
  readonly grid: TimeGrid;
  /** Of any table with the cohort's columns. */
  readonly predictCurves: (table: Table, rows?: ArrayLike<number>) => Promise<Curves>;
  /** Set for a system that knows simulated people as they were drawn, and not by their table. */
  readonly predictDrawn?: (people: EyeCohort, rows?: ArrayLike<number>) => Curves;
  /** Null for what is no model of the package. */
  readonly training: Model["training"] | null;
  /** Updates of a boost; null for what is not boosted. */
  readonly boostRounds: number | null;
}

/** What a plan asks of one of its systems. */
export function fitRequestOf(
  { preset, bins, steps }: Plan,
  { system, seed }: Pick<RunLine, "system" | "seed">,
): FitRequest {
  return { system, seed, preset, ...given(bins, steps) };
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
    const run = isEnsemble(system)
      ? trainEnsemble(table, { ...asked, members: MEMBERS }, backend)
      : train(table, asked, backend);
    let next = await run.next();
    for (; !next.done; next = await run.next()) onEvent(next.value);
    shelf?.keep(next.value);
    return next.value;
  };
  const model = shelf?.find() ?? (await trainAnew());
  const predict = preparePredictor(model, backend);
  const widen = (one: Table) => {
    if (one === cohort.table) return table;
    if (system === "cox with group terms") return addGroupColumns(one, namedGroups(cohort));
    if (system !== "placebo groups") return one;
    return exchangeMembers(cohort, one, [Int32Array.from({ length: one.rows }, (_, row) => row)], seed);
  };
  const plain = async (one: Table, rows?: ArrayLike<number>) => (await predict(widen(one), rows)).curves;
  const fitted = { grid: gridOf(model), training: model.training };
  if (!isBoosted(system)) return { ...fitted, predictCurves: plain, boostRounds: null };
  const boost = await boostOnValidation(cohort, request, fitted.grid, plain);
  return {
    ...fitted,
    boostRounds: boost.updates.length,
    predictCurves: async (one, rows) =>
      applyBoost(boost, await plain(one, rows), { groups: membersAmong(cohort.groups, one, rows) }),
  };
}

/** On the time grid that the others have. */
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

function given(bins: number | undefined, steps: number | undefined) {
  return { ...(bins === undefined ? {} : { bins }), ...(steps === undefined ? {} : { steps }) };
}

/** What `train` is asked for; all else is the preset's. */
export function requestOf(
  cohort: OpenCohort,
  { system, preset, seed, bins, steps }: TrainedRequest,
): TrainRequest {
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
    options: steps === undefined ? {} : { steps },
  };
  const isPaper = preset === "paper";
  const held: TrainRequest = isPaper ? asked : { ...asked, inputGroups: real };
  switch (system) {
    case "cox of all rows": {
      const rows = joinRows(split.train, split.valid);
      return { ...asked, method: "cox", split: { train: rows, valid: new Int32Array(), test: split.test } };
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
      return requestOf(cohort, { system: boostedNetwork(preset), preset, seed, ...given(bins, steps) });
    case "graduate l2":
      return { ...held, constraint: { kind: "l2", ...(isPaper ? { slack: plan.paperSlack } : {}) } };
    case "graduate variance":
      return { ...held, constraint: { kind: "variance" } };
    case "graduate":
    case "five graduates":
      return held;
    case "graduate with splines":
    case "five with splines":
      return { ...held, splines: true };
    case "no multipliers":
      return { ...held, options: { ...asked.options, dual: { form: "ascent", rate: 0, start: 0 } } };
    case "all only":
      return { ...asked, groups: [] };
    case "placebo groups": {
      const placebos = real.map(({ name }, g) => ({ name, expression: `"${placeboColumn(g)}"` }));
      const drop = [...columns.drop, ...placebos.map((_, g) => placeboColumn(g))];
      return { ...asked, drop, groups: placebos, inputGroups: placebos };
    }
  }
}

/** Columns that are named must have the groups' columns named with them. */
function widenFeatures({ features }: TrainRequest, system: SystemName, groups: readonly Group[]) {
  if (features === undefined || system === "cox") return {};
  return { features: [...features, ...groups.map((group) => groupColumnName(group))] };
}

function prepareTable(cohort: OpenCohort, system: SystemName, seed: number): Table {
  if (system === "cox with group terms") return addGroupColumns(cohort.table, namedGroups(cohort));
  return system === "placebo groups" ? addPlacebos(cohort, seed) : cohort.table;
}

function placeboColumn(group: number): string {
  return `placebo ${group}`;
}

/** Each group as a column of its own, its rows exchanged at random with others of the same part of the split. */
function addPlacebos(cohort: OpenCohort, seed: number): Table {
  const { train: training, valid, test } = cohort.split;
  return exchangeMembers(cohort, cohort.table, [training, valid, test], seed);
}

function exchangeMembers(
  cohort: OpenCohort,
  table: Table,
  parts: readonly Int32Array[],
  seed: number,
): Table {
  const from = Int32Array.from({ length: table.rows }, (_, row) => row);
  parts.forEach((part, k) => {
    const order = Int32Array.from(part);
    shuffle(order, createRandom(seed, PLACEBO_STREAM + k));
    part.forEach((row, i) => {
      from[row] = order[i];
    });
  });
  const groups = resolveGroups(namedGroups(cohort), table, { unknownLevels: "allow" });
  const columns = groups.map(({ rows }, g) => {
    const members = new Set(rows);
    const values = Uint8Array.from(from, (row) => (members.has(row) ? 1 : 0));
    return { name: placeboColumn(g), type: "boolean" as const, values };
  });
  return { ...table, columns: [...table.columns, ...columns] };
}

/** Groups whose rows are places among `rows` of the table (all of them, unless said). */
export function membersAmong(groups: readonly Group[], table: Table, rows?: ArrayLike<number>) {
  const resolved = resolveGroups(groups, table, { unknownLevels: "allow" });
  if (rows === undefined) return resolved;
  const place = new Int32Array(table.rows).fill(-1);
  for (let k = 0; k < rows.length; k++) place[rows[k]] = k;
  return resolved.map((group) => ({
    ...group,
    rows: group.rows.map((row) => place[row]).filter((k) => k >= 0),
  }));
}

async function boostOnValidation(
  cohort: OpenCohort,
  { system, preset, seed }: FitRequest,
  grid: TimeGrid,
  predict: FittedSystem["predictCurves"],
): Promise<McBoost> {
  const { table, outcomes, split, groups } = cohort;
  const task = {
    curves: await predict(table, split.valid),
    outcomes: binOutcomes(pickOutcomes(outcomes, split.valid), grid),
    groups: membersAmong(groups, table, split.valid).filter(({ rows }) => rows.length > 0),
  };
  if (system === "mcboost reference") return fitBoost(task, { reference: true });
  return preset === "paper" ? fitBoost(task) : fitBoostRounds(task, { ...BOOST_FOLDS, seed }).boost;
}
