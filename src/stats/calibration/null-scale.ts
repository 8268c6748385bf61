/**
 * How a group's gap between mean curve and product limit spreads when the model is right, by the model's own hazards:
 * its standard deviation at every bin, and how departures in two bins go together. With h̄ the hazards of the mean
 * curve and k people at risk, the variance is S̄² Σ h̄/(k(1−h̄)) (modelVariance), of one of several causes that of
 * Aalen-Johansen at the hazards of the mean incidences (incidenceVariance); weighted people count for (Σw)²/Σw². Gaps
 * at s ≤ t are correlated by √(I(s)/I(t)), I(t) = Σ_{s≤t} h̄_s/k_s: exactly for one kind of event, nearly for causes.
 *
 * From it follow two tail probabilities: of the mean square gap as a multiple of χ² with the same mean and variance
 * (Satterthwaite), and of the largest |z| as that of a process of independent increments over the range of I (Miller
 * and Siegmund 1982), or Bonferroni's over the bins where that is less. They are approximations and reject nothing by
 * themselves: they put statistics and groups on one scale on which draws of a perfect model are then ranked.
 */
import { logChiSquareUpperTail } from "../../core/distributions.ts";
import { log, square } from "../../core/elementary.ts";

/** The null of a group's curve, or of its events, in bins (or knots) 1…last. */
export interface NullScale {
  /** 0 where z is not looked at: too few events are expected by then, or there is no variance. */
  readonly deviation: Float64Array;
  /** Degrees of freedom and mean of the mean square gap; null where there is no variance. */
  readonly square: { readonly mean: number; readonly df: number } | null;
  /** log of the last information over that of the first bin looked at. */
  readonly range: number;
  /** How many bins z is looked at in. */
  readonly bins: number;
}

/** Bins before the one by whose end so many events are expected say nothing by themselves (method: Σ k h̄ ≥ 5). */
export const FEWEST_EXPECTED = 5;

/** From variances, information and expected events of bins 0…last; all arrays are over bins. */
export function scaleOf(
  variance: ArrayLike<number>,
  information: ArrayLike<number>,
  expected: ArrayLike<number>,
  last: number,
): NullScale {
  const deviation = new Float64Array(variance.length);
  let first = 0;
  let [bins, trace, squares] = [0, 0, 0];
  // Σ_{s,t} C(s,t)², C² = σ_s² σ_t² I(s)/I(t) for s ≤ t, in one pass: `weighed` is Σ_{s<t} σ_s² I(s).
  let weighed = 0;
  for (let t = 1; t <= last; t++) {
    const [v, I] = [variance[t], information[t]];
    if (!(v > 0) || !(I > 0) || !Number.isFinite(v + I)) continue;
    trace += v;
    squares += v * v + (2 * v * weighed) / I;
    weighed += v * I;
    if (!(expected[t] >= FEWEST_EXPECTED)) continue;
    if (first === 0) first = t;
    deviation[t] = Math.sqrt(v);
    bins++;
  }
  const end = lastPositive(deviation, last);
  return {
    deviation,
    square: trace > 0 ? { mean: trace / last, df: square(trace) / squares } : null,
    range: first === 0 ? 0 : log(information[end] / information[first]),
    bins,
  };
}

function lastPositive(values: Float64Array, last: number): number {
  let t = last;
  while (t > 0 && !(values[t] > 0)) t--;
  return t;
}

/** −log of the chance of a mean square gap this large; a gap where there is no variance is beyond all chance. */
export function surpriseOfSquare(value: number, { square: null_ }: NullScale): number {
  if (null_ === null) return value > NOTHING ? Number.POSITIVE_INFINITY : 0;
  return -logChiSquareUpperTail((value / null_.mean) * null_.df, null_.df);
}

/** Differences of sums of rounded numbers. */
const NOTHING = 1e-18;

/** −log of the chance of a largest |z| this large. */
export function surpriseOfLargest(z: number, { range, bins }: NullScale): number {
  if (bins === 0 || !(z > 0)) return 0;
  const single = logChiSquareUpperTail(z * z, 1);
  const bonferroni = single + log(bins);
  // φ(z)((z − 1/z) L + 4/z), and never less than one bin's.
  const crossing =
    z > 1 ? -(z * z) / 2 - HALF_LOG_TAU + log((z - 1 / z) * range + 4 / z) : Number.POSITIVE_INFINITY;
  return Math.max(0, -Math.min(bonferroni, Math.max(single, crossing)));
}

/** ½ log 2π. */
const HALF_LOG_TAU = 0.9189385332046727;
