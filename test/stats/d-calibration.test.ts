import { describe, expect, test } from "vitest";
import { NumericalError } from "../../src/core/errors.ts";
import { absent } from "../../src/core/measured.ts";
import type { BinnedRightCensored } from "../../src/data/outcomes/outcomes.ts";
import {
  dCalibration,
  dCalibrationShare,
  dCalScore,
  MASS_TOLERANCE,
  testDCalibration,
  X_CAL_CENSORED_AS_EVENT_BELOW,
} from "../../src/stats/calibration/d-calibration.ts";
import {
  expectRelative,
  expectRelativeAll,
  loadPredictions,
  PREDICTION_NAMES,
  present,
  readOracleJson,
} from "./prediction-oracles.ts";
import { createTiedTable, repeatRows, slowDCalibration } from "./slow-twins-calibration.ts";

const TOLERANCE = 1e-10;

/** One row per survival value, all in the only bin. */
function rowsWith(survival: number[], event: number[]) {
  const N = survival.length;
  const binned: BinnedRightCensored = { T: 1, bin: new Int32Array(N).fill(1), event: Uint8Array.from(event) };
  return { curves: { N, T: 1, survival: Float64Array.from(survival) }, binned };
}

describe.each(PREDICTION_NAMES)("%s", async (name) => {
  const { curves, binned, groups } = await loadPredictions(name);
  type Peers = Record<string, { dCalibration: { chi2: number; counts: number[] } }>;
  const peer = readOracleJson<Peers>("peers/calibration.json")[name].dCalibration;

  test.each(groups)("$name: histogram, χ² and p as in R", ({ scores, weights }) => {
    const result = present(dCalibration(curves, binned, weights === undefined ? {} : { weights }));
    expectRelativeAll(result.counts, scores.Dcal.counts, TOLERANCE, "counts");
    expectRelative(result.expected, scores.Dcal.expected, TOLERANCE, "expected");
    expectRelative(result.chi2, scores.Dcal.chisq, TOLERANCE, "chi2");
    expect(result.df).toBe(scores.Dcal.df);
    expectRelative(result.p, scores.Dcal.p, TOLERANCE, "p");
    // R stored p, not its logarithm: near p = 1 the logarithm of the stored number is only as good as p's last bit.
    const logP = Math.log(scores.Dcal.p);
    expect(Math.abs(result.logP - logP)).toBeLessThanOrEqual(TOLERANCE * Math.abs(logP) + Number.EPSILON);
  });

  test("histogram and χ² as in SurvivalEVAL", () => {
    const result = present(dCalibration(curves, binned));
    expectRelativeAll(result.counts, peer.counts, TOLERANCE, "counts");
    expectRelative(result.chi2, peer.chi2, TOLERANCE, "chi2");
  });
});

describe("worked by hand", () => {
  test("an event at an edge belongs to the bin above it, 1 to the last, 0 to the first", () => {
    const { curves, binned } = rowsWith([0, 0.1, 0.3, 0.7, 0.95, 1], [1, 1, 1, 1, 1, 1]);
    const { counts } = present(dCalibration(curves, binned));
    expect(Array.from(counts)).toEqual([1, 1, 0, 1, 0, 0, 0, 1, 0, 2]);
  });

  test("a censored row at 1/2 spreads (1/2, 1/2, 0, 0) over quarters, one at 3/8 (2/3, 1/3, 0, 0), one at 0 stays", () => {
    const { curves, binned } = rowsWith([0.5, 0.375, 0, 1], [0, 0, 0, 0]);
    const { counts, chi2, df } = present(dCalibration(curves, binned, { bins: 4 }));
    // Quarters 0: 1/2 + 2/3 + 1 + 1/4; 1: 1/2 + 1/3 + 1/4; 2 and 3: 1/4.
    const expected = [29 / 12, 13 / 12, 1 / 4, 1 / 4];
    expectRelativeAll(counts, expected, 1e-15, "counts");
    expect(chi2).toBeCloseTo((17 / 12) ** 2 + (1 / 12) ** 2 + 2 * (3 / 4) ** 2, 14);
    expect(df).toBe(3);
  });

  test("a row's share sums to one", () => {
    for (const s of [1e-300, 0.05, 0.1, 0.3, 0.55, 0.7, 0.999, 1]) {
      const { bin, own, lower } = dCalibrationShare(s, false);
      expect(own + bin * lower).toBeCloseTo(1, 14);
      expect(dCalibrationShare(s, true)).toEqual({ bin, own: 1, lower: 0 });
    }
    expect(dCalibrationShare(0, false)).toEqual({ bin: 0, own: 1, lower: 0 });
  });

  test("X-Cal's score is on F = 1 − S, with bins closed below, and spreads censored rows upwards", () => {
    const { curves, binned } = rowsWith([1, 0.8, 0.5, 0.2, 0], [1, 1, 0, 0, 1]);
    // F = 0, .2, (.5 censored), (.8 censored), 1; fifths: .5 gives .2, .4, .4 to the last three, .8 the last bin all.
    const { fractions, score } = present(dCalScore(curves, binned, { bins: 5 }));
    expectRelativeAll(fractions, [1 / 5, 1 / 5, 0.2 / 5, 0.4 / 5, 2.4 / 5], 1e-14, "fractions");
    expect(score).toBeCloseTo(0.16 ** 2 + 0.12 ** 2 + 0.28 ** 2, 15);
  });

  test("X-Cal counts a censored row as an event just below S = 1e-4, not at it", () => {
    const at = rowsWith([X_CAL_CENSORED_AS_EVENT_BELOW], [0]);
    const below = rowsWith([X_CAL_CENSORED_AS_EVENT_BELOW * (1 - 1e-12)], [0]);
    // Bins so fine that the edge is inside the 100th from the top of F: at it the mass is spread over two bins.
    const spread = present(dCalScore(at.curves, at.binned, { bins: 20_000 })).fractions.slice(-2);
    const kept = present(dCalScore(below.curves, below.binned, { bins: 20_000 })).fractions.slice(-2);
    expect(Array.from(spread)).toEqual([0.5, 0.5]);
    expect(Array.from(kept)).toEqual([1, 0]);
  });
});

describe("mass", () => {
  test("a survival value that is not a number is refused", () => {
    const { curves, binned } = rowsWith([0.5, Number.NaN], [1, 0]);
    expect(() => dCalibration(curves, binned)).toThrow(NumericalError);
    expect(() => dCalScore(curves, binned)).toThrow(NumericalError);
  });

  test("the tolerance is relative to the number of rows", () => {
    const lower = [0, 0];
    const off = (error: number) => testDCalibration([500, 500 * (1 + 2 * error)], lower, 1000);
    expect(present(off(MASS_TOLERANCE / 2)).df).toBe(1);
    expect(() => off(MASS_TOLERANCE * 2)).toThrow("does not hold one unit per row");
  });
});

describe("slow twin", () => {
  test.each([1, 2, 3, 4, 5, 6])("seed %i", (seed) => {
    const table = createTiedTable(seed, 300, 5);
    for (const bins of [2, 3, 10, 20]) {
      const { counts } = present(dCalibration(table.curves, table.binned, { bins }));
      expectRelativeAll(counts, slowDCalibration(table, bins), 1e-12, `${bins} bins`);
    }
  });

  test("weight w is the row w times, for both scores", () => {
    const table = createTiedTable(7, 60, 4);
    const weights = Array.from({ length: 60 }, (_, i) => (i * 7) % 4);
    const repeated = repeatRows(table, weights);
    const fast = present(dCalibration(table.curves, table.binned, { weights }));
    const slow = present(dCalibration(repeated.curves, repeated.binned));
    expectRelativeAll(fast.counts, Array.from(slow.counts), 1e-13, "counts");
    expectRelative(fast.chi2, slow.chi2, 1e-12, "chi2");
    const fastScore = present(dCalScore(table.curves, table.binned, { weights }));
    const slowScore = present(dCalScore(repeated.curves, repeated.binned));
    expectRelative(fastScore.score, slowScore.score, 1e-12, "score");
  });
});

test("no rows, one row, one bin", () => {
  const nobody = rowsWith([], []);
  expect(dCalibration(nobody.curves, nobody.binned)).toEqual(absent("no rows"));
  expect(dCalScore(nobody.curves, nobody.binned)).toEqual(absent("no rows"));
  const one = rowsWith([0.4], [1]);
  expect(dCalibration(one.curves, one.binned, { weights: [0] })).toEqual(absent("no rows"));
  expect(dCalibration(one.curves, one.binned, { bins: 1 })).toEqual(absent("fewer than two bins"));
  expect(present(dCalibration(one.curves, one.binned)).chi2).toBeCloseTo(9, 12);
});
