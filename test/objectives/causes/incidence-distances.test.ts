// Distances of mean incidences: what they are measured against (survfit's estimate and variance, which stats/causes
// tests against R), fractions by hand, gradients by differences, batches and strata.
import { describe, expect, test } from "vitest";
import { createRandom } from "../../../src/core/random.ts";
import { backThroughFreeCurves, fillFreeCurves } from "../../../src/objectives/causes/cause-curves.ts";
import { causeRows, crossCauses, seeCause, spreadCauses } from "../../../src/objectives/causes/cause-rows.ts";
import { type Constraints, prepareConstraints } from "../../../src/objectives/constraints.ts";
import { type CurveWorkspace, createCurveWorkspace } from "../../../src/objectives/curves.ts";
import { distanceGradients, measureDistances } from "../../../src/objectives/distances.ts";
import type { DistanceName } from "../../../src/objectives/distances/list.ts";
import { varianceOfMean } from "../../../src/objectives/distances/variance.ts";
import {
  backThroughStatistics,
  createStatisticsCache,
  measureStatistics,
  readStatistics,
  replaceRows,
} from "../../../src/objectives/group-statistics.ts";
import { freshNoise, resolveSlack } from "../../../src/objectives/slack.ts";
import { modelVariance } from "../../../src/stats/calibration/calibration.ts";
import { observedIncidences } from "../../../src/stats/causes/binned-causes.ts";
import { incidenceVariance } from "../../../src/stats/causes/incidence-variance.ts";
import { kaplanMeierBinned } from "../../../src/stats/kaplan-meier.ts";
import { simulateCauses } from "../../stats/simulated-causes.ts";
import { centralDifferences, DIFFERENCE_TOLERANCE, expectEntries } from "../gradient-checks.ts";

const CAUSES = ["disease", "other"];
const { outcomes, groups } = simulateCauses(300, 12, 3);
const K = CAUSES.length;
const T = outcomes.T;
const seen = { binned: spreadCauses(outcomes, K), groups: crossCauses(groups, CAUSES) };

function prepare(distance: DistanceName, variant: "default" | "paper"): Constraints {
  return prepareConstraints({ ...seen, distance, variant });
}

function drawLogits(N: number, seed: number): Float64Array {
  const random = createRandom(seed, 9);
  return Float64Array.from({ length: N * K * T }, () => 0.7 * random.normal() - 3);
}

function curvesOf(logits: Float64Array, N: number): CurveWorkspace {
  const curves = createCurveWorkspace(N * K, T);
  fillFreeCurves(logits, { N, K, T }, curves);
  return curves;
}

describe("what a group is measured against", () => {
  test("1 − Aalen-Johansen and the variance of survfit, for every group and cause", () => {
    const constraints = prepare("l2", "paper");
    groups.forEach(({ rows }, g) => {
      observedIncidences(outcomes, K, rows).forEach(({ incidence, variance }, k) => {
        const { km } = constraints.groups[g * K + k];
        expectEntries(
          km.survival,
          incidence.map((one) => 1 - one),
          1e-13,
          "1 − incidence",
        );
        expectEntries(km.variance, variance, 1e-11, "variance");
      });
    });
  });

  test("without other causes both are those of Kaplan-Meier", () => {
    const alone = { ...seeCause(outcomes, 0), rival: new Uint8Array(outcomes.bin.length) };
    const [{ km }] = prepareConstraints({ binned: alone, groups, distance: "l2", variant: "paper" }).groups;
    const plain = kaplanMeierBinned({ T, bin: alone.bin, event: alone.event });
    expectEntries(km.survival, plain.survival, 1e-13);
    expectEntries(km.variance, plain.variance, 1e-12);
    const mean = Float64Array.from({ length: T + 1 }, (_, t) => Math.exp(-0.05 * t));
    const rivals = new Float64Array(T + 1);
    expectEntries(varianceOfMean({ worth: km.atRisk, rivals }, mean), modelVariance(mean, km.atRisk), 1e-12);
  });

  test("the variance by hand: 2 of 8 and 1 of 8, then 1 of 4 and 2 of 4", () => {
    const own = Float64Array.of(0, 1 / 4, 1 / 4);
    const others = Float64Array.of(0, 1 / 8, 1 / 2);
    const [, first, second] = incidenceVariance({ own, others, atRisk: [0, 8, 4] });
    expect(first).toBeCloseTo((1 / 4) * (3 / 4) * (1 / 8), 15);
    // F(2) = h_1 + (1 − h_1 − q_1) h_2: derivatives 1 − h_2 = 3/4 by h_1, −h_2 = −1/4 by q_1, 5/8 by h_2, variances
    // 3/128, 7/512 and 3/64, covariance −1/256 of the first two.
    const inFirst = (9 / 16) * (3 / 128) + (1 / 16) * (7 / 512) + 2 * (3 / 16) * (1 / 256);
    expect(second).toBeCloseTo(inFirst + (25 / 64) * (3 / 64), 15);
  });

  test("no variance where hazards are more than 1 or nobody is at risk; nothing ahead where all have gone", () => {
    const variance = (own: number[], others: number[], atRisk: number[]) =>
      Array.from(
        incidenceVariance({ own: Float64Array.from(own), others: Float64Array.from(others), atRisk }),
      );
    expect(variance([0, 0.1, 0.8], [0, 0.1, 0.3], [0, 9, 9])[2]).toBeNaN();
    expect(variance([0, 0.1, 0.1, 0], [0, 0, 0, 0], [0, 9, 0, 0]).slice(2)).toEqual([Number.NaN, Number.NaN]);
    expect(variance([0, 0, 0], [0, 0, 0], [0, 0, 0])).toEqual([0, 0, 0]);
    const gone = variance([0, 0.5, 0], [0, 0.5, 0], [0, 2, 0]);
    expect(gone).toEqual([0, 1 / 8, 1 / 8]);
  });
});

test("l2 by hand: a mean incidence of 1/4 where 1/2 was seen, then of 5/12 where 1/2 was", () => {
  // Two people with hazards 1/4 and 1/4, then 1/3 and 1/3; one has the event of cause 1 in bin 1, one of cause 2 in 2.
  const binned = { T: 2, bin: Int32Array.of(1, 2), event: Uint8Array.of(1, 1), cause: Uint8Array.of(1, 2) };
  const constraints = prepareConstraints({
    binned: spreadCauses(binned, 2),
    groups: crossCauses([{ name: "both", rows: Int32Array.of(0, 1) }], CAUSES),
    distance: "l2",
    variant: "paper",
  });
  const logits = Float64Array.from([0, 1, 0, 1, 0, 1, 0, 1], (t) => (t === 0 ? Math.log(1 / 2) : 0));
  const curves = createCurveWorkspace(4, 2);
  fillFreeCurves(logits, { N: 2, K: 2, T: 2 }, curves);
  const statistics = measureStatistics(constraints, curves);
  expectEntries(statistics, [3 / 4, 7 / 12, 3 / 4, 7 / 12], 1e-15);
  // Seen: F_1 = 1/2, 1/2 and F_2 = 0, 1/2.
  const distances = measureDistances(constraints, statistics);
  expectEntries(distances, [(1 / 16 + 1 / 144) / 2, (1 / 16 + 1 / 144) / 2], 1e-14);
});

describe.each([
  { distance: "l2", variant: "paper" },
  { distance: "l2", variant: "default" },
  { distance: "variance", variant: "paper" },
  { distance: "variance", variant: "default" },
] as const)("$distance, $variant", ({ distance, variant }) => {
  const N = 24;
  const small = simulateCauses(N, T, 5);
  const constraints = prepareConstraints({
    binned: spreadCauses(small.outcomes, K),
    groups: crossCauses(small.groups, CAUSES),
    distance,
    variant,
    minimumEvents: 1,
    minimumSupport: 0,
  });
  const multipliers = Float64Array.from(constraints.groups, (_, g) => 0.5 + 0.25 * g);
  const logits = drawLogits(N, 4);

  /** What the gradient does not pass through, the model's own variance, is held at the mean curves at first. */
  function valueAt(z: Float64Array, base: Float64Array): number {
    const now = measureStatistics(constraints, curvesOf(z, N));
    if (distance === "l2" || variant === "paper")
      return measureDistances(constraints, now).reduce((sum, d, g) => sum + multipliers[g] * d, 0);
    return constraints.groups.reduce((sum, group, g) => {
      const mean = (from: Float64Array) => Float64Array.of(1, ...from.subarray(g * T, (g + 1) * T));
      const frozen = varianceOfMean(group, mean(base));
      const gap = (t: number) => Math.abs(mean(now)[t] - group.km.survival[t]) / Math.sqrt(frozen[t]);
      const largest = Math.max(
        ...Array.from({ length: group.bins }, (_, t) => (frozen[t + 1] > 0 ? gap(t + 1) : 0)),
      );
      return group.constrained ? sum + multipliers[g] * largest : sum;
    }, 0);
  }

  test("the gradient is that of the value", () => {
    expect(constraints.groups.filter(({ constrained }) => constrained).length).toBeGreaterThan(4);
    const curves = curvesOf(logits, N);
    const statistics = measureStatistics(constraints, curves);
    const dFree = new Float64Array(N * K * T);
    backThroughStatistics(
      constraints,
      distanceGradients(constraints, statistics, multipliers),
      curves,
      null,
      dFree,
      1,
    );
    const dLogits = new Float64Array(N * K * T);
    backThroughFreeCurves(curves.hazard, dFree, { N, K, T }, dLogits);
    expect(dLogits.some((d) => d !== 0)).toBe(true);
    expectEntries(
      dLogits,
      centralDifferences(logits, (z) => valueAt(z, statistics)),
      DIFFERENCE_TOLERANCE,
      "dLogits",
    );
  });

  test("batches add up to the whole, and a cache that is filled in parts is the whole", () => {
    const curves = curvesOf(logits, N);
    const whole = measureStatistics(constraints, curves);
    const cache = createStatisticsCache(constraints);
    const slopes = distanceGradients(constraints, whole, multipliers);
    const expected = new Float64Array(N * K * T);
    backThroughStatistics(constraints, slopes, curves, null, expected, 1);
    const added = new Float64Array(N * K * T);
    for (let from = 0; from < N; from += 8) {
      const people = Int32Array.from({ length: 8 }, (_, n) => from + n);
      const batch = curvesOf(logits.slice(from * K * T, (from + 8) * K * T), 8);
      replaceRows(constraints, cache, batch, causeRows(people, K));
      const own = new Float64Array(8 * K * T);
      backThroughStatistics(constraints, slopes, batch, causeRows(people, K), own, 8 / N);
      added.set(own, from * K * T);
    }
    expectEntries(readStatistics(constraints, cache), whole, 1e-13);
    expectEntries(added, expected, 1e-13);
  });
});

test("the slack is the variance of Aalen-Johansen, and so is a perfect model's distance", () => {
  const constraints = prepare("l2", "default");
  const slack = resolveSlack(constraints, "auto");
  const noise = freshNoise(constraints);
  constraints.groups.forEach(({ km, bins }, g) => {
    const mean = km.variance.subarray(1, bins + 1).reduce((sum, one) => sum + one, 0) / bins;
    expect(noise[g]).toBeCloseTo(mean, 12);
    expect(slack[g]).toBeCloseTo(mean / 4, 12);
  });
});

test("the largest gap of a perfect model is that of samples of its law", () => {
  const [N, bins] = [600, 8];
  const every = Int32Array.from({ length: N }, (_, n) => n);
  const of = ({ outcomes: drawn }: ReturnType<typeof simulateCauses>) =>
    prepareConstraints({
      binned: spreadCauses(drawn, K),
      groups: crossCauses([{ name: "all", rows: every }], CAUSES),
      distance: "variance",
      variant: "paper",
    });
  let [gaps, noise] = [0, 0];
  const draws = 100;
  for (let draw = 0; draw < draws; draw++) {
    const law = simulateCauses(N, bins, 100 + draw);
    const means = Float64Array.from({ length: K * bins }, (_, at) => {
      const [k, t] = [Math.floor(at / bins), at % bins];
      return 1 - every.reduce((sum, n) => sum + law.curves.incidence[(n * K + k) * bins + t], 0) / N;
    });
    const constraints = of(law);
    gaps += measureDistances(constraints, means)[0] / draws;
    if (draw < 2) noise += freshNoise(constraints)[0] / 2;
  }
  // The standard error of so many gaps is .06.
  expect(Math.abs(gaps - noise)).toBeLessThan(0.15);
  expect(noise).toBeGreaterThan(1);
});
