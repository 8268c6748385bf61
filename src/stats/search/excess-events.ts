/**
 * Observed against expected events of a group of rows, in a few blocks of time bins. Per row and block: O, whether the
 * event occurred; E = Σ h_s(x_i) and V = Σ h(1−h) over the bins at risk (the sums of the individual logrank,
 * individual-logrank.ts, cut into blocks; a row of weight w adds wO, wE and w²V). These are valid when censoring
 * depends on x and under late entry. A group is measured by the deviance of "its hazards are θ times the predicted",
 *   2 [O log(O/E) − (O − E)] · E/V,
 * which tends to (O−E)²/V and, unlike it, keeps its level down to a handful of events: with one θ for all time (1 df,
 * the level), with log θ linear over the blocks (2 df, the trend) and with one θ per block (B df, the shape). The three
 * share one p-value: three times the smallest. Where other rows have shown what θ to look for, testReplication has one
 * df and is one-sided. search-groups.ts searches many groups for the largest.
 */
import { logChiSquareUpperTail, normalQuantile, normalUpperTail } from "../../core/distributions.ts";
import { exp, expm1, log, square } from "../../core/elementary.ts";
import { InputError } from "../../core/errors.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { BinnedSingleCause } from "../../data/outcomes/outcomes.ts";
import { checkMatching } from "../calibration/calibration.ts";

/** Bins first…last, both included. */
export interface BinBlock {
  readonly first: number;
  readonly last: number;
}

/** For each row: O of every block, then E, then V, then 1 (so that a sum over rows counts them). */
export interface BlockTotals {
  readonly N: number;
  readonly B: number;
  readonly width: number; // 3·B + 1
  readonly values: Float64Array; // [N,width]
}

/**
 * As in the at-risk constraint: a smaller variance means a curve that is certain, and would mean dividing by almost 0.
 */
export const VARIANCE_FLOOR = 0.01;
/**
 * Expected events below this count as none: an event there is practically impossible, and its deviance is large but
 * finite.
 */
const EXPECTED_FLOOR = 1e-9;

/** Totals in the order of `rows`; all rows unless given. */
export function tallyBlocks(
  curves: Curves,
  outcomes: BinnedSingleCause,
  blocks: readonly BinBlock[],
  rows?: ArrayLike<number>,
): BlockTotals {
  checkMatching(curves, outcomes);
  const { T, survival } = curves;
  const B = blocks.length;
  const blockOf = new Int32Array(T).fill(-1);
  blocks.forEach(({ first, last }, b) => {
    blockOf.fill(b, first - 1, last);
  });
  if (blockOf.includes(-1))
    throw new InputError("the time blocks leave bins out", { code: "option.invalid" });
  const N = rows === undefined ? curves.N : rows.length;
  const width = 3 * B + 1;
  const values = new Float64Array(N * width);
  const { firstBin, weight } = outcomes;
  for (let i = 0; i < N; i++) {
    const row = rows === undefined ? i : rows[i];
    const at = i * width;
    const last = outcomes.bin[row];
    const from = firstBin === undefined ? 0 : firstBin[row] - 1;
    const own = weight === undefined ? 1 : weight[row];
    let before = from === 0 ? 1 : survival[row * T + from - 1];
    for (let t = from; t < last && before > 0; t++) {
      const now = survival[row * T + t];
      const hazard = 1 - now / before;
      values[at + B + blockOf[t]] += own * hazard;
      values[at + 2 * B + blockOf[t]] += own * own * hazard * (1 - hazard);
      before = now;
    }
    if (outcomes.event[row] === 1 && from < last) values[at + blockOf[last - 1]] = own;
    values[at + 3 * B] = 1;
  }
  return { N, B, width, values };
}

/** Sums over some rows, in the layout of one row. */
export function sumTotals(totals: BlockTotals, rows: ArrayLike<number>): Float64Array {
  const { width, values } = totals;
  const sums = new Float64Array(width);
  for (let i = 0; i < rows.length; i++) {
    const at = rows[i] * width;
    for (let w = 0; w < width; w++) sums[w] += values[at + w];
  }
  return sums;
}

/** Asymptotically χ² with 1 df when the predictions are right. */
export function deviance(observed: number, expected: number, variance: number): number {
  const E = Math.max(expected, EXPECTED_FLOOR);
  const difference = observed > 0 ? observed * log(observed / E) - (observed - E) : E;
  return 2 * Math.max(0, difference) * scaleOf(E, variance);
}

/** The deviances of sums in the layout of BlockTotals. */
export interface Excess {
  /** Over all time, 1 df. */
  readonly level: number;
  /** For a level that changes steadily from block to block, 2 df. */
  readonly trend: number;
  /** Summed over blocks, B df. */
  readonly shape: number;
  /** Logarithm of three times the smallest p-value, at most 0. */
  readonly logP: number;
}

/** How many deviances share a p-value. */
export const DEVIANCES = 3;

export function measureExcess(sums: ArrayLike<number>, B: number): Excess {
  let observed = 0;
  let expected = 0;
  let variance = 0;
  let shape = 0;
  for (let b = 0; b < B; b++) {
    shape += deviance(sums[b], sums[B + b], sums[2 * B + b]);
    observed += sums[b];
    expected += sums[B + b];
    variance += sums[2 * B + b];
  }
  const level = deviance(observed, expected, variance);
  // The models are nested: despite rounding and the fit's last step, it must not exceed the sum.
  const trend = Math.min(fitTrend(sums, B), shape);
  const smallest = Math.min(
    logChiSquareUpperTail(level, 1),
    logChiSquareUpperTail(trend, Math.min(2, B)),
    logChiSquareUpperTail(shape, B),
  );
  return { level, trend, shape, logP: Math.min(0, smallest + log(DEVIANCES)) };
}

/**
 * E/V: events in discrete time vary less than those of a Poisson process, so their deviance is larger by this factor.
 */
function scaleOf(expected: number, variance: number): number {
  return expected / Math.max(variance, Math.min(expected, VARIANCE_FLOOR));
}

/** Newton steps of the two fits below; both are concave in one number and need about five. */
const STEPS = 30;
/** Longest step of a log ratio, so that a distant start does not diverge. */
const LONGEST_STEP = 2;
/** Log ratios beyond this are practically infinite, for example with all events in the last block. */
const LARGEST_SLOPE = 12;
/** Steps shorter than this change no printed digit. */
const SHORTEST_STEP = 1e-8;

/**
 * The deviance of log θ_b = a + c·b, the counts of each block scaled by its E/V. For every c the best a makes the
 * totals agree, which leaves Σ O (log θ_b) to be maximised over c.
 */
function fitTrend(sums: ArrayLike<number>, B: number): number {
  const middle = (B - 1) / 2;
  let observed = 0;
  let expected = 0;
  let moment = 0; // Σ O·(b − middle)
  const E = new Float64Array(B);
  for (let b = 0; b < B; b++) {
    E[b] = Math.max(sums[B + b], EXPECTED_FLOOR);
    const scale = scaleOf(E[b], sums[2 * B + b]);
    E[b] *= scale;
    observed += sums[b] * scale;
    moment += sums[b] * scale * (b - middle);
    expected += E[b];
  }
  if (observed === 0) return 2 * expected;
  let slope = 0;
  let total = expected; // Σ E exp(c·(b − middle))
  for (let step = 0; step < STEPS; step++) {
    let first = 0;
    let second = 0;
    total = 0;
    for (let b = 0; b < B; b++) {
      const fitted = E[b] * exp(slope * (b - middle));
      total += fitted;
      first += fitted * (b - middle);
      second += fitted * (b - middle) * (b - middle);
    }
    const mean = first / total;
    const variance = second / total - mean * mean;
    const wanted = (moment / observed - mean) / Math.max(variance, SHORTEST_STEP);
    const change = Math.max(-LONGEST_STEP, Math.min(LONGEST_STEP, wanted));
    if (Math.abs(change) < SHORTEST_STEP || Math.abs(slope + change) > LARGEST_SLOPE) break;
    slope += change;
  }
  const likelihood = observed * log(observed / total) + slope * moment - observed + expected;
  return 2 * Math.max(0, likelihood);
}

/** Events added on both sides of O/E before its logarithm is taken: few events say little about the direction. */
const PRIOR_EVENTS = 1;

/** log θ of every block as estimated from some rows. */
export function estimateDirection(sums: ArrayLike<number>, B: number): Float64Array {
  return Float64Array.from({ length: B }, (_, b) =>
    log((sums[b] + PRIOR_EVENTS) / (sums[B + b] + PRIOR_EVENTS)),
  );
}

/**
 * One-sided p of "log θ_b = c·w_b" with c > 0 against c = 0, with the direction w given: the signed root of the
 * deviance. As long as w comes from other rows, the test keeps its level whatever w is, and for a departure of that
 * kind it has more power than any test of all directions. `dispersion` is how much more the events vary about the
 * expected than by their own chance, where that is known.
 */
export function testReplication(
  sums: ArrayLike<number>,
  B: number,
  direction: ArrayLike<number>,
  dispersion = 1,
): number {
  const E = new Float64Array(B);
  const w = new Float64Array(B);
  // The largest weight is 1, so that c is the log ratio of the block that departs most.
  const largest = Array.from(direction).reduce((max, one) => Math.max(max, Math.abs(one)), 0);
  let observed = 0; // Σ w·O
  let expected = 0; // Σ w·E
  for (let b = 0; b < B; b++) {
    const scale = scaleOf(Math.max(sums[B + b], EXPECTED_FLOOR), sums[2 * B + b]);
    E[b] = sums[B + b] * scale;
    w[b] = largest > 0 ? direction[b] / largest : 0;
    observed += w[b] * sums[b] * scale;
    expected += w[b] * E[b];
  }
  let slope = 0;
  for (let step = 0; step < STEPS; step++) {
    let fitted = 0;
    let curvature = 0;
    for (let b = 0; b < B; b++) {
      const one = E[b] * w[b] * exp(slope * w[b]);
      fitted += one;
      curvature += one * w[b];
    }
    if (curvature < EXPECTED_FLOOR) break;
    const wanted = (observed - fitted) / curvature;
    const change = Math.max(-LONGEST_STEP, Math.min(LONGEST_STEP, wanted));
    if (Math.abs(change) < SHORTEST_STEP || Math.abs(slope + change) > LARGEST_SLOPE) break;
    slope += change;
  }
  const gain = E.reduce((sum, e, b) => sum - e * expm1(slope * w[b]), slope * observed);
  return normalUpperTail(Math.sign(observed - expected) * Math.sqrt((2 * Math.max(0, gain)) / dispersion));
}

export interface BlockExcess extends BinBlock {
  readonly observed: number;
  readonly expected: number;
}

export interface ExcessEvents extends Excess {
  readonly n: number;
  readonly observed: number;
  readonly expected: number;
  /**
   * Observed over expected, with the interval of θ that the level's deviance does not reject; null if no events are
   * expected.
   */
  readonly ratio: number | null;
  readonly lower: number | null;
  readonly upper: number | null;
  readonly p: number;
  readonly blocks: readonly BlockExcess[];
}

export function testExcess(
  totals: BlockTotals,
  blocks: readonly BinBlock[],
  rows: ArrayLike<number>,
  { level = 0.95, dispersion = 1 }: { readonly level?: number; readonly dispersion?: number } = {},
): ExcessEvents {
  const { B } = totals;
  const sums = sumTotals(totals, rows);
  const total = (from: number) =>
    sums.subarray(from * B, (from + 1) * B).reduce((sum, value) => sum + value, 0);
  const [observed, expected, variance] = [total(0), total(1), total(2)];
  const measured = measureExcess(sums, B);
  const [lower, upper] = ratioInterval(observed, expected, variance, level, dispersion);
  return {
    ...measured,
    n: sums[3 * B],
    observed,
    expected,
    ratio: expected > 0 ? observed / expected : null,
    lower,
    upper,
    p: exp(measured.logP),
    blocks: blocks.map((block, b) => ({ ...block, observed: sums[b], expected: sums[B + b] })),
  };
}

/** Number of bisections of a bracket of the ratio's limits: enough to reach the last bit of a double. */
const HALVINGS = 100;

/** The θ with deviance(O, θE, θV) at most the χ² quantile, times the dispersion where rows depend on each other. */
function ratioInterval(
  observed: number,
  expected: number,
  variance: number,
  level: number,
  dispersion: number,
): readonly [number | null, number | null] {
  if (!(expected > 0)) return [null, null];
  const quantile = square(normalQuantile(0.5 + level / 2)) * dispersion;
  const rejects = (ratio: number) => deviance(observed, ratio * expected, ratio * variance) > quantile;
  const ratio = observed / expected;
  const search = (inside: number, outside: number) => {
    let [kept, rejected] = [inside, outside];
    for (let k = 0; k < HALVINGS; k++) {
      const middle = (kept + rejected) / 2;
      if (rejects(middle)) rejected = middle;
      else kept = middle;
    }
    return kept;
  };
  let far = Math.max(ratio, 1 / expected);
  while (!rejects(far)) far *= 2;
  return [observed === 0 ? 0 : search(ratio, 0), search(ratio, far)];
}

/** The |z| from which an early or late half of the time counts as having a direction of its own. */
const NOTABLE = 1;
/** The share of the excess in one half of the time from which it counts as mostly there. */
const MOSTLY = 0.75;

/** The direction in words, e.g. "too few events predicted, mostly late". */
export function describeExcess({ observed, expected, level, blocks }: ExcessEvents): string {
  const side = (from: number, to: number) => {
    const half = blocks.slice(from, to);
    const O = half.reduce((sum, block) => sum + block.observed, 0);
    const E = half.reduce((sum, block) => sum + block.expected, 0);
    return { excess: O - E, z: (O - E) / Math.sqrt(Math.max(E, VARIANCE_FLOOR)) };
  };
  const middle = Math.ceil(blocks.length / 2);
  const [early, late] = [side(0, middle), side(middle, blocks.length)];
  const crossing = early.excess * late.excess < 0 && Math.min(Math.abs(early.z), Math.abs(late.z)) >= NOTABLE;
  const word = (excess: number) => (excess > 0 ? "too few" : "too many");
  if (crossing) return `${word(early.excess)} events predicted early, ${word(late.excess)} late`;
  if (level < NOTABLE) return "right in total, wrong over time";
  const share = late.excess / (observed - expected);
  const when = share >= MOSTLY ? ", mostly late" : share <= 1 - MOSTLY ? ", mostly early" : "";
  return `${word(observed - expected)} events predicted${when}`;
}
