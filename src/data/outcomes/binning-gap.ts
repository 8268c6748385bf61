/**
 * What rounding times up to bins does to Kaplan-Meier. Censored times are rounded up with the rest, so that people
 * count as at risk a little longer than they were, and the curve ends higher: much higher where bins are few.
 */
import { type RightCensoredInput, toRightCensored } from "../plain-input.ts";
import type { RightCensored } from "./outcomes.ts";
import { productLimit, tallyRisk } from "./rows-by-time.ts";
import { binOutcomes, type TimeGrid } from "./time-grid.ts";

/** Kaplan-Meier at the horizon, by times and by bins. */
export interface BinningGap {
  /** Kaplan-Meier at the horizon from the times as given. */
  readonly raw: number;
  /** The same after rounding times up to bins. */
  readonly binned: number;
  /** Greenwood's, of `raw`; of the value before where the last event takes `raw` to 0 and leaves it undefined. */
  readonly standardError: number;
  readonly exceedsHalfStandardError: boolean;
}

/** Compares Kaplan-Meier of raw and of binned times at the horizon. */
export function binningGap(input: RightCensoredInput, grid: TimeGrid): BinningGap {
  const { time } = toRightCensored(input, "the binning gap");
  // In `event`, events after the horizon are censored, which the raw times need as well.
  const { bin, event } = binOutcomes(input, grid);
  const { survival: raw, standardError } = estimateAtEnd({ time, event });
  const { survival: binned } = estimateAtEnd({ time: Float64Array.from(bin), event });
  return {
    raw,
    binned,
    standardError,
    exceedsHalfStandardError: Math.abs(raw - binned) > standardError / 2,
  };
}

/** The last value of the product-limit estimate, and the last standard error that is defined. */
function estimateAtEnd(outcomes: RightCensored): {
  readonly survival: number;
  readonly standardError: number;
} {
  const { survival, greenwood } = productLimit(tallyRisk(outcomes));
  const K = survival.length;
  if (K === 0) return { survival: 1, standardError: 0 };
  const last = survival[K - 1] > 0 ? K - 1 : survival.indexOf(0) - 1;
  const standardError = last < 0 ? 0 : survival[last] * Math.sqrt(greenwood[last]);
  return { survival: survival[K - 1], standardError };
}
