/**
 * Reads a table of any length part by part: the same containers, cells and refusals as read-table.ts, but only the
 * columns that are asked for, and never more than a part of them in memory (CSV some thousand rows, Parquet a row
 * group). Each part is typed by itself; what was a category in training must be requested as one, and conform-column.ts
 * converts the rest to the types of training.
 */
import { createEmptyFileError } from "../checks/check-columns.ts";
import type { TableChunk } from "./read-chunk.ts";
import { readCsvChunks } from "./read-csv-chunks.ts";
import {
  countBytes,
  gunzip,
  HEAD_BYTES,
  type ReadTableOptions,
  refuseBinary,
  startsWith,
  type TableSource,
  toUtf8,
} from "./read-table.ts";

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

/** A table of any length in parts, in bounded memory. */
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
