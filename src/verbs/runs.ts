/**
 * Many runs of one kind. A plan is a list of tasks; a run turns one task into one result and depends on nothing else; a
 * runner produces the results of a plan in whatever order they finish. The caller chooses who runs them: here, one
 * after the other in this thread; worker threads, processes and files that keep the results belong to Node
 * (node/workers/run-pool.ts, node/io/run-results.ts). A run that fails for reasons of its own says so in its result; an
 * error that a run throws ends the plan.
 */
import type { Model } from "../training/model.ts";
import type { TrainEvent } from "./train-request.ts";

/** One run: yields its progress as a share between 0 and 1, and returns its result. */
export type Run<Task, Result> = (task: Task) => AsyncGenerator<number, Result>;

/** An event of a runner: the progress of a run, or its result. `index` is the task's place in the plan. */
export type RunEvent<Result> =
  | { readonly type: "progress"; readonly index: number; readonly share: number }
  | {
      readonly type: "result";
      readonly index: number;
      readonly result: Result;
      /** Whether the result existed already and nothing was run. */
      readonly isKept: boolean;
    };

/**
 * Produces the results of a plan, each once, in the order in which they finish. Ending it early (`return`) stops the
 * runs.
 */
export type Runner<Task, Result> = (tasks: readonly Task[]) => AsyncIterable<RunEvent<Result>>;

/** Progress events between two turns of the event loop. */
const TURN_EVERY = 20;

/** One task after the other in this thread; a signal stops them at the next event. */
export function runInTurn<Task, Result>(
  run: Run<Task, Result>,
  { signal }: { readonly signal?: AbortSignal } = {},
): Runner<Task, Result> {
  return async function* (tasks) {
    for (const [index, task] of tasks.entries()) {
      const steps = run(task);
      let said = 0;
      try {
        for (let next = await steps.next(); ; next = await steps.next()) {
          // Training on one thread never yields to the event loop by itself: this gives the caller a chance to cancel
          // it.
          if (signal !== undefined && (next.done || said++ % TURN_EVERY === 0)) await takeTurn();
          signal?.throwIfAborted();
          if (next.done) {
            yield { type: "result", index, result: next.value, isKept: false };
            break;
          }
          yield { type: "progress", index, share: next.value };
        }
      } finally {
        await steps.return(undefined as never);
      }
    }
  };
}

/** Lets the event loop go round once. */
function takeTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Passes on a runner's events and returns the results in the order of the plan. */
export async function* followRuns<Result>(
  events: AsyncIterable<RunEvent<Result>>,
): AsyncGenerator<RunEvent<Result>, readonly Result[]> {
  const results: Result[] = [];
  for await (const event of events) {
    if (event.type === "result") results[event.index] = event.result;
    yield event;
  }
  return results;
}

/**
 * A run made from a promise: `work` calls back with its progress. Of several shares at once, only the last is yielded.
 */
export async function* runWithShares<Result>(
  work: (tell: (share: number) => void) => Promise<Result>,
): AsyncGenerator<number, Result> {
  let told: number | null = null;
  let isDone = false;
  let wake = () => {};
  const result = work((share) => {
    told = share;
    wake();
  }).finally(() => {
    isDone = true;
    wake();
  });
  // Its failure is thrown below, when the next share is requested.
  result.catch(() => undefined);
  while (!isDone) {
    if (told === null) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const share = told;
    told = null;
    if (share !== null) yield share;
  }
  return result;
}

/** A training with its progress as a share of its steps; returns the model. */
export async function* shareOfTraining(
  training: AsyncGenerator<TrainEvent, Model>,
): AsyncGenerator<number, Model> {
  let steps = 0;
  try {
    for (let next = await training.next(); ; next = await training.next()) {
      if (next.done) return next.value;
      const event = next.value;
      if (event.type === "start") steps = event.steps;
      if (event.type === "step") yield Math.min(1, event.step / Math.max(1, steps));
    }
  } finally {
    await training.return(undefined as never);
  }
}
