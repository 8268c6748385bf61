import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import {
  backThroughSurvival,
  createCurveWorkspace,
  fillCurves,
  groupMeans,
  logSurvival,
  sigmoid,
  softplus,
  survivalCurves,
} from "../../src/objectives/curves.ts";
import { meanCurve } from "../../src/stats/calibration/calibration.ts";
import { centralDifferences, createCohort, DIFFERENCE_TOLERANCE, expectEntries } from "./gradient-checks.ts";

test("softplus and sigmoid at both ends", () => {
  expect(softplus(0)).toBe(Math.LN2);
  expect(softplus(800)).toBe(800);
  expect(softplus(-40)).toBe(Math.exp(-40));
  expect(softplus(-800)).toBe(0);
  expect(sigmoid(0)).toBe(0.5);
  expect(sigmoid(-40)).toBe(Math.exp(-40) / (1 + Math.exp(-40)));
  expect(sigmoid(800)).toBe(1);
  expect(sigmoid(-800)).toBe(0);
});

test("worked by hand: hazards 1/2, 1/4, 3/4", () => {
  const logits = Float64Array.of(0, -Math.log(3), Math.log(3));
  const curves = createCurveWorkspace(1, 3);
  fillCurves(logits, 1, 3, curves);
  expectEntries(curves.hazard, [1 / 2, 1 / 4, 3 / 4], 1e-15);
  expectEntries(curves.survival, [1 / 2, 3 / 8, 3 / 32], 1e-15);
  const out = new Float64Array(3);
  logSurvival(logits, 1, 3, out);
  expectEntries(out, [Math.log(1 / 2), Math.log(3 / 8), Math.log(3 / 32)], 1e-15);
});

describe("log S is the sum of −softplus", () => {
  test("on random logits, and S its exponential", () => {
    const { N, T, logits } = createCohort(40, 13, 1);
    const log = new Float64Array(N * T);
    const survival = new Float64Array(N * T);
    const curves = createCurveWorkspace(N, T);
    logSurvival(logits, N, T, log);
    survivalCurves(logits, N, T, survival);
    fillCurves(logits, N, T, curves);
    for (let i = 0; i < N; i++) {
      let sum = 0;
      for (let t = 0; t < T; t++) {
        sum -= softplus(logits[i * T + t]);
        expectEntries([log[i * T + t]], [sum], 1e-14, "log S");
        expectEntries([survival[i * T + t]], [Math.exp(sum)], 1e-13, "S");
        expect(curves.survival[i * T + t]).toBe(survival[i * T + t]);
      }
    }
  });

  test("keeps its digits where S is 1 to the last bit, and where it is not a number any more", () => {
    const log = new Float64Array(3);
    logSurvival(Float64Array.of(-60, -60, -60), 1, 3, log);
    for (let t = 1; t <= 3; t++) expectEntries([log[t - 1]], [-t * Math.exp(-60)], 1e-15, "near 1");
    logSurvival(Float64Array.of(500, 500, 500), 1, 3, log);
    expect(Array.from(log)).toEqual([-500, -1000, -1500]);
    const survival = new Float64Array(3);
    survivalCurves(Float64Array.of(500, 500, 500), 1, 3, survival);
    expectEntries([survival[0]], [Math.exp(-500)], 1e-13, "S");
    expect(survival[2]).toBe(0);
  });

  test("more bins than the largest float has doublings", () => {
    const T = 2500;
    const log = new Float64Array(T);
    logSurvival(new Float64Array(T), 1, T, log);
    for (const t of [1, 900, 1100, T]) expectEntries([log[t - 1]], [-t * Math.LN2], 1e-13, `bin ${t}`);
  });
});

test("float32 logits are read as they are and computed in float64", () => {
  const { N, T, logits } = createCohort(10, 6, 2);
  const single = Float32Array.from(logits);
  const fromSingle = new Float64Array(N * T);
  const fromDouble = new Float64Array(N * T);
  survivalCurves(single, N, T, fromSingle);
  survivalCurves(Float64Array.from(single), N, T, fromDouble);
  expect(fromSingle).toEqual(fromDouble);
});

test("mean curves of groups are those of the audit, with and without weights", () => {
  const { N, T, logits, groups } = createCohort(30, 7, 3);
  const survival = new Float64Array(N * T);
  survivalCurves(logits, N, T, survival);
  const rows = groups.map((group) => group.rows);
  const weights = Float64Array.from({ length: N }, (_, row) => row % 3);
  for (const each of [undefined, weights]) {
    const means = groupMeans(survival, T, rows, each);
    rows.forEach((members, g) => {
      const mean = meanCurve({ N, T, survival }, each, members) as Float64Array;
      expectEntries(means.subarray(g * T, (g + 1) * T), mean.subarray(1), 1e-15, `group ${g}`);
    });
  }
  expect(Array.from(groupMeans(survival, T, [new Int32Array(0)]))).toEqual(new Array(T).fill(0));
});

test("back through the curves: central differences of Σ a·S", () => {
  const { N, T, logits } = createCohort(9, 6, 4);
  const weights = Float64Array.from({ length: N * T }, (_, k) => Math.sin(3 * k));
  const value = (z: Float64Array) => {
    const survival = new Float64Array(N * T);
    survivalCurves(z, N, T, survival);
    return survival.reduce((sum, S, k) => sum + weights[k] * S, 0);
  };
  const survival = new Float64Array(N * T);
  survivalCurves(logits, N, T, survival);
  const dLogits = new Float64Array(N * T).fill(1);
  backThroughSurvival(logits, survival, weights, N, T, dLogits, 3);
  const gradient = dLogits.map((d) => (d - 1) / 3);
  expectEntries(gradient, centralDifferences(logits, value), DIFFERENCE_TOLERANCE, "dLogits");
});

test("arrays too short are refused, longer ones are workspaces", () => {
  expect(() => survivalCurves(new Float64Array(5), 2, 3, new Float64Array(6))).toThrow(InputError);
  expect(() => survivalCurves(new Float64Array(6), 2, 3, new Float64Array(5))).toThrow(
    "survival: 5 values for 2 rows of 3 bins",
  );
  survivalCurves(new Float64Array(9), 2, 3, new Float64Array(9));
});
