/**
 * Time and event of every row, out of two columns of a table. Accepted codings of the event: 0/1, true/false, exactly
 * {1, 2} under the rule of R's Surv (1 = censored, 2 = event; said in a warning), or a value named by the caller
 * (`eventIs`: rows with that value had the event, all others are censored). Nothing else is guessed: `readOutcomes`
 * refuses. `inspectOutcomes` never refuses a value; it reports, and reads an invalid coding as "largest code = event"
 * so that a description of the table can go on. Time 0 is legal, negative and infinite times are not.
 */
import { InputError, MAX_ROWS_NAMED, nameRows } from "../core/errors.ts";
import { shortenValue } from "../core/text.ts";
import type { Finding, FindingCode, FindingLevel } from "./findings.ts";
import { countOf } from "./findings.ts";
import type { Outcomes } from "./outcomes.ts";
import type { Column, Table } from "./table.ts";
import { cellText, findColumn, isMissing } from "./table.ts";

/** Which columns hold the outcome. */
export interface OutcomeColumns {
  /** The column of the time to the event or to censoring. */
  readonly time: string;
  /** The column that says whether the event happened. */
  readonly event: string;
  /** The value of the event column that means the event; every other value means censored. */
  readonly eventIs?: string;
}

export interface InspectedOutcomes {
  /** One entry per row of the table, 0 where `usable` is 0; null when no row can be read. */
  readonly outcomes: Outcomes | null;
  /** 1 where time and event of the row are both valid. */
  readonly usable: Uint8Array; // [N]
  readonly findings: readonly Finding[];
  /** How the event column was read, in words. */
  readonly eventRule: string;
}

/** A finding with what an exception says beyond it. */
interface Problem {
  readonly finding: Finding;
  readonly rows: readonly number[]; // 1-based
  readonly hint: string | undefined;
}

interface Reading {
  readonly values: Float64Array; // [N], NaN where unusable
  readonly problems: readonly Problem[];
}

interface EventReading extends Reading {
  readonly rule: string;
}

/** Enough to see what kind of values a column holds. */
const MAX_VALUES_NAMED = 8;

/** Reads the outcome and says what is wrong with it, without refusing. */
export function inspectOutcomes(table: Table, columns: OutcomeColumns): InspectedOutcomes {
  const read = readBoth(table, columns);
  return { ...read, findings: read.problems.map((problem) => problem.finding) };
}

/** Reads the outcome; refuses times and events that cannot be used, with their rows. */
export function readOutcomes(table: Table, columns: OutcomeColumns): Outcomes {
  const { outcomes, problems } = readBoth(table, columns);
  const refused = problems.find((problem) => problem.finding.level === "error");
  if (refused) {
    const { finding, rows, hint } = refused;
    const where = [table.name, ...(rows.length > 0 ? [nameRows(rows)] : []), `column "${finding.column}"`];
    throw new InputError(finding.message, {
      code: finding.code,
      where: where.join(", "),
      ...(hint === undefined ? {} : { hint }),
    });
  }
  if (outcomes) return outcomes;
  throw new InputError("the table has no rows", { code: "time.values", where: table.name });
}

function readBoth(table: Table, columns: OutcomeColumns) {
  const timeColumn = findColumn(table, columns.time);
  const eventColumn = findColumn(table, columns.event);
  const time = readTime(timeColumn, table.rows);
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
        ? `no row had the event: all ${countOf(rows, "row")} are censored`
        : `every row had the event: none of ${countOf(rows, "row")} is censored`;
    const level = events === 0 ? "warning" : "note";
    problems.push(problem("event.values", level, eventColumn, message, { rows, events }));
  }
  return { outcomes: rows > 0 ? outcomes : null, usable, problems, eventRule: event.rule };
}

function problem(
  code: FindingCode,
  level: FindingLevel,
  column: Column,
  message: string,
  evidence: Finding["evidence"],
  rows: readonly number[] = [],
  hint?: string,
): Problem {
  const named: Finding["evidence"] =
    rows.length > 0 ? { rows: rows.length, first: rows.slice(0, MAX_ROWS_NAMED).join(" ") } : {};
  return {
    finding: { code, level, column: column.name, message, evidence: { ...named, ...evidence } },
    rows,
    hint,
  };
}

/** The numbers of a column, NaN where a cell holds none; categories may hold numbers among texts. */
function cellNumbers(column: Column, N: number): Float64Array {
  switch (column.type) {
    case "number":
      return Float64Array.from(column.values);
    case "category": {
      const numbers = column.levels.map((level) => (level.trim() === "" ? Number.NaN : Number(level)));
      return Float64Array.from(column.codes, (code) => (code < 0 ? Number.NaN : numbers[code]));
    }
    default:
      return new Float64Array(N).fill(Number.NaN);
  }
}

function readTime(column: Column, N: number): Reading {
  const values = cellNumbers(column, N);
  const missing: number[] = [];
  const notNumbers: number[] = [];
  const infinite: number[] = [];
  const negative: number[] = [];
  const zero: number[] = [];
  for (let row = 0; row < N; row++) {
    const value = values[row];
    if (isMissing(column, row)) missing.push(row + 1);
    else if (Number.isNaN(value)) notNumbers.push(row + 1);
    else if (!Number.isFinite(value)) infinite.push(row + 1);
    else if (value < 0) negative.push(row + 1);
    else if (value === 0) zero.push(row + 1);
    if (!(value >= 0 && Number.isFinite(value))) values[row] = Number.NaN;
  }
  const problems: Problem[] = [];
  const text = (rows: readonly number[]) => `"${cellText(column, rows[0] - 1)}"`;
  const add = (
    code: FindingCode,
    level: FindingLevel,
    rows: readonly number[],
    message: string,
    hint?: string,
  ) => {
    if (rows.length > 0) problems.push(problem(code, level, column, message, {}, rows, hint));
  };
  if (column.type === "date") {
    const message = `times must be numbers: ${column.name} holds dates in ${nameRows(notNumbers)}`;
    add(
      "time.values",
      "error",
      notNumbers,
      message,
      "give the time from entry to event or censoring, e.g. in days",
    );
  } else {
    const count = countOf(notNumbers.length, "row");
    const message = `times must be numbers: ${count} of ${column.name} ${notNumbers.length === 1 ? "is" : "are"} not`;
    if (notNumbers.length > 0) {
      const shown = `${message} (${nameRows(notNumbers)}: ${text(notNumbers)})`;
      add("time.values", "error", notNumbers, shown, "correct or remove these rows");
    }
  }
  const remove = "remove these rows or fill in their times";
  add("time.missing", "error", missing, `time is missing in ${nameRows(missing)}`, remove);
  if (infinite.length > 0) {
    add("time.values", "error", infinite, `time is infinite in ${nameRows(infinite)}`, remove);
  }
  if (negative.length > 0) {
    const message = `time is negative in ${nameRows(negative)}: ${text(negative)}`;
    add("time.nonpositive", "error", negative, message, "correct or remove these rows; times start at 0");
  }
  const zeros = `time is 0 in ${nameRows(zero)}: legal, counted in the first bin`;
  add("time.nonpositive", "warning", zero, zeros);
  return { values, problems };
}

/** Distinct values of the column as texts, ascending: numbers as numbers. */
function distinctTexts(column: Column, N: number): string[] {
  if (column.type === "category") {
    const seen = new Uint8Array(column.levels.length);
    for (const code of column.codes) if (code >= 0) seen[code] = 1;
    return column.levels.filter((_, code) => seen[code] === 1);
  }
  const first = new Map<number, number>();
  for (let row = 0; row < N; row++) {
    if (!isMissing(column, row) && !first.has(column.values[row])) first.set(column.values[row], row);
  }
  const ascending = [...first.entries()].sort((a, b) => a[0] - b[0]);
  return ascending.map(([, row]) => cellText(column, row));
}

function listTexts(texts: readonly string[]): string {
  const shown = texts.slice(0, MAX_VALUES_NAMED).map(shortenValue).join(", ");
  return texts.length > MAX_VALUES_NAMED ? `${shown}, … (${texts.length} in all)` : shown;
}

/** Per row: 1 where `isEvent` holds for the cell's text, 0 where not, NaN where the cell is missing. */
function readByText(column: Column, N: number, isEvent: (text: string) => boolean): Float64Array {
  const values = new Float64Array(N).fill(Number.NaN);
  if (column.type === "category") {
    const events = column.levels.map(isEvent);
    for (let row = 0; row < N; row++)
      if (column.codes[row] >= 0) values[row] = events[column.codes[row]] ? 1 : 0;
    return values;
  }
  const known = new Map<number, number>();
  for (let row = 0; row < N; row++) {
    if (isMissing(column, row)) continue;
    const cell = column.values[row];
    let event = known.get(cell);
    if (event === undefined) {
      event = isEvent(cellText(column, row)) ? 1 : 0;
      known.set(cell, event);
    }
    values[row] = event;
  }
  return values;
}

function readEvent(column: Column, N: number, eventIs: string | undefined): EventReading {
  const problems: Problem[] = [];
  const missing: number[] = [];
  for (let row = 0; row < N; row++) if (isMissing(column, row)) missing.push(row + 1);
  const missingMessage = `event is missing in ${nameRows(missing)}`;
  const fill = "remove these rows or fill in the event";
  if (missing.length > 0)
    problems.push(problem("event.missing", "error", column, missingMessage, {}, missing, fill));
  const texts = distinctTexts(column, N);
  const lower = texts.map((text) => text.toLowerCase());
  const only = (...allowed: string[]) => texts.length > 0 && lower.every((text) => allowed.includes(text));

  if (eventIs !== undefined) {
    const rule = `${column.name} = ${eventIs} is the event, every other value censored, as asked`;
    const wanted = (text: string) => sameValue(column, text, eventIs);
    if (!texts.some(wanted)) {
      const message = `no row of ${column.name} is "${eventIs}" (have ${listTexts(texts)})`;
      const hint = "name one of the column's values";
      problems.push(
        problem("event.values", "error", column, message, { values: listTexts(texts) }, [], hint),
      );
    }
    return { values: readByText(column, N, wanted), problems, rule };
  }
  if (only("0", "1") || only("false", "true")) {
    const rule = only("0", "1") ? "1 = event, 0 = censored" : "true = event, false = censored";
    return {
      values: readByText(column, N, (text) => ["1", "true"].includes(text.toLowerCase())),
      problems,
      rule,
    };
  }
  if (texts.length === 2 && only("1", "2")) {
    const rule = "1 = censored, 2 = event, as in R's Surv";
    const message = `${column.name} is coded 1/2: read as ${rule}`;
    problems.push(problem("event.values", "warning", column, message, { values: listTexts(texts) }));
    return { values: readByText(column, N, (text) => text === "2"), problems, rule };
  }
  if (texts.length === 0)
    return { values: new Float64Array(N).fill(Number.NaN), problems, rule: "no value to read" };
  const largest = texts[texts.length - 1];
  const bad: number[] = [];
  const valid = readByText(column, N, (text) => text === "0" || text === "1");
  for (let row = 0; row < N; row++) if (valid[row] === 0) bad.push(row + 1);
  const message = `event must be 0/1, true/false or 1/2: ${column.name} holds ${listTexts(texts)} (${nameRows(bad)})`;
  const hint = `say which value is the event with --event-is VALUE, e.g. --event-is ${largest}`;
  problems.push(problem("event.values", "error", column, message, { values: listTexts(texts) }, bad, hint));
  const rule = `not a valid coding; for the description only, ${largest} (the largest code) is taken as the event`;
  return { values: readByText(column, N, (text) => text === largest), problems, rule };
}

/** Equality as a person means it: 2, 2.0 and "2" are one value, and so are true and 1 in a column of booleans. */
function sameValue(column: Column, text: string, wanted: string): boolean {
  const asked = wanted.trim();
  if (text === asked) return true;
  if (column.type === "boolean") {
    return (text === "true" ? ["true", "1"] : ["false", "0"]).includes(asked.toLowerCase());
  }
  return asked !== "" && text.trim() !== "" && Number(text) === Number(asked);
}
