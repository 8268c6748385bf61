/**
 * Patients of a chronic disease, simulated, up to death, some of whom start a treatment at a known time: a covariate
 * that changes, with a known truth. The law was written down before any model was run on it. A month's rate of death is
 *   λ = exp(BASE + what is known at the diagnosis + what time adds + what the treatment does),
 * constant within a month but for the start of the treatment, so S(t|x) = exp(−Σ λ d), d the part of each month before
 * t, is exact for a patient who stays treated, or untreated. Beyond an additive model of proportional rates there are a
 * bend (age over 72) and an interaction: the treatment that helps others does not help smokers. Those with a high
 * marker are treated sooner, so whoever is treated differs from whoever is not.
 */
import { createRandom, exp, log, type Random } from "graduate-survival/core";
import { drawExponential } from "../eye/draw.ts";

/** Groups: three of what is known at the diagnosis or changes, one cross of both. */
export const LAW_GROUPS = ["sex = f", "age >= 72", "treated = 1", "smoker = 1 and treated = 1"] as const;

export interface Patient {
  readonly age: number;
  readonly female: boolean;
  readonly smoker: boolean;
  readonly marker: number;
  /** A measurement that nothing depends on. */
  readonly iron: number;
}

/** The longest follow-up, in months. */
export const LAW_MONTHS = 60;
const BASE = log(0.014);
/** The share of patients for whom the treatment is thought of, and the monthly rate at which they start it. */
const TREATMENT = { share: 0.75, rate: 0.06 } as const;

function drawPatient(random: Random): Patient {
  return {
    age: Math.round(Math.min(Math.max(63 + 11 * random.normal(), 30), 90)),
    female: random.uniform() < 0.5,
    smoker: random.uniform() < 0.35,
    marker: Number(exp(0.1 + 0.5 * random.normal()).toFixed(2)),
    iron: Number((100 + 30 * random.normal()).toFixed(1)),
  };
}

/** The rate of death in a month, the first being 0. */
export function deathRate(patient: Patient, isTreated: boolean, month: number): number {
  const { age, female, smoker, marker } = patient;
  const known =
    0.03 * (age - 63) +
    0.08 * Math.max(0, age - 72) +
    (female ? -0.3 : 0) +
    (smoker ? 0.25 : 0) +
    0.6 * log(marker);
  const treatment = isTreated ? (smoker ? 0.15 : -1) : 0;
  return exp(BASE + known + treatment + 0.4 * exp(-month / 4));
}

/** True S(t|x) at ascending times in months, up to LAW_MONTHS, if the patient stays treated, or untreated. */
export function trueSurvival(patient: Patient, isTreated: boolean, times: ArrayLike<number>): Float64Array {
  const survival = new Float64Array(times.length);
  let passed = 0;
  let t = 0;
  for (let month = 0; month < LAW_MONTHS && t < times.length; month++) {
    const rate = deathRate(patient, isTreated, month);
    for (; t < times.length && times[t] <= month + 1; t++)
      survival[t] = exp(-passed - rate * (times[t] - month));
    passed += rate;
  }
  return survival;
}

/** Months to death along a path that is untreated before `start` and treated after; Infinity beyond the last month. */
function drawDeath(random: Random, patient: Patient, start: number): number {
  let left = drawExponential(random);
  let at = 0;
  while (at < LAW_MONTHS) {
    const month = Math.floor(at);
    const end = at < start ? Math.min(month + 1, start) : month + 1;
    const rate = deathRate(patient, at >= start, month);
    if (left < rate * (end - at)) return at + left / rate;
    left -= rate * (end - at);
    at = end;
  }
  return Number.POSITIVE_INFINITY;
}

const COLUMNS = "age,sex,smoker,marker,iron,treated";

function cellsOf({ age, female, smoker, marker, iron }: Patient, isTreated: boolean): string {
  return [age, female ? "f" : "m", Number(smoker), marker, iron, Number(isTreated)].join(",");
}

/** n patients as start–stop rows of CSV, two for those who were treated. Times are in tenths of a month. */
export function simulatePatients(n: number, seed: number): string {
  const random = createRandom(seed);
  const lines = [`id,start,stop,died,${COLUMNS}`];
  for (let id = 1; id <= n; id++) {
    const patient = drawPatient(random);
    const isConsidered = random.uniform() < TREATMENT.share;
    const waits = drawExponential(random) / (TREATMENT.rate * (patient.marker > 1.3 ? 1.8 : 1));
    const start = isConsidered ? Math.max(1, Math.round(10 * waits)) / 10 : Number.POSITIVE_INFINITY;
    const calendar = 12 + (LAW_MONTHS - 12) * random.uniform();
    const followed = Math.min(calendar, drawExponential(random) / 0.006);
    const death = drawDeath(random, patient, start);
    // Rounded up, so that who dies or leaves after the treatment began does so in the table too.
    const seen = Math.ceil(10 * Math.min(death, followed)) / 10;
    const died = Number(death <= followed);
    if (seen <= start) lines.push([id, 0, seen, died, cellsOf(patient, false)].join(","));
    else {
      lines.push([id, 0, start, 0, cellsOf(patient, false)].join(","));
      lines.push([id, start, seen, died, cellsOf(patient, true)].join(","));
    }
  }
  return `${lines.join("\n")}\n`;
}

export interface FreshPatients {
  readonly people: readonly { readonly patient: Patient; readonly isTreated: boolean }[];
  /** Their columns as CSV. */
  readonly text: string;
}

/** n patients, each treated or not by a coin. */
export function drawFresh(n: number, seed: number): FreshPatients {
  const random = createRandom(seed);
  const people = Array.from({ length: n }, () => ({
    patient: drawPatient(random),
    isTreated: random.uniform() < 0.5,
  }));
  const lines = people.map(({ patient, isTreated }) => cellsOf(patient, isTreated));
  return { people, text: `${[COLUMNS, ...lines].join("\n")}\n` };
}
