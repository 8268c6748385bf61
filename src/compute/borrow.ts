/**
 * Memory for one piece of work: whatever is allocated through the borrowed backend goes back at once when the work is over. So a
 * backend that lives long trains and predicts as often as it is asked, in the memory of the largest of these pieces.
 */
import type { Backend, Floats } from "./backend.ts";

export interface Borrowed {
  /** Computes as the one it was borrowed from, and closes it. */
  readonly backend: Backend;
  /** After this nothing may read or write what was allocated. */
  giveBack(): void;
}

export function borrow(lender: Backend): Borrowed {
  const taken = new Set<Floats>();
  return {
    backend: {
      ...lender,
      allocate(length) {
        const array = lender.allocate(length);
        taken.add(array);
        return array;
      },
      release(array) {
        taken.delete(array);
        lender.release(array);
      },
    },
    giveBack() {
      for (const array of taken) lender.release(array);
      taken.clear();
    },
  };
}
