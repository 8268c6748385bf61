/**
 * Spreads the runs of a plan over processes, one run at a time in each, because a process has its own CPU time. If a
 * process dies (memory, a bug), its run fails and the process is replaced; the others go on. Runs that share a network
 * go to one process, as long as the other processes have other runs to do.
 */
import { runInPool } from "graduate-survival/node";
import type { RunEvent } from "graduate-survival/verbs";
import type { Plan, RunLine } from "./plan.ts";
import { networkKey } from "./shared-network.ts";
import type { RunBackend, RunOutcome, SharedPlan } from "./worker.ts";

export type { RunBackend, RunOutcome } from "./worker.ts";

export interface ReproducePoolOptions {
  readonly workers: number;
  readonly backend: RunBackend;
  readonly signal: AbortSignal;
  /** Called as each run ends, in any order. */
  readonly onDone: (index: number, outcome: RunOutcome) => void;
  /** Runs in progress: index → share done. */
  readonly onProgress: (shares: ReadonlyMap<number, number>) => void;
}

/** When compiled, the worker is this file's neighbour; from src/, it is the built one (Node loads no TypeScript). */
export function workerFile(): URL {
  const here = import.meta.url;
  return here.endsWith(".ts") ? new URL("../../dist/runs/worker.js", here) : new URL("./worker.js", here);
}

/** Rejects with the signal's reason, or with what `onDone` threw. */
export async function runLines(
  plan: Plan,
  lines: readonly RunLine[],
  { workers, backend, signal, onDone, onProgress }: ReproducePoolOptions,
): Promise<void> {
  const events = runInPool<SharedPlan, RunLine, RunOutcome>(lines, {
    worker: workerFile(),
    shared: { plan, backend },
    workers,
    place: "process",
    what: "a run of the plan",
    signal,
    affinity: (line) => networkKey(plan, line),
    lost: (_, why) => ({ kind: "failed", failure: why }),
  });
  await passOn(events, { onDone, onProgress });
}

/** Tells of each event of the runs. */
export async function passOn(
  events: AsyncIterable<RunEvent<RunOutcome>>,
  { onDone, onProgress }: Pick<ReproducePoolOptions, "onDone" | "onProgress">,
): Promise<void> {
  const shares = new Map<number, number>();
  for await (const event of events) {
    if (event.type === "progress") {
      shares.set(event.index, event.share);
      onProgress(shares);
    } else {
      shares.delete(event.index);
      onDone(event.index, event.result);
    }
  }
}
