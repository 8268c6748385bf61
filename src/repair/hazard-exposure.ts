/**
 * What each row was at risk of: its predicted cumulative hazard −Σ log(S(t)/S(t−1)) over the bins in which it was at
 * risk, by block of time. The bin of an event counts half, because log(1 − e^−x) = log x − x/2 + x²/24 − …; so does
 * that of an event of another cause, which ended the row within the bin. Where causes compete, each has the part of a
 * bin's hazard that its step of the incidence is of all steps.
 */
import { log } from "../core/elementary.ts";
import type { CauseCurves } from "../data/curves/cause-curves.ts";
import type { Curves } from "../data/curves/curves.ts";
import type { BinnedOutcomes } from "../data/outcomes/outcomes.ts";
import type { TimeBlock } from "../objectives/time-blocks.ts";

/** Curves are floored at this share of what they were at entry: nobody is left to have the hazards beyond it. */
export const SMALLEST_SURVIVAL = 1e-6;

/** How much each row was at risk of, and which block a bin is in. */
export interface Exposure {
  readonly B: number;
  readonly blockOf: Int32Array; // [T+1]
  readonly values: Float64Array; // [N,B]
}

/** `parts`: one cause's part of each bin's hazard, [N,T]; all of it unless given. */
export function measureExposure(
  { N, T, survival }: Curves,
  { bin, event, firstBin }: BinnedOutcomes,
  blocks: readonly TimeBlock[],
  parts?: Float64Array,
): Exposure {
  const B = blocks.length;
  const blockOf = findBlocks(blocks, T);
  const values = new Float64Array(N * B);
  for (let i = 0; i < N; i++) {
    const first = firstBin === undefined ? 1 : firstBin[i];
    let before = first === 1 ? 1 : survival[i * T + first - 2];
    const least = SMALLEST_SURVIVAL * before;
    for (let t = first; t <= bin[i] && before > least; t++) {
      const at = i * T + t - 1;
      const now = Math.max(Math.min(survival[at], before), least);
      const part = (t === bin[i] && event[i] === 1 ? 0.5 : 1) * (parts === undefined ? 1 : parts[at]);
      values[i * B + blockOf[t]] += part * log(before / now);
      before = now;
    }
  }
  return { B, blockOf, values };
}

/** The block of bins 1…T. */
export function findBlocks(blocks: readonly TimeBlock[], T: number): Int32Array {
  const blockOf = new Int32Array(T + 1);
  blocks.forEach(({ first, last }, b) => {
    blockOf.fill(b, first, last + 1);
  });
  return blockOf;
}

/** Fills the steps of a row's incidences in a bin (0-based), none below 0, and returns their sum. */
export function fillSteps(
  { K, T, incidence }: CauseCurves,
  row: number,
  t: number,
  reached: Float64Array, // [K], the highest incidence so far; raised here
  steps: Float64Array, // [K]
): number {
  let total = 0;
  for (let k = 0; k < K; k++) {
    const F = incidence[(row * K + k) * T + t];
    steps[k] = Math.max(0, F - reached[k]);
    reached[k] += steps[k];
    total += steps[k];
  }
  return total;
}

/** Each cause's part of the hazard of every bin, [N,T] each; 0 where nothing happens. */
export function divideHazards(curves: CauseCurves): readonly Float64Array[] {
  const { N, K, T } = curves;
  const parts = Array.from({ length: K }, () => new Float64Array(N * T));
  const steps = new Float64Array(K);
  for (let i = 0; i < N; i++) {
    const reached = new Float64Array(K);
    for (let t = 0; t < T; t++) {
      const total = fillSteps(curves, i, t, reached, steps);
      if (total > 0) for (let k = 0; k < K; k++) parts[k][i * T + t] = steps[k] / total;
    }
  }
  return parts;
}
