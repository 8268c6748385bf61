/** What a run of train can be told, where it takes up another, and what it says as it goes on. */

import type { RowIndependence } from "../data/checks/repeated-people.ts";
import type { Group, GroupsFile } from "../data/groups/groups.ts";
import type { OutcomeColumns } from "../data/outcomes/read-outcomes.ts";
import type { Split } from "../data/outcomes/split.ts";
import type { SingleNetworkSpec } from "../models/networks/create-network.ts";
import type { Method, Model, ModelHistoryEntry, Provenance } from "../training/model.ts";
import type { ConstraintSpec, PresetName, TrainingOptions } from "../training/options.ts";
import type { OptimiseHooks, TrainingEvent } from "../training/trainer.ts";

/** Everything a run can be told: columns, groups, method, network, options. */
export interface TrainRequest extends OutcomeColumns, RowIndependence {
  /** What is fitted: "graduate" unless another is named. */
  readonly method?: Method;
  /** Where defaults come from: ours, or the paper's. */
  readonly preset?: PresetName;
  /** The columns to learn from; all but ids, constants and leaks unless given. */
  readonly features?: readonly string[];
  /** Columns not to learn from. */
  readonly drop?: readonly string[];
  /** Columns to learn from although they give the outcome away. */
  readonly allowLeak?: readonly string[];
  /** The groups whose curves are held to what is observed. */
  readonly groups?: readonly Group[];
  /** Groups and the automatic rule, as `parseGroupsFile` reads them. */
  readonly groupsFile?: GroupsFile;
  /** How many groups of values and bands of the features to add, as far as there are so many (data/groups/automatic-groups.ts). */
  readonly autoGroups?: number;
  /** The constraint of every group, where it is to differ from the preset's. */
  readonly constraint?: Partial<ConstraintSpec>;
  /**
   * Groups whose membership the network takes as inputs. "auto", the `default` preset's: the groups of the run whose columns are
   * features themselves; "none", the `paper` preset's.
   */
  readonly inputGroups?: readonly Group[] | "auto" | "none";
  /** Give networks the splines of numbers too, so that their effects may bend from the start. */
  readonly splines?: boolean;
  /** The network: "anchored" unless another is named. */
  readonly network?: SingleNetworkSpec["kind"];
  /** Hidden units; 12 unless given, 50 with the `paper` preset. */
  readonly hidden?: number;
  /** Time bins; 102 unless given. */
  readonly bins?: number;
  /** The end of the last bin; the largest training time unless given. */
  readonly horizon?: number;
  /** Which rows train, validate and test; by `fractions` and `seed` unless given. */
  readonly split?: Split;
  /** Rows that encoder, time grid and groups are fitted to; the training rows unless several runs are to share them. */
  readonly fitRows?: Int32Array;
  /** Shares of training, validation and test rows; 0.6, 0.2 and 0.2 unless given. */
  readonly fractions?: readonly [number, number, number];
  /** Seed of split, weights and batches; 1 unless given. */
  readonly seed?: number;
  /** Anything else of the trainer's options. */
  readonly options?: Partial<TrainingOptions>;
  /** Kept in the model as it is. */
  readonly provenance?: Provenance;
}

/** Where a run takes up another that was interrupted. */
export interface TrainHooks extends OptimiseHooks {
  /** Of the run that is resumed, so that the model has all of it. */
  readonly history?: readonly ModelHistoryEntry[];
}

/** What a run starts with, once everything is prepared. */
export interface StartEvent {
  readonly type: "start";
  readonly rows: { readonly train: number; readonly valid: number; readonly test: number };
  /** Where the run was told whose rows are whose. */
  readonly people?: { readonly train: number; readonly valid: number; readonly test: number };
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

/** The next of several runs begins: of candidates the one that does best on the validation rows is kept, of an ensemble all are. */
export interface CandidateEvent {
  readonly type: "candidate";
  readonly what: string;
  /** Whether this run can be taken up again. */
  readonly leavesCheckpoints: boolean;
}

/** The last event of a run: what it returns, for those who follow it with `for await`, which drops what a generator returns. */
export interface DoneEvent {
  readonly type: "done";
  readonly model: Model;
}

/** What a run says as it goes on. */
export type TrainEvent = StartEvent | CandidateEvent | TrainingEvent | DoneEvent;
