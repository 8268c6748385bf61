/**
 * The split of a run: given, or drawn by seed, and by person where the run knows whose rows are whose. A model stores
 * its split packed (two bits a row, in base64) with hashes of the table (verbs/acquaintance/known-rows.ts), so that
 * the rows it has not learnt from can be looked up. It stores only row numbers, never ids. A file of version 0.1.0
 * stores no split: `redrawSplit` draws it again, by the places of rows as that version did.
 */
import { InputError } from "../core/errors.ts";
import { present } from "../core/present.ts";
import { type People, type PersonColumn, pickPeople, readPeople } from "../data/outcomes/people.ts";
import {
  refuseTornPeople,
  SET_NAMES,
  type Split,
  type SplitColumns,
  splitByOrder,
  splitTable,
} from "../data/outcomes/split.ts";
import { findColumn, type Table } from "../data/table.ts";

/** What decides which rows train, validate and test. */
export interface SplitRequest extends PersonColumn {
  /** Which rows train, validate and test; drawn by `fractions` and `seed` unless given. */
  readonly split?: Split;
  /** Shares of training, validation and test rows; 0.6, 0.2 and 0.2 unless given. */
  readonly fractions?: readonly [number, number, number];
  /** Seed of split, weights and batches; 1 unless given. */
  readonly seed?: number;
}

/** How many rows, or people, each set has. */
export interface SetSizes {
  readonly train: number;
  readonly validation: number;
  readonly test: number;
}

/** `people` covers every row of the table. */
export function chooseSplit(
  table: Table,
  request: SplitRequest & SplitColumns,
  people: People | null,
): Split {
  const { id, seed = 1, fractions, split: given } = request;
  const split = given
    ? sortSets(given)
    : splitTable(table, request, { seed, ...present({ fractions, people: people ?? undefined }) });
  if (people !== null && id !== undefined) refuseTornPeople(split, people, { table, id });
  return split;
}

/** Rows of groups are looked up in ascending order, whatever the order of the split that was given. */
function sortSets({ train, validation, test }: Split): Split {
  return { train: train.toSorted(), validation: validation.toSorted(), test: test.toSorted() };
}

/** The request with the id column added to the columns that are not learnt from. */
export function dropId<Request extends IdRequest>(table: Table, request: Request): Request {
  const { id, time, event, features, drop = [] } = request;
  if (id === undefined) return request;
  findColumn(table, id);
  const role = id === time || id === event ? "the outcome" : features?.includes(id) ? "a feature" : null;
  if (role !== null) {
    throw new InputError(`the column of ids cannot be ${role}: "${id}"`, {
      code: "id.role",
      where: table.name,
      hint: "an id says whose row it is and nothing about the person",
    });
  }
  return { ...request, drop: [...drop, id] };
}

interface IdRequest extends PersonColumn {
  readonly time: string;
  readonly event: string;
  readonly features?: readonly string[];
  readonly drop?: readonly string[];
}

export function countSets(split: Split): SetSizes {
  return { train: split.train.length, validation: split.validation.length, test: split.test.length };
}

export function countPeople(people: People, split: Split): SetSizes {
  const count = (rows: Int32Array) => pickPeople(people, rows).count;
  return { train: count(split.train), validation: count(split.validation), test: count(split.test) };
}

/** A split as a model keeps it. */
export interface PackedSplit {
  /** SHA-256 of the table's file; null where it did not come from one. */
  readonly sha256: string | null;
  /** Rows of the table. */
  readonly rows: number;
  /**
   * Two bits a row, the first row in the lowest bits of the first byte, in base64: 0 train, 1 valid, 2 test, 3 none.
   */
  readonly sets: string;
  /** What the rows hold; absent in files older than version 7. */
  readonly content?: PackedContent;
}

/** By what a table is known whatever file it comes from, and in whatever order (verbs/acquaintance/known-rows.ts). */
export interface PackedContent {
  /** SHA-256 of the rows' hashes. */
  readonly inOrder: string;
  /** The same with the hashes in ascending order. */
  readonly anyOrder: string;
  /** As `sets` of the split, with the rows in ascending order of their hashes. */
  readonly sets: string;
  /**
   * Bits in base64, half of them set, one of them for each row that was learnt from; absent where rows are too alike.
   */
  readonly sketch?: string;
}

const IN_NO_SET = 3;
const ROWS_A_BYTE = 4;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Packs a split as a model keeps it, without what the rows hold; `rows` is the number of rows of the table. */
export function packSplit(split: Split, rows: number, sha256: string | null): PackedSplit {
  return { sha256, rows, sets: packSets(split, rows) };
}

/** The set of each row, in the order of the table or in that of `order`. */
export function packSets(split: Split, rows: number, order?: Int32Array): string {
  const setOf = new Uint8Array(rows).fill(IN_NO_SET);
  SET_NAMES.forEach((name, set) => {
    for (const row of split[name]) setOf[row] = set;
  });
  const bytes = new Uint8Array(Math.ceil(rows / ROWS_A_BYTE));
  for (let place = 0; place < rows; place++) {
    bytes[place >> 2] |= setOf[order === undefined ? place : order[place]] << (2 * (place & 3));
  }
  return toBase64(bytes);
}

/** Null where the text does not hold a set for each row. */
export function unpackSplit({ rows, sets }: PackedSplit): Split | null {
  return unpackSets(sets, rows);
}

/** The same of sets in the order of the table or in that of `order`. */
export function unpackSets(sets: string, rows: number, order?: Int32Array): Split | null {
  const bytes = fromBase64(sets);
  if (bytes === null || bytes.length !== Math.ceil(rows / ROWS_A_BYTE)) return null;
  const setOf = new Uint8Array(rows);
  for (let place = 0; place < rows; place++) {
    setOf[order === undefined ? place : order[place]] = (bytes[place >> 2] >> (2 * (place & 3))) & 3;
  }
  const lists: number[][] = [[], [], [], []];
  setOf.forEach((set, row) => {
    lists[set].push(row);
  });
  const [train, valid, test] = lists.map((list) => Int32Array.from(list));
  return { train, validation: valid, test };
}

/**
 * Written by hand, because neither Buffer nor btoa is available everywhere, and a long table has more bytes than a call
 * can have arguments.
 */
export function toBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let i = 0; i < bytes.length; i += 3) {
    const word = (bytes[i] << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    const letters = [18, 12, 6, 0].map((shift) => ALPHABET[(word >> shift) & 63]);
    const filled = Math.min(bytes.length - i, 3) + 1;
    parts.push(letters.slice(0, filled).join("").padEnd(4, "="));
  }
  return parts.join("");
}

/** Null where the text is not base64. */
export function fromBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0) return null;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  for (let i = 0; i < text.length; i += 4) {
    let word = 0;
    for (let k = 0; k < 4; k++) {
      const isPadding = i + k >= text.length - padding;
      const value = isPadding ? 0 : ALPHABET.indexOf(text[i + k]);
      if (value < 0) return null;
      word = (word << 6) | value;
    }
    const at = (i / 4) * 3;
    for (let k = 0; k < 3 && at + k < bytes.length; k++) bytes[at + k] = (word >> (16 - 8 * k)) & 255;
  }
  return bytes;
}

/** What a model of version 0.1.0 records of its split. */
export interface RecordedSplit {
  readonly columns: PersonColumn;
  readonly training: { readonly seed: number; readonly rows: SetSizes; readonly people?: SetSizes };
}

/**
 * The split by seed with the recorded sizes; null where the table does not have that many rows or people. The caller
 * must find out whether the model was trained with it: the split may have come from a file.
 */
export function redrawSplit({ columns, training }: RecordedSplit, table: Table): Split | null {
  const { seed, rows, people: sizes = rows } = training;
  const { id } = columns;
  const byPerson = training.people !== undefined && id !== undefined;
  if (byPerson && !table.columns.some(({ name }) => name === id)) return null;
  const people = byPerson ? readPeople(table, id) : undefined;
  const N = people?.count ?? table.rows;
  if (sizes.train + sizes.validation + sizes.test !== N) return null;
  const split = splitByOrder(table.rows, {
    seed,
    fractions: [sizes.train / N, sizes.validation / N, sizes.test / N],
    ...present({ people }),
  });
  const drawn = countSets(split);
  const isSame =
    drawn.train === rows.train && drawn.validation === rows.validation && drawn.test === rows.test;
  return isSame ? split : null;
}
