/**
 * Everything about one group's rows that does not change when the rows are reweighted, computed once so that thousands
 * of bootstrap replicates only pay for what does change: RPS, D-calibration shares and individual logrank terms per
 * row; and for the concordance, for every bin t with events and every row j of a later bin, where S(t|x_j) falls among
 * the sorted S(t|x_i) of the events i (a replicate then needs prefix sums of event weights and one look-up per row and
 * bin, no comparison). A prepared group is plain data (numbers and typed arrays) that refers to the curves it was made
 * from, so it can be posted to a worker. No score is computed here: evaluate-scores.ts does that.
 */

import { InputError, nameRows } from "../../core/errors.ts";
import { isAbsent } from "../../core/measured.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { BinnedSingleCauseInput, CurvesInput } from "../../data/plain-input.ts";
import { matchHistories, meanCurve } from "../calibration/calibration.ts";
import { dCalibrationShare } from "../calibration/d-calibration.ts";
import { type GapReference, referGap } from "../calibration/gap-norms.ts";
import { totalHazards } from "../individual-logrank.ts";
import { groupSupport, kaplanMeierBinned } from "../kaplan-meier.ts";
import { scoreRow } from "./rps.ts";

/** Counts of events of one bin; 16 bits unless some bin has more events than that. */
export type CountTable = Uint16Array | Uint32Array;
const LARGEST_UINT16 = 65_535;

/** One block per bin with events. Rows are positions 0…n−1 in the prepared order (latest bin first). */
export interface ConcordanceTables {
  readonly bin: Int32Array; // [B], ascending
  /** Block b's events, ascending in S(t|x_i): eventRow[eventStart[b]] … eventRow[eventStart[b+1] − 1]. */
  readonly eventStart: Int32Array; // [B+1]
  readonly eventRow: Int32Array;
  /** The rows of later bins are at the positions below this. */
  readonly later: Int32Array; // [B]
  /** below[tableStart[b] + j]: how many of the block's events have S(t|x_i) < S(t|x_j). */
  readonly tableStart: Float64Array; // [B+1], Float64 because N·T may pass 2^31
  readonly below: CountTable;
  /**
   * notAbove[tiedStart[b] + j]: how many have S(t|x_i) ≤ S(t|x_j). tiedStart is −1 for a block without ties, where this
   * equals `below`.
   */
  readonly tiedStart: Float64Array; // [B]
  readonly notAbove: CountTable;
}

/** What a group's scores need and replicates do not change. */
export interface PreparedScores {
  readonly name: string;
  /** Rows and bins of the whole table. */
  readonly N: number;
  readonly T: number;
  /** The whole table's curves, shared by all groups. */
  readonly survival: Float64Array | Float32Array; // [N,T]
  /** The group's table rows (0-based), latest bin first; bin, event and all below are in this order. */
  readonly rows: Int32Array; // [n]
  readonly bin: Int32Array; // [n]
  readonly event: Uint8Array; // [n]
  /** How many people a row stands for, where the outcomes say. */
  readonly ownWeight?: Float64Array; // [n]
  /** The first bin at risk, under late entry; rows at risk in no bin are left out. */
  readonly entryBin?: Int32Array; // [n]
  readonly rps: Float64Array; // [n]
  readonly dCalibrationBin: Uint8Array; // [n]
  readonly dCalibrationOwn: Float64Array; // [n]
  readonly dCalibrationLower: Float64Array; // [n]
  readonly individualExpected: Float64Array; // [n]
  /** Times the row's own weight: a weight enters a variance squared. */
  readonly individualVariance: Float64Array; // [n]
  /** Null where the tables would have more than `mostLookUps` entries: replicates then compare the curves again. */
  readonly concordance: ConcordanceTables | null;
  /** The gap with every row taken once, against which replicates are measured. */
  readonly reference: GapReference;
}

/** Counting sort; equal bins keep the given order, so results do not depend on the engine's sort. */
function orderByBinDescending(rows: ArrayLike<number>, bin: Int32Array, T: number): Int32Array {
  const next = new Int32Array(T + 2);
  for (let i = 0; i < rows.length; i++) next[bin[rows[i]] - 1]++;
  for (let t = T - 1; t >= 0; t--) next[t] += next[t + 1];
  const ordered = new Int32Array(rows.length);
  // next[t] now counts the rows of bins above t: where those of bin t begin.
  for (let i = 0; i < rows.length; i++) ordered[next[bin[rows[i]]]++] = rows[i];
  return ordered;
}

/** How many of the first `length` ascending values are below `value`, or not above it. */
function countUpTo(ascending: Float64Array, length: number, value: number, inclusive: boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle] < value || (inclusive && ascending[middle] === value)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function tabulateConcordance(
  survival: Float64Array | Float32Array,
  T: number,
  rows: Int32Array,
  bin: Int32Array,
  event: Uint8Array,
): ConcordanceTables {
  const n = rows.length;
  const eventsOfBin: number[][] = Array.from({ length: T + 1 }, () => []);
  const reaching = new Int32Array(T + 2); // rows of bin t or later
  for (let j = 0; j < n; j++) {
    reaching[bin[j]]++;
    if (event[j] === 1) eventsOfBin[bin[j]].push(j);
  }
  for (let t = T; t >= 0; t--) reaching[t] += reaching[t + 1];
  // Events of the last occupied bin have nobody to be compared with.
  const blocks = Array.from({ length: T }, (_, t) => t + 1).filter(
    (t) => eventsOfBin[t].length > 0 && reaching[t + 1] > 0,
  );
  const B = blocks.length;
  const eventStart = new Int32Array(B + 1);
  const tableStart = new Float64Array(B + 1);
  let largestBlock = 0;
  blocks.forEach((t, b) => {
    largestBlock = Math.max(largestBlock, eventsOfBin[t].length);
    eventStart[b + 1] = eventStart[b] + eventsOfBin[t].length;
    tableStart[b + 1] = tableStart[b] + reaching[t + 1];
  });
  const newTable = (length: number): CountTable =>
    largestBlock <= LARGEST_UINT16 ? new Uint16Array(length) : new Uint32Array(length);
  const below = newTable(tableStart[B]);
  const eventRow = new Int32Array(eventStart[B]);
  const tiedStart = new Float64Array(B).fill(-1);
  const tiedBlocks: CountTable[] = [];
  let tiedLength = 0;
  const values = new Float64Array(largestBlock);
  blocks.forEach((t, b) => {
    const at = (j: number) => survival[rows[j] * T + t - 1];
    const events = eventsOfBin[t].sort((i, j) => at(i) - at(j) || i - j);
    eventRow.set(events, eventStart[b]);
    for (let k = 0; k < events.length; k++) values[k] = at(events[k]);
    const later = reaching[t + 1];
    const notAbove = newTable(later);
    let ties = false;
    for (let j = 0; j < later; j++) {
      const S = at(j);
      const lower = countUpTo(values, events.length, S, false);
      const tied = lower < events.length && values[lower] === S;
      below[tableStart[b] + j] = lower;
      notAbove[j] = tied ? countUpTo(values, events.length, S, true) : lower;
      ties ||= tied;
    }
    if (!ties) return;
    tiedStart[b] = tiedLength;
    tiedLength += later;
    tiedBlocks.push(notAbove);
  });
  const notAbove = newTable(tiedLength);
  let filled = 0;
  for (const block of tiedBlocks) {
    notAbove.set(block, filled);
    filled += block.length;
  }
  const later = Int32Array.from(blocks, (t) => reaching[t + 1]);
  return {
    bin: Int32Array.from(blocks),
    eventStart,
    eventRow,
    later,
    tableStart,
    below,
    tiedStart,
    notAbove,
  };
}

function refuseNaN(curves: Curves, rows: Int32Array, name: string): never {
  const { T, survival } = curves;
  const named = rows.filter((row) => survival.subarray(row * T, (row + 1) * T).some(Number.isNaN)).sort();
  throw new InputError(
    `a predicted survival is not a number: ${nameRows(Array.from(named, (row) => row + 1))}`,
    {
      code: "curves.nan",
      where: `group "${name}"`,
    },
  );
}

/**
 * Entries of a group's tables for the concordance, 2 to 8 bytes each: a million rows on a hundred bins have no more.
 * Longer tables would have several gigabytes for each group.
 */
const MOST_LOOK_UPS = 2 ** 27;

/** How many entries the tables of the concordance have: rows of later bins, for every bin with events. */
function countLookUps(bin: Int32Array, event: Uint8Array, T: number): number {
  const rows = new Float64Array(T + 2);
  const events = new Float64Array(T + 2);
  for (let i = 0; i < bin.length; i++) {
    rows[bin[i]]++;
    events[bin[i]] += event[i];
  }
  let later = 0;
  let entries = 0;
  for (let t = T; t >= 1; t--) {
    if (events[t] > 0) entries += later;
    later += rows[t];
  }
  return entries;
}

/** `rows` are 0-based rows of the table; all rows if omitted. */
export function prepareScores(
  name: string,
  predicted: CurvesInput,
  observed: BinnedSingleCauseInput,
  rows?: ArrayLike<number>,
  mostLookUps = MOST_LOOK_UPS,
): PreparedScores {
  const { curves, binned } = matchHistories(predicted, observed, "a table of scores");
  const { N, T, survival } = curves;
  const chosen = rows ?? Int32Array.from({ length: N }, (_, row) => row);
  for (let i = 0; i < chosen.length; i++) {
    if (chosen[i] >= 0 && chosen[i] < N) continue;
    throw new InputError(`row outside the table of ${N} rows: ${chosen[i] + 1}`, {
      code: "row.range",
      where: `group "${name}"`,
    });
  }
  const { firstBin, weight } = binned;
  const seen = firstBin && Int32Array.from(chosen).filter((row) => firstBin[row] <= binned.bin[row]);
  const ordered = orderByBinDescending(seen ?? chosen, binned.bin, T);
  const n = ordered.length;
  const bin = Int32Array.from(ordered, (row) => binned.bin[row]);
  const event = Uint8Array.from(ordered, (row) => binned.event[row]);
  const rps = new Float64Array(n);
  const dCalibrationBin = new Uint8Array(n);
  const dCalibrationOwn = new Float64Array(n);
  const dCalibrationLower = new Float64Array(n);
  const individualExpected = new Float64Array(n);
  const individualVariance = new Float64Array(n);
  const totals = { expected: new Float64Array(T + 1), variance: new Float64Array(T + 1) };
  for (let i = 0; i < n; i++) {
    const row = ordered[i];
    rps[i] = scoreRow(survival, row * T - 1, T, bin[i], event[i] === 1);
    const share = dCalibrationShare(survival[row * T + bin[i] - 1], event[i] === 1);
    dCalibrationBin[i] = share.bin;
    dCalibrationOwn[i] = share.own;
    dCalibrationLower[i] = share.lower;
    totalHazards(survival, row * T, bin[i], totals);
    const before = firstBin === undefined ? 0 : firstBin[row] - 1;
    const own = weight === undefined ? 1 : weight[row];
    individualExpected[i] = totals.expected[bin[i]] - totals.expected[before];
    individualVariance[i] = own * (totals.variance[bin[i]] - totals.variance[before]);
  }
  const mean = meanCurve(curves, weight, ordered);
  if (!isAbsent(mean) && mean.some(Number.isNaN)) refuseNaN(curves, ordered, name);
  const km = kaplanMeierBinned(binned, undefined, ordered);
  const reference = referGap(
    isAbsent(mean) ? km.survival : mean,
    km,
    groupSupport(binned, { rows: ordered }),
  );
  return {
    name,
    N,
    T,
    survival,
    rows: ordered,
    bin,
    event,
    ...(weight && { ownWeight: Float64Array.from(ordered, (row) => weight[row]) }),
    ...(firstBin && { entryBin: Int32Array.from(ordered, (row) => firstBin[row]) }),
    rps,
    dCalibrationBin,
    dCalibrationOwn,
    dCalibrationLower,
    individualExpected,
    individualVariance,
    concordance:
      firstBin !== undefined || countLookUps(bin, event, T) > mostLookUps
        ? null
        : tabulateConcordance(survival, T, ordered, bin, event),
    reference,
  };
}
