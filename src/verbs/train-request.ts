/** What a run of train can be told, where it takes up another, and what it says as it goes on. */
import type { Table } from "../data/table.ts";
import { requireNetwork } from "../models/networks/create-network.ts";
import type { NetworkName } from "../models/networks/list.ts";
import {
  type EncodingRequest,
  type PreparedStudy,
  prepareStudy,
  type StudyRequest,
} from "../study/prepare.ts";
import type { SetSizes } from "../study/split.ts";
import type { Method } from "../training/choices.ts";
import type { Model, ModelHistoryEntry, Provenance } from "../training/model.ts";
import type { ConstraintSpec, PresetName, TrainingOptions } from "../training/options.ts";
import type { OptimiseHooks, TrainingEvent } from "../training/trainer.ts";

/** How a study is trained on: method, network, constraint, options. */
export interface TrainingRequest extends Omit<EncodingRequest, "reference"> {
  /** What is fitted: "graduate" unless another is named. */
  readonly method?: Method;
  /** Where defaults come from: ours, or the paper's. */
  readonly preset?: PresetName;
  /** The constraint of every group, where it is to differ from the preset's. */
  readonly constraint?: Partial<ConstraintSpec>;
  /** The network: "anchored" unless another is named. */
  readonly network?: NetworkName;
  /** Hidden units; 12 unless given, 50 with the `paper` preset. */
  readonly hidden?: number;
  /** Seed of split, weights and batches; 1 unless given. */
  readonly seed?: number;
  /** Anything else of the trainer's options. */
  readonly options?: Partial<TrainingOptions>;
  /** Kept in the model as it is. */
  readonly provenance?: Provenance;
}

/** Everything a run can be told: columns, groups, rows, method, network, options. */
export interface TrainRequest extends Omit<StudyRequest, "reference">, TrainingRequest {}

/** Reads, checks, divides and fits a table for a request, once; `sha256` is the hash of the table's file. */
export function prepare(table: Table, request: TrainRequest, sha256: string | null = null): PreparedStudy {
  return prepareStudy(table, { ...request, ...designOf(request) }, sha256);
}

/** What the model of a request sees of the columns. */
export function designOf(request: TrainingRequest): Required<EncodingRequest> {
  const { method, preset = "default", network = "anchored", inputGroups, splines } = request;
  const isCox = method === "cox";
  // Cox is what others would fit; a network without offsets would only be told twice what it knows.
  const takesGroups = !isCox && requireNetwork(network).takesGroups;
  return {
    inputGroups: takesGroups ? (inputGroups ?? (preset === "paper" ? "none" : "auto")) : "none",
    reference: isCox ? "drop" : "keep",
    splines: splines === true && !isCox,
  };
}

/** Where a run takes up another that was interrupted. */
export interface TrainHooks extends OptimiseHooks {
  /** Of the run that is resumed, so that the model has all of it. */
  readonly history?: readonly ModelHistoryEntry[];
}

/** What a run starts with, once everything is prepared. */
export interface StartEvent {
  readonly type: "start";
  readonly rows: SetSizes;
  /** Where the run was told whose rows are whose. */
  readonly people?: SetSizes;
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

/**
 * The next of several runs begins: of candidates the one that does best on the validation rows is kept, of an ensemble
 * all are.
 */
export interface CandidateEvent {
  readonly type: "candidate";
  readonly what: string;
  /** Whether this run can be taken up again. */
  readonly leavesCheckpoints: boolean;
}

/** The last event of a run: what it returns, for those who follow it with `for await`, which drops that. */
export interface DoneEvent {
  readonly type: "done";
  readonly model: Model;
}

/** What a run says as it goes on. */
export type TrainEvent = StartEvent | CandidateEvent | TrainingEvent | DoneEvent;
