/**
 * How much data a group needs before it is constrained or judged, for training, audit, tune and compare alike: ten
 * events, and ten rows at risk through a quarter of the time bins. With less, neither a test nor a bound nor a
 * constraint says anything.
 */

/** A test on fewer events says nothing, and no bound is given. */
export const MINIMUM_EVENTS = 10;
/** Share of the time bins that a group must be followed through. */
export const MINIMUM_SUPPORT = 1 / 4;

/** Whether a group with this many events, followed through this many of T bins, can be judged. */
export function hasEnoughData(events: number, bins: number, T: number): boolean {
  return events >= MINIMUM_EVENTS && bins >= MINIMUM_SUPPORT * T;
}
