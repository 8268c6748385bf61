/**
 * Many groups of the simulated eye cohort, always the same for the same table: the values of categories and 0/1
 * columns, bands of numbers between the quarters of the training rows, and then crosses of two values or of a value and
 * a band of age, in that order, as long as a group has at least 100 training rows.
 */
import type { Column, Group, Table } from "graduate-survival/data";
import { membersAmong } from "../runs/fit.ts";

const MINIMUM_ROWS = 100;
const QUARTERS = [0.25, 0.5, 0.75] as const;

interface Part {
  readonly column: string;
  readonly expression: string;
}

export function crossGroups({ name, rows, columns }: Table, training: Int32Array, limit: number): Group[] {
  const table = { name, rows, columns };
  const features = columns.filter((column) => column.name !== "time" && column.name !== "event");
  const values = features.flatMap(listValues);
  const bands = features.flatMap((column) => listBands(column, training));
  const ages = bands.filter(({ column }) => column === "age");
  const crosses = values.flatMap((one, k) =>
    [...values.slice(k + 1), ...ages].flatMap((other) =>
      other.column === one.column ? [] : [`${one.expression} and ${other.expression}`],
    ),
  );
  const candidates = [...[...values, ...bands].map(({ expression }) => expression), ...crosses];
  const chosen: Group[] = [];
  // Some at a time: most are not needed.
  for (let from = 0; from < candidates.length && chosen.length < limit; from += limit) {
    const groups = candidates
      .slice(from, from + limit)
      .map((expression): Group => ({ name: expression, expression }));
    const sizes = membersAmong(groups, table, training).map((members) => members.rows.length);
    chosen.push(...groups.filter((_, g) => sizes[g] >= MINIMUM_ROWS && sizes[g] < training.length));
  }
  return chosen.slice(0, limit);
}

function isBinary(values: Float64Array): boolean {
  return values.every((value) => value === 0 || value === 1);
}

function listValues(column: Column): Part[] {
  if (column.type === "category")
    return column.levels.map((level) => ({ column: column.name, expression: `${column.name} = '${level}'` }));
  if (column.type !== "number" || !isBinary(column.values)) return [];
  return [0, 1].map((value) => ({ column: column.name, expression: `${column.name} = ${value}` }));
}

function listBands(column: Column, training: Int32Array): Part[] {
  if (column.type !== "number" || isBinary(column.values)) return [];
  const present = Float64Array.from(training, (row) => column.values[row])
    .filter((value) => !Number.isNaN(value))
    .sort();
  const cuts = [...new Set(QUARTERS.map((share) => present[Math.floor(share * present.length)]))];
  const { name } = column;
  return [
    `${name} < ${cuts[0]}`,
    ...cuts.slice(1).map((cut, k) => `${cuts[k]} <= ${name} < ${cut}`),
    `${name} >= ${cuts[cuts.length - 1]}`,
  ].map((expression) => ({ column: name, expression }));
}
