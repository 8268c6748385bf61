/**
 * What a group's draws are measured against, cause by cause: its mean curves, its support, and the scale of chance by
 * the model's own hazards (null-scale.ts). And when the observed is outside what chance explains at single times: the
 * stretch of bins around the largest |z| in which z keeps its sign and stays beyond POINTWISE, which is where a
 * picture shows the curve outside its pointwise 95 % limits.
 */
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import type { BinnedSingleCause } from "../../data/outcomes/outcomes.ts";
import { LATE_ENTRY } from "../causes/binned-causes.ts";
import { incidenceVariance } from "../causes/incidence-variance.ts";
import { totalHazards } from "../individual-logrank.ts";
import { groupSupport, tallyBins } from "../kaplan-meier.ts";
import { meanCurve, modelVariance } from "./calibration.ts";
import type { DrawnOutcomes, DrawnTable } from "./drawn-outcomes.ts";
import type { CurveMeter } from "./measure-draws.ts";
import { type NullScale, scaleOf } from "./null-scale.ts";

/** The normal distribution's 97.5 % point. */
const POINTWISE = 1.959963984540054;

/** When a group departs, in bins, and by how much; what is not defined is left out. */
export interface Span {
  /** The largest |z| over time, by the model's own null variance; absent where too few events are expected. */
  readonly largestZ?: number;
  /** The stretch around it in which |z| stays beyond 1.96, first and last bin; absent where it never is. */
  readonly span?: { readonly fromBin: number; readonly toBin: number };
  /** The largest gap in that stretch, or over the support where there is none: mean predicted curve less observed. */
  readonly gap?: { readonly bin: number; readonly value: number };
  /** Under late entry in its place: events by the end of the bin with the largest |z|. */
  readonly eventsBy?: { readonly bin: number; readonly observed: number; readonly expected: number };
}

/** One group against its draws. */
export interface CellMeter extends CurveMeter {
  readonly rows: number;
  readonly knots: readonly number[];
  /** Without late entry there are curves to compare. */
  readonly hasCurves: boolean;
  /** By cause: mean curve less observed curve, or z of events up to each knot. */
  readonly departures: readonly Float64Array[]; // [K], [T+1] or [knots+1]
  /** Observed and expected events by each knot. */
  readonly events: readonly { readonly observed: Float64Array; readonly expected: Float64Array }[]; // [K]
  scales: readonly NullScale[];
  /** Whether the expected number of events of a cause has a variance, known with the observed. */
  hasVariance: readonly boolean[]; // [K]
  /** Why an error is not measured; null where it is. */
  without(k: number, key: "ece" | "paperEce"): string | null;
}

/** Bins up to which events are added up under late entry: about equally many expected between two. */
const KNOTS = 20;

/** The end alone, or under late entry times about equally many expected events apart. */
export function chooseKnots(table: DrawnTable): readonly number[] {
  const { N, T, survival, bin, firstBin } = table;
  if (firstBin === undefined) return [T];
  const steps = new Float64Array(T + 1);
  const totals = { expected: new Float64Array(T + 1), variance: new Float64Array(T + 1) };
  for (let row = 0; row < N; row++) {
    totalHazards(survival, row * T, bin[row], totals);
    for (let t = firstBin[row]; t <= bin[row]; t++) steps[t] += totals.expected[t] - totals.expected[t - 1];
  }
  const all = steps.reduce((sum, one) => sum + one, 0);
  const knots: number[] = [];
  let passed = 0;
  for (let t = 1; t < T; t++) {
    passed += steps[t];
    if (passed * KNOTS >= all * (knots.length + 1) && all > 0) knots.push(t);
  }
  return [...knots, T];
}

/** Opens a group; scales under late entry are known when the observed has been measured. */
export function openMeter(table: DrawnTable, rows: ArrayLike<number>, knots: readonly number[]): CellMeter {
  const { K, T } = table;
  const hasCurves = table.firstBin === undefined;
  const outcomes = asSingleCause(table);
  const last = hasCurves ? groupSupport(outcomes, { rows }) : 0;
  const each = <One>(make: (k: number) => One) => Array.from({ length: K }, (_, k) => make(k));
  const means = each((k) => (hasCurves ? meanOf(table, k, rows) : absent(LATE_ENTRY)));
  const length = (hasCurves ? T : knots.length) + 1;
  const reasonOf = (k: number, key: "ece" | "paperEce") => {
    const mean = means[k];
    if (isAbsent(mean)) return mean.absent;
    if (key === "paperEce") return K === 1 ? null : "it is of one kind of event";
    // As of scores that are undefined (rankObserved).
    return last > 0
      ? null
      : K === 1
        ? "the metric itself is undefined on these rows"
        : "no bin with follow-up";
  };
  return {
    ...{ K, T, last, means, knots, hasCurves, rows: rows.length },
    scales: hasCurves
      ? scalesOfCurves(table, outcomes, rows, means, last)
      : each(() => scaleOf([], [], [], 0)),
    departures: each(() => new Float64Array(length)),
    events: each(() => ({ observed: new Float64Array(length), expected: new Float64Array(length) })),
    hasVariance: each(() => false),
    without: reasonOf,
  };
}

function asSingleCause({ T, bin, cause, firstBin, weight }: DrawnTable): BinnedSingleCause {
  const event = cause.map((one) => (one > 0 ? 1 : 0));
  return { T, bin, event, ...(firstBin && { firstBin }), ...(weight && { weight }) };
}

/** Mean survival of one kind of event, mean incidence of each of several. */
function meanOf(
  { N, K, T, survival, incidence, weight }: DrawnTable,
  k: number,
  rows: ArrayLike<number>,
): Measured<Float64Array> {
  if (incidence === undefined) return meanCurve({ N, T, survival }, weight, rows);
  // The rows' curves of one cause are K apart: read as rows of their own, [N K, T].
  const own = Int32Array.from(rows, (row) => row * K + k);
  const spread = weight && Float64Array.from({ length: N * K }, (_, at) => weight[Math.floor(at / K)]);
  const mean = meanCurve({ N: N * K, T, survival: incidence }, spread, own);
  if (!isAbsent(mean)) mean[0] = 0;
  return mean;
}

/** By the hazards of the mean curves and how many people are at risk. */
function scalesOfCurves(
  { K, T, bin, weight }: DrawnTable,
  outcomes: BinnedSingleCause,
  rows: ArrayLike<number>,
  means: readonly Measured<Float64Array>[],
  last: number,
): readonly NullScale[] {
  const curves = means.map((one) => (isAbsent(one) ? new Float64Array(T + 1) : one));
  const free = (t: number) => (K === 1 ? curves[0][t] : 1 - curves.reduce((sum, one) => sum + one[t], 0));
  const { atRisk } = tallyBins(outcomes, undefined, rows);
  // (Σw)²/Σw² people.
  const squares =
    weight && tallyBins({ T, bin, event: outcomes.event, weight: weight.map((w) => w * w) }, undefined, rows);
  const people =
    squares === undefined ? atRisk : atRisk.map((n, t) => (n > 0 ? (n * n) / squares.atRisk[t] : 0));
  const hazards = curves.map((curve) =>
    curve.map((value, t) => {
      if (t === 0) return 0;
      const step = K === 1 ? curve[t - 1] - value : value - curve[t - 1];
      return step > 0 ? Math.min(step / free(t - 1), 1) : 0;
    }),
  );
  return curves.map((curve, k) => {
    const own = hazards[k];
    const others = own.map((_, t) => hazards.reduce((sum, one, j) => sum + (j === k ? 0 : one[t]), 0));
    const variance =
      K === 1 ? modelVariance(curve, people) : incidenceVariance({ own, others, atRisk: people });
    const information = new Float64Array(T + 1);
    const expected = new Float64Array(T + 1);
    for (let t = 1; t <= T; t++) {
      const left = K === 1 ? 1 - own[t] : 1;
      information[t] = information[t - 1] + (own[t] > 0 ? own[t] / (people[t] * left) : 0);
      expected[t] = expected[t - 1] + people[t] * own[t];
    }
    return scaleOf(variance, information, expected, last);
  });
}

/** Keeps what was observed, which is at index 0 of the draws; under late entry the scales follow from it. */
export function keepObserved(
  meter: CellMeter,
  { counts, expected, variance }: DrawnOutcomes,
  isWeighted: boolean,
): void {
  const { K, T, knots, events, departures, hasCurves } = meter;
  const B = knots.length;
  const scales: NullScale[] = [];
  for (let k = 0; k < K; k++) {
    const V = new Float64Array(B + 1);
    let [t, sum] = [0, 0];
    for (let b = 0; b < B; b++) {
      while (t < knots[b]) sum += counts[k * (T + 1) + ++t];
      V[b + 1] = variance[k * B + b];
      if (hasCurves) continue;
      events[k].observed[b + 1] = sum;
      events[k].expected[b + 1] = expected[k * B + b];
      departures[k][b + 1] = V[b + 1] > 0 ? (sum - expected[k * B + b]) / Math.sqrt(V[b + 1]) : 0;
    }
    if (hasCurves) continue;
    const E = events[k].expected;
    const counted = isWeighted ? E.map((one, b) => (V[b] > 0 ? (one * one) / V[b] : 0)) : E;
    scales.push(scaleOf(V, V, counted, B));
  }
  if (!hasCurves) meter.scales = scales;
  meter.hasVariance = departures.map((_, k) => variance[k * B + B - 1] > 0);
}

/** When, in bins, and how far a group's cause departs. */
export function describeSpan(
  { last, knots, departures, events, scales, hasCurves }: CellMeter,
  k: number,
): Span {
  const { deviation } = scales[k];
  const end = hasCurves ? last : knots.length;
  const own = departures[k];
  const zOf = (t: number) => (deviation[t] > 0 ? (hasCurves ? own[t] / deviation[t] : own[t]) : 0);
  let most = 0;
  for (let t = 1; t <= end; t++) if (Math.abs(zOf(t)) > Math.abs(zOf(most))) most = t;
  const isBeyond = (t: number) => zOf(t) * Math.sign(zOf(most)) >= POINTWISE;
  let [from, to] = [most, most];
  if (most > 0 && isBeyond(most)) {
    while (from > 1 && isBeyond(from - 1)) from--;
    while (to < end && isBeyond(to + 1)) to++;
  } else [from, to] = [0, 0];
  const [low, high] = from > 0 ? [from, to] : [1, end];
  let at = from > 0 && !hasCurves ? most : low;
  for (let t = low; t <= high && hasCurves; t++) if (Math.abs(own[t]) > Math.abs(own[at])) at = t;
  if (!hasCurves && from === 0) at = end;
  const binOf = (t: number) => (hasCurves ? t : knots[t - 1]);
  const { observed, expected } = events[k];
  return {
    ...(scales[k].bins > 0 ? { largestZ: Math.abs(zOf(most)) } : {}),
    ...(from > 0 ? { span: { fromBin: binOf(from), toBin: binOf(to) } } : {}),
    ...(end === 0
      ? {}
      : hasCurves
        ? { gap: { bin: at, value: own[at] } }
        : { eventsBy: { bin: binOf(at), observed: observed[at], expected: expected[at] } }),
  };
}
