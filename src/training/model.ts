/**
 * A trained model: everything a prediction needs and everything a reader may ask about how it came to be, as plain data; never
 * a row of the table. Its form outside memory is files/model/model-file.ts.
 */
import type { Encoder } from "../data/encode/encode.ts";
import type { Group } from "../data/groups/groups.ts";
import type { PersonColumn } from "../data/outcomes/people.ts";
import type { OutcomeColumns } from "../data/outcomes/read-outcomes.ts";
import type { TimeGridKind } from "../data/outcomes/time-grid.ts";
import type { CoxPredictor } from "../models/cox/baseline.ts";
import type { NetworkSpec, ParameterValues } from "../models/networks/create-network.ts";
import type { GroupVerdict } from "./finish.ts";
import type { TrainingOptions } from "./options.ts";
import type { EvaluationEvent } from "./trainer.ts";

/** What is fitted. */
export type Method = "graduate" | "drsa" | "xcal" | "rps" | "nll" | "cox";

/** One evaluation of the run that made a model. */
export interface ModelHistoryEntry {
  readonly step: number;
  readonly loss: number;
  readonly concordance: number | null;
  /** Of each group, in the order of the model's verdict. */
  readonly distances?: readonly number[]; // [G]
  readonly multipliers?: readonly number[]; // [G]
}

/** What the model remembers of an evaluation. */
export function toHistoryEntry({ step, evaluation, standing }: EvaluationEvent): ModelHistoryEntry {
  const { loss, concordance } = evaluation;
  return {
    step,
    loss,
    concordance,
    ...(standing && { distances: standing.distances, multipliers: standing.multipliers }),
  };
}

/** Where a model comes from, so that someone else can make it again. No clock: the same run gives the same bytes. */
export interface Provenance {
  /** Version of the package that trained it. */
  readonly version: string;
  /** Null for what needs none, such as Cox. */
  readonly backend: {
    readonly name: string;
    readonly simd: "plain" | "relaxed" | null;
    /** In files of version 0.1.0. It says nothing about the numbers: any number of threads gives the same. */
    readonly threads?: number;
  } | null;
  /** Null when the table did not come from a file. */
  readonly table: {
    readonly name: string;
    readonly rows: number;
    /** Of the file's bytes as they lie on disk, in hexadecimal. */
    readonly sha256: string;
  } | null;
}

/** What turns features into curves: a network's weights, or a Cox model. */
export type Predictor =
  | { readonly kind: "network"; readonly network: NetworkSpec; readonly parameters: ParameterValues }
  | {
      readonly kind: "cox";
      readonly D: number;
      readonly coefficients: readonly number[];
      readonly means: readonly number[];
      readonly time: readonly number[];
      readonly cumulativeHazardAtMeans: readonly number[];
    };

/** A trained model, complete. */
export interface Model {
  readonly method: Method;
  readonly columns: OutcomeColumns & PersonColumn;
  /** Of the table's features and, after them, of the columns that say who is in an input group. */
  readonly encoder: Encoder;
  /** Groups whose membership the network takes as inputs. */
  readonly inputGroups: readonly Group[];
  readonly grid: { readonly kind: TimeGridKind; readonly T: number; readonly edges: readonly number[] };
  readonly groups: readonly Group[];
  readonly predictor: Predictor;
  readonly options: TrainingOptions | null;
  readonly training: {
    readonly seed: number;
    readonly backend: string;
    readonly rows: { readonly train: number; readonly valid: number; readonly test: number };
    /** Where the run was told whose rows are whose. */
    readonly people?: { readonly train: number; readonly valid: number; readonly test: number };
    readonly parameters: number;
    readonly steps: number;
    readonly bestStep: number;
    readonly history: readonly ModelHistoryEntry[];
    readonly verdict: readonly GroupVerdict[];
    readonly multipliers: {
      readonly start: readonly number[];
      readonly end: readonly number[];
      readonly fixedPenalty: boolean;
    } | null;
    readonly warnings: readonly string[];
  };
  readonly provenance?: Provenance;
  /** Scores on the test rows, or whatever else of JSON is to travel with the model. */
  readonly metrics?: object;
}

/** How many runs the curves are the mean of. */
export function countMembers({ predictor }: Pick<Model, "predictor">): number {
  if (predictor.kind === "cox" || predictor.network.kind !== "mean") return 1;
  return predictor.network.members.length;
}

/** A Cox predictor as its functions take it. */
export function coxPredictor(predictor: Extract<Predictor, { kind: "cox" }>): CoxPredictor {
  return {
    D: predictor.D,
    coefficients: Float64Array.from(predictor.coefficients),
    means: Float64Array.from(predictor.means),
    baseline: {
      time: Float64Array.from(predictor.time),
      cumulativeHazardAtMeans: Float64Array.from(predictor.cumulativeHazardAtMeans),
    },
  };
}
