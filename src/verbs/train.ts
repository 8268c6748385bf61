/**
 * Train: a table and what is asked of it give a model. The walk: check the table; split its rows; on the training rows fit the
 * encoder, the time grid and the groups; build the rows the network sees; run the trainer; keep the weights its rule
 * chooses; say per group whether the constraint was met. Events are passed on as the trainer yields them.
 */
import type { Backend } from "../compute/backend.ts";
import { borrow } from "../compute/borrow.ts";
import { InputError } from "../core/errors.ts";
import { plainText } from "../core/sentence.ts";
import { countOf } from "../core/text.ts";
import { checkFeatures } from "../data/checks/check-features.ts";
import { createNotice, type Notice } from "../data/checks/findings.ts";
import { checkIndependence } from "../data/checks/repeated-people.ts";
import { checkTable } from "../data/checks/sanity.ts";
import { encode, findSplines, fitEncoder } from "../data/encode/encode.ts";
import { chooseFeatures } from "../data/encode/features.ts";
import { addGroupColumns, chooseInputGroups, groupColumnName } from "../data/groups/group-columns.ts";
import {
  ALL_GROUP,
  chooseAutomaticGroups,
  type Group,
  groupsFromFile,
  refuseOutcomeGroups,
  resolveGroups,
} from "../data/groups/groups.ts";
import { pickOutcomes } from "../data/outcomes/outcomes.ts";
import {
  findOutcomeNotes,
  outcomeNames,
  pickOutcomeColumns,
  readOutcomes,
} from "../data/outcomes/read-outcomes.ts";
import { fitTimeGrid } from "../data/outcomes/time-grid.ts";
import type { Table } from "../data/table.ts";
import { describeInfinite, fitCox, requireCurves } from "../models/cox/cox.ts";
import { createNetwork } from "../models/networks/create-network.ts";
import { anchorHazards } from "../models/networks/initialise.ts";
import type { Network } from "../models/networks/network.ts";
import { fitAdditiveStart } from "../models/start/additive-start.ts";
import { kaplanMeierBinned } from "../stats/kaplan-meier.ts";
import { chooseNetwork, chooseOptions, listCandidates, refuseSplines } from "../training/choose-options.ts";
import { chooseSplit, countPeople, countSets, dropId } from "../training/choose-split.ts";
import { finishRun } from "../training/finish.ts";
import { type Model, type ModelHistoryEntry, toHistoryEntry } from "../training/model.ts";
import type { TrainingOptions } from "../training/options.ts";
import { prepareRows } from "../training/prepare-rows.ts";
import { listNotices } from "../training/run-warnings.ts";
import { scoreTotal } from "../training/total-score.ts";
import { optimise, type TrainingEvent } from "../training/trainer.ts";
import type { TrainEvent, TrainHooks, TrainRequest } from "./train-request.ts";

export type {
  CandidateEvent,
  DoneEvent,
  StartEvent,
  TrainEvent,
  TrainHooks,
  TrainRequest,
} from "./train-request.ts";

/**
 * From a table to a model: checks, splits, encodes, trains under the constraints. Yields events, the model with the last of them (`done`),
 * and returns it; `fit` is for those who want the model alone.
 */
export async function* train(
  table: Table,
  request: TrainRequest,
  backend: Backend,
  hooks: TrainHooks = {},
): AsyncGenerator<TrainEvent, Model> {
  const memory = borrow(backend);
  let model: Model;
  try {
    model = yield* runTraining(table, request, memory.backend, hooks);
  } finally {
    memory.giveBack();
  }
  yield { type: "done", model };
  return model;
}

async function* runTraining(
  table: Table,
  request: TrainRequest,
  backend: Backend,
  hooks: TrainHooks,
): AsyncGenerator<TrainEvent, Model> {
  const { method = "graduate", preset = "default", seed = 1 } = request;
  const outcomes = readOutcomes(table, request);
  const checked = checkTable(table, request);
  const { features, leftOut } = chooseFeatures(table, checked, dropId(table, request));
  const independence = checkIndependence(table, checked, request);
  const { split, people } = chooseSplit(table, request);
  const fitRows = request.fitRows ?? split.train;
  const { groups, missingGroups } = chooseGroups(table, fitRows, request, {
    features,
    event: outcomes.event,
  });
  refuseOutcomeGroups(groups, [request.time, request.event]);
  const inputGroups = chooseInputs(table, features, fitRows, groups, request);
  const widened = addGroupColumns(table, inputGroups);
  const encoder = fitEncoder(widened, {
    features: [...features, ...inputGroups.map(groupColumnName)],
    rows: fitRows,
    reference: method === "cox" ? "drop" : "keep",
    splines: request.splines === true && method !== "cox",
    rareLevels: "pool",
  });
  const grid = fitTimeGrid(pickOutcomes(outcomes, fitRows), {
    ...(request.bins === undefined ? {} : { T: request.bins }),
    ...(request.horizon === undefined ? {} : { horizon: request.horizon }),
  });
  const source = { backend, table: widened, outcomes, encoder, grid, groups: resolveGroups(groups, table) };
  const training = prepareRows(source, split.train);
  const validation = split.valid.length > 0 ? prepareRows(source, split.valid) : null;
  const D = encoder.names.length;
  const { T } = grid;
  const splines = findSplines(encoder);
  if (splines.length > 0) refuseSplines(preset, D - inputGroups.length, inputGroups.length);
  const km = kaplanMeierBinned(training.binned);
  const events = km.events.reduce((sum, count) => sum + count, 0);
  if (events === 0) {
    throw new InputError(
      `no events among the ${countOf(split.train.length, "training row")}${request.horizon === undefined ? "" : ` up to time ${request.horizon}`}`,
      {
        code: "events.none",
        where: `${table.name}, column "${request.event}"`,
        hint: "check which value means that the event happened (--event-is), the split and the horizon",
      },
    );
  }
  // Cells that cannot be encoded are refused now and not when the model is scored.
  if (split.test.length > 0) encode(encoder, widened, split.test);
  const rows = countSets(split);
  const counted = people === null ? {} : { people: countPeople(people, split) };
  const listed = listNotices({
    usedColumns: [...features, ...outcomeNames(request)],
    leftOut,
    findings: checked.findings,
    notes: [...findOutcomeNotes(table, request), ...checkFeatures(table, request, features)],
    encoder,
    fitted: fitRows.length,
    training,
    events,
    outcomes,
    split,
    grid,
  });
  const notices = [...listed, ...independence, ...missingGroups];
  const warnings = notices.map(({ sentence }) => plainText(sentence));
  const model = {
    method,
    columns: { ...pickOutcomeColumns(request), ...(request.id === undefined ? {} : { id: request.id }) },
    encoder,
    inputGroups,
    grid: { ...grid, edges: Array.from(grid.edges) },
    groups,
    ...(request.provenance === undefined ? {} : { provenance: request.provenance }),
  };
  const start = {
    type: "start" as const,
    rows,
    ...counted,
    features,
    D,
    T,
    groups: training.groups.map(({ name, rows: own }) => ({
      name,
      n: own.length,
      events: own.reduce((sum, row) => sum + training.binned.event[row], 0),
    })),
    warnings,
  };

  if (method === "cox") {
    const x = encode(encoder, widened, split.train).values;
    const fit = fitCox({ ...pickOutcomes(outcomes, split.train), x, D, names: encoder.names });
    requireCurves(fit);
    const endless = fit.infinite.map((j) => encoder.names[j]);
    const said = endless.length === 0 ? warnings : [...warnings, describeInfinite(endless)];
    yield { ...start, warnings: said, parameters: D, steps: 0, backend: "none" };
    const { coefficients, means, baseline, iterations } = fit;
    return {
      ...model,
      predictor: {
        kind: "cox",
        D,
        coefficients: Array.from(coefficients),
        means: Array.from(means),
        time: Array.from(baseline.time),
        cumulativeHazardAtMeans: Array.from(baseline.cumulativeHazardAtMeans),
      },
      options: null,
      training: {
        seed,
        backend: "none",
        rows,
        ...counted,
        parameters: D,
        steps: iterations,
        bestStep: iterations,
        history: [],
        verdict: [],
        multipliers: null,
        warnings: [...warnings, ...fit.warnings],
        notices: [...notices, ...fit.warnings.map((said) => createNotice("warning", said))],
      },
    };
  }

  const options = chooseOptions(method, preset, request, split.train.length);
  const begin =
    preset === "default"
      ? fitAdditiveStart({
          ...training.binned,
          x: training.x,
          D,
          groups: inputGroups.length,
          splines,
        })
      : {
          slopes: null,
          offsets: null,
          baselineHazard: anchorHazards(km.events.subarray(1), km.atRisk.subarray(1)),
        };
  const spec = chooseNetwork(request, preset, { D, T, groups: inputGroups.length }, begin.baselineHazard);
  /** One run from the start to the weights it keeps. */
  async function* runOnce(chosen: TrainingOptions, own: Backend): AsyncGenerator<TrainingEvent, Finished> {
    const network = createNetwork(own, spec, seed);
    setStart(network, "skip", begin.slopes);
    setStart(network, "groupOffsets", begin.offsets);
    const input = { backend: own, network, training, validation };
    const history = [...(hooks.history ?? [])];
    const run = optimise(input, chosen, hooks);
    let next = await run.next();
    for (; !next.done; next = await run.next()) {
      if (next.value.type === "evaluation") history.push(toHistoryEntry(next.value));
      yield next.value;
    }
    const result = await finishRun(input, chosen, next.value);
    const total = validation === null ? 0 : await scoreTotal(own, network, validation);
    return { options: chosen, result, history, total };
  }
  const parameters = createNetwork(backend, spec, seed).parameters.reduce(
    (sum, { values }) => sum + values.length,
    0,
  );
  yield { ...start, parameters, steps: options.steps, backend: backend.name };
  const candidates = listCandidates(method, options, {
    isGiven: request.options?.objective !== undefined,
    canChoose: validation !== null,
  });
  if (candidates.length > 1 && hooks.resume) throw refuseResume();
  let kept: Finished | null = null;
  for (const candidate of candidates) {
    if (candidates.length > 1) yield { type: "candidate", what: candidate.what, leavesCheckpoints: false };
    const memory = borrow(backend);
    const run = runOnce(candidate.options, memory.backend);
    let next = await run.next();
    for (; !next.done; next = await run.next()) {
      // A checkpoint knows one run only: of several, none can be taken up again.
      if (candidates.length === 1 || next.value.type !== "checkpoint") yield next.value;
    }
    memory.giveBack();
    if (kept === null || next.value.total > kept.total) kept = next.value;
  }
  const { result, history, options: used } = kept as Finished;
  return {
    ...model,
    predictor: { kind: "network", network: spec, parameters: result.parameters },
    options: used,
    training: {
      seed,
      backend: backend.name,
      rows,
      ...counted,
      parameters,
      steps: result.steps,
      bestStep: result.bestStep,
      history,
      verdict: result.verdict,
      multipliers: result.multipliers,
      warnings,
      notices,
    },
  };
}

interface Finished {
  readonly options: TrainingOptions;
  readonly result: Awaited<ReturnType<typeof finishRun>>;
  readonly history: readonly ModelHistoryEntry[];
  /** The paper's total score of the kept weights on the validation rows. */
  readonly total: number;
}

function refuseResume(): InputError {
  return new InputError("X-Cal with its weight chosen on validation rows cannot be resumed", {
    code: "resume.candidates",
    hint: "give the weight (--lambda), and the run is one that can be taken up again",
  });
}

function chooseInputs(
  table: Table,
  features: readonly string[],
  rows: Int32Array,
  groups: readonly Group[],
  { method, preset = "default", network = "anchored", inputGroups }: TrainRequest,
): Group[] {
  const chosen = inputGroups ?? (preset === "paper" ? "none" : "auto");
  // Cox is what others would fit; a network without offsets would only be told twice what it knows.
  if (chosen === "none" || method === "cox" || network === "drsa" || network === "mlp") return [];
  return chosen === "auto"
    ? chooseInputGroups(groups, table, features, rows)
    : chooseInputGroups(chosen, table, null, rows);
}

/** Everyone first, then the groups that are named, then the file's, then the automatic ones. */
function chooseGroups(
  table: Table,
  rows: Int32Array,
  request: TrainRequest,
  { features, event }: { readonly features: readonly string[]; readonly event: Uint8Array },
): { readonly groups: Group[]; readonly missingGroups: readonly Notice[] } {
  const exclude = [...outcomeNames(request), ...(request.id === undefined ? [] : [request.id])];
  const named = request.groupsFile
    ? groupsFromFile(request.groupsFile, table, rows, { exclude })
    : [ALL_GROUP];
  const chosen = [...named, ...(request.groups ?? [])];
  const { autoGroups: limit = 0 } = request;
  if (limit === 0) return { groups: chosen, missingGroups: [] };
  const automatic = chooseAutomaticGroups(table, rows, event, { columns: features, chosen, limit });
  const { length } = automatic;
  const why =
    length === 0
      ? "none found: every candidate has fewer than 100 rows or 10 events, or is much like a group named before"
      : `${length} found: others are too small or too much like one of these`;
  const missing = createNotice("note", `${countOf(limit, "automatic group")} asked for, ${why}`);
  return { groups: [...chosen, ...automatic], missingGroups: length < limit ? [missing] : [] };
}

/** Networks without such a parameter start as they do. */
function setStart(network: Network, name: string, values: Float64Array | null): void {
  const parameter = network.parameters.find((one) => one.name === name);
  if (values !== null) parameter?.values.set(values);
}
