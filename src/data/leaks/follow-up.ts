/**
 * What the follow-up of one side of a cut says against that of the other, which stands for everyone; nothing is fitted.
 * Could an honest predictor have made this side pure? A high-risk group may truly have lost everyone to the event, and
 * a low-risk group no one. But people of high risk die early, before they can be censored; people marked because they
 * died stayed at risk while others were being censored, and yet none of them was. And no honest hazard ratio is
 * boundless. Each function returns the log of a probability that a leak makes tiny.
 */
import { binomialUpperTail } from "../../core/distributions.ts";
import { exp, expm1, log, log1p, power } from "../../core/elementary.ts";
import type { LeakRows } from "./rows.ts";

/** The largest hazard ratio granted to an honest column between two sets of its values; strong risk factors have 10. */
const LARGEST_HAZARD_RATIO = 30;

/** Times are counted as at least this share of t*, so that a time of 0 has a logarithm. */
const SHORTEST_SHARE = 1e-3;

type SideOf = (row: number) => number;

/** log P(everybody on the event side has the event), by the better of two arguments. */
export function logChanceOfAllEvents(sideOf: SideOf, leak: LeakRows): number {
  const sides = splitByTime(sideOf, leak);
  return Math.min(logChanceOfNoCensoring(sides, leak), logChanceByLargestRatio(sides, leak));
}

/**
 * The hazard of the event side is measured up to the median t* of its own times. It is carried on as the ratio ρ to the
 * other side's or as its own power of time, H(u) = H(t*)(u/t*)^k, whichever leaves fewer survivors. Each person still
 * at risk at t* then ends in censoring with probability Σ_{u>t*} min(S(u|t*)^ρ, e^{H(t*)−H(u)}) G(u−|t*) dΛ_C(u), where
 * S and G are the curves of events and censoring on the other side; none of them did. k is the maximum likelihood power
 * of the early times, 1 over the mean of log t* − log t, one standard error up.
 */
function logChanceOfNoCensoring({ eventSide, otherSide }: Sides, leak: LeakRows): number {
  const { time, event } = leak;
  const n = eventSide.length;
  const median = n > 0 ? time[eventSide[(n - 1) >> 1]] : 0;
  if (median === 0) return 0;
  let early = 0;
  let logSum = 0;
  for (; early < n && time[eventSide[early]] <= median; early++) {
    logSum += log(median / Math.max(time[eventSide[early]], median * SHORTEST_SHARE));
  }
  const shape = logSum > 0 ? (early / logSum) * (1 + 1 / Math.sqrt(early)) : Number.POSITIVE_INFINITY;
  const hazardAtMedian = -log1p(-early / (n + 1));

  let hazard = 0; // Nelson-Aalen of the other side
  let hazardBefore = 0; // the same at t*
  let exposed = 0; // that hazard summed over the event side, up to t*
  let passed = 0;
  let ratio = 0; // 0 until t* is reached
  let surviving = 1;
  let uncensored = 1;
  let chance = 0;
  let atRisk = otherSide.length;
  for (let j = 0; j < otherSide.length; ) {
    const now = time[otherSide[j]];
    for (; passed < early && time[eventSide[passed]] < now; passed++) exposed += hazard;
    if (now > median && ratio === 0) {
      exposed += (n - early) * hazard;
      if (exposed === 0) return 0; // no event on the other side so early: no ratio to speak of
      ratio = early / exposed;
      hazardBefore = hazard;
    }
    let events = 0;
    let censored = 0;
    for (; j < otherSide.length && time[otherSide[j]] === now; j++) {
      if (event[otherSide[j]] === 1) events++;
      else censored++;
    }
    hazard += events / atRisk;
    if (ratio > 0) {
      surviving *= exp((-ratio * events) / atRisk);
      const leaving = atRisk > events ? censored / (atRisk - events) : 0;
      const own = exp(-hazardAtMedian * (power(now / median, shape) - 1));
      const fewest = exp(-LARGEST_HAZARD_RATIO * (hazard - hazardBefore));
      chance += Math.max(Math.min(surviving, own), fewest) * uncensored * leaving;
      uncensored *= 1 - leaving;
    }
    atRisk -= events + censored;
  }
  return (n - early) * log1p(-Math.min(chance, 1 - Number.EPSILON));
}

/**
 * n log P(event) for n people at R times the other side's hazard and under its censoring:
 *   P(event) = Σ_u (1 − e^{−RΛ(u)}) G(u−) dΛ_C(u), with whoever is left at the end counted there.
 */
function logChanceByLargestRatio({ eventSide, otherSide }: Sides, leak: LeakRows): number {
  let hazard = 0;
  let uncensored = 1;
  let chance = 0;
  for (let j = 0; j < otherSide.length; j++) {
    const atRisk = otherSide.length - j;
    if (leak.event[otherSide[j]] === 1) hazard += 1 / atRisk;
    else {
      chance += (uncensored / atRisk) * -expm1(-LARGEST_HAZARD_RATIO * hazard);
      uncensored *= 1 - 1 / atRisk;
    }
  }
  chance += uncensored * -expm1(-LARGEST_HAZARD_RATIO * hazard);
  return hazard > 0 ? eventSide.length * log(chance) : 0;
}

/** log P(nobody on the other side has the event) at an R-th of the event side's hazard: −Σ Λ(t_i) / R. */
export function logChanceOfNoEvent(sideOf: SideOf, leak: LeakRows): number {
  const { time, event } = leak;
  const { eventSide, otherSide } = splitByTime(sideOf, leak);
  let hazard = 0;
  let expected = 0;
  let j = 0;
  for (const row of otherSide) {
    for (; j < eventSide.length && time[eventSide[j]] <= time[row]; j++) {
      if (event[eventSide[j]] === 1) hazard += 1 / (eventSide.length - j);
    }
    expected += hazard;
  }
  return -expected / LARGEST_HAZARD_RATIO;
}

interface Sides {
  readonly eventSide: Int32Array; // rows by increasing time
  readonly otherSide: Int32Array;
}

function splitByTime(sideOf: SideOf, leak: LeakRows): Sides {
  const order = leak.byTime();
  const side = Int8Array.from(order, sideOf);
  return {
    eventSide: order.filter((_, i) => side[i] === 1),
    otherSide: order.filter((_, i) => side[i] === 0),
  };
}

/** Exits of one kind. */
export interface Exits {
  readonly observed: number;
  /** At the rate of the others. */
  readonly expected: number;
  /** Exits of the others, from which that rate comes. */
  readonly others: number;
}

export interface ComparedExits {
  readonly events: Exits;
  readonly censored: Exits;
  /** People of the side who would have had the event in their own follow-up at the others' hazard: Σ 1 − e^{−Λ'(t)}. */
  readonly expectedPeople: number;
}

/** Fewer people at risk on the other side give no rate: one exit among them would count as many. */
const MIN_AT_RISK = 10;

/**
 * Up to each of the ascending times `until` (the last one may be infinite): how many people on one side left follow-up,
 * by the event or by censoring, compared with how many would have left at the other side's rates: Σ n(t) d'(t)/n'(t)
 * over the times at which others left, where n and n' are the people at risk. A censoring comes after the events of its
 * time. The comparison ends where the others are too few. Given all exits, those of the side are binomial with odds
 * ρ·expected to the others' count, where ρ is the ratio of the two rates; the tails of that distribution are the tests.
 */
export function compareExits(
  isSide: (row: number) => boolean,
  sideRows: number,
  leak: LeakRows,
  until: readonly number[],
): ComparedExits[] {
  const { time, event } = leak;
  const order = leak.byTime();
  const N = order.length;
  const own = { events: 0, censored: 0 };
  const expected = { events: 0, censored: 0 };
  const others = { events: 0, censored: 0 };
  let hazard = 0; // of the others, Nelson-Aalen
  let gone = 0; // expected with the event among those who left
  let ownAtRisk = sideRows;
  let othersAtRisk = N - sideRows;
  const found: ComparedExits[] = [];
  const snapshot = (): ComparedExits => ({
    events: { observed: own.events, expected: expected.events, others: others.events },
    censored: { observed: own.censored, expected: expected.censored, others: others.censored },
    expectedPeople: gone - ownAtRisk * expm1(-hazard),
  });
  for (let i = 0; i < N && othersAtRisk >= MIN_AT_RISK; ) {
    const now = time[order[i]];
    while (now > until[found.length]) found.push(snapshot());
    let ownEvents = 0;
    let ownExits = 0;
    let events = 0;
    let exits = 0;
    for (; i < N && time[order[i]] === now; i++) {
      const row = order[i];
      if (isSide(row)) {
        ownExits++;
        ownEvents += event[row];
      } else {
        exits++;
        events += event[row];
      }
    }
    own.events += ownEvents;
    own.censored += ownExits - ownEvents;
    others.events += events;
    others.censored += exits - events;
    expected.events += (ownAtRisk * events) / othersAtRisk;
    if (othersAtRisk > events) {
      expected.censored += ((ownAtRisk - ownEvents) * (exits - events)) / (othersAtRisk - events);
    }
    hazard += events / othersAtRisk;
    gone -= ownExits * expm1(-hazard);
    ownAtRisk -= ownExits;
    othersAtRisk -= exits;
  }
  while (found.length < until.length) found.push(snapshot());
  return found;
}

/** log P(so few exits or fewer) where the side's rate is `ratio` times the others'. */
export function logChanceOfSoFew({ observed, expected, others }: Exits, ratio: number): number {
  if (!(expected > 0) || others === 0) return 0;
  const share = others / (ratio * expected + others); // of the others among all exits
  return log(binomialUpperTail(others, observed + others, share));
}

/** log P(so many exits or more) where the side's rate is `ratio` times the others'. */
export function logChanceOfSoMany({ observed, expected, others }: Exits, ratio: number): number {
  if (!(expected > 0) || observed === 0) return 0;
  const share = (ratio * expected) / (ratio * expected + others);
  return log(binomialUpperTail(observed, observed + others, share));
}
