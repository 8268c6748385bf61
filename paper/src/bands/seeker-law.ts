/**
 * People who look for work, simulated, from losing a job to finding the next: a law that the form of bands in plan
 * bands-products was chosen on. A month's rate is
 *   exp(BASE + what is known at the start + what time adds),
 * constant within a month. Beyond an additive model of proportional rates it has: a benefit that ends after a number of
 * months of its own, around which people find work more often (a column that acts at its own value on the clock); a
 * course that keeps people busy for four months and helps later (hazards that cross); wages that matter less, the longer
 * people look; and schooling that matters more for the young (an interaction). Most are seen to find work. Nobody in it
 * is real.
 */
import { createRandom, exp, log, type Random } from "graduate-survival/core";
import { drawExponential } from "../eye/draw.ts";
import { drawFromRates, survivalFromRates } from "./monthly-rates.ts";
import { pickEarly, round, within } from "./plain-draws.ts";

export const TRADES = ["office", "building", "care", "sales", "factory"] as const;

export interface Seeker {
  readonly age: number;
  readonly female: boolean;
  readonly trade: (typeof TRADES)[number];
  /** Years at school. */
  readonly school: number;
  /** Of the last job, thousands a month. */
  readonly wage: number;
  /** Years in the last job. */
  readonly tenure: number;
  /** Months until the benefit ends. */
  readonly benefit: number;
  readonly course: boolean;
  readonly children: number;
  readonly city: boolean;
}

/** The longest follow-up, in months. */
export const SEEKER_MONTHS = 36;
const BASE = log(0.07);
const OF_TRADE = { office: 0, building: 0.2, care: 0.3, sales: 0.1, factory: -0.15 } as const;
/** Months that a course takes. */
const COURSE_MONTHS = 4;

function drawSeeker(random: Random): Seeker {
  const age = Math.round(within(40 + 12 * random.normal(), 18, 64));
  const tenure = round(within(5 * drawExponential(random), 0, age - 17), 1);
  return {
    age,
    female: random.uniform() < 0.48,
    trade: pickEarly(random, TRADES, 1.2),
    school: Math.round(within(12 + 2.5 * random.normal(), 8, 20)),
    wage: round(exp(0.9 + 0.4 * random.normal()), 2),
    tenure,
    benefit: Math.round(within(6 + tenure + 2 * random.normal(), 3, 24)),
    course: random.uniform() < 0.3,
    children: Math.min(4, Math.floor(1.2 * drawExponential(random))),
    city: random.uniform() < 0.6,
  };
}

/** The rate of finding work in a month, the first being 0. */
export function findingRate(seeker: Seeker, month: number): number {
  const { age, female, trade, school, wage, tenure, benefit, course, children, city } = seeker;
  const known =
    OF_TRADE[trade] -
    0.022 * (age - 40) +
    0.06 * (school - 12) * (age < 35 ? 1.6 : 0.7) -
    0.01 * tenure +
    (city ? 0.15 : 0) -
    (female ? 0.12 * children : 0);
  const paid = 0.35 * (log(wage) - 0.9) * exp(-month / 10);
  const end = month < benefit - 2 ? -0.15 : month <= benefit + 1 ? 0.5 : 0.1;
  const learnt = !course ? 0 : month < COURSE_MONTHS ? -0.9 : 0.45;
  return exp(BASE + known + paid + end + learnt - 0.025 * month);
}

/** True S(t|x) at times in months, from 0 to SEEKER_MONTHS. */
export function stillSeeking(seeker: Seeker, months: ArrayLike<number>): Float64Array {
  return survivalFromRates((month) => findingRate(seeker, month), SEEKER_MONTHS, months);
}

export interface Seekers {
  readonly people: readonly Seeker[];
  /** Months until everyone finds work, whether it was seen or not. */
  readonly eventTime: Float64Array; // [n]
  /** The table as a file of CSV. */
  readonly text: string;
}

const COLUMNS = "months,found,age,sex,trade,school,wage,tenure,benefit,course,children,city";

export function simulateSeekers(n: number, seed: number): Seekers {
  const random = createRandom(seed);
  const people: Seeker[] = [];
  const eventTime = new Float64Array(n);
  const lines = [COLUMNS];
  for (let k = 0; k < n; k++) {
    const seeker = drawSeeker(random);
    const { age, female, trade, school, wage, tenure, benefit, course, children, city } = seeker;
    const gone = drawExponential(random) / (0.012 * exp(0.01 * (age - 40)));
    const followed = Math.min(12 + (SEEKER_MONTHS - 12) * random.uniform(), gone);
    const until = drawFromRates(random, (month) => findingRate(seeker, month), SEEKER_MONTHS);
    people.push(seeker);
    eventTime[k] = until;
    const seen = Math.max(0.01, Math.min(until, followed)).toFixed(2);
    const told = [age, female ? "f" : "m", trade, school, wage, tenure, benefit, Number(course)];
    lines.push([seen, Number(until <= followed), ...told, children, Number(city)].join(","));
  }
  return { people, eventTime, text: `${lines.join("\n")}\n` };
}
