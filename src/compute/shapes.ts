/**
 * The weights of each operation, by name, with their shapes. Everything that needs them derives from here: what
 * networks allocate, what model files must hold, what the kernels are told. Names are in the order of a kernel's
 * arguments.
 */
import { BackendError } from "../core/errors.ts";
import type { DeviceArray } from "./backend.ts";

/** Name → shape, row-major. */
export type WeightShapes<Name extends string> = Readonly<Record<Name, readonly number[]>>;
/** Name → the weights, or their gradient, in a backend's memory. */
export type Weights<Name extends string> = Readonly<Record<Name, DeviceArray>>;

export interface LstmShape {
  readonly D: number; // features
  readonly H: number; // hidden units
  readonly T: number; // time bins
  readonly K?: number; // outputs, one for each competing cause; 1 where it is absent
}

export type LstmWeightName = "input" | "recurrent" | "inputBias" | "recurrentBias" | "output" | "outputBias";
export type LstmWeights = Weights<LstmWeightName>;

/** Gates in the order i, f, g, o; two bias vectors as in PyTorch, each with its own gradient. */
export function lstmWeightShapes({
  D,
  H,
  K = 1,
}: Pick<LstmShape, "D" | "H" | "K">): WeightShapes<LstmWeightName> {
  return {
    input: [4 * H, D + 1], // the last column belongs to t/T
    recurrent: [4 * H, H],
    inputBias: [4 * H],
    recurrentBias: [4 * H],
    output: ofCauses(K, [H]),
    outputBias: [K],
  };
}

export interface DenseShape {
  readonly inputs: number;
  readonly outputs: number;
  /** Applied to the sums; fused, because a separate pass over [N, outputs] would cost as much as the layer. */
  readonly activation: "none" | "tanh";
}

export type DenseWeightName = "weight" | "bias";
export type DenseWeights = Weights<DenseWeightName>;

export function denseWeightShapes({
  inputs,
  outputs,
}: Pick<DenseShape, "inputs" | "outputs">): WeightShapes<DenseWeightName> {
  return { weight: [outputs, inputs], bias: [outputs] };
}

/**
 * What groups add over time: Σ_g x_g·scale·a_g(t), a_g piecewise linear between knots; x_g are the last G columns of x.
 */
export interface GroupOffsetsShape {
  readonly G: number;
  /** Knots. */
  readonly K: number;
  /** The knot before each bin, and the bin's fraction of the way to the next one. */
  readonly knot: Int32Array; // [T]
  readonly share: Float64Array; // [T]
  readonly scale: number;
}

export interface AdditiveShape {
  readonly D: number;
  readonly T: number;
  /** Competing causes, each with weights of its own; 1 where it is absent. */
  readonly K?: number;
  /** Null where no column gives group membership. */
  readonly groups: GroupOffsetsShape | null;
}

export interface AdditiveWeights extends Weights<"baseline" | "skip"> {
  /** Present exactly when the shape has groups. */
  readonly groupOffsets?: DeviceArray;
}

export function additiveWeightShapes(
  { D, T, K = 1 }: Pick<AdditiveShape, "D" | "T" | "K">,
  groups: Pick<GroupOffsetsShape, "G" | "K"> | null,
): WeightShapes<"baseline" | "skip"> & { readonly groupOffsets?: readonly number[] } {
  return {
    baseline: ofCauses(K, [T]),
    skip: ofCauses(K, [D]),
    ...(groups && { groupOffsets: ofCauses(K, [groups.G, groups.K]) }),
  };
}

/** One cause has the shape as it is, several have it one after the other. */
export function ofCauses(K: number, shape: readonly number[]): readonly number[] {
  return K === 1 ? shape : [K, ...shape];
}

/** How many numbers an array of this shape holds. */
export function countNumbers(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Refuses sizes that are not whole numbers, by name. */
export function checkSizes(sizes: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(sizes)) {
    const least = name === "D" || name === "N" || name === "length" ? 0 : 1;
    if (!(Number.isInteger(value) && value >= least)) {
      throw new BackendError(`size is not a whole number of at least ${least}: ${name} = ${value}`, {
        code: "size.invalid",
      });
    }
  }
}
