/**
 * Borrowers, simulated, from taking up a loan to falling three months behind: the law that bands are judged on, unlike
 * the four that they were chosen on, and written down before any model was run on it. It has many columns, of which none
 * decides much. A month's rate is
 *   exp(BASE + what is known at the start + what time adds),
 * constant within a month. Beyond an additive model of proportional rates it has: a low first instalment that ends after
 * a year and a half, harmless until then and felt over the next half year, more so where debts are high (a delayed
 * effect, and an interaction); a job that counts at first and fades; used-up credit that matters only beyond a half (a
 * threshold); dependants that matter where income is low (another interaction); and a baseline that begins at almost
 * nothing, is highest in the second year and falls. Loans are followed for one to five years and some are repaid early,
 * the better ones sooner: about a third fall behind while they are followed. Nobody in it is real.
 */
import { createRandom, exp, log, type Random } from "graduate-survival/core";
import { drawExponential } from "../eye/draw.ts";
import { drawFromRates, survivalFromRates } from "./monthly-rates.ts";
import { pickEarly, round, within } from "./plain-draws.ts";

export const HOMES = ["rents", "mortgage", "owns"] as const;
export const PURPOSES = ["car", "home", "debts", "shop", "other"] as const;
export const REGIONS = ["north", "east", "south", "west", "capital", "coast"] as const;

export interface Borrower {
  readonly age: number;
  /** Thousands a year. */
  readonly income: number;
  /** Thousands. */
  readonly amount: number;
  /** Instalments of all debts as a share of the income. */
  readonly debts: number;
  /** Share of the credit on cards that is used. */
  readonly used: number;
  readonly cards: number;
  /** Inquiries of other lenders in the half year before. */
  readonly inquiries: number;
  /** Late payments in the two years before. */
  readonly late: number;
  readonly yearsInJob: number;
  readonly yearsAtBank: number;
  /** Thousands. */
  readonly savings: number;
  readonly dependants: number;
  readonly home: (typeof HOMES)[number];
  readonly purpose: (typeof PURPOSES)[number];
  readonly region: (typeof REGIONS)[number];
  readonly joint: boolean;
  /** The first instalments are low. */
  readonly lowStart: boolean;
  readonly online: boolean;
}

/** The longest follow-up, in months. */
export const LOAN_MONTHS = 60;
const BASE = log(0.0095);
const OF_HOME = { rents: 0.12, mortgage: 0, owns: -0.15 } as const;
const OF_PURPOSE = { car: -0.1, home: -0.05, debts: 0.12, shop: 0.2, other: 0 } as const;
const OF_REGION = { north: 0.05, east: 0.1, south: 0, west: -0.05, capital: -0.1, coast: 0 } as const;
/** When the low instalments end, and the months until the rest is felt in full. */
const LOW_START = { ends: 18, felt: 6 } as const;

function drawBorrower(random: Random): Borrower {
  const age = Math.round(within(42 + 13 * random.normal(), 19, 78));
  const income = round(exp(log(38) + 0.45 * random.normal()), 1);
  return {
    age,
    income,
    amount: round(exp(log(9) + 0.6 * random.normal()), 1),
    debts: round(within(0.28 + 0.12 * random.normal() - 0.04 * log(income / 38), 0, 0.8), 3),
    used: round(within(0.45 + 0.28 * random.normal(), 0, 1), 3),
    cards: Math.min(8, Math.floor(2.5 * drawExponential(random))),
    inquiries: Math.min(7, Math.floor(1.3 * drawExponential(random))),
    late: Math.min(6, Math.floor(0.9 * drawExponential(random))),
    yearsInJob: round(within(5 * drawExponential(random), 0, age - 18), 1),
    yearsAtBank: round(within(8 * drawExponential(random), 0, age - 16), 1),
    savings: round(exp(0.8 + 1.1 * random.normal()), 2),
    dependants: Math.min(5, Math.floor(1.5 * drawExponential(random))),
    home: pickEarly(random, HOMES, 1.3),
    purpose: pickEarly(random, PURPOSES, 1.3),
    region: pickEarly(random, REGIONS, 1.3),
    joint: random.uniform() < 0.25,
    lowStart: random.uniform() < 0.35,
    online: random.uniform() < 0.5,
  };
}

/** The rate of falling behind in a month, the first being 0. */
export function behindRate(borrower: Borrower, month: number): number {
  const { age, income, amount, debts, used, cards, inquiries, late, yearsInJob, yearsAtBank } = borrower;
  const { savings, dependants, home, purpose, region, joint, lowStart } = borrower;
  const known =
    OF_HOME[home] +
    OF_PURPOSE[purpose] +
    OF_REGION[region] -
    0.008 * (age - 42) -
    0.2 * log(income / 38) +
    0.1 * log(amount / 9) +
    1.1 * (debts - 0.28) +
    0.8 * Math.max(0, used - 0.5) +
    0.02 * (cards - 2) +
    0.08 * inquiries +
    0.14 * late -
    0.01 * (yearsAtBank - 7) -
    0.08 * (log(savings) - 0.8) +
    0.12 * dependants * Math.max(0, -log(income / 38)) -
    (joint ? 0.15 : 0);
  const job = -0.12 * log(1 + yearsInJob) * exp(-month / 24);
  const felt = within((month - LOW_START.ends) / LOW_START.felt, 0, 1);
  const raised = lowStart ? felt * (0.55 + 1.5 * (debts - 0.28)) : 0;
  const baseline = 0.5 - 2 * exp(-month / 5) - 0.018 * Math.max(0, month - 22);
  return exp(BASE + known + job + raised + baseline);
}

/** True S(t|x) at times in months, from 0 to LOAN_MONTHS. */
export function keptUp(borrower: Borrower, months: ArrayLike<number>): Float64Array {
  return survivalFromRates((month) => behindRate(borrower, month), LOAN_MONTHS, months);
}

export interface Borrowers {
  readonly people: readonly Borrower[];
  /** Months until everyone falls behind, whether it was seen or not. */
  readonly eventTime: Float64Array; // [n]
  /** The table as a file of CSV. */
  readonly text: string;
}

const COLUMNS =
  "months,behind,age,income,amount,debts,used,cards,inquiries,late,years_in_job,years_at_bank,savings,dependants," +
  "home,purpose,region,joint,low_start,online";

export function simulateLoans(n: number, seed: number): Borrowers {
  const random = createRandom(seed);
  const people: Borrower[] = [];
  const eventTime = new Float64Array(n);
  const lines = [COLUMNS];
  for (let k = 0; k < n; k++) {
    const borrower = drawBorrower(random);
    const { joint, lowStart, online, ...others } = borrower;
    const open = 12 + (LOAN_MONTHS - 12) * random.uniform();
    const repaid = drawExponential(random) / (0.008 * exp(0.2 * (log(others.savings) - 0.8)));
    const followed = Math.min(open, repaid);
    const until = drawFromRates(random, (month) => behindRate(borrower, month), LOAN_MONTHS);
    people.push(borrower);
    eventTime[k] = until;
    const seen = Math.max(0.01, Math.min(until, followed)).toFixed(2);
    const told = [...Object.values(others), Number(joint), Number(lowStart), Number(online)];
    lines.push([seen, Number(until <= followed), ...told].join(","));
  }
  return { people, eventTime, text: `${lines.join("\n")}\n` };
}
