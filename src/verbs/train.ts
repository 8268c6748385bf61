/**
 * Train turns a study into a model. The steps: see the columns as the method does; put training and validation rows
 * into the backend's memory; refuse rows without events; report what is known before the start; fit Cox, or train the
 * network under its constraints and keep the weights its rule chooses; assemble the model with its split and its
 * verdict per group. Events are passed on as the trainer yields them.
 */
import type { Backend } from "../compute/backend.ts";
import { BackendScope } from "../compute/memory.ts";
import { InputError } from "../core/errors.ts";
import { present } from "../core/present.ts";
import { plainText } from "../core/sentence.ts";
import { countOf } from "../core/text.ts";
import { createNotice, type Notice } from "../data/checks/findings.ts";
import { pickOutcomes } from "../data/outcomes/outcomes.ts";
import { binOutcomes } from "../data/outcomes/time-grid.ts";
import { reorderInputs } from "../models/networks/initialise.ts";
import type { NetworkSpec } from "../models/networks/list.ts";
import { countParameters } from "../models/networks/network-spec.ts";
import type { ParameterValues } from "../models/networks/parameters.ts";
import { atRiskShare } from "../stats/mortality-risk.ts";
import { type PreparedStudy, redesign } from "../study/prepare.ts";
import { orderColumns, orderEncoder, orderRows } from "../study/order.ts";
import { countPeople, countSets } from "../study/split.ts";
import { encodeStudyRows } from "../study/study.ts";
import { fitCoxMethod } from "../training/fit-cox.ts";
import { fitNetwork, type NetworkFit, planFit } from "../training/fit-network.ts";
import type { Model } from "../training/model.ts";
import type { PresetName } from "../training/options.ts";
import { type LongRows, openLongRows, type SampledRows, sampleRows } from "../training/rows/long-rows.ts";
import { prepareRows } from "../training/rows/prepare-rows.ts";
import { listNotices, tellSample, tellStrata, warnOfSolve } from "../training/run-warnings.ts";
import { refuseClash } from "../training/solve/curves/hold-targets.ts";
import { refuseOneKind } from "./causes/refuse-one-kind.ts";
import { packModelSplit } from "./acquaintance/known-rows.ts";
import {
  designOf,
  isHeld,
  type StartEvent,
  type TrainEvent,
  type TrainHooks,
  type TrainingRequest,
} from "./train-request.ts";

export type {
  CandidateEvent,
  DoneEvent,
  StartEvent,
  TrainEvent,
  TrainHooks,
  TrainingRequest,
  TrainRequest,
} from "./train-request.ts";
export { prepare } from "./train-request.ts";

/**
 * From a study to a model trained under the constraints. Yields events, the last of which (`done`) holds the model, and
 * returns the model; `fit` is for those who have a table and want only the model.
 */
export async function* train(
  study: PreparedStudy,
  request: TrainingRequest,
  backend: Backend,
  hooks: TrainHooks = {},
): AsyncGenerator<TrainEvent, Model> {
  const scope = new BackendScope(backend);
  let model: Model;
  try {
    model = yield* runTraining(redesign(study, designOf(request)), request, scope, hooks);
  } finally {
    scope.end();
  }
  yield { type: "done", model };
  return model;
}

async function* runTraining(
  study: PreparedStudy,
  request: TrainingRequest,
  backend: Backend,
  hooks: TrainHooks,
): AsyncGenerator<TrainEvent, Model> {
  const { method = "graduate", preset = "default", seed = 1 } = request;
  const { split } = study;
  refuseOneKind(study.causes, { method, preset }, "train graduate or nll");
  const sampled = isHeld(request) ? sampleRows(study, seed) : split;
  const used = {
    train: orderRows(study, sampled.train),
    validation: orderRows(study, sampled.validation),
  };
  const learnt = openLongRows(study, split.train);
  refuseNoEvents(study, learnt);
  // Cells that cannot be encoded are refused now, not when the model is scored.
  for (const _ of encodeStudyRows(study, split.test));
  const { targets } = request;
  const clashes = targets === undefined ? [] : refuseClash(study, { ...request, targets });
  const strata = isHeld(request) ? (request.constraint?.strata ?? 1) : 1;
  const told = [...tellSample(split, used), ...tellStrata(strata)];
  const notices = [...listNotices(study, learnt), ...clashes, ...told];
  const start = describeStart(study, learnt, notices);
  const model = describeModel(study, request);
  const { rows, people, warnings } = start;

  if (method === "cox") {
    const cox = fitCoxMethod(study);
    const said = [...warnings, ...cox.notes];
    yield { ...start, warnings: said, parameters: cox.predictor.D, steps: 0, backend: "none" };
    return {
      ...model,
      predictor: cox.predictor,
      ...present({ uncertainty: cox.uncertainty ?? undefined }),
      options: null,
      training: {
        ...cox.training,
        seed,
        rows,
        ...present({ people }),
        warnings: [...warnings, ...cox.warnings],
        notices: [...notices, ...cox.warnings.map((one) => createNotice("warning", one))],
      },
    };
  }

  const { ordered, putBack } = takeInOrder(study, preset);
  const fit = { study: ordered, method, preset, request, ...prepareSets(ordered, used, backend) };
  const plan = await planFit(fit, backend, hooks.onProgress);
  yield { ...start, parameters: plan.parameters, steps: plan.options.steps, backend: nameBackend(backend) };
  const fitted = yield* fitNetwork(fit, plan, backend, hooks);
  const { result, history, options, kept, verdict, solve, uncertainty } = fitted;
  const { steps, bestStep, multipliers } = result;
  const unsolved = warnOfSolve(solve);
  return {
    ...model,
    predictor: { kind: "network", network: kept, parameters: putBack(kept, fitted.parameters) },
    ...present({ uncertainty: uncertainty ?? undefined }),
    options,
    training: {
      seed,
      backend: backend.name,
      rows,
      ...present({ people }),
      parameters: countParameters(kept),
      steps,
      bestStep,
      history,
      verdict,
      ...present({ solve: solve ?? undefined }),
      multipliers,
      warnings: [...warnings, ...unsolved],
      notices: [...notices, ...unsolved.map((one) => createNotice("warning", one))],
    },
  };
}

/**
 * The study with columns in an order of their own (study/order.ts), and how a network's parameters are put back in the
 * order of the table. The factor of a layer with slopes of its own could not be: other presets have the table's order.
 */
function takeInOrder(study: PreparedStudy, preset: PresetName) {
  if (preset !== "default") {
    return { ordered: study, putBack: (_: NetworkSpec, parameters: ParameterValues) => parameters };
  }
  const { places } = orderColumns(study);
  return {
    ordered: { ...study, encoder: orderEncoder(study) },
    putBack: (kept: NetworkSpec, parameters: ParameterValues) =>
      reorderInputs(parameters, places, kept.kind === "held" ? kept : {}),
  };
}

/** The rows to train and choose on, and where they are a sample, all rows for the last solve. */
function prepareSets(
  study: PreparedStudy,
  { train, validation }: SampledRows,
  backend: Backend,
): Pick<NetworkFit, "training" | "validation" | "all"> {
  const { split } = study;
  const isSample = train.length < split.train.length || validation.length < split.validation.length;
  const sets = [split.train, split.validation].filter(({ length }) => length > 0);
  return {
    training: prepareRows(backend, study, train),
    validation: validation.length > 0 ? prepareRows(backend, study, validation) : null,
    ...(isSample && { all: sets.map((rows) => openLongRows(study, rows)) }),
  };
}

function nameBackend({ name, adapter }: Backend): string {
  return adapter === undefined ? name : `${name} (${adapter})`;
}

/** A cause without an event among the training rows has no hazard to start from. */
function refuseNoEvents({ table, request }: PreparedStudy, { binned, causes }: LongRows): void {
  const { event, cause } = binned;
  const missing = (causes ?? []).filter((_, k) => cause?.includes(k + 1) !== true);
  if (event.includes(1) && missing.length === 0) return;
  const rows = countOf(event.length, "training row");
  const upTo = request.horizon === undefined ? "" : ` up to time ${request.horizon}`;
  const which = request.causes === undefined ? "--event-is" : "--causes";
  const isRare = event.includes(1);
  throw new InputError(`no events${isRare ? ` of ${missing.join(", ")}` : ""} among the ${rows}${upTo}`, {
    code: "events.none",
    where: `${table.name}, column "${request.event}"`,
    hint: isRare
      ? "write rare causes as one value of the column, or choose another split (--seed, --split) or horizon"
      : `check which value means that the event happened (${which}), the split and the horizon`,
  });
}

/** What is known before the start, except what the network adds itself. */
function describeStart(
  { split, people, features, encoder, grid }: PreparedStudy,
  { binned, groups }: LongRows,
  notices: readonly Notice[],
): Omit<StartEvent, "parameters" | "steps" | "backend"> {
  return {
    type: "start",
    rows: countSets(split),
    ...(people === null ? {} : { people: countPeople(people, split) }),
    features,
    D: encoder.names.length,
    T: grid.T,
    groups: groups.map(({ name, rows }) => ({
      name,
      n: rows.length,
      events: rows.reduce((sum, row) => sum + binned.event[row], 0),
    })),
    warnings: notices.map(({ sentence }) => plainText(sentence)),
  };
}

/** The fields that any model keeps of its study. */
function describeModel(study: PreparedStudy, { method = "graduate", provenance }: TrainingRequest) {
  const { table, sha256, columns, encoder, inputGroups, grid, groups, split, fitRows, outcomes } = study;
  const { cause: _, ...anyCause } = pickOutcomes(outcomes, fitRows);
  const atRisk = atRiskShare(binOutcomes(anyCause, grid));
  return {
    method,
    columns,
    ...present({ causes: study.causes ?? undefined }),
    encoder,
    inputGroups,
    grid: { ...grid, edges: Array.from(grid.edges), atRisk: Array.from(atRisk) },
    groups: groups.map(({ name, expression }) => ({ name, expression })),
    split: packModelSplit({ table, sha256, split, columns, encoder, inputGroups }),
    ...present({ provenance }),
  };
}
