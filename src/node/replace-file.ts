/**
 * Writes a file as a whole or not at all: the bytes go to a file beside it, reach the disk, and take its name in one step. A full disk
 * or a kill in the middle leaves what was there before, and of two programs writing one path the later one wins, unmixed.
 * Links are followed; pipes and devices, which have no such step, are written to directly.
 */
import { randomUUID } from "node:crypto";
import { open, realpath, rename, stat, unlink, writeFile } from "node:fs/promises";
import { InputError } from "../core/errors.ts";

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOENT: "no such folder",
  ENOTDIR: "no such folder",
  EISDIR: "a folder has that name",
  EFBIG: "the file would be too large",
};

/** `what` names the contents in an error: "the model". */
export async function replaceFile(path: string, bytes: Uint8Array | string, what: string): Promise<void> {
  try {
    const found = await stat(path).catch(() => null);
    if (found !== null && !found.isFile() && !found.isDirectory()) {
      await writeFile(path, bytes);
      return;
    }
    await writeBeside(found === null ? path : await realpath(path), bytes, found?.mode);
  } catch (error) {
    throw createUnwritableError(path, what, error);
  }
}

export function createUnwritableError(path: string, what: string, error: unknown): InputError {
  const code = (error as NodeJS.ErrnoException).code ?? "unknown reason";
  return new InputError(`cannot write ${what}: "${path}" (${REASONS[code] ?? code})`, {
    code: "file.unwritable",
  });
}

async function writeBeside(path: string, bytes: Uint8Array | string, mode?: number): Promise<void> {
  const beside = `${path}.${randomUUID().slice(0, 8)}.part`;
  try {
    const file = await open(beside, "wx", mode);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
  } catch (error) {
    await unlink(beside).catch(() => undefined);
    throw error;
  }
}
