/**
 * Runs a plan over worker threads or processes, one run at a time in each. Which worker takes a run, and in which order
 * runs end, changes only the order of the answers. An AbortSignal, or ending the generator, cancels the plan: the
 * workers are terminated at once. A worker that is lost (a bug, no memory) ends the plan, unless the caller can make a
 * result for its run (`lost`): then another worker takes its place. The worker's module decides the kind of run
 * (run-worker.ts).
 */
import { BackendError, createMemoryError, InputError, isMemoryFailure } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { RunEvent } from "../../verbs/runs.ts";
import { type Lane, type LanePlace, openLane } from "./lane.ts";
import { type FromRunWorker, restoreRefusal, type ToRunWorker } from "./run-worker.ts";

/** What runs in the workers, how many there are, and how they are cancelled. */
export interface PoolOptions<Shared, Task, Result> {
  /** The compiled module that calls `serveRuns`. */
  readonly worker: URL;
  /**
   * What all runs share, such as the table; every worker gets a copy, except that arrays in shared memory are not
   * copied.
   */
  readonly shared: Shared;
  /** How many runs are made at a time. */
  readonly workers: number;
  /** Threads by default. A process has its own memory and CPU time, and takes longer to start. */
  readonly place?: LanePlace;
  /** What failed, for the error when a worker is lost: "a run of the sweep". */
  readonly what: string;
  /** What to do about it. */
  readonly hint?: string;
  readonly signal?: AbortSignal;
  /** The result of a run whose worker was lost; the others go on. Without it, a lost worker ends the plan. */
  readonly lost?: (task: Task, why: string) => Result;
  /**
   * Tasks with the same name can share work: they go to the worker that did the last of them, as long as there are
   * others to do.
   */
  readonly affinity?: (task: Task) => string | null;
}

/** A module of this folder that a worker can load: beside this file if compiled, the built one if run from src/. */
export function workerModule(name: string): URL {
  const here = import.meta.url;
  return here.endsWith(".ts")
    ? new URL(`../../../dist/node/workers/${name}.js`, here)
    : new URL(`./${name}.js`, here);
}

/**
 * The index of the next task among those waiting: one with the worker's own affinity, else one with an affinity that no
 * worker has, else the first.
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
    waiting.findIndex((name) => name === null || !taken.has(name)),
  );
}

/** A queue of values for one reader; values put before a failure are read before it. */
function createMailbox<Value>() {
  const waiting: Value[] = [];
  let failure: { readonly error: unknown } | null = null;
  let wake = () => {};
  return {
    put(value: Value): void {
      waiting.push(value);
      wake();
    },
    fail(error: unknown): void {
      failure ??= { error };
      wake();
    },
    async take(): Promise<Value> {
      while (waiting.length === 0) {
        if (failure !== null) throw failure.error;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return waiting.shift() as Value;
    },
  };
}

/**
 * Runs every task once and yields progress and results. Throws the signal's reason, one of our errors if a run was
 * refused, or a BackendError for a worker that was lost; runs that ended earlier are yielded first.
 */
export async function* runInPool<Shared, Task, Result>(
  tasks: readonly Task[],
  options: PoolOptions<Shared, Task, Result>,
): AsyncGenerator<RunEvent<Result>, void> {
  const { signal, workers } = options;
  signal?.throwIfAborted();
  if (!(Number.isInteger(workers) && workers >= 1))
    throw new InputError(`workers are not a positive whole number: ${workers}`, { code: "option.invalid" });
  const events = createMailbox<RunEvent<Result>>();
  const onAbort = () => events.fail(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  const team = startTeam(tasks, options, events);
  try {
    for (let left = tasks.length; left > 0; ) {
      const event = await events.take();
      if (event.type === "result") left--;
      yield event;
    }
  } finally {
    signal?.removeEventListener("abort", onAbort);
    await team.end();
  }
}

/** Hands out the tasks; every answer goes to `events`. */
function startTeam<Shared, Task, Result>(
  tasks: readonly Task[],
  options: PoolOptions<Shared, Task, Result>,
  events: { put(event: RunEvent<Result>): void; fail(error: unknown): void },
): { end(): Promise<void> } {
  const { worker, shared, place = "thread", lost, affinity = () => null } = options;
  const names = tasks.map(affinity);
  const pending = tasks.map((_, index) => index);
  const lanes = new Set<Lane>();
  const affinities = new Map<Lane, string>();
  let isEnding = false;

  const takeFor = (lane: Lane): number | undefined => {
    const waiting = pending.map((index) => names[index]);
    const at = chooseNext(waiting, affinities.get(lane) ?? null, new Set(affinities.values()));
    const [index] = pending.splice(at, 1);
    const name = index === undefined ? null : names[index];
    if (name !== null) affinities.set(lane, name);
    return index;
  };

  const addLane = () => {
    let current: number | null = null;
    const send = (message: ToRunWorker<Shared, Task>) => {
      try {
        lane.post(message);
      } catch (error) {
        // The message cannot be copied to a worker: the task holds a function, or memory ran out.
        events.fail(isMemoryFailure(error) ? createMemoryError(error) : error);
      }
    };
    const sendNext = () => {
      const index = takeFor(lane);
      if (index === undefined) return;
      current = index;
      send({ kind: "run", index, task: tasks[index] });
    };
    const hear = (message: unknown) => {
      const answer = message as FromRunWorker<Result>;
      switch (answer.kind) {
        case "progress":
          events.put({ type: "progress", index: answer.index, share: answer.share });
          return;
        case "result":
          current = null;
          sendNext();
          events.put({ type: "result", index: answer.index, result: answer.result, isKept: false });
          return;
        case "refused":
          events.fail(restoreRefusal(answer.refusal));
      }
    };
    const lose = (error: unknown) => {
      affinities.delete(lane);
      if (!lanes.delete(lane) || isEnding) return;
      const why = error instanceof Error ? error.message : String(error);
      if (lost === undefined) events.fail(explainLoss(error, why, options));
      else if (current !== null) {
        events.put({ type: "result", index: current, result: lost(tasks[current], why), isKept: false });
      }
      if (lost !== undefined && pending.length > 0) addLane();
    };
    const lane = openLane(place, worker, { hear, lose });
    lanes.add(lane);
    send({ kind: "start", shared });
    sendNext();
  };

  for (let k = 0; k < Math.min(options.workers, tasks.length); k++) addLane();
  return {
    async end() {
      isEnding = true;
      await Promise.all(Array.from(lanes, (lane) => lane.end()));
    },
  };
}

function explainLoss(
  error: unknown,
  why: string,
  { what, hint }: { readonly what: string; readonly hint?: string },
): BackendError {
  if (isMemoryFailure(error)) return createMemoryError(error);
  return new BackendError(`${what} failed: ${why}`, { code: "worker.failed", ...present({ hint }) });
}
