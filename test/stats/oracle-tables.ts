/**
 * The tables the R oracles in test/oracles were computed on, read as the library reads them, and the oracles
 * themselves. R's conventions for the groups (findInterval bands, logicals as 0/1) are repeated here.
 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect } from "vitest";
import type { Curves } from "../../src/data/curves/curves.ts";
import type { BinnedRightCensored, RightCensored } from "../../src/data/outcomes/outcomes.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { cellText, findColumn, isMissing, type Table } from "../../src/data/table.ts";

export type Json = number | string | null;
type Column = readonly Json[];

export interface KaplanMeierOracle {
  readonly index: readonly number[];
  readonly [key: string]: Column;
}

export interface LogrankOracle {
  readonly levels: readonly string[];
  readonly observed: Column;
  readonly expected: Column;
  readonly var?: readonly Column[];
  readonly df: number;
  readonly chisq: number;
  readonly p: number;
  readonly log_p?: number;
  readonly peto_rho1_chisq?: number;
}

export interface OneSampleOracle {
  readonly observed: number;
  readonly expected_neglogS: Json;
  readonly chisq_neglogS: Json;
  readonly p_neglogS: Json;
  readonly expected_cumhaz: number;
  readonly chisq_cumhaz: number;
  readonly p_cumhaz: number;
}

export interface StrictPairsOracle {
  readonly pairs: number;
  readonly concordant: number;
  readonly discordant: number;
  readonly tied_x: number;
  readonly C_half_ties: number;
}

export interface HarrellOracle {
  readonly C: number;
  readonly concordant: number;
  readonly discordant: number;
  readonly tied_x: number;
  readonly tied_y: number;
  readonly tied_xy: number;
}

export interface TableOracle {
  readonly n: number;
  readonly events: number;
  readonly km: KaplanMeierOracle;
  readonly censoring_km: KaplanMeierOracle;
  readonly binned: Readonly<Record<string, Column>>;
  readonly logrank: Readonly<Record<string, LogrankOracle>>;
  readonly logrank_binned: Readonly<Record<string, LogrankOracle>>;
  readonly one_sample_logrank: {
    readonly groups: Readonly<Record<string, Readonly<Record<string, OneSampleOracle>>>>;
    readonly all: OneSampleOracle;
  };
  readonly concordance: {
    readonly harrell: HarrellOracle;
    readonly harrell_strict_times: StrictPairsOracle;
    readonly harrell_strict_times_binned: StrictPairsOracle;
    readonly uno: { readonly C_R_timewt_nG2: number };
  };
  readonly concordance_x?: HarrellOracle & {
    readonly uno_nG2: number | null;
    readonly strict_times: StrictPairsOracle;
  };
}

export const DATASETS = ["nwtco", "flchain", "pbc", "lung", "gbsg"] as const;
export type Dataset = (typeof DATASETS)[number];
export const TINY = [
  "tiny_heavy_ties",
  "tiny_censored_tail",
  "tiny_single_event",
  "tiny_all_events",
] as const;

interface Recipe {
  readonly path: string;
  readonly time: string;
  readonly status: string;
  readonly eventValue: number;
  readonly groups: readonly string[];
  /** Bands of age, by their lower ends after the first, numbered from 1. */
  readonly bands?: { readonly name: string; readonly from: readonly number[] };
}

const RECIPES: Readonly<Record<Dataset, Recipe>> = {
  nwtco: {
    path: "../../datasets/nwtco/nwtco.csv",
    time: "edrel",
    status: "rel",
    eventValue: 1,
    groups: ["histol", "instit", "study", "stage", "in.subcohort"],
    bands: { name: "age_tertile", from: [24, 48] },
  },
  flchain: {
    path: "../../datasets/flchain/flchain.csv",
    time: "futime",
    status: "death",
    eventValue: 1,
    groups: ["sex", "mgus", "flc.grp", "sample.yr"],
    bands: { name: "age_group", from: [60, 70, 80] },
  },
  pbc: {
    path: "../tables/pbc.csv",
    time: "time",
    status: "status",
    eventValue: 2,
    groups: ["trt", "sex", "edema", "stage"],
  },
  lung: {
    path: "../tables/lung.csv",
    time: "time",
    status: "status",
    eventValue: 2,
    groups: ["sex", "ph.ecog"],
  },
  gbsg: {
    path: "../tables/gbsg.csv",
    time: "rfstime",
    status: "status",
    eventValue: 1,
    groups: ["hormon", "meno", "grade"],
  },
};

export interface OracleTable {
  readonly outcomes: RightCensored;
  readonly binned: BinnedRightCensored;
  /** Every row's level as R writes it; null where missing. */
  readonly groups: Readonly<Record<string, readonly (string | null)[]>>;
  readonly table: Table;
}

const BINS = 102;

function read(path: string): Uint8Array {
  return readFileSync(new URL(path, import.meta.url));
}

export function readOracle<T>(path: string): T {
  return JSON.parse(new TextDecoder().decode(read(`../oracles/${path}`))) as T;
}

export async function loadCsv(path: string): Promise<Table> {
  return readTable(tableSourceFromBytes(path, read(path)));
}

export function texts(table: Table, name: string): (string | null)[] {
  const column = findColumn(table, name);
  const text = (row: number) => {
    if (isMissing(column, row)) return null;
    return column.type === "boolean" ? String(column.values[row]) : cellText(column, row);
  };
  return Array.from({ length: table.rows }, (_, row) => text(row));
}

export function numbers(table: Table, name: string): Float64Array {
  return Float64Array.from(texts(table, name), (text) => (text === null ? Number.NaN : Number(text)));
}

export function binTimes(
  outcomes: RightCensored,
  horizon = outcomes.time.reduce((a, b) => Math.max(a, b), 0),
): BinnedRightCensored {
  const bin = Int32Array.from(outcomes.time, (time) =>
    Math.min(Math.max(Math.ceil((time * BINS) / horizon), 1), BINS),
  );
  return { T: BINS, bin, event: outcomes.event };
}

export async function loadDataset(name: Dataset): Promise<OracleTable> {
  const recipe = RECIPES[name];
  const table = await loadCsv(recipe.path);
  const time = numbers(table, recipe.time);
  const event = Uint8Array.from(numbers(table, recipe.status), (status) =>
    status === recipe.eventValue ? 1 : 0,
  );
  const groups = Object.fromEntries(recipe.groups.map((group) => [group, texts(table, group)]));
  if (recipe.bands !== undefined) {
    const { name: bandName, from } = recipe.bands;
    groups[bandName] = Array.from(numbers(table, "age"), (age) =>
      String(1 + from.filter((edge) => age >= edge).length),
    );
  }
  const outcomes = { time, event };
  return { outcomes, binned: binTimes(outcomes), groups, table };
}

export async function loadTiny(name: (typeof TINY)[number]): Promise<OracleTable> {
  const table = await loadCsv(`../tables/${name}.csv`);
  const outcomes = { time: numbers(table, "time"), event: Uint8Array.from(numbers(table, "status")) };
  return { outcomes, binned: binTimes(outcomes), groups: { group: texts(table, "group") }, table };
}

/** The Cox linear predictors of an R fit, and the (0-based) rows of the table they belong to. */
export function loadLinearPredictor(name: Dataset): { rows: number[]; risk: Float64Array } {
  const text = new TextDecoder().decode(gunzipSync(read(`../oracles/r/${name}_lp.csv.gz`)));
  const lines = text.trim().split("\n").slice(1);
  return {
    rows: lines.map((line) => Number(line.split(",")[0]) - 1),
    risk: Float64Array.from(lines, (line) => Number(line.split(",")[1])),
  };
}

export function codesOf(values: readonly (string | null)[], levels: readonly string[]): Int32Array {
  return Int32Array.from(values, (value) => (value === null ? -1 : levels.indexOf(value)));
}

export const PREDICTIONS = ["cox", "miscal", "strat"].flatMap((model) =>
  ["nwtco", "flchain"].map((dataset) => `${dataset}_stride500_${model}`),
);

export interface Prediction {
  readonly curves: Curves;
  readonly binned: BinnedRightCensored;
  readonly table: Table;
}

export async function loadPrediction(name: string): Promise<Prediction> {
  const table = await loadCsv(`../oracles/pred/${name}.csv.gz`);
  const N = table.rows;
  const survival = new Float64Array(N * BINS);
  for (let t = 1; t <= BINS; t++) {
    const values = numbers(table, `S${t}`);
    for (let row = 0; row < N; row++) survival[row * BINS + t - 1] = values[row];
  }
  const binned = {
    T: BINS,
    bin: Int32Array.from(numbers(table, "bin")),
    event: Uint8Array.from(numbers(table, "event")),
  };
  return { curves: { N, T: BINS, survival }, binned, table };
}

/** Relative, and exact where the oracle says 0. */
export const ORACLE_TOLERANCE = 1e-10;

/** An oracle's null is our NaN, its "Infinity" ours. */
export function expectClose(
  actual: number,
  expected: Json,
  what: string,
  tolerance = ORACLE_TOLERANCE,
): void {
  if (expected === null) {
    expect(actual, what).toBeNaN();
    return;
  }
  const value = expected === "Infinity" ? Number.POSITIVE_INFINITY : Number(expected);
  if (actual === value) return;
  const gap = Math.abs(actual - value) / Math.abs(value);
  if (!(gap <= tolerance)) expect.fail(`${what}: ${actual} is not ${value} (relative gap ${gap})`);
}

/** Every value of the oracle's column against ours at the distinct times it kept. */
export function expectColumn(
  actual: ArrayLike<number>,
  expected: Column,
  what: string,
  index?: readonly number[],
): void {
  if (index === undefined) expect(actual.length, `${what}: length`).toBe(expected.length);
  expected.forEach((value, i) => {
    const at = index === undefined ? i : index[i];
    expectClose(actual[at], value, `${what}[${at}]`);
  });
}
