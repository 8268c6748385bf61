/**
 * Values in ascending order: the distinct values of a sorted array, and how many lie below a limit. Arrays are sorted
 * by the typed arrays' own sort, which needs no comparator and puts NaN last.
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
