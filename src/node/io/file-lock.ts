/**
 * A lock on a file that one program at a time may write to: FILE.lock beside it, with the process and the machine that
 * hold it. It is made in one step that only one program can take, removed when the file is closed and however the
 * process ends. What a kill leaves is recognised: its process, on this machine, is gone or is another one with the same
 * number; on another machine, nobody has touched it for an hour, which its holder does every minute. Folders of
 * networks that do not keep exclusive creation exclusive are not protected.
 */
import {
  closeSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { warn } from "../print/output.ts";
import { cleanAtEnd, HOST, isRunning } from "./process-end.ts";

const holderSchema = z.strictObject({
  lock: z.literal(1),
  pid: z.int().positive(),
  /** What the process numbers belong to, and what people call it. */
  host: z.string(),
  machine: z.string(),
  /** When the process began, as its system counts; null where that is not known. */
  began: z.string().nullable(),
  since: z.string(),
});
type Holder = Readonly<z.infer<typeof holderSchema>>;

/** Milliseconds between two signs of life, and without one before a lock of another machine is stale. */
const TOUCH_EVERY = 60_000;
const STALE_ABROAD = 3_600_000;
/** Milliseconds that a lock may lie there unfinished: between making it and writing it, a program may be killed. */
const UNFINISHED = 60_000;

/** Locks that this program holds. */
const held = new Set<string>();

/**
 * Takes the lock of a file, whether or not it is there; the function returned gives it back. Refuses where another
 * program has it. Pipes and devices have none.
 */
export function lockFile(path: string, hint: string): () => void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) return () => undefined;
  const lock = `${nameFile(path)}.lock`;
  const remove = () => {
    const holder = readHolder(lock);
    // After an hour of sleep it may be another machine's.
    if (held.has(lock) && holder?.pid === process.pid && holder.host === HOST) removeQuietly(lock);
  };
  // Before the lock is made: a signal that comes in between would leave it.
  const forget = cleanAtEnd({ remove });
  try {
    take(path, lock, hint);
  } catch (error) {
    forget();
    throw error;
  }
  held.add(lock);
  const touching = setInterval(() => touch(lock), TOUCH_EVERY).unref();
  return () => {
    clearInterval(touching);
    forget();
    remove();
    held.delete(lock);
  };
}

function take(path: string, lock: string, hint: string): void {
  if (create(lock)) return;
  const holder = readHolder(lock);
  if (!isStale(lock, holder) || !takeOver(lock)) throw refuseLocked(path, lock, holder, hint);
  warn(`${lock} was left by ${sayHolder(holder)}, which has ended: it is taken over`);
}

/** At the end of its links; where nothing is there yet, in its real folder. */
function nameFile(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return join(realpathSync(dirname(path)), basename(path));
  }
}

/** False where there is one already. */
function create(lock: string): boolean {
  let file: number;
  try {
    file = openSync(lock, "wx");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  const holder: Holder = {
    lock: 1,
    pid: process.pid,
    host: HOST,
    machine: hostname(),
    began: readBegin(process.pid),
    since: new Date().toISOString(),
  };
  try {
    writeFileSync(file, `${JSON.stringify(holder)}\n`);
  } catch (error) {
    removeQuietly(lock);
    throw error;
  } finally {
    closeSync(file);
  }
  return true;
}

/** Null where it cannot be read, or is not ours. */
function readHolder(lock: string): Holder | null {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(lock, "utf8")));
  } catch {
    return null;
  }
}

/** Field 22 of /proc/PID/stat: a number that was given to another process begins anew. */
function readBegin(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

function isStale(lock: string, holder: Holder | null): boolean {
  if (holder === null) return ageOf(lock) > UNFINISHED;
  if (holder.host !== HOST) return ageOf(lock) > STALE_ABROAD;
  if (holder.pid === process.pid && !held.has(lock)) return true;
  return !isRunning(holder.pid) || (holder.began !== null && holder.began !== readBegin(holder.pid));
}

/** Milliseconds since the last sign of life; none where the lock is gone. */
function ageOf(lock: string): number {
  try {
    return Date.now() - statSync(lock).mtimeMs;
  } catch {
    return 0;
  }
}

/** One program at a time looks once more and puts its own lock in the place of a stale one. */
function takeOver(lock: string): boolean {
  const turn = `${lock}.turn`;
  if (ageOf(turn) > UNFINISHED) removeQuietly(turn);
  try {
    closeSync(openSync(turn, "wx"));
  } catch {
    return false;
  }
  try {
    if (!isStale(lock, readHolder(lock))) return false;
    removeQuietly(lock);
    return create(lock);
  } finally {
    removeQuietly(turn);
  }
}

function touch(lock: string): void {
  try {
    utimesSync(lock, new Date(), new Date());
  } catch {
    // Without signs of life it is stale for other machines after an hour.
  }
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is gone already, or cannot be removed: a later program finds that its process has ended.
  }
}

function sayHolder(holder: Holder | null): string {
  if (holder === null) return "a program";
  return holder.host === HOST ? `process ${holder.pid}` : `process ${holder.pid} on ${holder.machine}`;
}

function refuseLocked(path: string, lock: string, holder: Holder | null, hint: string): InputError {
  const since = holder === null ? "" : `, since ${holder.since}`;
  const abroad =
    holder !== null && holder.host !== HOST
      ? `; if that machine no longer runs it, delete ${lock} (after an hour it is taken over by itself)`
      : "";
  return new InputError(`another program is writing to "${path}" (${sayHolder(holder)}${since})`, {
    code: "file.locked",
    hint: `wait until it has ended, or ${hint}${abroad}`,
  });
}
