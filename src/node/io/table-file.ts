/**
 * Opens a table on disk, or on standard input ("-"), as the byte source that readTable takes: streamed from the
 * beginning for text, read at any position for Parquet. It deals with bytes only.
 */
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { basename } from "node:path";
import { InputError } from "../../core/errors.ts";
import { type TableSource, tableSourceFromBytes } from "../../data/reading/read-table.ts";
import { explainUnreadable } from "./write-errors.ts";

/** Bytes read from the disk at a time. */
const CHUNK_BYTES = 1 << 18;

/** A file, or standard input for "-", as the source of a table. */
export async function tableSourceFromPath(path: string): Promise<TableSource> {
  if (path === "-") return tableSourceFromBytes("standard input", await readStandardInput());
  const found = await orInputError(path, () => stat(path));
  if (found.isDirectory()) {
    throw new InputError(`a directory, not a table: "${path}"`, { code: "file.directory", where: path });
  }
  const name = basename(path);
  // a pipe or a device can be read only once, and has no length
  if (!found.isFile()) return tableSourceFromBytes(name, await collect(readChunks(path)));
  // fails now rather than at the first byte, if the file may not be read
  await orInputError(path, async () => (await open(path, "r")).close());
  return {
    name,
    byteLength: found.size,
    open: () => readChunks(path),
    slice: (start, end) => orInputError(path, () => readSlice(path, start, end)),
  };
}

export async function* readChunks(path: string): AsyncGenerator<Uint8Array> {
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
    const bytes = new Uint8Array(end - start);
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.buffer.slice(0, filled);
  } finally {
    await file.close();
  }
}

async function readStandardInput(): Promise<Uint8Array> {
  return collect(process.stdin as AsyncIterable<Uint8Array>);
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
