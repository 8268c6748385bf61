/**
 * A network maps features x [N,D] to logits [N,T] and takes dLogits back to its parameters. That waist is all that
 * objectives, constraints and the trainer know of it. A kind of network is a `NetworkDefinition`: what describes one in
 * a file, the parameters that follow from the description, and how one is made. list.ts has them all.
 */
import type { z } from "zod";
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

/** What a forward pass keeps for its backward pass: made by the network, filled by `forward`, taken by `backward`. */
export interface Activations {
  /** Of the pass that filled it last; 0 before the first. */
  readonly rows: number;
}

/** Anything that maps features to logits [N,T] and takes their gradient back. */
export interface Network<Kept extends Activations = Activations> {
  readonly kind: NetworkSpec["kind"];
  readonly D: number;
  readonly T: number;
  /** What it computes on, and where its parameters lie. */
  readonly backend: Backend;
  readonly parameters: readonly Parameter[];
  /** Room for what one forward pass keeps; used again by every pass that it is given to. */
  createActivations(): Kept;
  /** Writes the logits of the N rows; keeps what the backward pass needs, unless that is null. */
  forward(x: DeviceArray, N: number, logits: DeviceArray, keep: Kept | null): Promise<void>;
  /**
   * Adds to every parameter's gradient, of the pass that filled `kept`: x and parameters must still be as they were in
   * it.
   */
  backward(kept: Kept, dLogits: DeviceArray): Promise<void>;
}

/** What every description of a network has. */
export interface SpecSizes {
  /** Columns of x. */
  readonly D: number;
  /** Time bins. */
  readonly T: number;
}

/** What a run knows when it chooses a network. */
export interface NetworkChoice extends SpecSizes {
  /** How many of the D columns, the last ones, say who is in a group. */
  readonly groups: number;
  /** Hidden units asked for, by a person or by the preset; undefined leaves it to the network. */
  readonly hidden: number | undefined;
  /** Whether a person asked for them. */
  readonly hiddenIsGiven: boolean;
  /** The training rows' hazard of each bin. */
  readonly baselineHazard: readonly number[]; // [T]
}

export interface NetworkDefinition<Spec extends SpecSizes & { readonly kind: string }> {
  /** What it is, for lists of choices. */
  readonly words: string;
  readonly kind: Spec["kind"];
  /** Of the description as it stands in a file. */
  readonly schema: z.ZodType<Spec>;
  /** Whether it has an offset for each group, so that it wants columns that say who is in one. */
  readonly takesGroups: boolean;
  /** Whether it starts at random, far from any hazard, and needs longer training. */
  readonly startsAtRandom: boolean;
  /** The description of the network that a run asks for. */
  describe(choice: NetworkChoice): Spec;
  /** In the network's own order. */
  parameters(spec: Spec): readonly ParameterShape[];
  /** The same description, seed and precision give the same parameters. */
  create(backend: Backend, spec: Spec, seed: number): Network;
}
