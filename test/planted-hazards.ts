// What a repair would do to the hazards of one group: to plant an error, or to carry one out by hand.
import type { HazardBoost } from "../src/repair/hazard-boost.ts";

/** Hazards of a group times exp(logRatio) over all T bins; null leaves them as they are. */
export function hazardsTimes(T: number, group: string, logRatio: number | null): HazardBoost {
  return {
    kind: "hazards",
    T,
    options: { timeBuckets: 1, doubt: 0 },
    share: 1,
    blocks: [{ first: 1, last: T }],
    groups: [{ name: group, events: 0, expected: 0, probability: 1, z: 1 }],
    updates: logRatio === null ? [] : [{ group: 0, logRatios: [logRatio] }],
    skipped: [],
  };
}
