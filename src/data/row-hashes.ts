/**
 * Hashes of what rows say. Equal cells have equal hashes, whatever file they came from: a number is hashed by its
 * value, and so is the level of a category that is written as a number; every other cell is hashed by its text. A hash
 * of whole rows adds up what each column says under its name, so the order of columns does not matter.
 */
import { type Column, cellText, isMissing, type Table } from "./table.ts";

/** 64 bits for each row, in two halves. */
export interface RowHashes {
  readonly high: Uint32Array; // [N]
  readonly low: Uint32Array; // [N]
}

/** The hash of one cell, in two halves that are written to `words`. */
type HashCell = (row: number, words: Uint32Array) => void;

/** Separate the two halves, and cells that are missing from every value. */
const HIGH_SEED = 0x9747b28c;
const LOW_SEED = 0x3c6ef372;
const MISSING = [0x7ff80000, 0x6d697373] as const;

/** The hash of some columns of each row, in the order of the columns; their names do not matter. */
export function hashCells(columns: readonly Column[], rows: number): RowHashes {
  const hashes = { high: new Uint32Array(rows).fill(HIGH_SEED), low: new Uint32Array(rows).fill(LOW_SEED) };
  const words = new Uint32Array(2);
  for (const column of columns) {
    const hash = prepareCells(column);
    for (let row = 0; row < rows; row++) {
      hash(row, words);
      hashes.high[row] = mixWord(mixWord(hashes.high[row], words[0]), words[1]);
      hashes.low[row] = mixWord(mixWord(hashes.low[row], words[1]), words[0]);
    }
  }
  return hashes;
}

/** The hash of all columns of each row, whatever their order. */
export function hashRows({ columns, rows }: Table): RowHashes {
  const hashes = { high: new Uint32Array(rows), low: new Uint32Array(rows) };
  const words = new Uint32Array(2);
  for (const column of columns) {
    const hash = prepareCells(column);
    const [high, low] = [hashText(column.name, HIGH_SEED), hashText(column.name, LOW_SEED)];
    for (let row = 0; row < rows; row++) {
      hash(row, words);
      hashes.high[row] += finish(mixWord(mixWord(high, words[0]), words[1]));
      hashes.low[row] += finish(mixWord(mixWord(low, words[1]), words[0]));
    }
  }
  return hashes;
}

/** A number from 0 to 2^53 − 1 that the hash of a row, a count and a seed decide. */
export function drawKey({ high, low }: RowHashes, row: number, count: number, seed: number): number {
  const upper = Math.floor(seed / 2 ** 32);
  const mixed = (half: number, first: number) => {
    const seeded = mixWord(mixWord(mixWord(first, seed), upper), count);
    return finish(mixWord(seeded, half));
  };
  const a = mixed(high[row], mixWord(HIGH_SEED, low[row]));
  const b = mixed(low[row], mixWord(LOW_SEED, high[row]));
  return a * 2 ** 21 + (b >>> 11);
}

/** Which comes first by hash; 0 for equal hashes. */
export function compareHashes({ high, low }: RowHashes, a: number, b: number): number {
  return high[a] - high[b] || low[a] - low[b];
}

function prepareCells(column: Column): HashCell {
  const put = (words: Uint32Array, [high, low]: readonly [number, number]) => {
    words[0] = high;
    words[1] = low;
  };
  if (column.type === "category") {
    const levels = column.levels.map(hashLevel);
    return (row, words) => put(words, column.codes[row] < 0 ? MISSING : levels[column.codes[row]]);
  }
  if (column.type !== "number") {
    const texts = new Map<number, readonly [number, number]>();
    return (row, words) => {
      const value = column.values[row];
      const known = texts.get(value) ?? (isMissing(column, row) ? MISSING : hashLevel(cellText(column, row)));
      texts.set(value, known);
      put(words, known);
    };
  }
  const value = new Float64Array(1);
  const bits = new Uint32Array(value.buffer);
  return (row, words) => {
    value[0] = column.values[row] + 0; // no −0
    if (Number.isNaN(value[0])) return put(words, MISSING);
    words[0] = bits[1];
    words[1] = bits[0];
  };
}

/** A text that a number is written as has the hash of the number. */
function hashLevel(text: string): readonly [number, number] {
  const value = Number(text);
  if (text === String(value) && !Number.isNaN(value)) {
    const bits = new Uint32Array(Float64Array.of(value).buffer);
    return [bits[1], bits[0]];
  }
  return [hashText(text, HIGH_SEED), hashText(text, LOW_SEED)];
}

function hashText(text: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = mixWord(hash, text.charCodeAt(i));
  return finish(mixWord(hash, text.length));
}

/** One round of MurmurHash3. */
function mixWord(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  const mixed = hash ^ Math.imul(k, 0x1b873593);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

/** Its last step: every bit of the result depends on every bit before. */
function finish(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
