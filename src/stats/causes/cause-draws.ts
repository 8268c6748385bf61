/**
 * Outcomes as a perfect model of several causes would produce them, beside those observed, counted by bin and cause. As
 * in calibration/drawn-outcomes.ts: the event bin from the row's own S(t) = 1 − Σ F_k, the censoring kept or drawn from
 * the group's reverse-ties curve given what is known, one stream of random numbers for each row or person, the same in
 * every group. The cause of an event in bin t is k with probability h_k(t)/h(t) = ΔF_k/Σ ΔF_j: the number that chose
 * the bin, uniform on [S(t), S(t−1)), chooses the cause by where it lies there. So with one cause the draws are those
 * of drawn-outcomes.ts. A row counts by its weight.
 */
import { createRandom } from "../../core/random.ts";
import { type CauseCurves, survivalOf } from "../../data/curves/cause-curves.ts";
import type { People } from "../../data/outcomes/people.ts";
import { NOISE_STREAM } from "../calibration/drawn-outcomes.ts";
import { type CensoringCurve, censoringKaplanMeierBinned } from "../censoring.ts";
import type { BinnedCauses } from "./binned-causes.ts";

/** What is drawn, and whom to tell how far it is. */
export interface CauseDrawOptions {
  readonly draws: number;
  readonly seed: number;
  readonly people?: People;
  /** Rows of the table that are done, and all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Weighted counts per bin: the observed ones first, then those of every draw. */
export interface DrawnCauses {
  /** By cause; [1 + draws, T+1]. */
  readonly events: readonly Float64Array[];
  readonly censored: Float64Array; // [1 + draws, T+1]
}

/** Rows of a block: its draws stay in the cache while the groups take turns. */
const BLOCK_ROWS = 128;
/** After so many rows progress is told: a whole number of blocks. */
const PROGRESS_ROWS = 16_384;

/** The draws of some rows, which are the same in every group. */
interface BlockDraws {
  readonly isIn: Uint8Array; // [BLOCK_ROWS]
  readonly eventBin: Int32Array; // [draws, BLOCK_ROWS], T + 1 = beyond the grid
  readonly cause: Uint8Array; // [draws, BLOCK_ROWS]
  readonly uniform: Float64Array; // [draws, BLOCK_ROWS], for the censoring
}

interface GroupDraws extends DrawnCauses {
  readonly rows: Int32Array; // ascending
  readonly G: CensoringCurve;
  /** The next of its rows. */
  next: number;
}

/** The draws of several groups, which may overlap, in one pass over the table. */
export function drawCauses(
  curves: CauseCurves,
  outcomes: BinnedCauses,
  groups: readonly ArrayLike<number>[],
  options: CauseDrawOptions,
): readonly DrawnCauses[] {
  const { N, K, T } = curves;
  const { draws, onProgress } = options;
  const { survival } = survivalOf(curves);
  const opened = groups.map((rows) => openGroup(outcomes, rows, K, draws));
  const block: BlockDraws = {
    isIn: new Uint8Array(BLOCK_ROWS),
    eventBin: new Int32Array(draws * BLOCK_ROWS),
    cause: new Uint8Array(draws * BLOCK_ROWS),
    uniform: new Float64Array(draws * BLOCK_ROWS),
  };
  for (let from = 0; from < N; from += BLOCK_ROWS) {
    if (from % PROGRESS_ROWS === 0) onProgress?.(from, N);
    const end = Math.min(from + BLOCK_ROWS, N);
    block.isIn.fill(0);
    for (const { rows, next } of opened)
      for (let i = next; i < rows.length && rows[i] < end; i++) block.isIn[rows[i] - from] = 1;
    for (let row = from; row < end; row++)
      if (block.isIn[row - from] === 1) drawRow(block, row - from, row, curves, survival, options);
    for (const group of opened) recordBlock(group, block, { from, end, T, draws }, outcomes);
  }
  onProgress?.(N, N);
  return opened;
}

function openGroup(outcomes: BinnedCauses, rows: ArrayLike<number>, K: number, draws: number): GroupDraws {
  const { T, bin, event, weight } = outcomes;
  const counts = () => new Float64Array((1 + draws) * (T + 1));
  return {
    rows: Int32Array.from(rows).sort(),
    G: censoringKaplanMeierBinned(
      { T, bin, event },
      { ties: "reverse", rows, ...(weight && { weights: weight }) },
    ),
    next: 0,
    events: Array.from({ length: K }, counts),
    censored: counts(),
  };
}

/** Draws one row, which is at `place` in the block. */
function drawRow(
  { eventBin, cause, uniform }: BlockDraws,
  place: number,
  row: number,
  { K, T, incidence }: CauseCurves,
  survival: Float64Array | Float32Array,
  { draws, seed, people }: CauseDrawOptions,
): void {
  const random = createRandom(seed, NOISE_STREAM + (people?.of[row] ?? row));
  const base = row * T - 1;
  for (let draw = 0, at = place; draw < draws; draw++, at += BLOCK_ROWS) {
    // P(level ≥ S(t)) = 1 − S(t) = P(T* ≤ t): the first bin with S(t) ≤ level.
    const level = random.uniform();
    uniform[at] = random.uniform();
    const bin = firstAtMost(survival, base, 1, T, level);
    eventBin[at] = bin;
    cause[at] = bin > T ? 0 : causeAt(incidence, row * K * T, K, T, bin, level - survival[base + bin]);
  }
}

/** The cause in whose part of the bin's probability the place `above` S(t) lies. */
function causeAt(
  incidence: Float64Array,
  start: number,
  K: number,
  T: number,
  bin: number,
  above: number,
): number {
  let passed = 0;
  let last = 1;
  for (let k = 0; k < K; k++) {
    const at = start + k * T + bin - 1;
    const step = incidence[at] - (bin === 1 ? 0 : incidence[at - 1]);
    // A cause that cannot strike here is never chosen, whatever rounding does to the sum.
    if (!(step > 0)) continue;
    passed += step;
    last = k + 1;
    if (above < passed) return last;
  }
  return last;
}

/** Adds the rows [from, end) that a group has to its counts, draw by draw. */
function recordBlock(
  group: GroupDraws,
  { eventBin, cause, uniform }: BlockDraws,
  { from, end, T, draws }: { from: number; end: number; T: number; draws: number },
  { bin: ownBin, event, cause: ownCause, weight }: BinnedCauses,
): void {
  const { rows, events, censored, G } = group;
  const width = T + 1;
  const first = group.next;
  while (group.next < rows.length && rows[group.next] < end) group.next++;
  for (let i = first; i < group.next; i++) {
    const row = rows[i];
    (ownCause[row] === 0 ? censored : events[ownCause[row] - 1])[ownBin[row]] += weight?.[row] ?? 1;
  }
  for (let draw = 0; draw < draws; draw++) {
    const to = (1 + draw) * width;
    for (let i = first; i < group.next; i++) {
      const row = rows[i];
      const w = weight?.[row] ?? 1;
      const at = draw * BLOCK_ROWS + row - from;
      const own = ownBin[row];
      const bin = eventBin[at];
      // Nobody is censored before the own bin, so an event up to then is observed.
      const until = bin <= own ? bin : event[row] === 1 ? drawCensoring(G, own, T, uniform[at]) : own;
      if (bin <= until && bin <= T) events[cause[at] - 1][to + bin] += w;
      else censored[to + Math.min(until, T)] += w;
    }
  }
}

/** A censoring bin given that it is `own` or later; T + 1 where it never comes. */
function drawCensoring(G: CensoringCurve, own: number, T: number, uniform: number): number {
  return firstAtMost(G.survival, 0, own, T, uniform * G.leftLimit[own]);
}

/** The first of the bins from…T whose value, at base + bin, is at most the level; T + 1 if none is. */
function firstAtMost(
  values: Float64Array | Float32Array,
  base: number,
  from: number,
  T: number,
  level: number,
): number {
  let [low, high] = [from, T + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[base + middle] > level) low = middle + 1;
    else high = middle;
  }
  return low;
}
