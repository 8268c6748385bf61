/**
 * The entry check of every statistic and model that knows right censoring only. Read without its entry, a row that came
 * late counts as at risk from the start; read without its cause, a death from something else counts as the event. That
 * must not happen silently: what outcomes hold beyond right censoring is refused here by name, until it is handled.
 */
import { InputError } from "../../core/errors.ts";
import type { BinnedOutcomes, BinnedRightCensored, Outcomes, RightCensored } from "./outcomes.ts";

type OutcomeField = keyof Outcomes | keyof BinnedOutcomes;

/**
 * What a field adds to right censoring, in words; null where it adds nothing. A new field has to be decided on here.
 */
function nameBeyondCensoring(field: OutcomeField): string | null {
  switch (field) {
    case "time":
    case "event":
    case "T":
    case "bin":
    case "id":
      return null;
    case "entry":
    case "firstBin":
      return "late entry";
    case "cause":
      return "competing causes";
    case "weight":
      return "weighted people";
    default:
      return field satisfies never;
  }
}

/** Spelled out, so that a new field does not compile until it is listed. */
const EVERY_FIELD: Readonly<Record<OutcomeField, true>> = {
  time: true,
  event: true,
  entry: true,
  cause: true,
  weight: true,
  id: true,
  T: true,
  bin: true,
  firstBin: true,
};

const BEYOND_CENSORING = (Object.keys(EVERY_FIELD) as OutcomeField[]).flatMap((field) => {
  const words = nameBeyondCensoring(field);
  return words === null ? [] : [{ field, words }];
});

/** What outcomes of any shape may hold beyond time and event. */
export type Beyond = { readonly [Field in OutcomeField]?: unknown };

/** Refuses late entry, causes and weights; `what` is the subject of the sentence, such as "Kaplan-Meier". */
export function refuseBeyondCensoring(outcomes: Beyond, what: string): void {
  for (const { field, words } of BEYOND_CENSORING) {
    if (outcomes[field] === undefined) continue;
    throw new InputError(`${what} does not take ${words} yet`, {
      code: "outcomes.beyond",
      where: `outcomes.${field}`,
      hint: `leave out \`${field}\` only if time and event mean the same without it`,
    });
  }
}

/** The same outcomes, known to be right-censored and nothing else. */
export function requireRightCensored(outcomes: Outcomes, what: string): RightCensored;
export function requireRightCensored(outcomes: BinnedOutcomes, what: string): BinnedRightCensored;
export function requireRightCensored(
  outcomes: Outcomes | BinnedOutcomes,
  what: string,
): RightCensored | BinnedRightCensored {
  refuseBeyondCensoring(outcomes, what);
  return outcomes as RightCensored | BinnedRightCensored;
}
