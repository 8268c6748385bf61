/**
 * Fit: `train` for those who want only the model. It returns one promise of a model, with events and cancelling on
 * request. The model is the mean of several runs where `ensemble` asks for them or the table is small enough.
 */
import type { Backend } from "../compute/backend.ts";
import { createReferenceBackend } from "../compute/reference.ts";
import type { Table } from "../data/table.ts";
import type { Model } from "../training/model.ts";
import { chooseMembers } from "./ensemble/choose-members.ts";
import { type EnsembleRequest, trainEnsemble } from "./ensemble/ensemble.ts";
import { prepare, type TrainEvent, type TrainRequest, train } from "./train.ts";

/** A request to train; with `ensemble`, the mean of that many runs. Without it, rows and columns decide: 5 or 1. */
export interface FitRequest extends TrainRequest, Partial<EnsembleRequest> {}

/** How to follow and cancel a fit. */
export interface FitOptions {
  /** Called with every event of the run; if it returns a promise, the run waits for it. */
  readonly onEvent?: (event: TrainEvent) => void | Promise<void>;
  /** Stops the run at its next event; the promise is then rejected with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Trains on a table and returns the model. In Node the backend is that of `openWasmBackend` unless another is named.
 * Elsewhere it is the plain one, which runs anywhere and takes a hundred times as long: name one of
 * `graduate-survival/browser`.
 */
export async function fit(
  table: Table,
  request: FitRequest,
  backend: Backend = createReferenceBackend(),
  { onEvent, signal }: FitOptions = {},
): Promise<Model> {
  signal?.throwIfAborted();
  const study = prepare(table, request);
  const { ensemble = chooseMembers(study, request) } = request;
  const run =
    ensemble === 1 ? train(study, request, backend) : trainEnsemble(study, { ...request, ensemble }, backend);
  try {
    for (let next = await run.next(); ; next = await run.next()) {
      if (next.done) return next.value;
      await onEvent?.(next.value);
      // A run on one thread never yields to the event loop by itself: this gives the caller a chance to cancel it.
      if (signal !== undefined && next.value.type !== "step") await takeTurn();
      signal?.throwIfAborted();
    }
  } finally {
    await run.return(undefined as never);
  }
}

/** Lets the event loop go round once. */
function takeTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
