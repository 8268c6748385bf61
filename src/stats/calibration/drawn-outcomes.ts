/**
 * Outcomes as a perfect model would produce them: each row's event bin drawn from its own predicted curve, its
 * censoring kept or drawn. Event bin: P(T* = t) = S(t−1|x_i) − S(t|x_i), beyond the grid with probability S(T|x_i).
 * Censoring bin: a censored row keeps its own; a row with its event in bin t_i would have been censored in some bin ≥
 * t_i (within a bin events come before censorings, as everywhere here), so C* follows the group's reverse-ties
 * censoring curve given C* ≥ t_i; where that curve ends above 0, C* may never come. The event is observed if T* ≤ C*,
 * otherwise a censoring in min(C*, T). Every row has its own random stream: its uniform numbers are the same in every
 * group and subset. Rows of one person share a stream: how their outcomes depend on each other is unknown, and of all
 * dependences that leave each row its own curve, sharing the same numbers makes the counts of events vary most. Only
 * counts per bin are kept, never the drawn rows. Curves are assumed to be non-increasing.
 */
import { createRandom } from "../../core/random.ts";
import type { Curves } from "../../data/curves/curves.ts";
import { type BinnedRightCensored, pickBinned } from "../../data/outcomes/outcomes.ts";
import type { People } from "../../data/outcomes/people.ts";
import { censoringKaplanMeierBinned } from "../censoring.ts";
import { totalHazards } from "../logrank.ts";

/** Keeps these streams (one per row or person) apart from the bootstrap's (one per replicate) under the same seed. */
const NOISE_STREAM = 0x40000000;

/** Counts per bin for the observed outcomes and for every draw. */
export interface DrawnOutcomes {
  readonly events: Float64Array; // [1 + draws, T+1]
  readonly censored: Float64Array; // [1 + draws, T+1]
  /** Individual logrank sums. */
  readonly expected: Float64Array; // [1 + draws]
  readonly variance: Float64Array; // [1 + draws]
}

/**
 * The first bin from `from` to `last` whose value is at most `level` (values non-increasing); last + 1 when there is
 * none.
 */
function firstAtMost(
  values: Float64Array | Float32Array,
  base: number,
  from: number,
  last: number,
  level: number,
): number {
  let low = from;
  let high = last + 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[base + middle] <= level) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Index 0 is what was observed, 1…draws what was drawn. */
export function drawOutcomes(
  curves: Curves,
  binned: BinnedRightCensored,
  rows: ArrayLike<number>,
  draws: number,
  seed: number,
  people?: People,
): DrawnOutcomes {
  const { T, survival } = curves;
  const width = T + 1;
  const events = new Float64Array((1 + draws) * width);
  const censored = new Float64Array((1 + draws) * width);
  const expected = new Float64Array(1 + draws);
  const variance = new Float64Array(1 + draws);
  const totals = { expected: new Float64Array(width), variance: new Float64Array(width) };
  const G = censoringKaplanMeierBinned(pickBinned(binned, rows), { ties: "reverse" });
  const record = (draw: number, bin: number, event: boolean) => {
    if (event) events[draw * width + bin]++;
    else censored[draw * width + bin]++;
    expected[draw] += totals.expected[bin];
    variance[draw] += totals.variance[bin];
  };
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    const own = binned.bin[row];
    const hadEvent = binned.event[row] === 1;
    const random = createRandom(seed, NOISE_STREAM + (people?.of[row] ?? row));
    totalHazards(survival, row * T, T, totals);
    record(0, own, hadEvent);
    for (let draw = 1; draw <= draws; draw++) {
      // P(uniform ≥ S(t)) = 1 − S(t) = P(T* ≤ t).
      const eventBin = firstAtMost(survival, row * T - 1, 1, T, random.uniform());
      const uniform = random.uniform();
      const censoringBin = hadEvent ? firstAtMost(G.survival, 0, own, T, uniform * G.leftLimit[own]) : own;
      const happens = eventBin <= Math.min(censoringBin, T);
      record(draw, happens ? eventBin : Math.min(censoringBin, T), happens);
    }
  }
  return { events, censored, expected, variance };
}
