/**
 * What a tape (the activations of a forward pass, kept for the backward pass) was made from, and whether it still holds: the same x
 * at the same place, the same shape, and every value of x and of the weights unchanged. Comparing them all costs a
 * thousandth of the pass that a wrong answer would spoil.
 */
import type { Floats, LstmShape, LstmWeights } from "../backend.ts";

export interface TapeKey {
  readonly shape: LstmShape;
  readonly N: number;
  /** Of x. */
  readonly address: number;
}

export interface Tape extends TapeKey {
  readonly tiles: number;
  /** Copies of x and the weights. */
  readonly values: readonly Float32Array[];
}

/** The parameters in the order of a job's words. */
export function listWeights(weights: LstmWeights): readonly Floats[] {
  const { input, recurrent, inputBias, recurrentBias, output, outputBias } = weights;
  return [input, recurrent, inputBias, recurrentBias, output, outputBias];
}

export function lengthsOfWeights({ D, H }: LstmShape): readonly number[] {
  return [4 * H * (D + 1), 4 * H * H, 4 * H, 4 * H, H, 1];
}

/** The same array in the same shape, of however many rows: what is differentiated in batches ends with a smaller one. */
export function isSamePlace(a: TapeKey | null, b: TapeKey): boolean {
  return (
    a !== null &&
    a.address === b.address &&
    a.shape.D === b.shape.D &&
    a.shape.H === b.shape.H &&
    a.shape.T === b.shape.T
  );
}

export function describeTape(key: TapeKey, tiles: number, weights: LstmWeights, x: Floats): Tape {
  const lengths = lengthsOfWeights(key.shape);
  const values = [
    new Float32Array(x.subarray(0, key.N * key.shape.D)),
    ...listWeights(weights).map((array, k) => new Float32Array(array.subarray(0, lengths[k]))),
  ];
  return { ...key, tiles, values };
}

/** A NaN differs from itself: then the tape is made again, to the same effect. */
function isEqual(kept: Float32Array, now: Floats): boolean {
  for (let i = 0; i < kept.length; i++) if (kept[i] !== now[i]) return false;
  return true;
}

export function isTapeOf(tape: Tape | null, key: TapeKey, weights: LstmWeights, x: Floats): tape is Tape {
  if (tape === null || tape.N !== key.N || !isSamePlace(tape, key)) return false;
  const now = [x, ...listWeights(weights)];
  return tape.values.every((kept, k) => isEqual(kept, now[k]));
}
