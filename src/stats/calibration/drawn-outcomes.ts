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

/** Cells of [0, 1) that a guide has: more than there usually are bins, so that a step or two are left to take. */
const CELLS = 128;

/**
 * Where to begin looking for the first bin 1…T whose value is at most a level in [0, 1): for each cell of levels, the
 * first bin whose value is at most the cell's upper end, which no level of the cell comes before. Values do not
 * increase from base + 1 to base + T.
 */
function fillGuide(guide: Int32Array, values: Float64Array | Float32Array, base: number, T: number): void {
  let bin = 1;
  for (let cell = CELLS - 1; cell >= 0; cell--) {
    const top = (cell + 1) / CELLS;
    while (bin <= T && values[base + bin] > top) bin++;
    guide[cell] = bin;
  }
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
  readonly guide: Int32Array; // [CELLS], to G
  /** The next of its rows. */
  next: number;
}

function openGroup(binned: BinnedRightCensored, rows: ArrayLike<number>, draws: number): GroupDraws {
  const counts = () => new Float64Array((1 + draws) * (binned.T + 1));
  const G = censoringKaplanMeierBinned(binned, { ties: "reverse", rows });
  const guide = new Int32Array(CELLS);
  fillGuide(guide, G.survival, 0, binned.T);
  return {
    rows: isAscending(rows) ? rows : Int32Array.from(rows).sort(),
    G,
    guide,
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
  const drawn = createRowDraws(draws, T);
  const { eventBin, uniform, guide, totals } = drawn;
  const opened = groups.map((rows) => openGroup(binned, rows, draws));
  for (let row = 0; row < N; row++) {
    if (row % PROGRESS_ROWS === 0) onProgress?.(row, N);
    let isDrawn = false;
    for (const group of opened) {
      for (; group.rows[group.next] === row; group.next++) {
        if (!isDrawn) {
          isDrawn = true;
          const random = createRandom(seed, NOISE_STREAM + (people?.of[row] ?? row));
          totalHazards(survival, row * T, T, totals);
          const base = row * T - 1;
          fillGuide(guide, survival, base, T);
          for (let draw = 1; draw <= draws; draw++) {
            // P(uniform ≥ S(t)) = 1 − S(t) = P(T* ≤ t).
            const level = random.uniform();
            let bin = guide[Math.floor(level * CELLS)];
            while (bin <= T && survival[base + bin] > level) bin++;
            eventBin[draw] = bin;
            uniform[draw] = random.uniform();
          }
        }
        recordRow(group, binned.bin[row], binned.event[row] === 1, drawn);
      }
    }
  }
  onProgress?.(N, N);
  return opened;
}

/** The draws of one row, which are the same in every group. */
interface RowDraws {
  readonly T: number;
  readonly draws: number;
  readonly eventBin: Int32Array; // [1 + draws], T + 1 = beyond the grid
  readonly uniform: Float64Array; // [1 + draws], for the censoring
  readonly guide: Int32Array; // [CELLS], to the row's curve
  readonly totals: { readonly expected: Float64Array; readonly variance: Float64Array }; // [T+1] each
}

function createRowDraws(draws: number, T: number): RowDraws {
  return {
    T,
    draws,
    eventBin: new Int32Array(1 + draws),
    uniform: new Float64Array(1 + draws),
    guide: new Int32Array(CELLS),
    totals: { expected: new Float64Array(T + 1), variance: new Float64Array(T + 1) },
  };
}

/** Adds one row, observed in bin `own`, to the counts of a group. */
function recordRow(group: GroupDraws, own: number, hadEvent: boolean, row: RowDraws): void {
  const { events, censored, expected, variance, G, guide } = group;
  const { T, draws, eventBin, uniform, totals } = row;
  const width = T + 1;
  (hadEvent ? events : censored)[own]++;
  expected[0] += totals.expected[own];
  variance[0] += totals.variance[own];
  for (let draw = 1, at = width; draw <= draws; draw++, at += width) {
    let bin = eventBin[draw];
    // Nobody is censored before the own bin, so an event up to then is observed.
    if (bin > own) {
      let censoring = own;
      if (hadEvent) {
        const level = uniform[draw] * G.leftLimit[own];
        censoring = Math.max(own, guide[Math.floor(level * CELLS)]);
        while (censoring <= T && G.survival[censoring] > level) censoring++;
      }
      if (bin > censoring || bin > T) {
        bin = Math.min(censoring, T);
        censored[at + bin]++;
      } else events[at + bin]++;
    } else events[at + bin]++;
    expected[draw] += totals.expected[bin];
    variance[draw] += totals.variance[bin];
  }
}
