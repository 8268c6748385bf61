/**
 * Other outcomes of the same people. The time of a relapse, a transplantation or a visit lies within the follow-up: it
 * is never later than the end of the row's own, though often later than the end of a stranger's. Nothing known at the
 * start behaves so. A column that says whether that other thing happened (it did not where the time is that of the
 * follow-up, or is missing) is known no earlier. The time of a later outcome, such as death in a table of relapses,
 * equals that of our follow-up in many rows, is later in others, and is never earlier. It cannot tell row by row
 * whether the outcome happened; but those to whom it happened have the shorter times. So of the columns with two
 * values, the finding asks about the one most strongly related to that time, where the relation is stronger than an
 * honest column's would be.
 */

import { countBelow } from "../../core/ascending.ts";
import { present } from "../../core/present.ts";
import { count, percent, say, share, whole } from "../../core/sentence.ts";
import { createFinding, type Finding } from "../checks/findings.ts";
import { equalTimes, isSameTime, meanRanks } from "./copies.ts";
import { askWhenKnown } from "./later.ts";
import {
  type LeakColumn,
  type LeakRows,
  MAX_SLIPS,
  SAMPLE_ROWS,
  sampleOf,
  splitByValues,
  type ValueSplit,
} from "./rows.ts";

/**
 * Rows that would lie beyond a stranger's follow-up: at least so many, and at least this share of those with a value.
 */
const MIN_BEYOND = 10;
const MIN_BEYOND_SHARE = 0.05;
/** Relative rounding error that a change of unit costs. */
const ROUNDING = 1e-9;
/** sensitivity + specificity − 1 with which a column tells whether the other thing happened. */
const PAIR_YOUDEN = 0.8;
/** Fewest rows of either kind: fewer say nothing. */
const MIN_PAIR_ROWS = 20;
/** Only the first so many times are paired with every other column. */
const MAX_PAIRED_TIMES = 10;

/** Numbers that may be a time within the follow-up: a column, or its difference from the date column `partner`. */
export interface TimeCandidate {
  readonly name: string;
  readonly numbers: Float64Array; // [N]
  /** What one unit of the time is in these numbers. */
  readonly unit: number;
  readonly partner: string | null;
}

/** A column that is a time within the follow-up. */
export interface FollowUpTime extends TimeCandidate {
  /** Rows with a value, and those that would lie beyond a stranger's follow-up. */
  readonly known: number;
  readonly beyond: number;
  readonly slips: number;
}

/**
 * The column as a time within the follow-up, or null where it is none. `partner`, the date at which the follow-up of
 * each row began, is already subtracted.
 */
export function findFollowUpTime(
  { name, numbers, unit, partner }: TimeCandidate,
  leak: LeakRows,
): FollowUpTime | null {
  if (unit < 0) return null;
  const sample = sampleOf(leak.byTime(), SAMPLE_ROWS);
  const isSample = sample.length < leak.time.length;
  const screened = countBeyond(numbers, unit, leak, sample);
  if (screened === null || screened.slips > MAX_SLIPS * screened.beyond + (isSample ? 1 : 0)) return null;
  const counted = isSample ? countBeyond(numbers, unit, leak, leak.byTime()) : screened;
  if (counted === null || counted.slips > MAX_SLIPS * counted.beyond) return null;
  if (counted.beyond < Math.max(MIN_BEYOND, MIN_BEYOND_SHARE * counted.known)) return null;
  return { name, numbers, unit, partner, ...counted };
}

/**
 * Counts values beyond the row's own time, and those expected beyond a stranger's. Null for values below 0, which are
 * no times, and as soon as too many are beyond their own. `rows` are by increasing time, so that a value's place among
 * the times can be found.
 */
function countBeyond(numbers: Float64Array, unit: number, { time }: LeakRows, rows: Int32Array) {
  const n = rows.length;
  const ascending = Float64Array.from(rows, (row) => time[row]);
  const mostSlips = MAX_SLIPS * n + 1;
  let known = 0;
  let beyond = 0;
  let slips = 0;
  for (const row of rows) {
    const value = numbers[row] / unit;
    if (Number.isNaN(value)) continue;
    const shortened = value * (1 - ROUNDING);
    if (shortened > time[row]) slips++;
    if (value < 0 || slips > mostSlips) return null;
    known++;
    beyond += countBelow(ascending, shortened) / n;
  }
  return { known, beyond, slips };
}

export function describeFollowUpTime({ name, partner, known, beyond, slips }: FollowUpTime): Finding {
  const what = partner === null ? name : `${name} − ${partner}`;
  const within = slips === 0 ? whole("all", known, "row") : share(known - slips, known, { noun: "row" });
  const isWithin = `${what} is a time within the follow-up: it is no later than the row's own time in`;
  const chance = `${Math.round(beyond)} would lie beyond it by chance`;
  return createFinding({
    code: "leak.later",
    level: "warning",
    column: name,
    said: say`${isWithin} ${within} with a value, where ${chance}`,
    hint: askWhenKnown(name),
    evidence: { sign: "within", rows: known, beyond, slips, ...present({ partner: partner ?? undefined }) },
  });
}

/** Columns that say whether what a follow-up time stands for happened, with that time's name. */
export function findOutcomePair(
  column: LeakColumn,
  times: readonly FollowUpTime[],
  leak: LeakRows,
): Finding | null {
  const others = times.filter(({ name }) => name !== column.name).slice(0, MAX_PAIRED_TIMES);
  if (others.length === 0) return null;
  const { codes, splits } = splitByValues(column, leak);
  if (splits.length === 0) return null;
  for (const other of others) {
    for (const [kind, happened] of listStates(other, leak)) {
      for (const split of splits) {
        const told = tellApart(codes, split.code, happened);
        if (told === null) continue;
        const what = kind === "equal" ? "earlier than the time" : "known";
        return describeOutcomePair(column.name, other.name, what, split, told);
      }
    }
  }
  return null;
}

function describeOutcomePair(
  column: string,
  timeColumn: string,
  what: string,
  split: ValueSplit,
  { isValue, hits, sideRows, falseHits, otherRows }: ToldApart,
): Finding {
  const side = isValue ? split.text : split.otherText;
  const rest = isValue ? split.otherText : split.text;
  const pair = `${column} and ${timeColumn} look like another outcome of the same people`;
  const most = say`${share(hits, sideRows, { noun: "row" })} ${side}${percent(hits, sideRows)}`;
  return createFinding({
    code: "leak.later",
    level: "warning",
    column,
    said: say`${pair}: ${timeColumn} is ${what} in ${most} and in ${share(falseHits, otherRows)} ${rest}`,
    hint: askWhenKnown(column),
    evidence: {
      sign: "pair",
      timeColumn,
      side,
      rows: sideRows,
      hits,
      otherRows,
      otherHits: falseHits,
    },
  });
}

/**
 * 1 where the other thing happened, told by a time earlier than the follow-up's or by a time being known at all; −1
 * unknown.
 */
function listStates({ numbers, unit }: FollowUpTime, leak: LeakRows): ["equal" | "known", Int8Array][] {
  const N = numbers.length;
  const known = new Int8Array(N);
  const earlier = new Int8Array(N);
  for (let row = 0; row < N; row++) {
    const isKnown = !Number.isNaN(numbers[row]);
    known[row] = isKnown ? 1 : 0;
    earlier[row] = isKnown ? (isSameTime(numbers[row], leak.time[row], unit) ? 0 : 1) : -1;
  }
  return [
    ["equal", earlier],
    ["known", known],
  ];
}

/** Rows on the side where the other thing happened, rows on the other side, and in how many of each it did. */
interface ToldApart {
  /** Whether that side is the value, or all others. */
  readonly isValue: boolean;
  readonly hits: number;
  readonly sideRows: number;
  readonly falseHits: number;
  readonly otherRows: number;
}

/** Whether a value's rows are those in which the other thing happened or those in which it did not; null if neither. */
function tellApart(codes: Int8Array, code: number, happened: Int8Array): ToldApart | null {
  const counts = [0, 0, 0, 0]; // other rows without and with it, rows of the value without and with it
  for (let row = 0; row < codes.length; row++) {
    if (happened[row] < 0) continue;
    counts[(codes[row] === code ? 2 : 0) + happened[row]]++;
  }
  const [otherNot, otherHits, valueNot, valueHits] = counts;
  const did = otherHits + valueHits;
  const didNot = otherNot + valueNot;
  if (did < MIN_PAIR_ROWS || didNot < MIN_PAIR_ROWS) return null;
  const youden = valueHits / did - valueNot / didNot;
  if (Math.abs(youden) < PAIR_YOUDEN) return null;
  const isValue = youden > 0;
  const [hits, not, falseHits, falseNot] = isValue
    ? [valueHits, valueNot, otherHits, otherNot]
    : [otherHits, otherNot, valueHits, valueNot];
  return { isValue, hits, sideRows: hits + not, falseHits, otherRows: falseHits + falseNot };
}

/** The fewest rows in which it is later than ours; fewer are slips in a copy. */
const MIN_LATER = 20;
/**
 * Share of pairs, one row of each value, in which the time is longer on one side: .5 is no relation, and honest values
 * reach .65.
 */
const LEAST_PROBABILITY = 0.7;

/** The time of a later outcome. */
export interface LaterTime {
  readonly name: string;
  /** Average rank of each row's time, 0 where it is missing. */
  readonly ranks: Float64Array; // [N]
  readonly equal: number;
  readonly later: number;
}

/** The column as the time of a later outcome, or null; `unit` is its `commonQuotient`. */
export function findLaterTime(
  { name, numbers }: { readonly name: string; readonly numbers: Float64Array | null },
  unit: number | null,
  leak: LeakRows,
): LaterTime | null {
  if (numbers === null || unit === null || unit < 0) return null;
  let equal = 0;
  let later = 0;
  let slips = 0;
  for (let row = 0; row < numbers.length; row++) {
    if (Number.isNaN(numbers[row])) continue;
    if (isSameTime(numbers[row], leak.time[row], unit)) equal++;
    else if (numbers[row] > unit * leak.time[row]) later++;
    else if (numbers[row] < unit * leak.time[row]) slips++;
  }
  if (later < MIN_LATER || slips > MAX_SLIPS * later) return null;
  // Equal by chance, as a coarse number may be, is no sign of a second outcome.
  if (equalTimes(numbers, name, unit, leak) === null) return null;
  return { name, ranks: rank(numbers), equal, later };
}

function rank(numbers: Float64Array): Float64Array {
  const known = Int32Array.from(numbers.keys()).filter((row) => !Number.isNaN(numbers[row]));
  const ranks = new Float64Array(numbers.length);
  meanRanks(numbers, known).forEach((one, i) => {
    ranks[known[i]] = one;
  });
  return ranks;
}

/** How a column of two values is related to a later time. */
interface JudgedColumn {
  readonly column: string;
  readonly time: LaterTime;
  /** The side with the shorter times, how many rows it has, and the probability that one of them is shorter. */
  readonly side: string;
  readonly rows: number;
  readonly probability: number;
}

/** The column's relation to the later times where it is strong enough; null for columns of other than two values. */
export function judgeIndicator(
  column: LeakColumn,
  times: readonly LaterTime[],
  leak: LeakRows,
): JudgedColumn | null {
  if (times.length === 0 || column.counts.rows.length !== 2) return null;
  const { codes, splits } = splitByValues(column, leak);
  if (splits.length !== 1) return null; // a column with missing values is no record of what happened
  const [split] = splits;
  let best: JudgedColumn | null = null;
  for (const time of times) {
    if (time.name === column.name) continue;
    let n = 0;
    let m = 0;
    let sum = 0;
    for (let row = 0; row < codes.length; row++) {
      if (time.ranks[row] === 0) continue;
      if (codes[row] === split.code) {
        n++;
        sum += time.ranks[row];
      } else m++;
    }
    if (n === 0 || m === 0) continue;
    const longer = (sum - (n * (n + 1)) / 2) / (n * m); // Mann-Whitney
    const probability = Math.max(longer, 1 - longer);
    if (probability < LEAST_PROBABILITY || probability <= (best?.probability ?? 0)) continue;
    const side = longer < 0.5 ? split.text : split.otherText;
    best = { column: column.name, time, side, rows: longer < 0.5 ? n : m, probability };
  }
  return best;
}

/** The finding about the column most strongly related to a later time: one for every such time. */
export function describeLaterOutcomes(judged: readonly (JudgedColumn | null)[]): Finding[] {
  const best = new Map<string, JudgedColumn>();
  for (const one of judged) {
    if (one !== null && one.probability > (best.get(one.time.name)?.probability ?? 0))
      best.set(one.time.name, one);
  }
  return [...best.values()].map(({ column, time, side, rows, probability }) => {
    const { name, equal, later } = time;
    const equals = say`${name} equals the time in ${count(equal, "row")} and is later in ${later}`;
    const shorter = say`it is shorter in the ${count(rows, "row")} ${side}`;
    return createFinding({
      code: "leak.later",
      level: "warning",
      column,
      said: say`${column} and ${name} look like a later outcome of the same people: ${equals}, and ${shorter}`,
      hint: askWhenKnown(`${column},${name}`),
      evidence: { sign: "after", timeColumn: name, side, rows, equal, later, probability },
    });
  });
}
