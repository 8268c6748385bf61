/**
 * A network maps features x [N,D] to logits [N,T] and takes dLogits back to its parameters. That waist is all that
 * objectives, constraints and the trainer know of it.
 */
import type { Floats } from "../../compute/backend.ts";

/** One array of weights with its gradient. */
export interface Parameter {
  /** As in the model file, e.g. "lstm.recurrent". */
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: Floats;
  readonly gradient: Floats;
  /** Whether weight decay applies; biases and baseline logits are exempt. */
  readonly decays: boolean;
}

/** Anything that maps features to logits [N,T] and takes their gradient back. */
export interface Network {
  readonly kind: "drsa" | "anchored" | "mlp" | "linear" | "mean";
  readonly D: number;
  readonly T: number;
  readonly parameters: readonly Parameter[];
  /** Writes the logits of the N rows. */
  forward(x: Floats, N: number, logits: Floats): Promise<void>;
  /** Adds to every parameter's gradient; x and N as in the forward pass whose dLogits these are. */
  backward(x: Floats, N: number, dLogits: Floats): Promise<void>;
}
