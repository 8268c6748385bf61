/** Units of time by their names, against the mean calendar year. A unit that is not listed is not guessed at. */

/** Days in the mean calendar year. */
export const DAYS_IN_A_YEAR = 365.25;

const IN_A_YEAR: Readonly<Record<string, number>> = {
  day: DAYS_IN_A_YEAR,
  week: DAYS_IN_A_YEAR / 7,
  month: 12,
  year: 1,
};

/** How many of a unit, "days" or "Month", make a year; null where the unit is not known. */
export function unitsInAYear(unit: string): number | null {
  return IN_A_YEAR[unit.trim().toLowerCase().replace(/s$/, "")] ?? null;
}
