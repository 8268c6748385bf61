/**
 * Which mark of a number stands before decimals and which between thousands. `1.029` may be either, and so may `1,029`;
 * one cell cannot tell, the table often can: a number that has one meaning only (61,5; 0.917; 12.50), a value with two
 * marks (1.234,5; 1,234,567), the fields' separator. Where that does not decide, the column is read as decimals and
 * marked as doubtful, and whoever uses it refuses it by name (checks/check-marks.ts). What a caller says decides first.
 *   grouped   one mark before exactly three digits, one to three before it, no 0 first: 1.029
 *   certain   thousands and nothing else: 1.234.567, 1.234,5
 *   decimal   decimals and nothing else: 0.917, 12.50, 1234.567, 1.5e3
 */
import { InputError } from "../../core/errors.ts";
import type { NumberMarks } from "../table.ts";
import { type DecimalMark, type DecimalWriting, parseNumberText } from "./parse-cell.ts";

/** How the caller says that thousands are written. */
export type ThousandsWriting = "point" | "comma" | "space" | "none";
/** What stands between thousands. */
export type ThousandsMark = DecimalMark | " ";

/** The marks as the caller gives them. */
export interface AskedMarks {
  /** What stands before decimals; "comma" reads 1,5 as a number whatever separates the fields. */
  readonly decimal?: DecimalWriting | undefined;
  /** What stands between thousands: 1.029, 1,029, 1 029 or nothing; without it, what the table shows. */
  readonly thousands?: ThousandsWriting | undefined;
}

/** A text as it stands, and its row from 1; 0 where only its text is known. */
interface Sighting {
  readonly text: string;
  readonly row: number;
}

/** For a point and for a comma. */
type OfMarks = [Sighting | null, Sighting | null];

/** The first text of each kind in a column. */
export interface MarkCensus {
  readonly grouped: OfMarks;
  readonly certain: OfMarks;
  readonly decimal: OfMarks;
  /** Blanks or apostrophes between groups of three digits. */
  spaced: Sighting | null;
  /** A number without a mark from 100 to 999, and one from 1000 on. */
  hundreds: Sighting | null;
  long: Sighting | null;
  /** Whether some text is no number however it is read. */
  hasText: boolean;
}

/** How the numbers of one column are to be read. */
export interface ColumnMarks {
  readonly thousands: ThousandsMark | null;
  /** Before decimals, where thousands are marked; otherwise the first that a number shows. */
  readonly mark: DecimalMark;
  /** What should be said of it; null where nothing was in doubt. */
  readonly remark: NumberMarks | null;
}

const MARKS = [".", ","] as const;
const NAMES = ["point", "comma"] as const;
const GROUPED = [/^[+-]?[1-9]\d{0,2}\.\d{3}$/, /^[+-]?[1-9]\d{0,2},\d{3}$/] as const;
const CERTAIN = [
  /^[+-]?[1-9]\d{0,2}(?:(?:\.\d{3}){2,}(?:,\d*)?|\.\d{3},\d*)$/,
  /^[+-]?[1-9]\d{0,2}(?:(?:,\d{3}){2,}(?:\.\d*)?|,\d{3}\.\d*)$/,
] as const;
/** Blanks of any width, and the apostrophes of Switzerland. */
const BETWEEN = "[ \u00a0\u2009\u202f'\u2019]";
const SPACED = new RegExp(`^[+-]?[1-9]\\d{0,2}(?:${BETWEEN}\\d{3})+(?:[.,]\\d*)?$`);
const ALL_BETWEEN = new RegExp(BETWEEN, "g");
const WHOLE = /^[+-]?\d{3,}$/;
/** Digits of a number without a mark that says that thousands are not marked here. */
const LONG_DIGITS = 4;
/** No number that is written out has more characters. */
const MOST_CHARACTERS = 64;

export function createMarkCensus(): MarkCensus {
  return {
    grouped: [null, null],
    certain: [null, null],
    decimal: [null, null],
    spaced: null,
    hundreds: null,
    long: null,
    hasText: false,
  };
}

/** Takes a text that does not mean missing into account. */
export function countMarks(census: MarkCensus, given: string, row = 0): void {
  const text = given.trim();
  if (WHOLE.test(text)) {
    const digits = text.replace(/^[+-]/, "");
    if (digits.length >= LONG_DIGITS) census.long ??= { text, row };
    else if (digits[0] !== "0") census.hundreds ??= { text, row };
    return;
  }
  let isNumber = text.length <= MOST_CHARACTERS && !Number.isNaN(parseNumberText(text, "."));
  for (const k of [0, 1] as const) {
    if (text.length > MOST_CHARACTERS || !text.includes(MARKS[k])) continue;
    const kind = GROUPED[k].test(text)
      ? census.grouped
      : CERTAIN[k].test(text)
        ? census.certain
        : Number.isNaN(parseNumberText(text, MARKS[k]))
          ? null
          : census.decimal;
    if (kind === null) continue;
    kind[k] ??= { text, row };
    isNumber = true;
  }
  if (isNumber) return;
  if (SPACED.test(text)) census.spaced ??= { text, row };
  else census.hasText = true;
}

/** Adds what another part of the same column shows. */
export function mergeMarks(census: MarkCensus, part: MarkCensus): void {
  for (const kind of ["grouped", "certain", "decimal"] as const)
    for (const k of [0, 1] as const) census[kind][k] ??= part[kind][k];
  census.spaced ??= part.spaced;
  census.hundreds ??= part.hundreds;
  census.long ??= part.long;
  census.hasText ||= part.hasText;
}

const POINT_OR_COMMA = { ".": 0, ",": 1 } as const;
const MARK_BYTES = [0x2e, 0x2c] as const;
const AFTER_DIGITS = 0x3a;

/**
 * Whether a cell that was read as a number with this mark, from its bytes [start, end), may tell more than those before
 * it. Most cells tell nothing, and this is asked of each.
 */
export function tellsOfMarks(
  { grouped, long, hundreds }: MarkCensus,
  bytes: Uint8Array,
  start: number,
  end: number,
  value: number,
  mark: DecimalMark | undefined,
): boolean {
  if (mark !== undefined && end - start > 3) {
    const k = POINT_OR_COMMA[mark];
    // Like the first of its kind, where three digits follow and no exponent.
    if (bytes[end - 4] === MARK_BYTES[k])
      return !(grouped[k] !== null && value >= 1 && value < 1000 && bytes[end - 2] < AFTER_DIGITS);
  }
  if (!Number.isInteger(value)) return true;
  return long === null && value >= (hundreds === null ? 100 : 1000);
}

/** The same for one that tells; returns whether nothing more can be learnt: the mark stands before decimals. */
export function countMarksOfNumber(
  census: MarkCensus,
  text: string,
  mark: DecimalMark | undefined,
  row: number,
): boolean {
  countMarks(census, text, row);
  return mark !== undefined && census.decimal[POINT_OR_COMMA[mark]] !== null;
}

/** The marks as asked for, each of them implied by the other where only one is given. */
interface SettledMarks {
  readonly decimal: 0 | 1 | null;
  readonly thousands: 0 | 1 | " " | "none" | null;
}

function settleMarks({ decimal, thousands }: AskedMarks, table: string): SettledMarks {
  if (decimal !== undefined && decimal === thousands) {
    throw new InputError(`a ${decimal} cannot stand both before decimals and between thousands`, {
      code: "option.conflict",
      where: table,
      hint: `give --decimal ${decimal} or --thousands ${decimal}`,
    });
  }
  const before = decimal === undefined ? null : decimal === "point" ? 0 : 1;
  if (thousands === "point") return { decimal: 1, thousands: 0 };
  if (thousands === "comma") return { decimal: 0, thousands: 1 };
  return { decimal: before, thousands: thousands === "space" ? " " : (thousands ?? null) };
}

/** Whether 1,5 may be a number: where the caller says so, or where ; separates fields and the caller says nothing. */
export function canHaveDecimalComma(delimiter: string, { decimal, thousands }: AskedMarks): boolean {
  if (decimal !== undefined) return decimal === "comma";
  if (thousands === "point" || thousands === "comma") return thousands === "point";
  return delimiter === ";";
}

/** What the columns of a table show together. */
interface TableShows {
  /** A mark stands before decimals: some number says so, or the other mark stands between thousands for certain. */
  readonly decimal: readonly [string | null, string | null];
  readonly canHaveComma: boolean;
}

/** How the numbers of every column are to be read, from what all columns show and what the caller says. */
export function decideMarks(
  table: string,
  censuses: readonly (MarkCensus | null)[],
  asked: AskedMarks,
  canHaveComma: boolean,
): (ColumnMarks | null)[] {
  const settled = settleMarks(asked, table);
  const numeric = censuses.filter((census) => census !== null && !census.hasText) as MarkCensus[];
  const shows = ([0, 1] as const).map((k) => {
    const found = numeric.map(({ decimal, certain }) => decimal[k] ?? certain[1 - k]);
    return found.find((one) => one !== null)?.text ?? null;
  });
  const known: TableShows = { decimal: [shows[0], shows[1]], canHaveComma };
  return censuses.map((census) => census && decideColumn(census, settled, known));
}

function decideColumn(census: MarkCensus, asked: SettledMarks, table: TableShows): ColumnMarks | null {
  if (asked.thousands === " " && census.spaced !== null) {
    const isComma = asked.decimal === 1 || (asked.decimal === null && table.decimal[1] !== null);
    return { thousands: " ", mark: isComma && table.canHaveComma ? "," : ".", remark: null };
  }
  for (const k of [0, 1] as const) {
    const seen = census.certain[k] ?? census.grouped[k];
    if (seen === null || census.decimal[k] !== null) continue;
    const decided = decideMark(census, k, asked, table);
    if (decided === "decimals") continue;
    const { isDoubtful, reason } = decided;
    const remark = reason === null ? null : describe(seen, k, isDoubtful, reason);
    if (isDoubtful) return { thousands: null, mark: MARKS[k], remark };
    return { thousands: MARKS[k], mark: MARKS[1 - k], remark };
  }
  return null;
}

/** Thousands, because of the reason (none where the caller said so), or in doubt for it. */
interface DecidedMark {
  readonly isDoubtful: boolean;
  readonly reason: string | null;
}

function decideMark(
  { certain, long, hundreds }: MarkCensus,
  k: 0 | 1,
  asked: SettledMarks,
  table: TableShows,
): DecidedMark | "decimals" {
  const other = NAMES[1 - k];
  if (asked.thousands === k) return { isDoubtful: false, reason: null };
  if (asked.thousands !== null || asked.decimal === k) return "decimals";
  if (asked.decimal !== null)
    return { isDoubtful: false, reason: `a ${other} stands before decimals, as asked` };
  if (certain[k] !== null) return { isDoubtful: false, reason: `${certain[k].text} has one meaning only` };
  // A comma that separates fields is no decimal mark by itself: such a column stays text, which checks report.
  if (k === 1 && !table.canHaveComma) return "decimals";
  const shown = table.decimal[1 - k];
  const isOnlyOther = shown !== null && table.decimal[k] === null;
  if (isOnlyOther && table.canHaveComma && long === null)
    return { isDoubtful: false, reason: `the table writes decimals with a ${other}, as in ${shown}` };
  if (isOnlyOther && (table.canHaveComma || long === null))
    return {
      isDoubtful: true,
      reason: `the table also has ${shown}${long === null ? "" : ` and ${long.text}`}`,
    };
  if (long !== null) return "decimals";
  if (hundreds !== null)
    return { isDoubtful: true, reason: `the column also has ${hundreds.text}, and no other number tells` };
  const isUsual = table.canHaveComma ? table.decimal[k] !== null && shown === null : true;
  return isUsual ? "decimals" : { isDoubtful: true, reason: "no other number of the table tells" };
}

function describe(seen: Sighting, k: 0 | 1, isDoubtful: boolean, reason: string): NumberMarks {
  return { ...seen, mark: NAMES[k], isDoubtful, reason };
}

/** The number that a text spells with thousands marked, or without; NaN where it spells none. */
export function parseMarkedText(text: string, thousands: ThousandsMark | null, mark: DecimalMark): number {
  const trimmed = text.trim();
  if (thousands !== null && trimmed.length <= MOST_CHARACTERS) {
    const isGrouped =
      thousands === " "
        ? SPACED.test(trimmed)
        : GROUPED[POINT_OR_COMMA[thousands]].test(trimmed) ||
          CERTAIN[POINT_OR_COMMA[thousands]].test(trimmed);
    if (isGrouped) {
      // Beside blanks either mark can only stand before decimals.
      if (thousands === " ") return parseNumberText(trimmed.replace(ALL_BETWEEN, "").replace(",", "."), ".");
      return parseNumberText(trimmed.replaceAll(thousands, ""), mark);
    }
  }
  return parseNumberText(trimmed, mark);
}

/** What would read the text as a number, for a refusal; undefined where no mark is to blame. */
export function hintOfMarks(text: string): string | undefined {
  const trimmed = text.trim();
  if (SPACED.test(trimmed)) return "--thousands space reads it as a number";
  for (const k of [0, 1] as const) {
    const name = NAMES[k];
    if (GROUPED[k].test(trimmed)) return sayEither(name);
    if (CERTAIN[k].test(trimmed)) return `--thousands ${name} reads it as a number`;
  }
  return undefined;
}

/** What to do where both readings are possible. */
export function sayEither(mark: "point" | "comma"): string {
  return `say --decimal ${mark} or --thousands ${mark}`;
}

/** Both readings of a grouped text: 1.029 and 1029. */
export function bothReadings(text: string): readonly [string, string] {
  return [text.replace(",", "."), text.replace(/[.,]/g, "")];
}
