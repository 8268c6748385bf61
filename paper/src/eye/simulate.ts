/**
 * A simulated cohort in place of the paper's eye-complication cohort, whose patients' data are private: people drawn
 * from the law of method section 12 (eye-law.ts), followed for up to twelve years, about 82 % censored at level 2. The
 * table is what a file of it would hold: features rounded, some values missing, times in whole days. The truth comes
 * with it: S(t|x) of the values before rounding and before any went missing. Nobody in it is real.
 */
import { createRandom, exp, InputError, powerOfTen } from "graduate-survival/core";
import {
  type CategoryColumn,
  MISSING_CODE,
  type NumberColumn,
  type RightCensored,
  type Table,
} from "graduate-survival/data";
import {
  createEyeDraws,
  drawPerson,
  type EyeDraws,
  type EyePerson,
  HOUSINGS,
  RACES,
  SMOKINGS,
} from "./law.ts";
import {
  createEventTerms,
  DAYS_PER_YEAR,
  type EventTerms,
  type EyeLevel,
  eventYears,
  survivalOf,
  trueEventModel,
  writeEventTerms,
} from "./survival.ts";

/**
 * "independent": people drop out at a constant rate; "dependent": at a rate that depends on housing, age and HbA1c;
 * "late": dependent, and Indian people enter only in the last five years.
 */
export type EyeCensoring = "independent" | "dependent" | "late";

export interface EyeSettings {
  readonly seed: number;
  readonly n: number;
  /** 0: Cox's model is true; 2: level and shape of the hazard differ in three minorities; 1: half of that. */
  readonly level: EyeLevel;
  readonly censoring: EyeCensoring;
}

export interface EyeCohort {
  readonly settings: EyeSettings;
  /** 38 features, time in days and event, as read back from a file: rounded, with missing values. */
  readonly table: Table;
  readonly outcomes: RightCensored;
  /** Days to everyone's event, whether observed or not. */
  readonly eventTime: Float64Array; // [n]
  /** What the event depends on, as drawn. */
  readonly terms: EventTerms;
  /** True S(t|x) of rows (0-based; all by default) at times in days: [rows, times]. */
  trueSurvival(times: ArrayLike<number>, rows?: ArrayLike<number>): Float64Array;
}

/** The size of the paper's cohort, and how it is divided. */
export const EYE_PEOPLE = 4374;
export const EYE_SPLIT = { train: 1873, valid: 1251, test: 1250 } as const;

const STUDY_YEARS = 12;
const INDIAN = 2;
/** A separate stream of the seed: a run with the cohort's seed shares no draws with it. */
const COHORT_STREAM = 0xe7e;

type CategoryName = "sex" | "race" | "housing" | "smoking";

interface NumberFeature {
  readonly name: string;
  /** Decimals that the table keeps. */
  readonly digits: number;
  readonly value: (person: EyePerson) => number;
}

interface CategoryFeature {
  readonly name: CategoryName;
  readonly levels: readonly string[];
  readonly code: (person: EyePerson) => number;
}

function numberFeature(name: string, digits: number, value: (person: EyePerson) => number): NumberFeature {
  return { name, digits, value };
}

const { NaN: MISSING } = Number;

/** In the order of the table. */
const FEATURES: readonly (NumberFeature | CategoryFeature)[] = [
  numberFeature("age", 1, (p) => p.age),
  { name: "sex", levels: ["M", "F"], code: (p) => p.female },
  { name: "race", levels: RACES, code: (p) => p.race },
  { name: "housing", levels: HOUSINGS, code: (p) => p.housing },
  { name: "smoking", levels: SMOKINGS, code: (p) => p.smoking },
  numberFeature("duration", 1, (p) => p.duration),
  numberFeature("hba1c", 2, (p) => p.hba1c),
  numberFeature("hba1c_slope", 3, (p) => p.hba1cSlope),
  numberFeature("hba1c_sd", 3, (p) => p.hba1cSd),
  numberFeature("fpg", 2, (p) => (p.isMissing.fpg ? MISSING : p.fpg)),
  numberFeature("fpg_slope", 3, (p) => p.fpgSlope),
  numberFeature("creatinine", 0, (p) => p.creatinine),
  numberFeature("creatinine_slope", 2, (p) => p.creatinineSlope),
  numberFeature("egfr", 1, (p) => p.egfr),
  numberFeature("egfr_slope", 2, (p) => p.egfrSlope),
  numberFeature("sbp", 0, (p) => p.sbp),
  numberFeature("sbp_slope", 2, (p) => p.sbpSlope),
  numberFeature("sbp_sd", 1, (p) => p.sbpSd),
  numberFeature("dbp", 0, (p) => p.dbp),
  numberFeature("ldl", 2, (p) => (p.isMissing.ldl ? MISSING : p.ldl)),
  numberFeature("hdl", 2, (p) => (p.isMissing.hdl ? MISSING : p.hdl)),
  numberFeature("triglycerides", 2, (p) => (p.isMissing.triglycerides ? MISSING : p.triglycerides)),
  numberFeature("cholesterol", 2, (p) => p.cholesterol),
  numberFeature("bmi", 1, (p) => (p.isMissing.bmi ? MISSING : p.bmi)),
  numberFeature("bmi_slope", 3, (p) => p.bmiSlope),
  numberFeature("acr", 1, (p) => (p.isMissing.acr ? MISSING : p.acr)),
  numberFeature("acr_slope", 3, (p) => p.acrSlope),
  numberFeature("haemoglobin", 1, (p) => p.haemoglobin),
  numberFeature("alt", 0, (p) => p.alt),
  numberFeature("uric_acid", 0, (p) => p.uricAcid),
  numberFeature("insulin", 0, (p) => p.insulin),
  numberFeature("metformin", 0, (p) => p.metformin),
  numberFeature("sulfonylurea", 0, (p) => p.sulfonylurea),
  numberFeature("statin", 0, (p) => p.statin),
  numberFeature("acei_arb", 0, (p) => p.aceiArb),
  numberFeature("eye_medication", 0, (p) => p.eyeMedication),
  numberFeature("visits", 0, (p) => p.visits),
  numberFeature("screening_grade", 0, (p) => p.screeningGrade),
];

/** Draws a cohort; the same settings give the same one. */
export function simulateEye(settings: EyeSettings): EyeCohort {
  return drawCohort(settings, createEyeDraws(createRandom(settings.seed, COHORT_STREAM)));
}

/** The cohort that the given draws make. */
export function drawCohort(settings: EyeSettings, draws: EyeDraws): EyeCohort {
  checkSettings(settings);
  const { n, level, censoring } = settings;
  const model = trueEventModel(level);
  const terms = createEventTerms(n);
  const cells = FEATURES.map(() => new Float64Array(n)); // values, or codes
  const time = new Float64Array(n);
  const event = new Uint8Array(n);
  const eventTime = new Float64Array(n);
  for (let row = 0; row < n; row++) {
    const person = drawPerson(draws);
    writeEventTerms(terms, row, person);
    for (let j = 0; j < FEATURES.length; j++) {
      const feature = FEATURES[j];
      cells[j][row] =
        "levels" in feature ? feature.code(person) : roundHalfEven(feature.value(person), feature.digits);
    }
    const years = eventYears(model, terms, row, person.eventHazard);
    const censoredYears = censoringYears(person, censoring);
    eventTime[row] = wholeDays(years);
    time[row] = wholeDays(Math.min(years, censoredYears));
    event[row] = years <= censoredYears ? 1 : 0;
  }
  const columns = FEATURES.map((feature, j) =>
    "levels" in feature
      ? toCategory(feature, cells[j])
      : ({ name: feature.name, type: "number", values: cells[j] } satisfies NumberColumn),
  );
  const outcome: NumberColumn[] = [
    { name: "time", type: "number", values: time },
    { name: "event", type: "number", values: Float64Array.from(event) },
  ];
  return {
    settings,
    table: { name: "simulated eye cohort", rows: n, columns: [...columns, ...outcome] },
    outcomes: { time, event },
    eventTime,
    terms,
    trueSurvival: (times, rows) => survivalOf(model, terms, times, rows),
  };
}

/** Years from entry to the end of the study or to dropping out, whichever is first. */
function censoringYears(person: EyePerson, censoring: EyeCensoring): number {
  const { race, housing, age, hba1c, dropOutHazard } = person;
  const entry = censoring === "late" && race === INDIAN ? person.lateEntry : person.entry;
  const dependence = censoring === "independent" ? 0 : 1;
  const onFeatures = 0.35 * (housing === 0 ? 1 : 0) + 0.02 * (age - 62) + 0.25 * (hba1c - 7.3);
  const dropOut = dropOutHazard / exp(-3.3 + dependence * onFeatures);
  return Math.min(STUDY_YEARS - entry, dropOut);
}

function wholeDays(years: number): number {
  return Math.max(1, Math.ceil(years * DAYS_PER_YEAR));
}

/** Rounds to `digits` decimals, halves to the even neighbour; −0 becomes 0. */
export function roundHalfEven(value: number, digits: number): number {
  const scale = powerOfTen(digits);
  const scaled = value * scale;
  const floor = Math.floor(scaled);
  const above = scaled - floor;
  const isUp = above > 0.5 || (above === 0.5 && floor % 2 !== 0);
  return (isUp ? floor + 1 : floor) / scale + 0;
}

/** Levels in ascending order, and only those that occur, as a file would give them. */
function toCategory({ name, levels }: CategoryFeature, drawn: Float64Array): CategoryColumn {
  const occurring = new Set(drawn);
  const sorted = levels.filter((_, code) => occurring.has(code)).sort();
  const codeOf = levels.map((level) => sorted.indexOf(level));
  return {
    name,
    type: "category",
    levels: sorted,
    codes: Int32Array.from(drawn, (code) => codeOf[code] ?? MISSING_CODE),
  };
}

function checkSettings({ seed, n, level, censoring }: EyeSettings): void {
  if (!Number.isInteger(n) || n < 1)
    throw new InputError(`size of the cohort is not a whole number from 1 up: ${n}`, {
      code: "simulate.size",
    });
  if (!Number.isSafeInteger(seed))
    throw new InputError(`seed is not a whole number: ${seed}`, { code: "simulate.seed" });
  if (level !== 0 && level !== 1 && level !== 2)
    throw new InputError(`no such level of the simulated cohort: ${level} (0, 1 or 2)`, {
      code: "simulate.level",
    });
  if (censoring !== "independent" && censoring !== "dependent" && censoring !== "late")
    throw new InputError(
      `no such censoring of the simulated cohort: ${censoring} (independent, dependent or late)`,
      { code: "simulate.censoring" },
    );
}
