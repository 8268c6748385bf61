/** The unit of time that a column's name speaks of. */
const UNIT = /(day|week|month|year)s?/i;

/** "days" of days_to_relapse; "" of a name without a unit. */
export function unitOfName(name: string): string {
  const unit = UNIT.exec(name)?.[1]?.toLowerCase();
  return unit === undefined ? "" : `${unit}s`;
}

/** Times between dates are counted in these. */
export const UNIT_OF_DATES = "days";
