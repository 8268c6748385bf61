import type { Notice } from "../data/checks/findings.ts";
import type { Encoder } from "../data/encode/encoder.ts";
import type { Group } from "../data/groups/groups.ts";
import type { PersonColumn } from "../data/outcomes/people.ts";
import type { OutcomeColumns } from "../data/outcomes/read-outcomes.ts";
import type { TimeGridKind } from "../data/outcomes/time-grid.ts";
import type { CoxPredictor } from "../models/cox/baseline.ts";
import type { CoxUncertainty } from "../models/cox/curve-errors.ts";
import type { NetworkSpec } from "../models/networks/list.ts";
import type { ParameterValues } from "../models/networks/parameters.ts";
import type { LayerUncertainty } from "../models/uncertainty/layer-uncertainty.ts";
import type { PackedSplit, SetSizes } from "../study/split.ts";
import type { Method } from "./choices.ts";
import type { TrainingOptions } from "./options.ts";
import type { SolveReport } from "./solve/hold.ts";
import type { GroupVerdict } from "./solve/verdict.ts";
import type { EvaluationEvent, TrainedMember } from "./trainer.ts";

/** One evaluation of the run that made a model. */
export interface ModelHistoryEntry {
  readonly step: number;
  readonly loss: number;
  readonly concordance: number | null;
  /** One per group, in the order of the model's verdict. */
  readonly distances?: readonly number[]; // [G]
  readonly multipliers?: readonly number[]; // [G]
}

/** What the model keeps of an evaluation. */
export function toHistoryEntry({ step, evaluation, groupState }: EvaluationEvent): ModelHistoryEntry {
  const { loss, concordance } = evaluation;
  return {
    step,
    loss,
    concordance,
    ...(groupState && { distances: groupState.distances, multipliers: groupState.multipliers }),
  };
}

/**
 * Where a model comes from, so that someone else can make it again. No timestamps: the same run gives the same bytes.
 */
export interface Provenance {
  /** Version of the package that trained it. */
  readonly version: string;
  /** Null for methods that need none, such as Cox. */
  readonly backend: {
    readonly name: string;
    readonly simd: "plain" | "relaxed" | null;
    /** The graphics device and its driver, where one computed. */
    readonly adapter?: string;
    /** Only in files of version 0.1.0. It does not affect the numbers: they are the same for any number of threads. */
    readonly threads?: number;
  } | null;
  /** Null when the table did not come from a file. */
  readonly table: {
    readonly name: string;
    readonly rows: number;
    /** Hash of the file's bytes as stored on disk, in hexadecimal; of several files, that of the lines of sha256sum. */
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

/** What bands are made from: the factor of a held layer's information, or what Cox's curves need beside it. */
export type CurveUncertainty = LayerUncertainty | CoxUncertainty;

/** What a prediction of a model means that learnt from start-stop rows, whose features change with time. */
export const STAYS_AS_IT_IS =
  "the model learnt from rows whose features change with time: a prediction is what follows if these features stay " +
  "as they are";

/** Whether a model learnt from start-stop rows. */
export function isStartStop({ columns }: Pick<Model, "columns">): boolean {
  return columns.start !== undefined;
}

/** A complete trained model. */
export interface Model {
  readonly method: Method;
  readonly columns: OutcomeColumns & PersonColumn;
  /** The names of competing causes, in the order of its curves; absent where there is one kind of event. */
  readonly causes?: readonly string[];
  /** Encodes the table's features, followed by the columns that give membership of the input groups. */
  readonly encoder: Encoder;
  /** Groups whose membership the network takes as inputs. */
  readonly inputGroups: readonly Group[];
  readonly grid: {
    readonly kind: TimeGridKind;
    readonly T: number;
    readonly edges: readonly number[];
    /**
     * The share of the rows that the grid was fitted to still at risk in each bin, by which one risk per person is
     * summed up; not in files older than version 3.
     */
    readonly atRisk?: readonly number[];
  };
  readonly groups: readonly Group[];
  /**
   * Which rows of which table trained it; absent in files older than version 3, whose split is drawn again from the
   * seed.
   */
  readonly split?: PackedSplit;
  readonly predictor: Predictor;
  /** What the rows leave uncertain of its curves; absent where it is not known, and in files older than version 5. */
  readonly uncertainty?: CurveUncertainty;
  readonly options: TrainingOptions | null;
  readonly training: {
    readonly seed: number;
    readonly backend: string;
    readonly rows: SetSizes;
    /** Present where the run was told which rows belong to which person. */
    readonly people?: SetSizes;
    /** Of all that is kept: the networks, and the layer that was solved. */
    readonly parameters: number;
    readonly steps: number;
    readonly bestStep: number;
    readonly history: readonly ModelHistoryEntry[];
    readonly verdict: readonly GroupVerdict[];
    /** How the output layer was solved; absent where it was not. */
    readonly solve?: SolveReport;
    readonly multipliers: {
      readonly start: readonly number[];
      readonly end: readonly number[];
      readonly fixedPenalty: boolean;
    } | null;
    readonly warnings: readonly string[];
    /** The warnings in parts, with their levels; files up to version 2 have only the sentences. */
    readonly notices?: readonly Notice[];
  };
  readonly provenance?: Provenance;
  /** Scores on the test rows, or any other JSON to store with the model. */
  readonly metrics?: object;
}

/** Some of an ensemble's runs, made by themselves. */
export interface EnsemblePart {
  /** The runs, each with its place in the ensemble, from 0. */
  readonly members: readonly (TrainedMember & { readonly place: number })[];
  /** The model of the ensemble's last run, from which the ensemble takes what is not the runs' own; null elsewhere. */
  readonly last: Model | null;
}

/** The number of runs whose curves are averaged. */
export function countMembers({ predictor }: Pick<Model, "predictor">): number {
  if (predictor.kind === "cox") return 1;
  const network = predictor.network.kind === "held" ? predictor.network.base : predictor.network;
  return network.kind === "mean" ? network.members.length : 1;
}

/** A Cox predictor in the form that its functions take. */
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
