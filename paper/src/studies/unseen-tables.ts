/**
 * Tables on which nothing was tuned, used as by someone who has never seen this program. For each table of
 * paper/tables.json: what `describe` finds; and splits on which the default is compared with Cox, with Cox with the
 * groups as terms, and with parts of itself: one run of the default, what a run starts from (an additive model, without
 * training and without being held), and the default of version 0.1.0. Rows of one patient (plan: `patient`) stay in one part of a split.
 * unseen-commands.ts has the commands that a user would run.
 */
import { join } from "node:path";
import type { AuditTable, FitRequest } from "graduate-survival";
import { InputError } from "graduate-survival/core";
import {
  addGroupColumns,
  binOutcomes,
  checkTable,
  findColumn,
  fitTimeGrid,
  pickOutcomes,
  readOutcomes,
  readTable,
  type Split,
  splitByOrder,
  type Table,
} from "graduate-survival/data";
import { openWasmBackend, tableSourceFromPath } from "graduate-survival/node";
import { MINIMUM_EVENTS } from "graduate-survival/stats";
import { readCheckout } from "../runs/checkout.ts";
import { asIn010, auditCurves, auditRows, fitDefault, joinSplit, membersAmong, START } from "../runs/fit.ts";
import { mean } from "../summaries/summary.ts";
import { countLost, fitSplineCox } from "./cox-strata.ts";

export const UNSEEN_SYSTEMS = [
  "cox",
  "cox with group terms",
  "graduate 0.1.0",
  "start",
  "one run",
  "graduate",
] as const;
export type UnseenSystem = (typeof UNSEEN_SYSTEMS)[number];

/** A table of the plan. */
export interface UnseenTable {
  readonly name: string;
  readonly file: string;
  readonly time: string;
  readonly event: string;
  readonly timeUnit: string;
  readonly drop: readonly string[];
  /** Expressions. */
  readonly groups: readonly string[];
  /** Column that identifies the patient, where a patient has several rows. */
  readonly patient?: string;
}

export interface UnseenPlan {
  readonly seeds: readonly number[];
  readonly systems: readonly UnseenSystem[];
  readonly tables: readonly UnseenTable[];
  /** Cox with splines, stratified by the groups: a table has a row where at most this share of test rows is lost. */
  readonly strata: { readonly about: string; readonly lostAtMost: number };
}

/** What `describe` finds, and the sizes. */
export interface TableLine {
  readonly kind: "table";
  readonly table: string;
  readonly rows: number;
  readonly columns: number;
  readonly events: number;
  readonly groups: readonly string[];
  readonly drop: readonly string[];
  readonly findings: readonly { readonly level: string; readonly code: string; readonly message: string }[];
}

/** The scores of test rows; a group is judged if it has ten events among them. */
export interface UnseenScores {
  readonly concordance: number | null;
  readonly ece: number | null;
  readonly eceFloor: number | null;
  readonly eceP: number | null;
  readonly groupEce: number | null;
  readonly groupEceFloor: number | null;
  readonly worstEce: number | null;
  readonly worstGroup: string | null;
  readonly ibs: number | null;
  readonly logrankIndividualP: number | null;
  readonly judged: number;
  readonly rejected: number;
  readonly supportedBins: number;
}

interface RunIdentity {
  readonly kind: "run";
  readonly table: string;
  readonly system: UnseenSystem;
  readonly seed: number;
  readonly rows: { readonly train: number; readonly valid: number; readonly test: number };
}

/** A system on one split. */
export interface UnseenRun extends RunIdentity, UnseenScores {
  readonly testEvents: number;
  readonly met: number;
  readonly held: number;
  readonly asked: number;
  readonly bestStep: number;
  readonly parameters: number;
  /** For graduate: constraints that are missed, and the warnings of training. */
  readonly unmet?: readonly string[];
  readonly warnings?: readonly string[];
  readonly seconds: number;
}

/**
 * Cox with splines, stratified by all groups of the table, on one split; it learns from training and validation rows,
 * as graduate does.
 */
export interface StrataLine extends UnseenScores {
  readonly kind: "strata";
  readonly table: string;
  readonly seed: number;
  readonly strata: number;
  readonly withoutEvents: number;
  /** Test rows whose stratum has no event or is new: their curves stay at 1. */
  readonly lost: number;
  readonly test: number;
  readonly seconds: number;
}

export interface FailedRun extends RunIdentity {
  readonly failure: string;
}

export function readUnseenPlan(): UnseenPlan {
  return JSON.parse(readCheckout("paper/tables.json")) as UnseenPlan;
}

const round = (value: number | null, digits = 6) =>
  value === null ? null : Number(value.toPrecision(digits));

export async function openUnseen({ file }: UnseenTable, folder: string): Promise<Table> {
  return readTable(await tableSourceFromPath(join(folder, file)));
}

/** All rows of a patient go to the same part. */
export function splitUnseen(table: Table, { patient }: UnseenTable, seed: number): Split {
  if (patient === undefined) return splitByOrder(table.rows, { seed });
  const column = findColumn(table, patient);
  if (column.type !== "number")
    throw new InputError(`column "${patient}" is not of numbers`, { code: "tables.patient" });
  const { values } = column;
  const patients = [...new Set(values)];
  const split = splitByOrder(patients.length, { seed });
  const rowsOf = (chosen: Int32Array) => {
    const wanted = new Set(Array.from(chosen, (k) => patients[k]));
    return Int32Array.from({ length: table.rows }, (_, row) => row).filter((row) => wanted.has(values[row]));
  };
  return { train: rowsOf(split.train), validation: rowsOf(split.validation), test: rowsOf(split.test) };
}

function readScores({ overall, groups }: AuditTable): UnseenScores {
  const judged = groups.flatMap((group) =>
    group.events >= MINIMUM_EVENTS && group.paper.ece !== null ? [{ ...group, ece: group.paper.ece }] : [],
  );
  const [first, ...others] = judged;
  const worst = first && others.reduce((one, other) => (other.ece > one.ece ? other : one), first);
  const average = (values: readonly number[]) => (values.length === 0 ? null : round(mean(values)));
  return {
    concordance: round(overall.concordance),
    ece: round(overall.paper.ece),
    eceFloor: round(overall.paper.noiseFloor?.ece ?? null),
    eceP: round(overall.paper.noiseFloor?.p ?? null),
    groupEce: average(judged.map(({ ece }) => ece)),
    groupEceFloor: average(judged.map(({ paper }) => paper.noiseFloor?.ece ?? Number.NaN)),
    worstEce: round(worst?.ece ?? null),
    worstGroup: worst?.name ?? null,
    ibs: round(overall.ibs),
    logrankIndividualP: round(overall.logrankIndividual.p),
    judged: judged.length,
    rejected: judged.filter(({ logrankIndividual }) => (logrankIndividual.p ?? 1) < 0.05).length,
    supportedBins: overall.supported.bins,
  };
}

export interface UnseenRequest {
  readonly system: UnseenSystem;
  readonly seed: number;
  readonly threads: number;
}

export async function runUnseen(
  entry: UnseenTable,
  folder: string,
  { system, seed, threads }: UnseenRequest,
): Promise<UnseenRun | FailedRun> {
  const { name, time, event, drop } = entry;
  const table = await openUnseen(entry, folder);
  const split = splitUnseen(table, entry, seed);
  const groups = entry.groups.map((expression) => ({ name: expression, expression }));
  const used = system === "cox with group terms" ? addGroupColumns(table, groups) : table;
  const isCox = system === "cox" || system === "cox with group terms";
  const backend = await openWasmBackend({ threads });
  const rows = { train: split.train.length, valid: split.validation.length, test: split.test.length };
  const identity: RunIdentity = { kind: "run", table: name, system, seed, rows };
  const started = performance.now();
  try {
    // The split already keeps a patient's rows together.
    const rowsAreIndependent = entry.patient !== undefined;
    const request = { time, event, drop, groups, split, seed, rowsAreIndependent, ...describeSystem(system) };
    const model = await fitDefault(used, request, backend);
    const seconds = Number(((performance.now() - started) / 1000).toFixed(1));
    const audited = await auditRows(model, used, split.test, groups, backend);
    const { verdict, warnings, bestStep, parameters } = model.training;
    const held = verdict.filter(({ status }) => status !== "unsupported");
    const counts = { met: held.filter(({ status }) => status === "met").length, held: held.length };
    // The group terms of Cox repeat columns it already has, as intended.
    const said = { unmet: held.filter(({ status }) => status !== "met").map(({ group }) => group), warnings };
    return {
      ...identity,
      testEvents: audited.overall.events,
      ...readScores(audited),
      ...counts,
      asked: groups.length + 1,
      bestStep,
      parameters,
      ...(isCox ? {} : said),
      seconds,
    };
  } catch (error) {
    return { ...identity, failure: error instanceof Error ? error.message : String(error) };
  } finally {
    await backend.close();
  }
}

export async function runStrata(entry: UnseenTable, folder: string, seed: number): Promise<StrataLine> {
  const { name, time, event, drop } = entry;
  const table = await openUnseen(entry, folder);
  const split = splitUnseen(table, entry, seed);
  const groups = entry.groups.map((expression) => ({ name: expression, expression }));
  const outcomes = readOutcomes(table, { time, event });
  const features = table.columns
    .map((column) => column.name)
    .filter((one) => ![time, event, ...drop].includes(one));
  const rows = joinSplit(split).train;
  const started = performance.now();
  const fitted = fitSplineCox({ table, outcomes, rows, features, terms: [], strata: groups });
  const seconds = Number(((performance.now() - started) / 1000).toFixed(1));
  const grid = fitTimeGrid(pickOutcomes(outcomes, split.train));
  const curves = fitted.predictCurves(table, grid, split.test);
  const binned = binOutcomes(pickOutcomes(outcomes, split.test), grid);
  const audited = await auditCurves(curves, binned, membersAmong(groups, table, split.test));
  return {
    kind: "strata",
    table: name,
    seed,
    ...countLost(fitted, table, split.test),
    test: split.test.length,
    ...readScores(audited),
    seconds,
  };
}

/** What a system asks for, beside what all do. */
function describeSystem(
  system: UnseenSystem,
): Pick<FitRequest, "method" | "ensemble" | "splines" | "numbers" | "options"> {
  switch (system) {
    case "cox":
    case "cox with group terms":
      return { method: "cox", ensemble: 1 };
    case "graduate 0.1.0":
      return { ...asIn010(), ensemble: 1 };
    case "start":
      return START;
    case "one run":
      return { ensemble: 1 };
    case "graduate":
      return {};
  }
}

export async function describeUnseen(entry: UnseenTable, folder: string): Promise<TableLine> {
  const table = await openUnseen(entry, folder);
  const { event } = readOutcomes(table, entry);
  const { findings } = checkTable(table, entry);
  return {
    kind: "table",
    table: entry.name,
    rows: table.rows,
    columns: table.columns.length,
    events: event.reduce((sum, one) => sum + one, 0),
    groups: entry.groups,
    drop: entry.drop,
    findings: findings.map(({ level, code, message }) => ({ level, code, message })),
  };
}
