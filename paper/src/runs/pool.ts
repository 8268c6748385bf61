/**
 * The runs of a plan over processes, one run at a time in each. A process that dies (memory, a bug) fails its run and
 * is replaced; the others go on. A run whose network a process has just trained, or is training, is left to that
 * process, as long as there are others to do. Cancelling is an AbortSignal: the processes are ended where they are.
 */
import { type ChildProcess, fork } from "node:child_process";
import type { Plan, RunLine } from "./plan.ts";
import { networkKey } from "./shared-network.ts";
import type { FromReproduceWorker, ToReproduceWorker } from "./worker.ts";

export type RunOutcome = Extract<FromReproduceWorker, { kind: "done" } | { kind: "failed" }>;

export interface ReproducePoolOptions {
  readonly workers: number;
  readonly signal: AbortSignal;
  /** Called as each run ends, in whatever order they do. */
  readonly onDone: (index: number, outcome: RunOutcome) => void;
  /** Runs that are under way: index → share of itself. */
  readonly onProgress: (shares: ReadonlyMap<number, number>) => void;
}

/** Compiled, the worker is this file's neighbour; from src/, it is the built one (Node loads no TypeScript). */
function workerFile(): URL {
  const here = import.meta.url;
  return here.endsWith(".ts") ? new URL("../../dist/runs/worker.js", here) : new URL("./worker.js", here);
}

/**
 * The place of the run to do next among those that wait: of the process's own network, else of one that no process
 * has, else the first.
 */
export function chooseNext(
  waiting: readonly (string | null)[],
  own: string | null,
  taken: ReadonlySet<string>,
): number {
  const mine = own === null ? -1 : waiting.indexOf(own);
  if (mine >= 0) return mine;
  return Math.max(
    0,
    waiting.findIndex((network) => network === null || !taken.has(network)),
  );
}

/** Rejects with the signal's reason, or with what `onDone` threw. */
export async function runLines(
  plan: Plan,
  lines: readonly RunLine[],
  { workers: wanted, signal, onDone, onProgress }: ReproducePoolOptions,
): Promise<void> {
  signal.throwIfAborted();
  if (lines.length === 0) return;
  const workers = new Set<ChildProcess>();
  const finished = new AbortController();
  const shares = new Map<number, number>();
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { signal: finished.signal });
      const pending = lines.map((_, index) => index);
      const networks = new Map<ChildProcess, string>();
      const take = (worker: ChildProcess): number | undefined => {
        const place = chooseNext(
          pending.map((index) => networkKey(plan, lines[index])),
          networks.get(worker) ?? null,
          new Set(networks.values()),
        );
        const [taken] = pending.splice(place, 1);
        const network = taken === undefined ? null : networkKey(plan, lines[taken]);
        if (network !== null) networks.set(worker, network);
        return taken;
      };
      let done = 0;
      const startWorker = () => {
        const worker = fork(workerFile(), { execArgv: [] });
        workers.add(worker);
        let current: number | null = null;
        const sendNext = () => {
          const next = take(worker);
          if (next === undefined) return;
          current = next;
          shares.set(current, 0);
          const message: ToReproduceWorker = { index: current, plan, line: lines[current] };
          worker.send(message);
        };
        const settle = (outcome: RunOutcome) => {
          current = null;
          shares.delete(outcome.index);
          done++;
          try {
            onDone(outcome.index, outcome);
          } catch (error) {
            reject(error);
            return;
          }
          if (done === lines.length) resolve();
        };
        const replace = (what: string) => {
          networks.delete(worker);
          if (!workers.delete(worker) || finished.signal.aborted) return;
          if (current !== null) settle({ kind: "failed", index: current, failure: what });
          if (pending.length > 0) startWorker();
        };
        worker.on("error", (error) => replace(error.message));
        worker.on("exit", (code, ended) => replace(`its process ended (${ended ?? `exit code ${code}`})`));
        worker.on("message", (message: FromReproduceWorker) => {
          if (message.kind === "progress") {
            shares.set(message.index, message.share);
            onProgress(shares);
            return;
          }
          settle(message);
          sendNext();
        });
        sendNext();
      };
      for (let k = 0; k < Math.min(wanted, lines.length); k++) startWorker();
    });
  } finally {
    finished.abort();
    for (const worker of workers) worker.kill("SIGKILL");
  }
}
