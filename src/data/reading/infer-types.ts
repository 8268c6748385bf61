/**
 * Decides what a column is from its distinct texts and how often each occurs, over ALL rows: number, boolean
 * (true/false), date, else category. Integers with few values stay numbers, as in R. A few texts among many numbers are
 * an error, not silently a category of thousands of levels. How the cells are collected is column-builder.ts' business.
 */
import { InputError, MAX_ROWS_NAMED, nameRows } from "../../core/errors.ts";
import { type Column, MISSING_BOOLEAN, MISSING_CODE, type NumberColumn } from "../table.ts";
import { type ColumnMarks, hintOfMarks, parseMarkedText } from "./number-marks.ts";
import {
  type DecimalMark,
  isInfinityText,
  parseDateText,
  parseNumberText,
  type SlashOrder,
} from "./parse-cell.ts";

/** A column with at least this share of numbers was meant as numbers, */
export const NUMBER_COLUMN_SHARE = 0.9;
/**
 * provided that it has more distinct numbers than this: below, it may well be a code with a word in it (0, 1, unknown).
 */
const NUMBER_COLUMN_DISTINCT = 20;

export type ForcedType = "category" | "number";

/** A cell that is no number where one was meant. */
export interface BadCell {
  readonly row: number; // 1-based
  readonly text: string;
}

/** A column before it has a type. */
export interface UntypedColumn {
  readonly table: string;
  readonly name: string;
  readonly forced: ForcedType | undefined;
}

export interface LevelCells extends UntypedColumn {
  /** Distinct texts in the order they came. */
  readonly levels: readonly string[];
  /** Index into levels, MISSING_CODE = missing; taken over by the column. */
  readonly codes: Int32Array; // [N]
  readonly mark: DecimalMark | undefined;
  /** What stands between thousands, or may; null where nothing does. */
  readonly marks?: ColumnMarks | null | undefined;
  /** Whether texts that spell one number in two ways are two values: those of an id. */
  readonly isId?: boolean;
  /** How to read 3/4/2021; undefined where only this column can tell. */
  readonly slashDates?: SlashDates | undefined;
}

/** How a table writes 3/4/2021. */
export interface SlashDates {
  readonly order: SlashOrder;
  /** Whether some date of the table allows this order alone. */
  readonly isCertain: boolean;
}

interface NumberCensus {
  /** The number each level spells, NaN for none. */
  readonly values: Float64Array;
  readonly distinct: number;
  /** Cells with a value, those that are finite numbers, and those that are text. */
  readonly present: number;
  readonly numbers: number;
  readonly texts: number;
}

/** Decides the type of a column whose distinct texts are all known. */
export function columnFromLevels(cells: LevelCells): Column {
  const { name, levels, codes, forced } = cells;
  const counts = new Int32Array(levels.length);
  for (let row = 0; row < codes.length; row++) if (codes[row] !== MISSING_CODE) counts[codes[row]]++;
  const census = countNumbers(cells, counts);
  if (forced === "category") return toCategory(cells, counts, census);
  const { values, present, numbers, texts, distinct } = census;
  const isNumberColumn =
    forced === "number" ||
    (texts === 0 && (numbers > 0 || present === 0)) ||
    (numbers >= NUMBER_COLUMN_SHARE * present && distinct > NUMBER_COLUMN_DISTINCT);
  if (isNumberColumn) {
    if (numbers < present) throw findBadNumbers(cells, census);
    if (
      cells.isId === true &&
      forced === undefined &&
      !levels.every((text, k) => counts[k] === 0 || isPlainId(text))
    )
      return toCategory(cells, counts, census);
    return {
      name,
      type: "number",
      values: pickValues(codes, values),
      ...describeNumbers(cells, counts, census),
    };
  }
  const truths = parseLevels(levels, counts, parseTruth);
  if (truths) {
    const picked = new Uint8Array(codes.length);
    for (let row = 0; row < codes.length; row++) {
      picked[row] = codes[row] === MISSING_CODE ? MISSING_BOOLEAN : truths[codes[row]];
    }
    return { name, type: "boolean", values: picked };
  }
  const first = cells.slashDates?.order ?? "month-first";
  for (const slashOrder of [first, first === "day-first" ? "month-first" : "day-first"] as const) {
    const days = parseLevels(levels, counts, (text) => parseDateText(text, slashOrder));
    if (!days) continue;
    const values = pickValues(codes, days);
    const used = levels.filter((_, level) => counts[level] > 0);
    const isGuess = cells.slashDates?.isCertain !== true && judgeSlashDates(used) === "either";
    return { name, type: "date", values, ...(isGuess ? { guessedOrder: slashOrder } : {}) };
  }
  return toCategory(cells, counts, census);
}

/** An id that a number keeps apart from all others: whole, without a leading zero, and exact. */
const PLAIN_ID = /^(?:0|-?[1-9]\d{0,14})$/;

export function isPlainId(text: string): boolean {
  return PLAIN_ID.test(text);
}

/** The same of the bytes [start, end). */
export function isPlainIdBytes(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > 15 || (bytes[start] === 0x30 && end - start > 1)) return false;
  for (let k = start; k < end; k++) if (bytes[k] < 0x30 || bytes[k] > 0x39) return false;
  return true;
}

/** What a column of numbers says beside its values: marks that may mean two things, texts that became one number. */
function describeNumbers(
  { levels, codes, marks }: LevelCells,
  counts: Int32Array,
  { values }: NumberCensus,
): Pick<NumberColumn, "marks" | "spellings"> {
  const remark = marks?.remark ?? null;
  const row =
    remark === null || remark.row > 0
      ? 0
      : codes.indexOf(levels.findIndex((text) => text.trim() === remark.text));
  const spellings = findSpellings(levels, counts, values);
  return {
    ...(remark === null ? {} : { marks: remark.row > 0 ? remark : { ...remark, row: row + 1 } }),
    ...(spellings === null ? {} : { spellings }),
  };
}

/** Leading zeros and exponents: 007, 1E2; what a number loses. */
const RESPELLED = /^[+-]?(?:0\d|.*e)/i;

function findSpellings(
  levels: readonly string[],
  counts: Int32Array,
  values: Float64Array,
): readonly [string, string] | null {
  const odd = levels.filter((text, k) => counts[k] > 0 && RESPELLED.test(text.trim()));
  if (odd.length === 0) return null;
  const first = new Map<number, string>();
  for (const [k, level] of levels.entries()) {
    if (counts[k] === 0) continue;
    const known = first.get(values[k]);
    if (known === undefined) first.set(values[k], level);
    else if (RESPELLED.test(known.trim()) || RESPELLED.test(level.trim())) return [known, level];
  }
  return null;
}

/**
 * The order that the slash dates of a column allow; null where one of its texts is no date, or the order makes no
 * difference.
 */
export function judgeSlashDates(texts: Iterable<string>): SlashOrder | "either" | null {
  let canBeMonthFirst = true;
  let canBeDayFirst = true;
  let isDifferent = false;
  for (const text of texts) {
    const monthFirst = parseDateText(text, "month-first");
    const dayFirst = parseDateText(text, "day-first");
    canBeMonthFirst &&= !Number.isNaN(monthFirst);
    canBeDayFirst &&= !Number.isNaN(dayFirst);
    if (!canBeMonthFirst && !canBeDayFirst) return null;
    isDifferent ||= monthFirst !== dayFirst;
  }
  if (!isDifferent) return null;
  if (canBeMonthFirst && canBeDayFirst) return "either";
  return canBeMonthFirst ? "month-first" : "day-first";
}

/**
 * The order of a whole table from those of its columns: columns that cannot tell alone follow those that can, or what
 * the caller says.
 */
export function agreeOnSlashDates(
  judged: readonly (SlashOrder | "either" | null)[],
  asked?: SlashOrder,
): SlashDates {
  if (asked !== undefined) return { order: asked, isCertain: true };
  const told = new Set(judged.filter((one) => one === "month-first" || one === "day-first"));
  if (told.size === 1) return { order: told.has("day-first") ? "day-first" : "month-first", isCertain: true };
  return { order: "month-first", isCertain: false };
}

function countNumbers(cells: LevelCells, counts: Int32Array): NumberCensus {
  const { levels, marks } = cells;
  const thousands = marks?.thousands ?? null;
  let mark = thousands === null ? cells.mark : marks?.mark;
  for (let level = 0; level < levels.length && mark === undefined; level++)
    mark = findDecimalMark(levels[level]);
  const values = new Float64Array(levels.length);
  const distinct = new Set<number>();
  let present = 0;
  let numbers = 0;
  let texts = 0;
  for (let level = 0; level < levels.length; level++) {
    values[level] =
      thousands === null
        ? parseNumberText(levels[level], mark ?? ".")
        : parseMarkedText(levels[level], thousands, mark ?? ".");
    if (counts[level] === 0) continue; // a text that means missing
    present += counts[level];
    if (Number.isFinite(values[level])) {
      numbers += counts[level];
      if (distinct.size <= NUMBER_COLUMN_DISTINCT) distinct.add(values[level]);
    } else if (Number.isNaN(values[level]) && !isInfinityText(levels[level])) texts += counts[level];
  }
  return { values, distinct: distinct.size, present, numbers, texts };
}

function findBadNumbers(
  { table, name, levels, codes, forced }: LevelCells,
  census: NumberCensus,
): InputError {
  const cells: BadCell[] = [];
  for (let row = 0; row < codes.length && cells.length < MAX_ROWS_NAMED; row++) {
    if (codes[row] === MISSING_CODE || Number.isFinite(census.values[codes[row]])) continue;
    cells.push({ row: row + 1, text: levels[codes[row]] });
  }
  const { present, numbers, texts } = census;
  return createBadNumbersError({ table, name, cells, count: present - numbers, texts, forced });
}

/** What every used level means, or undefined when one of them means nothing (NaN). */
function parseLevels(
  levels: readonly string[],
  counts: Int32Array,
  parse: (text: string) => number,
): Float64Array | undefined {
  const values = new Float64Array(levels.length);
  for (let level = 0; level < levels.length; level++) {
    if (counts[level] === 0) continue;
    values[level] = parse(levels[level]);
    if (Number.isNaN(values[level])) return undefined;
  }
  return values;
}

function parseTruth(level: string): number {
  const text = level.trim().toLowerCase();
  return text === "true" ? 1 : text === "false" ? 0 : Number.NaN;
}

function pickValues(codes: Int32Array, values: Float64Array): Float64Array {
  const picked = new Float64Array(codes.length);
  for (let row = 0; row < codes.length; row++) {
    picked[row] = codes[row] === MISSING_CODE ? Number.NaN : values[codes[row]];
  }
  return picked;
}

/** A category column with its levels in ascending order: as numbers where all are numbers, else by code unit. */
function toCategory({ name, levels, codes }: LevelCells, counts: Int32Array, census: NumberCensus): Column {
  const { values } = census;
  const used: number[] = [];
  let areNumbers = true;
  for (let level = 0; level < levels.length; level++) {
    if (counts[level] === 0) continue;
    used.push(level);
    areNumbers &&= !Number.isNaN(values[level]);
  }
  const byText = (a: number, b: number) => (levels[a] < levels[b] ? -1 : 1);
  const inOrder = areNumbers ? (a: number, b: number) => values[a] - values[b] || byText(a, b) : byText;
  if (!used.every((level, k) => k === 0 || inOrder(used[k - 1], level) < 0)) used.sort(inOrder);
  const rank = new Int32Array(levels.length);
  for (let position = 0; position < used.length; position++) rank[used[position]] = position;
  for (let row = 0; row < codes.length; row++) {
    if (codes[row] !== MISSING_CODE) codes[row] = rank[codes[row]];
  }
  return { name, type: "category", codes, levels: used.map((level) => levels[level]) };
}

interface BadNumbers extends UntypedColumn {
  /** The first of `count` cells that are no numbers, `texts` of them text and the others infinite. */
  readonly cells: readonly BadCell[];
  readonly count: number;
  readonly texts: number;
}

/** The error for text or infinity where numbers were meant. */
export function createBadNumbersError({ table, name, cells, count, texts, forced }: BadNumbers): InputError {
  const shown = [...new Set(cells.map(({ text }) => quote(text)))].join(", ");
  const more = count > cells.length ? `, … ${count} cells in all` : "";
  const what = texts > 0 ? "text in a number column" : "infinity in a number column";
  const otherwise = forced === "number" ? "do not ask for it as one" : `pass --category ${name}`;
  const ofMarks = cells.map(({ text }) => hintOfMarks(text)).find((one) => one !== undefined);
  return new InputError(`${what}: "${name}" has ${shown}${more}`, {
    code: texts > 0 ? "number.text" : "number.infinite",
    where: `${table}, ${nameRows(cells.map(({ row }) => row))}, column "${name}"`,
    hint:
      texts > 0 && ofMarks !== undefined
        ? `${ofMarks}; if the column is no number, ${otherwise}`
        : texts > 0
          ? `write missing values as NA or leave them empty; if the column is no number, ${otherwise}`
          : "write missing values as NA or leave them empty, and others as finite numbers",
  });
}

/** Characters of a cell that a message shows. */
const SHOWN_CHARACTERS = 40;

function quote(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text);
}

export function createNotUtf8Error(table: string, where: string): InputError {
  return new InputError("not UTF-8 text", {
    code: "file.encoding",
    where: `${table}, ${where}`,
    hint: "save the table as UTF-8 (it may be Latin-1 or Windows-1252, or no text at all)",
  });
}

/** The mark a number is written with; undefined when it has none or is no number. */
export function findDecimalMark(text: string): DecimalMark | undefined {
  for (const mark of [".", ","] as const) {
    if (text.includes(mark) && !Number.isNaN(parseNumberText(text, mark))) return mark;
  }
  return undefined;
}
