/**
 * JSON as the headers of a model file hold it: UTF-8, padded with spaces to a multiple of eight bytes. Input is not
 * trusted: bytes that are not UTF-8, not JSON or nested beyond any header of ours are refused before anything walks the
 * tree. JSON has no NaN, no infinities and, as JavaScript writes it, no −0. Where a number in the header may be one of
 * them, it is written as the string "NaN", "Infinity", "-Infinity" or "-0"; the schema (model-schema.ts) knows these
 * places.
 */
import { FormatError } from "../../core/errors.ts";

/** What to do about bytes that cannot be read. */
export const UNREADABLE = "the file is damaged, or was not written by graduate; get it anew";
/** Sections are padded to this many bytes, so that float64 values can be viewed in place. */
export const ALIGNMENT = 8;
/** Far beyond the depth of any header, far below what exhausts a stack. */
export const MAX_JSON_DEPTH = 32;

export const SPECIAL_NUMBERS: ReadonlyMap<unknown, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
  ["-0", -0],
]);

export function encodeJson(value: unknown): Uint8Array {
  const text = JSON.stringify(value, (_, entry: unknown) =>
    typeof entry === "number" ? spellNumber(entry) : entry,
  );
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array(Math.ceil(bytes.length / ALIGNMENT) * ALIGNMENT).fill(0x20);
  padded.set(bytes);
  return padded;
}

function spellNumber(value: number): number | string {
  if (Object.is(value, -0)) return "-0";
  return Number.isFinite(value) ? value : String(value);
}

/** `what` names the section in an error, `where` the file. */
export function decodeJson(bytes: Uint8Array, what: string, where: string): unknown {
  const refuse = (reason: string) =>
    new FormatError(`${what} cannot be read: ${reason}`, {
      code: "model.header",
      where,
      hint: UNREADABLE,
    });
  if (isNestedBeyond(bytes, MAX_JSON_DEPTH)) {
    throw refuse(`nested more than ${MAX_JSON_DEPTH} levels deep`);
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refuse("it is not UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch {
    throw refuse("it is not JSON");
  }
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Array.from(
  '"\\[]{}',
  (character) => character.charCodeAt(0),
);

/** Works on the bytes, because a parser would already have built the tree that must be refused. */
function isNestedBeyond(bytes: Uint8Array, limit: number): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (isText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (++depth > limit) return true;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
  }
  return false;
}
