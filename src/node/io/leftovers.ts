/**
 * Names of the files written beside others, NAME.HOST-PID-RANDOM.part, and the removal of those that a killed run left.
 * Such a file is stale when its process, on this machine, is gone. For a file of another machine (or of 0.1.0, which
 * did not name one) this is unknown, so it is stale after a day. Only names of exactly this form are ever removed.
 */
import { createHash, randomUUID } from "node:crypto";
import { lstat, readdir, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";

const DAY = 24 * 60 * 60 * 1000;
/** The longest name, in bytes, that leaves room for the suffix; a longer one is replaced by its hash. */
const MAX_BASE_BYTES = 180;
const SUFFIX = /^\.(?:([0-9a-f]{6})-(\d{1,10})-)?[0-9a-f]{8}\.part$/;

/** Equal for all processes that see the same processes: containers have their own names. */
const host = createHash("sha256").update(hostname()).digest("hex").slice(0, 6);
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
export function namePart(path: string): string {
  const name = `${baseOf(path)}.${host}-${process.pid}-${randomUUID().slice(0, 8)}.part`;
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
  return madeOn === host && (Number(pid) === process.pid || !isRunning(Number(pid)));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user cannot be signalled, but exists.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
