// train and trainEnsemble for tests that have a table: prepared and then trained, every refusal at the first event.
import type { Backend } from "../../src/compute/backend.ts";
import type { Table } from "../../src/data/table.ts";
import type { Model } from "../../src/training/model.ts";
import {
  type EnsembleHooks,
  type EnsembleRequest,
  trainEnsemble,
} from "../../src/verbs/ensemble/ensemble.ts";
import {
  prepare,
  type TrainEvent,
  type TrainHooks,
  type TrainRequest,
  train,
} from "../../src/verbs/train.ts";

export async function* trainTable(
  table: Table,
  request: TrainRequest,
  backend: Backend,
  hooks?: TrainHooks,
): AsyncGenerator<TrainEvent, Model> {
  return yield* train(prepare(table, request), request, backend, hooks);
}

export async function* trainTableEnsemble(
  table: Table,
  request: TrainRequest & EnsembleRequest,
  backend: Backend,
  hooks?: EnsembleHooks,
): AsyncGenerator<TrainEvent, Model> {
  return yield* trainEnsemble(prepare(table, request), request, backend, hooks);
}
