/**
 * Concordance of predicted curves on a time grid: an event i in bin t is compared at t with everyone still at risk, and
 * the pair is concordant when S(t|x_i) < S(t|x_j). One pass counts every kind of pair; the published variants are
 * ratios of those counts: the paper's C-index (ties score 0), half ties, Antolini et al. 2005 and pycox's adjustment of
 * it. With late entry j is compared with i only if j came under observation by then: firstBin_j ≤ t_i. Weights that
 * the outcomes hold multiply to the weight of a pair. Per bin only the events' values are sorted (they are few); every
 * other row finds its place among them in about one step (event-values.ts), block by block so that the curves are read
 * from memory once: O(Σ_t |at risk|).
 */

import { InputError } from "../../core/errors.ts";
import { absent, type Measured } from "../../core/measured.ts";
import { type BinnedSingleCause, pickBinned, type RowWeights } from "../../data/outcomes/outcomes.ts";
import { type BinnedSingleCauseInput, type CurvesInput, toEvents, toInt32 } from "../../data/plain-input.ts";
import { matchHistories } from "../calibration/calibration.ts";
import { type BinTable, tallyBins } from "../kaplan-meier.ts";
import {
  BELOW,
  ENTRY,
  type EventValues,
  findEntry,
  OWN,
  type PositionedRows,
  sortEventValues,
} from "./event-values.ts";

export interface TimeDependentOptions {
  readonly weights?: RowWeights;
  /** Only these rows (0-based); weights stay indexed by table row. */
  readonly rows?: ArrayLike<number>;
}

/** Pairs of rows in different bins. Whole-number weights are equivalent to repeated rows. */
export interface PairCounts {
  /** An event i and a row j of a later bin. */
  readonly pairs: number;
  /** Of those, S(t_i|x_i) < S(t_i|x_j). */
  readonly concordant: number;
  /** Of those, S(t_i|x_i) = S(t_i|x_j). */
  readonly tied: number;
}

/** The same, plus the pairs within a bin. */
export interface TimeDependentPairs extends PairCounts {
  /** An event i and a row j censored in the same bin. */
  readonly censoredPairs: number;
  readonly censoredConcordant: number;
  readonly censoredTied: number;
  /** Two events in one bin, each pair once. */
  readonly eventPairs: number;
  /** Of those, with equal S. */
  readonly eventTied: number;
}

function refuseNaN(row: number, t: number): never {
  throw new InputError(`a predicted survival is not a number: bin ${t}`, {
    code: "curves.nan",
    where: `row ${row + 1}`,
  });
}

/** Counts pairs by whether F at the earlier event time orders them correctly. */
export function timeDependentPairs(
  predicted: CurvesInput,
  observed: BinnedSingleCauseInput,
  options: TimeDependentOptions = {},
): TimeDependentPairs {
  const { weights } = options;
  const { curves, binned } = matchHistories(predicted, observed, "concordance");
  const { T, survival } = curves;
  const rows = binned.firstBin === undefined ? options.rows : rowsAtRisk(binned, options.rows);
  if (rows === undefined && binned.weight === undefined)
    return countPairsByBin({ T, bin: binned.bin, event: binned.event, survival, rows, weights });
  const chosen = rows ?? Int32Array.from(binned.bin.keys());
  const { bin, event, firstBin, weight } = pickBinned(binned, chosen);
  const own =
    weights === undefined
      ? weight
      : Float64Array.from(chosen, (row, k) => weights[row] * (weight === undefined ? 1 : weight[k]));
  return countPairsByBin({ T, survival, rows: chosen, bin, event, weights: own, firstBin });
}

/** Rows that are at risk in some bin: those that enter and leave within one make no pair. */
function rowsAtRisk(
  { bin, firstBin }: BinnedSingleCause,
  rows: ArrayLike<number> = Int32Array.from(bin.keys()),
): Int32Array {
  return Int32Array.from(rows).filter((row) => firstBin === undefined || firstBin[row] <= bin[row]);
}

/** The same of rows by position, whose bins are known to be within 1…T. */
export function countPairsByBin(positioned: PositionedRows): TimeDependentPairs {
  const { T, bin, event, weights } = positioned;
  const values = sortEventValues(positioned, refuseNaN);
  const entry = positioned.firstBin === undefined ? {} : { firstBin: toInt32(positioned.firstBin) };
  const totals = tallyBins({ T, bin: toInt32(bin), event: toEvents(event), ...entry }, weights);
  const block = createBlock(positioned);
  const sums = { concordant: 0, tied: 0, censoredConcordant: 0, censoredTied: 0 };
  for (let from = 0; from < bin.length; from += BLOCK_ROWS) {
    const count = orderBlock(block, positioned, from);
    turnBlock(block, positioned, from, count);
    compareBlock(block, positioned, from, count, { values, events: totals.events });
    for (let k = 0; k < count; k++) {
      const weight = weights === undefined ? 1 : weights[from + block.order[k]];
      sums.concordant += weight * block.concordant[k];
      sums.tied += weight * block.tied[k];
      sums.censoredConcordant += weight * block.censoredConcordant[k];
      sums.censoredTied += weight * block.censoredTied[k];
    }
  }
  return { ...sums, ...countAllPairs(totals, values, positioned.firstBin !== undefined) };
}

/** Rows of a block, many beside the steps of a bin: neighbours in the order then look up neighbours. */
const BLOCK_ROWS = 32_768;
/** Steps by which the rows of a block are ordered. */
const ORDER_STEPS = 8192;
/** Curves are turned into columns so many rows at a time, which the nearest cache holds. */
const TURNED_ROWS = 32;

/**
 * Some rows, roughly by their survival in the middle of the grid: those who follow one another look up values that
 * follow one another, whatever the size of the table. The order changes no count.
 */
interface Block {
  /** Places in the block, in that order; all below are in this order too. */
  readonly order: Int32Array; // [size]
  /** The last bin a row is compared in. */
  readonly last: Int32Array; // [size]
  /** Those that are still compared. */
  readonly remaining: Int32Array; // [size]
  /** S(t) bin by bin. */
  readonly columns: Float64Array | Float32Array; // [T, size]
  readonly size: number;
  readonly concordant: Float64Array; // [size]
  readonly tied: Float64Array;
  readonly censoredConcordant: Float64Array;
  readonly censoredTied: Float64Array;
}

function createBlock({ T, survival, bin }: PositionedRows): Block {
  const size = Math.min(BLOCK_ROWS, bin.length);
  return {
    order: new Int32Array(size),
    last: new Int32Array(size),
    remaining: new Int32Array(size),
    columns: survival instanceof Float32Array ? new Float32Array(T * size) : new Float64Array(T * size),
    size,
    concordant: new Float64Array(size),
    tied: new Float64Array(size),
    censoredConcordant: new Float64Array(size),
    censoredTied: new Float64Array(size),
  };
}

/** Orders the rows from position `from` on that are compared at all; returns how many they are. */
function orderBlock({ order, last, remaining }: Block, positioned: PositionedRows, from: number): number {
  const { T, survival, rows, bin, event, weights } = positioned;
  const count = Math.min(BLOCK_ROWS, bin.length - from);
  // A row is compared in its own bin only if it was censored there, and in none if it has no weight.
  const lastOf = (i: number) =>
    weights !== undefined && weights[from + i] === 0 ? 0 : bin[from + i] - event[from + i];
  const stepOf = (i: number) => {
    const row = rows === undefined ? from + i : rows[from + i];
    const S = survival[row * T + (T >> 1)]; // not a number, or beyond [0, 1]: any step will do
    return S > 0 ? Math.min(Math.floor(S * ORDER_STEPS), ORDER_STEPS - 1) : 0;
  };
  const next = new Int32Array(ORDER_STEPS + 1);
  for (let i = 0; i < count; i++) {
    if (lastOf(i) === 0) continue;
    remaining[i] = stepOf(i);
    next[remaining[i] + 1]++;
  }
  for (let step = 0; step < ORDER_STEPS; step++) next[step + 1] += next[step];
  for (let i = 0; i < count; i++) {
    if (lastOf(i) === 0) continue;
    const k = next[remaining[i]]++;
    order[k] = i;
    last[k] = lastOf(i);
  }
  const kept = next[ORDER_STEPS - 1];
  for (let k = 0; k < kept; k++) remaining[k] = k;
  return kept;
}

/** Fills the columns of a block. */
function turnBlock(
  { order, columns, size }: Block,
  { T, survival, rows }: PositionedRows,
  from: number,
  count: number,
): void {
  const starts = new Float64Array(TURNED_ROWS); // beyond 2³¹ in long tables
  for (let first = 0; first < count; first += TURNED_ROWS) {
    const turned = Math.min(TURNED_ROWS, count - first);
    for (let k = 0; k < turned; k++) {
      const position = from + order[first + k];
      starts[k] = (rows === undefined ? position : rows[position]) * T;
    }
    for (let t = 0; t < T; t++) {
      for (let k = 0; k < turned; k++) columns[t * size + first + k] = survival[starts[k] + t];
    }
  }
}

/** Compares the rows of a block with the events of every bin they reach. */
function compareBlock(
  { order, last, remaining, columns, size, ...sums }: Block,
  { T, rows, bin, firstBin }: PositionedRows,
  from: number,
  count: number,
  { values, events }: { readonly values: EventValues; readonly events: Float64Array },
): void {
  const { concordant, tied, censoredConcordant, censoredTied } = sums;
  const { start, end, entries } = values;
  for (const sum of [concordant, tied, censoredConcordant, censoredTied]) sum.fill(0);
  let left = count;
  for (let t = 1; t <= T; t++) {
    const stop = end[t];
    if (start[t] === stop) continue;
    const among = left;
    left = 0;
    for (let r = 0; r < among; r++) {
      const k = remaining[r];
      if (last[k] < t) continue;
      remaining[left++] = k;
      const position = from + order[k];
      if (firstBin !== undefined && firstBin[position] > t) continue;
      const S = columns[(t - 1) * size + k];
      if (Number.isNaN(S)) refuseNaN(rows === undefined ? position : rows[position], t);
      const found = findEntry(values, t, S);
      const at = ENTRY * found;
      const lower = found < stop ? entries[at + BELOW] : events[t];
      const equal = found < stop && entries[at] === S ? entries[at + OWN] : 0;
      if (t < bin[position]) {
        concordant[k] += lower;
        tied[k] += equal;
      } else {
        censoredConcordant[k] = lower;
        censoredTied[k] = equal;
      }
    }
  }
}

/**
 * Every comparable pair, whatever its order; and the pairs of events within a bin. With late entry, those later than t
 * are those at risk in t who do not leave in it: some of the next bin have yet to come.
 */
function countAllPairs(
  { atRisk, events, censored }: BinTable,
  { start, end, entries }: EventValues,
  hasEntries: boolean,
): Pick<TimeDependentPairs, "pairs" | "censoredPairs" | "eventPairs" | "eventTied"> {
  const T = events.length - 1;
  let pairs = 0;
  let censoredPairs = 0;
  let eventPairs = 0;
  let eventTied = 0;
  const pairsAmong = (weight: number) => (weight * (weight - 1)) / 2;
  for (let t = 1; t <= T; t++) {
    pairs += events[t] * (hasEntries ? atRisk[t] - events[t] - censored[t] : t < T ? atRisk[t + 1] : 0);
    censoredPairs += events[t] * censored[t];
    if (events[t] > 0) eventPairs += pairsAmong(events[t]);
    for (let k = start[t]; k < end[t]; k++) {
      const own = entries[ENTRY * k + OWN];
      if (own > 0) eventTied += pairsAmong(own);
    }
  }
  return { pairs, censoredPairs, eventPairs, eventTied };
}

function ratio(numerator: number, denominator: number): Measured {
  return denominator > 0 ? numerator / denominator : absent("no comparable pairs");
}

/** The paper's C-index: later rows only, ties score 0. */
export function concordancePaper(counts: PairCounts): Measured {
  return ratio(counts.concordant, counts.pairs);
}

/** The same pairs, ties score ½. */
export function concordanceHalfTies(counts: PairCounts): Measured {
  return ratio(counts.concordant + counts.tied / 2, counts.pairs);
}

export type AntoliniVariant = "antolini" | "adj_antolini";

/**
 * pycox's `concordance_td`. "antolini": later rows and those censored in the same bin, ties score 0. "adj_antolini":
 * ties score ½; pairs in one bin with at least one event are counted in both orders; two events score 1 if their S are
 * equal and ½ if not.
 */
export function concordanceAntolini(counts: TimeDependentPairs, variant: AntoliniVariant): Measured {
  if (variant === "antolini") {
    return ratio(counts.concordant + counts.censoredConcordant, counts.pairs + counts.censoredPairs);
  }
  const later = counts.concordant + counts.tied / 2;
  const sameBin = counts.censoredConcordant + counts.censoredTied / 2;
  const bothEvents = (counts.eventPairs + counts.eventTied) / 2;
  return ratio(
    later + 2 * sameBin + 2 * bothEvents,
    counts.pairs + 2 * counts.censoredPairs + 2 * counts.eventPairs,
  );
}
