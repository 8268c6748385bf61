/**
 * The bootstrap of bootstrap.ts over worker threads. The prepared groups are copied once into shared memory that all
 * workers read; replicates are handed out in small blocks to whichever worker is free and filed by number, so the
 * result is the same to the last bit for any number of threads. With one thread everything stays in this process.
 * Cancelling is an AbortSignal, whose reason the promise rejects with; a worker that fails is a BackendError.
 */
import { availableParallelism } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { BackendError, InputError } from "../../core/errors.ts";
import { createMemoryError, isMemoryFailure } from "../../core/memory.ts";
import {
  type BootstrapOptions,
  type BootstrapProgress,
  bootstrapScores,
  checkBootstrap,
  type GroupBootstrap,
  summariseReplicates,
} from "../../stats/scores/bootstrap.ts";
import { SCORE_FIELDS } from "../../stats/scores/evaluate-scores.ts";
import type { PreparedScores } from "../../stats/scores/prepared-scores.ts";
import type { FromReplicateWorker, ToReplicateWorker } from "./replicate-worker.ts";

export interface ReplicatePoolOptions extends BootstrapOptions {
  /** As many as the machine runs at once without it; 1 stays in this process. */
  readonly threads?: number;
  readonly onProgress?: (progress: BootstrapProgress) => void;
  readonly signal?: AbortSignal;
}

/** Blocks per worker: enough for even load and smooth progress, few enough that messages cost nothing. */
const BLOCKS_PER_THREAD = 32;

/**
 * Workers run compiled JavaScript. Compiled, this file's neighbour is it. Run from src/ by a test runner that strips
 * types, the neighbour is TypeScript, which a worker cannot load, so the built one is taken (`npm test` builds
 * first).
 */
function workerFile(): URL {
  const here = import.meta.url;
  return here.endsWith(".ts")
    ? new URL("../../../dist/node/workers/replicate-worker.js", here)
    : new URL("./replicate-worker.js", here);
}

/** The same plain data with every typed array in shared memory; an array met twice (the curves) is copied once. */
function shareArrays<Value>(value: Value, copies: Map<unknown, unknown>): Value {
  if (typeof value !== "object" || value === null) return value;
  const known = copies.get(value);
  if (known !== undefined) return known as Value;
  let copy: unknown;
  if (ArrayBuffer.isView(value)) {
    const memory = new SharedArrayBuffer(value.byteLength);
    new Uint8Array(memory).set(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    copy = new (value.constructor as new (memory: SharedArrayBuffer) => unknown)(memory);
  } else if (Array.isArray(value)) {
    copy = value.map((entry) => shareArrays(entry, copies));
  } else {
    copy = Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, shareArrays(entry, copies)]));
  }
  copies.set(value, copy);
  return copy as Value;
}

async function runInProcess(
  groups: readonly PreparedScores[],
  options: ReplicatePoolOptions,
): Promise<readonly GroupBootstrap[]> {
  const steps = bootstrapScores(groups, options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    options.onProgress?.(step.value);
    // Lets timers and signals of the caller run between replicates.
    await nextTurn();
    options.signal?.throwIfAborted();
  }
}

/** All replicates, [replicates, G, SCORE_FIELDS.length]. */
function runOnWorkers(
  groups: readonly PreparedScores[],
  options: ReplicatePoolOptions,
  threads: number,
  workers: Worker[],
  finished: AbortSignal,
): Promise<Float64Array> {
  const { replicates, seed, onProgress, signal } = options;
  const size = groups.length * SCORE_FIELDS.length;
  const values = new Float64Array(replicates * size);
  const block = Math.ceil(replicates / (threads * BLOCKS_PER_THREAD));
  const shared = shareArrays(groups, new Map());
  const people = shareArrays(options.people ?? null, new Map());
  let next = 0;
  let done = 0;
  return new Promise((resolve, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { signal: finished });
    const fail = (what: string) =>
      reject(
        new BackendError(`a bootstrap worker failed: ${what}`, {
          code: "worker.failed",
          hint: "one thread runs without workers and shows the error where it happens",
        }),
      );
    for (let k = 0; k < threads; k++) {
      const worker = new Worker(workerFile());
      workers.push(worker);
      const send = (message: ToReplicateWorker) => worker.postMessage(message);
      const askForNext = () => {
        if (next >= replicates) return;
        const count = Math.min(block, replicates - next);
        send({ kind: "block", first: next, count });
        next += count;
      };
      worker.on("error", (error: unknown) => {
        if (isMemoryFailure(error)) reject(createMemoryError(error));
        else fail(error instanceof Error ? error.message : String(error));
      });
      // Nobody listens any more when the pool ends its workers itself.
      worker.on("exit", (code) => fail(`it ended with exit code ${code}`));
      worker.on("message", (message: FromReplicateWorker) => {
        values.set(message.values, message.first * size);
        done += message.count;
        try {
          onProgress?.({ done, total: replicates });
        } catch (error) {
          reject(error);
        }
        if (done === replicates) resolve(values);
        else askForNext();
      });
      send({ kind: "start", groups: shared, seed, people });
      askForNext();
    }
  });
}

/** Intervals of all scores for every group, from replicates spread over threads. */
export async function bootstrapInParallel(
  groups: readonly PreparedScores[],
  options: ReplicatePoolOptions,
): Promise<readonly GroupBootstrap[]> {
  const { replicates } = checkBootstrap(groups, options);
  const asked = options.threads ?? availableParallelism();
  if (!(Number.isInteger(asked) && asked >= 1)) {
    throw new InputError(`threads are not a positive whole number: ${asked}`, { code: "option.invalid" });
  }
  options.signal?.throwIfAborted();
  const threads = Math.min(asked, replicates);
  if (threads === 1 || groups.length === 0) return runInProcess(groups, options);
  const workers: Worker[] = [];
  const finished = new AbortController();
  try {
    const values = await runOnWorkers(groups, options, threads, workers, finished.signal);
    return summariseReplicates(groups, values, options);
  } finally {
    // Takes our listener off the caller's signal, which may outlive many bootstraps.
    finished.abort();
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}
