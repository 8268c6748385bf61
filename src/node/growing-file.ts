/**
 * A file that is written as its contents come, and seen by others only when it is whole: the bytes go to a file beside it, which takes
 * its name at the end and is removed when the program stops before, by an error, Ctrl-C or a kill that can be answered.
 * Standard output, pipes and devices get the bytes at once. Whole contents in memory are replace-file.ts' business.
 */
import { randomUUID } from "node:crypto";
import { unlinkSync } from "node:fs";
import { type FileHandle, open, realpath, rename, stat } from "node:fs/promises";
import { createUnwritableError } from "./replace-file.ts";

export interface ByteOutput {
  /** Done when the bytes may be overwritten; so the writer waits for a slow reader. */
  write(bytes: Uint8Array): Promise<void>;
  /** Makes the file visible under its name. */
  finish(): Promise<void>;
  /** Leaves what was there before. Nothing after `finish`. */
  abandon(): Promise<void>;
}

export function openStandardOutput(): ByteOutput {
  return {
    // A reader that went away ends the program (output.ts).
    write: (bytes) => new Promise((resolve) => process.stdout.write(bytes, () => resolve())),
    finish: async () => undefined,
    abandon: async () => undefined,
  };
}

/** `what` names the contents in an error: "the predictions". */
export async function openGrowingFile(path: string, what: string): Promise<ByteOutput> {
  const orRefuse = <R>(step: () => Promise<R>): Promise<R> =>
    step().catch((error) => {
      throw createUnwritableError(path, what, error);
    });
  const found = await stat(path).catch(() => null);
  if (found !== null && !found.isFile() && !found.isDirectory()) {
    const device = await orRefuse(() => open(path, "w"));
    const close = () => orRefuse(() => device.close());
    return { write: (bytes) => orRefuse(() => writeAll(device, bytes)), finish: close, abandon: close };
  }
  const target = found === null ? path : await orRefuse(() => realpath(path));
  if (found?.isDirectory()) throw createUnwritableError(path, what, { code: "EISDIR" });
  const beside = `${target}.${randomUUID().slice(0, 8)}.part`;
  const file = await orRefuse(() => open(beside, "wx", found?.mode));
  let isOpen = true;
  const remove = () => {
    try {
      unlinkSync(beside);
    } catch {
      // It was moved or is gone already.
    }
  };
  const stop = (signal: NodeJS.Signals) => process.exit(SIGNAL_CODES[signal]);
  process.on("exit", remove);
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, stop);
  const settle = () => {
    isOpen = false;
    process.off("exit", remove);
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.off(signal, stop);
  };
  return {
    write: (bytes) => orRefuse(() => writeAll(file, bytes)),
    async finish() {
      await orRefuse(async () => {
        await file.sync();
        await file.close();
        await rename(beside, target);
      });
      settle();
    },
    async abandon() {
      if (!isOpen) return;
      settle();
      await file.close().catch(() => undefined);
      remove();
    },
  };
}

/** 128 + the number of the signal, as a shell reports it. */
const SIGNAL_CODES: Partial<Record<NodeJS.Signals, number>> = { SIGHUP: 129, SIGTERM: 143 };

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let from = 0; from < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, from, bytes.length - from);
    from += bytesWritten;
  }
}
