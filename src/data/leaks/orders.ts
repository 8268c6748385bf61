/**
 * How well a column's values put times in order. There are two measures for rows given by increasing time: whether no
 * two rows contradict each other, with the chance of that; and Spearman's rank correlation (ties at their mean rank).
 * The first is exact and does not depend on unit, rounding or transform; the second survives a little noise.
 */
import { logGamma } from "../../core/distributions.ts";

export interface ComparedOrder {
  /** The values never fall while the times rise, or never rise; equal values or times contradict nothing. */
  readonly inOrder: boolean;
  /**
   * −log of the chance of that order: n! over the orders left open by ties, where rows connected through a common value
   * or a common time form one block, and both directions count. 0 where the order is not kept.
   */
  readonly evidence: number;
}

/** `rows` by increasing time. */
export function compareOrder(values: Float64Array, time: Float64Array, rows: Int32Array): ComparedOrder {
  const rising = compareRising(values, time, rows, 1);
  const found = rising.inOrder ? rising : compareRising(values, time, rows, -1);
  return found.inOrder ? found : { inOrder: false, evidence: 0 };
}

function compareRising(
  values: Float64Array,
  time: Float64Array,
  rows: Int32Array,
  sign: 1 | -1,
): ComparedOrder {
  let highest = Number.NEGATIVE_INFINITY;
  let block = 0;
  let evidence = logGamma(rows.length + 1) - Math.LN2;
  for (let i = 0; i < rows.length; ) {
    const now = time[rows[i]];
    const from = i;
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (; i < rows.length && time[rows[i]] === now; i++) {
      const value = sign * values[rows[i]];
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (low < highest) return { inOrder: false, evidence: 0 };
    if (low > highest) {
      evidence -= logGamma(block + 1);
      block = 0;
    }
    block += i - from;
    highest = high;
  }
  return { inOrder: true, evidence: evidence - logGamma(block + 1) };
}

/** Spearman's rank correlation over the given rows; 0 where one side is constant. */
export function rankCorrelation(a: Float64Array, b: Float64Array, rows: Int32Array): number {
  const ranksA = meanRanks(a, rows);
  const ranksB = meanRanks(b, rows);
  const middle = (rows.length + 1) / 2;
  let ab = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < rows.length; i++) {
    const x = ranksA[i] - middle;
    const y = ranksB[i] - middle;
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa > 0 && bb > 0 ? ab / Math.sqrt(aa * bb) : 0;
}

/** Ranks 1…n of the values of the rows, in the order of the rows; ties at their mean. */
export function meanRanks(values: Float64Array, rows: Int32Array): Float64Array {
  const order = Int32Array.from(rows.keys()).sort((a, b) => values[rows[a]] - values[rows[b]]);
  const ranks = new Float64Array(rows.length);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to < order.length && values[rows[order[to]]] === values[rows[order[from]]]) to++;
    for (let i = from; i < to; i++) ranks[order[i]] = (from + 1 + to) / 2;
    from = to;
  }
  return ranks;
}

export interface ComparedIntervals {
  /** The codes that occur, by their times. */
  readonly codes: Int32Array;
  /** −log of the chance that so many rows fall into intervals that do not overlap; 0 where some do. */
  readonly evidence: number;
}

/** Do the times of each code lie in an interval of their own? Codes that touch at a common time are one block. */
export function compareIntervals(
  codes: Int32Array,
  K: number,
  time: Float64Array,
  rows: Int32Array,
): ComparedIntervals {
  const low = new Float64Array(K).fill(Number.POSITIVE_INFINITY);
  const high = new Float64Array(K).fill(Number.NEGATIVE_INFINITY);
  const counts = new Int32Array(K);
  for (const row of rows) {
    const code = codes[row];
    counts[code]++;
    low[code] = Math.min(low[code], time[row]);
    high[code] = Math.max(high[code], time[row]);
  }
  const used = Int32Array.from(counts.keys()).filter((code) => counts[code] > 0);
  used.sort((a, b) => low[a] - low[b] || high[a] - high[b]);
  let evidence = logGamma(rows.length + 1) - logGamma(used.length + 1); // any order of the codes would do
  let block = 0;
  for (let i = 0; i < used.length; i++) {
    const gap = i === 0 ? 1 : low[used[i]] - high[used[i - 1]];
    if (gap < 0) return { codes: used, evidence: 0 };
    if (gap > 0) {
      evidence -= logGamma(block + 1);
      block = 0;
    }
    block += counts[used[i]];
  }
  return { codes: used, evidence: evidence - logGamma(block + 1) };
}
