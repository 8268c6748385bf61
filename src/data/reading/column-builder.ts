/**
 * Collects the cells of one CSV column block by block. A column starts as a dictionary of its distinct texts, which can
 * still become any type; one whose many distinct values are mostly numbers goes on as plain numbers, its texts
 * forgotten, and asks for a second reading if it turns out to be a category after all. So memory is 4 or 8 bytes a
 * cell, plus the distinct texts of what is text. The type itself is infer-types.ts' decision.
 */
import { InputError, MAX_ROWS_NAMED } from "../../core/errors.ts";
import { type Column, MISSING_CODE } from "../table.ts";
import {
  type BadCell,
  columnFromLevels,
  createBadNumbersError,
  createNotUtf8Error,
  findDecimalMark,
  isPlainId,
  isPlainIdBytes,
  NUMBER_COLUMN_SHARE,
  type SlashDates,
  type UntypedColumn,
} from "./infer-types.ts";
import {
  type ColumnMarks,
  countMarks,
  countMarksOfNumber,
  createMarkCensus,
  type MarkCensus,
  tellsOfMarks,
} from "./number-marks.ts";
import {
  type DecimalMark,
  isInfinityText,
  isMissingToken,
  parseNumberBytes,
  parseNumberText,
} from "./parse-cell.ts";

/**
 * Distinct texts a column may show before it is decided whether it goes on as plain numbers; must exceed twice
 * NUMBER_COLUMN_DISTINCT.
 */
export const TRIAL_LEVELS = 256;
/** Levels a dictionary has room for at first: little, for tables of many columns. */
const FIRST_LEVELS = 8;
/** Distinct text one column may hold: its offsets are 32-bit. */
const MAX_TEXT_BYTES = 2 ** 31 - 1;
/** Texts up to this length together are decoded in one go; beyond, a JavaScript string may not be able to hold them. */
const WHOLE_TEXT_BYTES = 2 ** 28;
/** Share of a column's rows that may stay unused in memory behind it. */
const MAX_SLACK = 1 / 8;

/** The cells of one block, as scan-records.ts found them: row r's field of this column is number first + r·stride. */
export interface FieldBlock {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly first: number;
  readonly stride: number;
  readonly rows: number;
}

/**
 * Distinct byte strings, numbered in the order they came; open addressing over an FNV-1a hash, finished as
 * MurmurHash3's.
 */
interface ByteDictionary {
  size: number;
  arena: Uint8Array;
  /** Level k is arena[offsets[k], offsets[k+1]). */
  offsets: Int32Array;
  hashes: Int32Array;
  slots: Int32Array; // level + 1, 0 = free; a power of two long
  /** Code of level k: k, or MISSING_CODE for the texts that mean missing. */
  codes: Int32Array;
}

export interface ColumnBuilder extends UntypedColumn {
  /** Undefined until a value shows it, where both marks are possible: the first mark in a column decides. */
  mark: DecimalMark | undefined;
  mode: "dictionary" | "numbers";
  isSettled: boolean;
  /** Of an id: whether a text was seen in numbers mode that is no plain whole number. */
  readonly isId: boolean;
  isRespelled: boolean;
  /** What marks were seen in numbers mode, while more can be learnt of them. */
  readonly marks: MarkCensus;
  knowsMarks: boolean;
  rows: number;
  dictionary: ByteDictionary;
  /** The rows so far are at the front; the array is longer, by the rows expected to come. */
  codes: Int32Array;
  numbers: Float64Array;
  /** In numbers mode: cells with a value, those of them that are text, and those that are infinite. */
  present: number;
  texts: number;
  infinities: number;
  bad: BadCell[];
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function createDictionary(): ByteDictionary {
  return {
    size: 0,
    arena: new Uint8Array(16 * FIRST_LEVELS),
    offsets: new Int32Array(FIRST_LEVELS + 1),
    hashes: new Int32Array(FIRST_LEVELS),
    slots: new Int32Array(2 * FIRST_LEVELS),
    codes: new Int32Array(FIRST_LEVELS),
  };
}

interface ColumnBuilderOptions extends UntypedColumn {
  readonly canHaveDecimalComma: boolean;
  /** Whether the texts are kept to the end, also those of many different numbers. */
  readonly keepsTexts?: boolean;
  readonly isId?: boolean;
  /** A guess at the rows to come, to allocate once; 0 when there is none. */
  readonly expectedRows: number;
}

export function createColumnBuilder(options: ColumnBuilderOptions): ColumnBuilder {
  const {
    table,
    name,
    forced,
    canHaveDecimalComma,
    expectedRows,
    keepsTexts = false,
    isId = false,
  } = options;
  const mode = forced === "number" && !keepsTexts ? "numbers" : "dictionary";
  return {
    name,
    table,
    forced,
    mark: canHaveDecimalComma ? undefined : ".",
    mode,
    isSettled: forced !== undefined || keepsTexts,
    isId,
    isRespelled: false,
    marks: createMarkCensus(),
    knowsMarks: false,
    rows: 0,
    dictionary: createDictionary(),
    codes: new Int32Array(mode === "dictionary" ? expectedRows : 0),
    numbers: new Float64Array(mode === "numbers" ? expectedRows : 0),
    present: 0,
    texts: 0,
    infinities: 0,
    bad: [],
  };
}

export function appendFields(builder: ColumnBuilder, block: FieldBlock): void {
  const rows = builder.rows + block.rows;
  if (builder.mode === "numbers") {
    if (rows > builder.numbers.length) builder.numbers = grow(new Float64Array(2 * rows), builder.numbers);
    appendNumbers(builder, block);
    builder.rows = rows;
  } else {
    if (rows > builder.codes.length) builder.codes = grow(new Int32Array(2 * rows), builder.codes);
    appendCodes(builder, block);
    builder.rows = rows;
    if (!builder.isSettled && builder.dictionary.size > TRIAL_LEVELS) settle(builder);
  }
}

function grow<A extends Int32Array | Float64Array>(larger: A, values: A): A {
  larger.set(values);
  return larger;
}

/** The first `rows` values: a view where little is left over, a copy where much is. */
function trimToRows<A extends Int32Array | Float64Array>(values: A, rows: number): A {
  const isClose = values.length - rows <= rows * MAX_SLACK;
  return (isClose ? values.subarray(0, rows) : values.slice(0, rows)) as A;
}

function appendCodes(builder: ColumnBuilder, block: FieldBlock): void {
  const { bytes, starts, ends, first, stride } = block;
  const { dictionary, codes: found } = builder;
  let { arena, offsets, hashes, slots, codes } = dictionary;
  const rowEnd = builder.rows + block.rows;
  for (let row = builder.rows, field = first; row < rowEnd; row++, field += stride) {
    const start = starts[field];
    const end = ends[field];
    if (start === end) {
      found[row] = MISSING_CODE;
      continue;
    }
    let hash = 0x811c9dc5;
    for (let k = start; k < end; k++) hash = Math.imul(hash ^ bytes[k], 0x01000193);
    // MurmurHash3's finish: the low bits pick the slot, and FNV leaves those of similar texts alike
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
    const mask = slots.length - 1;
    let slot = hash & mask;
    let level = slots[slot] - 1;
    while (level >= 0) {
      if (hashes[level] === hash) {
        const offset = offsets[level];
        if (offsets[level + 1] - offset === end - start) {
          let k = start;
          while (k < end && bytes[k] === arena[offset + k - start]) k++;
          if (k === end) break;
        }
      }
      slot = (slot + 1) & mask;
      level = slots[slot] - 1;
    }
    if (level < 0) {
      level = addLevel(builder, bytes, start, end, hash, slot);
      ({ arena, offsets, hashes, slots, codes } = dictionary);
    }
    found[row] = codes[level];
  }
}

function addLevel(
  builder: ColumnBuilder,
  bytes: Uint8Array,
  start: number,
  end: number,
  hash: number,
  freeSlot: number,
): number {
  const { dictionary } = builder;
  const level = dictionary.size++;
  const offset = dictionary.offsets[level];
  if (offset + end - start > dictionary.arena.length) {
    if (offset + end - start > MAX_TEXT_BYTES) throw createTooMuchTextError(builder);
    const arena = new Uint8Array(Math.min(2 * (dictionary.arena.length + end - start), MAX_TEXT_BYTES));
    arena.set(dictionary.arena.subarray(0, offset));
    dictionary.arena = arena;
  }
  dictionary.arena.set(bytes.subarray(start, end), offset);
  dictionary.offsets[level + 1] = offset + end - start;
  dictionary.hashes[level] = hash;
  dictionary.codes[level] = isMissingToken(bytes, start, end) ? MISSING_CODE : level;
  dictionary.slots[freeSlot] = level + 1;
  if (dictionary.size === dictionary.hashes.length) growDictionary(dictionary);
  return level;
}

function growDictionary(dictionary: ByteDictionary): void {
  const capacity = 2 * dictionary.size;
  for (const key of ["offsets", "hashes", "codes"] as const) {
    const grown = new Int32Array(key === "offsets" ? capacity + 1 : capacity);
    grown.set(dictionary[key]);
    dictionary[key] = grown;
  }
  const slots = new Int32Array(2 * capacity);
  const mask = slots.length - 1;
  for (let level = 0; level < dictionary.size; level++) {
    let slot = dictionary.hashes[level] & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = level + 1;
  }
  dictionary.slots = slots;
}

function appendNumbers(builder: ColumnBuilder, block: FieldBlock): void {
  const { bytes, starts, ends, first, stride } = block;
  const values = builder.numbers;
  const rowEnd = builder.rows + block.rows;
  let { mark } = builder;
  const { isId, marks } = builder;
  let isOpen = !builder.knowsMarks;
  let missing = 0;
  for (let row = builder.rows, field = first; row < rowEnd; row++, field += stride) {
    const start = starts[field];
    const end = ends[field];
    if (start === end) {
      values[row] = Number.NaN;
      missing++;
      continue;
    }
    const value = parseNumberBytes(bytes, start, end, mark ?? ".");
    if (Number.isFinite(value) && (mark !== undefined || !hasPoint(bytes, start, end))) {
      values[row] = value;
      if (isOpen && tellsOfMarks(marks, bytes, start, end, value, mark)) {
        isOpen = !countMarksOfNumber(marks, decoder.decode(bytes.subarray(start, end)), mark, row + 1);
      }
      if (isId && !isPlainIdBytes(bytes, start, end)) builder.isRespelled = true;
    } else if (Number.isNaN(value) && isMissingToken(bytes, start, end)) {
      values[row] = Number.NaN;
      missing++;
    } else {
      values[row] = readOddNumber(builder, decoder.decode(bytes.subarray(start, end)), row + 1);
      mark = builder.mark;
    }
  }
  builder.knowsMarks = !isOpen;
  builder.present += block.rows - missing;
}

function hasPoint(bytes: Uint8Array, start: number, end: number): boolean {
  for (let k = start; k < end; k++) if (bytes[k] === 0x2e) return true;
  return false;
}

/** The rare cells: a decimal mark not settled yet, text, infinity. */
function readOddNumber(builder: ColumnBuilder, text: string, row: number): number {
  builder.mark ??= findDecimalMark(text);
  const value = parseNumberText(text, builder.mark ?? ".");
  if (!builder.knowsMarks) countMarks(builder.marks, text, row);
  if (builder.isId) builder.isRespelled ||= !isPlainId(text);
  if (Number.isFinite(value)) return value;
  if (Number.isNaN(value) && !isInfinityText(text)) builder.texts++;
  else builder.infinities++;
  if (builder.bad.length < MAX_ROWS_NAMED) builder.bad.push({ row, text });
  return Number.NaN;
}

/** With many distinct texts seen, goes on as plain numbers if most of them are numbers. */
function settle(builder: ColumnBuilder): void {
  builder.isSettled = true;
  const { dictionary, codes, rows } = builder;
  const texts = Array.from({ length: dictionary.size }, (_, level) =>
    decoder.decode(dictionary.arena.subarray(dictionary.offsets[level], dictionary.offsets[level + 1])),
  );
  for (const text of texts) builder.mark ??= findDecimalMark(text);
  const mark = builder.mark ?? ".";
  const values = texts.map((text) => parseNumberText(text, mark));
  if (2 * values.filter(Number.isFinite).length <= values.length) return;
  for (const [level, text] of texts.entries()) {
    if (dictionary.codes[level] === MISSING_CODE) continue;
    countMarks(builder.marks, text);
    builder.isRespelled ||= builder.isId && !isPlainId(text);
  }
  placeSightings(builder, texts);
  builder.mode = "numbers";
  builder.numbers = new Float64Array(codes.length);
  for (let row = 0; row < rows; row++) {
    if (codes[row] === MISSING_CODE) {
      builder.numbers[row] = Number.NaN;
      continue;
    }
    builder.present++;
    const value = values[codes[row]];
    builder.numbers[row] = Number.isFinite(value)
      ? value
      : readOddNumber(builder, texts[codes[row]], row + 1);
  }
  builder.codes = new Int32Array(0);
  builder.dictionary = createDictionary();
}

/** Rows of the texts that were seen so far, before the texts are forgotten. */
function placeSightings({ marks, codes }: ColumnBuilder, texts: readonly string[]): void {
  for (const kind of [marks.grouped, marks.certain, marks.decimal]) {
    for (const k of [0, 1] as const) {
      const seen = kind[k];
      if (seen === null) continue;
      kind[k] = { ...seen, row: codes.indexOf(texts.findIndex((text) => text.trim() === seen.text)) + 1 };
    }
  }
}

/** The marks of the column's numbers; null where it is no column of numbers, or was asked for as categories. */
export function censusOf(builder: ColumnBuilder): MarkCensus | null {
  if (builder.forced === "category") return null;
  if (builder.mode === "numbers") return builder.marks;
  const census = createMarkCensus();
  for (const text of listTexts(builder)) {
    countMarks(census, text);
    if (census.hasText) break;
  }
  return census;
}

/** The distinct texts of a column whose texts are kept, in the order they came. */
export function* listTexts({ dictionary }: ColumnBuilder): Generator<string> {
  const { arena, offsets, size, codes } = dictionary;
  for (let level = 0; level < size; level++) {
    if (codes[level] !== MISSING_CODE)
      yield decoder.decode(arena.subarray(offsets[level], offsets[level + 1]));
  }
}

/** What only the whole table can tell of a column. */
export interface ColumnDecisions {
  readonly slashDates?: SlashDates | undefined;
  readonly marks?: ColumnMarks | null | undefined;
}

/** The finished column, or "reread" when its texts are needed and were not kept. */
export function finishColumn(builder: ColumnBuilder, decided: ColumnDecisions = {}): Column | "reread" {
  const { name, table, rows, forced, mark, present, texts, isId } = builder;
  const { slashDates, marks } = decided;
  if (builder.mode === "dictionary") {
    const levels = decodeLevels(builder);
    builder.dictionary = createDictionary();
    const codes = trimToRows(builder.codes, rows);
    return columnFromLevels({ table, name, levels, codes, forced, mark, slashDates, marks, isId });
  }
  // Its texts are needed: the numbers were read without the marks, or are ids.
  if ((marks?.thousands ?? null) !== null || (builder.isRespelled && forced === undefined)) {
    builder.numbers = new Float64Array(0);
    return "reread";
  }
  const remark = marks?.remark ?? null;
  const odd = texts + builder.infinities;
  if (odd === 0) {
    const values = trimToRows(builder.numbers, rows);
    return { name, type: "number", values, ...(remark === null ? {} : { marks: remark }) };
  }
  const numbers = present - odd;
  const isOtherwiseNumeric = texts === 0 && numbers > 0;
  // in this mode, unless forced, there are many distinct numbers
  if (forced === "number" || isOtherwiseNumeric || numbers >= NUMBER_COLUMN_SHARE * present) {
    throw createBadNumbersError({ table, name, cells: builder.bad, count: odd, texts, forced });
  }
  builder.numbers = new Float64Array(0);
  return "reread";
}

/** The texts of the dictionary, refusing bytes that are not UTF-8. */
function decodeLevels(builder: ColumnBuilder): string[] {
  const { arena, offsets, size } = builder.dictionary;
  const length = offsets[size];
  let isAscii = length <= WHOLE_TEXT_BYTES;
  for (let k = 0; k < length && isAscii; k++) isAscii = arena[k] < 0x80;
  const whole = isAscii ? decoder.decode(arena.subarray(0, length)) : "";
  const levels: string[] = [];
  for (let level = 0; level < size; level++) {
    if (isAscii) levels.push(whole.slice(offsets[level], offsets[level + 1]));
    else {
      try {
        levels.push(strictDecoder.decode(arena.subarray(offsets[level], offsets[level + 1])));
      } catch {
        const row = builder.codes.indexOf(level) + 1;
        throw createNotUtf8Error(builder.table, `row ${row}, column "${builder.name}"`);
      }
    }
  }
  return levels;
}

function createTooMuchTextError({ table, name }: ColumnBuilder): InputError {
  const message = `too much text: more than ${MAX_TEXT_BYTES} bytes of distinct values in column "${name}"`;
  return new InputError(message, {
    code: "column.too-much-text",
    where: `${table}, column "${name}"`,
    hint: "leave the column out of the table",
  });
}
