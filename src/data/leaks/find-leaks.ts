/**
 * Leaks: columns that could only be filled in after the outcome was known. A model fitted on one looks excellent and is
 * worthless. The detectors look at what a column says about event (event.ts) and time (time.ts), and whether it behaves
 * like something known only later (later.ts, within.ts); never at its name. The rules and their reasons are in
 * docs/decisions/005-leak-rules.md. The findings of a column come worst first.
 */
import type { Finding } from "../checks/findings.ts";
import type { RightCensored } from "../outcomes/outcomes.ts";
import type { Column } from "../table.ts";
import { commonQuotient } from "./copies.ts";
import { findEventLeak } from "./event.ts";
import { findLaterValue, poolHazards } from "./later.ts";
import { collectLeakColumn, collectLeakRows, type LeakRows } from "./rows.ts";
import { findTimeLeak, findTimePairs, type PairColumn } from "./time.ts";
import {
  describeFollowUpTime,
  describeLaterOutcomes,
  type FollowUpTime,
  findFollowUpTime,
  findLaterTime,
  findOutcomePair,
  judgeIndicator,
} from "./within.ts";

/** Columns that are not judged themselves. */
export interface LeakContext {
  /** Other columns of the table, with which a judged one may form a pair. */
  readonly partners?: readonly Column[];
  /** The date from which times are counted, where they come from dates. */
  readonly origin?: Column;
}

/** Only the first so many dates are compared: the number of differences grows with the square. */
const MAX_DATES = 12;
/** Only the first so many partners are looked at. */
const MAX_PARTNERS = 200;

/** Leaks among the given columns (time and event themselves not among them), in the order of the columns. */
export function findLeaks(
  columns: readonly Column[],
  outcomes: RightCensored,
  usable: Uint8Array,
  { partners = [], origin }: LeakContext = {},
): Finding[] {
  const leak = collectLeakRows(outcomes.time, outcomes.event, usable, columns.length);
  if (leak.rows.length === 0) return [];
  const hazards = poolHazards(leak);
  const single = columns.map((column) => {
    const collected = collectLeakColumn(column, leak);
    const { name, type, numbers } = collected; // the counts of all columns at once would fill the memory
    const unit = numbers === null ? null : commonQuotient(numbers, leak.time);
    const event = findEventLeak(collected, leak);
    const time = findTimeLeak(collected, unit, leak);
    const later = event === null ? findLaterValue(collected, leak, hazards) : null;
    const summary = { name, type, numbers };
    return { column, summary, event, time, later, ...findTimes(summary, unit, leak) };
  });
  const others = partners.slice(0, MAX_PARTNERS).map((column) => {
    const summary = summarise(column, leak);
    const unit = summary.numbers && commonQuotient(summary.numbers, leak.time);
    return { summary, ...findTimes(summary, unit, leak) };
  });
  const all = [...single, ...others];
  const start = origin === undefined ? null : summarise(origin, leak);
  const suspects = single.filter(({ time }) => time?.level !== "error").map(({ summary }) => summary);
  const pairs = findTimePairs(start === null ? suspects : [start, ...suspects], leak);
  const summaries = all.map(({ summary }) => summary);
  const times = [...all.map(({ within }) => within), ...findDateTimes(summaries, start, leak)].filter(
    (one) => one !== null,
  );
  const laterTimes = all.map(({ after }) => after).filter((one) => one !== null);
  const laterOutcomes = describeLaterOutcomes(
    laterTimes.length === 0
      ? []
      : columns.map((column) => judgeIndicator(collectLeakColumn(column, leak), laterTimes, leak)),
  );
  return single.flatMap(({ column, event, time, later }) => {
    const paired = pairs.filter((finding) => finding.column === column.name);
    const pair = paired.find((finding) => finding.level === "error") ?? paired[0];
    // A column has one finding about the time: the pair's if it is graver than its own.
    const graver = pair && (time === null || pair.level === "error") ? pair : time;
    const found = [event, graver].filter((finding) => finding !== null);
    // Columns are asked whether they are known only later if nothing worse is said of them.
    if (found.length > 0) return found;
    const within = times.find(({ name }) => name === column.name);
    if (within) return [describeFollowUpTime(within)];
    const other = times.length > 0 ? findOutcomePair(collectLeakColumn(column, leak), times, leak) : null;
    const after = laterOutcomes.find((finding) => finding.column === column.name) ?? null;
    return [other ?? after ?? later].filter((finding) => finding !== null);
  });
}

function summarise(column: Column, leak: LeakRows): PairColumn {
  const { name, type, numbers } = collectLeakColumn(column, leak);
  return { name, type, numbers };
}

/**
 * A column as a time within the follow-up, and as the time of a later outcome. A date is a time within it only when
 * counted from another date.
 */
function findTimes({ name, type, numbers }: PairColumn, unit: number | null, leak: LeakRows) {
  const within =
    numbers === null || type === "date"
      ? null
      : findFollowUpTime({ name, numbers, unit: unit ?? 1, partner: null }, leak);
  return { within, after: findLaterTime({ name, numbers }, unit, leak) };
}

/** Dates that lie within the follow-up, counted in days from the origin, or from any other date where none is named. */
function findDateTimes(
  columns: readonly PairColumn[],
  origin: PairColumn | null,
  leak: LeakRows,
): FollowUpTime[] {
  const dates = columns.filter(({ type }) => type === "date").slice(0, MAX_DATES);
  return dates.flatMap(({ name, numbers }) => {
    for (const start of origin === null ? dates : [origin]) {
      const from = start.numbers;
      if (numbers === null || from === null || start.name === name) continue;
      const days = numbers.map((day, row) => day - from[row]);
      const found = findFollowUpTime({ name, numbers: days, unit: 1, partner: start.name }, leak);
      if (found !== null) return [found];
    }
    return [];
  });
}
