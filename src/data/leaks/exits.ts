/**
 * How many people on one side left follow-up, by the event or by censoring, compared with how many would have left at
 * the other side's rates: Σ n(t) d'(t)/n'(t) over the times at which others left, where n and n' are the people at
 * risk. The comparison ends where the others are too few. Given all exits, those of the side are binomial with odds
 * ρ·expected to the others' count, where ρ is the ratio of the two rates; the tails of that distribution are the tests.
 */
import { binomialUpperTail } from "../../core/distributions.ts";
import { expm1, log } from "../../core/elementary.ts";
import type { LeakRows } from "./rows.ts";

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
 * Up to each of the ascending times `until` (the last one may be infinite): the exits of the rows of one side, compared
 * with those of the other. A censoring comes after the events of its time.
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
