/**
 * What an audit may say about each group once all of them have been examined. `disagrees`: one of two tests finds the
 * group further from the observed than chance explains. The tests are the calibration error against its noise floor,
 * adjusted for the number of groups by the draws themselves (noise-floor.ts), and the individual logrank, adjusted by
 * Holm. Each takes half of 0.05, so that with a model that is right for everybody, any group disagrees in at most one
 * audit in twenty. `noDisagreementShown` is all that can be said otherwise, besides the bound on how far off the group
 * could still be (certificates.ts). `tooFewEvents`: there are so few events, or so little follow-up, that neither a
 * test nor a bound says anything.
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
export type Judged = Pick<Scores, "events" | "peopleWithEvents" | "noiseFloor" | "logrankIndividual"> & {
  readonly supported: Pick<Scores["supported"], "bins">;
};

/** Why a group is not tested; null when it is. */
function tooLittle(
  { events: rows, peopleWithEvents: events = rows, supported }: Judged,
  T: number,
): Pick<GroupAgreement, "lacks" | "reason"> | null {
  if (events < MINIMUM_EVENTS) {
    const had = countOf(events, "event");
    return { lacks: "events", reason: `${had}: fewer than ${MINIMUM_EVENTS}, too few to say` };
  }
  if (supported.bins < MINIMUM_SUPPORT * T) {
    const followed = `ten people or more are at risk in only ${supported.bins} of ${T} time bins`;
    return { lacks: "followUp", reason: `${followed}: too little follow-up to say` };
  }
  return null;
}

/** What is said about each group, in order; groups are judged together, since p-values are adjusted for all of them. */
export function judgeAgreement(groups: readonly Judged[], T: number): readonly GroupAgreement[] {
  const lacking = groups.map((scores) => tooLittle(scores, T));
  const logrankPs = groups.map(({ logrankIndividual }, g) =>
    lacking[g] === null ? logrankIndividual.p : null,
  );
  const adjusted = holm(logrankPs.filter((p) => p !== null));
  let next = 0;
  return groups.map(({ noiseFloor }, g): GroupAgreement => {
    const logrankAdjustedP = logrankPs[g] === null ? null : adjusted[next++];
    const lack = lacking[g];
    if (lack !== null) return { agreement: "tooFewEvents", isDoubtful: false, logrankAdjustedP, ...lack };
    const tests = [
      { name: "calibration error", p: noiseFloor?.p ?? null, adjusted: noiseFloor?.adjustedP },
      { name: "logrank", p: logrankPs[g], adjusted: logrankAdjustedP },
    ].filter((test) => test.p !== null);
    const level = FAMILY_LEVEL / tests.length;
    const name = (chosen: typeof tests) => chosen.map((test) => test.name).join(" and ");
    const failed = tests.filter((test) => (test.adjusted ?? 1) <= level);
    const said = { lacks: null, logrankAdjustedP };
    if (failed.length > 0) {
      const reason = `further from the observed than chance explains (${name(failed)}, all groups considered)`;
      return { ...said, agreement: "disagrees", isDoubtful: false, reason };
    }
    const doubtful = tests.filter((test) => (test.p ?? 1) <= SINGLE_LEVEL);
    const reason =
      tests.length === 0
        ? "no test could be made: there are neither draws of the noise floor nor expected events"
        : doubtful.length > 0
          ? `a test by itself is doubtful (${name(doubtful)}); among so many groups chance may explain it`
          : "no disagreement shown beyond chance";
    return { ...said, agreement: "noDisagreementShown", isDoubtful: doubtful.length > 0, reason };
  });
}
