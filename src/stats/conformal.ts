/**
 * Split-conformal bounds of times under censoring. A score is how early someone's event came in the model's own eyes,
 * the risk F(T|x) by the time of the event: a bound is the time at which a person's risk reaches a threshold a, so that
 * T ≥ bound wherever F(T|x) ≥ a. The threshold is the largest a with (1 + Σ w) / (n + 1) ≤ α, the sum over those of n
 * rows whose events were seen with a score below a. Uncensored rows have w = 1, and the bound then holds in any finite
 * sample of exchangeable rows. Under censoring w = 1/G(T−|x), the inverse chance of being followed that long: the bound
 * then holds as n grows, if G is right and censoring depends on x alone (after Candès, Lei & Ren 2023).
 */
import { absent, type Measured } from "../core/measured.ts";

/** Scores of the events that were seen, and how many people each stands for. */
export interface ConformalScores {
  readonly score: ArrayLike<number>;
  readonly weight: ArrayLike<number>;
  /** All rows, those without an event among them. */
  readonly n: number;
}

/** The threshold for a bound that may fail with probability `alpha`; Infinity where no seen event would break it. */
export function conformalThreshold({ score, weight, n }: ConformalScores, alpha: number): Measured {
  const most = alpha * (n + 1) * (1 + ROUNDING);
  if (most < 1) return absent(`${n} rows are too few: ${Math.ceil(1 / alpha) - 1} are needed at the least`);
  const order = Float64Array.from({ length: score.length }, (_, k) => k).sort((a, b) => score[a] - score[b]);
  let failing = 1;
  for (let k = 0; k < order.length; ) {
    const here = score[order[k]];
    for (; k < order.length && score[order[k]] === here; k++) failing += weight[order[k]];
    if (failing > most) return here;
  }
  return Number.POSITIVE_INFINITY;
}

/** α (n + 1) that is a whole number must not fall below it by rounding. */
const ROUNDING = 1e-12;
