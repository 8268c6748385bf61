// Distances of mean curves of people who stand for several: rows written as often as they weigh, survfit's robust
// variance (stats/causes and stats/intervals test both against R), gradients by differences, batches.
import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import type { BinnedSingleCause } from "../../src/data/outcomes/outcomes.ts";
import { backThroughFreeCurves, fillFreeCurves } from "../../src/objectives/causes/cause-curves.ts";
import { causeRows, crossCauses, spreadCauses } from "../../src/objectives/causes/cause-rows.ts";
import { type Constraints, type NamedRows, prepareConstraints } from "../../src/objectives/constraints.ts";
import { type CurveWorkspace, createCurveWorkspace, fillCurves } from "../../src/objectives/curves.ts";
import { distanceGradients, measureDistances } from "../../src/objectives/distances.ts";
import { varianceOfMean } from "../../src/objectives/distances/variance.ts";
import {
  backThroughStatistics,
  createStatisticsCache,
  measureStatistics,
  readStatistics,
  replaceRows,
} from "../../src/objectives/group-statistics.ts";
import { modelVariance } from "../../src/stats/calibration/calibration.ts";
import { observedIncidences } from "../../src/stats/causes/binned-causes.ts";
import { kaplanMeier } from "../../src/stats/kaplan-meier.ts";
import { simulateCauses } from "../stats/simulated-causes.ts";
import { centralDifferences, DIFFERENCE_TOLERANCE, expectEntries } from "./gradient-checks.ts";

const N = 40;
const T = 6;
const { outcomes, groups } = simulateCauses(N, T, 12);
const { bin, event, cause } = outcomes;
const random = createRandom(4);
const counts = Float64Array.from({ length: N }, () => 1 + random.integer(3));

/** One kind of event, then two causes; rows are people, or people and causes. */
const KINDS = [
  { K: 1, seen: { binned: { T, bin, event, weight: counts } as BinnedSingleCause, groups } },
  {
    K: 2,
    seen: {
      binned: spreadCauses({ ...outcomes, weight: counts }, 2),
      groups: crossCauses(groups, ["a", "b"]),
    },
  },
];

const loose = { minimumEvents: 1, minimumSupport: 0 } as const;

function curvesOf(logits: Float64Array, people: number, K: number): CurveWorkspace {
  const curves = createCurveWorkspace(people * K, T);
  if (K === 1) fillCurves(logits, people, T, curves);
  else fillFreeCurves(logits, { N: people, K, T }, curves);
  return curves;
}

function drawLogits(K: number): Float64Array {
  return Float64Array.from({ length: N * K * T }, () => 0.7 * random.normal() - 2.5);
}

/** The slopes of what is in the curves, as slopes of logits. */
function toLogits(slopes: Float64Array, curves: CurveWorkspace, people: number, K: number): Float64Array {
  if (K === 1) return slopes;
  const out = new Float64Array(slopes.length);
  backThroughFreeCurves(curves.hazard, slopes, { N: people, K, T }, out);
  return out;
}

describe.each(KINDS)("$K kinds of event", ({ K, seen }) => {
  const logits = drawLogits(K);

  test("means and observed curves are those of rows written as often as they weigh", () => {
    const copies = Int32Array.from(counts).reduce<number[]>(
      (all, times, n) => all.concat(Array(times).fill(n)),
      [],
    );
    const again = causeRows(copies, K);
    const repeat = <Values extends Int32Array | Uint8Array>(values: Values | undefined) =>
      values && (values.constructor as Int32ArrayConstructor).from(again, (row) => values[row]);
    const written = {
      T,
      bin: repeat(seen.binned.bin) as Int32Array,
      event: repeat(seen.binned.event) as unknown as Uint8Array,
      ...(seen.binned.rival && { rival: repeat(seen.binned.rival) as unknown as Uint8Array }),
    };
    const members = seen.groups.map(({ name, rows }): NamedRows => {
      const inside = new Set(rows);
      return { name, rows: Int32Array.from(again.keys()).filter((k) => inside.has(again[k])) };
    });
    const options = { distance: "l2", variant: "paper" } as const;
    const weighted = prepareConstraints({ ...seen, ...options });
    const plain = prepareConstraints({ binned: written, groups: members, ...options });
    const many = Float64Array.from(
      copies.flatMap((n) => Array.from(logits.subarray(n * K * T, (n + 1) * K * T))),
    );
    const statistics = measureStatistics(weighted, curvesOf(logits, N, K));
    expectEntries(statistics, measureStatistics(plain, curvesOf(many, copies.length, K)), 1e-13);
    expectEntries(measureDistances(weighted, statistics), measureDistances(plain, statistics), 1e-12);
  });

  test("the observed variance is robust, the model's that of what people at risk are worth", () => {
    const constraints = prepareConstraints({ ...seen, distance: "l2", variant: "paper" });
    seen.groups.forEach(({ rows }, g) => {
      const { km, worth, rivals } = constraints.groups[g];
      const people = rows.map((row) => Math.floor(row / K));
      if (K === 1) {
        const pick = (values: ArrayLike<number>) => Float64Array.from(people, (n) => values[n]);
        const robust = kaplanMeier({ time: pick(bin), event: pick(event), weight: pick(counts) });
        robust.time.forEach((t, k) => {
          if (robust.survival[k] > 0) expect(km.variance[t]).toBeCloseTo(robust.variance[k], 11);
        });
      } else {
        const binned = { T, bin, event, cause, weight: counts };
        expectEntries(km.variance, observedIncidences(binned, 2, people)[g % 2].variance, 1e-12);
      }
      const later = people.filter((n) => bin[n] >= 3);
      const sum = later.reduce((all, n) => all + counts[n], 0);
      const squares = later.reduce((all, n) => all + counts[n] ** 2, 0);
      expect(worth[3]).toBeCloseTo(sum ** 2 / squares, 10);
      const mean = Float64Array.from({ length: T + 1 }, (_, t) => Math.exp(-0.06 * t));
      if (rivals === undefined)
        expect(varianceOfMean(constraints.groups[g], mean)).toEqual(modelVariance(mean, worth));
    });
  });

  test.each([
    { distance: "l2", variant: "default" },
    { distance: "variance", variant: "paper" },
  ] as const)("$distance: the gradient is that of the value, and batches add up to it", (options) => {
    const constraints: Constraints = prepareConstraints({ ...seen, ...options, ...loose });
    const multipliers = Float64Array.from(seen.groups, (_, g) => 0.5 + 0.25 * g);
    const value = (z: Float64Array) => {
      const distances = measureDistances(constraints, measureStatistics(constraints, curvesOf(z, N, K)));
      return distances.reduce(
        (sum, d, g) => sum + (constraints.groups[g].constrained ? multipliers[g] * d : 0),
        0,
      );
    };
    const curves = curvesOf(logits, N, K);
    const statistics = measureStatistics(constraints, curves);
    const slopes = distanceGradients(constraints, statistics, multipliers);
    const whole = new Float64Array(logits.length);
    backThroughStatistics(constraints, slopes, curves, null, whole, 1);
    expect(whole.some((d) => d !== 0)).toBe(true);
    const dLogits = toLogits(whole, curves, N, K);
    expectEntries(dLogits, centralDifferences(logits, value), DIFFERENCE_TOLERANCE);
    const cache = createStatisticsCache(constraints);
    for (let from = 0; from < N; from += 10) {
      const people = Int32Array.from({ length: 10 }, (_, n) => from + n);
      const batch = curvesOf(logits.slice(from * K * T, (from + 10) * K * T), 10, K);
      replaceRows(constraints, cache, batch, causeRows(people, K));
      const part = new Float64Array(10 * K * T);
      backThroughStatistics(constraints, slopes, batch, causeRows(people, K), part, 10 / N);
      expectEntries(part, whole.subarray(from * K * T, (from + 10) * K * T), 1e-12);
    }
    expectEntries(readStatistics(constraints, cache), statistics, 1e-13);
  });
});
