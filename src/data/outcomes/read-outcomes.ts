/**
 * Time and event of every row, read from the columns of a table. The time is a column of numbers, or the days from one
 * date to another (`origin`); 0 is legal, while negative, infinite and missing times are problems with their rows.
 * read-event.ts reads the event. `readOutcomes` refuses what cannot be read as meant. `inspectOutcomes` never refuses a
 * value; it reports, and reads an invalid coding of the event as "largest code = event", so that a description of the
 * table can go on.
 */

import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { count, named, type Part, personal, say, verb, whole } from "../../core/sentence.ts";
import { countOf } from "../../core/text.ts";
import { checkWriting } from "../checks/check-marks.ts";
import { checkTimes } from "../checks/check-times.ts";
import {
  createProblemError,
  type Finding,
  type FindingCode,
  type FindingLevel,
  type Problem,
  placeProblem,
  problem,
  type Reading,
} from "../checks/findings.ts";
import { hintOfMarks } from "../reading/number-marks.ts";
import { isInfinityText, parseDateText, parseNumberText } from "../reading/parse-cell.ts";
import { type Column, cellText, findColumn, isMissing, type Table } from "../table.ts";
import type { RightCensored } from "./outcomes.ts";
import type { CauseColumns } from "./read-causes.ts";
import { readEvent } from "./read-event.ts";

/** Which columns hold the outcome; those beyond time and event are read by read-history.ts. */
export interface OutcomeColumns extends CauseColumns {
  /** Time to the event or to censoring; with `origin`, the date of either. */
  readonly time: string;
  /** The date from which time is counted, in days; without it, times are numbers. */
  readonly origin?: string;
  /** The column that says whether the event happened. */
  readonly event: string;
  /** The value of the event column that means the event; every other value means censored. */
  readonly eventIs?: string;
  /** When a row came under observation, counted as its time is; without it, all at 0. */
  readonly entry?: string;
  /** The same where people have several rows, one after the other; the id column says whose they are. */
  readonly start?: string;
  /** How many people a row stands for. */
  readonly weights?: string;
}

export interface InspectedOutcomes {
  /** One entry per row of the table, 0 where `usable` is 0; null when no row can be read. */
  readonly outcomes: RightCensored | null;
  /** 1 where time and event of the row are both valid. */
  readonly usable: Uint8Array; // [N]
  readonly findings: readonly Finding[];
  /** What cannot be read as meant; null where everything can. */
  readonly refused: Problem | null;
  /** How the event column and the time were read, in words. */
  readonly eventRule: string;
  readonly timeRule: string;
}

/**
 * Reads the outcome and says what is wrong with it, without refusing; `event` is the event column where it was read
 * already, by cause (read-causes.ts).
 */
export function inspectOutcomes(table: Table, columns: OutcomeColumns, event?: Reading): InspectedOutcomes {
  for (const field of ["time", "event"] as const) {
    if (columns[field] !== undefined) continue;
    throw new InputError(`no column is named for the ${field}`, {
      code: "outcomes.options",
      where: table.name,
      hint: `${field}: "COLUMN"; rows that start and stop end at their time`,
    });
  }
  const { problems, ...read } = readBoth(table, columns, event);
  const findings = problems.map((problem) => problem.finding);
  return {
    ...read,
    findings,
    refused: problems.find((problem) => problem.finding.level === "error") ?? null,
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

function readBoth(table: Table, columns: OutcomeColumns, known: Reading | undefined) {
  refuseSameColumn(table, columns);
  const timeColumn = findColumn(table, columns.time);
  const origin = columns.origin === undefined ? null : findColumn(table, columns.origin);
  const eventColumn = findColumn(table, columns.event);
  const time = readTime(timeColumn, origin, table.rows);
  const event = known ?? readEvent(eventColumn, table.rows, columns.eventIs);
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
  const written = outcomeNames(columns).filter((name) => name !== columns.event && name !== columns.time);
  const problems = [
    ...checkOutcomeCells(table, [columns.time, ...written], time.values),
    ...time.problems,
    ...event.problems,
  ];
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
    problems: problems.map((one) => placeProblem(table, one)),
    eventRule: event.rule,
    timeRule: time.rule,
  };
}

/** The names of the columns that hold the outcome, including an origin: no feature is made from these. */
export function outcomeNames({ time, origin, event, entry, start, weights }: OutcomeColumns): string[] {
  return [time, event, ...[origin, entry, start, weights].filter((name) => name !== undefined)];
}

/** The columns of one outcome and nothing else, for a model or a request. */
export function pickOutcomeColumns(columns: OutcomeColumns): OutcomeColumns {
  const { time, origin, event, eventIs, entry, start, weights, causes, censored } = columns;
  return {
    time,
    event,
    ...present({ eventIs, origin, entry, start, weights, causes, censored }),
  };
}

/**
 * Those findings of an outcome that anyone who uses it should hear: every warning, and how words were read. A time of 0
 * is legal, and common.
 */
export function pickTold(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ code, level, evidence }) => {
    if (level === "warning") return code !== "time.nonpositive";
    return level === "note" && code.startsWith("event.") && evidence.values !== undefined;
  });
}

/**
 * What is doubtful about the cells of an outcome: how numbers and dates are written, and times that are none. `names`
 * are its columns but for the event, the time first; `times` are those that were read, NaN where there is none.
 */
export function checkOutcomeCells(
  table: Table,
  [time, ...others]: readonly string[],
  times: Float64Array,
): readonly Problem[] {
  const column = findColumn(table, time);
  return [
    ...[time, ...others].flatMap((name) => checkWriting(findColumn(table, name), "error")),
    ...checkTimes(column, times),
  ];
}

/** The numbers of a column, NaN where a cell holds none; categories may hold numbers among texts. */
function cellNumbers(column: Column, N: number): Float64Array {
  switch (column.type) {
    case "number":
      return Float64Array.from(column.values);
    case "category": {
      const numbers = column.levels.map((level) =>
        isInfinityText(level) ? Number.POSITIVE_INFINITY : parseNumberText(level, "."),
      );
      return Float64Array.from(column.codes, (code) => (code < 0 ? Number.NaN : numbers[code]));
    }
    default:
      return new Float64Array(N).fill(Number.NaN);
  }
}

/** With `origin`, the days from its dates to those of the column; `noun` is what messages call the number. */
export function readTime(column: Column, origin: Column | null, N: number, noun = "time"): Reading {
  return origin === null ? readNumberTimes(column, N, noun) : readDateTimes(column, origin, N);
}

/** Rows (1-based) by what is wrong with them. */
interface BadTimes {
  readonly missing: number[];
  readonly infinite: number[];
  readonly negative: number[];
  readonly zero: number[];
}

const REMOVE = "remove these rows or fill in their times";

function readNumberTimes(column: Column, N: number, noun: string): Reading {
  const values = cellNumbers(column, N);
  const bad: BadTimes = { missing: [], infinite: [], negative: [], zero: [] };
  const notNumbers: number[] = [];
  for (let row = 0; row < N; row++) {
    if (isMissing(column, row)) bad.missing.push(row + 1);
    else if (Number.isNaN(values[row])) notNumbers.push(row + 1);
    else sortTime(values[row], row, bad);
    if (!(values[row] >= 0 && Number.isFinite(values[row]))) values[row] = Number.NaN;
  }
  const text = (rows: readonly number[]) => cellText(column, rows[0] - 1);
  const problems: Problem[] = [];
  if (notNumbers.length > 0 && column.type === "date") {
    const message = say`times must be numbers: ${column.name} holds dates in ${named(notNumbers)}`;
    const hint =
      "name the date they are counted from with --origin COLUMN, or give the time itself, e.g. in days";
    problems.push(problem("time.values", "error", column, message, {}, notNumbers, hint));
  } else if (notNumbers.length > 0) {
    const { length } = notNumbers;
    const rows = say`${count(length, "row")} of ${column.name} ${verb(length, "is", "are")} not`;
    const which = personal(` (${named(notNumbers).text}: "${text(notNumbers)}")`);
    const message = say`times must be numbers: ${rows}${which}`;
    const ofMarks = hintOfMarks(text(notNumbers));
    const hint = ofMarks ?? "correct or remove these rows";
    problems.push(problem("time.values", "error", column, message, {}, notNumbers, hint));
  }
  problems.push(
    ...listProblems(column, bad, {
      missing: `${noun} is missing`,
      negative: (rows) => say`${noun} is negative in ${named(rows)}${personal(`: "${text(rows)}"`)}`,
      correct: "correct or remove these rows; times start at 0",
    }),
  );
  return { values, problems, rule: column.name };
}

function isDateText(text: string): boolean {
  return !Number.isNaN(parseDateText(text, "month-first")) || !Number.isNaN(parseDateText(text, "day-first"));
}

function readDateTimes(column: Column, origin: Column, N: number): Reading {
  const values = new Float64Array(N).fill(Number.NaN);
  const bad: BadTimes = { missing: [], infinite: [], negative: [], zero: [] };
  const rule = `days from ${origin.name} to ${column.name}`;
  for (const one of [column, origin]) {
    if (one.type === "date") continue;
    const all = Array.from({ length: N }, (_, row) => row + 1);
    const known = all.filter((row) => !isMissing(one, row - 1));
    // One impossible date makes a column of texts: name that one, not the others.
    const wrong = known.filter((row) => !isDateText(cellText(one, row - 1)));
    const blamed = wrong.length > 0 ? wrong : known;
    const shown =
      blamed.length > 0 ? personal(`: row ${blamed[0]} is "${cellText(one, blamed[0] - 1)}"`) : "";
    const rows = blamed.length > 0 ? blamed : all;
    const says =
      wrong.length > 0 && wrong.length < known.length ? "holds texts that are no dates" : "holds no dates";
    const message = say`time from ${origin.name} to ${column.name}: ${one.name} ${says}${shown}`;
    const hint = "write dates as 2021-03-31; where the time is a number, leave --origin out";
    return { values, problems: [problem("time.values", "error", one, message, {}, rows, hint)], rule };
  }
  if (column.type !== "date" || origin.type !== "date") return { values, problems: [], rule };
  const unstarted: number[] = [];
  for (let row = 0; row < N; row++) {
    if (isMissing(origin, row)) unstarted.push(row + 1);
    else if (isMissing(column, row)) bad.missing.push(row + 1);
    else {
      const days = column.values[row] - origin.values[row];
      sortTime(days, row, bad);
      if (days >= 0) values[row] = days;
    }
  }
  const problems: Problem[] = [];
  if (unstarted.length > 0) {
    const message = say`${origin.name} is missing in ${named(unstarted)}: no time can be counted from it`;
    problems.push(problem("time.missing", "error", origin, message, {}, unstarted, REMOVE));
  }
  const text = ([row]: readonly number[]) =>
    personal(`: ${cellText(column, row - 1)} is before ${cellText(origin, row - 1)}`);
  problems.push(
    ...listProblems(column, bad, {
      missing: `${column.name} is missing`,
      negative: (rows) => say`${column.name} is before ${origin.name} in ${named(rows)}${text(rows)}`,
      correct: "correct or remove these rows",
    }),
  );
  return { values, problems, rule };
}

function sortTime(value: number, row: number, bad: BadTimes): void {
  if (!Number.isFinite(value)) bad.infinite.push(row + 1);
  else if (value < 0) bad.negative.push(row + 1);
  else if (value === 0) bad.zero.push(row + 1);
}

interface TimeWords {
  readonly missing: string;
  readonly negative: (rows: readonly number[]) => readonly Part[];
  readonly correct: string;
}

function listProblems(column: Column, bad: BadTimes, words: TimeWords): Problem[] {
  const problems: Problem[] = [];
  const add = (
    code: FindingCode,
    level: FindingLevel,
    rows: readonly number[],
    message: () => readonly Part[],
    hint?: string,
  ) => {
    if (rows.length > 0) problems.push(problem(code, level, column, message(), {}, rows, hint));
  };
  const { missing, infinite, negative, zero } = bad;
  add("time.missing", "error", missing, () => say`${words.missing} in ${named(missing)}`, REMOVE);
  add("time.values", "error", infinite, () => say`time is infinite in ${named(infinite)}`, REMOVE);
  add("time.nonpositive", "error", negative, () => words.negative(negative), words.correct);
  const zeros = () => say`time is 0 in ${named(zero)}: legal, counted in the first bin`;
  add("time.nonpositive", "warning", zero, zeros);
  return problems;
}
