/**
 * Times as a reader wants them: in years where the table counts days, weeks or months and the horizon is long, and at
 * round times. A moment has its unit with it, in the singular where it is one; times that are only known by their bin
 * say so.
 */

/** What a year has of each unit; the mean year of the calendar. */
const IN_A_YEAR: Readonly<Record<string, number>> = { day: 365.25, week: 365.25 / 7, month: 12 };
/** From so many years on a time is read in years. */
const LONG_YEARS = 2;

export interface ShownTime {
  /** The name and unit of time, as "years". */
  readonly label: string;
  /** What the table's times are divided by. */
  readonly divisor: number;
}

/** Years for a long horizon in days, weeks or months; otherwise as given. */
export function chooseTimeUnit(label: string, horizon: number): ShownTime {
  const inYear = IN_A_YEAR[label.trim().toLowerCase().replace(/s$/, "")];
  if (inYear === undefined || horizon <= LONG_YEARS * inYear) return { label, divisor: 1 };
  return { label: "years", divisor: inYear };
}

/** Of the time that is followed, where the last moment may lie. */
const LATEST_SHARE = 0.9;
/** Moments at most, and where along the time they are wanted. */
const WANTED_SHARES = [0.25, 0.5, 0.75] as const;

/** Up to three round times, at least two where there is room: 5 and 10 years of 15. */
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

/** The label of times that are only known by their bin. */
export const BIN_LABEL = "time bins";

/** A moment: "912 days", "1 year", "time bin 7", "time 912" where the unit is not known. */
export function momentOf(time: number, label: string): string {
  if (label === "time") return `time ${timeOf(time)}`;
  return label === BIN_LABEL ? `time bin ${timeOf(time)}` : durationOf(time, label);
}

/** What a month must be off a whole number by, at most, to be called one. */
const WHOLE_MONTH = 1e-6;

/** A length of time: "912 days", "912" where the unit is not known; of years that are less than one, months or days. */
export function durationOf(time: number, label: string): string {
  if (label === "years" && time > 0 && time < 1) {
    const months = 12 * time;
    return Math.abs(months - Math.round(months)) < WHOLE_MONTH
      ? durationOf(Math.round(months), "months")
      : durationOf(Math.max(1, Math.round(IN_A_YEAR.day * time)), "days");
  }
  const shown = timeOf(time);
  if (label === "time") return shown;
  return `${shown} ${shown === "1" ? label.replace(/s$/, "") : label}`;
}

/** Digits of a time that may be one person's own: the horizon is the largest training time, a median is somebody's. */
const ROUNDED_DIGITS = 2;

/** A length of time that is nobody's to the day: "about 4.9 years". */
export function roundedDurationOf(time: number, label: string): string {
  const rounded = Number(time.toPrecision(ROUNDED_DIGITS));
  if (label === BIN_LABEL || rounded === time) return durationOf(time, label);
  return `about ${durationOf(rounded, label)}`;
}
