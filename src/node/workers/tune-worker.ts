/**
 * What one worker thread of tune-pool.ts runs: it is given the table and the rows once, then trains and scores one setting after the
 * other, each with a backend of its own and one thread, so that a run depends on nothing but its request. It has no test rows. A run that
 * is refused, diverges or finds no memory is answered with what the error says; anything else is a bug and ends the worker.
 */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { BackendError, GraduateError, NumericalError } from "../../core/errors.ts";
import { createMemoryError, isMemoryFailure } from "../../core/memory.ts";
import type { Table } from "../../data/table.ts";
import type { Model } from "../../training/model.ts";
import { prepare, type TrainRequest, train } from "../../verbs/train.ts";
import { type RunScores, scoreRun } from "../../verbs/tune.ts";
import { openWasmBackend } from "./wasm-backend.ts";

export interface TuneWorkerData {
  readonly table: Table;
  readonly deterministic: boolean;
}

/** Trains as asked and scores on the request's validation rows. */
export interface ToTuneWorker {
  readonly index: number;
  readonly request: TrainRequest;
}

export type FromTuneWorker =
  | { readonly kind: "progress"; readonly index: number; readonly share: number }
  | {
      readonly kind: "done";
      readonly index: number;
      readonly scores: RunScores;
      readonly warnings: readonly string[];
    }
  /** The run left the numbers it can be trusted on: an outcome like any other. */
  | { readonly kind: "diverged"; readonly index: number; readonly what: string }
  /** What was given cannot be used, or the machine cannot do it now: the sweep ends, and nothing of the run is kept. */
  | {
      readonly kind: "refused";
      /** The input, or the machine: memory, a thread. */
      readonly by: "input" | "backend";
      readonly message: string;
      readonly code: string;
      readonly where: string | undefined;
      readonly hint: string | undefined;
    };

/** Milliseconds between two reports of a run's progress. */
const REPORT_EVERY = 100;

async function runSetting(
  { index, request }: ToTuneWorker,
  { table, deterministic }: TuneWorkerData,
  send: (message: FromTuneWorker) => void,
): Promise<void> {
  const backend = await openWasmBackend({ threads: 1, deterministic });
  try {
    const run = train(prepare(table, request), request, backend);
    let steps = 0;
    let reportedAt = performance.now();
    let next = await run.next();
    for (; !next.done; next = await run.next()) {
      const event = next.value;
      if (event.type === "start") steps = event.steps;
      if (event.type !== "step" || performance.now() - reportedAt < REPORT_EVERY) continue;
      reportedAt = performance.now();
      send({ kind: "progress", index, share: Math.min(1, event.step / Math.max(1, steps)) });
    }
    const model: Model = next.value;
    const scores = await scoreRun(model, table, request.split?.valid ?? new Int32Array(0), backend);
    send({ kind: "done", index, scores, warnings: model.training.warnings });
  } catch (error) {
    const told = isMemoryFailure(error) ? createMemoryError(error) : error;
    if (!(told instanceof GraduateError)) throw told;
    const { message, code, where, hint } = told;
    const by = told instanceof BackendError ? "backend" : "input";
    if (told instanceof NumericalError) send({ kind: "diverged", index, what: message });
    else send({ kind: "refused", by, message, code, where, hint });
  } finally {
    await backend.close();
  }
}

function serve(port: MessagePort): void {
  const data = workerData as TuneWorkerData;
  port.on("message", (message: ToTuneWorker) => {
    // A bug has to end the worker, whose error event the pool hears.
    runSetting(message, data, (answer) => port.postMessage(answer)).catch((error) => {
      setImmediate(() => {
        throw error;
      });
    });
  });
}

if (parentPort !== null) serve(parentPort);
