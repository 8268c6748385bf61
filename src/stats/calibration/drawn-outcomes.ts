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
import { totalHazards } from "../individual-logrank.ts";

/** Keeps these streams (one per row or person) apart from the bootstrap's (one per replicate) under the same seed. */
export const NOISE_STREAM = 0x40000000;

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
  options: DrawOptions,
): readonly DrawnOutcomes[] {
  const { N, T } = curves;
  const { draws, onProgress } = options;
  const opened = groups.map((rows) => openGroup(binned, rows, draws));
  const block = createBlock(draws, T);
  for (let from = 0; from < N; from += BLOCK_ROWS) {
    if (from % PROGRESS_ROWS === 0) onProgress?.(from, N);
    const end = Math.min(from + BLOCK_ROWS, N);
    const isIn = block.isIn.fill(0);
    for (const { rows, next } of opened) {
      for (let i = next; rows[i] < end; i++) isIn[rows[i] - from] = 1;
    }
    for (let row = from; row < end; row++)
      if (isIn[row - from] === 1) drawRow(block, row - from, row, curves, options);
    for (const group of opened) recordBlock(group, block, from, end, binned);
  }
  onProgress?.(N, N);
  return opened;
}

/** Rows of a block: its draws and totals stay in the cache while the groups take turns. */
const BLOCK_ROWS = 128;

/** The draws of some rows, which are the same in every group. */
interface BlockDraws {
  readonly T: number;
  readonly draws: number;
  /** Whether any group has the row. */
  readonly isIn: Uint8Array; // [BLOCK_ROWS]
  readonly eventBin: Int32Array; // [draws, BLOCK_ROWS], T + 1 = beyond the grid
  readonly uniform: Float64Array; // [draws, BLOCK_ROWS], for the censoring
  readonly expected: Float64Array; // [BLOCK_ROWS, T+1], the rows' totals of hazard
  readonly variance: Float64Array; // [BLOCK_ROWS, T+1]
  readonly guide: Int32Array; // [CELLS], to one row's curve
}

function createBlock(draws: number, T: number): BlockDraws {
  return {
    T,
    draws,
    isIn: new Uint8Array(BLOCK_ROWS),
    eventBin: new Int32Array(draws * BLOCK_ROWS),
    uniform: new Float64Array(draws * BLOCK_ROWS),
    expected: new Float64Array(BLOCK_ROWS * (T + 1)),
    variance: new Float64Array(BLOCK_ROWS * (T + 1)),
    guide: new Int32Array(CELLS),
  };
}

/** Draws one row, which is at `place` in the block. */
function drawRow(
  { T, draws, eventBin, uniform, guide, ...totals }: BlockDraws,
  place: number,
  row: number,
  { survival }: Curves,
  { seed, people }: DrawOptions,
): void {
  const random = createRandom(seed, NOISE_STREAM + (people?.of[row] ?? row));
  const own = [place * (T + 1), (place + 1) * (T + 1)] as const;
  totalHazards(survival, row * T, T, {
    expected: totals.expected.subarray(...own),
    variance: totals.variance.subarray(...own),
  });
  const base = row * T - 1;
  fillGuide(guide, survival, base, T);
  for (let draw = 0, at = place; draw < draws; draw++, at += BLOCK_ROWS) {
    // P(uniform ≥ S(t)) = 1 − S(t) = P(T* ≤ t).
    const level = random.uniform();
    let bin = guide[Math.floor(level * CELLS)];
    while (bin <= T && survival[base + bin] > level) bin++;
    eventBin[at] = bin;
    uniform[at] = random.uniform();
  }
}

/** Adds the rows [from, end) that a group has to its counts, draw by draw: the counts of one draw are few. */
function recordBlock(
  group: GroupDraws,
  { T, draws, eventBin, uniform, ...totals }: BlockDraws,
  from: number,
  end: number,
  { bin: ownBin, event }: BinnedRightCensored,
): void {
  const { rows, events, censored, expected, variance, G, guide } = group;
  const width = T + 1;
  const first = group.next;
  while (rows[group.next] < end) group.next++;
  for (let i = first; i < group.next; i++) {
    const own = ownBin[rows[i]];
    (event[rows[i]] === 1 ? events : censored)[own]++;
    expected[0] += totals.expected[(rows[i] - from) * width + own];
    variance[0] += totals.variance[(rows[i] - from) * width + own];
  }
  for (let draw = 0, at = width; draw < draws; draw++, at += width) {
    let E = expected[1 + draw];
    let V = variance[1 + draw];
    for (let i = first; i < group.next; i++) {
      const place = rows[i] - from;
      const own = ownBin[rows[i]];
      let bin = eventBin[draw * BLOCK_ROWS + place];
      let happens = true;
      // Nobody is censored before the own bin, so an event up to then is observed.
      if (bin > own) {
        let censoring = own;
        if (event[rows[i]] === 1) {
          const level = uniform[draw * BLOCK_ROWS + place] * G.leftLimit[own];
          censoring = Math.max(own, guide[Math.floor(level * CELLS)]);
          while (censoring <= T && G.survival[censoring] > level) censoring++;
        }
        happens = bin <= censoring && bin <= T;
        if (!happens) bin = Math.min(censoring, T);
      }
      if (happens) events[at + bin]++;
      else censored[at + bin]++;
      E += totals.expected[place * width + bin];
      V += totals.variance[place * width + bin];
    }
    expected[1 + draw] = E;
    variance[1 + draw] = V;
  }
}
