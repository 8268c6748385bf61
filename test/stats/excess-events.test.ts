// Observed against expected events by time block: by hand, against the individual logrank, and its level on few events.
import { describe, expect, test } from "vitest";
import { normalQuantile, normalUpperTail } from "../../src/core/distributions.ts";
import { isAbsent } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import { binomialRange } from "../../src/stats/comparison.ts";
import { logrankIndividual } from "../../src/stats/individual-logrank.ts";
import {
  describeExcess,
  deviance,
  estimateDirection,
  measureExcess,
  sumTotals,
  tallyBlocks,
  testExcess,
  testReplication,
} from "../../src/stats/search/excess-events.ts";
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

/** O, E and V = E/scale of each block, in the layout of BlockTotals. */
const toSums = (O: readonly number[], E: readonly number[], scale = 1) => [
  ...O,
  ...E,
  ...E.map((e) => e / scale),
  1,
];

describe("the trend", () => {
  test("ratios on a line are fitted whole: its deviance is that of the shape", () => {
    const E = [8, 5, 4, 2];
    const O = E.map((e, b) => e * Math.exp(0.3 - 0.4 * b));
    const { trend, shape, level } = measureExcess(toSums(O, E), 4);
    expect(trend).toBeCloseTo(shape, 10);
    expect(level).toBeLessThan(trend);
    expect(measureExcess(toSums(O, E, 1.25), 4).trend).toBeCloseTo(1.25 * trend, 10);
  });

  test("one ratio for all blocks: that of the level; a bend without slope adds nothing", () => {
    const same = measureExcess(toSums([6, 6, 6, 6], [3, 3, 3, 3]), 4);
    expect(same.trend).toBeCloseTo(same.level, 10);
    const bent = measureExcess(toSums([6, 2, 2, 6], [4, 4, 4, 4]), 4);
    expect(bent.trend).toBeCloseTo(0, 10);
    expect(bent.shape).toBeGreaterThan(4);
  });

  test("by glm(c(2,7,10,10) ~ 0:3 + offset(log(c(9,8,7,5))), poisson) of R", () => {
    // deviance of the fitted against the ratios all 1: 2·(logLik(fit) − Σ dpois(O, E, log = TRUE)).
    expect(measureExcess(toSums([2, 7, 10, 10], [9, 8, 7, 5]), 4).trend).toBeCloseTo(11.713249182086, 8);
  });

  test("all events in the last block, none at all, none expected: finite", () => {
    for (const [O, E] of [
      [
        [0, 0, 0, 7],
        [2, 2, 2, 2],
      ],
      [
        [0, 0, 0, 0],
        [2, 2, 2, 2],
      ],
      [
        [0, 1, 0, 0],
        [0, 0, 0, 0],
      ],
    ] as const) {
      const { trend, shape } = measureExcess(toSums(O, E), 4);
      expect(Number.isFinite(trend)).toBe(true);
      expect(trend).toBeLessThanOrEqual(shape);
      expect(trend).toBeCloseTo(O[3] === 7 ? shape : trend, 3);
    }
  });
});

describe("testReplication", () => {
  test("a direction without change over time: the signed root of the level's deviance", () => {
    const sums = toSums([6, 5, 4, 5], [3, 3, 3, 3]);
    const p = testReplication(sums, 4, [0.7, 0.7, 0.7, 0.7]);
    expect(p).toBeCloseTo(normalUpperTail(Math.sqrt(deviance(20, 12, 12))), 12);
    expect(testReplication(sums, 4, [-1, -1, -1, -1])).toBeCloseTo(1 - p, 12);
  });

  test("a departure in the direction asked for has a smaller p than any two-sided test; in another, a large one", () => {
    const sums = toSums([2, 6, 9, 12], [9, 8, 7, 5]);
    const direction = estimateDirection(toSums([3, 5, 11, 9], [8, 8, 8, 4]), 4);
    expect(direction[0]).toBeCloseTo(Math.log(4 / 9), 14);
    const p = testReplication(sums, 4, direction);
    expect(p).toBeLessThan(Math.exp(measureExcess(sums, 4).logP) / 3);
    expect(
      testReplication(
        sums,
        4,
        direction.map((one) => -one),
      ),
    ).toBeCloseTo(1 - p, 10);
  });

  test("no direction, or no rows: no departure", () => {
    expect(testReplication(toSums([9, 9], [1, 1]), 2, [0, 0])).toBe(0.5);
    expect(testReplication(toSums([0, 0], [0, 0]), 2, [1, -1])).toBe(0.5);
    expect(testReplication(toSums([0, 0, 0], [3, 3, 3]), 3, [-1, -1, -1])).toBeLessThan(1e-3);
  });

  test("keeps its level on some six events a group, whatever the direction", () => {
    const T = 12;
    const random = createRandom(12);
    const RUNS = 1500;
    const blocks = [1, 4, 7, 10].map((first) => ({ first, last: first + 2 }));
    const directions = [
      [1, 1, 1, 1],
      [-1, -1, -1, -1],
      [-1.5, -0.2, 0.3, 0.7],
      [1, 0, -0.5, -1.5],
      [0, 2, 0, -1],
    ];
    const rejected = new Int32Array(directions.length);
    for (let run = 0; run < RUNS; run++) {
      const cohort = drawCohort(18, T, random, (S) => S);
      const all = Array.from({ length: 18 }, (_, i) => i);
      const sums = sumTotals(tallyBlocks(cohort.curves, cohort.binned, blocks), all);
      directions.forEach((direction, k) => {
        if (testReplication(sums, blocks.length, direction) <= 0.05) rejected[k]++;
      });
    }
    for (const count of rejected) {
      expect(count).toBeLessThanOrEqual(binomialRange(RUNS, 0.05, 0.99).high);
      expect(count).toBeGreaterThan(0.02 * RUNS);
    }
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
      trend: 0,
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
