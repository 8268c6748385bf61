/** Simulated people beside their truth: at which times a group's error counts, and how far curves are from true ones. */
import {
  ALL_GROUP,
  addGroupColumns,
  type Group,
  joinRows,
  type Outcomes,
  readTable,
  type Split,
  type Table,
  tableSourceFromBytes,
} from "graduate-survival/data";
import { membersAmong } from "../runs/fit.ts";
import { round } from "./lines.ts";

/** Fewer rows of a group that are at risk at a time do not count there. */
const LEAST_AT_RISK = 10;

/** At how many of the times, at least one, ten of a group's rows that were learnt from are at risk. */
function supportOf({ entry, time }: Outcomes, rows: Int32Array, times: Float64Array): number {
  const atRisk = (t: number) => rows.filter((row) => (entry?.[row] ?? 0) < t && time[row] >= t).length;
  let support = times.length;
  while (support > 1 && atRisk(times[support - 1]) < LEAST_AT_RISK) support--;
  return support;
}

/** What was learnt from: a table, its outcomes, its rows and its groups. */
export interface Learnt {
  readonly table: Table;
  readonly outcomes: Outcomes;
  readonly split: Split;
  readonly groups: readonly Group[];
}

/** A group's fresh people, and at how many of the times it counts. */
export interface FreshGroup {
  readonly name: string;
  readonly rows: Int32Array;
  readonly support: number;
}

/** Everyone and the groups. */
export function findFreshGroups(learnt: Learnt, people: Table, times: Float64Array): readonly FreshGroup[] {
  const { table, outcomes, split, groups } = learnt;
  const all = [ALL_GROUP, ...groups];
  const learn = joinRows(split.train, split.validation);
  const members = membersAmong(all, table, learn);
  return membersAmong(all, people).map(({ name, rows }, g) => {
    const own = Int32Array.from(members[g].rows, (place) => learn[place]);
    return { name, rows, support: supportOf(outcomes, own, times) };
  });
}

/** √(mean over times of the squared mean gap of the group's people); `gapAt` is a curve less the true one. */
export function errorOfGroup(
  { rows, support }: FreshGroup,
  gapAt: (row: number, time: number) => number,
): number {
  let squares = 0;
  for (let t = 0; t < support; t++) {
    let gap = 0;
    for (const row of rows) gap += gapAt(row, t);
    squares += (gap / rows.length) ** 2;
  }
  return round(Math.sqrt(squares / support), 6);
}

/** The mean squared gap of all people at all times. */
export function integratedSquaredError(
  people: number,
  times: number,
  gapAt: (row: number, time: number) => number,
): number {
  let sum = 0;
  for (let row = 0; row < people; row++) for (let t = 0; t < times; t++) sum += gapAt(row, t) ** 2;
  return round(sum / (people * times), 8);
}

export async function openText(name: string, text: string): Promise<Table> {
  return readTable(tableSourceFromBytes(name, new TextEncoder().encode(text)));
}

/** A table with a column for each group, and their names. */
export function addTerms(table: Table, groups: readonly Group[]): { wide: Table; added: readonly string[] } {
  const wide = addGroupColumns(table, groups);
  const known = new Set(table.columns.map(({ name }) => name));
  return { wide, added: wide.columns.map(({ name }) => name).filter((name) => !known.has(name)) };
}
