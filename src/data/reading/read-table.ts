/**
 * Reads a table whatever its container: Parquet, CSV or TSV text, or such text in gzip, told apart by their first bytes
 * and never by the file's name. Text is UTF-8, or UTF-16 with a byte order mark. Anything else is refused with a word
 * on what it seems to be. The cells' meaning is the same in every container: see parse-cell.ts and infer-types.ts. A
 * table of any length is read part by part: only the columns that are asked for, and never more than a part of them in
 * memory. Each part is typed by itself; what was a category in training must be requested as one, and conform-column.ts
 * converts the rest to the types of training.
 */

import { GraduateError, InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { Table } from "../table.ts";
import {
  type CellWriting,
  createEmptyFileError,
  inWholeTable,
  markAsWritten,
  pickWriting,
  type TableChunk,
} from "./containers.ts";
import { findUtf16, refuseBinary, startsWith } from "./first-bytes.ts";
import { partsOf, refuseMixture } from "./join-sources.ts";
import { readCsv } from "./read-csv.ts";
import { readCsvChunks } from "./read-csv-chunks.ts";
import { joinTexts, type TextPart } from "./scan-parts.ts";

/** A table's bytes, in one file or in several. */
export interface TableSource {
  /** What messages call it, usually the file name. */
  readonly name: string;
  /** The bytes from the beginning; may be called more than once. */
  open(): AsyncIterable<Uint8Array>;
  readonly byteLength?: number;
  /** The bytes [start, end), for formats that are not read from the beginning. */
  slice?(start: number, end: number): Promise<ArrayBuffer>;
  /** The files of a table that lies in several, in order; `joinSources` makes such a source. */
  readonly parts?: readonly TableSource[];
}

/** How cells are written, types to force, and who hears of the progress. */
export interface ReadTableOptions extends CellWriting {
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
  const { onProgress } = options;
  const writing = pickWriting(options);
  const counted = countBytes(source);
  const { isParquet, heads } = await findContainer(counted.parts);
  if (isParquet) {
    // Loaded when it is needed: its codecs take longer to load than a small table takes to read.
    const { readParquet } = await import("./read-parquet.ts");
    return readParquet({ source, ...writing, onProgress });
  }
  const found: FoundText[] = [];
  for (const [k, part] of counted.parts.entries()) found.push(await findText(part, heads[k]));
  const { scan, parts } = joinTexts(found);
  const place = { table: { name }, firstRow: 0, ...present({ parts }) };
  const byteLength = found.some(({ isGzip }) => isGzip) ? undefined : source.byteLength;
  const onBlock = (rows: number) => onProgress?.(counted.bytes(), rows);
  const table = await inWholeTable(place, () => readCsv({ name, scan, byteLength, ...writing, onBlock }));
  return { ...table, columns: markAsWritten(table.columns, writing), ...present({ parts }) };
}

/** Whether the files are Parquet, all of them, or text, and their first bytes; an empty file is neither. */
async function findContainer(
  parts: readonly CountedPart[],
): Promise<{ readonly isParquet: boolean; readonly heads: readonly Uint8Array[] }> {
  const heads: Uint8Array[] = [];
  for (const { name, open } of parts) {
    const head = await readHead(open());
    if (head.length === 0) throw createEmptyFileError(name);
    heads.push(head);
    const isParquet = startsWith(head, "PAR1");
    if (isParquet !== startsWith(heads[0], "PAR1")) refuseMixture(parts[0].name, name, isParquet);
  }
  return { isParquet: startsWith(heads[0], "PAR1"), heads };
}

interface FoundText extends TextPart {
  readonly isGzip: boolean;
}

async function findText({ name, open }: CountedPart, head: Uint8Array): Promise<FoundText> {
  const isGzip = startsWith(head, "\x1f\x8b");
  const openText = () => (isGzip ? gunzip(name, open()) : open());
  const textHead = isGzip ? await readHead(openText()) : head;
  if (textHead.length === 0) throw createEmptyFileError(name);
  refuseBinary(name, textHead, isGzip);
  return { name, isGzip, open: () => toUtf8(name, openText(), textHead) };
}

/** The first bytes of a stream that is opened for them alone. */
async function readHead(stream: AsyncGenerator<Uint8Array>): Promise<Uint8Array> {
  const { head, close } = await peek(stream);
  await close();
  return head;
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

interface CountedPart {
  readonly name: string;
  readonly open: () => AsyncGenerator<Uint8Array>;
}

/** The files of a source, with the bytes read since the first of them was last opened. */
function countBytes(source: TableSource): {
  readonly parts: readonly CountedPart[];
  readonly bytes: () => number;
} {
  let bytes = 0;
  const before: number[] = [0];
  const parts = partsOf(source).map((part, k): CountedPart => {
    before.push(before[k] + (part.byteLength ?? 0));
    async function* open(): AsyncGenerator<Uint8Array> {
      bytes = before[k];
      for await (const chunk of part.open()) {
        bytes += chunk.length;
        yield chunk;
      }
    }
    return { name: part.name, open };
  });
  return { parts, bytes: () => bytes };
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
  const { columns, dates = [], onProgress } = options;
  const writing = pickWriting(options);
  const { rowsAtOnce = ROWS_AT_ONCE } = options;
  const counted = countBytes(source);
  const [opening] = counted.parts;
  const opened = await peek(opening.open());
  if (opened.head.length === 0) throw createEmptyFileError(opening.name);
  const isParquet = startsWith(opened.head, "PAR1");
  if (isParquet || counted.parts.length > 1) await opened.close();
  if (counted.parts.length > 1) await findContainer(counted.parts);
  if (isParquet) {
    const { readParquetChunks } = await import("./read-parquet.ts");
    yield* readParquetChunks({ source, columns, ...writing, rowsAtOnce, onProgress });
    return;
  }
  /** The first call continues the stream that was opened for a first look, so that a pipe can be read. */
  let first: Peeked | null = counted.parts.length > 1 ? null : opened;
  const texts = counted.parts.map((part): TextPart => {
    async function* openText(): AsyncGenerator<Uint8Array> {
      const raw = first ?? (await peek(part.open()));
      first = null;
      const isGzip = startsWith(raw.head, "\x1f\x8b");
      const text = isGzip ? await peek(gunzip(part.name, raw.chunks)) : raw;
      if (text.head.length === 0) throw createEmptyFileError(part.name);
      refuseBinary(part.name, text.head, isGzip);
      yield* toUtf8(part.name, text.chunks, text.head);
    }
    return { name: part.name, open: openText };
  });
  const { scan, parts } = joinTexts(texts);
  const onBlock = (rows: number) => onProgress?.(counted.bytes(), rows);
  const chunks = readCsvChunks({
    name,
    scan,
    columns,
    dates,
    ...writing,
    rowsAtOnce,
    onBlock,
    ...present({ parts }),
  });
  yield* chunks;
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
