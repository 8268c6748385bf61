// Observed against expected events by time block: by hand, against the individual logrank, and its level on few events.
import { describe, expect, test } from "vitest";
import { normalQuantile } from "../../src/core/distributions.ts";
import { isAbsent } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import { binomialRange } from "../../src/stats/comparison.ts";
import {
  describeExcess,
  deviance,
  measureExcess,
  sumTotals,
  tallyBlocks,
  testExcess,
} from "../../src/stats/excess-events.ts";
import { logrankIndividual } from "../../src/stats/logrank.ts";
import { drawCohort, randomCohort } from "./simulated-cohort.ts";

const BLOCKS = [
  { first: 1, last: 3 },
  { first: 4, last: 12 },
];

describe("deviance", () => {
  test("by hand", () => {
    expect(deviance(10, 5, 5)).toBeCloseTo(2 * (10 * Math.log(2) - 5), 14);
    expect(deviance(10, 5, 2.5)).toBeCloseTo(4 * (10 * Math.log(2) - 5), 14);
    expect(deviance(0, 3, 3)).toBe(6);
    expect(deviance(7, 7, 7)).toBe(0);
  });

  test("nothing expected: none observed is no departure, one is a large finite one", () => {
    expect(deviance(0, 0, 0)).toBeLessThan(1e-6);
    expect(deviance(1, 0, 0)).toBeGreaterThan(30);
    expect(Number.isFinite(deviance(1, 0, 0))).toBe(true);
  });
});

describe("testExcess", () => {
  const { curves, binned } = randomCohort(300, 12, 4);
  const totals = tallyBlocks(curves, binned, BLOCKS);
  const rows = Int32Array.from({ length: 100 }, (_, i) => 3 * i);

  test("its blocks add up to the individual logrank", () => {
    const sums = sumTotals(totals, rows);
    const logrank = logrankIndividual(curves, binned, rows);
    if (isAbsent(logrank)) throw new Error(logrank.absent);
    expect(sums[0] + sums[1]).toBe(logrank.observed);
    expect(sums[2] + sums[3]).toBeCloseTo(logrank.expected, 10);
    expect(sums[4] + sums[5]).toBeCloseTo(logrank.variance, 10);
    expect(sums[6]).toBe(100);
  });

  test("the limits of the ratio are where the deviance is the χ² quantile", () => {
    const { observed, expected, ratio, lower, upper } = testExcess(totals, BLOCKS, rows);
    const sums = sumTotals(totals, rows);
    const variance = sums[4] + sums[5];
    expect(ratio).toBe(observed / expected);
    for (const limit of [lower, upper]) {
      const found = deviance(observed, Number(limit) * expected, Number(limit) * variance);
      expect(found).toBeCloseTo(normalQuantile(0.975) ** 2, 8);
    }
    expect(Number(lower)).toBeLessThan(Number(ratio));
    expect(Number(upper)).toBeGreaterThan(Number(ratio));
  });

  test("no rows: nothing departs", () => {
    expect(testExcess(totals, BLOCKS, [])).toMatchObject({ n: 0, observed: 0, ratio: null, lower: null });
    expect(testExcess(totals, BLOCKS, []).p).toBe(1);
  });

  test("keeps its level on some six events a group", () => {
    const T = 12;
    const random = createRandom(11);
    const RUNS = 1500;
    const blocks = [1, 4, 7, 10].map((first) => ({ first, last: first + 2 }));
    let rejected = 0;
    for (let run = 0; run < RUNS; run++) {
      const cohort = drawCohort(18, T, random, (S) => S);
      const all = Array.from({ length: 18 }, (_, i) => i);
      const sums = sumTotals(tallyBlocks(cohort.curves, cohort.binned, blocks), all);
      if (measureExcess(sums, blocks.length).logP <= Math.log(0.05)) rejected++;
    }
    expect(rejected).toBeLessThanOrEqual(binomialRange(RUNS, 0.05, 0.99).high);
    expect(rejected).toBeGreaterThan(0.02 * RUNS);
  });
});

describe("describeExcess", () => {
  const words = (blocks: readonly (readonly [number, number])[]) => {
    const observed = blocks.reduce((sum, [O]) => sum + O, 0);
    const expected = blocks.reduce((sum, [, E]) => sum + E, 0);
    return describeExcess({
      n: 100,
      observed,
      expected,
      level: deviance(observed, expected, expected),
      shape: 0,
      logP: 0,
      p: 1,
      ratio: observed / expected,
      lower: null,
      upper: null,
      blocks: blocks.map(([O, E], b) => ({ first: b + 1, last: b + 1, observed: O, expected: E })),
    });
  };

  test.each([
    [
      [
        [20, 10],
        [20, 10],
        [20, 10],
        [20, 10],
      ],
      "too few events predicted",
    ],
    [
      [
        [10, 10],
        [10, 10],
        [15, 10],
        [25, 10],
      ],
      "too few events predicted, mostly late",
    ],
    [
      [
        [1, 10],
        [4, 10],
        [10, 10],
        [11, 10],
      ],
      "too many events predicted, mostly early",
    ],
    [
      [
        [2, 10],
        [6, 10],
        [14, 10],
        [18, 10],
      ],
      "too many events predicted early, too few late",
    ],
    [
      [
        [20, 10],
        [2, 10],
        [10, 10],
        [10, 10],
      ],
      "right in total, wrong over time",
    ],
  ] as const)("%j: %s", (blocks, says) => {
    expect(words(blocks)).toBe(says);
  });
});
