/**
 * The one writer of files. The bytes go to a file beside the target, reach the disk, and take the target's name in one
 * step. A full disk, an error or a kill in the middle leaves what was there before; if two programs write to one path,
 * the later one wins and nothing is mixed, or it takes another name (`writeUnclaimed`). Links are followed, even one
 * that leads to nothing yet. Standard output, pipes and devices get the bytes at once. What a killed run left beside a
 * path is removed when that path is written again.
 */
import { createHash, randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, unlinkSync } from "node:fs";
import {
  access,
  constants,
  type FileHandle,
  link,
  lstat,
  open,
  readdir,
  rename,
  stat,
  unlink,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { InputError } from "../../core/errors.ts";
import { writeOutBytes } from "../print/output.ts";
import { lockFile } from "./file-lock.ts";
import { followLinks, markFile, nameBeside } from "./output-path.ts";
import { cleanAtEnd, HOST, isRunning } from "./process-end.ts";
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

/** Gives the file beside a target its name. */
type PlaceFile = (beside: string, target: string) => Promise<void>;

/** `what` names the contents in an error: "the predictions". */
export async function openGrowingFile(
  path: string,
  what: string,
  place: PlaceFile = rename,
): Promise<ByteOutput> {
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
  let opened: FileHandle | undefined;
  // Before the file is there: a signal that comes in between would leave it.
  const forget = cleanAtEnd({ remove: () => removeQuietly(beside), close: async () => opened?.close() });
  const file = await orRefuse(() => open(beside, "wx")).catch((error) => {
    forget();
    throw error;
  });
  opened = file;
  let isOpen = true;
  const settle = () => {
    isOpen = false;
    forget();
  };
  const abandon = async () => {
    if (!isOpen) return;
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
        await place(beside, target);
        settle();
        syncFolder(dirname(target));
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

function removeQuietly(part: string): void {
  try {
    unlinkSync(part);
  } catch {
    // It has already been moved or removed.
  }
}

/** Writes a file whose contents are all in memory; `what` names them in an error: "the model". */
export async function replaceFile(path: string, contents: Uint8Array | string, what: string): Promise<void> {
  const file = await openGrowingFile(path, what);
  try {
    await file.write(typeof contents === "string" ? Buffer.from(contents) : contents);
    await file.finish();
  } finally {
    await file.abandon();
  }
}

/**
 * The same where nobody has written to the path since the mark was taken (output-path.ts); else the contents go to the
 * first free name beside it: run-2.model. Returns the name. However many programs do this at once, each leaves a file
 * of its own: a new name is taken by a link, which fails where another program has taken it.
 */
export async function writeUnclaimed(
  path: string,
  mark: string | null,
  contents: Uint8Array,
  what: string,
): Promise<string> {
  const isLink = (await lstat(path).catch(() => null))?.isSymbolicLink() === true;
  let name = path;
  const place: PlaceFile = async (beside, target) => {
    if (mark !== null && (await replaceMarked(beside, target, mark))) return;
    for (let k = 1; !(await takeName(beside, nameBeside(target, k))); ) {
      k++;
      name = nameBeside(isLink ? target : path, k);
    }
  };
  const file = await openGrowingFile(path, what, place);
  try {
    await file.write(contents);
    await file.finish();
  } finally {
    await file.abandon();
  }
  return name;
}

/** Replaces what was marked, unless another program has; looking and renaming are one step for all of ours. */
async function replaceMarked(beside: string, target: string, mark: string): Promise<boolean> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    if ((await markFile(target)) !== mark) return false;
    let unlock: () => void;
    try {
      unlock = lockFile(target, "name another file");
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      await new Promise((resolve) => setTimeout(resolve, TRY_EVERY));
      continue;
    }
    try {
      if ((await markFile(target)) !== mark) return false;
      await rename(beside, target);
      return true;
    } finally {
      unlock();
    }
  }
  return false;
}

/** How often, and after how many milliseconds, a lock that is held for a moment is tried again. */
const MOST_TRIES = 100;
const TRY_EVERY = 20;

/** False where something has the name. */
async function takeName(beside: string, name: string): Promise<boolean> {
  const isTaken = (error: unknown) => (error as NodeJS.ErrnoException).code === "EEXIST";
  try {
    await link(beside, name);
    removeQuietly(beside);
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
  }
  // Some file systems have no links: an empty file takes the name, and the bytes its place.
  try {
    await (await open(name, "wx")).close();
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
  try {
    await rename(beside, name);
  } catch (error) {
    removeQuietly(name);
    throw error;
  }
  return true;
}

/** Errors of systems that cannot synchronise a folder are ignored; those of a failing disk are not. */
const UNSUPPORTED: ReadonlySet<unknown> = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "EISDIR", "EPERM"]);

/** Makes the name of a new file survive a power loss by synchronising its folder, on systems that can. */
export function syncFolder(folder: string): void {
  let file: number;
  try {
    file = openSync(folder, "r");
  } catch {
    return;
  }
  try {
    fsyncSync(file);
  } catch (error) {
    if (!UNSUPPORTED.has((error as NodeJS.ErrnoException).code)) throw error;
  } finally {
    closeSync(file);
  }
}

/*
 * Files are written beside others as NAME.HOST-PID-RANDOM.part. One that a killed run left is stale when its process,
 * on this machine, is gone. For a file of another machine (or of 0.1.0, which did not name one) this is unknown, so it
 * is stale after a day. Only names of exactly this form are ever removed.
 */
const DAY = 24 * 60 * 60 * 1000;
/** The longest name, in bytes, that leaves room for the suffix; a longer one is replaced by its hash. */
const MAX_BASE_BYTES = 180;
const SUFFIX = /^\.(?:([0-9a-f]{6})-(\d{1,10})-)?[0-9a-f]{8}\.part$/;

/** Names made by this process: others with its process number come from an earlier process. */
const made = new Set<string>();
/** Paths whose folder has already been searched: a checkpoint is written many times. */
const looked = new Set<string>();

function baseOf(path: string): string {
  const name = basename(path);
  if (Buffer.byteLength(name) <= MAX_BASE_BYTES) return name;
  return createHash("sha256").update(name).digest("hex").slice(0, 16);
}

/** A name beside the path that no other process uses. */
function namePart(path: string): string {
  const name = `${baseOf(path)}.${HOST}-${process.pid}-${randomUUID().slice(0, 8)}.part`;
  made.add(name);
  return join(dirname(path), name);
}

/** Removes what earlier, killed runs left for this path; what cannot be inspected or removed stays. */
export async function removeLeftovers(path: string): Promise<void> {
  if (looked.has(path)) return;
  looked.add(path);
  const folder = dirname(path);
  const base = baseOf(path);
  for (const name of await readdir(folder).catch(() => [])) {
    const part = name.startsWith(base) ? SUFFIX.exec(name.slice(base.length)) : null;
    if (part === null || made.has(name)) continue;
    const file = join(folder, name);
    if (await isStale(file, part[1], part[2])) await unlink(file).catch(() => undefined);
  }
}

async function isStale(file: string, madeOn: string | undefined, pid: string | undefined): Promise<boolean> {
  const found = await lstat(file).catch(() => null);
  if (found === null || !found.isFile()) return false;
  if (Date.now() - found.mtimeMs > DAY) return true;
  return madeOn === HOST && (Number(pid) === process.pid || !isRunning(Number(pid)));
}
