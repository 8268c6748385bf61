/**
 * The ways in which one value of a column sets its rows apart from all others: a value against the rest, missing
 * against known. Only values with enough rows are listed. later.ts asks what happened to the two sides; within.ts asks
 * whether the two sides are the two states of another column.
 */
import type { LeakColumn, LeakRows } from "./rows.ts";

/** Rows with one value, or without any, against all others. */
export interface ValueSplit {
  /** Index among the places of `codeSplits`. */
  readonly code: number;
  readonly rows: number;
  readonly events: number;
  /** "with 1", "without a value" */
  readonly text: string;
  /** Of the other side: "with 0", "with another value or none" */
  readonly otherText: string;
}

export interface CodedSplits {
  /** [N], the code of the row's value, −1 for values too rare to be looked at. */
  readonly codes: Int8Array;
  readonly splits: readonly ValueSplit[];
}

/** A side of fewer rows says nothing that chance could not. */
const MIN_SIDE_ROWS = 10;
/** Values of one column that are looked at, the most frequent first; with missing they fit into a code of one byte. */
const MAX_VALUES = 50;

export function splitByValues(column: LeakColumn, leak: LeakRows): CodedSplits {
  const { counts, label } = column;
  const N = leak.rows.length;
  const frequent = listFrequent(counts.rows, N);
  const missing = N - counts.known;
  const hasMissing = missing >= MIN_SIDE_ROWS && counts.known >= MIN_SIDE_ROWS;
  const splits: ValueSplit[] = [];
  const isBinary = counts.rows.length === 2 && missing === 0;
  frequent.forEach((k, code) => {
    if (isBinary && code > 0) return; // the same cut, from its other side
    splits.push({
      code,
      rows: counts.rows[k],
      events: counts.events[k],
      text: `with ${label(counts.values[k])}`,
      otherText: isBinary
        ? `with ${label(counts.values[1 - k])}`
        : otherThan(label(counts.values[k]), missing),
    });
  });
  if (hasMissing) {
    splits.push({
      code: frequent.length,
      rows: missing,
      events: leak.events - counts.knownEvents,
      text: "without a value",
      otherText: "with a value",
    });
  }
  const codes = splits.length === 0 ? new Int8Array(0) : codeRows(column, frequent, N);
  return { codes, splits };
}

function otherThan(value: string, missing: number): string {
  return missing > 0 ? `with another value than ${value} or none` : `with another value than ${value}`;
}

/** Places of the values whose rows, and all other rows, are enough; most frequent first. */
function listFrequent(rows: Int32Array, N: number): number[] {
  const frequent: number[] = [];
  for (let k = 0; k < rows.length; k++) {
    if (rows[k] >= MIN_SIDE_ROWS && N - rows[k] >= MIN_SIDE_ROWS) frequent.push(k);
  }
  return frequent.sort((a, b) => rows[b] - rows[a]).slice(0, MAX_VALUES);
}

function codeRows({ numbers, codes, counts }: LeakColumn, frequent: readonly number[], N: number): Int8Array {
  const coded = new Int8Array(N).fill(-1);
  const missing = frequent.length;
  if (numbers === null) {
    const place = new Int8Array(counts.values.length).fill(-1);
    frequent.forEach((k, code) => {
      place[k] = code;
    });
    for (let row = 0; row < N; row++) {
      const code = codes?.[row] ?? -1;
      coded[row] = code < 0 ? missing : place[code];
    }
    return coded;
  }
  const place = new Map(frequent.map((k, code) => [counts.values[k], code]));
  for (let row = 0; row < N; row++) {
    coded[row] = Number.isNaN(numbers[row]) ? missing : (place.get(numbers[row]) ?? -1);
  }
  return coded;
}
