/**
 * Wording that messages share: counts and percentages as a person writes them, and text from outside made safe to show.
 * Cells, headers, names of groups and files, and the contents of a model file may hold control characters that move a
 * terminal's cursor or colour it, and marks that reorder the words around them. They are shown as `\u001b`, the way
 * JSON spells them, so that JSON text keeps its meaning. A value of three megabytes cannot be read in a sentence, so it
 * is cut. Nothing here knows where text is printed (node/print/output.ts) or drawn (report/page/html.ts).
 */

/** "1 row", "2 rows". */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A share as a person writes it: "50 %", "0.4 %". */
export function percentOf(part: number, whole: number): string {
  const percent = (100 * part) / whole;
  return `${percent < 1 ? Number(percent.toPrecision(1)) : Math.round(percent)} %`;
}

/**
 * C0 except tab and line feed, DEL and C1; line and paragraph separators; marks, embeddings, overrides and isolates of
 * writing direction; characters without width (except the joiners of Persian and Indic words); tags.
 */
const UNSAFE = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e" +
    "\\u2060-\\u2069\\ufeff\\ufffe\\uffff\\u{e0000}-\\u{e007f}]",
  "gu",
);
const LINE_BREAKS = /[\t\n]/g;

function spell(character: string): string {
  return Array.from({ length: character.length }, (_, i) => spellUnit(character.charCodeAt(i))).join("");
}

/** As JSON spells it: characters beyond 16 bits are two. */
function spellUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

/** Text of several lines; its own line feeds and tabs stay. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, spell);
}

/** A text that belongs on one line, such as a name in a table. */
export function safeLine(text: string): string {
  return safeText(text).replace(LINE_BREAKS, (character) => (character === "\t" ? "\\t" : "\\n"));
}

/** Characters of a value that a message shows. */
export const MAX_VALUE = 300;
/** Characters of a message: more than twenty values of ordinary length, whatever quotation marks they contain. */
const MAX_MESSAGE = 4000;
/** A value from outside in quotation marks, as a message shows it. */
export function quoteValue(value: string): string {
  return `"${shortenValue(value)}"`;
}

/** The beginning of a value that is too long to show. */
export function shortenValue(value: string): string {
  return value.length > MAX_VALUE ? `${cut(value, MAX_VALUE)}…` : value;
}

/** No word of ours is this long. */
const LONG_WORD = new RegExp(`\\S{${MAX_VALUE + 1},}`, "g");

/**
 * Shortens a whole message: cuts every value in quotation marks, or in one word, and then the message if still too
 * long.
 */
export function shortenValues(message: string): string {
  if (message.length <= MAX_VALUE) return message;
  let shown = "";
  // Marks are paired from the left, so that our own words between two values are not taken for a value.
  for (let at = 0; at < message.length && shown.length <= MAX_MESSAGE; ) {
    const opens = message.indexOf('"', at);
    const closes = opens === -1 ? -1 : message.indexOf('"', opens + 1);
    if (closes === -1) {
      shown += message.slice(at).replace(LONG_WORD, shortenValue);
      break;
    }
    shown +=
      message.slice(at, opens).replace(LONG_WORD, shortenValue) +
      quoteValue(message.slice(opens + 1, closes));
    at = closes + 1;
  }
  if (shown.length <= MAX_MESSAGE) return shown;
  return `${cut(shown, MAX_MESSAGE)}… (${message.length} characters in all)`;
}

/** Cuts a text, but not through the middle of a character that takes two units. */
function cut(text: string, length: number): string {
  const isHigh = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isHigh ? length - 1 : length);
}
