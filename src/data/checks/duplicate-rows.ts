/**
 * Rows that are the same in every column. Each row is hashed column by column over the bits of its values. Rows with
 * the same hash are then compared cell by cell, so everything called a duplicate really is one.
 */
import { log2, power } from "../../core/elementary.ts";
import { nameRows } from "../../core/errors.ts";
import { count, percent, personal, say, verb } from "../../core/sentence.ts";
import type { Column, Table } from "../table.ts";
import { createFinding, type Finding } from "./findings.ts";

/**
 * From this share of the rows on, duplicates are a warning: a table pasted twice, or features too coarse to tell people
 * apart.
 */
const MANY = 0.01;

export function findDuplicateRows(table: Table): Finding | null {
  const N = table.rows;
  if (N < 2 || table.columns.length === 0) return null;
  const hashes = hashRows(table);
  const columns = table.columns.map(sameCells);
  const isSameRow = (a: number, b: number) => columns.every((isSame) => isSame(a, b));
  // At most half full: twice the rows, rounded up to a power of two.
  const size = power(2, Math.ceil(log2(2 * N)));
  const slots = new Int32Array(size).fill(-1);
  const repeats: number[] = [];
  for (let row = 0; row < N; row++) {
    let slot = hashes[row] & (size - 1);
    while (slots[slot] >= 0 && !(hashes[slots[slot]] === hashes[row] && isSameRow(slots[slot], row))) {
      slot = (slot + 1) & (size - 1);
    }
    if (slots[slot] >= 0) repeats.push(row + 1);
    else slots[slot] = row;
  }
  if (repeats.length === 0) return null;
  const rows = repeats.length;
  const how = [count(rows, "row"), percent(rows, N), verb(rows, " repeats", " repeat")];
  return createFinding({
    code: "duplicate.rows",
    level: rows >= MANY * N ? "warning" : "note",
    column: null,
    said: say`${how} an earlier row in every column${personal(`: ${nameRows(repeats)}`)}`,
    evidence: { rows },
  });
}

/** Multiply-and-fold over the 32-bit halves of every cell; every NaN is one value, and so are 0 and −0. */
function hashRows(table: Table): Uint32Array {
  const hashes = new Uint32Array(table.rows).fill(0x811c9dc5);
  const number = new Float64Array(1);
  const halves = new Uint32Array(number.buffer);
  const fold = (row: number, bits: number) => {
    const mixed = Math.imul(hashes[row] ^ bits, 0x9e3779b1);
    hashes[row] = mixed ^ (mixed >>> 15);
  };
  for (const column of table.columns) {
    for (let row = 0; row < table.rows; row++) {
      if (column.type === "category") fold(row, column.codes[row]);
      else if (column.type === "boolean") fold(row, column.values[row]);
      else {
        number[0] = Number.isNaN(column.values[row]) ? Number.NaN : column.values[row] + 0;
        fold(row, halves[0]);
        fold(row, halves[1]);
      }
    }
  }
  return hashes;
}

/** Whether two rows have the same cell in the column, both missing being the same. */
export function sameCells(column: Column): (a: number, b: number) => boolean {
  if (column.type === "category") return (a, b) => column.codes[a] === column.codes[b];
  const { values } = column;
  return (a, b) => values[a] === values[b] || (Number.isNaN(values[a]) && Number.isNaN(values[b]));
}
