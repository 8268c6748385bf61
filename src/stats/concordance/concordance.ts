/**
 * Concordance of a risk score (higher = earlier event) with the order of events. Harrell: the share of comparable pairs
 * ordered correctly, with score ties counting half. Uno: the same with every pair weighted by 1/G² of its earlier time,
 * G the censoring distribution, so that the answer does not depend on who was censored. Three published conventions are
 * available by name, see CONVENTIONS. The cost is O(N log N): times go from last to first, and the scores seen so far
 * are in a Fenwick tree. Whole-number weights are equivalent to repeated rows, also in the counts of ties. With late
 * entry, j is compared with an earlier event i only if j was under observation by then, entry_j < t_i; weights that the
 * outcomes hold multiply to the weight of a pair, and a row makes no pair with itself, as in R.
 */

import { countBelow } from "../../core/ascending.ts";
import { square } from "../../core/elementary.ts";
import { absent, type Measured } from "../../core/measured.ts";
import { present } from "../../core/present.ts";
import type { Outcomes, RowWeights } from "../../data/outcomes/outcomes.ts";
import { checkLength, distinctAscending, groupRowsByTime } from "../../data/outcomes/rows-by-time.ts";
import {
  type RightCensoredInput,
  type SingleCauseInput,
  toRightCensored,
  toSingleCause,
} from "../../data/plain-input.ts";
import { type CensoringTies, censoringKaplanMeier, stepValue } from "../censoring.ts";

/** "r": an event and a censoring at the same time are comparable, the event first; "strict": only t_i < t_j. */
export type ComparablePairs = "r" | "strict";

export interface HarrellOptions {
  readonly weights?: RowWeights;
  readonly pairs?: ComparablePairs;
}

export interface PairCounts {
  readonly concordant: number;
  readonly discordant: number;
  /** Comparable, but with equal scores; R's `tied.x`. */
  readonly tiedRisk: number;
  /** Two events at one time with different scores; R's `tied.y`. */
  readonly tiedTime: number;
  /** Two events at one time with equal scores; R's `tied.xy`. */
  readonly tiedBoth: number;
}

export interface ConcordanceHarrell extends PairCounts {
  readonly c: Measured;
}

export type UnoConvention = "r" | "scikit-survival" | "mlr3proba";

/** Where the censoring weights come from, and up to which time pairs count. */
export interface UnoOptions {
  /** Whose Uno's C: ties, limits and τ as in that program. */
  readonly convention: UnoConvention;
  /** Weights of the scored rows. */
  readonly weights?: RowWeights;
  /** The rows G is estimated on, usually the training rows; the scored rows when not given. */
  readonly censoring?: RightCensoredInput;
  /** Weights of the rows the censoring distribution is estimated on. */
  readonly censoringWeights?: RowWeights;
  /** Only pairs whose earlier time is before (for "r": at or before) this count. */
  readonly tau?: number;
}

type RankedPairs = Pick<PairCounts, "concordant" | "discordant" | "tiedRisk">;

/** Sums of weights, not numbers of pairs. */
interface ConcordanceUno extends RankedPairs {
  readonly c: Measured;
}

interface Convention {
  readonly pairs: ComparablePairs;
  readonly ties: CensoringTies;
  /** Whether G is read just before the event time, G(t−), or at it. */
  readonly leftLimit: boolean;
  readonly tauIncluded: boolean;
  /** Scores closer than this are tied. */
  readonly tolerance: number;
}

/** scikit-survival's default `tied_tol`. */
const SCIKIT_SURVIVAL_TOLERANCE = 1e-8;

/**
 * R: `concordance(..., timewt = "n/G2")`, tau = `ymax`. scikit-survival: `concordance_index_ipcw`. mlr3proba: the
 * measure `surv.cindex` with weight G2, tau = `t_max`; there an event before the first training time gets weight −1,
 * here G = 1.
 */
const CONVENTIONS: Readonly<Record<UnoConvention, Convention>> = {
  r: { pairs: "r", ties: "reverse", leftLimit: true, tauIncluded: true, tolerance: 0 },
  "scikit-survival": {
    pairs: "r",
    ties: "reverse",
    leftLimit: false,
    tauIncluded: false,
    tolerance: SCIKIT_SURVIVAL_TOLERANCE,
  },
  mlr3proba: { pairs: "strict", ties: "simple", leftLimit: false, tauIncluded: false, tolerance: 0 },
};

interface PairRule {
  readonly pairs: ComparablePairs;
  /** Whether a weight stands for people who are not in the table, so that a row makes no pair with itself. */
  readonly sampled?: boolean;
  readonly tolerance: number;
  readonly weights: RowWeights | undefined;
  /** The weight of a pair whose earlier event is at this time; 0 leaves it out. */
  readonly timeWeight: (time: number) => number;
}

/** Sums of weights by score rank: `add` one, `below` the total over the first `ranks` ranks. */
export function createRankSums(U: number) {
  const tree = new Float64Array(U + 1);
  return {
    add(rank: number, weight: number): void {
      for (let node = rank + 1; node <= U; node += node & -node) tree[node] += weight;
    },
    below(ranks: number): number {
      let sum = 0;
      for (let node = ranks; node > 0; node &= node - 1) sum += tree[node];
      return sum;
    },
  };
}

/** How many leading scores satisfy a condition that holds for a first run of them and for none after. */
function countFront(scores: Float64Array, holds: (score: number) => boolean): number {
  let low = 0;
  let high = scores.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(scores[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where the scores tied with scores[rank] begin and end (exclusive). */
function tiedRange(scores: Float64Array, rank: number, tolerance: number): { first: number; end: number } {
  if (tolerance === 0) return { first: rank, end: rank + 1 };
  // The rounded difference itself is compared, as in scikit-survival; rounding preserves order, so the ties form one
  // run.
  const own = scores[rank];
  const first = countFront(scores, (score) => own - score > tolerance);
  return { first, end: countFront(scores, (score) => score - own <= tolerance) };
}

/** Rows in descending order of their entries, those from the start left out. */
function listLate({ entry }: Outcomes, weights: RowWeights | undefined): Int32Array {
  if (entry === undefined) return new Int32Array(0);
  const late = Int32Array.from(entry.keys()).filter((row) => entry[row] > 0 && weights?.[row] !== 0);
  return late.sort((a, b) => entry[b] - entry[a]);
}

function countPairs(outcomes: Outcomes, risk: ArrayLike<number>, rule: PairRule): PairCounts {
  checkLength("risk", risk.length, outcomes.time.length);
  const { time, start, rows } = groupRowsByTime(outcomes.time, rule);
  const scores = distinctAscending(risk, "risk");
  const rank = Int32Array.from(risk, (score) => countBelow(scores, score));
  const weightOf = (row: number) => (rule.weights === undefined ? 1 : rule.weights[row]);
  const later = createRankSums(scores.length);
  const late = listLate(outcomes, rule.weights);
  let gone = 0;
  let laterWeight = 0;
  let concordant = 0;
  let discordant = 0;
  let tiedRisk = 0;
  let tiedTime = 0;
  let tiedBoth = 0;
  for (let k = time.length - 1; k >= 0; k--) {
    const here = rows.subarray(start[k], start[k + 1]);
    for (; gone < late.length && (outcomes.entry?.[late[gone]] ?? 0) >= time[k]; gone++) {
      later.add(rank[late[gone]], -weightOf(late[gone]));
      laterWeight -= weightOf(late[gone]);
    }
    const enter = (event: 0 | 1) => {
      for (const row of here) {
        if (outcomes.event[row] !== event) continue;
        later.add(rank[row], weightOf(row));
        laterWeight += weightOf(row);
      }
    };
    if (rule.pairs === "r") enter(0);
    const events = here.filter((row) => outcomes.event[row] === 1);
    // With nobody later there is nothing to weigh, even where G = 0 would make the weight infinite.
    const timeWeight = events.length > 0 && laterWeight > 0 ? rule.timeWeight(time[k]) : 0;
    if (timeWeight > 0) {
      for (const row of events) {
        const { first, end } = tiedRange(scores, rank[row], rule.tolerance);
        const lower = later.below(first);
        const notHigher = later.below(end);
        const weight = weightOf(row) * timeWeight;
        concordant += weight * lower;
        tiedRisk += weight * (notHigher - lower);
        discordant += weight * (laterWeight - notHigher);
      }
    }
    if (events.length > 0) {
      const count = rule.sampled === true ? sampledPairsAmong : pairsAmong;
      const together = count(events, rank, weightOf);
      tiedTime += together.all - together.equalRisk;
      tiedBoth += together.equalRisk;
    }
    if (rule.pairs === "strict") enter(0);
    enter(1);
  }
  return { concordant, discordant, tiedRisk, tiedTime, tiedBoth };
}

/** Unordered pairs among the events of one time, in total and with equal scores; W copies make W(W−1)/2 pairs. */
function pairsAmong(events: Int32Array, rank: Int32Array, weightOf: (row: number) => number) {
  const pairs = (weight: number) => (weight * (weight - 1)) / 2;
  let total = 0;
  const byRank = new Map<number, number>();
  for (const row of events) {
    total += weightOf(row);
    byRank.set(rank[row], (byRank.get(rank[row]) ?? 0) + weightOf(row));
  }
  let equalRisk = 0;
  for (const weight of byRank.values()) equalRisk += pairs(weight);
  return { all: pairs(total), equalRisk };
}

/** The same where weights stand for people who are not in the table: Σ w_i w_j over pairs of rows. */
function sampledPairsAmong(events: Int32Array, rank: Int32Array, weightOf: (row: number) => number) {
  let [all, equalRisk, total] = [0, 0, 0];
  const byRank = new Map<number, number>();
  for (const row of events) {
    const weight = weightOf(row);
    const equal = byRank.get(rank[row]) ?? 0;
    all += weight * total;
    equalRisk += weight * equal;
    total += weight;
    byRank.set(rank[row], equal + weight);
  }
  return { all, equalRisk };
}

const NO_PAIRS = "no comparable pairs";

/** Harrell's C of a risk score. */
export function concordanceHarrell(
  observed: SingleCauseInput,
  risk: ArrayLike<number>,
  options: HarrellOptions = {},
): ConcordanceHarrell {
  const outcomes = toSingleCause(observed, "concordance");
  const { pairs = "r", weights = outcomes.weight } = options;
  const sampled = options.weights === undefined && outcomes.weight !== undefined;
  const counts = countPairs(outcomes, risk, { pairs, weights, sampled, tolerance: 0, timeWeight: () => 1 });
  return { ...counts, c: halfTies(counts) };
}

/** Uno's C, with censoring weights. */
export function concordanceUno(
  observed: SingleCauseInput,
  risk: ArrayLike<number>,
  options: UnoOptions,
): ConcordanceUno {
  if (observed.entry !== undefined) {
    const c = absent("not defined under late entry: censoring weights count people from the start");
    return { c, concordant: 0, discordant: 0, tiedRisk: 0 };
  }
  const outcomes = toRightCensored(observed as RightCensoredInput, "Uno's concordance");
  const { pairs, ties, leftLimit, tauIncluded, tolerance } = CONVENTIONS[options.convention];
  const { weights, censoring = outcomes, tau = Number.POSITIVE_INFINITY } = options;
  const censoringWeights = options.censoring === undefined ? weights : options.censoringWeights;
  const G = censoringKaplanMeier(censoring, { ties, ...present({ weights: censoringWeights }) });
  const timeWeight = (time: number) => {
    if (time > tau || (time === tau && !tauIncluded)) return 0;
    return 1 / square(stepValue(G.time, G.survival, time, leftLimit));
  };
  const rule = { pairs, weights, tolerance, timeWeight };
  const { concordant, discordant, tiedRisk } = countPairs(outcomes, risk, rule);
  if (!Number.isFinite(concordant + discordant + tiedRisk)) {
    const c = absent("everyone was censored before an event time: its censoring weight is infinite");
    return { c, concordant: 0, discordant: 0, tiedRisk: 0 };
  }
  return { c: halfTies({ concordant, discordant, tiedRisk }), concordant, discordant, tiedRisk };
}

function halfTies(counts: RankedPairs): Measured {
  const comparable = counts.concordant + counts.discordant + counts.tiedRisk;
  return comparable > 0 ? (counts.concordant + counts.tiedRisk / 2) / comparable : absent(NO_PAIRS);
}
