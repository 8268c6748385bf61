/**
 * The bootstrap of bootstrap.ts over worker threads. The prepared groups are copied once into shared memory that all
 * workers read. Replicates are handed out in small blocks to whichever worker is free and stored by number, so the
 * result is the same to the last bit for any number of threads. With one thread everything stays in this process. An
 * AbortSignal cancels the work, and the promise rejects with its reason; a worker that fails gives a BackendError.
 */
import { availableParallelism } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
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
import type { ReplicateBlock, SharedScores } from "./replicate-worker.ts";
import { runInPool, workerModule } from "./run-pool.ts";

export interface ReplicatePoolOptions extends BootstrapOptions {
  /** By default as many as the machine runs at once; 1 stays in this process. */
  readonly threads?: number;
  readonly onProgress?: (progress: BootstrapProgress) => void;
  readonly signal?: AbortSignal;
}

/** Blocks per worker: enough for even load and smooth progress, few enough that messages cost nothing. */
const BLOCKS_PER_THREAD = 32;

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
    // Lets the caller's timers and signals run between replicates.
    await nextTurn();
    options.signal?.throwIfAborted();
  }
}

/** All replicates, [replicates, G, SCORE_FIELDS.length]. */
async function runOnWorkers(
  groups: readonly PreparedScores[],
  options: ReplicatePoolOptions,
  threads: number,
): Promise<Float64Array> {
  const { replicates, seed, onProgress, signal } = options;
  const size = groups.length * SCORE_FIELDS.length;
  const values = new Float64Array(replicates * size);
  const length = Math.ceil(replicates / (threads * BLOCKS_PER_THREAD));
  const blocks = Array.from({ length: Math.ceil(replicates / length) }, (_, k): ReplicateBlock => {
    const first = k * length;
    return { first, count: Math.min(length, replicates - first) };
  });
  const shared: SharedScores = {
    groups: shareArrays(groups, new Map()),
    seed,
    people: shareArrays(options.people ?? null, new Map()),
  };
  const events = runInPool<SharedScores, ReplicateBlock, Float64Array>(blocks, {
    worker: workerModule("replicate-worker"),
    shared,
    workers: threads,
    what: "a bootstrap worker",
    hint: "one thread runs without workers and shows the error where it happens",
    ...present({ signal }),
  });
  let done = 0;
  for await (const event of events) {
    if (event.type !== "result") continue;
    const { first, count } = blocks[event.index];
    values.set(event.result, first * size);
    done += count;
    onProgress?.({ done, total: replicates });
  }
  return values;
}

/** Intervals of all scores for every group, from replicates spread over threads. */
export async function bootstrapInParallel(
  groups: readonly PreparedScores[],
  options: ReplicatePoolOptions,
): Promise<readonly GroupBootstrap[]> {
  const { replicates } = checkBootstrap(groups, options);
  const asked = options.threads ?? availableParallelism();
  if (!(Number.isInteger(asked) && asked >= 1)) {
    throw new InputError(`the number of threads is not a positive whole number: ${asked}`, {
      code: "option.invalid",
    });
  }
  options.signal?.throwIfAborted();
  const threads = Math.min(asked, replicates);
  if (threads === 1 || groups.length === 0) return runInProcess(groups, options);
  return summariseReplicates(groups, await runOnWorkers(groups, options, threads), options);
}
