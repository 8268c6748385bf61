/**
 * The groups of tied times in which each row of a Cox model is at risk, where that is not simply every group up to its
 * own: after a late entry, and, in the model of a subdistribution, after an event of another cause, when a row stays at
 * risk with a weight that falls as people are censored. A sum over those at risk in every group is
 * then a sum over ranges of groups, made without any subtraction: each row is added to the few nodes of a binary tree
 * that cover its range, and the nodes are added up on the way down.
 */
import { countAtMost } from "../../core/ascending.ts";
import type { CoxOrder } from "./rows.ts";

/** Rows that stay at risk after their time, with weight G(t−)/G(time−) at t. */
export interface Staying {
  /** 1 where the row stays. */
  readonly rows: ArrayLike<number>; // [N], in the order of the input
  /** G(t−), the probability to be uncensored before t. */
  readonly uncensored: (time: number) => number;
}

/** Where rows are at risk, in the order of the sorted rows. */
export interface CoxIntervals {
  /** The first group of its stratum in which a row is at risk. */
  readonly first: Int32Array; // [N]
  /** The time after which it is; −Infinity for rows that are there from the start. */
  readonly from: Float64Array; // [N]
  /** The group of its own time. */
  readonly own: Int32Array; // [N]
  /** Rows that stay on, and G(t−) at the time of each group. */
  readonly staying: { readonly rows: Uint8Array; readonly uncensored: Float64Array } | null;
}

/** Finds the groups of each row. */
export function placeIntervals(
  { order, times, start, firstGroup }: CoxOrder,
  entry: Float64Array | undefined,
  staying: Staying | undefined,
): CoxIntervals {
  const N = order.length;
  const first = new Int32Array(N);
  const own = new Int32Array(N);
  const from = new Float64Array(N).fill(Number.NEGATIVE_INFINITY);
  for (let s = 0; s + 1 < firstGroup.length; s++) {
    const within = times.subarray(firstGroup[s], firstGroup[s + 1]);
    for (let k = firstGroup[s]; k < firstGroup[s + 1]; k++)
      for (let i = start[k]; i < start[k + 1]; i++) {
        own[i] = k;
        if (entry !== undefined) from[i] = entry[order[i]];
        first[i] = firstGroup[s] + countAtMost(within, from[i]);
      }
  }
  return {
    first,
    from,
    own,
    staying:
      staying === undefined
        ? null
        : {
            rows: Uint8Array.from(order, (row) => staying.rows[row]),
            uncensored: Float64Array.from(times, staying.uncensored),
          },
  };
}

/** Sums of vectors over ranges of K groups. */
export function createRangeSums(K: number, D: number) {
  const nodes = new Float64Array(2 * K * D);
  const addTo = (node: number, factor: number, x: Float64Array, at: number) => {
    for (let j = 0, to = node * D; j < D; j++, to++) nodes[to] += factor * x[at + j];
  };
  return {
    /** Adds factor × x[at …] to the groups first … end − 1. */
    add(first: number, end: number, factor: number, x: Float64Array, at: number): void {
      for (let low = first + K, high = end + K; low < high; low >>= 1, high >>= 1) {
        if (low & 1) addTo(low++, factor, x, at);
        if (high & 1) addTo(--high, factor, x, at);
      }
    },
    /** The sums of all groups, once everything is added. */
    collect(): Float64Array {
      for (let node = 1; node < K; node++) {
        addTo(2 * node, 1, nodes, node * D);
        addTo(2 * node + 1, 1, nodes, node * D);
      }
      return nodes.subarray(K * D);
    },
  };
}
