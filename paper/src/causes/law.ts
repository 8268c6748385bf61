/**
 * Patients after the operation of a heart valve, simulated, up to a second operation or to death without one: causes
 * that compete, with a known truth. The law was written down before any model was run on it. A month's rate of cause
 * k is λ_k = exp(BASE_k + what is known at the operation + what time adds), constant within a month, so that
 *   F_k(t|x) = Σ_m S(m) λ_k(m) / λ(m) (1 − exp(−λ(m) d_m)), λ = λ_1 + λ_2 and d_m the part of month m before t,
 * is exact. Each cause has effects of its own. Beyond an additive model of proportional rates there are a bend
 * (ejection below 45 %), an interaction (smokers with diabetes) and an effect that fades (urgent operations).
 */
import { createRandom, exp, log, type Random } from "graduate-survival/core";
import { drawExponential } from "../eye/draw.ts";

export const CAUSES = ["reoperation", "death"] as const;
export const REGIONS = ["coast", "valley", "hills"] as const;
/** Groups: two told by a column, one cross of columns, one small. */
export const LAW_GROUPS = ["sex = f", "urgent = 1", "smoker = 1 and diabetes = 1", "region = hills"] as const;

export interface ValvePatient {
  readonly age: number;
  readonly female: boolean;
  readonly region: (typeof REGIONS)[number];
  readonly tissue: boolean;
  readonly urgent: boolean;
  readonly smoker: boolean;
  readonly diabetes: boolean;
  readonly creatinine: number;
  /** Ejection fraction, in percent. */
  readonly ejection: number;
  /** Two measurements that nothing depends on. */
  readonly iron: number;
  readonly sodium: number;
}

/** The longest follow-up, in months. */
export const VALVE_MONTHS = 84;
const BASE = { reoperation: log(0.0042), death: log(0.005) } as const;
/** People in the hills are few: one in 25. */
const REGION_SHARES = [0.56, 0.4, 0.04] as const;
/** Log of the ratio of rates in the first month, and the months in which it falls to 1/e of that. */
const URGENT = { atFirst: 1.9, months: 9 } as const;
/** The share of people who come under observation late, where any do, and the latest month at which they come. */
const LATE = { share: 0.4, months: 30 } as const;

function drawPatient(random: Random): ValvePatient {
  const place = random.uniform();
  const age = Math.round(Math.min(Math.max(66 + 11 * random.normal(), 30), 92));
  return {
    age,
    female: random.uniform() < 0.45,
    region:
      place < REGION_SHARES[2] ? "hills" : place < REGION_SHARES[2] + REGION_SHARES[1] ? "valley" : "coast",
    tissue: random.uniform() < (age >= 65 ? 0.75 : 0.35),
    urgent: random.uniform() < 0.18,
    smoker: random.uniform() < 0.35,
    diabetes: random.uniform() < 0.28,
    creatinine: Number(exp(0.05 + 0.35 * random.normal()).toFixed(2)),
    ejection: Math.round(Math.min(Math.max(52 + 10 * random.normal(), 15), 75)),
    iron: Number((100 + 30 * random.normal()).toFixed(1)),
    sodium: Number((140 + 3 * random.normal()).toFixed(1)),
  };
}

/** The rate of a second operation in a month, the first being 0. */
export function reoperationRate(patient: ValvePatient, month: number): number {
  const { age, female, region, tissue, smoker, diabetes, ejection } = patient;
  const known =
    -0.025 * (age - 66) +
    (female ? 0.25 : 0) +
    (tissue ? 0.5 : 0) +
    (region === "hills" ? 0.6 : 0) +
    (smoker ? 0.15 : 0) +
    (diabetes ? 0.1 : 0) +
    (smoker && diabetes ? 1 : 0) +
    0.01 * (52 - ejection);
  return exp(BASE.reoperation + known + 0.008 * month);
}

/** The rate of death without a second operation in a month, the first being 0. */
export function deathRate(patient: ValvePatient, month: number): number {
  const { age, female, region, urgent, smoker, diabetes, creatinine, ejection } = patient;
  const known =
    0.055 * (age - 66) +
    (female ? -0.2 : 0) +
    (region === "hills" ? -0.4 : 0) +
    (smoker ? 0.3 : 0) +
    (diabetes ? 0.25 : 0) +
    0.7 * log(creatinine) +
    0.07 * Math.max(0, 45 - ejection);
  const start = urgent ? URGENT.atFirst * exp(-month / URGENT.months) : 0;
  return exp(BASE.death + known + start + 0.5 * exp(-month / 3));
}

const RATES = [reoperationRate, deathRate] as const;

/** True F_k(t|x) at ascending times in months, up to VALVE_MONTHS, cause after cause. */
export function trueIncidence(patient: ValvePatient, times: ArrayLike<number>): Float64Array {
  const T = times.length;
  const F = new Float64Array(RATES.length * T); // [K,T]
  const passed = RATES.map(() => 0); // F_k at the start of the month
  let survival = 1;
  let t = 0;
  for (let month = 0; month < VALVE_MONTHS && t < T; month++) {
    const rates = RATES.map((rateOf) => rateOf(patient, month));
    const all = rates[0] + rates[1];
    const gained = (part: number, k: number) => (survival * rates[k] * (1 - exp(-all * part))) / all;
    for (; t < T && times[t] <= month + 1; t++)
      for (let k = 0; k < RATES.length; k++) F[k * T + t] = passed[k] + gained(times[t] - month, k);
    for (let k = 0; k < RATES.length; k++) passed[k] += gained(1, k);
    survival *= exp(-all);
  }
  return F;
}

/** Months to the first event, Infinity beyond the last month, and its cause: 1, 2. */
function drawEvent(
  random: Random,
  patient: ValvePatient,
): { readonly months: number; readonly cause: number } {
  let left = drawExponential(random);
  const first = random.uniform(); // the cause, given that there is an event
  for (let month = 0; month < VALVE_MONTHS; month++) {
    const [one, two] = RATES.map((rateOf) => rateOf(patient, month));
    if (left < one + two)
      return { months: month + left / (one + two), cause: first < one / (one + two) ? 1 : 2 };
    left -= one + two;
  }
  return { months: Number.POSITIVE_INFINITY, cause: 0 };
}

/** Until when the patient is followed: by calendar, and until they leave, the older and those in the hills sooner. */
function drawFollowUp(random: Random, { age, region, urgent }: ValvePatient): number {
  const calendar = 24 + (VALVE_MONTHS - 24) * random.uniform();
  const rate = 0.006 * exp(0.02 * (age - 66) + (region === "hills" ? 0.7 : 0) + (urgent ? 0.4 : 0));
  return Math.min(calendar, drawExponential(random) / rate);
}

export interface ValvePatients {
  readonly people: readonly ValvePatient[];
  /** The table as a file of CSV. */
  readonly text: string;
}

const COLUMNS = "age,sex,region,tissue,urgent,smoker,diabetes,creatinine,ejection,iron,sodium";

/**
 * n patients who were seen. With `late`, some come under observation months after the operation: whoever had an
 * event or left before is never seen, so somebody else is drawn. Times are in tenths of a month.
 */
export function simulateValves(n: number, seed: number, late: boolean): ValvePatients {
  const random = createRandom(seed);
  const people: ValvePatient[] = [];
  const lines = [`${late ? "entry," : ""}months,outcome,${COLUMNS}`];
  while (people.length < n) {
    const patient = drawPatient(random);
    const [isLate, share] = [random.uniform() < LATE.share, random.uniform()];
    const followed = drawFollowUp(random, patient);
    const { months, cause } = drawEvent(random, patient);
    const entry = late && isLate ? Number((LATE.months * share).toFixed(1)) : 0;
    const seen = Number(Math.max(0.1, Math.min(months, followed)).toFixed(1));
    if (seen <= entry) continue;
    people.push(patient);
    const outcome = months <= followed ? CAUSES[cause - 1] : "none";
    const { age, female, region, tissue, urgent, smoker, diabetes, creatinine, ejection, iron, sodium } =
      patient;
    const told = [age, female ? "f" : "m", region, ...[tissue, urgent, smoker, diabetes].map(Number)];
    const row = [seen, outcome, ...told, creatinine, ejection, iron, sodium];
    lines.push((late ? [entry, ...row] : row).join(","));
  }
  return { people, text: `${lines.join("\n")}\n` };
}
