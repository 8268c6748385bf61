/**
 * Whose rows are whose. A table may hold several rows of one person (two eyes, several loans of a customer), identified
 * by a column of ids; whatever divides, resamples or draws rows then does so by person. People are numbered 0…P−1 by
 * the first of their rows. So where everyone has one row, a person's number is the row's, and everything comes out as
 * it would without ids. A row without an id is refused: it may be anybody's, and counting it as a person of its own
 * could put one person in two sets.
 */

import { InputError } from "../../core/errors.ts";
import { personal, say } from "../../core/sentence.ts";
import { createFinding, type Finding } from "../checks/findings.ts";
import { parseNumberText } from "../reading/parse-cell.ts";
import {
  type Column,
  cellText,
  findColumn,
  isMissing,
  type NumberColumn,
  namePlaces,
  type Table,
} from "../table.ts";

/** The person of every row. */
export interface People {
  /** How many there are. */
  readonly count: number;
  /** 0…count−1, by first appearance. */
  readonly of: Int32Array; // [N]
}

/** The column that says whose row it is. */
export interface PersonColumn {
  /** Rows with the same value are one person's; without it, every row is a person of its own. */
  readonly id?: string;
}

/** The people of a table by its column of ids. */
export function readPeople(table: Table, id: string): People {
  const column = findColumn(table, id);
  const missing: number[] = [];
  for (let row = 0; row < table.rows; row++) if (isMissing(column, row)) missing.push(row + 1);
  if (missing.length > 0) {
    throw new InputError(`no id in ${namePlaces(table, missing)}`, {
      code: "id.missing",
      where: `${table.name}, column "${id}"`,
      hint: "give every row the id of its person (a new one where a person has this row alone), or remove these rows",
    });
  }
  refuseMergedIds(table, column);
  return numberPeople(cellsOf(column), table.rows);
}

/**
 * Different people would become one person: beyond 2^53, different whole numbers are one number, and so are 007 and 7.
 */
export function refuseMergedIds(table: Table, column: Column): void {
  if (column.type !== "number") return;
  refuseSpellings(table, column.name, column.spellings);
  const row = column.values.findIndex((value) => Math.abs(value) > Number.MAX_SAFE_INTEGER);
  if (row < 0) return;
  throw new InputError(`ids beyond 2^53 cannot be told apart as numbers: ${namePlaces(table, [row + 1])}`, {
    code: "id.large",
    where: `${table.name}, column "${column.name}"`,
    hint: `read them as they are written: --category ${column.name}`,
  });
}

/** Two texts that were read as one number, such as 007 and 7, are two ids. */
function refuseSpellings(table: Table, name: string, spellings: NumberColumn["spellings"]): void {
  if (spellings === undefined) return;
  const [one, other] = spellings;
  throw new InputError(`ids were read as numbers, and "${one}" and "${other}" are one number`, {
    code: "id.spelling",
    where: `${table.name}, column "${name}"`,
    hint: `read them as they are written: ids: ["${name}"] (a command does so with --id)`,
  });
}

/** Ids that are two people as texts and one as numbers: someone may have written one id in two ways. */
export function findSpellings(table: Table, { id }: PersonColumn): Finding[] {
  const column = id === undefined ? null : findColumn(table, id);
  if (column?.type !== "category") return [];
  const seen = new Map<number, string>();
  for (const level of column.levels) {
    const value = parseNumberText(level, ".");
    const before = Number.isSafeInteger(value) ? seen.get(value) : undefined;
    if (Number.isNaN(value)) continue;
    if (before === undefined) {
      seen.set(value, level);
      continue;
    }
    const both = personal(`, such as "${before}" and "${level}"`);
    return [
      createFinding({
        code: "id.spelling",
        level: "warning",
        column: column.name,
        said: say`ids of ${column.name} differ only in how a number is written${both}: they are two people`,
        hint: "If they are one, write the id in one way",
        evidence: { first: before, second: level },
      }),
    ];
  }
  return [];
}

/** The people of some rows (0-based), numbered anew. */
export function pickPeople({ of }: People, rows: ArrayLike<number>): People {
  return numberPeople(
    Int32Array.from(rows, (row) => of[row]),
    rows.length,
  );
}

/** Everybody's rows among the given ones, in the order of people's first rows there. */
export function groupByPerson({ of }: People, rows: ArrayLike<number>): number[][] {
  const byPerson = new Map<number, number[]>();
  for (let k = 0; k < rows.length; k++) {
    const own = byPerson.get(of[rows[k]]);
    if (own === undefined) byPerson.set(of[rows[k]], [rows[k]]);
    else own.push(rows[k]);
  }
  return [...byPerson.values()];
}

/** Whether anybody has more than one row. */
export function haveSeveralRows({ count, of }: People): boolean {
  return count < of.length;
}

/** 1 for each person with an event in any row. */
export function eventsOfPeople({ count, of }: People, event: ArrayLike<number>): Uint8Array {
  const any = new Uint8Array(count);
  for (let row = 0; row < of.length; row++) if (event[row] === 1) any[of[row]] = 1;
  return any;
}

/** How many people have an event in any of these rows. */
export function countPeopleWithEvents({ of }: People, event: ArrayLike<number>, rows: Int32Array): number {
  return new Set(
    Array.from(
      rows.filter((row) => event[row] === 1),
      (row) => of[row],
    ),
  ).size;
}

/** The id of a person as it stands in the table. */
export function nameOfPerson(table: Table, id: string, row: number): string {
  return cellText(findColumn(table, id), row);
}

function cellsOf(column: Column): ArrayLike<number> {
  return column.type === "category" ? column.codes : column.values;
}

function numberPeople(cells: ArrayLike<number>, rows: number): People {
  const numbers = new Map<number, number>();
  const of = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    let person = numbers.get(cells[row]);
    if (person === undefined) {
      person = numbers.size;
      numbers.set(cells[row], person);
    }
    of[row] = person;
  }
  return { count: numbers.size, of };
}

export interface RowKeys {
  readonly count: number;
  /** Of each of the given rows. */
  readonly codes: Int32Array;
}

/**
 * Rows numbered by the values they share in some columns: 0, 1, … in the order of first appearance. Used for people and
 * strata, which may be as many as the rows; groups to be shown have names and an order (group-by.ts). `rows` are
 * 0-based and have no missing value in the columns.
 */
export function numberRows(table: Table, names: readonly string[], rows: Int32Array): RowKeys {
  const columns = names.map((name) => findColumn(table, name));
  const values = columns.map((column) => (column.type === "category" ? column.codes : column.values));
  const known = new Map<string, number>();
  const codes = Int32Array.from(rows, (row) => {
    const key = values.map((cells) => cells[row]).join(",");
    const code = known.get(key) ?? known.size;
    known.set(key, code);
    return code;
  });
  return { count: known.size, codes };
}
