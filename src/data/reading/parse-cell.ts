/**
 * What one cell of text can mean: missing, a number, a date. The same grammar serves CSV fields (bytes) and texts, so a
 * table means the same in every container.
 *   missing   nothing, or NA, NaN, null in any case, blanks around them ignored
 *   number    [+-]digits[.digits][e[+-]digits], i.e. what Number() takes in base ten; a decimal comma where asked for;
 *             marks between thousands are number-marks.ts' business
 *   date      YYYY-MM-DD or YYYY/MM/DD or DD.MM.YYYY or M/D/YYYY (or D/M/YYYY, or either with dashes),
 *             with an optional time of day
 * infer-types.ts decides which of them a whole column is.
 */

export type DecimalMark = "." | ",";
/** How the caller says that decimals are written. */
export type DecimalWriting = "point" | "comma";
/** Which part of 3/4/2021 or 03-04-2021 is the month. */
export type SlashOrder = "month-first" | "day-first";

const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const COMMA = 0x2c;
const LOWER_E = 0x65;
/** Setting this bit turns an ASCII capital into its small letter. */
const LOWER_CASE_BIT = 0x20;
const FIRST_NON_ASCII = 0x80;

/** Integers below this are exact in float64, */
const EXACT_INTEGERS = 2 ** 53;
/**
 * and so are the powers of ten up to this one, so mantissa × or ÷ 10^k is rounded once, as Number() rounds (Clinger
 * 1990).
 */
const LARGEST_EXACT_POWER = 22;
const POWERS_OF_TEN = Float64Array.from({ length: LARGEST_EXACT_POWER + 1 }, (_, k) => Number(`1e${k}`));
/** Exponents are accumulated only up to here: anything longer is left to Number(). */
const EXPONENT_CAP = 10_000;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The white space of ASCII: tab, line feed, vertical tab, form feed, carriage return, space. */
function isBlank(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

/** Whether bytes[start, end) say "missing". */
export function isMissingToken(bytes: Uint8Array, start: number, end: number): boolean {
  while (start < end && isBlank(bytes[start])) start++;
  while (end > start && isBlank(bytes[end - 1])) end--;
  const length = end - start;
  if (length === 0) return true;
  if (length < 2 || length > 4 || (bytes[start] | LOWER_CASE_BIT) !== 0x6e) return false; // all three begin with n
  const second = bytes[start + 1] | LOWER_CASE_BIT;
  const third = bytes[start + 2] | LOWER_CASE_BIT;
  if (length === 2) return second === 0x61; // na
  if (length === 3) return second === 0x61 && third === 0x6e; // nan
  return second === 0x75 && third === 0x6c && (bytes[start + 3] | LOWER_CASE_BIT) === 0x6c; // null
}

export function isMissingText(text: string): boolean {
  return text === "" || /^\s*(?:na|nan|null)?\s*$/i.test(text);
}

/** Inf and Infinity: no number this library computes with, but a clear sign that a column was meant as numbers. */
export function isInfinityText(text: string): boolean {
  const last = text.charCodeAt(text.length - 1) | LOWER_CASE_BIT;
  if (last >= 0x30 && last !== 0x66 && last !== 0x79) return false; // no blank, f or y: most texts are settled here
  return /^\s*[+-]?inf(?:inity)?\s*$/i.test(text);
}

const NUMBER_WITH_POINT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const NUMBER_WITH_COMMA = /^[+-]?(?:\d+,?\d*|,\d+)(?:e[+-]?\d+)?$/i;

/** The number a text spells, NaN when it spells none, ±Infinity beyond the range of float64. */
export function parseNumberText(text: string, mark: DecimalMark): number {
  const first = text.charCodeAt(0);
  if (first > 0x39 && first < FIRST_NON_ASCII) return Number.NaN; // a letter: most texts are settled here
  const trimmed = text.trim();
  if (mark === ",") return NUMBER_WITH_COMMA.test(trimmed) ? Number(trimmed.replace(",", ".")) : Number.NaN;
  return NUMBER_WITH_POINT.test(trimmed) ? Number(trimmed) : Number.NaN;
}

/**
 * parseNumberText for the bytes [start, end), without making a string unless the digits are too many for exact
 * arithmetic.
 */
export function parseNumberBytes(bytes: Uint8Array, start: number, end: number, mark: DecimalMark): number {
  while (start < end && isBlank(bytes[start])) start++;
  while (end > start && isBlank(bytes[end - 1])) end--;
  if (start === end) return Number.NaN;
  // Number() also trims the blanks of Unicode (no-break space, …)
  if (bytes[start] >= FIRST_NON_ASCII || bytes[end - 1] >= FIRST_NON_ASCII) {
    return parseNumberText(decoder.decode(bytes.subarray(start, end)), mark);
  }
  const markByte = mark === "," ? COMMA : POINT;
  let position = start;
  let byte = bytes[position];
  const isNegative = byte === MINUS;
  if (isNegative || byte === PLUS) position++;

  let mantissa = 0;
  const integerStart = position;
  let digit = 0;
  while (position < end) {
    digit = bytes[position] - 0x30;
    if (digit < 0 || digit > 9) break;
    mantissa = mantissa * 10 + digit;
    position++;
  }
  let digits = position - integerStart;
  let exponent = 0;
  if (position < end && bytes[position] === markByte) {
    const fractionStart = ++position;
    while (position < end) {
      digit = bytes[position] - 0x30;
      if (digit < 0 || digit > 9) break;
      mantissa = mantissa * 10 + digit;
      position++;
    }
    digits += position - fractionStart;
    exponent = fractionStart - position;
  }
  if (digits === 0) return Number.NaN;
  if (position < end && (bytes[position] | LOWER_CASE_BIT) === LOWER_E) {
    position++;
    byte = bytes[position];
    const isBelowOne = byte === MINUS;
    if (position < end && (isBelowOne || byte === PLUS)) position++;
    const exponentStart = position;
    let written = 0;
    while (position < end) {
      digit = bytes[position] - 0x30;
      if (digit < 0 || digit > 9) break;
      if (written < EXPONENT_CAP) written = written * 10 + digit;
      position++;
    }
    if (position === exponentStart) return Number.NaN;
    exponent += isBelowOne ? -written : written;
  }
  if (position !== end) return Number.NaN;
  if (mantissa < EXACT_INTEGERS && exponent >= -LARGEST_EXACT_POWER && exponent <= LARGEST_EXACT_POWER) {
    const value = exponent < 0 ? mantissa / POWERS_OF_TEN[-exponent] : mantissa * POWERS_OF_TEN[exponent];
    return isNegative ? -value : value;
  }
  const text = decoder.decode(bytes.subarray(start, end));
  return Number(mark === "," ? text.replace(",", ".") : text);
}

const YEAR_FIRST = /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:[T ](.+))?$/;
const DAY_FIRST_POINTS = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:[T ](.+))?$/;
const YEAR_LAST = /^(\d{1,2})([-/])(\d{1,2})\2(\d{4})(?:[T ](.+))?$/;
const TIME_OF_DAY = /^(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(?:(Z)|([+-])(\d{2}):?(\d{2}))?$/i;

const MS_PER_DAY = 86_400_000;
export const MICROSECONDS_PER_DAY = 86_400_000_000;
const MICROSECONDS_PER_MINUTE = 60_000_000;

/** Days since 1970-01-01 (a time without a zone is taken as UTC); NaN when the text is no date of the calendar. */
export function parseDateText(text: string, slashOrder: SlashOrder): number {
  const trimmed = text.trim();
  let match = YEAR_FIRST.exec(trimmed);
  if (match) {
    // ISO 8601 asks for two digits each
    if (match[2] === "-" && (match[3].length < 2 || match[4].length < 2)) return Number.NaN;
    return toDays(match[1], match[3], match[4], match[5]);
  }
  match = DAY_FIRST_POINTS.exec(trimmed);
  if (match) return toDays(match[3], match[2], match[1], match[4]);
  match = YEAR_LAST.exec(trimmed);
  if (!match) return Number.NaN;
  return slashOrder === "month-first"
    ? toDays(match[4], match[1], match[3], match[5])
    : toDays(match[4], match[3], match[1], match[5]);
}

function toDays(yearText: string, monthText: string, dayText: string, timeText: string | undefined): number {
  const month = Number(monthText);
  const day = Number(dayText);
  const date = new Date(0);
  date.setUTCFullYear(Number(yearText), month - 1, day); // Date.UTC would move the years 0–99 into the 1900s
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return Number.NaN;
  if (timeText === undefined) return date.getTime() / MS_PER_DAY;
  const time = TIME_OF_DAY.exec(timeText);
  if (!time) return Number.NaN;
  const [, hours, minutes, seconds = "0", fraction = "0", , sign, zoneHours = "0", zoneMinutes = "0"] = time;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return Number.NaN;
  const zone = (sign === "-" ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes)); // minutes ahead of UTC
  // in whole microseconds, so that the quotient is rounded once and equals a Parquet timestamp's
  const microseconds = Number(`${seconds}e6`) + Number(`${fraction}e${6 - fraction.length}`);
  const ofDay = (Number(hours) * 60 + Number(minutes) - zone) * MICROSECONDS_PER_MINUTE + microseconds;
  return (date.getTime() * 1000 + ofDay) / MICROSECONDS_PER_DAY;
}
