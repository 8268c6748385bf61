/**
 * How far observed events are from the expected ones by chance alone, under a model that is right: χ² = (O − E)²/V of
 * the individual logrank in outcomes drawn from the rows' own curves, given that each row got to its entry
 * (drawn-outcomes.ts). The mean over draws is the floor, their 95 % point the critical value, and the rank of the
 * observed value a p-value. It needs no Kaplan-Meier curve, so it holds under late entry, where a calibration error is
 * not defined. Over groups, the largest standardised χ² is compared with that of the same draws (maxT), as in
 * noise-floor.ts.
 */
import { square } from "../../core/elementary.ts";
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import type { BinnedSingleCauseInput, CurvesInput } from "../../data/plain-input.ts";
import { matchHistories } from "./calibration.ts";
import { type DrawnOutcomes, drawnTable, drawOutcomes } from "./drawn-outcomes.ts";
import {
  DEFAULT_DRAWS,
  type MetricNoise,
  type NoiseFloorOptions,
  type NoiseGroup,
  rankTogether,
  rankObserved,
} from "./noise-floor.ts";

/** What a perfect model shows of (O − E)²/V on a group's rows, and where the observed value ranks. */
export interface EventNoise extends MetricNoise {
  /** p adjusted for the groups audited together; absent where the draws do not vary. */
  readonly adjustedP: Measured;
}

/** The noise of observed against expected events, for each group. */
export function eventNoise(
  predicted: CurvesInput,
  observed: BinnedSingleCauseInput,
  groups: readonly NoiseGroup[],
  { draws = DEFAULT_DRAWS, ...options }: NoiseFloorOptions,
): readonly Measured<EventNoise>[] {
  const { curves, binned } = matchHistories(predicted, observed, "the noise of events");
  const everyone = Int32Array.from({ length: curves.N }, (_, row) => row);
  const rowsOf = groups.map(({ rows = everyone }) => rows);
  const knots = [curves.T];
  const drawn = drawOutcomes(drawnTable(curves, binned), rowsOf, { ...options, draws, knots });
  const values = drawn.map((one) => measureEvents(one, curves.T));
  const ranked = rankTogether(values, draws);
  return values.map((one, g) => {
    const noise = isAbsent(one) ? one : rankObserved(one);
    return isAbsent(noise) ? noise : { ...noise, adjustedP: ranked.groups[g].adjustedP };
  });
}

/** χ² of what was observed, then of every draw; one without variance shows no departure and counts as 0. */
function measureEvents({ counts, expected, variance }: DrawnOutcomes, T: number): Measured<Float64Array> {
  if (!(variance[0] > 0)) return absent("the expected number of events has no variance");
  return expected.map((E, draw) => {
    const start = 2 * draw * (T + 1);
    let O = 0;
    for (let t = 1; t <= T; t++) O += counts[start + t];
    return variance[draw] > 0 ? square(O - E) / variance[draw] : 0;
  });
}
