/**
 * Cells that were read without an error, but not as they were meant: decimals written with a comma, which become levels
 * of a category; a text such as 3a among the numbers of a code, which makes it one too; integers beyond 2^53, where
 * neighbours become one number; codes for "missing" among numbers; levels that differ only in how they are written; and
 * what check-marks.ts finds of marks and dates.
 * Each is a warning that says how many cells are concerned and which option reads the column as it was meant.
 * Rows that repeat an earlier one in every cell are found here too. Nothing is changed.
 */

import { log2, power } from "../../core/elementary.ts";
import { count, percent, personal, say, share, verb } from "../../core/sentence.ts";
import { countOf, shortenValue } from "../../core/text.ts";
import { parseNumberText } from "../reading/parse-cell.ts";
import {
  type CategoryColumn,
  type Column,
  findColumn,
  type NumberColumn,
  namePlaces,
  sameCells,
  type Table,
} from "../table.ts";
import { findWriting } from "./check-marks.ts";
import { createFinding, type Finding } from "./findings.ts";

/** Share of a column's cells that must be numbers for a comma to be meant as a decimal mark, and a text as a slip. */
const MOSTLY = 0.9;
/** 1,234 and 12,345,678: commas between thousands. */
const THOUSANDS = /^\s*[+-]?\d{1,3}(?:,\d{3})+\s*$/;

/** What the cells of a column were read as, where that is likely not what was meant. */
export function checkCells(column: Column, table: Pick<Table, "parts"> = {}): Finding[] {
  const found =
    column.type === "category"
      ? [findCommas(column) ?? findStrayTexts(column, table), findAlikeLevels(column)]
      : column.type === "number"
        ? [findLargeIntegers(column), findSentinels(column)]
        : [];
  // A feature is refused where it is used (encode/features.ts), and an error here.
  const level = column.type === "number" ? "error" : "warning";
  return [...found.filter((one) => one !== null), ...findWriting(column, level)];
}

/** What studies write for "missing" in a column of numbers: −9, 99, 888, 9999 and the like. */
const SENTINEL = /^-?(?:9{2,6}|8{2,6})$|^-9$/;
/** From this size on one row is enough; smaller ones may be a value like any other. */
const LARGE_SENTINEL = 999;

/** A code for "missing" beyond the end of all other values, by more than these are apart. */
function findSentinels({ name, values, asWritten }: NumberColumn): Finding | null {
  if (asWritten === true) return null;
  const rowsOf = new Map<number, number>();
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  let others = 0;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    // Only whole numbers of a code's size need a look at their digits.
    if (
      Number.isInteger(value) &&
      Math.abs(value) >= 9 &&
      Math.abs(value) < 1e6 &&
      SENTINEL.test(String(value))
    ) {
      rowsOf.set(value, (rowsOf.get(value) ?? 0) + 1);
      continue;
    }
    if (value < least) least = value;
    if (value > most) most = value;
    others++;
  }
  const range = most - least;
  if (others < 2 || !(range > 0)) return null;
  const found = [...rowsOf].filter(
    ([value, rows]) =>
      (value > most + range || value < least - range) && (rows > 1 || Math.abs(value) >= LARGE_SENTINEL),
  );
  // An ordinary value of that spelling beyond the others would lie between them and the code.
  if (found.length === 0 || found.length < rowsOf.size) return null;
  const [value] = found[0];
  const rows = found.reduce((sum, [, one]) => sum + one, 0);
  const codes = found.map(([one]) => one).sort((a, b) => a - b);
  const beyond = personal(`, while all others are from ${least} to ${most}`);
  return createFinding({
    code: "number.sentinel",
    level: "warning",
    column: name,
    said: say`${name} is ${codes.join(" or ")} in ${count(rows, "row")}${beyond}`,
    hint: `If that means missing, leave these cells empty; if the values are meant, say --as-written ${name}`,
    evidence: { value, rows, least, most },
  });
}

/** Letters whose case alone tells genotypes and codes apart (AA, Aa); words have more. */
const LEAST_WORD = 3;

/** Groups of these columns that a reader would take for one. */
export function checkGroupColumns(table: Table, names: readonly string[]): Finding[] {
  return names.flatMap((name) => {
    const column = findColumn(table, name);
    const found = column.type === "category" ? findAlikeLevels(column) : null;
    return found === null ? [] : [found];
  });
}

/** Levels that are one text but for composed letters, blanks or, in words, capitals. */
function findAlikeLevels({ name, levels, codes }: CategoryColumn): Finding | null {
  const known = new Map<string, number>();
  for (const [code, level] of levels.entries()) {
    const bare = level.normalize("NFC").trim().replace(/\s+/g, " ");
    const key = bare.length >= LEAST_WORD ? bare.toLowerCase() : bare;
    const before = known.get(key);
    if (before === undefined) {
      known.set(key, code);
      continue;
    }
    const other = levels[before];
    const rows = codes.reduce((sum, one) => sum + (one === code ? 1 : 0), 0);
    const how =
      other.normalize("NFC") === level.normalize("NFC")
        ? "in how an accented letter is composed"
        : other.trim().replace(/\s+/g, " ") === level.trim().replace(/\s+/g, " ")
          ? "in blanks"
          : "in capitals, blanks or accents";
    const which = personal(`: "${shortenValue(other)}" and "${shortenValue(level)}"`);
    return createFinding({
      code: "levels.alike",
      level: "warning",
      column: name,
      said: say`two levels of ${name} differ only ${how}${which}, the second in ${count(rows, "row")}`,
      hint: "Write them in one way, or they are two groups of people",
      evidence: { first: other, second: level, rows },
    });
  }
  return null;
}

function findCommas(column: CategoryColumn): Finding | null {
  const { name, levels } = column;
  if (!levels.some((level) => level.includes(","))) return null;
  const counts = new Int32Array(levels.length);
  for (const code of column.codes) if (code >= 0) counts[code]++;
  let known = 0;
  let withComma = 0;
  let numbers = 0;
  let thousands = 0;
  let example = "";
  levels.forEach((level, code) => {
    const hasComma = level.includes(",");
    const isThousands = hasComma && THOUSANDS.test(level);
    known += counts[code];
    if (isThousands || !Number.isNaN(parseNumberText(level, ","))) numbers += counts[code];
    else if (!hasComma && !Number.isNaN(parseNumberText(level, "."))) numbers += counts[code];
    else return;
    if (!hasComma) return;
    withComma += counts[code];
    if (isThousands) thousands += counts[code];
    if (example === "" && counts[code] > 0) example = level.trim();
  });
  if (withComma === 0 || numbers < MOSTLY * known) return null;
  const isThousands = thousands === withComma;
  const commas = isThousands ? "commas" : "decimal commas";
  const cells = [share(withComma, known, { noun: "cell" }), personal(` (${example})`)];
  const read = `read as a category of ${countOf(levels.length, "level")}`;
  return createFinding({
    code: "number.comma",
    level: "warning",
    column: name,
    said: say`${name} is written with ${commas} in ${cells}, and ${read}`,
    hint: isThousands
      ? `If they stand between thousands, --number ${name} --thousands comma reads them; ` +
        `if they are decimal marks, --number ${name} --decimal comma does`
      : `--number ${name} --decimal comma reads it as numbers`,
    evidence: { cells: withComma, rows: known, levels: levels.length, example },
  });
}

/**
 * Texts that have a digit in them among numbers: a slip (3a, 1O) makes a category of a code. A text without one, such
 * as "unknown", is more likely a level that was meant.
 */
function findStrayTexts(
  { name, levels, codes }: CategoryColumn,
  table: Pick<Table, "parts">,
): Finding | null {
  const isNumber = levels.map((level) => !Number.isNaN(parseNumberText(level, ".")));
  if (!isNumber.includes(true) || !isNumber.includes(false)) return null;
  let known = 0;
  const rows: number[] = [];
  let example = "";
  codes.forEach((code, row) => {
    if (code < 0) return;
    known++;
    if (isNumber[code]) return;
    rows.push(row + 1);
    if (example === "" && /\d/.test(levels[code])) example = levels[code].trim();
  });
  if (rows.length === 0 || example === "" || known - rows.length < MOSTLY * known) return null;
  const cells = share(rows.length, known, { noun: "cell" });
  const which = personal(` (${namePlaces(table, rows)}: "${shortenValue(example)}")`);
  const read = `so that it is read as a category of ${countOf(levels.length, "level")}`;
  return createFinding({
    code: "number.text",
    level: "warning",
    column: name,
    said: say`${name} holds numbers but for ${cells}${which}, ${read}`,
    hint: "Correct the text, or leave the cell empty; if the column is no number, nothing is wrong",
    evidence: { cells: rows.length, rows: known, levels: levels.length, example },
  });
}

function findLargeIntegers({ name, values }: NumberColumn): Finding | null {
  let cells = 0;
  for (const value of values) if (Math.abs(value) > Number.MAX_SAFE_INTEGER) cells++;
  if (cells === 0) return null;
  const largest = values.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
  const example = personal(`, such as ${largest}`);
  return createFinding({
    code: "number.large",
    level: "warning",
    column: name,
    said: say`${name} has ${count(cells, "number")} beyond 2^53${example}: neighbours there are read as one`,
    hint: `If they are ids or codes, --category ${name} keeps them apart`,
    evidence: { cells, rows: values.length, largest },
  });
}

/**
 * From this share of the rows on, duplicates are a warning: a table pasted twice, or features too coarse to tell people
 * apart.
 */
const MANY = 0.01;

/**
 * Rows that are the same in every column. Each row is hashed column by column over the bits of its values. Rows with
 * the same hash are then compared cell by cell, so everything called a duplicate really is one.
 */
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
    said: say`${how} an earlier row in every column${personal(`: ${namePlaces(table, repeats)}`)}`,
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
