import { describe, expect, test } from "vitest";
import { chiSquareUpperTail } from "../../src/core/distributions.ts";
import { absent } from "../../src/core/measured.ts";
import { oneCalibration } from "../../src/stats/calibration/d-calibration.ts";
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

interface PeerOne {
  readonly t: number;
  readonly groups: number;
  readonly chi2: number;
  readonly observed: number[];
  readonly expected: number[];
}

describe.each(PREDICTION_NAMES)("%s", async (name) => {
  const { curves, binned } = await loadPredictions(name);
  const peers = readOracleJson<Record<string, { one: PeerOne[] }>>("peers/calibration.json")[name].one;

  test.each(peers)(
    "bin $t, $groups groups: as SurvivalEVAL's D'Agostino-Nam form",
    ({ t, groups, ...peer }) => {
      const result = present(oneCalibration(curves, binned, { t, groups }));
      expectRelative(result.chi2, peer.chi2, TOLERANCE, "chi2");
      // Observed risks are 1 − S on both sides: their rounding is that of 1, not of the risk.
      result.groups.forEach((group, k) => {
        expect(Math.abs(group.observed - peer.observed[k])).toBeLessThanOrEqual(1e-14);
      });
      expectRelativeAll(
        result.groups.map((group) => group.expected),
        peer.expected,
        TOLERANCE,
        "expected",
      );
      expect(result.df).toBe(groups === 18 ? 16 : groups - 1);
      expectRelative(result.p, chiSquareUpperTail(peer.chi2, result.df), TOLERANCE, "p");
      expect(result.groups.reduce((sum, group) => sum + group.n, 0)).toBe(500);
    },
  );
});

test("worked by hand: five rows in two groups, the larger first", () => {
  // Risks at bin 1: .75 .75 .5 | .25 .25; of the first three, two have the event in bin 1, of the others none.
  const curves = { N: 5, T: 1, survival: Float64Array.of(0.75, 0.25, 0.5, 0.75, 0.25) };
  const binned = { T: 1, bin: Int32Array.of(1, 1, 1, 1, 1), event: Uint8Array.of(0, 1, 0, 0, 1) };
  const result = present(oneCalibration(curves, binned, { t: 1, groups: 2 }));
  expect(result.groups).toEqual([
    { n: 3, observed: expect.closeTo(2 / 3, 15), expected: expect.closeTo(2 / 3, 15) },
    { n: 2, observed: 0, expected: 0.25 },
  ]);
  // 3·0/… + 2·(1/4)²/(3/16) = 2/3.
  expect(result.chi2).toBeCloseTo(2 / 3, 14);
  expect(result.df).toBe(1);
});

test("Kaplan-Meier, not the share of events, is the observed risk", () => {
  // Two groups alike: a censoring in bin 1, then one event among the two that reach bin 2.
  const curves = {
    N: 6,
    T: 2,
    survival: Float64Array.from({ length: 12 }, (_, k) => (k % 2 === 0 ? 0.75 : 0.5)),
  };
  const binned = { T: 2, bin: Int32Array.of(1, 2, 2, 1, 2, 2), event: Uint8Array.of(0, 1, 0, 0, 1, 0) };
  const result = present(oneCalibration(curves, binned, { t: 2, groups: 2 }));
  expect(result.groups.map((group) => group.observed)).toEqual([0.5, 0.5]);
  expect(result.chi2).toBe(0);
  expect(result.p).toBe(1);
});

test("Kaplan-Meier is carried flat in a group whose follow-up ends before t", () => {
  const curves = { N: 4, T: 3, survival: Float64Array.from({ length: 12 }, (_, k) => 0.75 - 0.25 * (k % 3)) };
  const binned = { T: 3, bin: Int32Array.of(1, 1, 3, 3), event: Uint8Array.of(1, 0, 1, 0) };
  const result = present(oneCalibration(curves, binned, { t: 3, groups: 2 }));
  expect(result.groups.map((group) => group.observed)).toEqual([0.5, 0.5]);
});

test("weight w is the row w times, also where a row is divided between groups", () => {
  const table = createTiedTable(21, 45, 5);
  for (const groups of [2, 5, 10]) {
    const weights = Array.from({ length: 45 }, (_, i) => (i * 3) % 5);
    const repeated = repeatRows(table, weights);
    const fast = present(oneCalibration(table.curves, table.binned, { t: 2, groups, weights }));
    const slow = present(oneCalibration(repeated.curves, repeated.binned, { t: 2, groups }));
    expect(fast.groups.map((group) => group.n)).toEqual(slow.groups.map((group) => group.n));
    expectRelative(fast.chi2, slow.chi2, 1e-11, `${groups} groups`);
  }
});

test("what has no answer is absent", () => {
  const binned = { T: 1, bin: Int32Array.of(1, 1), event: Uint8Array.of(1, 0) };
  const certain = { N: 2, T: 1, survival: Float64Array.of(0.5, 1) };
  expect(oneCalibration(certain, binned, { t: 1 })).toEqual(
    absent("mean predicted risk of risk group 2 is 0: its variance is 0"),
  );
  const curves = { N: 2, T: 1, survival: Float64Array.of(0.5, 0.4) };
  expect(oneCalibration(curves, binned, { t: 2 })).toEqual(absent("bin 2 is outside the grid 1…1"));
  expect(oneCalibration(curves, binned, { t: 1, weights: [0, 0] })).toEqual(absent("no rows"));
  expect(oneCalibration(curves, binned, { t: 1, weights: [1, 0] })).toEqual(
    absent("fewer than two risk groups with rows"),
  );
  // Fewer rows than groups: the empty groups are left out.
  expect(present(oneCalibration(curves, binned, { t: 1 })).groups).toHaveLength(2);
});
