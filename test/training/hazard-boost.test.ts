// Repair on the hazard scale: fractions by hand, one group's estimate against integration, and properties of any
// repair.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import {
  applyHazardBoost,
  fitHazardBoost,
  type HazardBoost,
  scaleHazardBoost,
} from "../../src/repair/hazard-boost.ts";
import { estimateRatios, preparePriors } from "../../src/repair/hazard-ratios.ts";
import { randomCohort } from "../stats/simulated-cohort.ts";

const EVEN = 0.5;

describe("one group's ratios", () => {
  test("as many events as exposure: ratios of 1, and less likely wrong than before", () => {
    const { logRatios, probability, z } = estimateRatios(
      { observed: [10, 20, 5], exposure: [10, 20, 5] },
      preparePriors(3),
      EVEN,
    );
    expect(Array.from(logRatios)).toEqual([0, 0, 0]);
    expect(z).toBe(0);
    expect(probability).toBeLessThan(EVEN);
  });

  test("events without end: log 2 in the first block, −log 2 in the second, and certainty", () => {
    const found = estimateRatios({ observed: [2e6, 1e6], exposure: [1e6, 2e6] }, preparePriors(2), EVEN);
    expect(found.logRatios[0]).toBeCloseTo(Math.LN2, 4);
    expect(found.logRatios[1]).toBeCloseTo(-Math.LN2, 4);
    expect(found.probability).toBeCloseTo(1, 12);
    // 2 [2e6 log 2 − 1e6 + 1e6 (1 − log 2)] = 2e6 log 2
    expect(found.z / Math.sqrt(2e6 * Math.LN2)).toBeCloseTo(1, 4);
  });

  test.each([
    { O: 30, W: 15 },
    { O: 12, W: 20 },
    { O: 0, W: 4 },
    { O: 6, W: 5 },
  ])("one block, $O events on $W: mode equation and evidence against integration", ({ O, W }) => {
    const levels = [0.1, 0.2, 0.4, 0.8];
    const variances = levels.flatMap((level) => [0.02, 0.2, 0.4].map((shape) => level ** 2 + shape ** 2));
    // ∫ exp(O a − W (e^a − 1)) N(a; 0, v) da on a fine grid, and the mode by bisection
    const integrals = variances.map((v) => {
      let sum = 0;
      const step = 1e-3;
      for (let a = -6; a <= 6; a += step) {
        const likelihood = Math.exp(O * a - W * Math.expm1(a));
        sum += (step * likelihood * Math.exp((-a * a) / (2 * v))) / Math.sqrt(2 * Math.PI * v);
      }
      return sum;
    });
    const modes = variances.map((v) => {
      let [low, high] = [-6, 6];
      for (let k = 0; k < 60; k++) {
        const a = (low + high) / 2;
        if (O - W * Math.exp(a) - a / v > 0) low = a;
        else high = a;
      }
      return low;
    });
    const total = integrals.reduce((sum, value) => sum + value, 0);
    const mean = modes.reduce((sum, a, k) => sum + (integrals[k] / total) * a, 0);
    const odds = total / variances.length;
    const found = estimateRatios({ observed: [O], exposure: [W] }, preparePriors(1), EVEN);
    // Laplace's approximation is good to a percent of the odds here.
    expect(Math.abs(found.probability - odds / (1 + odds))).toBeLessThan(0.005);
    expect(Math.abs(found.logRatios[0] - mean)).toBeLessThan(0.005);
  });

  test("events on no exposure do not send it anywhere", () => {
    const found = estimateRatios({ observed: [40, 40], exposure: [0, 0] }, preparePriors(2), EVEN);
    expect(Array.from(found.logRatios)).toEqual([3, 3]);
  });
});

// Four people followed to bin 2; A has the event in bin 1. S = 1/2 after both bins.
const FOUR = {
  curves: { N: 4, T: 2, survival: new Float64Array(8).fill(0.5) },
  outcomes: { T: 2, bin: Int32Array.of(1, 2, 2, 2), event: Uint8Array.of(1, 0, 0, 0) },
  groups: [{ name: "all", rows: [0, 1, 2, 3] }],
};

function boostOf(blocks: HazardBoost["blocks"], updates: HazardBoost["updates"], G: number): HazardBoost {
  const groups = Array.from({ length: G }, (_, g) => ({
    name: `g${g}`,
    events: 0,
    expected: 0,
    probability: 1,
    z: 1,
  }));
  const options = { timeBuckets: blocks.length, doubt: 0 };
  return { kind: "hazards", T: 2, options, share: 1, blocks, groups, updates, skipped: [] };
}

describe("a repair by hand", () => {
  test("exposure: half of the event's bin, the whole of others'", () => {
    const { groups, blocks } = fitHazardBoost(FOUR);
    expect(blocks).toEqual([{ first: 1, last: 2 }]);
    expect(groups[0].events).toBe(1);
    expect(groups[0].expected).toBeCloseTo(3.5 * Math.LN2, 14);
  });

  test("hazards twice as high square the curve; of two groups both ratios count", () => {
    const curves = { N: 3, T: 2, survival: Float64Array.of(1 / 2, 1 / 4, 1 / 2, 1 / 4, 1 / 2, 1 / 4) };
    const rows = [
      { name: "g0", rows: [0, 1] },
      { name: "g1", rows: [1] },
    ];
    const blocks = [
      { first: 1, last: 1 },
      { first: 2, last: 2 },
    ];
    const updates = [
      { group: 0, logRatios: [Math.LN2, 0] },
      { group: 1, logRatios: [Math.LN2, -Math.LN2] },
    ];
    const { survival } = applyHazardBoost(boostOf(blocks, updates, 2), curves, rows);
    const expected = [1 / 4, 1 / 8, 1 / 16, (1 / 16) * Math.SQRT1_2, 1 / 2, 1 / 4];
    expected.forEach((S, k) => {
      expect(survival[k]).toBeCloseTo(S, 14);
    });
    // A curve that has reached 0 stays there, one at 1 too.
    const ends = { N: 1, T: 2, survival: Float64Array.of(1, 0) };
    expect(
      Array.from(
        applyHazardBoost(
          boostOf(blocks, updates, 2),
          ends,
          rows.map((g) => ({ ...g, rows: [0] })),
        ).survival,
      ),
    ).toEqual([1, 0]);
  });

  test("half of a repair has half of every log ratio; none of it leaves nothing to do", () => {
    const whole = fitHazardBoost(FOUR);
    const half = scaleHazardBoost(whole, 0.5);
    expect(half.share).toBe(0.5);
    expect(half.updates[0].logRatios).toEqual(whole.updates[0].logRatios.map((a) => a / 2));
    const none = scaleHazardBoost(whole, 0);
    expect(none.updates).toEqual([]);
    expect(applyHazardBoost(none, FOUR.curves).survival).toEqual(FOUR.curves.survival);
  });

  test("doubt draws towards 1 by 1 − 1/√(1 + z²)", () => {
    const sure = fitHazardBoost(FOUR, { doubt: 0 });
    const { updates, groups } = fitHazardBoost(FOUR);
    const factor = 1 - 1 / Math.hypot(1, groups[0].z);
    expect(updates[0].logRatios[0]).toBeCloseTo(factor * sure.updates[0].logRatios[0], 14);
  });

  test("groups without rows are named and left alone; what cannot be meant is refused", () => {
    const groups = [...FOUR.groups, { name: "nobody", rows: [] }];
    const boost = fitHazardBoost({ ...FOUR, groups });
    expect(boost.skipped).toEqual([{ name: "nobody", reason: "no rows" }]);
    expect(boost.updates.map(({ group }) => group)).toEqual([0]);
    expect(() => fitHazardBoost({ ...FOUR, groups: [] })).toThrow("no groups to audit");
    expect(() => fitHazardBoost(FOUR, { timeBuckets: 0 })).toThrow("timeBuckets cannot be 0");
    expect(() => fitHazardBoost(FOUR, { doubt: -1 })).toThrow("doubt cannot be -1");
    expect(() => applyHazardBoost(boost, FOUR.curves)).toThrow('missing group: "all" (have none)');
    expect(() => applyHazardBoost(boost, { N: 1, T: 3, survival: new Float64Array(3) })).toThrow(
      "2 and 3 bins",
    );
  });
});

test("any repair: curves stay decreasing in [0, 1], rows of no group keep theirs, JSON gives the same bits", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1e6 }),
      fc.integer({ min: 2, max: 12 }),
      fc.integer({ min: 1, max: 6 }),
      (seed, T, timeBuckets) => {
        const { curves, binned } = randomCohort(60, T, seed);
        const random = createRandom(seed, 9);
        const groups = [0.2, 0.4, 0.6].map((share, g) => ({
          name: `g${g}`,
          rows: Array.from({ length: 60 }, (_, i) => i).filter(() => random.uniform() < share),
        }));
        const boost = fitHazardBoost({ curves, outcomes: binned, groups }, { timeBuckets, doubt: 0 });
        const { survival } = applyHazardBoost(boost, curves, groups);
        let decreasing = true;
        for (let k = 0; k < survival.length; k++) {
          const before = k % T === 0 ? 1 : survival[k - 1];
          decreasing &&= survival[k] >= 0 && survival[k] <= before;
        }
        expect(decreasing).toBe(true);
        const grouped = new Set(groups.flatMap(({ rows }) => rows));
        for (let i = 0; i < 60; i++) {
          if (grouped.has(i)) continue;
          const own = [i * T, (i + 1) * T] as const;
          expect(survival.slice(...own)).toEqual(Float64Array.from(curves.survival).slice(...own));
        }
        const stored = JSON.parse(JSON.stringify(boost)) as HazardBoost;
        expect(stored).toEqual(boost);
        expect(applyHazardBoost(stored, curves, groups).survival).toEqual(survival);
      },
    ),
    { seed: 14, numRuns: 30 },
  );
});
