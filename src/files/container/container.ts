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
import { ALIGNMENT } from "./json-bytes.ts";

export const FILE_VERSION = 3;
/** Files of version 1 (graduate 0.1.0) lack fields that are now optional. */
const OLDEST_VERSION = 1;
export const PRELUDE_BYTES = 24;
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
    return { looks: "JSON" };
  }
  return { looks: /^[^\r\n]*[,;\t]/.test(text) ? "a CSV table" : "text" };
}

function isControl(character: string): boolean {
  return character < " " && !"\t\r\n".includes(character);
}
