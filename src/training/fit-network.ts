/**
 * Fits a network, from the start of a run to the weights that are kept: where it starts, which candidates are tried
 * (X-Cal's weight is chosen on the validation rows), the training loop for each, and what the kept weights say about
 * every group.
 */
import type { Backend } from "../compute/backend.ts";
import { BackendScope } from "../compute/memory.ts";
import { InputError } from "../core/errors.ts";
import { type AsyncTurns, finishTurns, type PhaseProgress } from "../core/progress.ts";
import { findSplines } from "../data/encode/encoder.ts";
import { createNetwork } from "../models/networks/create-network.ts";
import { arrangeInputs } from "../models/networks/initialise.ts";
import type { SingleNetworkSpec } from "../models/networks/list.ts";
import type { Network } from "../models/networks/network.ts";
import { countParameters } from "../models/networks/network-spec.ts";
import { readParameters } from "../models/networks/parameters.ts";
import { orderColumns } from "../study/order.ts";
import type { Study } from "../study/study.ts";
import { endsHeld, type Method } from "./choices.ts";
import {
  chooseNetwork,
  chooseOptions,
  listCandidates,
  type RunRequest,
  refuseSplines,
} from "./choose-options.ts";
import { anchorRows, fitStart, type NetworkStart } from "./fit-start.ts";
import { finishRun, type TrainingResult } from "./finish.ts";
import { type KeptNetwork, keepNetwork, listTold } from "./keep-network.ts";
import { type ModelHistoryEntry, toHistoryEntry } from "./model.ts";
import { refuseObjective } from "./objective.ts";
import type { PresetName, TrainingOptions } from "./options.ts";
import { refuseLateDistance } from "./rows/cause-view.ts";
import type { LongRows } from "./rows/long-rows.ts";
import type { SolvePhase } from "./solve/hold.ts";
import { scoreTotal } from "./total-score.ts";
import {
  type OptimiseHooks,
  optimise,
  type TrainingEvent,
  type TrainingInput,
  type TrainingRows,
} from "./trainer.ts";

/** What is trained: rows in the backend's memory, and the options asked for. */
export interface NetworkFit {
  readonly study: Study;
  readonly method: Exclude<Method, "cox">;
  readonly preset: PresetName;
  readonly request: RunRequest;
  readonly training: TrainingRows;
  readonly validation: TrainingRows | null;
  /** All training and all validation rows, where those above are a sample of them. */
  readonly all?: readonly LongRows[];
}

/** The planned run, before its first step. */
export interface PlannedFit {
  readonly network: SingleNetworkSpec;
  readonly options: TrainingOptions;
  readonly parameters: number;
  readonly start: NetworkStart;
}

/** Chooses options, start and network; nothing is trained yet. */
export async function planFit(
  { study, method, preset, request, training }: NetworkFit,
  backend: Backend,
  onProgress?: FitProgress,
): Promise<PlannedFit> {
  const { encoder, inputGroups, grid } = study;
  const D = encoder.names.length;
  const groups = inputGroups.length;
  const splines = findSplines(encoder);
  if (splines.length > 0) refuseSplines(preset, D - groups);
  const options = chooseOptions(method, preset, request, training.binned.bin.length);
  const causes = study.causes?.length;
  const K = causes ?? 1;
  const { binned } = training;
  refuseObjective(options.objective, binned, K);
  if (options.constraint) refuseLateDistance(options.constraint.distance, binned);
  const { slopes, offsets, precisions, baselineHazard } =
    preset === "default"
      ? finishTurns(
          fitStart({ binned, K, x: await backend.read(training.x), D, groups, splines }, (done, total) =>
            onProgress?.("fitting the start", done, total),
          ),
        )
      : {
          slopes: null,
          offsets: null,
          precisions: Array<null>(K).fill(null),
          baselineHazard: anchorRows(binned, K),
        };
  const network = chooseNetwork(request, preset, { D, T: grid.T, groups, causes }, baselineHazard);
  return { network, options, parameters: countParameters(network), start: { slopes, offsets, precisions } };
}

/** Where a fit resumes an interrupted one. */
export interface FitHooks extends OptimiseHooks {
  /** The history of the resumed run, so that the model has all of it. */
  readonly history?: readonly ModelHistoryEntry[];
  /** Told how far the phases are that yield no events. */
  readonly onProgress?: FitProgress;
}

/** The phases of a run that yield no events on the way. */
export type FitProgress = PhaseProgress<"fitting the start" | SolvePhase>;

/** The result of a run: the network that is kept, and what is said of it. */
export interface FinishedFit extends KeptNetwork {
  readonly options: TrainingOptions;
  readonly result: TrainingResult;
  readonly history: readonly ModelHistoryEntry[];
}

/** The next of several candidates begins. A checkpoint holds only one run, so a fit of several cannot be resumed. */
export interface NextCandidate {
  readonly type: "candidate";
  readonly what: string;
  readonly leavesCheckpoints: false;
}

/** Training is over, and the output layer is solved: minutes at most, without further steps. */
export interface SolveEvent {
  readonly type: "solve";
  readonly step: number;
}

/** A turn of the solve is over: here a run can wait, or end by `return()`. */
export interface SolvingEvent {
  readonly type: "solving";
  readonly step: number;
}

/** What follows the steps of a run, turn by turn. */
export async function* tellTurns<Made>(
  turns: AsyncTurns<Made>,
  step: number,
): AsyncGenerator<SolvingEvent, Made> {
  try {
    let next = await turns.next();
    for (; !next.done; next = await turns.next()) yield { type: "solving", step };
    return next.value;
  } finally {
    await turns.return(undefined as never);
  }
}

/** Trains every candidate and keeps the one with the highest total score on the validation rows. */
export async function* fitNetwork(
  fit: NetworkFit,
  plan: PlannedFit,
  backend: Backend,
  hooks: FitHooks = {},
): AsyncGenerator<TrainingEvent | SolveEvent | SolvingEvent | NextCandidate, FinishedFit> {
  const candidates = listCandidates(fit.method, plan.options, {
    isGiven: fit.request.options?.objective !== undefined,
    canChoose: fit.validation !== null,
  });
  if (candidates.length === 1) {
    const only = candidates[0].options;
    return (yield* runOnce(fit, plan, only, backend, hooks)).finished;
  }
  if (hooks.resume) throw refuseResume();
  let kept: { readonly finished: FinishedFit; readonly total: number } | null = null;
  for (const { what, options } of candidates) {
    yield { type: "candidate", what, leavesCheckpoints: false };
    const scope = new BackendScope(backend);
    const run = runOnce(fit, plan, options, scope, hooks);
    let next = await run.next();
    for (; !next.done; next = await run.next()) if (next.value.type !== "checkpoint") yield next.value;
    const { network, finished } = next.value;
    const total = fit.validation === null ? 0 : await scoreTotal(scope, network, fit.validation);
    scope.end();
    if (kept === null || total > kept.total) kept = { finished, total };
  }
  return (kept as NonNullable<typeof kept>).finished;
}

/** One run from the start to the weights it keeps. */
async function* runOnce(
  fit: NetworkFit,
  plan: PlannedFit,
  options: TrainingOptions,
  backend: Backend,
  hooks: FitHooks,
): AsyncGenerator<
  TrainingEvent | SolveEvent | SolvingEvent,
  { readonly network: Network; readonly finished: FinishedFit }
> {
  const { training, validation, request } = fit;
  const { network: spec, start } = plan;
  const network = createNetwork(backend, spec, request.seed ?? 1);
  await arrangeInputs(network, orderColumns(fit.study));
  setStart(network, "skip", start.slopes);
  setStart(network, "groupOffsets", start.offsets);
  const startParameters = start.slopes === null ? null : await readParameters(network);
  const input = { backend, network, training, validation };
  const history = [...(hooks.history ?? [])];
  const run = optimise(...whatIsTrained(fit, input, options), hooks);
  let next = await run.next();
  for (; !next.done; next = await run.next()) {
    if (next.value.type === "evaluation") history.push(toHistoryEntry(next.value));
    yield next.value;
  }
  const result = await finishRun(input, options, next.value);
  if (options.constraint !== null && endsHeld(options.solve)) yield { type: "solve", step: result.steps };
  const turns = keepNetwork(fit, plan, { options, result, startParameters }, backend, hooks.onProgress);
  const kept = yield* tellTurns(turns, result.steps);
  return { network, finished: { options, result, history, ...kept } };
}

/**
 * What training is told of. A group that the model may not see is held by the solve, at a price that it weighs, or left
 * alone; were training to press for it too, a group left alone would still change the network.
 */
function whatIsTrained(
  { study }: NetworkFit,
  input: TrainingInput,
  options: TrainingOptions,
): [TrainingInput, TrainingOptions] {
  if (options.constraint === null || (options.solve ?? "none") === "none") return [input, options];
  const isTold = listTold(study);
  if (isTold.every((told) => told)) return [input, options];
  const pickTold = (rows: TrainingRows) => ({ ...rows, groups: rows.groups.filter((_, g) => isTold[g]) });
  const { training, validation } = input;
  const told = { ...input, training: pickTold(training), validation: validation && pickTold(validation) };
  return [told, isTold.includes(true) ? options : { ...options, constraint: null }];
}

/** Networks without such a parameter keep their own start. */
function setStart(network: Network, name: string, values: Float64Array | null): void {
  const parameter = network.parameters.find((one) => one.name === name);
  if (values !== null && parameter) network.backend.write(parameter.values, values);
}

function refuseResume(): InputError {
  return new InputError("X-Cal with its weight chosen on validation rows cannot be resumed", {
    code: "resume.candidates",
    hint: "give the weight (--lambda): such a run can be resumed",
  });
}
