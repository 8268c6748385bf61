/**
 * Train: a table and what is asked of it give a model. The walk: check the table; split its rows; on the training rows fit the
 * encoder, the time grid and the groups; build the rows the network sees; run the trainer; keep the weights its rule
 * chooses; say per group whether the constraint was met. Events are passed on as the trainer yields them.
 */
import type { Backend } from "./compute/backend.ts";
import { InputError } from "./core/errors.ts";
import { encode, fitEncoder } from "./data/encode.ts";
import { chooseFeatures } from "./data/features.ts";
import {
  ALL_GROUP,
  type Group,
  type GroupsFile,
  groupsFromFile,
  resolveGroups,
  selectGroups,
} from "./data/groups.ts";
import { type Outcomes, pickOutcomes } from "./data/outcomes.ts";
import { type OutcomeColumns, readOutcomes } from "./data/read-outcomes.ts";
import { checkFollowup, checkGroups, checkTable } from "./data/sanity.ts";
import { type Split, splitRows } from "./data/split.ts";
import type { Table } from "./data/table.ts";
import { binningGap, binOutcomes, fitTimeGrid, type TimeGrid } from "./data/time-grid.ts";
import { fitCox } from "./models/cox.ts";
import { createNetwork, type NetworkSpec } from "./models/create-network.ts";
import { anchorHazards } from "./models/initialise.ts";
import { kaplanMeierBinned } from "./stats/kaplan-meier.ts";
import { finishRun } from "./training/finish.ts";
import {
  type Method,
  MODEL_FORMAT,
  MODEL_VERSION,
  type Model,
  type ModelHistoryEntry,
} from "./training/model.ts";
import { type ConstraintSpec, PRESETS, type PresetName, type TrainingOptions } from "./training/options.ts";
import { type OptimiseHooks, optimise, type TrainingEvent, type TrainingRows } from "./training/trainer.ts";

export interface TrainRequest extends OutcomeColumns {
  readonly method?: Method;
  readonly preset?: PresetName;
  readonly features?: readonly string[];
  readonly drop?: readonly string[];
  readonly allowLeak?: readonly string[];
  readonly groups?: readonly Group[];
  readonly groupsFile?: GroupsFile;
  /** How many groups the automatic rule may add. */
  readonly autoGroups?: number;
  readonly constraint?: Partial<ConstraintSpec>;
  readonly network?: NetworkSpec["kind"];
  readonly hidden?: number;
  readonly bins?: number;
  readonly horizon?: number;
  readonly split?: Split;
  readonly fractions?: readonly [number, number, number];
  readonly seed?: number;
  /** Anything else of the trainer's options. */
  readonly options?: Partial<TrainingOptions>;
}

/** What a run starts with, once everything is prepared. */
export interface StartEvent {
  readonly type: "start";
  readonly rows: { readonly train: number; readonly valid: number; readonly test: number };
  readonly features: readonly string[];
  readonly D: number;
  readonly T: number;
  readonly groups: readonly { readonly name: string; readonly n: number; readonly events: number }[];
  readonly parameters: number;
  /** Updates to come; 0 for a model that is fitted at once. */
  readonly steps: number;
  readonly backend: string;
  readonly warnings: readonly string[];
}

export type TrainEvent = StartEvent | TrainingEvent;

/** The weight of X-Cal's penalty unless it is given. */
const XCAL_LAMBDA = 10;

export async function* train(
  table: Table,
  request: TrainRequest,
  backend: Backend,
  hooks: OptimiseHooks = {},
): AsyncGenerator<TrainEvent, Model> {
  const { method = "graduate", preset = "default", seed = 1 } = request;
  const outcomes = readOutcomes(table, request);
  const checked = checkTable(table, request);
  const { features, leftOut } = chooseFeatures(table, checked, request);
  const split =
    request.split ??
    splitRows(table.rows, { seed, ...(request.fractions ? { fractions: request.fractions } : {}) });
  const groups = chooseGroups(table, split, request);
  const encoder = fitEncoder(table, {
    features,
    rows: split.train,
    reference: method === "cox" ? "drop" : "keep",
  });
  const grid = fitTimeGrid(pickOutcomes(outcomes, split.train), {
    ...(request.bins === undefined ? {} : { T: request.bins }),
    ...(request.horizon === undefined ? {} : { horizon: request.horizon }),
  });
  const training = prepareRows(split.train);
  const validation = split.valid.length > 0 ? prepareRows(split.valid) : null;
  const D = encoder.names.length;
  const { T } = grid;
  const km = kaplanMeierBinned(training.binned);
  if (!km.events.some((events) => events > 0)) {
    throw new InputError("no events among the training rows", { code: "events.none", where: table.name });
  }
  const rows = { train: split.train.length, valid: split.valid.length, test: split.test.length };
  const warnings = [
    ...leftOut.map(({ name, reason }) => `${name} is not used: it ${reason}`),
    ...checked.findings.filter(({ level }) => level === "warning").map(({ message }) => message),
    ...checkGroups(training.groups, pickOutcomes(outcomes, split.train)).map(({ message }) => message),
    ...(split.test.length > 0
      ? checkFollowup(pickOutcomes(outcomes, split.train), pickOutcomes(outcomes, split.test)).map(
          ({ message }) => message,
        )
      : []),
    ...warnOfBinning(pickOutcomes(outcomes, split.train), grid),
  ];
  const base = { format: MODEL_FORMAT, version: MODEL_VERSION, method, encoder, groups } as const;
  const shape = {
    columns: {
      time: request.time,
      event: request.event,
      ...(request.eventIs === undefined ? {} : { eventIs: request.eventIs }),
    },
    grid: { ...grid, edges: Array.from(grid.edges) },
  };
  const groupSizes = training.groups.map(({ name, rows: members }) => ({
    name,
    n: members.length,
    events: members.reduce((sum, row) => sum + training.binned.event[row], 0),
  }));

  if (method === "cox") {
    yield {
      type: "start",
      rows,
      features,
      D,
      T,
      groups: groupSizes,
      parameters: D,
      steps: 0,
      backend: "none",
      warnings,
    };
    const x = encode(encoder, table, split.train).values;
    const fit = fitCox({ ...pickOutcomes(outcomes, split.train), x, D, names: encoder.names });
    const { coefficients, means, baseline } = fit;
    return {
      ...base,
      ...shape,
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
        parameters: D,
        steps: fit.iterations,
        bestStep: fit.iterations,
        history: [],
        verdict: [],
        multipliers: null,
        warnings: [...warnings, ...fit.warnings],
      },
    };
  }

  const options = chooseOptions(method, preset, request);
  const spec = chooseNetwork(
    request,
    preset,
    D,
    T,
    anchorHazards(km.events.subarray(1), km.atRisk.subarray(1)),
  );
  const network = createNetwork(backend, spec, seed);
  const parameters = network.parameters.reduce((sum, { values }) => sum + values.length, 0);
  yield {
    type: "start",
    rows,
    features,
    D,
    T,
    groups: groupSizes,
    parameters,
    steps: options.steps,
    backend: backend.name,
    warnings,
  };
  const input = { backend, network, training, validation };
  const history: ModelHistoryEntry[] = [];
  const run = optimise(input, options, hooks);
  let next = await run.next();
  while (!next.done) {
    const event = next.value;
    if (event.type === "evaluation") {
      history.push({
        step: event.step,
        loss: event.evaluation.loss,
        concordance: event.evaluation.concordance,
      });
    }
    yield event;
    next = await run.next();
  }
  const result = await finishRun(input, options, next.value);
  return {
    ...base,
    ...shape,
    predictor: { kind: "network", network: spec, parameters: result.parameters },
    options,
    training: {
      seed,
      backend: backend.name,
      rows,
      parameters,
      steps: result.steps,
      bestStep: result.bestStep,
      history,
      verdict: result.verdict,
      multipliers: result.multipliers,
      warnings,
    },
  };

  function prepareRows(rowsOf: Int32Array): TrainingRows {
    const encoded = encode(encoder, table, rowsOf);
    const x = backend.allocate(encoded.values.length);
    x.set(encoded.values);
    const place = new Map(Array.from(rowsOf, (row, k) => [row, k]));
    const members = resolveGroups(groups, table).map(({ name, rows: all }) => ({
      name,
      rows: Int32Array.from(Array.from(all, (row) => place.get(row) ?? -1).filter((k) => k >= 0)),
    }));
    return { x, binned: binOutcomes(pickOutcomes(outcomes, rowsOf), grid), groups: members };
  }
}

/** Everyone first, then the groups that are named, then the file's, then the automatic ones. */
function chooseGroups(table: Table, split: Split, request: TrainRequest): Group[] {
  const exclude = [request.time, request.event];
  const named = request.groupsFile
    ? groupsFromFile(request.groupsFile, table, split.train, { exclude })
    : [ALL_GROUP];
  const chosen = [...named, ...(request.groups ?? [])];
  if (request.autoGroups === undefined || request.autoGroups === 0) return chosen;
  return [...chosen, ...selectGroups(table, split.train, { exclude, chosen, limit: request.autoGroups })];
}

function warnOfBinning(outcomes: Outcomes, grid: TimeGrid): string[] {
  const { raw, binned, exceedsHalfStandardError } = binningGap(outcomes, grid);
  if (!exceedsHalfStandardError) return [];
  return [
    `${grid.T} time bins raise Kaplan-Meier at the end from ${raw.toFixed(4)} to ${binned.toFixed(4)}, over half a standard error: more bins would not`,
  ];
}

function chooseOptions(
  method: Exclude<Method, "cox">,
  preset: PresetName,
  request: TrainRequest,
): TrainingOptions {
  const base = { ...PRESETS[preset], seed: request.seed ?? 1, ...request.options };
  const { tail } =
    PRESETS[preset].objective.kind === "likelihood"
      ? (PRESETS[preset].objective as { tail: boolean })
      : { tail: false };
  const free = { ...base, constraint: null, keep: preset === "paper" ? ("concordance" as const) : base.keep };
  switch (method) {
    case "graduate": {
      const constraint = base.constraint ?? PRESETS[preset].constraint;
      return { ...base, constraint: constraint && { ...constraint, ...request.constraint } };
    }
    case "nll":
      return { ...free, objective: { kind: "likelihood", tail: false } };
    case "drsa":
      return { ...free, objective: { kind: "likelihood", tail: true } };
    case "xcal":
      return {
        ...free,
        objective: request.options?.objective ?? { kind: "xcal", tail, lambda: XCAL_LAMBDA },
      };
    case "rps":
      return { ...free, objective: request.options?.objective ?? { kind: "rps" } };
  }
}

function chooseNetwork(
  request: TrainRequest,
  preset: PresetName,
  D: number,
  T: number,
  hazards: Float64Array,
): NetworkSpec {
  const kind = request.network ?? (preset === "paper" ? "drsa" : "anchored");
  const H = request.hidden === undefined ? {} : { H: request.hidden };
  const baselineHazard = Array.from(hazards);
  switch (kind) {
    case "drsa":
      return { kind, D, T, ...H };
    case "anchored":
      return { kind, D, T, ...H, baselineHazard };
    case "mlp":
      return {
        kind,
        D,
        T,
        ...(request.hidden === undefined ? {} : { hidden: [request.hidden] }),
        baselineHazard,
      };
    case "linear":
      return { kind, D, T, baselineHazard };
  }
}
