/**
 * The outside of a model file, the same for models and checkpoints (docs/model-file.md):
 *   0   8  89 47 52 44 0D 0A 1A 0A ("\x89GRD\r\n\x1a\n": shows a transfer as text, as PNG's does)
 *   8   4  format version     12  4  bytes of header     16  8  bytes of weights        all little-endian
 *   24     header, JSON        then  weights, safetensors layout        then  32  SHA-256 of everything before
 * Header and weights begin at multiples of eight. Nothing is trusted before magic, version, lengths and checksum agree,
 * in that order; the contents of header and weights are checked elsewhere.
 */
import { FormatError } from "../../core/errors.ts";
import { sha256 } from "./checksum.ts";

export const FILE_VERSION = 7;
/** Files of version 1 (graduate 0.1.0) lack fields that are now optional. */
const OLDEST_VERSION = 1;
const PRELUDE_BYTES = 24;
/** A table of 20,000 columns makes a header of 4 MB. */
export const MAX_HEADER_BYTES = 1 << 24;
/** A quarter of a billion weights, far beyond any network here; the file is held in memory as a whole. */
export const MAX_FILE_BYTES = 2 ** 30;

const MAGIC = Uint8Array.of(0x89, 0x47, 0x52, 0x44, 0x0d, 0x0a, 0x1a, 0x0a);
const CHECKSUM_BYTES = 32;
const GET_ANEW = "copy or download the file again, or train the model anew";

export interface Sections {
  /** JSON, not yet parsed. */
  readonly header: Uint8Array;
  /** In the safetensors layout. */
  readonly weights: Uint8Array;
}

export function packSections({ header, weights }: Sections): Uint8Array {
  if (header.length > MAX_HEADER_BYTES || header.length % ALIGNMENT !== 0) {
    throw new FormatError(
      `the header has ${header.length} bytes; at most ${MAX_HEADER_BYTES} can be written`,
      {
        code: "model.size",
        hint: "leave out columns with a value of their own for almost every row: each value is part of the model",
      },
    );
  }
  const bytes = new Uint8Array(PRELUDE_BYTES + header.length + weights.length + CHECKSUM_BYTES);
  if (bytes.length > MAX_FILE_BYTES) {
    throw new FormatError(`the model has ${bytes.length} bytes; at most ${MAX_FILE_BYTES} can be written`, {
      code: "model.size",
    });
  }
  const view = new DataView(bytes.buffer);
  bytes.set(MAGIC);
  view.setUint32(8, FILE_VERSION, true);
  view.setUint32(12, header.length, true);
  view.setBigUint64(16, BigInt(weights.length), true);
  bytes.set(header, PRELUDE_BYTES);
  bytes.set(weights, PRELUDE_BYTES + header.length);
  const end = bytes.length - CHECKSUM_BYTES;
  bytes.set(sha256(bytes.subarray(0, end)), end);
  return bytes;
}

/** The sections are views of `bytes`. */
export function unpackSections(bytes: Uint8Array, where: string): Sections & { readonly version: number } {
  const { headerBytes, version } = checkPrelude(bytes, bytes.length, where);
  const end = bytes.length - CHECKSUM_BYTES;
  const stored = bytes.subarray(end);
  if (!sha256(bytes.subarray(0, end)).every((byte, i) => byte === stored[i])) {
    throw new FormatError("the checksum does not match: the file was damaged or changed", {
      code: "model.checksum",
      where,
      hint: GET_ANEW,
    });
  }
  return {
    version,
    header: bytes.subarray(PRELUDE_BYTES, PRELUDE_BYTES + headerBytes),
    weights: bytes.subarray(PRELUDE_BYTES + headerBytes, end),
  };
}

/**
 * Everything that can be told from the first bytes of a file of `size` bytes, so that it can be refused without reading
 * the rest. `start` holds its first 24 bytes or more; the more there are, the better another kind of file is
 * recognised.
 */
export function checkPrelude(
  start: Uint8Array,
  size: number,
  where: string,
): { readonly version: number; readonly headerBytes: number; readonly weightsBytes: number } {
  if (size === 0) {
    throw new FormatError("not a model file: it is empty", { code: "model.magic", where, hint: GET_ANEW });
  }
  const same = MAGIC.findIndex((byte, i) => byte !== start[i]);
  if (same !== -1 && !(same === size && size < MAGIC.length)) throw refuseMagic(start, where);
  if (size < PRELUDE_BYTES) throw refuseTruncated(size, null, where);
  const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
  const version = view.getUint32(8, true);
  if (!(version >= OLDEST_VERSION && version <= FILE_VERSION)) throw refuseVersion(version, where);
  const headerBytes = view.getUint32(12, true);
  const weightsBytes = view.getBigUint64(16, true);
  if (
    headerBytes > MAX_HEADER_BYTES ||
    headerBytes % ALIGNMENT !== 0 ||
    weightsBytes > BigInt(MAX_FILE_BYTES)
  ) {
    throw new FormatError(
      `the file claims a header of ${headerBytes} bytes and weights of ${weightsBytes}: no model is that large`,
      { code: "model.size", where, hint: GET_ANEW },
    );
  }
  const expected = PRELUDE_BYTES + headerBytes + Number(weightsBytes) + CHECKSUM_BYTES;
  if (size < expected) throw refuseTruncated(size, expected, where);
  if (size > expected) {
    throw new FormatError(`the file goes on after its end: ${size} bytes, ${expected} belong to it`, {
      code: "model.trailing",
      where,
      hint: GET_ANEW,
    });
  }
  return { version, headerBytes, weightsBytes: Number(weightsBytes) };
}

function refuseTruncated(size: number, expected: number | null, where: string): FormatError {
  const of = expected === null ? "fewer than any model has" : `${expected} expected`;
  return new FormatError(`the file is cut off: ${size} bytes, ${of}`, {
    code: "model.truncated",
    where,
    hint: GET_ANEW,
  });
}

function refuseVersion(version: number, where: string): FormatError {
  const isNewer = version > FILE_VERSION;
  const age = isNewer ? "a newer" : "an unknown older";
  const known = `this program knows ${OLDEST_VERSION} to ${FILE_VERSION}`;
  return new FormatError(`a model file of ${age} format: ${version} (${known})`, {
    code: "model.version",
    where,
    hint: isNewer ? "update graduate, or train the model with this version" : "train the model anew",
  });
}

function refuseMagic(start: Uint8Array, where: string): FormatError {
  const other = recogniseOther(start);
  return new FormatError(`not a model file${other === null ? "" : `: it looks like ${other.looks}`}`, {
    code: "model.magic",
    where,
    hint: other?.hint ?? "give the file that `graduate train … --out FILE` wrote",
  });
}

interface Other {
  readonly looks: string;
  readonly hint?: string;
}

/** Enough of a file to tell text from binary. */
const RECOGNISE_BYTES = 1024;

/** Other kinds of file that people pass by mistake. */
function recogniseOther(file: Uint8Array): Other | null {
  const start = file.subarray(0, RECOGNISE_BYTES);
  const begins = (...bytes: readonly number[]) => bytes.every((byte, i) => start[i] === byte);
  if (begins(0x1f, 0x8b)) return { looks: "a gzip file", hint: "unpack it first: gunzip FILE" };
  if (begins(0x50, 0x4b, 0x03, 0x04)) return { looks: "a zip archive", hint: "unpack it first: unzip FILE" };
  if (begins(0x50, 0x41, 0x52, 0x31)) return { looks: "a Parquet table" };
  // The magic with its carriage return dropped, its line feeds doubled, or its first bit lost.
  if ((begins(0x89) || begins(0x09)) && begins(start[0], 0x47, 0x52, 0x44)) {
    return { looks: "one that was transferred as text", hint: "transfer it again in binary mode" };
  }
  if (start[8] === 0x7b && begins(start[0], start[1], start[2], start[3], 0, 0, 0, 0)) {
    return { looks: "bare safetensors, without the header of a model" };
  }
  return recogniseText(start);
}

function recogniseText(start: Uint8Array): Other | null {
  // Latin-1 maps every byte to a character; this only looks for control characters.
  const text = new TextDecoder("latin1").decode(start).replace(/^ï»¿/, "").trimStart();
  if (text === "" || Array.from(text).some(isControl)) return null;
  if (text.startsWith("{") || text.startsWith("[")) {
    if (/"format"\s*:\s*"graduate-model"/.test(text)) {
      return { looks: "a model in the JSON of an earlier build", hint: "train the model anew" };
    }
    if (/"format"\s*:\s*"graduate-boost"/.test(text)) {
      const hint =
        "give the model, and carry the repair out: `graduate boost MODEL TABLE --apply FILE --out CURVES`";
      return { looks: "a repair that `graduate boost` saved", hint };
    }
    return { looks: "JSON" };
  }
  return { looks: /^[^\r\n]*[,;\t]/.test(text) ? "a CSV table" : "text" };
}

function isControl(character: string): boolean {
  return character < " " && !"\t\r\n".includes(character);
}

/*
 * JSON as the headers of a model file hold it: UTF-8, padded with spaces to a multiple of eight bytes. Input is not
 * trusted: bytes that are not UTF-8, not JSON or nested beyond any header of ours are refused before anything walks the
 * tree. JSON has no NaN, no infinities and, as JavaScript writes it, no −0. Where a number in the header may be one of
 * them, it is written as the string "NaN", "Infinity", "-Infinity" or "-0"; the schema (model-schema.ts) knows these
 * places.
 */

/** What to do about bytes that cannot be read. */
export const UNREADABLE = "the file is damaged, or was not written by graduate; get it anew";
/** Sections are padded to this many bytes, so that float64 values can be viewed in place. */
const ALIGNMENT = 8;
/** Far beyond the depth of any header, far below what exhausts a stack. */
const MAX_JSON_DEPTH = 32;

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
