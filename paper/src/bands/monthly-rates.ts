/**
 * Event times from rates that are constant within a month: the laws that are written as rates (clinic-law.ts,
 * graft-law.ts, loan-law.ts) have their true curves and draw their times here. A month is counted from 0; nothing is
 * known beyond the last.
 */
import { exp, type Random } from "graduate-survival/core";
import { drawExponential } from "../eye/draw.ts";

/** The rate in a month, the first being 0. */
export type MonthlyRate = (month: number) => number;

/** Cumulative rate at the start of each month, and at the end of the last. */
function cumulate(rateIn: MonthlyRate, months: number): Float64Array {
  const whole = new Float64Array(months + 1);
  for (let month = 0; month < months; month++) whole[month + 1] = whole[month] + rateIn(month);
  return whole;
}

/** True S(t) at times from 0 to the last month. */
export function survivalFromRates(
  rateIn: MonthlyRate,
  months: number,
  times: ArrayLike<number>,
): Float64Array {
  const whole = cumulate(rateIn, months);
  return Float64Array.from(times, (time) => {
    const month = Math.min(months - 1, Math.floor(time));
    return exp(-(whole[month] + (time - month) * (whole[month + 1] - whole[month])));
  });
}

/** Months until the event; Infinity beyond the last. */
export function drawFromRates(random: Random, rateIn: MonthlyRate, months: number): number {
  const whole = cumulate(rateIn, months);
  const hazard = drawExponential(random);
  for (let month = 0; month < months; month++) {
    if (hazard < whole[month + 1]) return month + (hazard - whole[month]) / (whole[month + 1] - whole[month]);
  }
  return Number.POSITIVE_INFINITY;
}
