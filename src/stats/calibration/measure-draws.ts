/**
 * The statistics of every draw of a group, cause by cause. Without late entry: the mean predicted curve against
 * Kaplan-Meier, of one of several causes the mean incidence against Aalen-Johansen, both of the draw,
 *   square   Σ_{t≤τ} Δ(t)²/τ, the square of the r.m.s. gap
 *   largest  max |Δ(t)|/σ(t) over the bins that null-scale.ts looks at
 *   ece      over the support and, of one kind of event, over all bins (`paperEce`)
 * over the observed rows' support τ; and χ² = (O − E)²/V of the individual logrank. Under late entry means of curves
 * are compared with nothing; events are, while at risk: z(b) = (O − E)/√V of all bins up to the b-th knot, and the
 * largest |z| over knots stands for that of the curve. This is the fast form of noise-floor.ts.
 */
import { isAbsent, type Measured } from "../../core/measured.ts";
import { square } from "../../core/elementary.ts";
import { PROBABILITY_BINS, probabilityBin } from "./calibration.ts";
import type { CellMeter } from "./cell-meter.ts";
import type { DrawnOutcomes } from "./drawn-outcomes.ts";
import type { NullScale } from "./null-scale.ts";

/** One group and cause: index 0 is what was observed, 1…draws what was drawn. */
export interface CellValues {
  readonly square: Float64Array; // [1 + draws]
  readonly largest: Float64Array;
  readonly ece: Float64Array;
  readonly paperEce: Float64Array;
}

/** What a group's draws are measured against. */
export interface CurveMeter {
  readonly K: number;
  readonly T: number;
  /** τ. */
  readonly last: number;
  /** Mean survival of one kind of event, mean incidence of each of several causes. */
  readonly means: readonly Measured<Float64Array>[]; // [K], [T+1]
  readonly scales: readonly NullScale[]; // [K]
}

export function createValues(length: number): CellValues {
  const one = () => new Float64Array(length);
  return { square: one(), largest: one(), ece: one(), paperEce: one() };
}

/** Values at `from`… are of draw `first`… of the counts. */
interface MeasuredDraws {
  readonly values: readonly CellValues[];
  readonly first: number;
  readonly from: number;
  readonly draws: number;
}

/** Measures draws of curves; `gaps` takes those of the first. */
export function measureCurves(
  { counts }: DrawnOutcomes,
  { K, T, last, means, scales }: CurveMeter,
  { values, gaps, first, from, draws }: MeasuredDraws & { readonly gaps?: readonly Float64Array[] },
): void {
  const width = T + 1;
  const size = (K + 1) * width;
  const atRisk = new Float64Array(width);
  const before = new Float64Array(width); // S(t − 1)
  const mean = means.map((one) => (isAbsent(one) ? new Float64Array(width) : one));
  const bins = mean.map((one) => Uint8Array.from(one, (value) => probabilityBin(value, PROBABILITY_BINS)));
  const sums = new Float64Array(PROBABILITY_BINS + 1);
  const errorOf = (through: number) => sums.reduce((sum, one) => sum + Math.abs(one), 0) / (through + 1);
  for (let d = 0; d < draws; d++) {
    const start = (first + d) * size;
    countAtRisk(counts, start, K, width, atRisk);
    let S = 1;
    for (let t = 1; t < width; t++) {
      before[t] = S;
      let gone = 0;
      for (let k = 0; k < K; k++) gone += counts[start + k * width + t];
      if (gone > 0) S *= Math.max(0, atRisk[t] - gone) / atRisk[t];
    }
    for (let k = 0; k < K; k++) {
      const { deviation } = scales[k];
      const own = start + k * width;
      sums.fill(0);
      let [F, squares, largest] = [0, 0, 0];
      for (let t = 1; t < width; t++) {
        const events = counts[own + t];
        if (K === 1) F = t < T ? 1 - before[t + 1] : 1 - S;
        else if (events > 0) F += (before[t] * events) / atRisk[t];
        const gap = mean[k][t] - (K === 1 ? 1 - F : F);
        sums[bins[k][t]] += gap;
        if (d === 0 && gaps !== undefined) gaps[k][t] = gap;
        if (t > last) continue;
        squares += gap * gap;
        if (deviation[t] > 0) largest = Math.max(largest, Math.abs(gap) / deviation[t]);
        if (t === last) values[k].ece[from + d] = errorOf(last);
      }
      values[k].square[from + d] = last > 0 ? squares / last : 0;
      values[k].largest[from + d] = largest;
      values[k].paperEce[from + d] = errorOf(T);
    }
  }
}

/** Everyone who leaves in the bin or later. */
function countAtRisk(
  counts: DrawnOutcomes["counts"],
  start: number,
  K: number,
  width: number,
  atRisk: Float64Array,
): void {
  let later = 0;
  for (let t = width - 1; t > 0; t--) {
    for (let k = 0; k <= K; k++) later += counts[start + k * width + t];
    atRisk[t] = later;
  }
}

/** Measures draws of events: χ² of all of them and, under late entry, the largest |z| up to a knot. */
export function measureEvents(
  { counts, expected, variance }: DrawnOutcomes,
  { K, T, scales, knots, hasCurves }: Pick<CellMeter, "K" | "T" | "scales" | "knots" | "hasCurves">,
  { values, chi2, first, from, draws }: MeasuredDraws & { readonly chi2: readonly Float64Array[] },
): void {
  const B = knots.length;
  for (let d = 0; d < draws; d++) {
    for (let k = 0; k < K; k++) {
      const start = ((first + d) * (K + 1) + k) * (T + 1);
      const { deviation } = scales[k];
      let [observed, t, z, largest] = [0, 0, 0, 0];
      for (let b = 0; b < B; b++) {
        while (t < knots[b]) observed += counts[start + ++t];
        const at = ((first + d) * K + k) * B + b;
        z = standardise(observed - expected[at], variance[at]);
        if (deviation[b + 1] > 0) largest = Math.max(largest, z);
      }
      chi2[k][from + d] = square(z);
      if (!hasCurves) values[k].largest[from + d] = largest;
    }
  }
}

/** |O − E|/√V; where hazards leave no variance, any difference is beyond all chance. */
function standardise(difference: number, variance: number): number {
  const size = Math.abs(difference);
  return variance > NO_VARIANCE
    ? size / Math.sqrt(variance)
    : size > NO_DIFFERENCE
      ? Number.POSITIVE_INFINITY
      : 0;
}

const NO_VARIANCE = 1e-12;
/** Sums of hazards are rounded. */
const NO_DIFFERENCE = 1e-6;
