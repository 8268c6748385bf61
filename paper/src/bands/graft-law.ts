/**
 * Recipients of a kidney, simulated, from the transplantation to the loss of the graft: a law that the constants of
 * bands were chosen on too, written down before any model was run on it. It has few columns and little censoring: most
 * losses are seen. A month's rate is
 *   exp(BASE + what is known at the transplantation + what time adds),
 * constant within a month. Beyond an additive model of proportional rates it has: a delayed start of the graft, which
 * makes the rate 4.5 times as high at first and fades to nothing over the first years (nonproportional); a recipient's age
 * that is best in the middle (U-shaped); mismatches that matter more, the older the donor (an interaction); and a baseline
 * that is high in the first months and then rises slowly. Everyone is followed for up to ten years, some leave before.
 * Nobody in it is real.
 */
import { createRandom, exp, log, type Random } from "graduate-survival/core";
import { drawExponential } from "../eye/draw.ts";
import { drawFromRates, survivalFromRates } from "./monthly-rates.ts";

export interface Recipient {
  readonly age: number;
  readonly female: boolean;
  readonly donorAge: number;
  readonly mismatches: number;
  readonly delayed: boolean;
  readonly living: boolean;
}

/** The longest follow-up, in months. */
export const GRAFT_MONTHS = 120;
const BASE = log(0.006);
/** Log of the rate's ratio in the first month, and the months in which it falls to 1/e of that. */
const DELAYED = { atFirst: 1.5, months: 14 } as const;

function drawRecipient(random: Random): Recipient {
  const living = random.uniform() < 0.3;
  const donorAge = (living ? 46 : 53) + 13 * random.normal();
  return {
    age: Math.round(Math.min(Math.max(48 + 14 * random.normal(), 18), 80)),
    female: random.uniform() < 0.4,
    donorAge: Math.round(Math.min(Math.max(donorAge, 10), 82)),
    mismatches: Math.min(6, Math.floor(7 * random.uniform())),
    delayed: random.uniform() < (living ? 0.08 : 0.3),
    living,
  };
}

/** The rate of loss in a month, the first being 0. */
export function lossRate(recipient: Recipient, month: number): number {
  const { age, female, donorAge, mismatches, delayed, living } = recipient;
  const known =
    0.001 * (age - 46) ** 2 +
    (female ? -0.1 : 0) +
    0.015 * (donorAge - 50) +
    0.08 * (mismatches - 3) +
    0.006 * (donorAge - 50) * (mismatches - 3) +
    (living ? -0.4 : 0);
  const start = delayed ? DELAYED.atFirst * exp(-month / DELAYED.months) : 0;
  const baseline = 0.9 * exp(-month / 4) + 0.003 * month;
  return exp(BASE + known + start + baseline);
}

/** True S(t|x) at times in months, from 0 to GRAFT_MONTHS. */
export function graftWorks(recipient: Recipient, months: ArrayLike<number>): Float64Array {
  return survivalFromRates((month) => lossRate(recipient, month), GRAFT_MONTHS, months);
}

export interface Recipients {
  readonly people: readonly Recipient[];
  /** Months to everyone's loss, whether it was seen or not. */
  readonly eventTime: Float64Array; // [n]
  /** The table as a file of CSV. */
  readonly text: string;
}

const COLUMNS = "months,lost,age,sex,donor_age,mismatches,delayed,living";

export function simulateGrafts(n: number, seed: number): Recipients {
  const random = createRandom(seed);
  const people: Recipient[] = [];
  const eventTime = new Float64Array(n);
  const lines = [COLUMNS];
  for (let k = 0; k < n; k++) {
    const recipient = drawRecipient(random);
    const { age, female, donorAge, mismatches, delayed, living } = recipient;
    const left = drawExponential(random) / (0.002 * exp(-0.01 * (age - 48)));
    const followed = Math.min(GRAFT_MONTHS, left);
    const until = drawFromRates(random, (month) => lossRate(recipient, month), GRAFT_MONTHS);
    people.push(recipient);
    eventTime[k] = until;
    const seen = Math.max(0.01, Math.min(until, followed)).toFixed(2);
    const told = [age, female ? "f" : "m", donorAge, mismatches, Number(delayed), Number(living)];
    lines.push([seen, Number(until <= followed), ...told].join(","));
  }
  return { people, eventTime, text: `${lines.join("\n")}\n` };
}
