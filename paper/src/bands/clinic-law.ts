/**
 * Patients of four clinics, simulated, from a diagnosis to a relapse: a law beside the eye cohort, unlike it in shape, on
 * which the constants of bands were chosen too. It was written down before any model was run on it. A month's rate is
 *   exp(BASE + what is known at the diagnosis + what time adds),
 * constant within a month, so that the true curve of everyone is known. Beyond an additive model of proportional rates
 * it has: a treatment that helps for a year and then no longer (nonproportional), more so where the marker is high (an
 * interaction); smoking that matters more with age (another); a risk that grows on both sides of a middling weight and
 * is flat beyond (nonlinear); and a baseline that falls, then rises. Patients are followed for up to five years, enter
 * over that time and drop out by age and clinic: about four in five are censored. Nobody in it is real.
 */
import { createRandom, exp, log, type Random } from "graduate-survival/core";
import { drawExponential } from "../eye/draw.ts";
import { drawFromRates, survivalFromRates } from "./monthly-rates.ts";
import { round } from "./plain-draws.ts";

export const CLINICS = ["harbour", "hill", "market", "station"] as const;
export const STAGES = ["I", "II", "III"] as const;

export interface Patient {
  readonly age: number;
  readonly female: boolean;
  readonly stage: (typeof STAGES)[number];
  readonly clinic: (typeof CLINICS)[number];
  readonly treated: boolean;
  readonly smoker: boolean;
  readonly marker: number;
  readonly bmi: number;
  readonly pressure: number;
  /** Two measurements that nothing depends on. */
  readonly iron: number;
  readonly vitamin: number;
}

/** The longest follow-up, in months. */
export const CLINIC_MONTHS = 60;
const BASE = log(0.0042);
const OF_STAGE = { I: -0.4, II: 0, III: 0.6 } as const;
const OF_CLINIC = { harbour: 0.15, hill: -0.1, market: 0, station: 0.1 } as const;
const CLINIC_SHARES = [0.4, 0.3, 0.2, 0.1];
const STAGE_SHARES = [0.45, 0.35, 0.2];
const TREATED_MONTHS = 12;

function pick<Value>(random: Random, values: readonly Value[], shares: readonly number[]): Value {
  let left = random.uniform();
  const k = shares.findIndex((share) => {
    left -= share;
    return left < 0;
  });
  return values[k < 0 ? values.length - 1 : k];
}

function drawPatient(random: Random): Patient {
  const stage = pick(random, STAGES, STAGE_SHARES);
  return {
    age: Math.round(40 + 45 * random.uniform()),
    female: random.uniform() < 0.55,
    stage,
    clinic: pick(random, CLINICS, CLINIC_SHARES),
    treated: random.uniform() < (stage === "III" ? 0.7 : 0.4),
    smoker: random.uniform() < 0.3,
    marker: round(exp(0.6 * random.normal()), 3),
    bmi: round(27 + 5 * random.normal(), 1),
    pressure: Math.round(135 + 18 * random.normal()),
    iron: round(100 + 30 * random.normal(), 1),
    vitamin: round(50 * drawExponential(random), 1),
  };
}

/** The rate of relapse in a month, the first being 0. */
export function relapseRate(patient: Patient, month: number): number {
  const { age, female, stage, clinic, treated, smoker, marker, bmi, pressure } = patient;
  const known =
    OF_STAGE[stage] +
    OF_CLINIC[clinic] +
    0.02 * (age - 62) +
    (female ? -0.15 : 0) +
    0.45 * log(marker) +
    0.005 * (pressure - 135) +
    Math.min(0.015 * (bmi - 26) ** 2, 0.9) +
    (smoker ? 0.3 + 0.02 * (age - 62) : 0);
  const helped = !treated ? 0 : month < TREATED_MONTHS ? -0.8 - 0.35 * log(marker) : 0.1;
  const baseline = 0.6 * exp(-month / 5) + 0.012 * Math.max(0, month - 24);
  return exp(BASE + known + helped + baseline);
}

/** True S(t|x) at times in months, from 0 to CLINIC_MONTHS. */
export function relapseFree(patient: Patient, months: ArrayLike<number>): Float64Array {
  return survivalFromRates((month) => relapseRate(patient, month), CLINIC_MONTHS, months);
}

export interface Patients {
  readonly people: readonly Patient[];
  /** Months to everyone's relapse, whether it was seen or not. */
  readonly eventTime: Float64Array; // [n]
  /** The table as a file of CSV. */
  readonly text: string;
}

const COLUMNS = "months,relapse,age,sex,stage,clinic,treated,smoker,marker,bmi,pressure,iron,vitamin";

export function simulateClinics(n: number, seed: number): Patients {
  const random = createRandom(seed);
  const people: Patient[] = [];
  const eventTime = new Float64Array(n);
  const lines = [COLUMNS];
  for (let k = 0; k < n; k++) {
    const patient = drawPatient(random);
    const { age, female, stage, clinic, treated, smoker, marker, bmi, pressure, iron, vitamin } = patient;
    const entered = 1 + (CLINIC_MONTHS - 1) * random.uniform();
    const rate = 0.008 * exp(0.015 * (age - 62) + (clinic === "station" ? 0.7 : 0));
    const followed = Math.min(entered, drawExponential(random) / rate);
    const until = drawFromRates(random, (month) => relapseRate(patient, month), CLINIC_MONTHS);
    people.push(patient);
    eventTime[k] = until;
    const seen = Math.max(0.01, Math.min(until, followed)).toFixed(2);
    const told = [age, female ? "f" : "m", stage, clinic, Number(treated), Number(smoker)];
    lines.push([seen, Number(until <= followed), ...told, marker, bmi, pressure, iron, vitamin].join(","));
  }
  return { people, eventTime, text: `${lines.join("\n")}\n` };
}
