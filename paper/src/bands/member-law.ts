/**
 * Members of a sports club, simulated, from joining to leaving: the eighth law, written down before any model was run on
 * it, to judge bands on. It is a mixture: some only try it and leave within months, the others stay for years, and nobody
 * is known to be of one kind,
 *   S(t|x) = p(x) exp(−(t/λ(x))^1.4) + (1 − p(x)) exp(−H(t|x)),
 * so that no effect is proportional: what tells the kinds apart matters early, the rest late. Beyond that it has a
 * contract that holds people for a year, after which many leave at once (hazards that cross); the way to the club, of a
 * skewed distribution, that matters beyond a few kilometres; sessions with a trainer, mostly none, that help those who
 * come often (an interaction); and a season of joining. Members are followed for half a year to three years and move
 * away: a half is seen to leave. Nobody in it is real.
 */
import { createRandom, exp, log, normalUpperTail, type Random } from "graduate-survival/core";
import { drawExponential } from "../eye/draw.ts";
import { pickEarly, round, within } from "./plain-draws.ts";

export const BRANCHES = ["centre", "harbour", "park", "station", "south"] as const;

export interface ClubMember {
  readonly age: number;
  readonly female: boolean;
  readonly branch: (typeof BRANCHES)[number];
  /** Kilometres. */
  readonly way: number;
  /** In the first month. */
  readonly visits: number;
  readonly trainer: number;
  /** Minutes a week with the club's programme. */
  readonly minutes: number;
  /** A month. */
  readonly price: number;
  readonly discount: boolean;
  readonly contract: boolean;
  readonly friend: boolean;
  /** In which month people joined, from 1. */
  readonly joined: number;
  /** A measurement that nothing depends on. */
  readonly locker: number;
}

/** The longest follow-up, in months. */
export const CLUB_MONTHS = 36;
const TRY_SHAPE = 1.4;
/** When contracts end, how far around it people leave, and how many. */
const RENEWAL = { month: 12, around: 0.7 } as const;
const OF_BRANCH = { centre: 0, harbour: 0.15, park: -0.2, station: 0.1, south: -0.05 } as const;

function drawClubMember(random: Random): ClubMember {
  const visits = Math.min(25, Math.floor(7 * drawExponential(random)));
  return {
    age: Math.round(within(20 + 16 * drawExponential(random), 16, 80)),
    female: random.uniform() < 0.5,
    branch: pickEarly(random, BRANCHES, 1.3),
    way: round(exp(1 + 0.8 * random.normal()), 1),
    visits,
    trainer: random.uniform() < 0.7 ? 0 : Math.min(12, 1 + Math.floor(2.5 * drawExponential(random))),
    minutes: Math.round(exp(2.5 + 1.2 * random.normal())),
    price: 20 + 5 * Math.floor(7 * random.uniform()),
    discount: random.uniform() < 0.3,
    contract: random.uniform() < 0.4,
    friend: random.uniform() < 0.35,
    joined: 1 + Math.min(11, Math.floor(12 * random.uniform() ** 1.3)),
    locker: Math.round(200 * random.uniform()),
  };
}

/** p: the chance that a member only tries the club. */
function chanceOfTrying({ age, visits, discount, friend, joined, minutes, trainer }: ClubMember): number {
  const score =
    -0.3 +
    (discount ? 0.7 : 0) -
    (friend ? 0.5 : 0) -
    0.12 * Math.min(visits, 12) -
    0.1 * (log(1 + minutes) - 2.5) +
    (joined === 1 ? 0.6 : 0) +
    0.03 * Math.max(0, 28 - age) -
    0.02 * trainer * Math.min(visits, 12);
  return 1 / (1 + exp(-score));
}

/** Cumulative hazards of one who tries and of one who stays. */
function hazardsOf(member: ClubMember): { readonly tries: MonthsTo; readonly stays: MonthsTo } {
  const { age, female, branch, way, trainer, price, contract, visits, friend } = member;
  const scale = 4.5 * exp(-0.12 * log(way) + (contract ? 0.5 : 0) + 0.008 * (age - 36));
  const rate =
    0.018 *
    exp(
      OF_BRANCH[branch] +
        0.08 * Math.max(0, way - 4) ** 0.8 +
        0.015 * (price - 35) -
        0.01 * (age - 36) -
        (female ? 0.1 : 0) -
        (friend ? 0.2 : 0) -
        0.03 * trainer * (visits >= 8 ? 1 : 0.2),
    );
  const leaves = contract ? 0.35 + 0.01 * (price - 35) : 0;
  const renewals = (t: number) =>
    normalUpperTail((RENEWAL.month - t) / RENEWAL.around) - normalUpperTail(RENEWAL.month / RENEWAL.around);
  return {
    tries: (t) => (t / scale) ** TRY_SHAPE,
    stays: (t) =>
      rate * (contract ? 0.5 * t + 0.5 * Math.max(0, t - RENEWAL.month) : t) + leaves * renewals(t),
  };
}

type MonthsTo = (months: number) => number;

/** True S(t|x) at times in months. */
export function stillMember(member: ClubMember, months: ArrayLike<number>): Float64Array {
  const p = chanceOfTrying(member);
  const { tries, stays } = hazardsOf(member);
  return Float64Array.from(months, (t) => p * exp(-tries(t)) + (1 - p) * exp(-stays(t)));
}

/** Months until the cumulative hazard is reached, by bisection; Infinity beyond the last. */
function solveMonths(hazard: MonthsTo, reached: number): number {
  if (hazard(CLUB_MONTHS) < reached) return Number.POSITIVE_INFINITY;
  let [low, high] = [0, CLUB_MONTHS];
  for (let halving = 0; halving < 40; halving++) {
    const middle = (low + high) / 2;
    if (hazard(middle) < reached) low = middle;
    else high = middle;
  }
  return high;
}

export interface ClubMembers {
  readonly people: readonly ClubMember[];
  /** Months until everyone leaves, whether it was seen or not. */
  readonly eventTime: Float64Array; // [n]
  /** The table as a file of CSV. */
  readonly text: string;
}

const COLUMNS =
  "months,left,age,sex,branch,way,visits,trainer,minutes,price,discount,contract,friend,joined,locker";

export function simulateMembers(n: number, seed: number): ClubMembers {
  const random = createRandom(seed);
  const people: ClubMember[] = [];
  const eventTime = new Float64Array(n);
  const lines = [COLUMNS];
  for (let k = 0; k < n; k++) {
    const member = drawClubMember(random);
    const { age, female, branch, way, visits, trainer, minutes, price, discount, contract, friend } = member;
    const { tries, stays } = hazardsOf(member);
    const kind = random.uniform() < chanceOfTrying(member) ? tries : stays;
    const until = solveMonths(kind, drawExponential(random));
    const moved = drawExponential(random) / (0.008 * exp(age < 30 ? 0.6 : 0));
    const followed = Math.min(6 + (CLUB_MONTHS - 6) * random.uniform(), moved);
    people.push(member);
    eventTime[k] = until;
    const seen = Math.max(0.01, Math.min(until, followed)).toFixed(2);
    const told = [age, female ? "f" : "m", branch, way, visits, trainer, minutes, price];
    const flags = [discount, contract, friend].map(Number);
    lines.push([seen, Number(until <= followed), ...told, ...flags, member.joined, member.locker].join(","));
  }
  return { people, eventTime, text: `${lines.join("\n")}\n` };
}
