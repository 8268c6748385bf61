/** What the page asks about one person, and what the worker says, as plain data. */
import type { Curve } from "./protocol.ts";

/** Values by column, as texts; "" is missing. */
export type PersonValues = Readonly<Record<string, string>>;

export interface PersonRequest {
  /** From 1; null for a person who is not in the table. */
  readonly row: number | null;
  /** What differs from the row, or all there is without one. */
  readonly values: PersonValues;
}

export interface PersonView {
  readonly values: PersonValues;
  readonly curve: Curve;
  /** As the row is, where values were changed. */
  readonly before: Curve | null;
  readonly everyone: Curve;
  /** Where the curve lies with the chance that the card speaks of; null where the model does not say how sure it is. */
  readonly band: { readonly lower: readonly number[]; readonly upper: readonly number[] } | null;
  readonly risks: readonly PersonRisk[];
  /** The same of every cause, where the model tells several apart. */
  readonly causes: readonly PersonCause[];
  /** The risk as people of a hundred. */
  readonly sentence: string;
  readonly median: number | null;
  readonly doubts: readonly string[];
}

/** The risk by a moment: by 1, 5 and 10 years where they fit, and to the end of the curve. */
export interface PersonRisk {
  /** "5 years". */
  readonly moment: string;
  readonly risk: number;
  /** As the row is, where values were changed. */
  readonly before: number | null;
  readonly sentence: string;
  /** Where the risk lies with the chance of the band, in words; null where the model does not say how sure it is. */
  readonly range: string | null;
}

/** What the model says of one of several causes: risks by the same moments, and the incidence along the curve. */
export interface PersonCause {
  readonly name: string;
  readonly risks: readonly number[];
  readonly incidence: readonly number[];
}

/** What each column adds to a risk, strongest first; shares, not hundredths. */
export interface DriversView {
  /** Null where the model has one kind of event. */
  readonly cause: string | null;
  /** "5 years". */
  readonly moment: string;
  readonly everyone: number;
  readonly person: number;
  readonly drivers: readonly { readonly name: string; readonly value: string; readonly share: number }[];
}
