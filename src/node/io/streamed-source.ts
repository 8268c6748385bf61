/**
 * Opens a table that is read part by part. A file is opened as for every command (table-file.ts). Standard input and
 * pipes, which other commands hold in memory, are passed on as they come. Only if they would have to be read twice, or
 * from the end as Parquet is, do they go into a temporary file first, which is removed on closing or, at the latest,
 * when the program ends.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { TableSource } from "../../data/reading/read-table.ts";
import { readChunks, tableSourceFromPath } from "./table-file.ts";
import { createUnwritableError } from "./write-errors.ts";

export interface StreamedSource {
  readonly source: TableSource;
  close(): void;
}

const PARQUET_START = "PAR1";

/** `reads`: how often the text will be opened. */
export async function openStreamedSource(path: string, reads: number): Promise<StreamedSource> {
  const isPipe = path === "-" || ((await stat(path).catch(() => null))?.isFIFO() ?? false);
  if (!isPipe) return { source: await tableSourceFromPath(path), close: () => undefined };
  const name = path === "-" ? "standard input" : basename(path);
  const stream = path === "-" ? (process.stdin as AsyncIterable<Uint8Array>) : readChunks(path);
  const chunks = stream[Symbol.asyncIterator]();
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
  const isParquet = Buffer.concat(begun).toString("latin1").startsWith(PARQUET_START);
  if (reads > 1 || isParquet) return spool(name, goOn());
  return { source: { name, open: goOn }, close: () => undefined };
}

async function spool(name: string, chunks: AsyncIterable<Uint8Array>): Promise<StreamedSource> {
  let folder: string;
  try {
    folder = mkdtempSync(join(tmpdir(), "graduate-"));
  } catch (error) {
    throw createUnwritableError(tmpdir(), "what comes in by the pipe", error);
  }
  const close = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", close);
  const path = join(folder, "table");
  try {
    const file = await open(path, "wx", 0o600);
    try {
      for await (const chunk of chunks) await file.writeFile(chunk);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw createUnwritableError(path, "what comes in by the pipe", error);
  }
  return { source: { ...(await tableSourceFromPath(path)), name }, close };
}
