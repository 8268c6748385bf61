/**
 * Float64 work over rows that a backend may do beside its networks, where the host shares its memory: curves, the
 * discrete likelihood, and sums of curves over groups. The forms in objectives/ are the truth and say what each
 * operation is; these take the same operations in the same order and give the same bits, on any number of threads. Only
 * the order of independent rows and bins is free. float64 and int32 arrays are backend arrays too: `allocate` counts
 * float32 numbers, so a float64 takes two of them. Not every row can be computed here: an operation that answers false
 * has met a logit beyond the table of exponentials, or a product that needs a logarithm on the way, and what it wrote
 * is not to be used.
 */
import type { DeviceArray } from "./backend.ts";

/** The rows of a pass. */
export interface RowPass {
  readonly N: number;
  readonly T: number;
  readonly logits: DeviceArray; // [N,T]
  /** The table of objectives/exponential.ts, float64. */
  readonly table: DeviceArray;
}

export interface CurvePass extends RowPass {
  readonly hazard: DeviceArray; // [N,T], float64
  readonly survival: DeviceArray; // [N,T], float64
}

export interface LikelihoodPass extends RowPass {
  /** The training row of each row of the pass, int32. */
  readonly rows: DeviceArray; // [N]
  /** Outcomes of all training rows, int32. */
  readonly bin: DeviceArray;
  readonly event: DeviceArray;
  /** Whether event rows have the tail term. */
  readonly tail: boolean;
  /** The factor of every row's gradient. */
  readonly share: number;
  readonly dLogits: DeviceArray; // [N,T]
  /**
   * For each row, float64: its loss but for log(1+Q), Q at its own bin, and with the tail term the sum of its positive
   * logits and Q at the last bin.
   */
  readonly values: DeviceArray; // [N,4]
}

/** People with K causes: a person's rows lie together, one for each cause. */
export interface CauseCurvePass extends CurvePass {
  readonly K: number; // logits, hazard and survival are [N,K,T]
}

/** Hazards of people with K causes, with what is known of all training rows. */
export interface CausePass {
  readonly N: number;
  readonly K: number;
  readonly T: number;
  readonly hazard: DeviceArray; // [N,K,T], float64
  /** The training row of each person, int32. */
  readonly rows: DeviceArray; // [N]
  /** Outcomes of all training rows: last bins int32, first ones int32 or null where all begin in bin 1. */
  readonly bin: DeviceArray;
  readonly firstBin: DeviceArray | null;
  readonly dLogits: DeviceArray; // [N,K,T]
}

export interface CauseLikelihoodPass extends CausePass {
  /** The cause of each training row's event, from 1, or 0, int32; and weights, float64, or null where all are 1. */
  readonly cause: DeviceArray;
  readonly weight: DeviceArray | null;
  /** The sum of the weights. */
  readonly total: number;
  /** For each person the product of which −log is the loss, float64. */
  readonly values: DeviceArray; // [N]
}

/** Rows in groups. */
export interface GroupPass {
  readonly N: number;
  readonly T: number;
  readonly hazard: DeviceArray; // [N,T], float64
  readonly survival: DeviceArray; // [N,T], float64
  /** The training row of each row of the pass, and the rows by combination, int32. */
  readonly rows: DeviceArray; // [N]
  readonly order: DeviceArray; // [N]
  /** The combination of each training row, where each combination's groups begin in the list of groups, that list. */
  readonly combinationOf: DeviceArray;
  readonly firstMember: DeviceArray;
  readonly members: DeviceArray;
}

export interface RowKernels {
  /** Hazards and survival of every row. */
  fillCurves(pass: CurvePass): Promise<boolean>;
  /** Overwrites dLogits with the gradient but for the tail term, and leaves the values of every row. */
  likelihood(pass: LikelihoodPass): Promise<boolean>;
  /** dLogits −= share · odds · h of the event rows; the odds are the third of their values. */
  likelihoodTail(pass: LikelihoodPass): Promise<void>;
  /** Hazards of every person and cause, and Π (1 − h) of each. */
  fillCauseCurves(pass: CauseCurvePass): Promise<boolean>;
  /** Hazards and 1 − F of every person and cause. */
  fillFreeCurves(pass: CauseCurvePass): Promise<boolean>;
  /** Overwrites dLogits with the gradient and leaves every person's product; false where one is too small. */
  causeLikelihood(pass: CauseLikelihoodPass): Promise<boolean>;
  /** Adds dL/dz to dLogits, given dL/du, float64 [N,K,T], which is 0 in all bins in which a person is not at risk. */
  backThroughConditional(pass: CausePass, dConditional: DeviceArray): Promise<void>;
  /** Adds dL/dz to dLogits, given dL/d(1 − F), float64 [N,K,T]. */
  backThroughFreeCurves(pass: CausePass, dFree: DeviceArray): Promise<void>;
  /** Adds to the groups' sums what the rows' survival changes in `terms`, or the survival itself where that is null. */
  replaceCurves(pass: GroupPass, terms: DeviceArray | null, sums: DeviceArray): void;
  /** Adds scale · dL/dz to dLogits; the slopes of the groups' means are multiplied by each group's share. */
  backThroughCurves(
    pass: GroupPass,
    slopes: DeviceArray, // [G,T], float64
    shares: DeviceArray, // [G], float64
    dLogits: DeviceArray, // [N,T]
    scale: number,
  ): void;
}
