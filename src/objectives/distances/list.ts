/** Every distance by which a group can be constrained, in the order in which options and documents name them. */
import { atRisk } from "./at-risk.ts";
import type { DistanceDefinition } from "./distance.ts";
import { l2 } from "./l2.ts";
import { variance } from "./variance.ts";

/** Every distance by which a group can be constrained, by its name. */
export const DISTANCES = { l2, variance, atRisk } as const satisfies Readonly<
  Record<string, DistanceDefinition>
>;

/** What a distance is, for readers. */
export function distanceInWords(name: DistanceName, hasCauses: boolean): string {
  const { words, wordsOfCauses = words }: DistanceDefinition = DISTANCES[name];
  return hasCauses ? wordsOfCauses : words;
}

/** The name of a distance: squared gap, gap in standard errors, or observed against expected events. */
export type DistanceName = keyof typeof DISTANCES;
