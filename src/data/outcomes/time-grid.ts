/**
 * The time grid of T bins (edges[t−1], edges[t]], t = 1…T, from 0 to the horizon: fitted on training outcomes, then
 * used everywhere. Equal bins: bin = clip(ceil(time · T / horizon), 1, T), multiplying before dividing, because the
 * other order puts some exact edges one bin too late. Quantile bins: inner edges at quantiles of the training event
 * times. Time 0 falls in bin 1; an event after the horizon is a censoring at T. Between edges a curve is piecewise
 * linear, with S(0) = 1 at time 0 and S(t) at the upper edge of bin t; that defines medians, means and values at raw
 * times.
 * Censored times are rounded up with the rest, which biases Kaplan-Meier upwards: `binningGap` says by how much.
 */

import { InputError, nameRows } from "../../core/errors.ts";
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import { present } from "../../core/present.ts";
import { type OutcomesInput, type RightCensoredInput, toOutcomes, toRightCensored } from "../plain-input.ts";
import { divideBins, firstBinOf } from "./bins-at-risk.ts";
import type {
  BinnedOutcomes,
  BinnedRightCensored,
  BinnedSingleCause,
  EveryField,
  Outcomes,
  RightCensored,
  SingleCause,
} from "./outcomes.ts";
import { productLimit, tallyRisk } from "./rows-by-time.ts";

export type TimeGridKind = "equal" | "quantile";

/** The bins of time that curves are predicted for. */
export interface TimeGrid {
  readonly kind: TimeGridKind;
  readonly T: number;
  /** [T+1], strictly ascending; edges[0] = 0, edges[T] = horizon. */
  readonly edges: Float64Array;
}

/** How many bins, up to when, of which kind. */
export interface TimeGridOptions {
  /** Bins asked for; 102 unless given, more under late entry; a quantile grid may have fewer, see fitTimeGrid. */
  readonly T?: number;
  /** Default: the largest training time. */
  readonly horizon?: number;
  /** Bins of equal width, the default, or between quantiles of the training event times. */
  readonly kind?: TimeGridKind;
}

/** The GRADUATE paper's number of bins. */
export const DEFAULT_BINS = 102;
/** Under late entry there are at most this many times as many by default: a step costs as much more. */
const MOST_FINER = 4;
/** The share of people who are not above the times that decide it. */
const UPPER_SHARE = 0.95;
/** A day each for fifty years; a model file that claims more asks for memory, not for predictions. */
export const MAX_BINS = 20_000;

/**
 * A quantile grid takes its inner edges from the k/T quantiles (inverse of the empirical distribution, so each is an
 * observed time) of the training event times up to the horizon. Equal quantiles, and those at 0 or at the horizon, make
 * one edge: heavily tied event times give fewer bins than asked for, and `T` of the result says how many.
 */
export function fitTimeGrid(outcomes: OutcomesInput, options: TimeGridOptions = {}): TimeGrid {
  const training = toOutcomes(outcomes);
  checkTimes(training.time);
  if (training.time.length === 0)
    throw new InputError("no training rows to fit a time grid on", { code: "rows.none" });
  const { kind = "equal", horizon = largest(training.time) } = options;
  const { T = defaultBins(training, horizon) } = options;
  if (horizon === 0 && options.horizon === undefined) {
    throw new InputError("every training time is 0: there is no time to divide into bins", {
      code: "time.zero",
      hint: "is this the column of the times to the event or to censoring?",
    });
  }
  if (kind === "quantile") {
    checkBinsAndHorizon(T, horizon);
    const edges = quantileEdges(training, T, horizon);
    return { kind, T: edges.length - 1, edges };
  }
  return equalTimeGrid(T, horizon);
}

/**
 * 102 bins are fine enough for people who are seen from the start of the clock. Where age is the clock, people are
 * under observation for a small part of it, and bins of the whole would be too wide for their time at risk: then there
 * are two to four times as many, as the time on the clock is to the time under observation.
 */
function defaultBins({ time, entry, id }: Outcomes, horizon: number): number {
  if (entry === undefined) return DEFAULT_BINS;
  const people = new Map<number, { first: number; last: number }>();
  for (let row = 0; row < time.length; row++) {
    const person = id?.[row] ?? row;
    const { first, last } = people.get(person) ?? { first: horizon, last: 0 };
    people.set(person, {
      first: Math.min(first, entry[row]),
      last: Math.max(last, Math.min(time[row], horizon)),
    });
  }
  const seen = [...people.values()];
  const ends = upperQuantile(seen.map(({ last }) => last));
  const spans = upperQuantile(seen.map(({ first, last }) => last - first));
  if (!(spans > 0)) return DEFAULT_BINS;
  return DEFAULT_BINS * Math.min(MOST_FINER, Math.max(1, Math.round(ends / spans)));
}

/** Nearly the largest, so that one person who was seen for long does not decide. */
function upperQuantile(values: number[]): number {
  values.sort((one, other) => one - other);
  return values[Math.ceil(UPPER_SHARE * values.length) - 1];
}

/** T bins of equal width up to the horizon, which is the last edge to the last bit. */
export function equalTimeGrid(T: number, horizon: number): TimeGrid {
  checkBinsAndHorizon(T, horizon);
  const edges = Float64Array.from({ length: T + 1 }, (_, t) => (t * horizon) / T);
  edges[T] = horizon;
  return { kind: "equal", T, edges };
}

/** The bin, 1…T, of a time ≥ 0; times after the horizon are in bin T. */
export function findBin(grid: TimeGrid, time: number): number {
  const { T, edges } = grid;
  if (grid.kind === "equal") return Math.min(Math.max(Math.ceil((time * T) / edges[T]), 1), T);
  let low = 1;
  let high = T;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time <= edges[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Puts times into bins; events after the horizon become censorings in the last. Everything else stays. */
export function binOutcomes(input: RightCensoredInput, grid: TimeGrid): BinnedRightCensored;
export function binOutcomes(input: SingleCause, grid: TimeGrid): BinnedSingleCause;
export function binOutcomes(input: OutcomesInput, grid: TimeGrid): BinnedOutcomes;
export function binOutcomes(input: OutcomesInput, grid: TimeGrid): BinnedOutcomes {
  const { time, event, entry, cause, weight, id } = toOutcomes(input);
  checkTimes(time);
  const horizon = grid.edges[grid.T];
  const last = Int32Array.from(time, (one) => findBin(grid, one));
  const first = entry && findFirstBins(grid, entry, time);
  const { bin, firstBin } = first
    ? divideBins({ first, last }, { entry, time, event, id }, (one) => reachedAfter(grid, one))
    : { bin: last, firstBin: undefined };
  const binned: EveryField<BinnedOutcomes> = {
    T: grid.T,
    bin,
    event: event.map((one, row) => (time[row] > horizon ? 0 : one)),
    firstBin,
    cause: cause?.map((one, row) => (time[row] > horizon ? 0 : one)),
    weight,
    id,
  };
  return present(binned) as BinnedOutcomes;
}

/** A row is at risk from the bin after that of its entry, or from bin 1 where it enters at time 0. */
function findFirstBins(grid: TimeGrid, entry: Float64Array, time: Float64Array): Int32Array {
  const bad: number[] = [];
  for (let row = 0; row < entry.length; row++) {
    const isBefore = entry[row] >= 0 && (entry[row] < time[row] || (entry[row] === 0 && time[row] === 0));
    if (!isBefore) bad.push(row);
  }
  if (bad.length > 0) {
    throw new InputError(`entry is not from 0 up and before the time: ${entry[bad[0]]} and ${time[bad[0]]}`, {
      code: "entry.invalid",
      where: nameRows(bad.map((row) => row + 1)),
    });
  }
  return Int32Array.from(entry, (one) => firstBinOf(one, findBin(grid, one)));
}

/** The bin that someone who goes on after this time is in next. */
function reachedAfter(grid: TimeGrid, time: number): number {
  const t = findBin(grid, time);
  return time >= grid.edges[t] ? t + 1 : t;
}

/** S at a raw time, from a curve of T values; absent after the horizon, where the curve says nothing. */
export function interpolateCurve(curve: ArrayLike<number>, grid: TimeGrid, time: number): Measured {
  const { T, edges } = grid;
  if (!(time >= 0)) throw new InputError(`time is not a number from 0 up: ${time}`, { code: "time.invalid" });
  if (time > edges[T]) return absent(`time ${time} is after the horizon ${edges[T]}`);
  const t = findBin(grid, time);
  const before = t === 1 ? 1 : curve[t - 2];
  // Clamped: an equal bin's rounded edges can leave a time at an edge some 1e-16 outside the bin the formula gives it.
  const share = Math.min(Math.max((time - edges[t - 1]) / (edges[t] - edges[t - 1]), 0), 1);
  return (1 - share) * before + share * curve[t - 1];
}

/** The first time by which a share p has had the event, S(time) = 1 − p; absent when the curve ends above that. */
export function quantileTime(curve: ArrayLike<number>, grid: TimeGrid, p: number): Measured {
  if (!(p >= 0 && p <= 1))
    throw new InputError(`share is not between 0 and 1: ${p}`, { code: "share.invalid" });
  const { T, edges } = grid;
  const level = 1 - p;
  let before = 1;
  if (level === 1) return 0;
  for (let t = 1; t <= T; t++) {
    const after = curve[t - 1];
    if (after <= level) {
      const share = (before - level) / (before - after);
      return (1 - share) * edges[t - 1] + share * edges[t];
    }
    before = after;
  }
  return absent(`survival is still ${before} at the horizon ${edges[T]}, above ${level}`);
}

/** The time at which a curve crosses one half; absent when it stays above. */
export function medianTime(curve: ArrayLike<number>, grid: TimeGrid): Measured {
  return quantileTime(curve, grid, 0.5);
}

/**
 * The mean time to the event or to `until`, whichever comes first: the area under the curve from 0 to `until`, by
 * trapezoids; absent after the horizon.
 */
export function restrictedMeanTime(curve: ArrayLike<number>, grid: TimeGrid, until: number): Measured {
  const last = interpolateCurve(curve, grid, until);
  if (isAbsent(last)) return last;
  const { T, edges } = grid;
  let area = 0;
  let before = 1;
  let t = 1;
  for (; t <= T && edges[t] <= until; t++) {
    area += ((edges[t] - edges[t - 1]) * (before + curve[t - 1])) / 2;
    before = curve[t - 1];
  }
  return area + ((until - edges[t - 1]) * (before + last)) / 2;
}

function quantileEdges(training: Outcomes, T: number, horizon: number): Float64Array {
  const times = training.time.filter((time, i) => training.event[i] === 1 && time <= horizon).sort();
  if (times.length === 0) {
    throw new InputError(`no event up to the horizon ${horizon} in the training rows, so no quantiles`, {
      code: "events.none",
      hint: 'use equal bins: kind "equal"',
    });
  }
  const edges = [0];
  for (let k = 1; k < T; k++) {
    const edge = times[Math.ceil((k * times.length) / T) - 1];
    if (edge > edges[edges.length - 1] && edge < horizon) edges.push(edge);
  }
  return Float64Array.from([...edges, horizon]);
}

function checkTimes(time: Float64Array): void {
  const bad: number[] = [];
  for (let i = 0; i < time.length; i++)
    if (!(time[i] >= 0 && time[i] < Number.POSITIVE_INFINITY)) bad.push(i);
  if (bad.length === 0) return;
  throw new InputError(`time is not a number from 0 up: ${time[bad[0]]}`, {
    code: "time.invalid",
    where: nameRows(bad.map((row) => row + 1)),
  });
}

function checkBinsAndHorizon(T: number, horizon: number): void {
  if (!Number.isInteger(T) || T < 1 || T > MAX_BINS) {
    throw new InputError(`number of time bins is not a whole number from 1 to ${MAX_BINS}: ${T}`, {
      code: "bins.invalid",
    });
  }
  if (!(horizon > 0 && horizon < Number.POSITIVE_INFINITY)) {
    throw new InputError(`horizon is not a positive number: ${horizon}`, {
      code: "horizon.invalid",
      hint: "the horizon is the largest training time unless one is given",
    });
  }
}

function largest(time: Float64Array): number {
  let max = 0;
  for (let i = 0; i < time.length; i++) if (time[i] > max) max = time[i];
  return max;
}

/** Kaplan-Meier at the horizon, by times and by bins. */
export interface BinningGap {
  /** Kaplan-Meier at the horizon from the times as given. */
  readonly raw: number;
  /** The same after rounding times up to bins. */
  readonly binned: number;
  /** Greenwood's, of `raw`; of the value before where the last event takes `raw` to 0 and leaves it undefined. */
  readonly standardError: number;
  readonly exceedsHalfStandardError: boolean;
}

/** Compares Kaplan-Meier of raw and of binned times at the horizon. */
export function binningGap(input: RightCensoredInput, grid: TimeGrid): BinningGap {
  const { time } = toRightCensored(input, "the binning gap");
  // In `event`, events after the horizon are censored, which the raw times need as well.
  const { bin, event } = binOutcomes(input, grid);
  const { survival: raw, standardError } = estimateAtEnd({ time, event });
  const { survival: binned } = estimateAtEnd({ time: Float64Array.from(bin), event });
  return {
    raw,
    binned,
    standardError,
    exceedsHalfStandardError: Math.abs(raw - binned) > standardError / 2,
  };
}

/** The last value of the product-limit estimate, and the last standard error that is defined. */
function estimateAtEnd(outcomes: RightCensored): {
  readonly survival: number;
  readonly standardError: number;
} {
  const { survival, greenwood } = productLimit(tallyRisk(outcomes));
  const K = survival.length;
  if (K === 0) return { survival: 1, standardError: 0 };
  const last = survival[K - 1] > 0 ? K - 1 : survival.indexOf(0) - 1;
  const standardError = last < 0 ? 0 : survival[last] * Math.sqrt(greenwood[last]);
  return { survival: survival[K - 1], standardError };
}
