/**
 * Which rows train, which validate, which test: drawn by seed, or read from a file of `row,set`. A draw goes by what a
 * row says, not by its place: by a hash of its id or, without ids, of its time, event and entry. Rows with the same
 * outcome are numbered in the order of a hash of all their columns, and the number is part of the hash; only rows that
 * are equal in every cell go by their places. `splitByOrder` draws by the places of rows alone, as versions 0.1 and 0.2
 * did. Sizes of a draw: train = floor(f_train · n); the rest is shared in the ratio f_valid : f_test, with valid
 * rounded down. A draw stratified by the event keeps these sizes and gives each set its share of the events, rounded up
 * or down (largest remainders). Rows are 0-based and ascending in a Split, 1-based in a file and in messages. Where
 * people have several rows, sizes are shares of the people, and all rows of a person go to one set.
 */

import { InputError, nameRows } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { createRandom, shuffle } from "../../core/random.ts";
import { compareHashes, drawKey, hashCells, hashRows } from "../row-hash.ts";
import { cellText, findColumn, placeRows, type Table } from "../table.ts";
import { eventsOfPeople, nameOfPerson, type People, type PersonColumn, readPeople } from "./people.ts";

/** Which of the three sets a row is in. */
export type SetName = (typeof SET_NAMES)[number];

/** The rows of each set. */
export interface Split {
  readonly train: Int32Array;
  readonly validation: Int32Array;
  readonly test: Int32Array;
}

/** Sizes, seed and stratification of a split. */
export interface SplitOptions {
  /** Shares of train, validation and test; they sum to 1. */
  readonly fractions?: readonly [number, number, number];
  /** Seed of the split. */
  readonly seed: number;
  /** [rows], 1 = event: spread the events evenly over the sets. */
  readonly stratifyBy?: Uint8Array;
  /** Whose rows are whose: shares are then of people, and a person with an event in any row counts as an event. */
  readonly people?: People;
}

export const SET_NAMES = ["train", "validation", "test"] as const;
export const DEFAULT_FRACTIONS = [0.6, 0.2, 0.2] as const;

/** Decimal fractions are inexact (0.29 · 100 is 28.999…): adding this much of a row changes nothing else. */
const ROUNDING_SLACK = 1e-9;

/** Most people that a refusal names. */
const MAX_TORN_NAMED = 5;

/** A stream of its own, so that a split shares no draws with the weights and batches of the same run. */
const SPLIT_STREAM = 0x5e7;

/** The columns whose cells decide a draw: the id or, without one, the others. */
export interface SplitColumns extends PersonColumn {
  /** Time to the event or to censoring. */
  readonly time: string;
  /** The column that says whether the event happened. */
  readonly event: string;
  /** When a row came under observation. */
  readonly entry?: string;
  /** The same where people have several rows. */
  readonly start?: string;
}

/**
 * Divides the rows of a table at random by what they say, the same way for the same seed. `people`, where they have
 * been read before, are those of the id column.
 */
export function splitTable(table: Table, columns: SplitColumns, options: SplitOptions): Split {
  const { id } = columns;
  if (id === undefined) return drawSplit(table.rows, options, drawRowKeys(table, columns, options.seed));
  const people = options.people ?? readPeople(table, id);
  return drawSplit(table.rows, { ...options, people }, drawPersonKeys(table, id, people, options.seed));
}

/** Divides rows at random by their places alone, as versions 0.1 and 0.2 did. */
export function splitByOrder(rows: number, options: SplitOptions): Split {
  return drawSplit(rows, options);
}

/** Units, rows or people, in the order of their keys; without keys, at random by their places. */
function drawSplit(rows: number, options: SplitOptions, keys?: Float64Array): Split {
  const { people, stratifyBy, seed } = options;
  if (stratifyBy && stratifyBy.length !== rows) {
    throw new InputError(`events to stratify by are not one per row: ${stratifyBy.length} for ${rows} rows`, {
      code: "split.stratify",
    });
  }
  const order = (units: number) => (keys === undefined ? shufflePlaces(units, seed) : orderByKeys(keys));
  if (people === undefined) return collectSets(dealSets(order(rows), options, "rows"));
  if (people.of.length !== rows) {
    const message = `people are given for ${people.of.length} rows, and there are ${rows} rows to split`;
    throw new InputError(message, { code: "rows.mismatch" });
  }
  const event = stratifyBy && eventsOfPeople(people, stratifyBy);
  const setOf = dealSets(order(people.count), { ...options, ...present({ stratifyBy: event }) }, "people");
  return collectSets(Uint8Array.from(people.of, (person) => setOf[person]));
}

function shufflePlaces(units: number, seed: number): Int32Array {
  const order = Int32Array.from({ length: units }, (_, place) => place);
  shuffle(order, createRandom(seed, SPLIT_STREAM));
  return order;
}

/** Ascending by key, and by place where keys are equal. */
function orderByKeys(keys: Float64Array): Int32Array {
  return Int32Array.from(keys, (_, place) => place).sort((a, b) => keys[a] - keys[b] || a - b);
}

/**
 * A random key for each row, by the hash of its outcome and its number among the rows with the same outcome. Without
 * the number, all rows that are censored on the last day would be in one set.
 */
export function drawRowKeys(
  table: Table,
  { time, event, entry, start }: SplitColumns,
  seed: number,
): Float64Array {
  const names = [time, event, entry, start].filter((name) => name !== undefined);
  const outcome = hashCells(
    names.map((name) => findColumn(table, name)),
    table.rows,
  );
  const whole = hashRows(table);
  const order = Int32Array.from({ length: table.rows }, (_, row) => row).sort(
    (a, b) => compareHashes(outcome, a, b) || compareHashes(whole, a, b) || a - b,
  );
  const keys = new Float64Array(table.rows);
  let number = 0;
  order.forEach((row, k) => {
    number = k > 0 && compareHashes(outcome, order[k - 1], row) === 0 ? number + 1 : 0;
    keys[row] = drawKey(outcome, row, number, seed);
  });
  return keys;
}

/** A key for each person, by the hash of the id. */
function drawPersonKeys(table: Table, id: string, people: People, seed: number): Float64Array {
  const hashes = hashCells([findColumn(table, id)], table.rows);
  const keys = new Float64Array(people.count);
  people.of.forEach((person, row) => {
    keys[person] = drawKey(hashes, row, 0, seed);
  });
  return keys;
}

/** The set of each unit, dealt out in the given order. */
function dealSets(order: Int32Array, options: SplitOptions, unit: "rows" | "people"): Uint8Array {
  const { fractions = DEFAULT_FRACTIONS, stratifyBy } = options;
  const rows = order.length;
  const sizes = setSizes(rows, fractions, unit);
  const quotas = stratifyBy ? stratifiedSizes(rows, sizes, stratifyBy) : [sizes];
  // Each stratum fills train, then valid, then test.
  const setOf = new Uint8Array(rows);
  const left = quotas.map((quota) => [...quota]);
  for (const row of order) {
    const quota = left[stratifyBy && stratifyBy[row] === 1 ? 1 : 0];
    const set = quota[0] > 0 ? 0 : quota[1] > 0 ? 1 : 2;
    quota[set]--;
    setOf[row] = set;
  }
  return setOf;
}

/** A person in two sets is known to the model that is then judged by that person: such a split is refused. */
export function refuseTornPeople(
  split: Split,
  people: People,
  { table, id }: { readonly table: Table; readonly id: string },
): void {
  const first = new Map<number, { readonly row: number; readonly set: SetName }>();
  const torn = new Map<number, string>();
  for (const set of SET_NAMES) {
    for (const row of split[set]) {
      const person = people.of[row];
      const seen = first.get(person);
      if (seen === undefined) first.set(person, { row, set });
      else if (seen.set !== set && !torn.has(person)) {
        const name = nameOfPerson(table, id, row);
        torn.set(person, `${name} (row ${seen.row + 1} ${seen.set}, row ${row + 1} ${set})`);
      }
    }
  }
  if (torn.size === 0) return;
  const shown = [...torn.values()].slice(0, MAX_TORN_NAMED).join(", ");
  const more = torn.size > MAX_TORN_NAMED ? ` and ${torn.size - MAX_TORN_NAMED} more` : "";
  throw new InputError(`the split puts rows of one person into different sets: ${id} ${shown}${more}`, {
    code: "split.people",
    where: table.name,
    hint: "give all rows of a person the same set, or let the split be drawn: --split 0.6,0.2,0.2",
  });
}

/** The rows of two sets, ascending. */
export function joinRows(one: Int32Array, other: Int32Array): Int32Array {
  return Int32Array.from([...one, ...other]).sort();
}

/** A split read from a table with columns `row` (1-based) and `set` (train, validation or valid, test). */
export function splitFromTable(table: Table, rows: number): Split {
  const rowColumn = findColumn(table, "row");
  const setColumn = findColumn(table, "set");
  const UNSET = SET_NAMES.length;
  const setOf = new Uint8Array(rows).fill(UNSET);
  const outOfRange: number[] = [];
  const unknown: number[] = [];
  const twice: number[] = [];
  for (let line = 0; line < table.rows; line++) {
    const text = cellText(rowColumn, line);
    const row = text === "" ? Number.NaN : Number(text);
    const set = readSetName(cellText(setColumn, line));
    if (!Number.isInteger(row) || row < 1 || row > rows) outOfRange.push(line + 1);
    else if (set < 0) unknown.push(line + 1);
    else if (setOf[row - 1] !== UNSET) twice.push(row);
    else setOf[row - 1] = set;
  }
  if (outOfRange.length > 0) {
    const text = cellText(rowColumn, outOfRange[0] - 1);
    throw new InputError(`row number is not between 1 and ${rows}: "${text}"`, {
      code: "split.row",
      where: `${placeRows(table, outOfRange)}, column "row"`,
      hint: "rows are counted from 1 at the first row below the header; is this the split of another table?",
    });
  }
  if (unknown.length > 0) {
    throw new InputError(`unknown set: "${cellText(setColumn, unknown[0] - 1)}"`, {
      code: "split.set",
      where: `${placeRows(table, unknown)}, column "set"`,
      hint: "a set is train, validation (or valid) or test",
    });
  }
  if (twice.length > 0) {
    throw new InputError(`listed more than once in the split: ${nameRows(twice)}`, {
      code: "split.duplicate",
      where: `${table.name}, column "row"`,
      hint: "each row belongs to one set",
    });
  }
  const missing: number[] = [];
  for (let row = 0; row < rows; row++) if (setOf[row] === UNSET) missing.push(row + 1);
  if (missing.length > 0) {
    throw new InputError(`in no set of the split: ${nameRows(missing)}`, {
      code: "split.missing",
      where: table.name,
      hint: `give each of the ${rows} rows a set, or remove these rows from the table`,
    });
  }
  const split = collectSets(setOf);
  if (split.train.length === 0) {
    throw new InputError('no row of the split is in "train"', {
      code: "split.train",
      where: `${table.name}, column "set"`,
      hint: "give the rows that a model is to learn from the set train",
    });
  }
  return split;
}

/** Index into SET_NAMES, −1 for a name that is none. */
function readSetName(text: string): number {
  const name = text.trim().toLowerCase();
  return SET_NAMES.indexOf((name === "valid" ? "validation" : name) as SetName);
}

function setSizes(
  rows: number,
  fractions: readonly [number, number, number],
  unit: "rows" | "people",
): readonly number[] {
  const [train, valid, test] = fractions;
  const valuesOk = fractions.length === 3 && fractions.every((fraction) => fraction >= 0) && train > 0;
  if (!valuesOk || Math.abs(train + valid + test - 1) > ROUNDING_SLACK) {
    const message = `fractions of the split do not sum to 1, or train has none: ${fractions.join(", ")}`;
    const hint = "three numbers from 0 up, train above 0, e.g. 0.6, 0.2, 0.2";
    throw new InputError(message, { code: "split.fractions", hint });
  }
  const nTrain = Math.floor(train * rows + ROUNDING_SLACK);
  const rest = rows - nTrain;
  const nValid = valid === 0 ? 0 : Math.floor((rest * valid) / (valid + test) + ROUNDING_SLACK);
  // A set with a requested share of 0 stays empty: what rounding left over goes to train.
  const sizes = valid + test === 0 ? [rows, 0, 0] : [nTrain, nValid, rest - nValid];
  if (sizes.some((size, set) => size === 0 && fractions[set] > 0)) {
    throw new InputError(`too few ${unit} to split by ${fractions.join(", ")}: ${rows}`, {
      code: "split.rows",
      hint: "the shares 1,0,0 fit a small table whole, without validation and test rows",
    });
  }
  return sizes;
}

/** Sizes for non-events and events: each rounds n_stratum · size / n up or down, and both sum to `sizes`. */
function stratifiedSizes(rows: number, sizes: readonly number[], event: Uint8Array): readonly number[][] {
  const nEvents = event.reduce((count, value) => count + (value === 1 ? 1 : 0), 0);
  const events = sizes.map((size) => Math.floor((nEvents * size) / rows));
  const remainder = (set: number) => (nEvents * sizes[set]) % rows;
  const byRemainder = [0, 1, 2].sort((a, b) => remainder(b) - remainder(a) || a - b);
  const left = nEvents - events.reduce((sum, size) => sum + size, 0);
  for (const set of byRemainder.slice(0, left)) events[set]++;
  return [sizes.map((size, set) => size - events[set]), events];
}

function collectSets(setOf: Uint8Array): Split {
  const rowsOf = (set: number) => {
    const rows: number[] = [];
    for (let row = 0; row < setOf.length; row++) if (setOf[row] === set) rows.push(row);
    return Int32Array.from(rows);
  };
  return { train: rowsOf(0), validation: rowsOf(1), test: rowsOf(2) };
}
