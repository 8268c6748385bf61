/**
 * The paper's three counterexamples, as fractions: scores that are perfect for predictions whose mean curve is far from
 * the truth. And one against the paper's own constraint: two people's curves swapped leave every group mean as it was.
 */
import { expect, test } from "vitest";
import type { Curves } from "../../src/data/curves/curves.ts";
import type { BinnedRightCensored } from "../../src/data/outcomes/outcomes.ts";
import { distanceL2, expectedCalibrationError, meanCurve } from "../../src/stats/calibration/calibration.ts";
import { dCalibration, dCalScore } from "../../src/stats/calibration/d-calibration.ts";
import { kaplanMeierBinned } from "../../src/stats/kaplan-meier.ts";
import { brierBinned } from "../../src/stats/scores/brier.ts";
import { rankedProbabilityScore } from "../../src/stats/scores/rps.ts";
import { present } from "../stats/prediction-oracles.ts";

const T = 5;

interface Person {
  readonly time: number;
  readonly event: 0 | 1;
  /** Predicted survival is 1 before `time` and this from it on. */
  readonly after: number;
}

function predict(people: readonly Person[]): { curves: Curves; binned: BinnedRightCensored } {
  const rows = people.map(({ time, after }) =>
    Array.from({ length: T }, (_, t) => (t + 1 < time ? 1 : after)),
  );
  return {
    curves: { N: people.length, T, survival: Float64Array.from(rows.flat()) },
    binned: {
      T,
      bin: Int32Array.from(people, (person) => person.time),
      event: Uint8Array.from(people, (person) => person.event),
    },
  };
}

test("1: D-calibration is perfect, predicted five-year survival is 0.55, true 0", () => {
  const { curves, binned } = predict(
    [0.15, 0.35, 0.55, 0.75, 0.95].map((after, k) => ({ time: k + 1, event: 1, after })),
  );
  const score = present(dCalScore(curves, binned, { bins: 5 }));
  expect(Array.from(score.fractions)).toEqual([1 / 5, 1 / 5, 1 / 5, 1 / 5, 1 / 5]);
  expect(score.score).toBe(0);
  const test = present(dCalibration(curves, binned, { bins: 5 }));
  expect(test.chi2).toBe(0);
  expect(test.p).toBe(1);

  const mean = present(meanCurve(curves));
  const km = kaplanMeierBinned(binned);
  // (0.15 + 0.35 + 0.55 + 0.75 + 0.95)/5, against nobody alive.
  expect(mean[5]).toBeCloseTo(2.75 / 5, 15);
  expect(km.survival[5]).toBe(0);
  // Person k has fallen to 0.15 + 0.2(k−1) by t ≥ k: the means are 83/100, 70/100, 61/100, 56/100, 55/100.
  [1, 0.83, 0.7, 0.61, 0.56, 0.55].forEach((value, t) => {
    expect(mean[t]).toBeCloseTo(value, 15);
  });
  [1, 4 / 5, 3 / 5, 2 / 5, 1 / 5, 0].forEach((value, t) => {
    expect(km.survival[t]).toBeCloseTo(value, 15);
  });
  // Gaps .03, .1, .21, .36, .55.
  expect(distanceL2(mean, km.survival)).toBeCloseTo((0.0009 + 0.01 + 0.0441 + 0.1296 + 0.3025) / 5, 14);
});

test("2: the Brier score is 0 at every time, predicted five-year survival is 0, true 0.4225", () => {
  const times = [1, 2, 3, 4, 5];
  const { curves, binned } = predict([
    ...times.map((time) => ({ time, event: 1 as const, after: 0 })),
    ...times.map((time) => ({ time, event: 0 as const, after: 0 })),
    ...times.map((time) => ({ time, event: 0 as const, after: 0 })),
  ]);
  for (const ties of ["reverse", "simple"] as const) {
    const { brier, ibs } = present(brierBinned(curves, binned, { ties }));
    expect(Array.from(brier)).toEqual([0, 0, 0, 0, 0]);
    expect(ibs).toBe(0);
  }
  const mean = present(meanCurve(curves));
  const km = kaplanMeierBinned(binned);
  expect(mean[5]).toBe(0);
  const truth = (14 / 15) * (11 / 12) * (8 / 9) * (5 / 6) * (2 / 3);
  expect(km.survival[5]).toBeCloseTo(truth, 15);
  expect(truth).toBeCloseTo(0.4225, 4);
  // Three people leave in every bin: predicted 12/15, 9/15, 6/15, 3/15, 0.
  [1, 4 / 5, 3 / 5, 2 / 5, 1 / 5, 0].forEach((value, t) => {
    expect(mean[t]).toBeCloseTo(value, 15);
  });
});

test("3: the ranked probability score is 0, predicted five-year survival is 2/3, true 0", () => {
  const { curves, binned } = predict([
    ...[1, 2, 3, 4, 5].map((time) => ({ time, event: 1 as const, after: 0 })),
    ...[1, 1, 1, 1, 2, 2, 2, 3, 3, 3].map((time) => ({ time, event: 0 as const, after: 1 })),
  ]);
  for (const censored of ["t<=c", "t<c"] as const) {
    expect(present(rankedProbabilityScore(curves, binned, { censored })).sum).toBe(0);
  }
  const mean = present(meanCurve(curves));
  const km = kaplanMeierBinned(binned);
  expect(mean[5]).toBeCloseTo(2 / 3, 15);
  expect(km.survival[5]).toBe(0);
  // At risk 15, 10, 6, 2, 1, one event each: 14/15, ·9/10, ·5/6, ·1/2, ·0.
  [1, 14 / 15, 21 / 25, 7 / 10, 7 / 20, 0].forEach((value, t) => {
    expect(km.survival[t]).toBeCloseTo(value, 15);
  });
});

test("4: two people's curves swapped are as calibrated in the mean as the right ones", () => {
  const right = predict([
    { time: 1, event: 1, after: 0 },
    { time: 5, event: 1, after: 0 },
  ]);
  const { survival } = right.curves;
  const swapped = {
    ...right.curves,
    survival: Float64Array.of(...survival.slice(T), ...survival.slice(0, T)),
  };
  const km = kaplanMeierBinned(right.binned).survival;
  for (const curves of [right.curves, swapped]) {
    const mean = present(meanCurve(curves));
    expect(distanceL2(mean, km)).toBe(0);
    expect(present(expectedCalibrationError(mean, km)).ece).toBe(0);
  }
  expect(Array.from(present(brierBinned(right.curves, right.binned)).brier)).toEqual([0, 0, 0, 0, 0]);
  expect(Array.from(present(brierBinned(swapped, right.binned)).brier)).toEqual([1, 1, 1, 1, 0]);
});
