/**
 * Reads a table whatever its container: Parquet, CSV or TSV text, or such text in gzip, told apart by their first bytes
 * and never by the file's name. Text is UTF-8, or UTF-16 with a byte order mark. Anything else is refused with a word
 * on what it seems to be. The cells' meaning is the same in every container: see parse-cell.ts and infer-types.ts. A
 * table of any length is read part by part: only the columns that are asked for, and never more than a part of them in
 * memory. Each part is typed by itself; what was a category in training must be requested as one, and conform-column.ts
 * converts the rest to the types of training.
 */

import { GraduateError, InputError } from "../../core/errors.ts";
import type { Table } from "../table.ts";
import { createEmptyFileError, type TableChunk } from "./containers.ts";
import { readCsv } from "./read-csv.ts";
import { readCsvChunks } from "./read-csv-chunks.ts";

/** A table's bytes. */
export interface TableSource {
  /** What messages call it, usually the file name. */
  readonly name: string;
  /** The bytes from the beginning; may be called more than once. */
  open(): AsyncIterable<Uint8Array>;
  readonly byteLength?: number;
  /** The bytes [start, end), for formats that are not read from the beginning. */
  slice?(start: number, end: number): Promise<ArrayBuffer>;
}

/** Types to force, and who hears of the progress. */
export interface ReadTableOptions {
  /** Columns to read as categories, each text a level as it is written ("007" stays "007"). */
  readonly category?: readonly string[];
  /** Columns that must be numbers. */
  readonly number?: readonly string[];
  /** "comma" reads 1,5 as a number whatever separates the fields; without it, that happens only where ; does. */
  readonly decimal?: "point" | "comma";
  /** Called now and then with the bytes of the source and the rows read so far. */
  readonly onProgress?: (bytes: number, rows: number) => void;
}

/** Bytes at the front of a file that tell what it is; the rarest need eight. */
const HEAD_BYTES = 16;

/** Bytes in memory as the source of a table. */
export function tableSourceFromBytes(name: string, bytes: Uint8Array): TableSource {
  return {
    name,
    byteLength: bytes.length,
    async *open() {
      yield bytes;
    },
    async slice(start, end) {
      return new Uint8Array(bytes.subarray(start, end)).buffer; // a copy, also of a Node Buffer
    },
  };
}

/** Reads a whole table into memory, whatever its container. */
export async function readTable(source: TableSource, options: ReadTableOptions = {}): Promise<Table> {
  const { name } = source;
  const { category = [], number = [], decimal, onProgress } = options;
  const counted = countBytes(source);
  const head = await readHead(counted.open());
  if (head.length === 0) throw createEmptyFileError(name);
  if (startsWith(head, "PAR1")) {
    // Loaded when it is needed: its codecs take longer to load than a small table takes to read.
    const { readParquet } = await import("./read-parquet.ts");
    return readParquet({ source, category, number, decimal, onProgress });
  }

  const isGzip = startsWith(head, "\x1f\x8b");
  const openText = () => (isGzip ? gunzip(name, counted.open()) : counted.open());
  const textHead = isGzip ? await readHead(openText()) : head;
  if (textHead.length === 0) throw createEmptyFileError(name);
  refuseBinary(name, textHead, isGzip);
  return readCsv({
    name,
    open: () => toUtf8(name, openText(), textHead),
    byteLength: isGzip ? undefined : source.byteLength,
    category,
    number,
    decimal,
    onBlock: (rows) => onProgress?.(counted.bytes(), rows),
  });
}

/** The first bytes of a stream that is opened for them alone. */
async function readHead(stream: AsyncGenerator<Uint8Array>): Promise<Uint8Array> {
  const { head, close } = await peek(stream);
  await close();
  return head;
}

/** Whether the bytes begin with the signature, one character per byte. */
function startsWith(head: Uint8Array, signature: string): boolean {
  if (head.length < signature.length) return false;
  for (let k = 0; k < signature.length; k++) if (head[k] !== signature.charCodeAt(k)) return false;
  return true;
}

async function* gunzip(name: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const stream = new DecompressionStream("gzip");
  const writer = stream.writable.getWriter();
  const reader = stream.readable.getReader();
  let sourceError: unknown;
  const feeding = (async () => {
    try {
      for await (const chunk of chunks) await writer.write(chunk as Uint8Array<ArrayBuffer>);
      await writer.close();
    } catch (error) {
      if (error instanceof GraduateError) sourceError = error;
      await writer.abort(error).catch(() => undefined); // already failed: the reader is told below
    }
  })();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
  } catch {
    throw sourceError ?? createDamagedGzipError(name);
  } finally {
    await reader.cancel().catch(() => undefined);
    await feeding;
  }
}

function createDamagedGzipError(name: string): InputError {
  return new InputError("truncated or damaged gzip file", {
    code: "file.truncated",
    where: name,
    hint: "copy or download the file again (gzip -t checks one)",
  });
}

/** The text as UTF-8 without a byte order mark. */
async function* toUtf8(
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  head: Uint8Array,
): AsyncGenerator<Uint8Array> {
  const encoding = findUtf16(head);
  if (encoding === undefined) {
    let toSkip = startsWith(head, "\xef\xbb\xbf") ? 3 : 0;
    for await (const chunk of chunks) {
      const skipped = Math.min(toSkip, chunk.length);
      toSkip -= skipped;
      yield skipped > 0 ? chunk.subarray(skipped) : chunk;
    }
    return;
  }
  const decoder = new TextDecoder(encoding, { fatal: true }); // drops the byte order mark
  const encoder = new TextEncoder();
  try {
    for await (const chunk of chunks) yield encoder.encode(decoder.decode(chunk, { stream: true }));
    yield encoder.encode(decoder.decode());
  } catch (error) {
    if (error instanceof GraduateError) throw error;
    throw new InputError("not UTF-16 text, though it begins with its byte order mark", {
      code: "file.encoding",
      where: name,
      hint: "save the table as UTF-8",
    });
  }
}

function findUtf16(head: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (startsWith(head, "\xff\xfe")) return "utf-16le";
  if (startsWith(head, "\xfe\xff")) return "utf-16be";
  return undefined;
}

interface Signature {
  readonly bytes: string;
  readonly what: string;
}

/** What people hand over instead of a table, by its first bytes. */
const SIGNATURES: readonly Signature[] = [
  { bytes: "PK\x03\x04", what: "a zip archive or an Excel workbook (.xlsx)" },
  { bytes: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", what: "an old Excel workbook (.xls)" },
  { bytes: "%PDF", what: "a PDF document" },
  { bytes: "\x89PNG", what: "a PNG image" },
  { bytes: "\xff\xd8\xff", what: "a JPEG image" },
  { bytes: "ARROW1", what: "an Arrow or Feather file" },
  { bytes: "FEA1", what: "a Feather file" },
  { bytes: "SQLite format 3", what: "an SQLite database" },
  { bytes: "\x89HDF", what: "an HDF5 file" },
  { bytes: "RDX", what: "an R workspace (.RData)" },
  { bytes: "X\n\x00\x00\x00", what: "an R object (.rds)" },
  { bytes: "$FL2", what: "an SPSS file (.sav)" },
  { bytes: "<stata_dta>", what: "a Stata file (.dta)" },
  { bytes: "BZh", what: "a bzip2 archive" },
  { bytes: "\xfd7zXZ", what: "an xz archive" },
  { bytes: "7z\xbc\xaf", what: "a 7-Zip archive" },
  { bytes: "\x28\xb5\x2f\xfd", what: "a zstd archive" },
  { bytes: "\x7fELF", what: "a program" },
];

function refuseBinary(name: string, head: Uint8Array, isGzip: boolean): void {
  const inside = isGzip ? "inside gzip" : undefined;
  const refuse = (what: string, hint: string) => {
    throw new InputError(`not a table: it looks like ${[what, inside].filter(Boolean).join(" ")}`, {
      code: "file.binary",
      where: name,
      hint,
    });
  };
  if (startsWith(head, "PAR1")) refuse("a Parquet file", "unpack it first: Parquet is compressed within");
  if (startsWith(head, "\x1f\x8b")) refuse("a gzip archive", "pack the table once, not twice");
  const found = SIGNATURES.find(({ bytes }) => startsWith(head, bytes));
  const hint = "give a CSV or TSV file (also as .gz) or a Parquet file";
  if (found) refuse(found.what, hint);
  if (findUtf16(head) === undefined && head.includes(0)) refuse("a binary file: it has zero bytes", hint);
}

/** The source, with the bytes read since it was last opened. */
function countBytes(source: TableSource): {
  readonly open: () => AsyncGenerator<Uint8Array>;
  readonly bytes: () => number;
} {
  let bytes = 0;
  async function* open(): AsyncGenerator<Uint8Array> {
    bytes = 0;
    for await (const chunk of source.open()) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  return { open, bytes: () => bytes };
}

/** Enough for a forward pass to be worth its start; with a hundred bins the curves of a part take 7 MB. */
const ROWS_AT_ONCE = 8192;

export interface ReadChunksOptions extends ReadTableOptions {
  /** The columns to read. */
  readonly columns: readonly string[];
  /** Those of the columns that are dates. With any, text is gone through twice, and the source opened twice. */
  readonly dates?: readonly string[];
  /** Rows of a part, give or take one block of text. */
  readonly rowsAtOnce?: number;
}

/** A table of any length in parts, in bounded memory: CSV some thousand rows at a time, Parquet a row group. */
export async function* readTableChunks(
  source: TableSource,
  options: ReadChunksOptions,
): AsyncGenerator<TableChunk> {
  const { name } = source;
  const { columns, dates = [], category = [], number = [], decimal, onProgress } = options;
  const { rowsAtOnce = ROWS_AT_ONCE } = options;
  const counted = countBytes(source);
  const opened = await peek(counted.open());
  if (opened.head.length === 0) throw createEmptyFileError(name);
  if (startsWith(opened.head, "PAR1")) {
    await opened.close();
    const { readParquetChunks } = await import("./read-parquet.ts");
    yield* readParquetChunks({ source, columns, category, number, decimal, rowsAtOnce, onProgress });
    return;
  }
  let first: Peeked | null = opened;
  /** The first call continues the stream that was opened for a first look, so that a pipe can be read. */
  async function* openText(): AsyncGenerator<Uint8Array> {
    const raw = first ?? (await peek(counted.open()));
    first = null;
    const isGzip = startsWith(raw.head, "\x1f\x8b");
    const text = isGzip ? await peek(gunzip(name, raw.chunks)) : raw;
    if (text.head.length === 0) throw createEmptyFileError(name);
    refuseBinary(name, text.head, isGzip);
    yield* toUtf8(name, text.chunks, text.head);
  }
  yield* readCsvChunks({
    name,
    open: openText,
    columns,
    dates,
    category,
    number,
    decimal,
    rowsAtOnce,
    onBlock: (rows) => onProgress?.(counted.bytes(), rows),
  });
}

interface Peeked {
  readonly head: Uint8Array;
  /** All bytes, the head among them. */
  readonly chunks: AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

/** Looks at the first bytes of a stream that perhaps cannot be opened again. */
async function peek(stream: AsyncGenerator<Uint8Array>): Promise<Peeked> {
  const begun: Uint8Array[] = [];
  const head = new Uint8Array(HEAD_BYTES);
  let length = 0;
  while (length < HEAD_BYTES) {
    const next = await stream.next();
    if (next.done) break;
    begun.push(next.value);
    const part = next.value.subarray(0, HEAD_BYTES - length);
    head.set(part, length);
    length += part.length;
  }
  async function* goOn(): AsyncGenerator<Uint8Array> {
    try {
      yield* begun;
      begun.length = 0;
      yield* stream;
    } finally {
      await stream.return(undefined);
    }
  }
  return {
    head: head.subarray(0, length),
    chunks: goOn(),
    close: async () => {
      await stream.return(undefined);
    },
  };
}
