/** Round numbers for a time axis, and the share of a grid's bins that lies before a time. */

/** 0, step, 2·step … up to the end, where the step is 1, 2 or 5 times a power of ten. */
export function chooseTicks(end: number, wanted: number): readonly number[] {
  if (!(end > 0)) return [0];
  const rough = end / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, k) => k * step);
}

/**
 * The bin 1…T that holds the time: the first whose upper edge is not below it. Times after the last edge are in bin T.
 */
export function binOfTime(edges: readonly number[], time: number): number {
  let low = 1;
  let high = edges.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time <= edges[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}
