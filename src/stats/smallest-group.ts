/**
 * How large a group of a table must be to be worth naming. A group's events E say its log-hazard with a standard error
 * of about 1/√E, so whether its hazard is r times as high as the model thinks is found out, at the 5 % level and with
 * 80 % power, from ((z.975 + z.8)/log r)² events: 48 for r = 1.5. A model learns them from training and validation
 * rows. With fewer than 10 events among the training rows the group is not held at all.
 */
import { normalQuantile } from "../core/distributions.ts";
import { log, square } from "../core/elementary.ts";
import { DEFAULT_FRACTIONS } from "../data/outcomes/split.ts";
import { MINIMUM_EVENTS } from "./kaplan-meier.ts";

/** The hazard ratio that is to be found out. */
const RATIO = 1.5;
const LEVEL = 0.975;
const POWER = 0.8;

/** How large a group must be to be worth naming, and to be held at all. */
export interface SmallestGroup {
  /** People in whom a hazard `ratio` times as high would be found out. */
  readonly rows: number;
  readonly events: number;
  readonly ratio: number;
  /** People below whom a model is not held to the group. */
  readonly held: number;
}

/** For a table split as `train` does unless asked otherwise; null without events. */
export function smallestGroup(rows: number, events: number): SmallestGroup | null {
  if (events === 0) return null;
  const [training, validation] = DEFAULT_FRACTIONS;
  const needed = Math.ceil(square((normalQuantile(LEVEL) + normalQuantile(POWER)) / log(RATIO)));
  const peopleFor = (count: number, share: number) => Math.ceil((count * rows) / (events * share));
  return {
    rows: peopleFor(needed, training + validation),
    events: needed,
    ratio: RATIO,
    held: peopleFor(MINIMUM_EVENTS, training),
  };
}
