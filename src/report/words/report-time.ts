/**
 * Times as a reader wants them: round, and in years where the table counts days, weeks or months and the horizon is
 * long. A moment is written with its unit, in the singular for one; times known only by their bin say so. Also the
 * round numbers of an axis, and the bin that holds a time.
 */

import { DAYS_IN_A_YEAR, unitsInAYear } from "../../core/calendar.ts";

/** A horizon longer than this many years is shown in years. */
const LONG_YEARS = 2;

export interface ShownTime {
  /** The name and unit of time, such as "years". */
  readonly label: string;
  /** What the table's times are divided by. */
  readonly divisor: number;
}

/** Years for a long horizon in days, weeks or months; otherwise as given. */
export function chooseTimeUnit(label: string, horizon: number): ShownTime {
  const inYear = unitsInAYear(label);
  if (inYear === null || inYear === 1 || horizon <= LONG_YEARS * inYear) return { label, divisor: 1 };
  return { label: "years", divisor: inYear };
}

/** The edges of time bins as they are told, in the unit that is shown. */
export function tellTime(
  edges: ArrayLike<number>,
  given = "time",
): { readonly edges: readonly number[]; readonly label: string; readonly divisor: number } {
  const { label, divisor } = chooseTimeUnit(given, edges[edges.length - 1]);
  return { edges: Array.from(edges, (edge) => edge / divisor), label, divisor };
}

/** The last moment lies at most at this share of the followed time. */
const LATEST_SHARE = 0.9;
/** The shares of the time at which moments are wanted, which is also how many there are at most. */
const WANTED_SHARES = [0.25, 0.5, 0.75] as const;

/** Up to three round times, at least two where there is room: 5 and 10 years out of 15. */
export function chooseMoments(end: number): readonly number[] {
  if (!(end > 0)) return [];
  const latest = LATEST_SHARE * end;
  let power = 10 ** Math.ceil(Math.log10(latest));
  let step = power;
  for (; Math.floor(latest / step) < 2; power /= 10) {
    step = [5, 2, 1].map((one) => (one * power) / 10).find((one) => Math.floor(latest / one) >= 2) ?? step;
  }
  const all = Array.from({ length: Math.floor(latest / step) }, (_, k) =>
    Number(((k + 1) * step).toPrecision(12)),
  );
  if (all.length <= WANTED_SHARES.length) return all;
  const nearest = WANTED_SHARES.map((share) =>
    all.reduce((best, one) => (Math.abs(one - share * end) < Math.abs(best - share * end) ? one : best)),
  );
  return [...new Set(nearest)];
}

/** A time for people: no more digits than its size needs. */
export function timeOf(time: number): string {
  return time >= 100 ? String(Math.round(time)) : String(Number(time.toPrecision(3)));
}

/** The label of times known only by their bin. */
export const BIN_LABEL = "time bins";

/** A moment: "912 days", "1 year", "time bin 7", or "time 912" if the unit is unknown. */
export function momentOf(time: number, label: string): string {
  if (label === "time") return `time ${timeOf(time)}`;
  return label === BIN_LABEL ? `time bin ${timeOf(time)}` : durationOf(time, label);
}

/** How far a number of months may be from a whole number and still be shown in months. */
const WHOLE_MONTH = 1e-6;

/** A length of time: "912 days", or "912" if the unit is unknown; less than a year is given in months or days. */
export function durationOf(time: number, label: string): string {
  if (label === "years" && time > 0 && time < 1) {
    const months = 12 * time;
    return Math.abs(months - Math.round(months)) < WHOLE_MONTH
      ? durationOf(Math.round(months), "months")
      : durationOf(Math.max(1, Math.round(DAYS_IN_A_YEAR * time)), "days");
  }
  const shown = timeOf(time);
  if (label === "time") return shown;
  return `${shown} ${shown === "1" ? label.replace(/s$/, "") : label}`;
}

/**
 * Digits kept of a time that may be one person's own: the horizon is the largest training time, a median is somebody's.
 */
const ROUNDED_DIGITS = 2;

/** A length of time, rounded so that it is not one person's exact time: "about 4.9 years". */
export function roundedDurationOf(time: number, label: string): string {
  const rounded = Number(time.toPrecision(ROUNDED_DIGITS));
  if (label === BIN_LABEL || rounded === time) return durationOf(time, label);
  return `about ${durationOf(rounded, label)}`;
}

/** 0, step, 2·step … up to the end, where the step is 1, 2 or 5 times a power of ten. */
export function chooseTicks(end: number, wanted: number): readonly number[] {
  if (!(end > 0)) return [0];
  const rough = end / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, k) => k * step);
}

/**
 * The bin 1…T that holds the time: the first whose upper edge is not below it. Times after the last edge are in bin T.
 */
export function binOfTime(edges: readonly number[], time: number): number {
  let low = 1;
  let high = edges.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time <= edges[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}
