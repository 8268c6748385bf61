/**
 * The one writer of files. The bytes go to a file beside the target, reach the disk, and take the target's name in one
 * step. A full disk, an error or a kill in the middle leaves what was there before; if two programs write to one path,
 * the later one wins and nothing is mixed. Links are followed, even one that leads to nothing yet. Standard output,
 * pipes and devices get the bytes at once. What a killed run left beside a path is removed when that path is written
 * again (leftovers.ts).
 */
import { unlinkSync } from "node:fs";
import { access, constants, type FileHandle, open, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { writeOutBytes } from "../print/output.ts";
import { followLinks } from "./follow-links.ts";
import { namePart, removeLeftovers } from "./leftovers.ts";
import { syncFolder } from "./sync-folder.ts";
import { createUnwritableError } from "./write-errors.ts";

export interface ByteOutput {
  /** Resolves when the bytes may be overwritten, so the writer waits for a slow reader. */
  write(bytes: Uint8Array): Promise<void>;
  /** Makes the file visible under its name. */
  finish(): Promise<void>;
  /** Leaves what was there before. Does nothing after `finish`. */
  abandon(): Promise<void>;
}

export function openStandardOutput(): ByteOutput {
  return { write: writeOutBytes, finish: async () => undefined, abandon: async () => undefined };
}

/** `what` names the contents in an error: "the predictions". */
export async function openGrowingFile(path: string, what: string): Promise<ByteOutput> {
  const orRefuse = async <R>(step: () => Promise<R>): Promise<R> => {
    try {
      return await step();
    } catch (error) {
      throw createUnwritableError(path, what, error);
    }
  };
  const found = await stat(path).catch(() => null);
  if (found !== null && !found.isFile() && !found.isDirectory()) {
    const device = await orRefuse(() => open(path, "w"));
    const close = () => orRefuse(() => device.close());
    return { write: (bytes) => orRefuse(() => writeAll(device, bytes)), finish: close, abandon: close };
  }
  if (found?.isDirectory()) throw createUnwritableError(path, what, { code: "EISDIR" });
  // Renaming over a file does not check that the file is writable, so it is checked here.
  if (found !== null) await orRefuse(() => access(path, constants.W_OK));
  const target = await orRefuse(() => followLinks(path));
  await removeLeftovers(target);
  const beside = namePart(target);
  const file = await orRefuse(() => open(beside, "wx"));
  parts.set(beside, file);
  if (parts.size === 1) watchForEnd();
  const settle = () => {
    parts.delete(beside);
    if (parts.size === 0) stopWatching();
  };
  const abandon = async () => {
    if (!parts.has(beside)) return;
    await file.close().catch(() => undefined);
    removeQuietly(beside);
    settle();
  };
  /** Leaves nothing behind if a step fails. */
  const orAbandon = <R>(step: () => Promise<R>) =>
    orRefuse(step).catch(async (error) => {
      await abandon();
      throw error;
    });
  if (found !== null) await orAbandon(() => copyOwner(file, found));
  return {
    write: (bytes) => orAbandon(() => writeAll(file, bytes)),
    finish: () =>
      orAbandon(async () => {
        await file.sync();
        await file.close();
        await rename(beside, target);
        settle();
        await syncFolder(dirname(target));
      }),
    abandon,
  };
}

/** Copies the mode, and the owner where this process may change it. */
async function copyOwner(
  file: FileHandle,
  found: { readonly mode: number; readonly uid: number; readonly gid: number },
): Promise<void> {
  const own = await file.stat();
  if (own.uid !== found.uid || own.gid !== found.gid) {
    await file.chown(found.uid, found.gid).catch(() => undefined);
  }
  if (own.mode !== found.mode) await file.chmod(found.mode & MODE_BITS);
}

/** The part of `stat`'s mode that `chmod` takes. */
const MODE_BITS = 0o7777;

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let from = 0; from < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, from, bytes.length - from);
    from += bytesWritten;
  }
}

/** The part files being written; they are removed when the process ends, if it can still act. */
const parts = new Map<string, FileHandle>();
const SIGNALS = ["SIGTERM", "SIGHUP"] as const;
/** 128 + the number of the signal, as a shell reports it. */
const SIGNAL_CODES: Readonly<Record<(typeof SIGNALS)[number], number>> = { SIGHUP: 129, SIGTERM: 143 };

function removeParts(): void {
  for (const part of parts.keys()) removeQuietly(part);
}

function removeQuietly(part: string): void {
  try {
    unlinkSync(part);
  } catch {
    // It has already been moved or removed.
  }
}

function stopBySignal(signal: NodeJS.Signals): void {
  // Node 26 treats a handle still open at exit as a program error, and exits with 1.
  const closing = Array.from(parts.values(), (file) => file.close().catch(() => undefined));
  void Promise.all(closing).then(() => process.exit(SIGNAL_CODES[signal as (typeof SIGNALS)[number]]));
}

function watchForEnd(): void {
  process.on("exit", removeParts);
  for (const signal of SIGNALS) process.once(signal, stopBySignal);
}

function stopWatching(): void {
  process.off("exit", removeParts);
  for (const signal of SIGNALS) process.off(signal, stopBySignal);
}
