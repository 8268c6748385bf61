/**
 * Which of a table's dates is the end of follow-up and which its start: the end is never before the others, the start
 * never after them. A date of birth is the start of a life, not of what is observed.
 */
import type { DateColumn, Table } from "graduate-survival/data";

const BIRTH = /(birth|born|dob)/i;
/** Beyond, dates are a diary. */
const MOST_DATES = 6;

export interface GuessedDates {
  readonly time: string;
  readonly origin: string;
}

/** The start of a time that is known; null where no date is before it throughout. */
export function guessOrigin(table: Table, time: string): string | null {
  const dates = datesOf(table);
  const end = dates.find(({ name }) => name === time);
  if (end === undefined) return null;
  const before = dates.filter((one) => one !== end && isBefore(one, end));
  return before.find((one) => before.every((other) => isBefore(one, other)))?.name ?? before[0]?.name ?? null;
}

/** Null where no two dates are first and last throughout. */
export function guessDates(table: Table): GuessedDates | null {
  const dates = datesOf(table);
  if (dates.length < 2 || dates.length > MOST_DATES) return null;
  const end = dates.find((one) => dates.every((other) => isBefore(other, one)));
  const origin = end === undefined ? null : guessOrigin(table, end.name);
  return end === undefined || origin === null ? null : { time: end.name, origin };
}

function datesOf({ columns }: Table): DateColumn[] {
  return columns.flatMap((column) => (column.type === "date" && !BIRTH.test(column.name) ? [column] : []));
}

/** In every row where both are known, and in some row truly. */
function isBefore(one: DateColumn, other: DateColumn): boolean {
  if (one === other) return true;
  let isEver = false;
  for (let row = 0; row < one.values.length; row++) {
    const [first, second] = [one.values[row], other.values[row]];
    if (first > second) return false;
    if (first < second) isEver = true;
  }
  return isEver;
}
