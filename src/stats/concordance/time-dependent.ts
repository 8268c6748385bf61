/**
 * Concordance of predicted curves on a time grid: an event i in bin t is compared at t with everyone still at risk, and
 * the pair is concordant when S(t|x_i) < S(t|x_j). One pass counts every kind of pair; the published variants are
 * ratios of those counts: the paper's C-index (ties score 0), half ties, Antolini et al. 2005 and pycox's adjustment of
 * it. Per bin only the events' values are sorted (they are few); every other row finds its place among them in about
 * one step (event-values.ts), block by block so that the curves are read from memory once: O(Σ_t |at risk|).
 */

import { InputError } from "../../core/errors.ts";
import { absent, type Measured } from "../../core/measured.ts";
import { pickBinned, type RowWeights } from "../../data/outcomes/outcomes.ts";
import {
  type BinnedRightCensoredInput,
  type CurvesInput,
  toEvents,
  toInt32,
} from "../../data/plain-input.ts";
import { matchOutcomes } from "../calibration/calibration.ts";
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
  observed: BinnedRightCensoredInput,
  options: TimeDependentOptions = {},
): TimeDependentPairs {
  const { weights, rows } = options;
  const { curves, binned } = matchOutcomes(predicted, observed, "concordance");
  const { T, survival } = curves;
  if (rows === undefined) return countPairsByBin({ ...binned, survival, rows, weights });
  const { bin, event } = pickBinned(binned, rows);
  const own = weights === undefined ? undefined : Float64Array.from(rows, (row) => weights[row]);
  return countPairsByBin({ T, survival, rows, bin, event, weights: own });
}

/** The same of rows by position, whose bins are known to be within 1…T. */
export function countPairsByBin(positioned: PositionedRows): TimeDependentPairs {
  const { T, bin, event, weights } = positioned;
  const values = sortEventValues(positioned, refuseNaN);
  const totals = tallyBins({ T, bin: toInt32(bin), event: toEvents(event) }, weights);
  const block = createBlock(positioned);
  const sums = { concordant: 0, tied: 0, censoredConcordant: 0, censoredTied: 0 };
  for (let from = 0; from < bin.length; from += BLOCK_ROWS) {
    const count = Math.min(BLOCK_ROWS, bin.length - from);
    orderBlock(block, positioned, from, count);
    compareBlock(block, positioned, from, { values, events: totals.events });
    for (let i = 0; i < count; i++) {
      const weight = weights === undefined ? 1 : weights[from + i];
      if (weight === 0) continue;
      sums.concordant += weight * block.concordant[i];
      sums.tied += weight * block.tied[i];
      sums.censoredConcordant += weight * block.censoredConcordant[i];
      sums.censoredTied += weight * block.censoredTied[i];
    }
  }
  return { ...sums, ...countAllPairs(totals, values) };
}

/**
 * Rows of a block. The values of one bin's events, a megabyte or two in a table of ten million rows, are then read from
 * the cache by so many rows.
 */
const BLOCK_ROWS = 32_768;
/** Curves are turned into columns so many rows at a time, which the nearest cache holds. */
const TURNED_ROWS = 32;

/** Some rows, latest bin first: those still compared in bin t are the first reaching[t]. */
interface Block {
  /** Places in the block, in that order. */
  readonly order: Int32Array; // [size]
  readonly reaching: Int32Array; // [T+2]
  /** S(t) of the rows in that order, bin by bin. */
  readonly columns: Float64Array | Float32Array; // [T, size]
  readonly size: number;
  /** Sums by place in the block. */
  readonly concordant: Float64Array; // [size]
  readonly tied: Float64Array;
  readonly censoredConcordant: Float64Array;
  readonly censoredTied: Float64Array;
}

function createBlock({ T, survival, bin }: PositionedRows): Block {
  const size = Math.min(BLOCK_ROWS, bin.length);
  return {
    order: new Int32Array(size),
    reaching: new Int32Array(T + 2),
    columns: survival instanceof Float32Array ? new Float32Array(T * size) : new Float64Array(T * size),
    size,
    concordant: new Float64Array(size),
    tied: new Float64Array(size),
    censoredConcordant: new Float64Array(size),
    censoredTied: new Float64Array(size),
  };
}

/** Orders the rows from position `from` on. A row is compared in its own bin only if it was censored there. */
function orderBlock(
  { order, reaching, columns, size }: Block,
  { T, survival, rows, bin, event, weights }: PositionedRows,
  from: number,
  count: number,
): void {
  const isAbsent = (i: number) => weights !== undefined && weights[from + i] === 0;
  const lastOf = (i: number) => (isAbsent(i) ? 0 : bin[from + i] - event[from + i]);
  reaching.fill(0);
  for (let i = 0; i < count; i++) reaching[lastOf(i)]++;
  for (let t = T; t >= 0; t--) reaching[t] += reaching[t + 1];
  const next = reaching.slice(1); // rows of later bins: where those of this bin begin
  for (let i = 0; i < count; i++) order[next[lastOf(i)]++] = i;
  const starts = new Float64Array(TURNED_ROWS); // beyond 2³¹ in long tables
  for (let first = 0; first < reaching[1]; first += TURNED_ROWS) {
    const turned = Math.min(TURNED_ROWS, reaching[1] - first);
    for (let k = 0; k < turned; k++) {
      const position = from + order[first + k];
      starts[k] = (rows === undefined ? position : rows[position]) * T;
    }
    for (let t = 0; t < T && reaching[t + 1] > first; t++) {
      for (let k = 0; k < turned; k++) columns[t * size + first + k] = survival[starts[k] + t];
    }
  }
}

/** Compares the rows of a block with the events of every bin they reach. */
function compareBlock(
  { order, reaching, columns, size, ...sums }: Block,
  { T, rows, bin }: PositionedRows,
  from: number,
  { values, events }: { readonly values: EventValues; readonly events: Float64Array },
): void {
  const { concordant, tied, censoredConcordant, censoredTied } = sums;
  const { start, end, entries } = values;
  for (const sum of [concordant, tied, censoredConcordant, censoredTied]) sum.fill(0);
  for (let t = 1; t <= T; t++) {
    const stop = end[t];
    if (start[t] === stop) continue;
    const column = (t - 1) * size;
    for (let k = 0; k < reaching[t]; k++) {
      const i = order[k];
      const S = columns[column + k];
      if (Number.isNaN(S)) refuseNaN(rows === undefined ? from + i : rows[from + i], t);
      const found = findEntry(values, t, S);
      const at = ENTRY * found;
      const lower = found < stop ? entries[at + BELOW] : events[t];
      const equal = found < stop && entries[at] === S ? entries[at + OWN] : 0;
      if (t < bin[from + i]) {
        concordant[i] += lower;
        tied[i] += equal;
      } else {
        censoredConcordant[i] = lower;
        censoredTied[i] = equal;
      }
    }
  }
}

/** Every comparable pair, whatever its order; and the pairs of events within a bin. */
function countAllPairs(
  { atRisk, events, censored }: BinTable,
  { start, end, entries }: EventValues,
): Pick<TimeDependentPairs, "pairs" | "censoredPairs" | "eventPairs" | "eventTied"> {
  const T = events.length - 1;
  let pairs = 0;
  let censoredPairs = 0;
  let eventPairs = 0;
  let eventTied = 0;
  const pairsAmong = (weight: number) => (weight * (weight - 1)) / 2;
  for (let t = 1; t <= T; t++) {
    pairs += events[t] * (t < T ? atRisk[t + 1] : 0);
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
