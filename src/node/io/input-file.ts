/**
 * The files that commands read. A table on disk, or on standard input ("-"), is opened as the byte source that
 * readTable takes: streamed from the beginning for text, read at any position for Parquet; a folder or a pattern is a
 * source of several files. Small texts are read whole. It deals with bytes only.
 */
import { createReadStream, fstatSync, mkdtempSync, rmSync } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { InputError } from "../../core/errors.ts";
import { refuseBinary, startsWith } from "../../data/reading/first-bytes.ts";
import { joinSources } from "../../data/reading/join-sources.ts";
import { type TableSource, tableSourceFromBytes } from "../../data/reading/read-table.ts";
import { cleanAtEnd } from "./process-end.ts";
import { listTableFiles } from "./table-files.ts";
import { createUnreadableError, createUnwritableError, explainUnreadable } from "./write-errors.ts";

/** Bytes read from the disk at a time. */
const CHUNK_BYTES = 1 << 18;

/**
 * A file as the source of a table, or standard input for "-". A folder is the source of all its tables, and a pattern
 * such as "patients/*.parquet" that of the files that match: they are read as one, in natural order of their names.
 */
export async function tableSourceFromPath(path: string): Promise<TableSource> {
  if (path === "-")
    return tableSourceFromBytes(STDIN, await collect(limitPipe(STDIN, process.stdin, isFile(0))));
  const listed = await listTableFiles(path);
  if (listed === null) return openFile(path, basename(path));
  const { name, folder, files } = listed;
  if (files.length === 1) return openFile(files[0].path, basename(files[0].path));
  const sources: TableSource[] = [];
  for (const file of files) sources.push(await openFile(file.path, folder + file.name));
  return joinSources(name, sources);
}

async function openFile(path: string, name: string): Promise<TableSource> {
  const found = await orInputError(path, () => stat(path));
  // a pipe or a device can be read only once, and has no length
  if (!found.isFile()) return tableSourceFromBytes(name, await collect(limitPipe(name, readChunks(path))));
  // fails now rather than at the first byte, if the file may not be read
  await orInputError(path, async () => (await open(path, "r")).close());
  return {
    name,
    byteLength: found.size,
    open: () => readChunks(path),
    slice: (start, end) => orInputError(path, () => readSlice(path, start, end)),
  };
}

async function* readChunks(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }))
      yield chunk as Uint8Array;
  } catch (error) {
    throw toInputError(path, error);
  }
}

async function readSlice(path: string, start: number, end: number): Promise<ArrayBuffer> {
  const file = await open(path, "r");
  try {
    const bytes = await readBytes(file, end - start, start);
    return bytes.buffer.slice(0, bytes.length);
  } finally {
    await file.close();
  }
}

/** Bytes from a position on, fewer if the file is, or has become, shorter. */
export async function readBytes(
  file: FileHandle,
  length: number,
  start = 0,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** What has no known size and cannot be read twice, such as a pipe; reading stops beyond the limit. */
export async function readAtMost(file: FileHandle, limit: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let total = 0;
  for await (const part of file.createReadStream({ autoClose: false }) as AsyncIterable<Uint8Array>) {
    parts.push(part);
    total += part.length;
    if (total > limit) break;
  }
  return Buffer.concat(parts);
}

const STDIN = "standard input";

function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    return false;
  }
}

/** Bytes without a line break, of a text, and without a zero byte after which it counts as one. */
const LONGEST_LINE = 1 << 24;
const TEXT_LOOK = 1 << 16;
/** Bytes that are kept of what comes by a pipe or a device, unless the variable says otherwise. */
const PIPE_LIMIT = 2e9;
const LIMIT_VARIABLE = "GRADUATE_PIPE_LIMIT";

/**
 * What comes by a pipe or a device, which may have no end: refused as soon as it is no table, and where more would be
 * kept than the limit allows. `isUnlimited` is for what is not kept, or has an end.
 */
async function* limitPipe(
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  isUnlimited = false,
): AsyncGenerator<Uint8Array> {
  const limit = isUnlimited ? Number.POSITIVE_INFINITY : readPipeLimit();
  let head: Uint8Array = new Uint8Array(0);
  let [total, hasLine] = [0, false];
  for await (const chunk of chunks) {
    total += chunk.length;
    if (total > limit) throw refuseLong(name, limit);
    if (head.length < TEXT_LOOK) {
      head = Buffer.concat([head, chunk.subarray(0, TEXT_LOOK - head.length)]);
      // what is packed has no lines, and says itself where it ends
      hasLine ||= startsWith(head, PARQUET_START) || startsWith(head, "\x1f\x8b");
      if (!hasLine && head.length >= PARQUET_START.length) refuseBinary(name, head, false);
    }
    hasLine ||= chunk.includes(LINE_FEED) || chunk.includes(CARRIAGE_RETURN);
    if (!hasLine && total > LONGEST_LINE) throw refuseEndless(name);
    yield chunk;
  }
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

const UNITS: Readonly<Record<string, number>> = { "": 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 };

/** "8GB", "500 MB" or bytes. */
function readPipeLimit(text = process.env[LIMIT_VARIABLE]): number {
  if (text === undefined || text.trim() === "") return PIPE_LIMIT;
  const [, number, unit] = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?b|)\s*$/i.exec(text) ?? [];
  const limit = Number(number) * (UNITS[unit?.toLowerCase() ?? ""] ?? Number.NaN);
  if (limit > 0) return limit;
  throw new InputError(`${LIMIT_VARIABLE} is no size: "${text}"`, {
    code: "pipe.limit",
    hint: "give bytes, or a number with a unit such as 8GB",
  });
}

function refuseLong(name: string, limit: number): InputError {
  return new InputError(`more than ${limit / 1e9} GB comes by a pipe or a device`, {
    code: "pipe.large",
    where: name,
    hint: `write it to a file, which may have any size, or raise the limit: ${LIMIT_VARIABLE}=8GB`,
  });
}

function refuseEndless(name: string): InputError {
  return new InputError(`not a table: its first ${LONGEST_LINE >> 20} MB have no line break`, {
    code: "pipe.endless",
    where: name,
    hint: "give a CSV or TSV table (also as .gz) or a Parquet file",
  });
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

async function orInputError<R>(path: string, step: () => Promise<R>): Promise<R> {
  try {
    return await step();
  } catch (error) {
    throw toInputError(path, error);
  }
}

function toInputError(path: string, error: unknown): InputError {
  if (error instanceof InputError) return error;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOENT" || code === "ENOTDIR") {
    return new InputError(`no such file: "${path}"`, { code: "file.missing", where: path });
  }
  return new InputError(`cannot read file: "${path}" (${explainUnreadable(error)})`, {
    code: "file.unreadable",
    where: path,
  });
}

interface StreamedSource {
  readonly source: TableSource;
  close(): void;
}

const PARQUET_START = "PAR1";

/**
 * Opens a table that is read part by part; `reads` is how often the text will be opened. Standard input and pipes,
 * which other commands hold in memory, are passed on as they come. Only if they would have to be read twice, or from
 * the end as Parquet is, do they go into a temporary file first, which is removed on closing or, at the latest, when
 * the program ends.
 */
export async function openStreamedSource(path: string, reads: number): Promise<StreamedSource> {
  const isPipe = path === "-" || ((await stat(path).catch(() => null))?.isFIFO() ?? false);
  if (!isPipe) return { source: await tableSourceFromPath(path), close: () => undefined };
  const name = path === "-" ? STDIN : basename(path);
  const stream = path === "-" ? (process.stdin as AsyncIterable<Uint8Array>) : readChunks(path);
  const isUnlimited = path === "-" && isFile(0);
  const chunks = limitPipe(name, stream, true);
  const begun: Uint8Array[] = [];
  let length = 0;
  while (length < PARQUET_START.length) {
    const next = await chunks.next();
    if (next.done) break;
    begun.push(next.value);
    length += next.value.length;
  }
  async function* goOn(): AsyncGenerator<Uint8Array> {
    yield* begun;
    begun.length = 0;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  }
  const isParquet = startsWith(Buffer.concat(begun), PARQUET_START);
  if (reads > 1 || isParquet) return spool(name, isUnlimited ? goOn() : limitPipe(name, goOn()));
  return { source: { name, open: goOn }, close: () => undefined };
}

async function spool(name: string, chunks: AsyncIterable<Uint8Array>): Promise<StreamedSource> {
  let folder: string | undefined;
  const remove = () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  // Before the folder is there: a signal that comes in between would leave it.
  const forget = cleanAtEnd({ remove });
  try {
    folder = mkdtempSync(join(tmpdir(), "graduate-"));
  } catch (error) {
    forget();
    throw createUnwritableError(tmpdir(), "what comes in by the pipe", error);
  }
  const close = () => {
    forget();
    remove();
  };
  const path = join(folder, "table");
  try {
    const file = await open(path, "wx", 0o600);
    try {
      for await (const chunk of chunks) await file.writeFile(chunk);
    } finally {
      await file.close();
    }
  } catch (error) {
    close();
    if (error instanceof InputError) throw error;
    throw createUnwritableError(path, "what comes in by the pipe", error);
  }
  return { source: { ...(await tableSourceFromPath(path)), name }, close };
}

/** Far larger than any list of groups or plan of runs. */
const MAX_TEXT_BYTES = 1 << 24;

/**
 * Reads a text that people write or that this program saved: groups, plans, boosts. A file too large to be any of these
 * is not read, nor is one without an end. `what` names the contents in an error: "the groups file".
 */
export async function readTextFile(
  path: string,
  what: string,
  limit: number = MAX_TEXT_BYTES,
): Promise<string> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, "r");
    const bytes = await readAtMost(file, limit);
    if (bytes.length <= limit) return bytes.toString("utf8");
    throw new InputError(`too large to be ${what}: "${path}" (more than ${limit} bytes)`, {
      code: "file.large",
    });
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw createUnreadableError(path, what, error);
  } finally {
    await file?.close();
  }
}
