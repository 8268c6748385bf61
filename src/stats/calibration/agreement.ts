/**
 * What an audit may say about each group once all of them have been examined. `disagrees`: the group is further from
 * the observed than chance explains, early or late (its departure, draw-noise.ts), with all groups considered: a
 * model that is right for everybody has any group disagree in at most one audit in twenty. Without draws the
 * individual logrank is judged in its place, adjusted by Holm. `noDisagreementShown` is all that can be said
 * otherwise, besides the bound on how far off the group could still be (certificates.ts). `tooFewEvents`: so few
 * events were observed and so few expected, or there is so little follow-up, that no test says anything. The larger
 * of observed and expected counts: a group in which many events are predicted and none come can be judged.
 */
import { countOf } from "../../core/text.ts";
import { holm } from "../comparison.ts";
import { MINIMUM_EVENTS, MINIMUM_SUPPORT } from "../kaplan-meier.ts";
import type { Scores } from "../scores/scores.ts";

/** What may be said about a group. */
export const AGREEMENTS = ["disagrees", "noDisagreementShown", "tooFewEvents"] as const;
/** One of `AGREEMENTS`. */
export type Agreement = (typeof AGREEMENTS)[number];

export interface GroupAgreement {
  readonly agreement: Agreement;
  /** No disagreement once all groups are considered, though one test by itself has p at most SINGLE_LEVEL. */
  readonly isDoubtful: boolean;
  /** What there is too little of; null for a group that can be judged. */
  readonly lacks: "events" | "followUp" | null;
  /** The test that was judged, by what it sees; null where none was made. */
  readonly test: string | null;
  /** Holm's adjustment over the groups tested; null where the test is absent or the group not tested. */
  readonly logrankAdjustedP: number | null;
  /** The reason, in one clause. */
  readonly reason: string;
}

/** The chance that a perfect model has any group disagree. */
export const FAMILY_LEVEL = 0.05;
/** A single test with p at or below this raises a doubt. */
export const SINGLE_LEVEL = 0.05;

/** What a judgement needs of a group, or of one cause in a group. */
export type Judged = Pick<
  Scores,
  "events" | "peopleWithEvents" | "expectedEvents" | "departure" | "logrankIndividual"
> & {
  readonly supported: Pick<Scores["supported"], "bins">;
};

/** Whether a group has enough events, observed or expected, and follow-up to be judged. */
export function canBeJudged(scores: Judged, T: number): boolean {
  return tooLittle(scores, T) === null;
}

/** Why a group has too few events to be judged; null when it has enough. */
export function sayFewEvents({
  events,
  peopleWithEvents = events,
  expectedEvents,
}: Pick<Judged, "events" | "peopleWithEvents" | "expectedEvents">): string | null {
  if (Math.max(peopleWithEvents, expectedEvents) >= MINIMUM_EVENTS) return null;
  const had = countOf(peopleWithEvents, "event");
  const expected = expectedEvents.toFixed(1);
  return `${had} observed, ${expected} expected: fewer than ${MINIMUM_EVENTS} of either, too few to say`;
}

/** Why a group is not followed for long enough. */
export function sayShortFollowUp(bins: number, T?: number): string {
  const of = T === undefined ? "" : ` of ${T}`;
  return `ten people or more are at risk in only ${bins}${of} time bins: too little follow-up to say`;
}

/** Why a group is not tested; null when it is. */
function tooLittle(scores: Judged, T: number): Pick<GroupAgreement, "lacks" | "reason"> | null {
  const few = sayFewEvents(scores);
  if (few !== null) return { lacks: "events", reason: few };
  const { bins } = scores.supported;
  return bins < MINIMUM_SUPPORT * T ? { lacks: "followUp", reason: sayShortFollowUp(bins, T) } : null;
}

const STATISTICS = {
  rmsGap: "distance of the curves",
  largestZ: "curves at single times",
  events: "number of events",
} as const;

/**
 * What is said about each group, in order; groups are judged together, since p-values are adjusted for all of them.
 */
export function judgeAgreement(groups: readonly Judged[], T: number): readonly GroupAgreement[] {
  const lacking = groups.map((scores) => tooLittle(scores, T));
  const logrankPs = groups.map(({ logrankIndividual }, g) =>
    lacking[g] === null ? logrankIndividual.p : null,
  );
  const adjusted = holm(logrankPs.filter((p) => p !== null));
  let next = 0;
  return groups.map(({ departure }, g): GroupAgreement => {
    const logrankAdjustedP = logrankPs[g] === null ? null : adjusted[next++];
    const lack = lacking[g];
    if (lack !== null)
      return { agreement: "tooFewEvents", isDoubtful: false, test: null, logrankAdjustedP, ...lack };
    const isDrawn = departure !== null && departure.adjustedP !== null;
    const test = isDrawn
      ? { name: STATISTICS[departure.statistic], p: departure.p, adjusted: departure.adjustedP }
      : { name: "logrank", p: logrankPs[g], adjusted: logrankAdjustedP };
    const said = { lacks: null, logrankAdjustedP, test: test.p === null ? null : test.name };
    if ((test.adjusted ?? 1) <= FAMILY_LEVEL) {
      const reason = `further from the observed than chance explains (${test.name}, all groups considered)`;
      return { ...said, agreement: "disagrees", isDoubtful: false, reason };
    }
    const isDoubtful = (test.p ?? 1) <= SINGLE_LEVEL;
    const reason =
      test.p === null
        ? "no test could be made: there are neither draws of the noise floor nor expected events"
        : isDoubtful
          ? `the group by itself is doubtful (${test.name}); among so many groups chance may explain it`
          : "no disagreement shown beyond chance";
    return { ...said, agreement: "noDisagreementShown", isDoubtful, reason };
  });
}
