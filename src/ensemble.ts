/**
 * An ensemble: the mean curves of several runs of train. The rows outside the test are cut into as many parts as there are runs; each
 * run has another part for validation and learns from the others, under another seed. So every row teaches all runs but one, and the
 * noise of a single start and of a single draw of validation rows is averaged out. Encoder, time grid and groups are fitted once, to all
 * of these rows. The verdict per group is of the mean curves; there are no rows left to validate them on but the test rows.
 */
import type { Backend } from "./compute/backend.ts";
import { InputError } from "./core/errors.ts";
import { createRandom, shuffle } from "./core/random.ts";
import { addGroupColumns } from "./data/group-columns.ts";
import { resolveGroups } from "./data/groups.ts";
import { readOutcomes } from "./data/read-outcomes.ts";
import { joinRows, splitRows } from "./data/split.ts";
import type { Table } from "./data/table.ts";
import {
  createNetwork,
  type MeanSpec,
  type ParameterValues,
  type SingleNetworkSpec,
  writeParameters,
} from "./models/create-network.ts";
import { memberParameter } from "./models/mean.ts";
import { MAX_MEMBERS } from "./models/network-spec.ts";
import { gridOf } from "./predict.ts";
import { type TrainEvent, type TrainRequest, train } from "./train.ts";
import { createEvaluator } from "./training/evaluation.ts";
import { type GroupVerdict, judgeGroups } from "./training/finish.ts";
import type { Model } from "./training/model.ts";
import { prepareRows } from "./training/prepare-rows.ts";

/** A request of train, and how many runs of it are averaged. */
export interface EnsembleRequest extends TrainRequest {
  readonly members: number;
}

/** Apart from every stream that a run of the same seed uses. */
const PARTS_STREAM = 0x60000000;

/** Trains the members one after the other; yields their events, returns one model. It cannot be resumed. */
export async function* trainEnsemble(
  table: Table,
  { members, ...request }: EnsembleRequest,
  backend: Backend,
): AsyncGenerator<TrainEvent, Model> {
  refuseRequest(members, request);
  const { seed = 1 } = request;
  const {
    train: first,
    valid,
    test,
  } = request.split ??
  splitRows(table.rows, { seed, ...(request.fractions ? { fractions: request.fractions } : {}) });
  const rows = joinRows(first, valid);
  const models: Model[] = [];
  for (const [m, part] of cutRows(rows, members, seed).entries()) {
    yield { type: "candidate", what: `run ${m + 1} of ${members}` };
    const held = new Set(part);
    const split = { train: rows.filter((row) => !held.has(row)), valid: part, test };
    const run = train(table, { ...request, seed: seed + m, split, fitRows: rows }, backend);
    let next = await run.next();
    for (; !next.done; next = await run.next()) {
      const { type } = next.value;
      // What a checkpoint or X-Cal's candidates say is of one run; the table's warnings are the same for all.
      if (type === "step" || type === "evaluation" || (type === "start" && m === 0)) yield next.value;
    }
    models.push(next.value);
  }
  return joinModels(models, table, { rows, test: test.length }, backend);
}

function refuseRequest(members: number, { method }: TrainRequest): void {
  if (!Number.isSafeInteger(members) || members < 2 || members > MAX_MEMBERS) {
    throw new InputError(`an ensemble of ${members} runs: expected 2 to ${MAX_MEMBERS}`, {
      code: "ensemble.members",
    });
  }
  if (method === "cox") {
    throw new InputError(
      "an ensemble is of networks: a Cox model needs no validation rows to take turns with",
      {
        code: "option.conflict",
        hint: "leave --ensemble out, or ask for another --method",
      },
    );
  }
}

/** Parts of nearly equal size, each in ascending order. */
export function cutRows(rows: Int32Array, parts: number, seed: number): Int32Array[] {
  const order = Int32Array.from(rows);
  shuffle(order, createRandom(seed, PARTS_STREAM));
  const cut = (k: number) => Math.round((k * rows.length) / parts);
  return Array.from({ length: parts }, (_, k) => order.slice(cut(k), cut(k + 1)).sort());
}

interface EnsembleRows {
  /** Those that members learnt from or validated on. */
  readonly rows: Int32Array;
  readonly test: number;
}

async function joinModels(
  models: readonly Model[],
  table: Table,
  { rows, test }: EnsembleRows,
  backend: Backend,
): Promise<Model> {
  const [first] = models;
  const predictor = joinNetworks(models);
  const sum = (of: (model: Model) => number) => models.reduce((total, model) => total + of(model), 0);
  const steps = sum(({ training }) => training.steps);
  return {
    ...first,
    predictor,
    training: {
      seed: first.training.seed,
      backend: first.training.backend,
      rows: { train: rows.length, valid: 0, test },
      parameters: sum(({ training }) => training.parameters),
      steps,
      bestStep: steps,
      history: [],
      verdict: await judge({ ...first, predictor }, table, rows, backend),
      multipliers: null,
      warnings: first.training.warnings,
    },
  };
}

type MeanPredictor = {
  readonly kind: "network";
  readonly network: MeanSpec;
  readonly parameters: ParameterValues;
};

function joinNetworks(models: readonly Model[]): MeanPredictor {
  const members: SingleNetworkSpec[] = [];
  const parameters: ParameterValues = {};
  for (const [m, { predictor }] of models.entries()) {
    if (predictor.kind !== "network" || predictor.network.kind === "mean") continue;
    members.push(predictor.network);
    for (const [name, values] of Object.entries(predictor.parameters)) {
      parameters[memberParameter(m, name)] = values;
    }
  }
  const [{ D, T }] = members;
  return { kind: "network", network: { kind: "mean", D, T, members }, parameters };
}

/** On all rows the members were made of. */
async function judge(
  model: Model & { readonly predictor: MeanPredictor },
  table: Table,
  rows: Int32Array,
  backend: Backend,
): Promise<readonly GroupVerdict[]> {
  const { predictor, options } = model;
  if (options === null || options.constraint === null) return [];
  const source = {
    backend,
    table: addGroupColumns(table, model.inputGroups),
    outcomes: readOutcomes(table, model.columns),
    encoder: model.encoder,
    grid: gridOf(model),
    groups: resolveGroups(model.groups, table),
  };
  const training = prepareRows(source, rows);
  const network = createNetwork(backend, predictor.network, 0);
  writeParameters(network, predictor.parameters);
  const evaluation = await createEvaluator(backend, network, training, options.constraint)();
  return judgeGroups({ training }, options, evaluation, null);
}
