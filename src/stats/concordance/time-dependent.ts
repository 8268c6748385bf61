/**
 * Concordance of predicted curves on a time grid: an event i in bin t is compared at t with everyone still at risk, and
 * the pair is concordant when S(t|x_i) < S(t|x_j). One pass counts every kind of pair; the published variants are
 * ratios of those counts: the paper's C-index (ties score 0), half ties, Antolini et al. 2005 and pycox's adjustment of
 * it. Per bin only the events' values are sorted (they are few); every other row finds its place among them by binary
 * search while its curve is read once, front to back: O(Σ_t |at risk| · log |events|), no sort of the large side.
 */

import { countBelow, keepDistinct } from "../../core/ascending.ts";
import { InputError } from "../../core/errors.ts";
import { absent, type Measured } from "../../core/measured.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { BinnedRightCensored, RowWeights } from "../../data/outcomes/outcomes.ts";
import type { BinnedRightCensoredInput, CurvesInput } from "../../data/plain-input.ts";
import { matchOutcomes } from "../calibration/calibration.ts";
import { tallyBins } from "../kaplan-meier.ts";

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

/** The events' values of all bins end to end; those of bin t run from start[t] to end[t], distinct and ascending. */
interface EventValues {
  readonly start: Int32Array; // [T+1]
  readonly end: Int32Array; // [T+1]
  readonly value: Float64Array;
  /** Weight of the events with exactly this value. */
  readonly own: Float64Array;
  /** Weight of the events of the same bin with smaller values. */
  readonly below: Float64Array;
}

function refuseNaN(row: number, t: number): never {
  throw new InputError(`a predicted survival is not a number: bin ${t}`, {
    code: "curves.nan",
    where: `row ${row + 1}`,
  });
}

function sortEventValues(
  curves: Curves,
  outcomes: BinnedRightCensored,
  options: TimeDependentOptions,
): EventValues {
  const { T, survival } = curves;
  const { weights, rows } = options;
  const { bin, event } = outcomes;
  const count = rows === undefined ? curves.N : rows.length;
  const start = new Int32Array(T + 2);
  for (let i = 0; i < count; i++) {
    const row = rows === undefined ? i : rows[i];
    if (event[row] === 1) start[bin[row] + 1]++;
  }
  for (let t = 1; t <= T + 1; t++) start[t] += start[t - 1];
  const found = start[T + 1];
  const eventRow = new Int32Array(found);
  const value = new Float64Array(found);
  const next = start.slice();
  for (let i = 0; i < count; i++) {
    const row = rows === undefined ? i : rows[i];
    if (event[row] !== 1) continue;
    const t = bin[row];
    const at = next[t]++;
    eventRow[at] = row;
    value[at] = survival[row * T + t - 1];
    if (Number.isNaN(value[at])) refuseNaN(row, t);
  }
  const end = new Int32Array(T + 1);
  const own = new Float64Array(found);
  const below = new Float64Array(found);
  for (let t = 1; t <= T; t++) {
    const from = start[t];
    const values = value.subarray(from, start[t + 1]);
    const kept = keepDistinct(values.sort());
    for (let at = from; at < start[t + 1]; at++) {
      const row = eventRow[at];
      own[from + countBelow(kept, survival[row * T + t - 1])] += weights === undefined ? 1 : weights[row];
    }
    for (let k = 1; k < kept.length; k++) below[from + k] = below[from + k - 1] + own[from + k - 1];
    end[t] = from + kept.length;
  }
  return { start: start.slice(0, T + 1), end, value, own, below };
}

/** Counts pairs by whether F at the earlier event time orders them correctly. */
export function timeDependentPairs(
  predicted: CurvesInput,
  observed: BinnedRightCensoredInput,
  options: TimeDependentOptions = {},
): TimeDependentPairs {
  const { weights, rows } = options;
  const { curves, binned: outcomes } = matchOutcomes(predicted, observed, "concordance");
  const { N, T, survival } = curves;
  const { bin, event } = outcomes;
  const { atRisk, events, censored } = tallyBins(outcomes, weights, rows);
  const { start, end, value, own, below } = sortEventValues(curves, outcomes, options);

  let concordant = 0;
  let tied = 0;
  let censoredConcordant = 0;
  let censoredTied = 0;
  const count = rows === undefined ? N : rows.length;
  for (let i = 0; i < count; i++) {
    const row = rows === undefined ? i : rows[i];
    const weight = weights === undefined ? 1 : weights[row];
    if (weight === 0) continue;
    const last = bin[row];
    const compared = event[row] === 1 ? last - 1 : last;
    let rowConcordant = 0;
    let rowTied = 0;
    for (let t = 1; t <= compared; t++) {
      const from = start[t];
      const stop = end[t];
      if (from === stop) continue;
      const S = survival[row * T + t - 1];
      if (Number.isNaN(S)) refuseNaN(row, t);
      // First event value that is not below S.
      let low = from;
      let high = stop;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (value[middle] < S) low = middle + 1;
        else high = middle;
      }
      const lower = low < stop ? below[low] : events[t];
      const equal = low < stop && value[low] === S ? own[low] : 0;
      if (t < last) {
        rowConcordant += lower;
        rowTied += equal;
      } else {
        censoredConcordant += weight * lower;
        censoredTied += weight * equal;
      }
    }
    concordant += weight * rowConcordant;
    tied += weight * rowTied;
  }

  let pairs = 0;
  let censoredPairs = 0;
  let eventPairs = 0;
  let eventTied = 0;
  const pairsAmong = (weight: number) => (weight * (weight - 1)) / 2;
  for (let t = 1; t <= T; t++) {
    pairs += events[t] * (t < T ? atRisk[t + 1] : 0);
    censoredPairs += events[t] * censored[t];
    if (events[t] > 0) eventPairs += pairsAmong(events[t]);
    for (let k = start[t]; k < end[t]; k++) if (own[k] > 0) eventTied += pairsAmong(own[k]);
  }
  return {
    pairs,
    concordant,
    tied,
    censoredPairs,
    censoredConcordant,
    censoredTied,
    eventPairs,
    eventTied,
  };
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
