/**
 * The fields of a model's summary: what it is, on whom it was trained, its grid, and the effects of columns and groups
 * on the hazard, of any event and of each cause. What may not be known is `Measured`, with the reason in its place.
 */
import type { Measured } from "../../core/measured.ts";
import type { ColumnEncoding } from "../../data/encode/encoder.ts";
import type { SetSizes } from "../../study/split.ts";
import type { Model } from "../../training/model.ts";
import type { GroupVerdict } from "../../training/solve/verdict.ts";
import type { ContrastBasis } from "./contrasts.ts";

/** The ratio of cumulative hazards between two cells. */
export interface Contrast {
  readonly from: string;
  readonly to: string;
  readonly hazardRatio: Measured;
  readonly interval: Measured<{ readonly level: number; readonly lower: number; readonly upper: number }>;
}

/** What a column does to the hazard. */
export interface ColumnEffect {
  readonly name: string;
  readonly type: ColumnEncoding["type"];
  /** What the contrasts are between. */
  readonly basis: ContrastBasis;
  readonly contrasts: readonly Contrast[];
  /** The log of the ratio to the median at some quantiles, of a number with splines; else empty. */
  readonly curve: readonly {
    readonly quantile: number;
    readonly value: string;
    readonly logRatio: Measured;
  }[];
}

/** A group of the model. */
export interface GroupSummary {
  readonly name: string;
  readonly expression: string;
  /** Whether the network takes membership as an input. */
  readonly isInput: boolean;
  /** The ratio of cumulative hazards that membership alone gives, all columns typical; absent where it is no input. */
  readonly offset: Measured;
  /** What training said of it; null where it was not held. */
  readonly verdict: Pick<GroupVerdict, "n" | "events" | "told" | "status" | "price"> | null;
}

/** A model in numbers and words. */
export interface ModelSummary {
  readonly method: { readonly name: Model["method"]; readonly words: string };
  /** The network's kind and its meaning; null for a Cox model. */
  readonly network: { readonly kind: string; readonly words: string } | null;
  /** The number of runs whose mean the curves are. */
  readonly members: number;
  /** How the output layer was solved; null where it was not. */
  readonly held: {
    readonly solvedOn: string | null;
    readonly blocks: number;
    readonly chances: number;
  } | null;
  /** How numbers enter, in words. */
  readonly shapes: readonly string[];
  readonly parameters: number;
  readonly steps: number;
  readonly seed: number;
  /** Of the program that trained it. */
  readonly version: Measured<string>;
  readonly backend: string;
  readonly trainedOn: {
    readonly table: Measured<{ readonly name: string; readonly rows: number; readonly sha256: string }>;
    readonly rows: SetSizes;
    readonly people: Measured<SetSizes>;
    /** Of the rows that the model was held on. */
    readonly events: Measured;
  };
  readonly outcome: Model["columns"];
  readonly grid: { readonly kind: string; readonly T: number; readonly horizon: number };
  /** Of a model of several causes: of an event of any cause. */
  readonly effects: readonly ColumnEffect[];
  readonly groups: readonly GroupSummary[];
  /** The same of every cause's own hazard, in the model's order; null of a model of one kind of event. */
  readonly causes: readonly CauseSummary[] | null;
}

/** What columns and groups do to the hazard of one cause. */
export interface CauseSummary {
  readonly name: string;
  readonly effects: readonly ColumnEffect[];
  readonly groups: readonly GroupSummary[];
}
