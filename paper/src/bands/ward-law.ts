/**
 * Patients of a hospital, simulated, from leaving it to coming back: a law that the constants of bands were
 * chosen on too, written down before any model was run on it. Times are lognormal,
 *   log T = μ(x) + σ(x) ε,   S(t|x) = Φ((μ − log t)/σ),
 * so that no effect is proportional: every one acts on time, hazards rise and fall, and those of women and of men cross,
 * because σ differs. μ has a threshold (a laboratory value above 1.5), a bend (short and long stays), and interactions
 * (living alone matters for the old, a drug helps where the laboratory value is high). Patients are followed for up to
 * two years, fewer days the later they came and the younger they are: about three in four are censored. Nobody in it is
 * real.
 */
import { createRandom, exp, log, normalUpperTail, type Random } from "graduate-survival/core";
import { drawExponential } from "../eye/draw.ts";

export const WARDS = ["medicine", "surgery", "heart", "lung", "geriatric"] as const;

export interface WardPatient {
  readonly age: number;
  readonly female: boolean;
  readonly ward: (typeof WARDS)[number];
  readonly alone: boolean;
  readonly drug: boolean;
  readonly lab: number;
  readonly days: number;
  readonly diagnoses: number;
  readonly sodium: number;
  /** A measurement that nothing depends on. */
  readonly noise: number;
}

/** The longest follow-up, in days. */
export const WARD_DAYS = 730;
const BASE = 7.4;
const OF_WARD = { medicine: 0, surgery: 0.3, heart: -0.25, lung: -0.15, geriatric: -0.1 } as const;
const SPREAD = { women: 1.25, men: 1.6 } as const;

function drawWardPatient(random: Random): WardPatient {
  const ward = WARDS[Math.min(WARDS.length - 1, Math.floor(WARDS.length * random.uniform() ** 1.4))];
  const age = ward === "geriatric" ? 78 + 6 * random.normal() : 63 + 13 * random.normal();
  return {
    age: Math.round(Math.min(Math.max(age, 20), 99)),
    female: random.uniform() < 0.5,
    ward,
    alone: random.uniform() < 0.25,
    drug: random.uniform() < 0.35,
    lab: Number(exp(0.1 + 0.5 * random.normal()).toFixed(2)),
    days: Math.max(1, Math.round(exp(1.6 + 0.7 * random.normal()))),
    diagnoses: Math.min(9, Math.floor(2 * drawExponential(random))),
    sodium: Math.round(139 + 4 * random.normal()),
    noise: Number(random.normal().toFixed(2)),
  };
}

/** μ, the mean of log days. */
export function meanLogDays({ age, ward, alone, drug, lab, days, diagnoses, sodium }: WardPatient): number {
  return (
    BASE +
    OF_WARD[ward] -
    0.018 * (age - 65) -
    0.12 * diagnoses -
    (lab > 1.5 ? 0.45 : 0) +
    (drug ? 0.15 + 0.3 * Math.max(0, lab - 1) : 0) -
    (alone ? 0.15 + 0.015 * Math.max(0, age - 65) : 0) -
    0.18 * (log(days) - 1.6) ** 2 -
    0.03 * Math.max(0, 135 - sodium)
  );
}

function spreadOf({ female }: WardPatient): number {
  return female ? SPREAD.women : SPREAD.men;
}

/** True S(t|x) at times in days. */
export function stillAway(patient: WardPatient, times: ArrayLike<number>): Float64Array {
  const mean = meanLogDays(patient);
  const spread = spreadOf(patient);
  return Float64Array.from(times, (time) => (time <= 0 ? 1 : normalUpperTail((log(time) - mean) / spread)));
}

export interface WardPatients {
  readonly people: readonly WardPatient[];
  /** Days to everyone's return, whether it was seen or not. */
  readonly eventTime: Float64Array; // [n]
  /** The table as a file of CSV. */
  readonly text: string;
}

const COLUMNS = "time,back,age,sex,ward,alone,drug,lab,days,diagnoses,sodium,noise";

export function simulateWards(n: number, seed: number): WardPatients {
  const random = createRandom(seed);
  const people: WardPatient[] = [];
  const eventTime = new Float64Array(n);
  const lines = [COLUMNS];
  for (let k = 0; k < n; k++) {
    const patient = drawWardPatient(random);
    const { age, female, ward, alone, drug, lab, days, diagnoses, sodium, noise } = patient;
    eventTime[k] = exp(meanLogDays(patient) + spreadOf(patient) * random.normal());
    const left = drawExponential(random) / (0.0006 * exp(-0.015 * (age - 65)));
    const followed = Math.min(30 + (WARD_DAYS - 30) * random.uniform(), left);
    people.push(patient);
    const seen = Math.max(0.1, Math.min(eventTime[k], followed)).toFixed(1);
    const told = [age, female ? "f" : "m", ward, Number(alone), Number(drug), lab, days, diagnoses];
    lines.push([seen, Number(eventTime[k] <= followed), ...told, sodium, noise].join(","));
  }
  return { people, eventTime, text: `${lines.join("\n")}\n` };
}
