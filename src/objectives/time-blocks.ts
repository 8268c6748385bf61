/**
 * Blocks of consecutive bins over which the at-risk constraint adds up events: with about equally many training events
 * in each, so that no block is all noise. A bin is never divided: where one bin holds more than a block's share, the
 * blocks it fills become one and there are fewer than asked for.
 */

import { InputError } from "../core/errors.ts";
import { type BinnedSingleCause, requireSingleCause } from "../data/outcomes/outcomes.ts";
import { tallyBins } from "../stats/kaplan-meier.ts";

/** Bins first…last, both included. */
export interface TimeBlock {
  readonly first: number;
  readonly last: number;
}

export const TIME_BLOCKS = 10;

/**
 * At most `count` blocks that cover 1…T; a block ends in the first bin by which its share of all events has occurred.
 */
export function equalEventBlocks(binned: BinnedSingleCause, count = TIME_BLOCKS): TimeBlock[] {
  requireSingleCause(binned, "a time block");
  if (!(Number.isInteger(count) && count >= 1)) {
    throw new InputError(`the number of time blocks is not a positive integer: ${count}`, {
      code: "option.invalid",
    });
  }
  const { T } = binned;
  const { events } = tallyBins(binned);
  const total = events.reduce((sum, e) => sum + e, 0);
  const blocks: TimeBlock[] = [];
  let first = 1;
  let seen = 0;
  let full = 0; // number of block shares of the events that have occurred
  for (let t = 1; t < T && seen < total; t++) {
    seen += events[t];
    // Multiplied before divided, so that exact shares end where they should.
    const fullNow = Math.floor((seen * count) / total);
    // Bins after the last event make no block of their own: the last block takes them.
    if (fullNow === full || seen === total) continue;
    full = fullNow;
    blocks.push({ first, last: t });
    first = t + 1;
  }
  blocks.push({ first, last: T });
  return blocks;
}

/** Throws unless the blocks are in order, apart, and within 1…T. */
export function checkBlocks(blocks: readonly TimeBlock[], T: number): void {
  let before = 0;
  for (const { first, last } of blocks) {
    if (first > before && first <= last && last <= T) {
      before = last;
      continue;
    }
    throw new InputError(`time block out of order or outside 1…${T}: ${first}…${last}`, {
      code: "option.invalid",
    });
  }
  if (blocks.length === 0) throw new InputError("no time blocks", { code: "option.invalid" });
}
