/**
 * Customers of a subscription service, simulated, from joining to cancelling: the paper names customers' lifetimes as
 * future work. The law was written down before any model was run on it. A month's rate of cancelling is
 *   exp(BASE + plan + region + what is known at joining + what time adds),
 * constant within a month, so that the true curve of everyone is known. What time adds is what an additive model of
 * proportional rates cannot follow: customers who joined with a discount stay for its twelve months and leave when it
 * ends; from month 18 on a rival courts premium customers in the south; basic customers in the west, who are on yearly
 * contracts, leave less after month 6. Customers joined over the last four years, in the west over the last two and a
 * half: how long they are followed depends on the region. Nobody in it is real.
 */
import { createRandom, exp, type Random } from "graduate-survival/core";
import { drawExponential, drawPoisson } from "../eye/draw.ts";

export const PLANS = ["basic", "standard", "premium"] as const;
export const REGIONS = ["north", "south", "east", "west"] as const;
export type PlanName = (typeof PLANS)[number];
export type Region = (typeof REGIONS)[number];

export interface Customer {
  readonly plan: PlanName;
  readonly region: Region;
  readonly age: number;
  readonly devices: number;
  /** Calls for support in the first month. */
  readonly calls: number;
  readonly autopay: boolean;
  readonly discount: boolean;
  /** A month's price. */
  readonly price: number;
}

/** The longest follow-up, in months. */
export const MONTHS = 48;
const WEST_MONTHS = 30;
const BASE = Math.log(0.02);
const OF_PLAN: Readonly<Record<PlanName, number>> = { basic: 0.35, standard: 0, premium: -0.35 };
const OF_REGION: Readonly<Record<Region, number>> = { north: 0, south: 0.1, east: -0.1, west: 0 };
const PRICES: Readonly<Record<PlanName, number>> = { basic: 12, standard: 20, premium: 35 };
const PLAN_SHARES = [0.5, 0.35, 0.15];
const REGION_SHARES = [0.3, 0.25, 0.25, 0.2];
const DISCOUNT_MONTHS = 12;

function pick<Value>(random: Random, values: readonly Value[], shares: readonly number[]): Value {
  let left = random.uniform();
  const k = shares.findIndex((share) => {
    left -= share;
    return left < 0;
  });
  return values[k < 0 ? values.length - 1 : k];
}

function drawCustomer(random: Random): Customer {
  const plan = pick(random, PLANS, PLAN_SHARES);
  const region = pick(random, REGIONS, REGION_SHARES);
  const discount = random.uniform() < (plan === "premium" ? 0.2 : 0.4);
  return {
    plan,
    region,
    age: Math.round(18 + 60 * random.uniform()),
    devices: 1 + Math.min(4, drawPoisson(random, plan === "basic" ? 0.6 : 1.4)),
    calls: drawPoisson(random, 0.7),
    autopay: random.uniform() < 0.6,
    discount,
    price: PRICES[plan] * (discount ? 0.75 : 1),
  };
}

/** The rate of cancelling in a month, the first being 0. */
export function cancelRate(customer: Customer, month: number): number {
  const { plan, region, age, devices, calls, autopay, discount } = customer;
  const known =
    OF_PLAN[plan] +
    OF_REGION[region] -
    0.015 * (age - 45) +
    0.25 * Math.min(calls, 4) -
    (autopay ? 0.4 : 0) -
    0.08 * (devices - 2);
  const settling = 0.7 * exp(-month / 3);
  const offer = !discount ? 0 : month < DISCOUNT_MONTHS ? -0.5 : month < DISCOUNT_MONTHS + 3 ? 1.2 : 0.2;
  const rival = plan === "premium" && region === "south" && month >= 18 ? 0.9 : 0;
  const contract = plan === "basic" && region === "west" && month >= 6 ? -0.5 : 0;
  return exp(BASE + known + settling + offer + rival + contract);
}

/** The share of such customers who are still there after so many months, any number from 0 to MONTHS. */
export function staying(customer: Customer, months: ArrayLike<number>): Float64Array {
  const whole = new Float64Array(MONTHS + 1); // cumulative rate at the start of each month
  for (let month = 0; month < MONTHS; month++) whole[month + 1] = whole[month] + cancelRate(customer, month);
  return Float64Array.from(months, (time) => {
    const month = Math.min(MONTHS - 1, Math.floor(time));
    return exp(-(whole[month] + (time - month) * (whole[month + 1] - whole[month])));
  });
}

/** Months until the customer cancels; Infinity beyond MONTHS. */
function drawMonths(random: Random, customer: Customer): number {
  let left = drawExponential(random);
  for (let month = 0; month < MONTHS; month++) {
    const rate = cancelRate(customer, month);
    if (left < rate) return month + left / rate;
    left -= rate;
  }
  return Number.POSITIVE_INFINITY;
}

export interface Customers {
  readonly people: readonly Customer[];
  /** The table as a file of CSV. */
  readonly text: string;
}

export function simulateCustomers(n: number, seed: number): Customers {
  const random = createRandom(seed);
  const people: Customer[] = [];
  const lines = ["months,cancelled,plan,region,age,devices,calls,autopay,discount,price"];
  for (let k = 0; k < n; k++) {
    const customer = drawCustomer(random);
    const followed = 1 + ((customer.region === "west" ? WEST_MONTHS : MONTHS) - 1) * random.uniform();
    const until = drawMonths(random, customer);
    const { plan, region, age, devices, calls, autopay, discount, price } = customer;
    people.push(customer);
    const seen = Math.max(0.01, Math.min(until, followed)).toFixed(2);
    const told = [age, devices, calls, Number(autopay), Number(discount), price.toFixed(2)];
    lines.push([seen, Number(until <= followed), plan, region, ...told].join(","));
  }
  return { people, text: `${lines.join("\n")}\n` };
}
