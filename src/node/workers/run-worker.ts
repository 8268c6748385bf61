/**
 * The worker's side of run-pool.ts: a thread or a process that receives what all runs share once, and then one task
 * after another. A kind of run is a module that calls `serveRuns`. A run that is refused (one of our errors: bad input,
 * no memory) is answered with the error's contents, and ends the plan; anything else that is thrown is a bug and ends
 * the worker.
 */
import { parentPort } from "node:worker_threads";
import {
  BackendError,
  createMemoryError,
  FormatError,
  GraduateError,
  InputError,
  isMemoryFailure,
  NumericalError,
} from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { Run } from "../../verbs/runs.ts";

/** `start` comes first, once. */
export type ToRunWorker<Shared, Task> =
  | { readonly kind: "start"; readonly shared: Shared }
  | { readonly kind: "run"; readonly index: number; readonly task: Task };

export type FromRunWorker<Result> =
  | { readonly kind: "progress"; readonly index: number; readonly share: number }
  | { readonly kind: "result"; readonly index: number; readonly result: Result }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** One of our errors as sent between threads, which do not preserve classes. */
export interface Refusal {
  readonly by: keyof typeof REFUSALS;
  readonly message: string;
  readonly code: string;
  readonly where: string | undefined;
  readonly hint: string | undefined;
}

const REFUSALS = { InputError, NumericalError, BackendError, FormatError } as const;

function describeRefusal({ name, message, code, where, hint }: GraduateError): Refusal {
  return { by: name in REFUSALS ? (name as Refusal["by"]) : "InputError", message, code, where, hint };
}

/** Restores the error with its class. */
export function restoreRefusal({ by, message, code, where, hint }: Refusal): GraduateError {
  return new REFUSALS[by](message, { code, ...present({ where, hint }) });
}

/** Milliseconds between two reports of a run's progress. */
const REPORT_EVERY = 100;

async function runTask<Task, Result>(
  run: Run<Task, Result>,
  index: number,
  task: Task,
  send: (message: FromRunWorker<Result>) => void,
): Promise<void> {
  try {
    const steps = run(task);
    let reportedAt = performance.now();
    let next = await steps.next();
    for (; !next.done; next = await steps.next()) {
      if (performance.now() - reportedAt < REPORT_EVERY) continue;
      reportedAt = performance.now();
      send({ kind: "progress", index, share: next.value });
    }
    send({ kind: "result", index, result: next.value });
  } catch (error) {
    const told = isMemoryFailure(error) ? createMemoryError(error) : error;
    if (!(told instanceof GraduateError)) throw told;
    send({ kind: "refused", refusal: describeRefusal(told) });
  }
}

/**
 * Serves a pool: `open` receives what all runs share and returns the run. It is called by the module that a pool names
 * as its worker; anywhere else, where nobody asks for runs, it does nothing.
 */
export function serveRuns<Shared, Task, Result>(open: (shared: Shared) => Run<Task, Result>): void {
  let run: Run<Task, Result> | null = null;
  const receive = (
    message: ToRunWorker<Shared, Task>,
    send: (message: FromRunWorker<Result>) => void,
  ): void => {
    if (message.kind === "start") {
      run = open(message.shared);
      return;
    }
    if (run === null) throw new Error("a task came before what all runs share");
    // A bug must end the worker; the pool is notified.
    runTask(run, message.index, message.task, send).catch((error) => {
      setImmediate(() => {
        throw error;
      });
    });
  };
  if (parentPort !== null) {
    const port = parentPort;
    port.on("message", (message) => receive(message, (answer) => port.postMessage(answer)));
  } else if (process.send !== undefined) {
    const send = process.send.bind(process);
    // Ctrl-C reaches every process of the terminal; the pool decides what happens to this one.
    process.on("SIGINT", () => {});
    process.on("disconnect", () => process.exit());
    process.on("message", (message) =>
      receive(message as ToRunWorker<Shared, Task>, (answer) => send(answer)),
    );
  }
}
