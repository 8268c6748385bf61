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
import type { BinnedRightCensored } from "../../data/outcomes/outcomes.ts";
import type { People } from "../../data/outcomes/people.ts";
import { type CensoringCurve, censoringKaplanMeierBinned } from "../censoring.ts";
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

/** What is drawn, and whom to tell how far it is. */
export interface DrawOptions {
  readonly draws: number;
  readonly seed: number;
  readonly people?: People;
  /** Rows of the table that are done, and all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** After so many rows progress is told. */
const PROGRESS_ROWS = 16_384;

/** One group's counts, and what its draws need. */
interface GroupDraws extends DrawnOutcomes {
  readonly rows: ArrayLike<number>; // ascending
  readonly G: CensoringCurve;
  /** The next of its rows. */
  next: number;
}

function openGroup(binned: BinnedRightCensored, rows: ArrayLike<number>, draws: number): GroupDraws {
  const counts = () => new Float64Array((1 + draws) * (binned.T + 1));
  return {
    rows: isAscending(rows) ? rows : Int32Array.from(rows).sort(),
    G: censoringKaplanMeierBinned(binned, { ties: "reverse", rows }),
    next: 0,
    events: counts(),
    censored: counts(),
    expected: new Float64Array(1 + draws),
    variance: new Float64Array(1 + draws),
  };
}

function isAscending(rows: ArrayLike<number>): boolean {
  for (let i = 1; i < rows.length; i++) if (rows[i] < rows[i - 1]) return false;
  return true;
}

/**
 * The draws of several groups in one pass over the table, as a row has the same numbers in every group it belongs to:
 * its event bins are drawn once. Index 0 is what was observed, 1…draws what was drawn.
 */
export function drawOutcomes(
  curves: Curves,
  binned: BinnedRightCensored,
  groups: readonly ArrayLike<number>[],
  { draws, seed, people, onProgress }: DrawOptions,
): readonly DrawnOutcomes[] {
  const { N, T, survival } = curves;
  const width = T + 1;
  const totals = { expected: new Float64Array(width), variance: new Float64Array(width) };
  const record = (group: GroupDraws, draw: number, bin: number, event: boolean) => {
    if (event) group.events[draw * width + bin]++;
    else group.censored[draw * width + bin]++;
    group.expected[draw] += totals.expected[bin];
    group.variance[draw] += totals.variance[bin];
  };
  const opened = groups.map((rows) => openGroup(binned, rows, draws));
  const own: GroupDraws[] = []; // those the row belongs to, twice where it is in one twice
  for (let row = 0; row < N; row++) {
    if (row % PROGRESS_ROWS === 0) onProgress?.(row, N);
    own.length = 0;
    for (const group of opened) {
      for (; group.rows[group.next] === row; group.next++) own.push(group);
    }
    if (own.length === 0) continue;
    const bin = binned.bin[row];
    const hadEvent = binned.event[row] === 1;
    const random = createRandom(seed, NOISE_STREAM + (people?.of[row] ?? row));
    totalHazards(survival, row * T, T, totals);
    for (const group of own) record(group, 0, bin, hadEvent);
    for (let draw = 1; draw <= draws; draw++) {
      // P(uniform ≥ S(t)) = 1 − S(t) = P(T* ≤ t).
      const eventBin = firstAtMost(survival, row * T - 1, 1, T, random.uniform());
      const uniform = random.uniform();
      for (let k = 0; k < own.length; k++) {
        const { G } = own[k];
        const censoringBin = hadEvent ? firstAtMost(G.survival, 0, bin, T, uniform * G.leftLimit[bin]) : bin;
        const happens = eventBin <= Math.min(censoringBin, T);
        record(own[k], draw, happens ? eventBin : Math.min(censoringBin, T), happens);
      }
    }
  }
  onProgress?.(N, N);
  return opened;
}
