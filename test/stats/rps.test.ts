import { describe, expect, test } from "vitest";
import { absent } from "../../src/core/measured.ts";
import { rankedProbabilityScore } from "../../src/stats/scores/rps.ts";
import { expectRelative, loadPredictions, PREDICTION_NAMES, present } from "./prediction-oracles.ts";
import { createTiedTable, repeatRows } from "./slow-twins-calibration.ts";

const TOLERANCE = 1e-10;

describe.each(PREDICTION_NAMES)("%s", async (name) => {
  const { curves, binned, groups } = await loadPredictions(name);

  test.each(groups)("$name: both censoring rules as in R", ({ scores, weights }) => {
    for (const [censored, suffix] of [
      ["t<=c", "le"],
      ["t<c", "lt"],
    ] as const) {
      const result = present(
        rankedProbabilityScore(curves, binned, { censored, ...(weights === undefined ? {} : { weights }) }),
      );
      expectRelative(result.sum, scores.RPS[`sum_cens_t_${suffix}_c`], TOLERANCE, "sum");
      expectRelative(result.meanPerRow, scores.RPS[`mean_per_row_${suffix}`], TOLERANCE, "per row");
      expectRelative(
        result.meanPerRowAndBin,
        scores.RPS[`mean_per_row_and_t_${suffix}`],
        TOLERANCE,
        "per row and bin",
      );
    }
  });
});

test("worked by hand: an event in bin 2 and a censoring in bin 2 of 3", () => {
  const curves = { N: 2, T: 3, survival: Float64Array.of(0.75, 0.5, 0.25, 0.75, 0.5, 0.25) };
  const binned = { T: 3, bin: Int32Array.of(2, 2), event: Uint8Array.of(1, 0) };
  // Event: (1/4)² + (1/2)² + (1/4)² = 3/8; censored: (1/4)² + (1/2)² = 5/16, or (1/4)² = 1/16 without its own bin.
  expect(present(rankedProbabilityScore(curves, binned)).sum).toBe(3 / 8 + 5 / 16);
  expect(present(rankedProbabilityScore(curves, binned, { censored: "t<c" }))).toEqual({
    sum: 3 / 8 + 1 / 16,
    meanPerRow: 7 / 32,
    meanPerRowAndBin: 7 / 96,
  });
});

test("weight w is the row w times", () => {
  const table = createTiedTable(11, 50, 7);
  const weights = Array.from({ length: 50 }, (_, i) => (i * 5) % 4);
  const repeated = repeatRows(table, weights);
  const fast = present(rankedProbabilityScore(table.curves, table.binned, { weights }));
  const slow = present(rankedProbabilityScore(repeated.curves, repeated.binned));
  expectRelative(fast.sum, slow.sum, 1e-13, "sum");
  expectRelative(fast.meanPerRow, slow.meanPerRow, 1e-13, "mean");
});

test("no rows", () => {
  const curves = { N: 1, T: 1, survival: Float64Array.of(0.5) };
  const binned = { T: 1, bin: Int32Array.of(1), event: Uint8Array.of(1) };
  expect(rankedProbabilityScore(curves, binned, { weights: [0] })).toEqual(absent("no rows"));
});

test("curves and outcomes of different sizes, or off the grid, are refused", () => {
  const curves = { N: 1, T: 2, survival: Float64Array.of(0.5, 0.4) };
  const event = Uint8Array.of(1);
  expect(() => rankedProbabilityScore(curves, { T: 3, bin: Int32Array.of(1), event })).toThrow(
    "curves and outcomes are on different grids: 2 and 3 bins",
  );
  expect(() => rankedProbabilityScore(curves, { T: 2, bin: Int32Array.of(3), event })).toThrow(
    "bin outside 1…2: 3",
  );
  const two = { T: 2, bin: Int32Array.of(1, 1), event: Uint8Array.of(1, 0) };
  expect(() => rankedProbabilityScore(curves, two)).toThrow("bin: 2 values for 1 rows");
  expect(() => rankedProbabilityScore(curves, { ...two, event })).toThrow("event: 1 values for 2 rows");
});
