/**
 * The law of the simulated eye-complication cohort: how one person's 38 features, follow-up and missing values are
 * drawn (method section 12; no real person is in it). Numbers are days and years, laboratory units, and the constants
 * of that law; they are not tuned. Draws come in one fixed order, person by person, whatever the level and the
 * censoring: cohorts of one seed share their people, and a smaller cohort is the beginning of a larger one. Values here
 * are as drawn; simulate.ts decides what a table shows of them, rounded and with gaps, and eye-survival.ts the time of
 * the event.
 */

import { exp, power, type Random } from "graduate-survival/core";
import { drawExponential, drawGamma, drawPoisson } from "./draw.ts";

/** The draws that the law uses, so that others can be substituted. */
export interface EyeDraws {
  uniform(): number;
  normal(): number;
  /** Mean 1. */
  exponential(): number;
  /** Scale 1. */
  gamma(shape: number): number;
  poisson(mean: number): number;
}

export function createEyeDraws(random: Random): EyeDraws {
  return {
    uniform: random.uniform,
    normal: random.normal,
    exponential: () => drawExponential(random),
    gamma: (shape) => drawGamma(random, shape),
    poisson: (mean) => drawPoisson(random, mean),
  };
}

export const RACES = ["Chinese", "Malay", "Indian", "Other"] as const;
export const HOUSINGS = ["1-2 room", "3 room", "4 room", "5 room or private"] as const;
export const SMOKINGS = ["never", "former", "current"] as const;

const MALAY = 1;
const SMALLEST_HOUSING = 0;
const OLD_FROM = 75;

/** Cumulative shares: a code is the number of shares that a uniform exceeds, never beyond the last. */
const RACE_SHARES = cumulate([0.64, 0.16, 0.14, 0.06]);
const HOUSING_SHARES_BY_RACE = [
  [0.1, 0.24, 0.37, 0.29],
  [0.2, 0.34, 0.33, 0.13],
  [0.15, 0.28, 0.34, 0.23],
  [0.12, 0.22, 0.34, 0.32],
].map(cumulate);
const SMOKING_SHARES_OF_WOMEN = cumulate([0.88, 0.07, 0.05]);
const SMOKING_SHARES_OF_MEN = cumulate([0.5, 0.32, 0.18]);

/** One person as drawn: nothing rounded, nothing missing. Codes index RACES, HOUSINGS, SMOKINGS; yes is 1. */
export interface EyePerson {
  readonly age: number;
  readonly female: number;
  readonly race: number;
  readonly housing: number;
  readonly smoking: number;
  readonly duration: number;
  readonly hba1c: number;
  readonly hba1cSlope: number;
  readonly hba1cSd: number;
  readonly fpg: number;
  readonly fpgSlope: number;
  readonly egfr: number;
  readonly egfrSlope: number;
  readonly creatinine: number;
  readonly creatinineSlope: number;
  readonly sbp: number;
  readonly sbpSlope: number;
  readonly sbpSd: number;
  readonly dbp: number;
  readonly ldl: number;
  readonly hdl: number;
  readonly triglycerides: number;
  readonly cholesterol: number;
  readonly bmi: number;
  readonly bmiSlope: number;
  readonly acr: number;
  readonly acrSlope: number;
  readonly haemoglobin: number;
  readonly alt: number;
  readonly uricAcid: number;
  readonly insulin: number;
  readonly metformin: number;
  readonly sulfonylurea: number;
  readonly statin: number;
  readonly aceiArb: number;
  readonly screeningGrade: number;
  readonly eyeMedication: number;
  readonly visits: number;
  /** Malay in the smallest housing, and age 75 and over: where the higher levels change the hazard. */
  readonly poor: number;
  readonly old: number;
  /** Exponential with mean 1: the cumulative hazard at which the event occurs. */
  readonly eventHazard: number;
  /** Years from the start of the study to entry, for ordinary and for late entry. */
  readonly entry: number;
  readonly lateEntry: number;
  /** Exponential with mean 1: the cumulative hazard of dropping out at which the person drops out. */
  readonly dropOutHazard: number;
  /** Which values are missing from the table. */
  readonly isMissing: {
    readonly fpg: boolean;
    readonly ldl: boolean;
    readonly hdl: boolean;
    readonly triglycerides: boolean;
    readonly bmi: boolean;
    readonly acr: boolean;
  };
}

/** Draws the next person. The order of the draws is part of the law. */
export function drawPerson(draw: EyeDraws): EyePerson {
  const known = drawBackground(draw);
  const measured = drawMeasurements(draw, known);
  const care = drawCare(draw, known, measured);
  const followUp = drawFollowUp(draw, known);
  // Field by field: an object with this many fields that is built by spreading is ten times as slow to read.
  return {
    age: known.age,
    female: known.female,
    race: known.race,
    housing: known.housing,
    smoking: known.smoking,
    duration: measured.duration,
    hba1c: measured.hba1c,
    hba1cSlope: measured.hba1cSlope,
    hba1cSd: measured.hba1cSd,
    fpg: measured.fpg,
    fpgSlope: measured.fpgSlope,
    egfr: measured.egfr,
    egfrSlope: measured.egfrSlope,
    creatinine: measured.creatinine,
    creatinineSlope: measured.creatinineSlope,
    sbp: measured.sbp,
    sbpSlope: measured.sbpSlope,
    sbpSd: measured.sbpSd,
    dbp: measured.dbp,
    ldl: measured.ldl,
    hdl: measured.hdl,
    triglycerides: measured.triglycerides,
    cholesterol: measured.cholesterol,
    bmi: measured.bmi,
    bmiSlope: measured.bmiSlope,
    acr: measured.acr,
    acrSlope: measured.acrSlope,
    haemoglobin: measured.haemoglobin,
    alt: measured.alt,
    uricAcid: measured.uricAcid,
    insulin: care.insulin,
    metformin: care.metformin,
    sulfonylurea: care.sulfonylurea,
    statin: care.statin,
    aceiArb: care.aceiArb,
    screeningGrade: care.screeningGrade,
    eyeMedication: care.eyeMedication,
    visits: care.visits,
    poor: known.race === MALAY && known.isSmallest === 1 ? 1 : 0,
    old: known.age >= OLD_FROM ? 1 : 0,
    eventHazard: followUp.eventHazard,
    entry: followUp.entry,
    lateEntry: followUp.lateEntry,
    dropOutHazard: followUp.dropOutHazard,
    isMissing: followUp.isMissing,
  };
}

/** Whether an event of that probability happens. */
function happens({ uniform }: EyeDraws, probability: number): 0 | 1 {
  return uniform() < probability ? 1 : 0;
}

function drawBackground(draw: EyeDraws) {
  const { uniform, normal } = draw;
  const age = clip(62 + 11 * normal(), 30, 92);
  const female = happens(draw, 0.48);
  const race = pick(uniform(), RACE_SHARES);
  const housing = pick(uniform(), HOUSING_SHARES_BY_RACE[race]);
  const smoking = pick(uniform(), female === 1 ? SMOKING_SHARES_OF_WOMEN : SMOKING_SHARES_OF_MEN);
  return { age, female, race, housing, isSmallest: housing === SMALLEST_HOUSING ? 1 : 0, smoking };
}

type Background = ReturnType<typeof drawBackground>;

function drawMeasurements(draw: EyeDraws, { age, female, race, isSmallest }: Background) {
  const { normal } = draw;
  const z = normal(); // metabolic control, seen by nobody
  const duration = clip(4 * draw.gamma(2.2) * (0.6 + age / 155), 0, 45);
  const hba1c = clip(7.3 + 0.9 * z + 0.03 * duration + 0.25 * isSmallest + 0.5 * normal(), 4.8, 15);
  const hba1cSlope = 0.05 * z + 0.25 * normal();
  const hba1cSd = Math.abs(0.5 + 0.15 * Math.abs(z) + 0.25 * normal());
  const fpg = clip(1.45 * hba1c - 3 + 1.1 * normal(), 3.5, 28);
  const fpgSlope = 0.8 * hba1cSlope + 0.3 * normal();
  const egfr = clip(118 - 0.75 * age - 0.55 * duration - 3 * z + 13 * normal(), 6, 140);
  const egfrSlope = -1.4 - (z > 1 ? 0.5 : 0) + 1.6 * normal();
  const creatinineBase = (female === 1 ? 60 : 78) * power(90 / Math.max(egfr, 10), 0.85);
  const creatinine = clip(creatinineBase + 6 * normal(), 30, 900);
  const creatinineSlope = -0.8 * egfrSlope + 1.5 * normal();
  const sbp = 126 + 0.17 * age + 3 * z + 14 * normal();
  const sbpSlope = 0.3 + 1.8 * normal();
  const sbpSd = Math.abs(10 + 4 * normal());
  const dbp = 0.45 * sbp + 15 + 8 * normal();
  const ldl = clip(2.6 + 0.8 * normal(), 0.5, 8);
  const hdl = clip(1.25 + 0.12 * female - 0.08 * z + 0.3 * normal(), 0.4, 3.5);
  const triglycerides = exp(0.45 + 0.2 * z + 0.45 * normal());
  const cholesterol = ldl + hdl + 0.45 * triglycerides + 0.15 * normal();
  const bmi = clip(26 + (race === MALAY ? 1.5 : 0) + 0.6 * z + 4 * normal(), 15, 55);
  const bmiSlope = 0.35 * normal();
  const acr = exp(1 + 0.45 * z + 0.03 * duration + 1.1 * normal());
  const acrSlope = 0.1 * z + 0.4 * normal();
  const haemoglobin = (female === 1 ? 12.8 : 14.2) - 0.02 * below60(egfr) + 1.2 * normal();
  const alt = exp(3.2 + 0.45 * normal());
  const uricAcid = 350 + 2 * below60(egfr) + 70 * normal();
  return {
    control: z,
    duration,
    hba1c,
    hba1cSlope,
    hba1cSd,
    fpg,
    fpgSlope,
    egfr,
    egfrSlope,
    creatinine,
    creatinineSlope,
    sbp,
    sbpSlope,
    sbpSd,
    dbp,
    ldl,
    hdl,
    triglycerides,
    cholesterol,
    bmi,
    bmiSlope,
    acr,
    acrSlope,
    haemoglobin,
    alt,
    uricAcid,
  };
}

function below60(egfr: number): number {
  return Math.max(0, 60 - egfr);
}

function drawCare(
  draw: EyeDraws,
  { age, isSmallest }: Background,
  { duration, egfr, sbp, control: z }: ReturnType<typeof drawMeasurements>,
) {
  const insulin = happens(draw, logistic(-2.6 + 0.08 * duration + 0.7 * z));
  const metformin = happens(draw, logistic(1.2 - 0.04 * below60(egfr)));
  const sulfonylurea = happens(draw, 0.45);
  const statin = happens(draw, logistic(0.2 + 0.02 * (age - 50)));
  const aceiArb = happens(draw, logistic(-0.6 + 0.03 * (sbp - 130)));
  const screeningGrade = Math.min(draw.poisson(exp(-1.6 + 0.05 * duration + 0.35 * z)), 3);
  const eyeMedication = happens(draw, screeningGrade >= 1 ? 0.1 : 0.02);
  const visits = draw.poisson(11 - 2.5 * isSmallest) + 1;
  return { insulin, metformin, sulfonylurea, statin, aceiArb, screeningGrade, eyeMedication, visits };
}

function drawFollowUp(draw: EyeDraws, { isSmallest }: Background) {
  const { uniform } = draw;
  const eventHazard = draw.exponential();
  const entry = 9 * uniform();
  const lateEntry = 7 + 4.5 * uniform();
  const dropOutHazard = draw.exponential();
  const isMissing = {
    fpg: uniform() < 0.06,
    ldl: uniform() < 0.05,
    hdl: uniform() < 0.05,
    triglycerides: uniform() < 0.05,
    bmi: uniform() < 0.1 + 0.1 * isSmallest,
    acr: uniform() < 0.15,
  };
  return { eventHazard, entry, lateEntry, dropOutHazard, isMissing };
}

function cumulate(shares: readonly number[]): number[] {
  let sum = 0;
  return shares.map((share) => {
    sum += share;
    return sum;
  });
}

function pick(u: number, cumulative: readonly number[]): number {
  let code = 0;
  while (code < cumulative.length - 1 && u > cumulative[code]) code++;
  return code;
}

function clip(value: number, lowest: number, highest: number): number {
  return Math.min(Math.max(value, lowest), highest);
}

function logistic(value: number): number {
  return 1 / (1 + exp(-value));
}
