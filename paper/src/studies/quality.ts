/**
 * Does the default of 0.1.0, without the solve, do what it is for? The data are five splits of nwtco (without its row
 * id, 12 groups) and of flchain (without the leaking chapter, 25 groups), and the simulated eye cohort, whose true
 * curves are known. Graduate is compared with Cox and with its standing controls, which differ from it in one thing each: no multipliers, everyone
 * as the only group, and placebo groups (the same sizes and overlaps, members drawn at random); the network knows the
 * real groups in all of them. Every system is scored on the same test rows and real groups.
 */
import type { TrainRequest } from "graduate-survival";
import { InputError } from "graduate-survival/core";
import {
  ALL_GROUP,
  addGroupColumns,
  binOutcomes,
  type Curves,
  type Group,
  type GroupMembers,
  groupsFromFile,
  parseGroupsFile,
  pickOutcomes,
  type ReadTableOptions,
  type RightCensored,
  readOutcomes,
  readTable,
  type Split,
  splitByOrder,
  splitFromTable,
  type Table,
} from "graduate-survival/data";
import { openWasmBackend, tableSourceFromPath } from "graduate-survival/node";
import { groupSupport } from "graduate-survival/stats";
import type { Model } from "graduate-survival/training";
import { checkoutFile, readCheckout } from "../runs/checkout.ts";
import {
  asIn010,
  auditCurves,
  fitModel,
  joinSplit,
  membersAmong,
  predictRows,
  timeGridOf,
} from "../runs/fit.ts";
import { addPlacebos, namePlacebos } from "../runs/placebo.ts";
import { UNHELD } from "../runs/systems.ts";
import { countLost, openStrata, type StrataCounts } from "./cox-strata.ts";

export const QUALITY_TABLES = ["nwtco", "flchain", "eye"] as const;
export type QualityTable = (typeof QUALITY_TABLES)[number];

interface TableOptions {
  readonly time: string;
  readonly event: string;
  readonly drop: readonly string[];
  readonly category: readonly string[];
  /** Sizes of the one split that all repeats share. */
  readonly sizes?: readonly [number, number, number];
  readonly paperSlack: number;
}

const TABLES: Readonly<Record<QualityTable, TableOptions>> = {
  nwtco: { time: "edrel", event: "rel", drop: ["seqno"], category: ["stage"], paperSlack: 0.02 },
  flchain: { time: "futime", event: "death", drop: ["chapter"], category: [], paperSlack: 0.01 },
  // One cohort and one split: repeats differ in the starting weights and the order of the batches.
  eye: { time: "time", event: "event", drop: [], category: [], sizes: [1873, 1251, 1250], paperSlack: 0.01 },
};

export const QUALITY_SYSTEMS = [
  "cox",
  "cox with group terms",
  "graduate",
  "no multipliers",
  "all only",
  "placebo groups",
] as const;
/** The `paper` preset, run on one split of nwtco. */
const PAPER_SYSTEMS = ["paper drsa", "paper graduate"] as const;
const ALL_SYSTEMS = [...QUALITY_SYSTEMS, ...PAPER_SYSTEMS] as const;
export type QualitySystem = (typeof ALL_SYSTEMS)[number];

export interface QualityRun {
  readonly table: QualityTable;
  readonly system: QualitySystem;
  readonly seed: number;
}

/** One run's line of paper/quality.jsonl: scores on the test rows. */
export interface QualityLine extends QualityRun {
  readonly concordance: number;
  readonly ece: number;
  readonly subgroupEce: number;
  readonly ibs: number;
  readonly logrankP: number;
  readonly logrankIndividualP: number;
  readonly groupsRejected: number;
  readonly groups: number;
  readonly met: number;
  readonly held: number;
  readonly multipliers: object | null;
  readonly bestStep: number;
  readonly parameters: number;
  readonly seconds: number;
  /** For simulated people: the error of the mean curve, by group. */
  readonly trueError?: Readonly<Record<string, number>>;
}

/** Strata of all groups on one split of a public table: too many have no event for a row of the page. */
export interface QualityStrata extends StrataCounts {
  readonly table: "nwtco" | "flchain";
  readonly system: "cox with splines, stratified";
  readonly seed: number;
  readonly groups: number;
  readonly test: number;
}

/** The locations of files that are not in the checkout. */
export interface QualityFiles {
  /** Holds nwtco_seed1.csv … (row and set). */
  readonly splits: string;
  /** The simulated cohort, and its true curves. */
  readonly eye: string;
  readonly truth: string;
}

export function toQualitySystem(name: string): QualitySystem {
  const found = ALL_SYSTEMS.find((system) => system === name);
  if (found !== undefined) return found;
  throw new InputError(`no such system: ${name} (have ${ALL_SYSTEMS.join(", ")})`, {
    code: "quality.system",
  });
}

const read = async (path: string, options?: ReadTableOptions) =>
  readTable(await tableSourceFromPath(path), options);

async function openTable(name: QualityTable, { eye }: QualityFiles) {
  const path = name === "eye" ? eye : checkoutFile(`datasets/${name}/${name}.csv`);
  const groups = name === "eye" ? "paper/eye-groups.json" : `datasets/${name}/groups.json`;
  const table = await read(path, { category: TABLES[name].category });
  return { table, groupsFile: parseGroupsFile(readCheckout(groups), groups) };
}

async function openSplit(
  name: QualityTable,
  { rows }: Table,
  seed: number,
  files: QualityFiles,
): Promise<Split> {
  const { sizes } = TABLES[name];
  if (sizes === undefined) return splitFromTable(await read(`${files.splits}/${name}_seed${seed}.csv`), rows);
  const [training, validation, test] = sizes;
  return splitByOrder(rows, { seed: 1, fractions: [training / rows, validation / rows, test / rows] });
}

const withoutAll = (groups: readonly Group[]) => groups.filter(({ name }) => name !== ALL_GROUP.name);

/** The request to `train`, by system; everything else is the preset's. */
function requestOf(system: QualitySystem, name: QualityTable, groups: readonly Group[]): TrainRequest {
  const { time, event, drop, paperSlack } = TABLES[name];
  const real = withoutAll(groups);
  const asked: TrainRequest = { time, event, drop, groups: real, inputGroups: real, ...asIn010() };
  switch (system) {
    case "cox":
    case "cox with group terms":
      return { ...asked, method: "cox" };
    case "graduate":
      return asked;
    case "no multipliers":
      return { ...asked, ...asIn010(UNHELD) };
    case "all only":
      return { ...asked, groups: [] };
    case "placebo groups": {
      const placebos = namePlacebos(real);
      return { ...asked, drop: [...drop, ...placebos.columns], groups: placebos.groups };
    }
    case "paper drsa":
      return { ...asked, inputGroups: "none", preset: "paper", method: "drsa" };
    case "paper graduate":
      return { ...asked, inputGroups: "none", preset: "paper", constraint: { slack: paperSlack } };
  }
}

function prepareTable(
  system: QualitySystem,
  table: Table,
  split: Split,
  groups: readonly Group[],
  seed: number,
) {
  if (system === "cox with group terms") return addGroupColumns(table, withoutAll(groups));
  if (system !== "placebo groups") return table;
  return addPlacebos(table, withoutAll(groups), [split.train, split.validation, split.test], seed);
}

/**
 * Root mean square over t ≤ τ_g of a group's mean (predicted − true) curve: the error A of truth.ts, here over the test
 * rows.
 */
function trueErrors(
  curves: Curves,
  truth: readonly ArrayLike<number>[],
  rows: Int32Array,
  members: readonly GroupMembers[],
  supports: readonly number[],
): number[] {
  const { T } = curves;
  return members.map(({ rows: group }, g) => {
    let sum = 0;
    for (let t = 0; t < supports[g]; t++) {
      let gap = 0;
      for (const k of group) gap += curves.survival[k * T + t] - truth[t][rows[k]];
      sum += (gap / group.length) ** 2;
    }
    return Math.sqrt(sum / supports[g]);
  });
}

interface Scored {
  readonly table: Table;
  readonly split: Split;
  readonly outcomes: RightCensored;
  readonly groups: readonly Group[];
  readonly curves: Curves;
  readonly model: Model;
}

async function measureTrueErrors(scored: Scored, path: string): Promise<Readonly<Record<string, number>>> {
  const { table, split, outcomes, groups, curves, model } = scored;
  const columns = (await read(path)).columns.slice(1);
  const truth = columns.map((column) => {
    if (column.type === "number") return column.values;
    throw new InputError(`the true curves are not numbers: column "${column.name}"`, {
      code: "quality.truth",
    });
  });
  const training = binOutcomes(pickOutcomes(outcomes, split.train), timeGridOf(model));
  const supports = membersAmong(groups, table, split.train).map(({ rows }) =>
    groupSupport(training, { rows }),
  );
  const members = membersAmong(groups, table, split.test);
  const errors = trueErrors(curves, truth, split.test, members, supports);
  return Object.fromEntries(members.map(({ name }, k) => [name, Number(errors[k].toFixed(5))]));
}

async function scoreRun(run: QualityRun, scored: Scored, seconds: number): Promise<QualityLine> {
  const { table, split, outcomes, groups, curves, model } = scored;
  const binned = binOutcomes(pickOutcomes(outcomes, split.test), timeGridOf(model));
  const audited = await auditCurves(curves, binned, membersAmong(groups, table, split.test), { draws: 0 });
  const { overall, groups: judged } = audited;
  const { verdict, multipliers, bestStep, parameters } = model.training;
  return {
    ...run,
    concordance: overall.concordance ?? Number.NaN,
    ece: overall.paper.ece ?? Number.NaN,
    subgroupEce: judged.reduce((sum, { paper }) => sum + (paper.ece ?? 0), 0) / judged.length,
    ibs: overall.ibs ?? Number.NaN,
    logrankP: overall.logrank.p ?? Number.NaN,
    logrankIndividualP: overall.logrankIndividual.p ?? Number.NaN,
    groupsRejected: judged.filter(({ logrankIndividual }) => (logrankIndividual.p ?? 1) < 0.05).length,
    groups: judged.length,
    met: verdict.filter(({ status }) => status === "met").length,
    held: verdict.filter(({ status }) => status !== "unsupported").length,
    multipliers: multipliers && {
      start: multipliers.start,
      end: multipliers.end.map((value) => Number(value.toPrecision(4))),
      fixedPenalty: multipliers.fixedPenalty,
    },
    bestStep,
    parameters,
    seconds: Number(seconds.toFixed(1)),
  };
}

export async function runQuality(run: QualityRun, files: QualityFiles): Promise<QualityLine> {
  const { table: name, system, seed } = run;
  const { table, groupsFile } = await openTable(name, files);
  const split = await openSplit(name, table, seed, files);
  const { time, event } = TABLES[name];
  const groups = groupsFromFile(groupsFile, table, split.train, { exclude: [time, event] });
  const outcomes = readOutcomes(table, { time, event });
  const used = prepareTable(system, table, split, groups, seed);
  // The eye cohort's truth is given on equal bins of the largest time of all rows.
  const horizon = name === "eye" ? { horizon: Math.max(...outcomes.time) } : {};
  const backend = await openWasmBackend({ threads: 1 });
  try {
    const started = performance.now();
    const request = { ...requestOf(system, name, groups), ...horizon, split, seed };
    const model = await fitModel(used, request, backend);
    const seconds = (performance.now() - started) / 1000;
    const curves = await predictRows(model, used, split.test, backend);
    const scored = { table, split, outcomes, groups, curves, model };
    const line = await scoreRun(run, scored, seconds);
    return name === "eye" ? { ...line, trueError: await measureTrueErrors(scored, files.truth) } : line;
  } finally {
    await backend.close();
  }
}

export async function countQualityStrata(
  name: QualityStrata["table"],
  seed: number,
  files: QualityFiles,
): Promise<QualityStrata> {
  const { table, groupsFile } = await openTable(name, files);
  const split = await openSplit(name, table, seed, files);
  const { time, event } = TABLES[name];
  const groups = withoutAll(groupsFromFile(groupsFile, table, split.train, { exclude: [time, event] }));
  const rows = joinSplit(split).train;
  const own = openStrata({ table, outcomes: readOutcomes(table, { time, event }), rows, strata: groups });
  return {
    table: name,
    system: "cox with splines, stratified",
    seed,
    groups: groups.length,
    ...countLost(own, table, split.test),
    test: split.test.length,
  };
}
