/**
 * Cells with two meanings, as problems: numbers whose mark may stand before decimals or between thousands (1.029 or
 * 1029), and dates that may be day/month or month/day, in the whole table or from one row to the next. Where such a
 * column is the outcome or is used, it is refused until the caller says which is meant (--decimal, --thousands,
 * --date-order); elsewhere it is a warning. Numbers that were read as thousands on the table's own evidence are a
 * warning everywhere.
 */
import { InputError } from "../../core/errors.ts";
import { personal, plainText, say } from "../../core/sentence.ts";
import { bothReadings, sayEither } from "../reading/number-marks.ts";
import { parseDateText } from "../reading/parse-cell.ts";
import type { CategoryColumn, Column, DateColumn, NumberColumn, Table } from "../table.ts";
import { createProblemError, type Finding, type Problem, problem } from "./findings.ts";

const SAY_ORDER = "say --date-order month-first or --date-order day-first, or write dates as 2024-03-01";

/** What is doubtful about how the cells of a column are written; an error where the column is used. */
export function checkWriting(column: Column, level: "error" | "warning"): readonly Problem[] {
  switch (column.type) {
    case "number":
      return checkMarks(column, level);
    case "date":
      return checkGuessedDates(column, level);
    case "category":
      return checkMixedDates(column, level);
    default:
      return [];
  }
}

/** The same without what an exception adds. */
export function findWriting(column: Column, level: "error" | "warning"): Finding[] {
  return checkWriting(column, level).map(({ finding, hint }) => withHint(finding, hint));
}

/** A finding says itself what to do; an exception says it beside. */
function withHint(finding: Finding, hint: string | undefined): Finding {
  if (hint === undefined || finding.sentence.hint !== undefined) return finding;
  const sentence = { ...finding.sentence, hint: `${hint[0].toUpperCase()}${hint.slice(1)}` };
  return { ...finding, message: plainText(sentence), sentence };
}

function checkMarks(column: NumberColumn, level: "error" | "warning"): readonly Problem[] {
  const { name, marks } = column;
  if (marks === undefined) return [];
  const { mark, text, row, reason, isDoubtful } = marks;
  const [decimals, thousands] = bothReadings(text);
  const evidence = { text, mark, readAs: isDoubtful ? "decimals" : "thousands", reason };
  if (isDoubtful) {
    const both = personal(`: "${text}" is ${decimals} or ${thousands} (${reason})`);
    const said = say`numbers of ${name} may be decimals or thousands${both}`;
    return [problem("number.marks", level, column, said, evidence, [row], sayEither(mark))];
  }
  const why = personal(`: "${text}" is ${thousands}, since ${reason}`);
  const said = say`${name} is read with a ${mark} between thousands${why}`;
  const hint = `if that is wrong, say --decimal ${mark}; --thousands ${mark} says that it is right`;
  return [problem("number.marks", "warning", column, said, evidence, [row], hint)];
}

function checkGuessedDates(column: DateColumn, level: "error" | "warning"): readonly Problem[] {
  const { name, values, guessedOrder } = column;
  if (guessedOrder === undefined) return [];
  const rows = values.reduce((sum, day) => sum + (Number.isNaN(day) ? 0 : 1), 0);
  const read = guessedOrder === "month-first" ? "month/day" : "day/month";
  const said =
    `the dates of ${name} could be day/month or month/day: no date of the table tells` +
    (level === "error" ? "" : `. They are read as ${read}`);
  return [problem("date.ambiguous", level, column, said, { rows, order: guessedOrder }, [], SAY_ORDER)];
}

/** Texts that are all dates, some with the day first and some with the month. */
function checkMixedDates(column: CategoryColumn, level: "error" | "warning"): readonly Problem[] {
  const { name, levels, codes } = column;
  let dayFirst = -1;
  let monthFirst = -1;
  for (const [code, text] of levels.entries()) {
    const isMonthFirst = !Number.isNaN(parseDateText(text, "month-first"));
    const isDayFirst = !Number.isNaN(parseDateText(text, "day-first"));
    if (!isMonthFirst && !isDayFirst) return [];
    if (!isMonthFirst && dayFirst < 0) dayFirst = code;
    if (!isDayFirst && monthFirst < 0) monthFirst = code;
  }
  if (dayFirst < 0 || monthFirst < 0) return [];
  const rows = [dayFirst, monthFirst].map((code) => codes.indexOf(code) + 1);
  const shown = personal(`: "${levels[dayFirst]}" and "${levels[monthFirst]}"`);
  const said = say`${name} writes dates in two orders, with the day first and with the month first${shown}`;
  const hint = "write all dates in one order, best as 2024-03-01";
  return [problem("date.mixed", level, column, said, { levels: levels.length }, rows, hint)];
}

/** Refuses a column that is used although its numbers have two readings. */
export function refuseDoubtfulMarks(table: Pick<Table, "name" | "parts">, column: Column): void {
  if (column.type !== "number" || column.marks?.isDoubtful !== true) return;
  const [found] = checkMarks(column, "error");
  throw createProblemError(table as Table, found);
}

/** Why a column cannot be used as it was read, phrased to follow "it"; null where it can. */
export function whyDoubtful(column: Column): string | null {
  if (column.type !== "number" || column.marks?.isDoubtful !== true) return null;
  return "has numbers that may be decimals or thousands";
}

/** The error of columns that a model would learn from; the first is described. */
export function createDoubtfulFeatureError(table: Table, found: readonly Finding[]): InputError {
  const names = [...new Set(found.map(({ column }) => column))].join(",");
  const mark = found[0].evidence.mark === "comma" ? "comma" : "point";
  return new InputError(plainText({ parts: found[0].sentence.parts }), {
    code: "number.marks",
    where: `${table.name}, column "${found[0].column}"`,
    hint: `${sayEither(mark)}, or leave the column out with --drop ${names}`,
  });
}
