/**
 * Names of the files that are written beside others, and what becomes of those that a killed run left:
 * NAME.HOST-PID-RANDOM.part. One is stale when its process, on this machine, is gone; of another machine's (or of
 * 0.1.0's, which did not say) nobody knows, so it is stale after a day. Only names of exactly this form are ever
 * removed.
 */
import { createHash, randomUUID } from "node:crypto";
import { lstat, readdir, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";

const DAY = 24 * 60 * 60 * 1000;
/** Bytes of a name that leave room for what is added; a longer one is known by its hash. */
const MAX_BASE_BYTES = 180;
const SUFFIX = /^\.(?:([0-9a-f]{6})-(\d{1,10})-)?[0-9a-f]{8}\.part$/;

/** The same for every process that sees the same processes: containers have names of their own. */
const host = createHash("sha256").update(hostname()).digest("hex").slice(0, 6);
/** Names made by this process: what it has not made is of an earlier one with its number. */
const made = new Set<string>();
/** Paths whose folder was looked through already: a checkpoint is written many times. */
const looked = new Set<string>();

function baseOf(path: string): string {
  const name = basename(path);
  if (Buffer.byteLength(name) <= MAX_BASE_BYTES) return name;
  return createHash("sha256").update(name).digest("hex").slice(0, 16);
}

/** A name beside the path that no other process has. */
export function namePart(path: string): string {
  const name = `${baseOf(path)}.${host}-${process.pid}-${randomUUID().slice(0, 8)}.part`;
  made.add(name);
  return join(dirname(path), name);
}

/** Removes what earlier, killed runs left of this path; what cannot be looked at or removed stays. */
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
    // A process of another user cannot be asked, and is there.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
