/**
 * Times that lie within the follow-up, and the columns that belong to them. The time of a relapse, a transplantation or
 * a visit is never later than the end of the row's own follow-up, though it is often later than the end of a
 * stranger's. Nothing known at the start behaves so. A column that says whether that other thing happened (it did not
 * where the time is that of the follow-up, or is missing) is known no earlier: together they are another outcome of the
 * same people.
 */
import { present } from "../../core/present.ts";
import { percent, say, share, whole } from "../../core/sentence.ts";
import { createFinding, type Finding } from "../checks/findings.ts";
import { isSameTime } from "./copies.ts";
import { askWhenKnown } from "./later.ts";
import { firstFrom, type LeakColumn, type LeakRows, MAX_SLIPS, SAMPLE_ROWS, sampleOf } from "./rows.ts";
import { splitByValues, type ValueSplit } from "./splits.ts";

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
    beyond += firstFrom((i) => time[rows[i]], n, shortened) / n;
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
  return youden > 0
    ? {
        isValue: true,
        hits: valueHits,
        sideRows: valueHits + valueNot,
        falseHits: otherHits,
        otherRows: did + didNot - valueHits - valueNot,
      }
    : {
        isValue: false,
        hits: otherHits,
        sideRows: otherHits + otherNot,
        falseHits: valueHits,
        otherRows: did + didNot - otherHits - otherNot,
      };
}
