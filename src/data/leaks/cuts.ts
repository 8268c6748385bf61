/**
 * The ways in which one column can cut the rows of a table in two, each as counts of rows and events on the side that
 * has more events and on the other: value against missing; sets of values (missing is one of them) against the rest;
 * above against below a number or date. Which values go on a side is decided by counts alone, among so few choices that
 * chance can be accounted for: `logSearched` is what the search costs. What a cut means is event.ts' business.
 */
import { countBelow } from "../../core/ascending.ts";
import { log } from "../../core/elementary.ts";
import { type LeakColumn, type LeakRows, logChoose } from "./rows.ts";

/** "values": the pure values against the rest; "majority": every value on the side of its majority. */
export type CutKind = "missing" | "values" | "majority" | "threshold";

/** A cut of the rows in two; rows on neither side are not part of it. */
export interface Cut {
  readonly kind: CutKind;
  readonly eventSide: Side;
  readonly otherSide: Side;
  /** 1 = event side, 0 = other side, −1 = neither. */
  readonly sideOf: (row: number) => number;
  /** log of how many cuts of this kind were looked at. */
  readonly logSearched: number;
}

export interface Side {
  readonly rows: number;
  readonly events: number;
  /** "with a value", "with 2", "above 3.5" */
  readonly text: string;
}

/** Values with fewer rows are pooled before a majority vote: alone they would agree with themselves. */
const MIN_VALUE_ROWS = 10;
/** A pure value counts on its own from this share of its class on: a patient with a few rows is pure, too. */
const MIN_VALUE_SHARE = 0.05;
/** Most values that a sentence lists. */
const MAX_VALUES_NAMED = 4;

/** The cuts of a column, the plainest first: a threshold is easier to say than a long list of values. */
export function cutRows(column: LeakColumn, leak: LeakRows): Cut[] {
  const byValues = cutByValues(column, leak);
  const byThreshold = cutByThreshold(column);
  const isLong = column.counts.values.length > 2 * MAX_VALUES_NAMED;
  return [
    ...cutByMissing(column, leak),
    ...(isLong ? [...byThreshold, ...byValues] : [...byValues, ...byThreshold]),
  ];
}

function isMissingAt(column: LeakColumn, row: number): boolean {
  return column.numbers ? Number.isNaN(column.numbers[row]) : (column.codes?.[row] ?? -1) < 0;
}

function cutByMissing(column: LeakColumn, leak: LeakRows): Cut[] {
  const { known, knownEvents } = column.counts;
  const missing = leak.rows.length - known;
  if (missing === 0) return [];
  const withValue = { rows: known, events: knownEvents, text: "with a value" };
  const without = { rows: missing, events: leak.events - knownEvents, text: "without" };
  const knownIsEvent = knownEvents * missing > without.events * known;
  const sideOf = (row: number) => (isMissingAt(column, row) === knownIsEvent ? 0 : 1);
  const [eventSide, otherSide] = knownIsEvent ? [withValue, without] : [without, withValue];
  return [{ kind: "missing", eventSide, otherSide, sideOf, logSearched: 0 }];
}

/** Rows and events of every value, then of missing as one more value. */
interface Cells {
  readonly rows: Int32Array; // [K+1]
  readonly events: Int32Array; // [K+1]
}

function cutByValues(column: LeakColumn, leak: LeakRows): Cut[] {
  const { counts } = column;
  const K = counts.values.length;
  const N = leak.rows.length;
  const cells = { rows: new Int32Array(K + 1), events: new Int32Array(K + 1) };
  cells.rows.set(counts.rows);
  cells.events.set(counts.events);
  cells.rows[K] = N - counts.known;
  cells.events[K] = leak.events - counts.knownEvents;

  const pureEvent = findPure(cells, cells.events, leak.events, leak);
  const pureCensored = findPure(
    cells,
    cells.rows.map((n, k) => n - cells.events[k]),
    N - leak.events,
    leak,
  );
  const vote = voteByMajority(cells);
  const cuts: Cut[] = [];
  // k values can be halved in 2^(k−1) ways.
  const add = (kind: CutKind, member: Uint8Array, choices: number, withMissing = true) => {
    cuts.push(cutByMembers(column, kind, cells, member, (choices - 1) * Math.LN2, withMissing));
  };
  if (pureEvent.found) add("values", pureEvent.member, pureEvent.choices);
  if (pureCensored.found)
    add(
      "values",
      pureCensored.member.map((pure) => 1 - pure),
      pureCensored.choices,
    );
  if (vote.found) add("majority", vote.member, vote.choices);
  if (vote.found && cells.rows[K] > 0) add("majority", vote.member, vote.choices, false);
  return cuts;
}

/** Values whose rows all belong to the class, more of them than chance can explain. */
function findPure(cells: Cells, inClass: Int32Array, classSize: number, leak: LeakRows) {
  const N = leak.rows.length;
  const member = new Uint8Array(cells.rows.length);
  const fewest = MIN_VALUE_SHARE * classSize;
  let choices = 0;
  for (const n of cells.rows) if (n > 0 && n >= fewest) choices++;
  let found = false;
  for (let k = 0; k < member.length; k++) {
    const n = cells.rows[k];
    if (n === 0 || n < fewest || inClass[k] < n) continue;
    // Hypergeometric: n rows drawn from N, all of the class, for one of the values large enough to be looked at.
    if (logChoose(classSize, n) - logChoose(N, n) + log(choices) >= leak.logAlpha) continue;
    member[k] = 1;
    found = true;
  }
  return { member, choices, found };
}

function voteByMajority(cells: Cells) {
  const member = new Uint8Array(cells.rows.length);
  let smallRows = 0;
  let smallEvents = 0;
  for (let k = 0; k < member.length; k++) {
    if (cells.rows[k] >= MIN_VALUE_ROWS) continue;
    smallRows += cells.rows[k];
    smallEvents += cells.events[k];
  }
  const smallVote = 2 * smallEvents > smallRows ? 1 : 0;
  let choices = smallRows > 0 ? 1 : 0;
  let found = false;
  for (let k = 0; k < member.length; k++) {
    const isLarge = cells.rows[k] >= MIN_VALUE_ROWS;
    member[k] = isLarge ? (2 * cells.events[k] > cells.rows[k] ? 1 : 0) : smallVote;
    if (isLarge) choices++;
    if (cells.rows[k] > 0 && member[k] === 1) found = true;
  }
  return { member, choices, found };
}

function cutByMembers(
  column: LeakColumn,
  kind: CutKind,
  cells: Cells,
  member: Uint8Array,
  logSearched: number,
  withMissing: boolean,
): Cut {
  const { values } = column.counts;
  const K = values.length;
  const [otherSide, eventSide] = [0, 1].map((side) => {
    const texts: string[] = [];
    let rows = 0;
    let events = 0;
    let more = 0;
    for (let k = 0; k < (withMissing ? K + 1 : K); k++) {
      if (member[k] !== side || cells.rows[k] === 0) continue;
      rows += cells.rows[k];
      events += cells.events[k];
      if (texts.length >= MAX_VALUES_NAMED) more++;
      else texts.push(k < K ? column.label(values[k]) : "no value");
    }
    return {
      rows,
      events,
      text: `with ${more > 0 ? `${texts.join(", ")} and ${more} more` : joinOr(texts)}`,
    };
  });
  const sideOf = (row: number) => {
    if (isMissingAt(column, row)) return withMissing ? member[K] : -1;
    return member[column.numbers ? countBelow(values, column.numbers[row]) : (column.codes?.[row] ?? K)];
  };
  return { kind, eventSide, otherSide, sideOf, logSearched };
}

function joinOr(texts: readonly string[]): string {
  if (texts.length < 2) return texts.join("");
  return `${texts.slice(0, -1).join(", ")} or ${texts[texts.length - 1]}`;
}

/** The threshold on a number or date with the largest |share of events − share of censored rows| below it. */
function cutByThreshold(column: LeakColumn): Cut[] {
  const { numbers, counts, label } = column;
  const { values, rows, events, known, knownEvents } = counts;
  const K = values.length;
  const E = knownEvents;
  const C = known - E;
  if (numbers === null || K < 3 || E === 0 || C === 0) return []; // two values are a cut by values already
  let best = -1;
  let bestGap = 0;
  let below = { rows: 0, events: 0 };
  for (let k = 0, n = 0, e = 0; k < K - 1; k++) {
    n += rows[k];
    e += events[k];
    const gap = Math.abs(e / E - (n - e) / C);
    if (gap <= bestGap) continue;
    best = k;
    bestGap = gap;
    below = { rows: n, events: e };
  }
  if (best < 0) return [];
  const cutAt = values[best];
  const low = { ...below, text: `at or below ${label(cutAt)}` };
  const high = { rows: known - below.rows, events: E - below.events, text: `above ${label(cutAt)}` };
  const highIsEvent = below.events / E < (below.rows - below.events) / C;
  const sideOf = (row: number) => {
    if (Number.isNaN(numbers[row])) return -1;
    return numbers[row] > cutAt === highIsEvent ? 1 : 0;
  };
  const [eventSide, otherSide] = highIsEvent ? [high, low] : [low, high];
  return [{ kind: "threshold", eventSide, otherSide, sideOf, logSearched: log(2 * K) }];
}
