/**
 * What a row holds, as 64 bits: the same for the same cells, whatever the order of rows and columns, the container the
 * table came in, or the type its columns were read as (1 is "1" and "1.0", true is "true"). Two murmur3 hashes of each
 * column's name and cell are added up over the columns, so that their order does not matter. No secret and no
 * signature: anyone with the row can compute it. Model files are compared by it, so its numbers are part of their
 * format.
 */
import { parseNumberText } from "./reading/parse-cell.ts";
import { type Column, findColumn, isMissing, MISSING_CODE, type Table } from "./table.ts";

/** 64 bits a row, in two halves. */
export interface RowHashes {
  readonly high: Uint32Array; // [rows]
  readonly low: Uint32Array; // [rows]
}

/** The kinds of cells; a cell's kind is hashed with it. */
const MISSING = 0;
const NUMBER = 1;
const TEXT = 2;
const BOOLEAN = 3;
const DATE = 4;
const KINDS = [MISSING, NUMBER, TEXT, BOOLEAN, DATE];

/** Seeds of the two halves. */
const HIGH_SEED = 0x9747b28c;
const LOW_SEED = 0x3c6ef372;

const number = new Float64Array(1);
const words = new Uint32Array(number.buffer);
/** Which of two words of a float64 has the lower bits: engines on other machines give the same numbers. */
const LOW_WORD = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1;

/** The hash of every row over the named columns, or over all. */
export function hashRows(table: Table, columns?: readonly string[]): RowHashes {
  const chosen =
    columns === undefined ? table.columns : [...new Set(columns)].map((name) => findColumn(table, name));
  return addUp(chosen, table.rows);
}

/** The hash of some columns of every row, which goes by their order in place of their names. */
export function hashCells(columns: readonly Column[], rows: number): RowHashes {
  return addUp(
    columns.map((column, k) => ({ ...column, name: String(k) })),
    rows,
  );
}

function addUp(columns: readonly Column[], rows: number): RowHashes {
  const hashes = { high: new Uint32Array(rows), low: new Uint32Array(rows) };
  for (const column of columns) addColumn(column, rows, hashes);
  const { high, low } = hashes;
  for (let row = 0; row < rows; row++) {
    const [before, after] = [high[row], low[row]];
    high[row] = finish(mix(before, after));
    low[row] = finish(mix(after, before));
  }
  return hashes;
}

function addColumn(column: Column, rows: number, { high, low }: RowHashes): void {
  const ofHigh = KINDS.map((kind) => mix(hashText(column.name, HIGH_SEED), kind));
  const ofLow = KINDS.map((kind) => mix(hashText(column.name, LOW_SEED), kind));
  const add = (row: number, kind: number, a: number, b: number) => {
    high[row] += finish(mix(mix(ofHigh[kind], a), b));
    low[row] += finish(mix(mix(ofLow[kind], a), b));
  };
  const addNumber = (row: number, kind: number, value: number) => {
    number[0] = value + 0; // -0 + 0 is 0
    add(row, kind, words[LOW_WORD], words[1 - LOW_WORD]);
  };
  if (column.type === "category") {
    const levels = column.levels.map(readLevel);
    for (let row = 0; row < rows; row++) {
      const code = column.codes[row];
      if (code === MISSING_CODE) add(row, MISSING, 0, 0);
      else if (levels[code].kind === NUMBER) addNumber(row, NUMBER, levels[code].value);
      else add(row, levels[code].kind, levels[code].value, levels[code].more);
    }
    return;
  }
  const { values, type } = column;
  for (let row = 0; row < rows; row++) {
    const value = values[row];
    if (isMissing(column, row)) add(row, MISSING, 0, 0);
    else if (type === "boolean") add(row, BOOLEAN, value, 0);
    else addNumber(row, type === "date" ? DATE : NUMBER, value);
  }
}

interface Level {
  readonly kind: number;
  readonly value: number;
  readonly more: number;
}

/** A level as it would be read were the column not one of texts. */
function readLevel(text: string): Level {
  const value = parseNumberText(text, ".");
  if (Number.isFinite(value)) return { kind: NUMBER, value, more: 0 };
  const lower = text.trim().toLowerCase();
  if (lower === "true" || lower === "false") {
    return { kind: BOOLEAN, value: lower === "true" ? 1 : 0, more: 0 };
  }
  return { kind: TEXT, value: hashText(text, HIGH_SEED), more: hashText(text, LOW_SEED) };
}

function hashText(text: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = mix(hash, text.charCodeAt(i));
  return finish(hash ^ text.length);
}

/** One word of murmur3 (Appleby 2011), x86, 32 bits. */
function mix(hash: number, word: number): number {
  const first = Math.imul(word, 0xcc9e2d51);
  const mixed = hash ^ Math.imul((first << 15) | (first >>> 17), 0x1b873593);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(hash: number): number {
  const one = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const two = Math.imul(one ^ (one >>> 13), 0xc2b2ae35);
  return (two ^ (two >>> 16)) >>> 0;
}

/** Which of two rows comes first by hash; 0 for equal hashes. */
export function compareHashes({ high, low }: RowHashes, a: number, b: number): number {
  return high[a] - high[b] || low[a] - low[b];
}

/** A number from 0 to 2^53 − 1 that the hash of a row, a count and a seed decide. */
export function drawKey({ high, low }: RowHashes, row: number, count: number, seed: number): number {
  const upper = Math.floor(seed / 2 ** 32);
  const draw = (own: number, other: number, start: number) =>
    finish(mix(mix(mix(mix(mix(start, other), seed), upper), count), own));
  const a = draw(high[row], low[row], HIGH_SEED);
  const b = draw(low[row], high[row], LOW_SEED);
  return a * 2 ** 21 + (b >>> 11);
}

/** The rows in ascending order of their hashes; rows of the same hash keep their order. */
export function orderByHash({ high, low }: RowHashes): Int32Array {
  let order = Int32Array.from({ length: high.length }, (_, row) => row);
  for (const word of [low, high]) for (const shift of [0, 16]) order = sortByDigit(order, word, shift);
  return order;
}

const DIGITS = 1 << 16;

/** One pass of a radix sort, which keeps the order of equal digits. */
function sortByDigit(order: Int32Array, word: Uint32Array, shift: number): Int32Array<ArrayBuffer> {
  const next = new Int32Array(DIGITS + 1);
  for (const row of order) next[((word[row] >>> shift) & (DIGITS - 1)) + 1]++;
  for (let digit = 0; digit < DIGITS; digit++) next[digit + 1] += next[digit];
  const sorted = new Int32Array(order.length);
  for (const row of order) sorted[next[(word[row] >>> shift) & (DIGITS - 1)]++] = row;
  return sorted;
}
