/**
 * Values in ascending order: the distinct values of a sorted array, how many lie below a limit, and times that differ
 * only by rounding. Arrays are sorted by the typed arrays' own sort, which needs no comparator and puts NaN last.
 */

/** The distinct values of a sorted array, moved to its front; −0 and 0 are one value. */
export function keepDistinct(sorted: Float64Array): Float64Array {
  let distinct = 0;
  for (let i = 0; i < sorted.length; i++) {
    if (i === 0 || sorted[i] !== sorted[distinct - 1]) sorted[distinct++] = sorted[i];
  }
  return sorted.subarray(0, distinct);
}

/** How many of the ascending values are < limit: the rank of the limit where it is one of them. */
export function countBelow(ascending: ArrayLike<number>, limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many of the ascending values are ≤ limit. */
export function countAtMost(ascending: ArrayLike<number>, limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** R's tolerance, the square root of the machine's epsilon: 2⁻²⁶. */
export const TIED_TIMES = 1.4901161193847656e-8;

/**
 * The times that stand for the ascending distinct ones; a time belongs to the last of them that is not above it. This
 * is the rule of R's survival::aeqSurv (its `timefix = TRUE`): a time within TIED_TIMES of the one before it, in the
 * table's unit or relative to the mean of the distinct times, is tied with it, and the first of such a run stands for
 * all. So 0.3 and 0.1 + 0.2 are one time.
 */
export function joinNearTimes(ascending: Float64Array): Float64Array {
  let finite = ascending.length;
  while (finite > 0 && ascending[finite - 1] === Number.POSITIVE_INFINITY) finite--;
  let sum = 0;
  for (let k = 0; k < finite; k++) sum += Math.abs(ascending[k]);
  const mean = sum / finite;
  const isTied = (k: number) => {
    const gap = ascending[k] - ascending[k - 1];
    return k < finite && (gap <= TIED_TIMES || gap / mean <= TIED_TIMES);
  };
  let first = 1;
  while (first < finite && !isTied(first)) first++;
  if (first >= finite) return ascending;
  return ascending.filter((_, k) => k === 0 || !isTied(k));
}

/**
 * Replaces every row's time by the one that stands for it; returns the same array where no two are tied by rounding.
 */
export function joinTimes(time: Float64Array): Float64Array {
  const ascending = keepDistinct(time.slice().sort());
  const joined = joinNearTimes(ascending);
  if (joined === ascending) return time;
  return time.map((value) => joined[countAtMost(joined, value) - 1]);
}
