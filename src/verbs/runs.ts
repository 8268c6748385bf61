/**
 * Many runs of one kind: a plan is a list of tasks, a run makes one result of one task and depends on nothing else,
 * and a runner makes the results of a plan in whatever order they end. Who runs them is the caller's choice: one
 * after the other in this thread, here; worker threads, processes and files that keep the results are Node's
 * (node/workers/run-pool.ts, node/io/run-results.ts). A run that fails for reasons of its own says so in its result;
 * what a run throws ends the plan.
 */
import type { Model } from "../training/model.ts";
import type { TrainEvent } from "./train-request.ts";

/** One run: yields how much of it is done, as a share between 0 and 1, and returns its result. */
export type Run<Task, Result> = (task: Task) => AsyncGenerator<number, Result>;

/** What a runner says: how far a run is, or what came of it. `index` is the task's place in the plan. */
export type RunEvent<Result> =
  | { readonly type: "progress"; readonly index: number; readonly share: number }
  | {
      readonly type: "result";
      readonly index: number;
      readonly result: Result;
      /** Whether the result was there before and nothing was run. */
      readonly isKept: boolean;
    };

/**
 * Makes the results of a plan, each once, in the order in which they end. Ending it early (`return`) stops the runs.
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
          // Training on one thread waits for nothing: whoever wants to cancel it gets a turn now and then.
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

/** Passes on what a runner says and returns the results in the order of the plan. */
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

/** A run made of a promise: `work` calls back with how much of it is done. Of several shares at once, the last. */
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
  // Its failure is thrown below, by whoever asks for the next share.
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

/** A training as a share of its steps; what it returns is the model. */
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
