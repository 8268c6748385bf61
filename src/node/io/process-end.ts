/**
 * What a program must not leave behind, however it ends: files beside others, temporary folders, locks. It is removed
 * when the process exits, and before it ends by a signal; the exit code is then 128 and the signal's number, as a shell
 * reports it. Signals are taken only while there is something to remove. Ctrl-C is the commands' own (`onInterrupt`):
 * many of them stop in order. Nothing can be done about SIGKILL; what it leaves is removed later, by who finds it.
 */
import { createHash } from "node:crypto";
import { constants, hostname } from "node:os";

/** Something to remove. */
export interface Leftover {
  /** Removes it, at once. */
  readonly remove: () => void;
  /** Closes what a process may not end with. */
  readonly close?: () => Promise<unknown>;
}

const leftovers = new Set<Leftover>();
const SIGNALS = ["SIGTERM", "SIGHUP", "SIGQUIT"] as const;

let isWatching = false;

/** Removes it at the end of the process; the function returned takes that back. */
export function cleanAtEnd(leftover: Leftover): () => void {
  leftovers.add(leftover);
  if (!isWatching) {
    isWatching = true;
    process.on("exit", removeAll);
    for (const signal of SIGNALS) process.on(signal, endBySignal);
  }
  return () => {
    // A signal that has come but was not heard yet would be lost if nobody listened now.
    if (leftovers.delete(leftover) && leftovers.size === 0) setImmediate(stopWatching).unref();
  };
}

function stopWatching(): void {
  if (leftovers.size > 0 || !isWatching) return;
  isWatching = false;
  process.off("exit", removeAll);
  for (const signal of SIGNALS) process.off(signal, endBySignal);
}

function removeAll(): void {
  for (const { remove } of leftovers) {
    try {
      remove();
    } catch {
      // It has already been moved or removed.
    }
  }
}

/** Ends the process as the signal would, with nothing left behind. */
export function endBySignal(signal: NodeJS.Signals): void {
  // Node 26 treats a file still open at exit as a program error, and exits with 1.
  const closing = [...leftovers].map(async ({ close }) => close?.().catch(() => undefined));
  void Promise.all(closing).then(() => process.exit(128 + constants.signals[signal]));
}

/** Takes Ctrl-C; the function returned lets it end the program again. */
export function onInterrupt(hear: () => void): () => void {
  listenAlone(hear);
  return () => listenAlone(endBySignal);
}

/** The new listener comes before the others go: a Ctrl-C that has come but was not heard yet is not lost. */
function listenAlone(hear: (signal: NodeJS.Signals) => void): void {
  const others = process.rawListeners("SIGINT");
  process.on("SIGINT", hear);
  for (const other of others) process.removeListener("SIGINT", other as () => void);
}

/** Equal for all processes that see the same processes: containers have their own names. */
export const HOST = createHash("sha256").update(hostname()).digest("hex").slice(0, 6);

/** Whether a process of this machine still runs. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user cannot be signalled, but exists.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
