/** What the page asks about one person, and what the worker says, as plain data. */
import type { Curve } from "./protocol.ts";

/** Values by column, as texts; "" is missing. */
export type PersonValues = Readonly<Record<string, string>>;

export interface PersonRequest {
  /** From 1; null for a person who is not in the table. */
  readonly row: number | null;
  /** What differs from the row, or all there is without one. */
  readonly values: PersonValues;
  readonly at: readonly number[];
}

export interface PersonView {
  readonly values: PersonValues;
  readonly curve: Curve;
  /** As the row is, where values were changed. */
  readonly before: Curve | null;
  readonly everyone: Curve;
  readonly risks: readonly { readonly time: number; readonly risk: number; readonly before: number | null }[];
  /** The same of every cause, where the model tells several apart. */
  readonly causes: readonly PersonCause[];
  /** The risk as people of a hundred. */
  readonly sentence: string;
  readonly median: number | null;
  readonly doubts: readonly string[];
}

/** What the model says of one of several causes: risks by the times asked for, and the incidence along the curve. */
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
