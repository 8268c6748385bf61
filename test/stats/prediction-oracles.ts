/**
 * The six prediction matrices in test/oracles/pred with the scores R gave them, overall and by subgroup, in the shapes
 * the statistics take. A subgroup is a 0/1 weight per row: a row of weight 0 must count as absent everywhere.
 */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { Absent, Measured } from "../../src/core/measured.ts";
import type { Curves } from "../../src/data/curves/curves.ts";
import type { BinnedRightCensored } from "../../src/data/outcomes/outcomes.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { cellText, findColumn, type Table } from "../../src/data/table.ts";

export const PREDICTION_NAMES = [
  "flchain_stride500_cox",
  "flchain_stride500_miscal",
  "flchain_stride500_strat",
  "nwtco_stride500_cox",
  "nwtco_stride500_miscal",
  "nwtco_stride500_strat",
] as const;

/** What 07_pred.R stored; the arrays at the end only overall. */
export interface OracleScores {
  readonly n: number;
  readonly C_td: number;
  readonly ECE: number;
  readonly ECE_bins: { m: number[]; size: number[]; mean_KM: number[]; mean_pred: number[] };
  readonly L2_distance: number;
  readonly variance_adjusted_max: number;
  readonly variance_adjusted_argmax_t: number;
  readonly RPS: Readonly<Record<string, number>>;
  readonly IBS: Readonly<Record<string, number>>;
  readonly Dcal: { counts: number[]; expected: number; chisq: number; df: number; p: number };
  readonly total_score: number;
  readonly mean_pred?: number[];
  readonly KM?: number[];
  readonly KM_var?: (number | null)[];
  readonly brier_G_reverse_t1_tau?: number[];
  readonly brier_G_simple_t1_tau?: number[];
}

export interface ScoredRows {
  readonly name: string;
  readonly scores: OracleScores;
  /** 1 for the rows of the subgroup; undefined for all rows. */
  readonly weights: Uint8Array | undefined;
}

export interface PredictionOracle {
  readonly curves: Curves;
  readonly binned: BinnedRightCensored;
  readonly groups: readonly ScoredRows[];
}

const T = 102;

export function readOracle(path: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(new URL(`../oracles/${path}`, import.meta.url)));
}

export function readOracleJson<Content>(path: string): Content {
  return JSON.parse(new TextDecoder().decode(readOracle(path)));
}

/** A number column, however it was read. */
export function numbersOf(table: Table, name: string): Float64Array {
  const column = findColumn(table, name);
  if (column.type === "number") return column.values;
  return Float64Array.from({ length: table.rows }, (_, row) => {
    if (column.type === "boolean") return column.values[row];
    return Number(cellText(column, row));
  });
}

export async function loadPredictions(name: string): Promise<PredictionOracle> {
  const survivalNames = Array.from({ length: T }, (_, t) => `S${t + 1}`);
  const table = await readTable(tableSourceFromBytes(name, readOracle(`pred/${name}.csv.gz`)), {
    number: ["bin", ...survivalNames],
  });
  const N = table.rows;
  const survival = new Float64Array(N * T);
  survivalNames.forEach((column, t) => {
    numbersOf(table, column).forEach((value, row) => {
      survival[row * T + t] = value;
    });
  });
  const binned: BinnedRightCensored = {
    T,
    bin: Int32Array.from(numbersOf(table, "bin")),
    event: Uint8Array.from(numbersOf(table, "event")),
  };
  const oracle = readOracleJson<{
    overall: OracleScores;
    subgroups: Record<string, Record<string, OracleScores>>;
  }>(`pred/${name}.json`);
  const groups: ScoredRows[] = [{ name: "overall", scores: oracle.overall, weights: undefined }];
  for (const [column, levels] of Object.entries(oracle.subgroups)) {
    const values = findColumn(table, column);
    for (const [level, scores] of Object.entries(levels)) {
      const weights = Uint8Array.from({ length: N }, (_, row) => {
        const text = cellText(values, row);
        return text === level ? 1 : 0;
      });
      groups.push({ name: `${column}=${level}`, scores, weights });
    }
  }
  return { curves: { N, T, survival }, binned, groups };
}

/** The value, or a failed test that says why there is none. */
export function present<Value>(value: Measured<Value>): Value {
  if (typeof value === "object" && value !== null && "absent" in value) {
    throw new Error(`absent: ${(value as Absent).absent}`);
  }
  return value as Value;
}

/** Relative error, exact equality where the expected value is 0. */
export function expectRelative(actual: number, expected: number, tolerance: number, what: string): void {
  const error = Math.abs(actual - expected);
  const allowed = tolerance * Math.abs(expected);
  if (error <= allowed) return;
  expect.fail(`${what}: ${actual} is not ${expected} to ${tolerance} relative`);
}

export function expectRelativeAll(
  actual: ArrayLike<number>,
  expected: readonly number[],
  tolerance: number,
  what: string,
): void {
  expect(actual.length, what).toBe(expected.length);
  expected.forEach((value, k) => {
    expectRelative(actual[k], value, tolerance, `${what}[${k}]`);
  });
}
