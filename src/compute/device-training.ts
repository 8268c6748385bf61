/**
 * What a step over all rows needs beside the networks' passes, on a device with memory of its own: the loss and the
 * groups' distances of logits with their gradient, the multipliers, and the optimiser's step. Nothing comes back to the
 * host until it is read: a run submits many steps, each of which keeps its numbers in a log, and reads that.
 *
 * It is plain numbers all through. What a distance or an objective is, objectives/ says; the kernels repeat its
 * formulas in float32, and tests hold them to it.
 */
import type { DeviceArray } from "./backend.ts";

export interface DeviceTraining {
  /** Whether a run over so many rows and bins fits; otherwise it goes through the host in parts. */
  fits(sizes: DeviceSizes): boolean;
  openLoss(settings: DeviceLossSettings): DeviceLoss;
  /** Moves the parameters and gradients together, so that one step takes them all; the handles stay as they are. */
  openOptimiser(parameters: readonly DeviceParameter[], settings: DeviceOptimiserSettings): DeviceOptimiser;
}

export interface DeviceSizes {
  readonly N: number;
  readonly D: number;
  readonly T: number;
  /** Competing causes: curves of logits of a row. */
  readonly K: number;
}

export type DeviceObjective =
  | { readonly kind: "likelihood"; readonly tail: boolean }
  | {
      readonly kind: "xcal";
      readonly tail: boolean;
      readonly lambda: number;
      /** Bins of predicted probability, and the steepness of their edges. */
      readonly bins: number;
      readonly gamma: number;
    }
  | { readonly kind: "rps" };

/** A group, and what its distance is measured against. */
export interface DeviceGroup {
  readonly members: number;
  /** Curves are compared on bins 1…bins. */
  readonly bins: number;
  readonly followedBlocks: number;
  /** Whether the distance has a value; it is 0 otherwise. */
  readonly measurable: boolean;
  /** Whether it has a multiplier and a gradient. */
  readonly constrained: boolean;
  readonly slack: number;
  /** Its Kaplan-Meier curve, variance and rows at risk at the ends of bins 1…T; observed events of each block. */
  readonly survival: ArrayLike<number>; // [T]
  readonly variance: ArrayLike<number>; // [T], NaN where it has none
  readonly atRisk: ArrayLike<number>; // [T]
  readonly observed: ArrayLike<number>; // [blocks]
}

/**
 * With K causes, groups are of N·K rows: row n·K + k is row n seen by cause k. Curves are then 1 − F_k, what is free of
 * the cause, and no gap is in standard errors of the mean curve itself.
 */
export interface DeviceGroups {
  /** Mean squared gap of curves, their largest gap in standard errors, or squared gaps of events over blocks. */
  readonly gap: "meanSquare" | "largest" | "blocks";
  /** For the largest gap: whether gaps are in standard errors of the mean curve itself, not of the group's variance. */
  readonly ownVariance: boolean;
  readonly groups: readonly DeviceGroup[];
  /** 1-based first and last bin of each block. */
  readonly blocks: readonly { readonly first: number; readonly last: number }[];
  /** Rows in the same groups, taken together: the combination of each row, and the groups of each combination. */
  readonly combinationOf: Int32Array; // [N·K]
  readonly groupsOf: readonly (readonly number[])[];
  /** Every row once, combination by combination. */
  readonly order: Int32Array; // [N·K]
  readonly dual:
    | { readonly form: "ascent"; readonly rate: number }
    | { readonly form: "augmented"; readonly penalty: number };
}

export interface DeviceLossSettings {
  readonly T: number;
  /** Competing causes; 1 where there is one kind of event. More take the likelihood without the tail term alone. */
  readonly K: number;
  /** The last bin at risk of each row, 1-based; and of which cause, from 1, the event in it is, 0 for none. */
  readonly bin: Int32Array; // [N]
  readonly event: ArrayLike<number>; // [N]
  /** The first bin at risk, beyond the last one for a row in no bin; and the weight of each row; 1 unless given. */
  readonly first?: Int32Array | undefined; // [N]
  readonly weight?: ArrayLike<number> | undefined; // [N]
  readonly objective: DeviceObjective;
  readonly groups: DeviceGroups | null;
  /** Entries of the log. */
  readonly entries: number;
}

/** What a step keeps in the log. */
export interface LossEntry {
  readonly loss: number;
  readonly distances: Float64Array; // [G]
  readonly multipliers: Float64Array; // [G]
}

export interface DeviceLoss {
  /** A forward pass writes the logits; the backward pass reads dLogits. */
  readonly logits: DeviceArray; // [N,K,T]
  readonly dLogits: DeviceArray; // [N,K,T]
  writeMultipliers(values: ArrayLike<number>): void;
  /** Loss and distances at the logits, kept as an entry of the log; with a dual step, the multipliers move first. */
  measure(entry: number, takesDualStep: boolean): void;
  /** dLogits of what was measured last. */
  differentiate(): void;
  /** Entries from `from` up to `to`. */
  readLog(from: number, to: number): Promise<LossEntry[]>;
  release(): void;
}

export interface DeviceParameter {
  readonly values: DeviceArray;
  readonly gradient: DeviceArray;
  readonly decays: boolean;
}

export interface DeviceOptimiserSettings {
  readonly kind: "sgd" | "adam" | "adamw";
  readonly momentum: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Largest norm of all gradients together; null does not clip. */
  readonly clip: number | null;
  /** Steps between two calls of `plan`, at most. */
  readonly entries: number;
  /** Sets of parameters that can be kept at a time. */
  readonly kept: number;
}

/** The numbers of one step. */
export interface StepRates {
  /** rate / (1 − β₁ᵏ), and √(1 − β₂ᵏ); the rate and 1 for plain descent. */
  readonly size: number;
  readonly root: number;
  /** Added to the gradient, and taken from the weights, for parameters that decay. */
  readonly inGradient: number;
  readonly shrink: number;
  /** Of the running mean of the weights. */
  readonly average: number;
}

/** Moments or an average, parameter by parameter. */
export type DeviceValues = readonly Float32Array[];

export interface DeviceOptimiser {
  /** The numbers of the next steps. */
  plan(steps: readonly StepRates[]): void;
  /** Moves every parameter along its gradient by the planned step of that number, and clears the gradients. */
  step(planned: number): void;
  /** Parameters and their running mean change places: a run is evaluated at the mean. */
  exchange(): void;
  /** Keeps the parameters as they are now, under a number below `kept`; and gives them back. */
  keep(number: number): void;
  readKept(number: number): Promise<DeviceValues>;
  read(what: "values" | "first" | "second" | "average"): Promise<DeviceValues>;
  write(what: "values" | "first" | "second" | "average", values: readonly ArrayLike<number>[]): void;
  release(): void;
}
