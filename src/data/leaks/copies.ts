/**
 * Signs that a column is a copy of the time. Exact copies hold the time itself, to the digit, in one unit: in part of
 * the table, or as the time of another outcome of the same people. Where times repeat, some values are equal by chance,
 * and more of them where the column is related to the time; but a copy is equal to the time and to nothing beside it,
 * while an honest column is equally often a little off. Other copies put the times in order: no two rows contradict
 * each other, which does not depend on unit, rounding or transform; or Spearman's rank correlation (ties at their mean
 * rank) is high, which survives a little noise.
 */
import { countBelow } from "../../core/ascending.ts";
import { logGamma } from "../../core/distributions.ts";
import { say, share } from "../../core/sentence.ts";
import { type LeakRows, MOST, SAMPLE_ROWS, SOME } from "./rows.ts";
import type { TimeLeak } from "./time.ts";

/** At least so many rows, and so many different times, must agree to the digit. */
const MIN_EQUAL_ROWS = 20;
const MIN_EQUAL_TIMES = 10;
/** Two quotients column / time within this relative distance are one unit: beyond the digits of a file. */
const SAME_QUOTIENT = 1e-9;
/** Excess over the rows equal by chance, in standard deviations of their number: no luck of the draw … */
const BEYOND_CHANCE = 5;
/** … and as a multiple of their number: a good prognosis in whole months is right twice as often as one month off. */
const TIMES_CHANCE = 3;

/** Rows of one kind (censored, events, all) that are equal to the time, and how many would be by chance. */
interface Equal {
  rows: number;
  counted: number;
  byChance: number;
  justBefore: number;
  justAfter: number;
}

/** `unit` is the column's `commonQuotient`. */
export function equalTimes(
  numbers: Float64Array,
  name: string,
  unit: number | null,
  leak: LeakRows,
): TimeLeak | null {
  if (unit === null) return null;
  const found = countEqual(numbers, unit, leak);
  if (found === null) return null;
  const [censored, events] = found;
  const all = addUp(censored, events);
  if (all.rows < MIN_EQUAL_ROWS) return null;
  const excess = Math.max(...[all, censored, events].map(excessShare));
  if (excess < SOME) return null;
  const scaled = unit === 1 ? "equals the time" : `is ${Number(unit.toPrecision(6))} times the time`;
  const rows = share(all.rows, all.counted, { noun: "row" });
  const ofEvents = events.rows === 0 ? "none of these" : share(events.rows, all.rows, { these: true });
  const byChance = Math.max(all.byChance, all.justBefore, all.justAfter);
  const chance = byChance >= 1 ? ` (about ${Math.round(byChance)} would by chance)` : "";
  const said = say`${name} ${scaled} in ${rows}${chance}; ${ofEvents} had the event`;
  const evidence = { rows: all.rows, equalEvents: events.rows, equalCensored: censored.rows, unit, byChance };
  return { level: excess >= MOST ? "error" : "warning", said, evidence };
}

/** Whether a value is the time in that unit, within the digits of a file. */
export function isSameTime(value: number, time: number, unit: number): boolean {
  return value !== 0 && time !== 0 && Math.abs(value - unit * time) <= SAME_QUOTIENT * Math.abs(value);
}

function excessShare({ rows, counted, byChance, justBefore, justAfter }: Equal): number {
  const otherwise = Math.max(byChance, justBefore, justAfter);
  const excess = rows - otherwise;
  if (rows < MIN_EQUAL_ROWS || excess <= BEYOND_CHANCE * Math.sqrt(otherwise)) return 0;
  if (rows < TIMES_CHANCE * otherwise) return 0;
  return excess / (counted - otherwise);
}

function addUp(a: Equal, b: Equal): Equal {
  return {
    rows: a.rows + b.rows,
    counted: a.counted + b.counted,
    byChance: a.byChance + b.byChance,
    justBefore: a.justBefore + b.justBefore,
    justAfter: a.justAfter + b.justAfter,
  };
}

/** Counts for censored rows and for events; null where too few times are met. */
function countEqual(numbers: Float64Array, unit: number, leak: LeakRows): [Equal, Equal] | null {
  const { time, event } = leak;
  const N = time.length;
  const atTime = new Map<number, number>();
  let total = 0;
  for (let row = 0; row < N; row++) {
    if (!isSameTime(numbers[row], time[row], unit)) continue;
    atTime.set(time[row], (atTime.get(time[row]) ?? 0) + 1);
    total++;
  }
  if (total < MIN_EQUAL_ROWS || atTime.size < MIN_EQUAL_TIMES) return null;
  // One time shared by most (the end of the study) proves nothing: its rows are left out.
  const common = [...atTime].find(([, count]) => count > MOST * total)?.[0];
  const times = Float64Array.from(new Set(time.filter((one) => one !== common))).sort();
  const placeFrom = (from: number) => countBelow(times, from);
  const place = (value: number) => {
    const near = placeFrom((value / unit) * (1 - SAME_QUOTIENT));
    return near < times.length && isSameTime(value, times[near], unit) ? near : -1;
  };
  const own = [new Int32Array(times.length), new Int32Array(times.length)];
  for (let row = 0; row < N; row++) if (time[row] !== common) own[event[row]][placeFrom(time[row])]++;
  const found: [Equal, Equal] = [createEqual(), createEqual()];
  for (let row = 0; row < N; row++) {
    if (time[row] === common) continue;
    const one = found[event[row]];
    one.counted++;
    const k = place(numbers[row]);
    if (k < 0) continue;
    one.byChance += own[event[row]][k];
    if (times[k] === time[row]) one.rows++;
    else if (times[k + 1] === time[row]) one.justBefore++;
    else if (times[k - 1] === time[row]) one.justAfter++;
  }
  for (const one of found) one.byChance /= Math.max(1, one.counted);
  return found;
}

function createEqual(): Equal {
  return { rows: 0, counted: 0, byChance: 0, justBefore: 0, justAfter: 0 };
}

/** The commonest quotient value / time in a sample of the rows, if enough of them have it. */
export function commonQuotient(numbers: Float64Array, time: Float64Array): number | null {
  const size = Math.min(time.length, SAMPLE_ROWS);
  const sample = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    const row = Math.floor((i * time.length) / size);
    sample[i] = numbers[row] / time[row];
  }
  const quotients = sample.filter((quotient) => Number.isFinite(quotient) && quotient !== 0).sort();
  let best = 0;
  let unit = 0;
  for (let from = 0; from < quotients.length; ) {
    let to = from;
    const limit = SAME_QUOTIENT * Math.abs(quotients[from]);
    while (to < quotients.length && quotients[to] - quotients[from] <= limit) to++;
    if (to - from > best) {
      best = to - from;
      unit = quotients[from];
    }
    from = to;
  }
  // Half of the required share, so that a sample does not lose what the table has.
  return best >= (SOME / 2) * size ? unit : null;
}

export interface ComparedOrder {
  /** The values never fall while the times rise, or never rise; equal values or times contradict nothing. */
  readonly inOrder: boolean;
  /**
   * −log of the chance of that order: n! over the orders left open by ties, where rows connected through a common value
   * or a common time form one block, and both directions count. 0 where the order is not kept.
   */
  readonly evidence: number;
}

/** `rows` by increasing time. */
export function compareOrder(values: Float64Array, time: Float64Array, rows: Int32Array): ComparedOrder {
  const rising = compareRising(values, time, rows, 1);
  const found = rising.inOrder ? rising : compareRising(values, time, rows, -1);
  return found.inOrder ? found : { inOrder: false, evidence: 0 };
}

function compareRising(
  values: Float64Array,
  time: Float64Array,
  rows: Int32Array,
  sign: 1 | -1,
): ComparedOrder {
  let highest = Number.NEGATIVE_INFINITY;
  let block = 0;
  let evidence = logGamma(rows.length + 1) - Math.LN2;
  for (let i = 0; i < rows.length; ) {
    const now = time[rows[i]];
    const from = i;
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (; i < rows.length && time[rows[i]] === now; i++) {
      const value = sign * values[rows[i]];
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (low < highest) return { inOrder: false, evidence: 0 };
    if (low > highest) {
      evidence -= logGamma(block + 1);
      block = 0;
    }
    block += i - from;
    highest = high;
  }
  return { inOrder: true, evidence: evidence - logGamma(block + 1) };
}

/** Spearman's rank correlation over the given rows; 0 where one side is constant. */
export function rankCorrelation(a: Float64Array, b: Float64Array, rows: Int32Array): number {
  const ranksA = meanRanks(a, rows);
  const ranksB = meanRanks(b, rows);
  const middle = (rows.length + 1) / 2;
  let ab = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < rows.length; i++) {
    const x = ranksA[i] - middle;
    const y = ranksB[i] - middle;
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa > 0 && bb > 0 ? ab / Math.sqrt(aa * bb) : 0;
}

/** Ranks 1…n of the values of the rows, in the order of the rows; ties at their mean. */
export function meanRanks(values: Float64Array, rows: Int32Array): Float64Array {
  const order = Int32Array.from(rows.keys()).sort((a, b) => values[rows[a]] - values[rows[b]]);
  const ranks = new Float64Array(rows.length);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to < order.length && values[rows[order[to]]] === values[rows[order[from]]]) to++;
    for (let i = from; i < to; i++) ranks[order[i]] = (from + 1 + to) / 2;
    from = to;
  }
  return ranks;
}

export interface ComparedIntervals {
  /** The codes that occur, by their times. */
  readonly codes: Int32Array;
  /** −log of the chance that so many rows fall into intervals that do not overlap; 0 where some do. */
  readonly evidence: number;
}

/** Do the times of each code lie in an interval of their own? Codes that touch at a common time are one block. */
export function compareIntervals(
  codes: Int32Array,
  K: number,
  time: Float64Array,
  rows: Int32Array,
): ComparedIntervals {
  const low = new Float64Array(K).fill(Number.POSITIVE_INFINITY);
  const high = new Float64Array(K).fill(Number.NEGATIVE_INFINITY);
  const counts = new Int32Array(K);
  for (const row of rows) {
    const code = codes[row];
    counts[code]++;
    low[code] = Math.min(low[code], time[row]);
    high[code] = Math.max(high[code], time[row]);
  }
  const used = Int32Array.from(counts.keys()).filter((code) => counts[code] > 0);
  used.sort((a, b) => low[a] - low[b] || high[a] - high[b]);
  let evidence = logGamma(rows.length + 1) - logGamma(used.length + 1); // any order of the codes would do
  let block = 0;
  for (let i = 0; i < used.length; i++) {
    const gap = i === 0 ? 1 : low[used[i]] - high[used[i - 1]];
    if (gap < 0) return { codes: used, evidence: 0 };
    if (gap > 0) {
      evidence -= logGamma(block + 1);
      block = 0;
    }
    block += counts[used[i]];
  }
  return { codes: used, evidence: evidence - logGamma(block + 1) };
}
