/** The request of a training run, how to resume one, and the events it yields. */
import type { Table } from "../data/table.ts";
import { requireNetwork } from "../models/networks/create-network.ts";
import type { NetworkName } from "../models/networks/list.ts";
import type { EncodingRequest } from "../study/design.ts";
import {
  type PreparedStudy,
  type PrepareProgress,
  prepareStudy,
  type StudyRequest,
} from "../study/prepare.ts";
import type { SetSizes } from "../study/split.ts";
import type { Method } from "../training/choices.ts";
import type { FitProgress, SolveEvent, SolvingEvent } from "../training/fit-network.ts";
import type { Model, ModelHistoryEntry, Provenance } from "../training/model.ts";
import { type ConstraintSpec, PRESETS, type PresetName, type TrainingOptions } from "../training/options.ts";
import type { TargetRequest } from "../training/solve/curves/hold-targets.ts";
import type { OptimiseHooks, TrainingEvent } from "../training/trainer.ts";

/** How to train on a study: method, network, constraint, options. */
export interface TrainingRequest extends Omit<EncodingRequest, "reference">, Partial<TargetRequest> {
  /** What to fit: "graduate" unless another is named. */
  readonly method?: Method;
  /** Where the defaults come from: ours, or the paper's. */
  readonly preset?: PresetName;
  /** The constraint of every group, where it differs from the preset's. */
  readonly constraint?: Partial<ConstraintSpec>;
  /** The network: "anchored" unless another is named. */
  readonly network?: NetworkName;
  /** Hidden units; 12 unless given, 50 with the `paper` preset. */
  readonly hidden?: number;
  /** Seed of split, weights and batches; 1 unless given. */
  readonly seed?: number;
  /** Any other options of the trainer. */
  readonly options?: Partial<TrainingOptions>;
  /** Kept in the model unchanged. */
  readonly provenance?: Provenance;
}

/** The whole request: columns, groups, rows, method, network, options. */
export interface TrainRequest extends Omit<StudyRequest, "reference">, TrainingRequest {}

/** Reads, checks, divides and fits a table for a request, once; `sha256` is the hash of the table's file. */
export function prepare(
  table: Table,
  request: TrainRequest,
  sha256: string | null = null,
  onProgress?: PrepareProgress,
): PreparedStudy {
  return prepareStudy(table, { ...request, ...designOf(request) }, sha256, onProgress);
}

/** Whether a step takes all rows at once: the paper's does, unless told otherwise. */
export function takesAllRows({ method, preset = "default", options }: TrainingRequest): boolean {
  const { batch = PRESETS[preset].batch } = options ?? {};
  return method !== "cox" && batch === null;
}

/** What the model of a request sees of the columns. */
export function designOf(request: TrainingRequest): Required<EncodingRequest> {
  const { method, preset = "default", network = "anchored", inputGroups, splines, numbers } = request;
  const isCox = method === "cox";
  // Cox is what others would fit; a network without offsets would only learn the same facts twice.
  const takesGroups = !isCox && (requireNetwork(network).takesGroups || isHeld(request));
  // The prior of the additive start is what holds columns that the data choose.
  const decides = preset === "default" && requireNetwork(network).takesGroups;
  return {
    inputGroups: takesGroups ? (inputGroups ?? (preset === "paper" ? "none" : "auto")) : "none",
    reference: isCox ? "drop" : "keep",
    splines: isCox ? false : (splines ?? (decides ? "auto" : false)),
    numbers: isCox ? "raw" : (numbers ?? (decides ? "auto" : "raw")),
  };
}

/**
 * Whether the run ends in the solve, whose output layer takes the groups whatever the network does. A member of an
 * ensemble is mixed only, and its columns are those of the ensemble that is held.
 */
export function isHeld({ method = "graduate", preset = "default", options }: TrainingRequest): boolean {
  return method === "graduate" && (options?.solve ?? PRESETS[preset].solve) !== "none";
}

/** Where to resume an interrupted run. */
export interface TrainHooks extends OptimiseHooks {
  /** The history of the resumed run, so that the model has all of it. */
  readonly history?: readonly ModelHistoryEntry[];
  /** Told how far the phases are that yield no events. */
  readonly onProgress?: FitProgress;
}

/** The first event of a run, once everything is prepared. */
export interface StartEvent {
  readonly type: "start";
  readonly rows: SetSizes;
  /** Present where the run knows whose rows are whose. */
  readonly people?: SetSizes;
  readonly features: readonly string[];
  readonly D: number;
  readonly T: number;
  readonly groups: readonly { readonly name: string; readonly n: number; readonly events: number }[];
  readonly parameters: number;
  /** Number of updates to come; 0 for a model that is fitted at once. */
  readonly steps: number;
  readonly backend: string;
  readonly warnings: readonly string[];
}

/**
 * The next of several runs begins. Of candidates, the one that does best on the validation rows is kept; of an
 * ensemble, all are.
 */
export interface CandidateEvent {
  readonly type: "candidate";
  readonly what: string;
  /** Whether this run can be resumed. */
  readonly leavesCheckpoints: boolean;
}

/** The last event of a run, with its return value, which `for await` would drop. */
export interface DoneEvent {
  readonly type: "done";
  readonly model: Model;
}

/** The events of a run. */
export type TrainEvent = StartEvent | CandidateEvent | TrainingEvent | SolveEvent | SolvingEvent | DoneEvent;
