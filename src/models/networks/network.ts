/**
 * A network maps features x [N,D] to logits [N,K,T] and takes dLogits back to its parameters; K is 1, or the number of
 * competing causes, with hazards h_k = e^{z_k} / (1 + Σ_j e^{z_j}). That interface is all that objectives, constraints
 * and the trainer know of it. A kind of network is a `NetworkDefinition`: how a file describes one, the parameters that
 * follow from the description, and how one is made. list.ts has them all.
 */
import type * as z from "zod";
import type { Backend, DeviceArray } from "../../compute/backend.ts";
import type { NetworkSpec } from "./list.ts";

/** Names and shapes, known without building the network. */
export interface ParameterShape {
  /** As in the model file, e.g. "lstm.recurrent". */
  readonly name: string;
  readonly shape: readonly number[];
  /** Whether weight decay applies; biases and baseline logits are exempt. */
  readonly decays: boolean;
}

/** One array of weights with its gradient, in the backend's memory. */
export interface Parameter extends ParameterShape {
  readonly values: DeviceArray;
  readonly gradient: DeviceArray;
}

/** What a forward pass keeps for its backward pass: made by the network, filled by `forward`, used by `backward`. */
export interface Activations {
  /** The number of rows of the pass that filled it last; 0 before the first. */
  readonly rows: number;
}

/** Anything that maps features to logits [N,K,T] and takes their gradient back. */
export interface Network<Kept extends Activations = Activations> {
  readonly kind: NetworkSpec["kind"];
  readonly D: number;
  readonly T: number;
  /** Competing causes: curves of logits of a row; 1 where there are none. */
  readonly K: number;
  /** The backend it computes on and that holds its parameters. */
  readonly backend: Backend;
  readonly parameters: readonly Parameter[];
  /** Room for what one forward pass keeps; reused by every pass that gets it. */
  createActivations(): Kept;
  /** Writes the logits of the N rows; stores what the backward pass needs in `keep`, unless that is null. */
  forward(x: DeviceArray, N: number, logits: DeviceArray, keep: Kept | null): Promise<void>;
  /**
   * Adds to every parameter's gradient for the pass that filled `kept`: x and parameters must not have changed since.
   */
  backward(kept: Kept, dLogits: DeviceArray): Promise<void>;
}

/** What every description of a network has. */
export interface SpecSizes {
  /** Columns of x. */
  readonly D: number;
  /** Time bins. */
  readonly T: number;
  /** Competing causes, 2 to 255; absent where there is one event. */
  readonly causes?: number;
}

/** What a run knows when it chooses a network. */
export interface NetworkChoice extends SpecSizes {
  /** How many of the D columns (the last ones) give group membership. */
  readonly groups: number;
  /** Hidden units requested by a person or by the preset; undefined leaves it to the network. */
  readonly hidden: number | undefined;
  /** Whether a person requested them. */
  readonly hiddenIsGiven: boolean;
  /** The training rows' hazard in each bin, cause by cause. */
  readonly baselineHazard: readonly number[]; // [K,T]
}

export interface NetworkDefinition<Spec extends SpecSizes & { readonly kind: string }> {
  /** A short description, for lists of choices. */
  readonly words: string;
  readonly kind: Spec["kind"];
  /** The schema of the description in a file. */
  readonly schema: z.ZodType<Spec>;
  /** Whether it has an offset for each group and so needs the columns of group membership. */
  readonly takesGroups: boolean;
  /** Whether it starts at random, far from any hazard, and needs longer training. */
  readonly startsAtRandom: boolean;
  /** The description of the network for a run's choice. */
  describe(choice: NetworkChoice): Spec;
  /** In the network's own order. */
  parameters(spec: Spec): readonly ParameterShape[];
  /** The same description, seed and precision give the same parameters. */
  create(backend: Backend, spec: Spec, seed: number): Network;
}
