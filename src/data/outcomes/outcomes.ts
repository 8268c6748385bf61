/**
 * What was observed of each person: a time and whether it ended in the event (1) or in censoring (0); and the same on a
 * time grid of T bins, numbered 1…T. Everything downstream takes these two shapes.
 */

export interface Outcomes {
  readonly time: Float64Array; // [N]
  readonly event: Uint8Array; // [N], 1 = event, 0 = censored
}

/** Outcomes on a time grid. */
export interface BinnedOutcomes {
  readonly T: number;
  readonly bin: Int32Array; // [N], 1…T
  readonly event: Uint8Array; // [N]
}

/** The outcomes of some rows (0-based), in their order. */
export function pickOutcomes({ time, event }: Outcomes, rows: ArrayLike<number>): Outcomes {
  return {
    time: Float64Array.from(rows, (row) => time[row]),
    event: Uint8Array.from(rows, (row) => event[row]),
  };
}

/** Row multiplicities, e.g. of a bootstrap draw; absent means every row counts once. */
export type RowWeights = ArrayLike<number>;
