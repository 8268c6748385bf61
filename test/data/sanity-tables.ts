// Columns and tables for the tests of the sanity gate: built by hand, simulated, or read from the bundled files.
import { readFileSync } from "node:fs";
import { createRandom, type Random } from "../../src/core/random.ts";
import type { Finding } from "../../src/data/checks/findings.ts";
import { findLeaks } from "../../src/data/leaks/find-leaks.ts";
import type { RightCensored } from "../../src/data/outcomes/outcomes.ts";
import { type OutcomeColumns, readOutcomes } from "../../src/data/outcomes/read-outcomes.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import type {
  BooleanColumn,
  CategoryColumn,
  Column,
  DateColumn,
  NumberColumn,
  Table,
} from "../../src/data/table.ts";

export function numbers(name: string, values: ArrayLike<number>): NumberColumn {
  return { name, type: "number", values: Float64Array.from(values) };
}

export function dates(name: string, values: ArrayLike<number>): DateColumn {
  return { name, type: "date", values: Float64Array.from(values) };
}

/** 255 = missing. */
export function booleans(name: string, values: ArrayLike<number>): BooleanColumn {
  return { name, type: "boolean", values: Uint8Array.from(values) };
}

/** null = missing. */
export function categories(name: string, texts: readonly (string | null)[]): CategoryColumn {
  const levels = [...new Set(texts.filter((text) => text !== null))].sort();
  const codes = new Map(levels.map((level, code) => [level, code]));
  return {
    name,
    type: "category",
    codes: Int32Array.from(texts, (text) => codes.get(text ?? "") ?? -1),
    levels,
  };
}

export function tableOf(...columns: Column[]): Table {
  const first = columns[0];
  const rows = first.type === "category" ? first.codes.length : first.values.length;
  return { name: "patients.csv", rows, columns };
}

/**
 * datasets/NAME/NAME.csv, or test/tables/NAME.csv (R's survival 3.5-3; event added to pbc and lung as status == 2,
 * rotterdam without some columns).
 */
export async function readNamed(name: string): Promise<Table> {
  const path = ["nwtco", "flchain"].includes(name)
    ? `../../datasets/${name}/${name}.csv`
    : `../tables/${name}.csv`;
  return readTable(tableSourceFromBytes(`${name}.csv`, readFileSync(new URL(path, import.meta.url))));
}

export function without(table: Table, ...names: string[]): Column[] {
  return table.columns.filter((column) => !names.includes(column.name));
}

export interface Cohort {
  readonly outcomes: RightCensored;
  readonly random: Random;
  /** Values per row. */
  readonly each: (value: (row: number) => number) => Float64Array;
  /** Ten unremarkable columns. */
  readonly honest: readonly Column[];
}

/**
 * Exponential times with log hazard ratio 1 per sd of `x0`, and censoring at a uniform time that leaves the given share
 * of events.
 */
export function simulateCohort(N: number, eventShare: number, seed: number): Cohort {
  const random = createRandom(seed);
  const each = (value: (row: number) => number) => Float64Array.from({ length: N }, (_, row) => value(row));
  const risk = each(() => random.normal());
  const eventTime = each((row) => -Math.log(1 - random.uniform()) * Math.exp(-risk[row]));
  const share = each(() => random.uniform() + 0.01);
  const scale = eventTime.map((time, row) => time / share[row]).sort()[Math.floor(eventShare * N)];
  const time = each((row) => Math.ceil((1000 * Math.min(eventTime[row], scale * share[row])) / scale));
  const event = Uint8Array.from(eventTime, (t, row) => (t <= scale * share[row] ? 1 : 0));
  const others = Array.from({ length: 9 }, (_, j) =>
    numbers(
      `x${j + 1}`,
      each(() => random.normal()),
    ),
  );
  return { outcomes: { time, event }, random, each, honest: [numbers("x0", risk), ...others] };
}

/** The cohort of a table, with its other columns as the honest ones. */
export function cohortOfTable(table: Table, columns: OutcomeColumns, seed: number): Cohort {
  const random = createRandom(seed);
  const each = (value: (row: number) => number) =>
    Float64Array.from({ length: table.rows }, (_, row) => value(row));
  const honest = without(table, columns.time, columns.event);
  return { outcomes: readOutcomes(table, columns), random, each, honest };
}

export function leaksAmong(columns: readonly Column[], outcomes: RightCensored): Finding[] {
  return findLeaks(columns, outcomes, new Uint8Array(outcomes.time.length).fill(1));
}

/** Findings as "level code column", sorted: what a test compares. */
export function brief(findings: readonly Finding[]): string[] {
  return findings.map(({ level, code, column }) => `${level} ${code} ${column}`).sort();
}
