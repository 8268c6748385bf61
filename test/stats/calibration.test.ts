import { describe, expect, test } from "vitest";
import { absent } from "../../src/core/measured.ts";
import {
  distanceL2,
  distanceVariance,
  expectedCalibrationError,
  kmCalibration,
  meanCurve,
  modelVariance,
  probabilityBin,
  totalScore,
} from "../../src/stats/calibration/calibration.ts";
import { kaplanMeierBinned } from "../../src/stats/kaplan-meier.ts";
import {
  expectRelative,
  expectRelativeAll,
  loadPredictions,
  PREDICTION_NAMES,
  present,
  readOracleJson,
} from "./prediction-oracles.ts";
import { createTiedTable, repeatRows } from "./slow-twins-calibration.ts";

const TOLERANCE = 1e-10;

describe.each(PREDICTION_NAMES)("%s", async (name) => {
  const { curves, binned, groups } = await loadPredictions(name);
  const peers = readOracleJson<Record<string, { kmSquared: number }>>("peers/calibration.json");

  test("has subgroups that are not empty", () => {
    expect(groups.length).toBeGreaterThan(10);
    for (const { scores, weights } of groups.slice(1)) {
      expect(weights?.reduce((sum, weight) => sum + weight, 0)).toBe(scores.n);
    }
  });

  test.each(groups)(
    "$name: mean curve, ECE, L2, variance-adjusted and total score as in R",
    ({ scores, weights }) => {
      const mean = present(meanCurve(curves, weights));
      const km = kaplanMeierBinned(binned, weights);
      if (scores.mean_pred && scores.KM && scores.KM_var) {
        expectRelativeAll(mean, scores.mean_pred, TOLERANCE, "mean");
        expectRelativeAll(km.survival, scores.KM, TOLERANCE, "Kaplan-Meier");
        scores.KM_var.forEach((value, t) => {
          if (value === null) expect(km.variance[t]).toBeNaN();
          else expectRelative(km.variance[t], value, TOLERANCE, `variance[${t}]`);
        });
      }
      const ece = present(expectedCalibrationError(mean, km.survival));
      expectRelative(ece.ece, scores.ECE, TOLERANCE, "ECE");
      expect(ece.bins.map((bin) => bin.m)).toEqual([scores.ECE_bins.m].flat());
      expect(ece.bins.map((bin) => bin.size)).toEqual([scores.ECE_bins.size].flat());
      const meanKm = ece.bins.map((bin) => bin.meanKm);
      const meanPredicted = ece.bins.map((bin) => bin.meanPredicted);
      expectRelativeAll(meanKm, [scores.ECE_bins.mean_KM].flat(), TOLERANCE, "ECE mean KM");
      expectRelativeAll(meanPredicted, [scores.ECE_bins.mean_pred].flat(), TOLERANCE, "ECE mean predicted");
      // The two are equal, up to rounding, where no sign cancels.
      expect(ece.meanAbsoluteGap).toBeGreaterThanOrEqual(ece.ece * (1 - 1e-12));

      expectRelative(present(distanceL2(mean, km.survival)), scores.L2_distance, TOLERANCE, "L2");
      const adjusted = present(distanceVariance(mean, km.survival, km.variance));
      expectRelative(adjusted.value, scores.variance_adjusted_max, TOLERANCE, "variance-adjusted");
      expect(adjusted.t).toBe(scores.variance_adjusted_argmax_t);
      expectRelative(present(totalScore(scores.C_td, ece.ece)), scores.total_score, TOLERANCE, "total");
    },
  );

  test("the mean over chosen rows is the mean under 0/1 weights", () => {
    for (const { weights } of groups.slice(1)) {
      const rows: number[] = [];
      weights?.forEach((weight, row) => {
        if (weight === 1) rows.push(row);
      });
      expect(meanCurve(curves, undefined, rows)).toEqual(meanCurve(curves, weights));
    }
  });

  test("KM-calibration as in SurvivalEVAL", () => {
    const result = present(kmCalibration(present(meanCurve(curves)), kaplanMeierBinned(binned)));
    expectRelative(result.squared, peers[name].kmSquared, TOLERANCE, "KM-calibration");
  });
});

describe("worked by hand", () => {
  const mean = [1, 0.9, 0.5, 0.3];
  const km = [1, 0.8, 0.6, 0.3];

  test("ECE puts a value on an edge into the bin below it, and 0 into bin 1", () => {
    const result = present(expectedCalibrationError(mean, km));
    expect(result.bins.map((bin) => bin.m)).toEqual([3, 5, 9, 10]);
    expect(result.ece).toBeCloseTo(0.2 / 4, 15);
    const atZero = present(expectedCalibrationError([1, 0], [1, 0.25]));
    expect(atZero.bins.map((bin) => bin.m)).toEqual([1, 10]);
    expect(atZero.ece).toBe(0.125);
    // Every edge k/10, as floating point has it.
    for (let k = 1; k <= 10; k++) {
      expect(present(expectedCalibrationError([1, k / 10], [1, 0])).bins[0].m).toBe(k);
    }
  });

  test("signs cancel inside an ECE bin, not in the mean absolute gap", () => {
    const result = present(expectedCalibrationError(mean, km, { M: 1 }));
    expect(result.ece).toBeCloseTo(0, 15);
    expect(result.meanAbsoluteGap).toBeCloseTo(0.05, 15);
    expect(result.bins).toHaveLength(1);
  });

  test("supported bins restrict and renormalise", () => {
    expect(present(expectedCalibrationError(mean, km, { bins: 1 })).ece).toBeCloseTo(0.1 / 2, 15);
    expect(distanceL2(mean, km)).toBeCloseTo(0.02 / 3, 15);
    expect(distanceL2(mean, km, { bins: 1 })).toBeCloseTo(0.01, 15);
    const variance = [0, 0.04, 0.0001, Number.NaN];
    expect(present(distanceVariance(mean, km, variance))).toEqual({ value: expect.closeTo(10, 12), t: 2 });
    expect(present(distanceVariance(mean, km, variance, { bins: 1 }))).toEqual({
      value: expect.closeTo(0.5, 12),
      t: 1,
    });
  });

  test("the variance of the model's own hazards", () => {
    // h = 1/5, 1/4: V(1) = .64 · .2/(10·.8), V(2) = .36 (.025 + .25/(5·.75)), then a curve that drops to 0.
    const variance = modelVariance([1, 0.8, 0.6, 0, 0], [10, 10, 5, 5, 5]);
    expect(variance[0]).toBe(0);
    expect(variance[1]).toBeCloseTo(0.016, 15);
    expect(variance[2]).toBeCloseTo(0.033, 15);
    expect(variance[3]).toBeNaN();
    expect(variance[4]).toBeNaN();
    // A hazard nobody is at risk of is undefined from there on; no hazard needs nobody at risk.
    const empty = modelVariance([1, 0.5, 0.5, 0.25], [4, 4, 0, 0]);
    expect(empty[2]).toBeCloseTo(0.25 * (0.5 / (4 * 0.5)), 15);
    expect(empty[3]).toBeNaN();
  });

  test("the model's variance is Greenwood's where the mean curve is Kaplan-Meier", () => {
    const { binned } = createTiedTable(3, 200, 12);
    const greenwood = kaplanMeierBinned(binned);
    const own = modelVariance(greenwood.survival, greenwood.atRisk);
    for (let t = 1; t <= 12; t++) {
      if (greenwood.survival[t] > 0) expectRelative(own[t], greenwood.variance[t], 1e-12, `t=${t}`);
    }
  });

  test("total score", () => {
    expect(totalScore(0.6, 0.25)).toBeCloseTo((2 * 0.6 * 0.75) / 1.35, 15);
    expect(totalScore(0, 1)).toBe(0);
    expect(totalScore(absent("no pairs"), 0.1)).toEqual(absent("no pairs"));
    expect(totalScore(0.5, absent("no rows"))).toEqual(absent("no rows"));
  });

  test("KM-calibration looks at 0 and at event bins only", () => {
    // Events in bins 1 and 3: gaps 0, .2, (ignored), .1; trapezoids (0+.04)/2·1 + (.04+.01)/2·2, divided by 3.
    const result = present(
      kmCalibration([1, 0.7, 0.1, 0.5, 0.2], { survival: [1, 0.9, 0.9, 0.6, 0.6], events: [0, 1, 0, 1, 0] }),
    );
    expect(result.squared).toBeCloseTo((0.02 + 0.05) / 3, 15);
    expect(result.absolute).toBeCloseTo((0.1 + 0.3) / 3, 15);
  });
});

describe("ordinary data that has no answer", () => {
  test("nobody, no support, no variance, no events", () => {
    const nobody = { N: 0, T: 2, survival: new Float64Array(0) };
    expect(meanCurve(nobody)).toEqual(absent("no rows to average"));
    const one = { N: 1, T: 2, survival: Float64Array.of(0.9, 0.8) };
    expect(meanCurve(one, [0])).toEqual(absent("no rows to average"));
    expect(meanCurve(one, undefined, [])).toEqual(absent("no rows to average"));
    expect(present(meanCurve(one))).toEqual(Float64Array.of(1, 0.9, 0.8));
    expect(expectedCalibrationError([1, 0.9], [1, 1], { bins: 0 })).toEqual(absent("no bin with follow-up"));
    expect(distanceL2([1, 0.9], [1, 1], { bins: 0 })).toEqual(absent("no bin with follow-up"));
    const allCensored = kaplanMeierBinned({ T: 2, bin: Int32Array.of(1, 2), event: Uint8Array.of(0, 0) });
    expect(distanceVariance([1, 0.9, 0.8], allCensored.survival, allCensored.variance)).toEqual(
      absent("no bin with a defined, positive variance"),
    );
    expect(kmCalibration([1, 0.9, 0.8], allCensored)).toEqual(absent("no events"));
  });

  test("single precision curves are read as they are", () => {
    const single = { N: 2, T: 1, survival: Float32Array.of(0.5, 0.25) };
    expect(present(meanCurve(single))[1]).toBe(0.375);
  });
});

test("weight w is the row w times", () => {
  const table = createTiedTable(5, 40, 6);
  const weights = Array.from({ length: 40 }, (_, i) => i % 4);
  const repeated = repeatRows(table, weights);
  const fast = present(meanCurve(table.curves, weights));
  expectRelativeAll(fast, Array.from(present(meanCurve(repeated.curves))), 1e-13, "mean");
});

test("a mean on the edge of a probability bin belongs below it, however it was summed", () => {
  const cases = [
    [0, 1],
    [0.1, 1],
    [0.3, 3],
    [0.1 + 0.2, 3],
    [0.3 + 1e-9, 4],
    [1, 10],
  ];
  for (const [S, m] of cases) expect(probabilityBin(S, 10)).toBe(m);
});
