/**
 * Patients with a narrow heart valve, simulated, from the decision how to treat it to death: the seventh law, written
 * down before any model was run on it, to judge bands on. A month's rate is
 *   exp(BASE + what is known at the start + what time adds),
 * constant within a month. Beyond an additive model of proportional rates it has: an operation that is dangerous in the
 * first weeks, more so for the frail, and protects later (hazards that cross); a peptide of a very skewed distribution
 * whose effect fades to a third; creatinine that matters up to a point and more in diabetes (a bend and an
 * interaction); a lung disease that matters for those who were operated on; low weight that matters alone (a threshold);
 * and age that matters more, the longer people live. Patients enter over four and a half years and drop out by hospital.
 * Nobody in it is real.
 */
import { createRandom, exp, log, type Random } from "graduate-survival/core";
import { drawExponential } from "../eye/draw.ts";
import { drawFromRates, survivalFromRates } from "./monthly-rates.ts";
import { pickEarly, round, within } from "./plain-draws.ts";

export const HOSPITALS = ["abbey", "bridge", "castle", "dale", "elm", "ford"] as const;

export interface ValvePatient {
  readonly age: number;
  readonly female: boolean;
  readonly operated: boolean;
  readonly hospital: (typeof HOSPITALS)[number];
  /** Points of a scale from 0 to 9. */
  readonly frailty: number;
  readonly creatinine: number;
  readonly peptide: number;
  readonly albumin: number;
  readonly bmi: number;
  readonly diabetes: boolean;
  readonly lung: boolean;
  /** Ejection fraction, %. */
  readonly ejection: number;
  readonly gradient: number;
  /** Two measurements that nothing depends on. */
  readonly platelets: number;
  readonly calcium: number;
}

/** The longest follow-up, in months. */
export const VALVE_MONTHS = 60;
const BASE = log(0.0105);
const OF_HOSPITAL = { abbey: 0, bridge: 0.1, castle: -0.15, dale: 0.05, elm: 0.2, ford: -0.05 } as const;
/** Log of the rate's ratio at once and for good, and the months in which the first falls to 1/e. */
const OPERATION = { atOnce: 1.5, months: 1.5, forGood: -0.65 } as const;

function drawValvePatient(random: Random): ValvePatient {
  const age = Math.round(within(77 + 8 * random.normal(), 45, 98));
  const frailty = Math.min(9, Math.floor((1.4 + 0.05 * Math.max(0, age - 70)) * drawExponential(random)));
  return {
    age,
    female: random.uniform() < 0.5,
    operated: random.uniform() < 1 / (1 + exp(-0.5 + 0.06 * (age - 77) + 0.15 * frailty)),
    hospital: pickEarly(random, HOSPITALS, 1.3),
    frailty,
    creatinine: round(exp(0.05 + 0.35 * random.normal() + 0.15 * drawExponential(random)), 2),
    peptide: Math.round(exp(6.3 + 1.1 * random.normal())),
    albumin: round(within(41 - 3 * drawExponential(random) + random.normal(), 18, 50), 1),
    bmi: round(within(27 + 5 * random.normal(), 15, 50), 1),
    diabetes: random.uniform() < 0.3,
    lung: random.uniform() < 0.18,
    ejection: Math.round(within(60 - 7 * drawExponential(random) + 3 * random.normal(), 15, 75)),
    gradient: Math.round(within(42 + 13 * random.normal(), 10, 100)),
    platelets: Math.round(exp(5.4 + 0.3 * random.normal())),
    calcium: round(2.35 + 0.1 * random.normal(), 2),
  };
}

/** The rate of dying in a month, the first being 0. */
export function dyingRate(patient: ValvePatient, month: number): number {
  const { age, female, operated, hospital, frailty, creatinine, peptide, albumin } = patient;
  const { bmi, diabetes, lung, ejection } = patient;
  const kidneys = Math.min(log(creatinine), 0.9);
  const known =
    OF_HOSPITAL[hospital] +
    0.035 * (age - 77) +
    0.0006 * (age - 77) * month -
    (female ? 0.15 : 0) +
    0.12 * frailty +
    (diabetes ? 0.1 + 1.1 * kidneys : 0.5 * kidneys) -
    0.04 * (albumin - 38) +
    (bmi < 21 ? 0.5 : 0) +
    (lung ? (operated ? 0.6 : 0.15) : 0) +
    0.02 * Math.max(0, 50 - ejection);
  const stretched = (0.12 + 0.24 * exp(-month / 15)) * (log(peptide) - 6.3);
  const early = exp(-month / OPERATION.months);
  const operation = operated ? OPERATION.forGood + early * (OPERATION.atOnce + 0.2 * frailty) : 0;
  return exp(BASE + known + stretched + operation + 0.3 * exp(-month / 3) + 0.006 * month);
}

/** True S(t|x) at times in months, from 0 to VALVE_MONTHS. */
export function alive(patient: ValvePatient, months: ArrayLike<number>): Float64Array {
  return survivalFromRates((month) => dyingRate(patient, month), VALVE_MONTHS, months);
}

export interface ValvePatients {
  readonly people: readonly ValvePatient[];
  /** Months to everyone's death, whether it was seen or not. */
  readonly eventTime: Float64Array; // [n]
  /** The table as a file of CSV. */
  readonly text: string;
}

const COLUMNS =
  "months,died,age,sex,operated,hospital,frailty,creatinine,peptide,albumin,bmi,diabetes,lung,ejection,gradient," +
  "platelets,calcium";

export function simulateValves(n: number, seed: number): ValvePatients {
  const random = createRandom(seed);
  const people: ValvePatient[] = [];
  const eventTime = new Float64Array(n);
  const lines = [COLUMNS];
  for (let k = 0; k < n; k++) {
    const patient = drawValvePatient(random);
    const { age, female, operated, hospital, diabetes, lung, ejection, gradient, ...others } = patient;
    const entered = 6 + (VALVE_MONTHS - 6) * random.uniform();
    const left = drawExponential(random) / (0.004 * exp(hospital === "elm" ? 0.9 : 0));
    const followed = Math.min(entered, left);
    const until = drawFromRates(random, (month) => dyingRate(patient, month), VALVE_MONTHS);
    people.push(patient);
    eventTime[k] = until;
    const seen = Math.max(0.01, Math.min(until, followed)).toFixed(2);
    const { frailty, creatinine, peptide, albumin, bmi, platelets, calcium } = others;
    const told = [age, female ? "f" : "m", Number(operated), hospital, frailty, creatinine, peptide];
    const more = [albumin, bmi, Number(diabetes), Number(lung), ejection, gradient, platelets, calcium];
    lines.push([seen, Number(until <= followed), ...told, ...more].join(","));
  }
  return { people, eventTime, text: `${lines.join("\n")}\n` };
}
