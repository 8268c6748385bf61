/**
 * When the event occurs in the simulated cohort: Weibull hazards after a delay,
 *   S(t|x) = exp(−exp(η) · max(0, t − delay)^shape), t in years, η linear in 14 terms of x.
 * The shape differs for age 75 and over and for Malay people in 1-2 room housing (the latter where both hold), and only
 * people on eye medication have the delay. `trueEventModel` has the constants of the three levels: at 0 only the first
 * eight terms and one shape are in use, and Cox's model is true; 1 is half of 2. generator-fit.ts estimates the same
 * family with other constants.
 */
import { exp, log1p, power } from "graduate-survival/core";
import type { EyePerson } from "./law.ts";

export const DAYS_PER_YEAR = 365.25;

/** How far the truth is from Cox's model. */
export type EyeLevel = 0 | 1 | 2;

/** What η is linear in, in the order of the columns of EventTerms. */
export const TERM_NAMES = [
  "intercept",
  "hba1c",
  "duration",
  "sbp",
  "screeningGrade",
  "hba1cSlope",
  "egfr",
  "currentSmoker",
  "hba1cAbove9",
  "logAcr",
  "hba1cByAge",
  "poor",
  "old",
  "eyeMedication",
] as const;

export const TERMS = TERM_NAMES.length;

/** Which of the three shapes a person's hazard has. */
export const SHAPE_NAMES = ["shape", "shapeOld", "shapePoor"] as const;
const SHAPE = { usual: 0, old: 1, poor: 2 } as const;

/** All that the event model needs to know of people: unrounded, nothing missing. */
export interface EventTerms {
  readonly N: number;
  readonly x: Float64Array; // [N,TERMS]
  /** Index into SHAPE_NAMES. */
  readonly shape: Uint8Array; // [N]
  /** 1 = has the delay. */
  readonly delayed: Uint8Array; // [N]
}

/** A member of the family. */
export interface EventModel {
  readonly coefficients: ArrayLike<number>; // [TERMS]
  readonly shapes: ArrayLike<number>; // [3]
  /** Years during which people on eye medication have no event. */
  readonly delay: number;
}

export function createEventTerms(N: number): EventTerms {
  return {
    N,
    x: new Float64Array(N * TERMS),
    shape: new Uint8Array(N),
    delayed: new Uint8Array(N),
  };
}

export function writeEventTerms(terms: EventTerms, row: number, person: EyePerson): void {
  const { age, hba1c, duration, sbp, screeningGrade, hba1cSlope, egfr, smoking, acr } = person;
  const { poor, old, eyeMedication } = person;
  const { x } = terms;
  let at = row * TERMS;
  x[at++] = 1;
  x[at++] = hba1c - 7.3;
  x[at++] = duration;
  x[at++] = sbp - 135;
  x[at++] = screeningGrade;
  x[at++] = hba1cSlope;
  x[at++] = egfr - 70;
  x[at++] = smoking === 2 ? 1 : 0;
  x[at++] = Math.max(0, hba1c - 9);
  x[at++] = log1p(acr);
  x[at++] = (hba1c - 7.3) * (age - 62);
  x[at++] = poor;
  x[at++] = old;
  x[at++] = eyeMedication;
  terms.shape[row] = poor === 1 ? SHAPE.poor : old === 1 ? SHAPE.old : SHAPE.usual;
  terms.delayed[row] = eyeMedication;
}

/** The truth at a level. */
export function trueEventModel(level: EyeLevel): EventModel {
  const k = level / 2;
  const intercept = level === 0 ? -5.25 + 0.45 : -5.25;
  const linear = [intercept, 0.3, 0.035, 0.01, 0.55, 0.9, -0.006, 0.25];
  const beyond = [0.45, 0.22, -0.004, 1.1, -1.9, 0.9].map((coefficient) => k * coefficient);
  return {
    coefficients: [...linear, ...beyond],
    shapes: [1.3, 1.3 + k * 1, 1.3 - k * 0.65],
    delay: 3 * k,
  };
}

/** η of one person. */
export function logHazardLevel({ coefficients }: EventModel, terms: EventTerms, row: number): number {
  let sum = 0;
  for (let j = 0, at = row * TERMS; j < TERMS; j++, at++) sum += coefficients[j] * terms.x[at];
  return sum;
}

/** The years at which one person's cumulative hazard reaches the given one. */
export function eventYears(model: EventModel, terms: EventTerms, row: number, hazard: number): number {
  const delay = terms.delayed[row] === 1 ? model.delay : 0;
  const level = exp(logHazardLevel(model, terms, row));
  return delay + power(hazard / level, 1 / model.shapes[terms.shape[row]]);
}

/** S(t|x) of rows (0-based; all by default) at times in days: [rows, times] row-major. */
export function survivalOf(
  model: EventModel,
  terms: EventTerms,
  times: ArrayLike<number>,
  rows?: ArrayLike<number>,
): Float64Array {
  const count = rows === undefined ? terms.N : rows.length;
  const T = times.length;
  // Time enters through one power, which depends only on shape and delay: six rows of powers serve everyone.
  const powers = Array.from({ length: 2 * SHAPE_NAMES.length }, (_, kind) => {
    const delay = kind >= SHAPE_NAMES.length ? model.delay : 0;
    const shape = model.shapes[kind % SHAPE_NAMES.length];
    return Float64Array.from(times, (time) => power(Math.max(0, time / DAYS_PER_YEAR - delay), shape));
  });
  const survival = new Float64Array(count * T);
  for (let i = 0, at = 0; i < count; i++) {
    const row = rows === undefined ? i : rows[i];
    const level = exp(logHazardLevel(model, terms, row));
    const ofTime = powers[terms.shape[row] + SHAPE_NAMES.length * terms.delayed[row]];
    for (let t = 0; t < T; t++, at++) survival[at] = exp(-level * ofTime[t]);
  }
  return survival;
}
