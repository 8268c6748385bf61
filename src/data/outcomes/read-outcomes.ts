/**
 * Time and event of every row, read from the columns of a table (read-time.ts, read-event.ts). `readOutcomes` refuses
 * what cannot be read as meant. `inspectOutcomes` never refuses a value; it reports, and reads an invalid coding of the
 * event as "largest code = event", so that a description of the table can go on.
 */

import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { say, whole } from "../../core/sentence.ts";
import { countOf } from "../../core/text.ts";
import type { Finding } from "../checks/findings.ts";
import type { Table } from "../table.ts";
import { findColumn } from "../table.ts";
import { createProblemError, type Problem, problem } from "./outcome-problems.ts";
import type { RightCensored } from "./outcomes.ts";
import { readEvent } from "./read-event.ts";
import { readTime } from "./read-time.ts";

/** Which columns hold the outcome. */
export interface OutcomeColumns {
  /** Time to the event or to censoring; with `origin`, the date of either. */
  readonly time: string;
  /** The date from which time is counted, in days; without it, times are numbers. */
  readonly origin?: string;
  /** The column that says whether the event happened. */
  readonly event: string;
  /** The value of the event column that means the event; every other value means censored. */
  readonly eventIs?: string;
}

export interface InspectedOutcomes {
  /** One entry per row of the table, 0 where `usable` is 0; null when no row can be read. */
  readonly outcomes: RightCensored | null;
  /** 1 where time and event of the row are both valid. */
  readonly usable: Uint8Array; // [N]
  readonly findings: readonly Finding[];
  /** What cannot be read as meant; null where everything can. */
  readonly refused: Problem | null;
  /** What anyone who uses the outcome should hear: how words were read, and what censoring other causes does. */
  readonly notes: readonly Finding[];
  /** How the event column and the time were read, in words. */
  readonly eventRule: string;
  readonly timeRule: string;
}

/** Reads the outcome and says what is wrong with it, without refusing. */
export function inspectOutcomes(table: Table, columns: OutcomeColumns): InspectedOutcomes {
  const { problems, ...read } = readBoth(table, columns);
  const findings = problems.map((problem) => problem.finding);
  return {
    ...read,
    findings,
    refused: problems.find((problem) => problem.finding.level === "error") ?? null,
    notes: findings.filter(
      ({ code, level, evidence }) =>
        level !== "error" && code.startsWith("event.") && evidence.values !== undefined,
    ),
  };
}

/** Reads the outcome; refuses times and events that cannot be used, with their rows. */
export function readOutcomes(table: Table, columns: OutcomeColumns): RightCensored {
  return requireOutcomes(table, inspectOutcomes(table, columns));
}

/** The outcomes of an inspection; refuses as readOutcomes does. */
export function requireOutcomes(table: Table, { outcomes, refused }: InspectedOutcomes): RightCensored {
  if (refused) throw createProblemError(table, refused);
  if (outcomes) return outcomes;
  throw new InputError("the table has no rows", { code: "time.values", where: table.name });
}

/** One column cannot be both the time and the event, or its own origin. */
function refuseSameColumn(table: Table, { time, origin, event }: OutcomeColumns): void {
  const twice = time === event || origin === event ? event : origin === time ? time : null;
  if (twice === null) return;
  throw new InputError(`one column is named twice in the outcome: "${twice}"`, {
    code: "outcomes.options",
    where: table.name,
    hint: "time, event and origin are different columns",
  });
}

function readBoth(table: Table, columns: OutcomeColumns) {
  refuseSameColumn(table, columns);
  const timeColumn = findColumn(table, columns.time);
  const origin = columns.origin === undefined ? null : findColumn(table, columns.origin);
  const eventColumn = findColumn(table, columns.event);
  const time = readTime(timeColumn, origin, table.rows);
  const event = readEvent(eventColumn, table.rows, columns.eventIs);
  const usable = new Uint8Array(table.rows);
  const outcomes = { time: new Float64Array(table.rows), event: new Uint8Array(table.rows) };
  let rows = 0;
  let events = 0;
  for (let row = 0; row < table.rows; row++) {
    if (Number.isNaN(time.values[row]) || Number.isNaN(event.values[row])) continue;
    usable[row] = 1;
    outcomes.time[row] = time.values[row];
    outcomes.event[row] = event.values[row];
    rows++;
    events += event.values[row];
  }
  const problems = [...time.problems, ...event.problems];
  if (rows > 0 && (events === 0 || events === rows)) {
    const message =
      events === 0
        ? say`no row had the event: ${whole("all", rows, "row")} are censored`
        : `every row had the event: none of ${countOf(rows, "row")} is censored`;
    const level = events === 0 ? "warning" : "note";
    problems.push(problem("event.values", level, eventColumn, message, { rows, events }));
  }
  return {
    outcomes: rows > 0 ? outcomes : null,
    usable,
    problems,
    eventRule: event.rule,
    timeRule: time.rule,
  };
}

/** The names of the columns that hold the outcome, including an origin: no feature is made from these. */
export function outcomeNames({ time, origin, event }: OutcomeColumns): string[] {
  return [time, event, ...(origin === undefined ? [] : [origin])];
}

/** The columns of one outcome and nothing else, for a model or a request. */
export function pickOutcomeColumns({ time, origin, event, eventIs }: OutcomeColumns): OutcomeColumns {
  return {
    time,
    event,
    ...present({ eventIs, origin }),
  };
}

/** What should be said of the outcome where nothing else is read of it. */
export function noteOutcome(table: Table, columns: OutcomeColumns): string[] {
  return inspectOutcomes(table, columns).notes.map(({ message }) => message);
}
