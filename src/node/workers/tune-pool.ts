/**
 * The runs of a sweep over worker threads, one run at a time in each. Which worker takes a run and in which order they end changes
 * nothing but the order of the answers. Cancelling is an AbortSignal: the workers are ended where they are.
 */
import { Worker } from "node:worker_threads";
import { BackendError, InputError } from "../../core/errors.ts";
import { createMemoryError, isMemoryFailure } from "../../core/memory.ts";
import type { TrainRequest } from "../../verbs/train.ts";
import type { RunScores } from "../../verbs/tune.ts";
import type { FromTuneWorker, ToTuneWorker, TuneWorkerData } from "./tune-worker.ts";

export interface TunePoolOptions extends TuneWorkerData {
  readonly workers: number;
  readonly signal: AbortSignal;
  /** Called as each run ends, in whatever order they do. */
  readonly onDone: (index: number, outcome: TuneOutcome) => void;
  /** Runs that are under way, each as a share of itself, summed. */
  readonly onProgress: (underWay: number) => void;
}

export type TuneOutcome =
  | { readonly scores: RunScores; readonly failure: null; readonly warnings: readonly string[] }
  | { readonly scores: null; readonly failure: string; readonly warnings: readonly string[] };

/** Compiled, the worker is this file's neighbour; from src/, it is the built one (a worker loads no TypeScript). */
function workerFile(): URL {
  const here = import.meta.url;
  return here.endsWith(".ts")
    ? new URL("../../../dist/node/workers/tune-worker.js", here)
    : new URL("./tune-worker.js", here);
}

/** Rejects with the signal's reason, with an InputError that a run was refused with, or with a worker's failure. */
export async function runSettings(
  requests: readonly TrainRequest[],
  options: TunePoolOptions,
): Promise<void> {
  const { table, deterministic, workers: wanted, signal, onDone, onProgress } = options;
  signal.throwIfAborted();
  const workers: Worker[] = [];
  const finished = new AbortController();
  const shares = new Map<number, number>();
  const sayProgress = () => onProgress([...shares.values()].reduce((sum, share) => sum + share, 0));
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { signal: finished.signal });
      let next = 0;
      let done = 0;
      if (requests.length === 0) resolve();
      for (let k = 0; k < Math.min(wanted, requests.length); k++) {
        const data: TuneWorkerData = { table, deterministic };
        const worker = new Worker(workerFile(), { workerData: data, execArgv: [] });
        workers.push(worker);
        const fail = (what: string) =>
          reject(new BackendError(`a run of the sweep failed: ${what}`, { code: "worker.failed" }));
        worker.on("error", (error: unknown) => {
          if (isMemoryFailure(error)) reject(createMemoryError(error));
          else fail(error instanceof Error ? error.message : String(error));
        });
        // Has no effect when the pool ends its workers itself: the promise is settled by then.
        worker.on("exit", (code) => fail(`its worker ended with exit code ${code}`));
        const sendNext = () => {
          if (next >= requests.length) return;
          const message: ToTuneWorker = { index: next, request: requests[next] };
          next++;
          worker.postMessage(message);
        };
        const settle = (index: number, outcome: TuneOutcome) => {
          shares.delete(index);
          sayProgress();
          done++;
          try {
            onDone(index, outcome);
          } catch (error) {
            reject(error);
            return;
          }
          if (done === requests.length) resolve();
          else sendNext();
        };
        worker.on("message", (message: FromTuneWorker) => {
          switch (message.kind) {
            case "progress":
              shares.set(message.index, message.share);
              sayProgress();
              return;
            case "done":
              settle(message.index, { scores: message.scores, failure: null, warnings: message.warnings });
              return;
            case "diverged":
              settle(message.index, { scores: null, failure: message.what, warnings: [] });
              return;
            case "refused": {
              const { code, where, hint } = message;
              const Refusal = message.by === "backend" ? BackendError : InputError;
              reject(
                new Refusal(message.message, {
                  code,
                  ...(where === undefined ? {} : { where }),
                  ...(hint === undefined ? {} : { hint }),
                }),
              );
            }
          }
        });
        sendNext();
      }
    });
  } finally {
    finished.abort();
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}
