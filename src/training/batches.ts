/** Which rows each batch of an epoch takes. */
import { createRandom, shuffle } from "../core/random.ts";

/** A random stream separate from those of splits, weights and multipliers. */
const BATCH_STREAM = 0x40000000;

/** The rows of each batch of an epoch: shuffled by seed and epoch; the last batch may be smaller. */
export function shuffleBatches(N: number, size: number, seed: number, epoch: number): Int32Array[] {
  const order = Int32Array.from({ length: N }, (_, row) => row);
  if (size < N) shuffle(order, createRandom(seed, BATCH_STREAM + epoch));
  const batches: Int32Array[] = [];
  for (let from = 0; from < N; from += size) batches.push(order.slice(from, from + size));
  return batches;
}
