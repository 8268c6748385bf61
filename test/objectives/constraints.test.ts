// What is constrained, on which bins and blocks; the default variants; minibatches and the cache. Values and gradients
// of the paper's variants are in torch.test.ts.
import { describe, expect, test } from "vitest";
import { namesOf } from "../../src/core/names.ts";
import { createRandom } from "../../src/core/random.ts";
import {
  type Constraints,
  type ConstraintVariant,
  prepareConstraints,
} from "../../src/objectives/constraints.ts";
import { createCurveWorkspace, fillCurves, groupMeans } from "../../src/objectives/curves.ts";
import { DISTANCES, type DistanceName } from "../../src/objectives/distances/list.ts";
import { distanceGradients, groupDistances, measureDistances } from "../../src/objectives/distances.ts";
import {
  backThroughStatistics,
  createStatisticsCache,
  emptyCache,
  measureStatistics,
  readStatistics,
  regroupCache,
  replaceRows,
  statisticsWidth,
} from "../../src/objectives/group-statistics.ts";
import { equalEventBlocks } from "../../src/objectives/time-blocks.ts";
import { distanceL2, distanceVariance, modelVariance } from "../../src/stats/calibration/calibration.ts";
import {
  centralDifferences,
  createCohort,
  DIFFERENCE_TOLERANCE,
  expectEntries,
  type LogitCohort,
  rowsWhere,
} from "./gradient-checks.ts";

const VARIANTS: readonly ConstraintVariant[] = ["paper", "default"];
const EVERY = namesOf(DISTANCES).flatMap((distance) => VARIANTS.map((variant) => ({ distance, variant })));

function statisticsOf(constraints: Constraints, logits: Float32Array | Float64Array): Float64Array {
  const curves = createCurveWorkspace(constraints.N, constraints.T);
  fillCurves(logits, constraints.N, constraints.T, curves);
  return measureStatistics(constraints, curves);
}

const withStart = (mean: Float64Array) => Float64Array.of(1, ...mean);

describe("preparation", () => {
  // 40 rows in 8 bins: five leave per bin, so 10 are at risk up to bin 7; every row of bins 1–4 dies.
  const T = 8;
  const bin = Int32Array.from({ length: 40 }, (_, row) => 1 + (row % T));
  const event = Uint8Array.from(bin, (t) => (t <= 4 ? 1 : 0));
  const binned = { T, bin, event };
  const groups = [
    { name: "all", rows: rowsWhere(40, () => true) },
    { name: "short", rows: rowsWhere(40, (row) => bin[row] === 1 || (bin[row] === 2 && row < 24)) },
    { name: "few events", rows: rowsWhere(40, (row) => bin[row] > 4 || row === 0) },
    { name: "nobody", rows: new Int32Array(0) },
    { name: "nine", rows: rowsWhere(40, (row) => row < 9) },
  ];

  test("default: support, bins and why a group is only reported", () => {
    const prepared = prepareConstraints({
      binned,
      groups,
      distance: "l2",
      variant: "default",
      minimumEvents: 8,
    });
    expect(
      prepared.groups.map(({ support, bins, events, constrained, measurable, reason }) => {
        return { support, bins, events, constrained, measurable, reason };
      }),
    ).toEqual([
      { support: 7, bins: 7, events: 20, constrained: true, measurable: true, reason: null },
      {
        support: 0,
        bins: 0,
        events: 8,
        constrained: false,
        measurable: false,
        reason: "no bin with at least 10 rows at risk",
      },
      {
        support: 7,
        bins: 7,
        events: 1,
        constrained: false,
        measurable: true,
        reason: "1 event, fewer than 8",
      },
      { support: 0, bins: 0, events: 0, constrained: false, measurable: false, reason: "no rows" },
      {
        support: 0,
        bins: 0,
        events: 5,
        constrained: false,
        measurable: false,
        reason: "no bin with at least 10 rows at risk",
      },
    ]);
    const atRisk = prepareConstraints({
      binned,
      groups,
      distance: "atRisk",
      variant: "default",
      minimumEvents: 8,
    });
    expect(atRisk.groups[1].reason).toBe("at least 10 rows at risk in 0 of 8 bins only");
    expect(atRisk.groups[1].measurable).toBe(true);
  });

  test("default: ten events and a quarter of the bins", () => {
    const prepared = prepareConstraints({
      binned,
      groups,
      distance: "l2",
      variant: "default",
      support: "all",
    });
    expect(prepared.groups.map(({ constrained }) => constrained)).toEqual([true, false, false, false, false]);
    expect(prepared.groups[1].reason).toBe("8 events, fewer than 10");
  });

  test("paper: every bin, every group that has a distance", () => {
    const prepared = prepareConstraints({ binned, groups, distance: "variance", variant: "paper" });
    expect(prepared.groups.map(({ bins }) => bins)).toEqual([8, 8, 8, 8, 8]);
    expect(prepared.groups.map(({ constrained }) => constrained)).toEqual([true, true, true, false, true]);
    const eventFree = { name: "event-free", rows: rowsWhere(40, (row) => bin[row] > 4) };
    const free = prepareConstraints({ binned, groups: [eventFree], distance: "variance", variant: "paper" });
    expect(free.groups[0].reason).toBe("no bin with a defined, positive variance");
    expect(Array.from(measureDistances(free, statisticsOf(free, new Float64Array(320).fill(-2))))).toEqual([
      0,
    ]);
  });

  test("groups that only are reported have a distance and no gradient", () => {
    const prepared = prepareConstraints({
      binned,
      groups,
      distance: "l2",
      variant: "default",
      minimumEvents: 8,
    });
    const statistics = statisticsOf(prepared, new Float64Array(320).fill(-2));
    const distances = measureDistances(prepared, statistics);
    expect(distances[2]).toBeGreaterThan(0.01);
    expect([distances[1], distances[3], distances[4]]).toEqual([0, 0, 0]);
    const gradient = distanceGradients(prepared, statistics, [1, 1, 1, 1, 1]);
    expect(gradient.subarray(0, T).some((d) => d !== 0)).toBe(true);
    expect(gradient.subarray(T).every((d) => d === 0)).toBe(true);
  });

  test("names twice, rows outside or out of order, statistics of other groups", () => {
    const distance = "l2";
    const variant = "paper";
    const two = [groups[0], groups[0]];
    expect(() => prepareConstraints({ binned, groups: two, distance, variant })).toThrow(
      'two groups have the same name: "all"',
    );
    for (const rows of [[0, 40], [-1], [3, 3], [4, 2]]) {
      const wrong = [{ name: "wrong", rows: Int32Array.from(rows) }];
      expect(() => prepareConstraints({ binned, groups: wrong, distance, variant })).toThrow(
        'rows of group "wrong" not ascending within 1…40',
      );
    }
    const prepared = prepareConstraints({ binned, groups, distance, variant });
    expect(() => measureDistances(prepared, new Float64Array(8))).toThrow(
      "the group statistics have 8 values; expected 40",
    );
  });
});

describe("time blocks", () => {
  const outcomes = (T: number, events: number[]) => ({
    T,
    bin: Int32Array.from(events),
    event: new Uint8Array(events.length).fill(1),
  });

  test("equal in events, covering every bin", () => {
    const binned = outcomes(12, [1, 2, 3, 4, 5, 6, 7, 8]);
    expect(equalEventBlocks(binned, 4)).toEqual([
      { first: 1, last: 2 },
      { first: 3, last: 4 },
      { first: 5, last: 6 },
      { first: 7, last: 12 },
    ]);
  });

  test("a bin with more than its share makes blocks one; without events there is one block", () => {
    expect(equalEventBlocks(outcomes(5, [2, 2, 2, 2, 2, 2, 3, 4]), 4)).toEqual([
      { first: 1, last: 2 },
      { first: 3, last: 5 },
    ]);
    expect(equalEventBlocks(outcomes(3, [1, 1, 3]), 10)).toEqual([
      { first: 1, last: 1 },
      { first: 2, last: 3 },
    ]);
    expect(equalEventBlocks(outcomes(3, []), 10)).toEqual([{ first: 1, last: 3 }]);
    expect(equalEventBlocks(outcomes(3, [3, 3]), 2)).toEqual([{ first: 1, last: 3 }]);
  });

  test("ten for a hundred bins, each within one bin's events of a tenth", () => {
    const { binned } = createCohort(3000, 102, 7, 0.3);
    const blocks = equalEventBlocks(binned);
    expect(blocks.length).toBe(10);
    const total = binned.event.reduce((sum, e) => sum + e, 0);
    for (const { first, last } of blocks) {
      let events = 0;
      binned.bin.forEach((t, row) => {
        if (t >= first && t <= last) events += binned.event[row];
      });
      expect(Math.abs(events - total / 10)).toBeLessThan(25);
    }
  });

  test("blocks given by hand must be in order and inside", () => {
    const { binned, groups } = createCohort(20, 6, 8);
    const prepare = (blocks: { first: number; last: number }[]) =>
      prepareConstraints({ binned, groups, distance: "atRisk", variant: "paper", blocks });
    expect(() => prepare([{ first: 2, last: 1 }])).toThrow("time block out of order or outside 1…6: 2…1");
    expect(() => prepare([{ first: 1, last: 7 }])).toThrow("outside 1…6: 1…7");
    expect(() =>
      prepare([
        { first: 1, last: 3 },
        { first: 3, last: 6 },
      ]),
    ).toThrow("3…6");
    expect(() => prepare([])).toThrow("no time blocks");
    expect(() =>
      prepareConstraints({ binned, groups, distance: "atRisk", variant: "paper", blocks: 0 }),
    ).toThrow("the number of time blocks is not a positive integer: 0");
  });
});

describe("distances are those of the audit", () => {
  const { N, T, logits, binned, groups } = createCohort(120, 10, 51);
  const curves = createCurveWorkspace(N, T);
  fillCurves(logits, N, T, curves);
  const means = groupMeans(
    curves.survival,
    T,
    groups.map(({ rows }) => rows),
  );

  test.each(VARIANTS)("%s", (variant) => {
    const paper = variant === "paper";
    const l2 = prepareConstraints({ binned, groups, distance: "l2", variant });
    const variance = prepareConstraints({ binned, groups, distance: "variance", variant });
    expectEntries(measureStatistics(l2, curves), means, 1e-14, "means");
    const squares = measureDistances(l2, means);
    const largest = measureDistances(variance, means);
    l2.groups.forEach(({ km, support }, g) => {
      const mean = withStart(means.subarray(g * T, (g + 1) * T));
      const bins = paper ? T : support;
      expect(squares[g]).toBe(distanceL2(mean, km.survival, { bins }));
      const own = paper ? km.variance : modelVariance(mean, km.atRisk);
      expect(largest[g]).toBe(
        (distanceVariance(mean, km.survival, own, { bins }) as { value: number }).value,
      );
    });
  });

  test("at risk, row by row", () => {
    const constraints = prepareConstraints({
      binned,
      groups,
      distance: "atRisk",
      variant: "default",
      blocks: 4,
    });
    const distances = measureDistances(constraints, measureStatistics(constraints, curves));
    const expected = groups.map(({ rows }) => {
      let sum = 0;
      let followed = 0;
      for (const { first, last } of constraints.blocks) {
        let [O, E, V, k] = [0, 0, 0, 0];
        for (const row of rows) {
          for (let t = first; t <= Math.min(last, binned.bin[row]); t++) {
            const h = 1 / (1 + Math.exp(-logits[row * T + t - 1]));
            E += h;
            V += h * (1 - h);
            k++;
            if (t === binned.bin[row]) O += binned.event[row];
          }
        }
        if (k > 0) followed++;
        sum += (O - E) ** 2 / Math.max(V, 0.01);
      }
      return sum / followed;
    });
    expectEntries(distances, expected, 1e-12, "atRisk");
  });

  test("at risk: a block nobody reaches does not dilute the others, and V has a floor", () => {
    const early = { T: 4, bin: Int32Array.of(1, 1, 4, 4), event: Uint8Array.of(1, 0, 1, 1) };
    const rows = [{ name: "early", rows: Int32Array.of(0, 1) }];
    const blocks = [
      { first: 1, last: 2 },
      { first: 3, last: 4 },
    ];
    const constraints = prepareConstraints({
      binned: early,
      groups: rows,
      distance: "atRisk",
      variant: "paper",
      blocks,
    });
    const at = (z: number) =>
      measureDistances(constraints, statisticsOf(constraints, new Float64Array(16).fill(z)))[0];
    // Hazard 1/4: O = 1, E = 1/2, V = 3/8 in the one block followed.
    expectEntries([at(-Math.log(3))], [(1 / 2) ** 2 / (3 / 8)], 1e-14);
    // Hazard e^−20: V is below 0.01.
    expectEntries([at(-20)], [(1 - 2 * Math.exp(-20)) ** 2 / 0.01], 1e-14);
  });

  test("a mean curve still at 1 has no variance of its own: distance 0, no NaN", () => {
    const constraints = prepareConstraints({ binned, groups, distance: "variance", variant: "default" });
    const flat = new Float64Array(N * T).fill(-800);
    const statistics = statisticsOf(constraints, flat);
    expect(Array.from(measureDistances(constraints, statistics))).toEqual([0, 0, 0, 0]);
    expect(distanceGradients(constraints, statistics, [1, 1, 1, 1]).every((d) => d === 0)).toBe(true);
  });
});

/** The distances with what the gradient does not pass through (V, the model's variance) held at `base`. */
function frozenDistances(
  constraints: Constraints,
  base: Float64Array,
  statistics: Float64Array,
): Float64Array {
  const { T, blocks, distance, variant } = constraints;
  if (distance === "atRisk") {
    const W = statisticsWidth(constraints);
    const mixed = statistics.map((value, k) => (k % W < blocks.length ? value : base[k]));
    return measureDistances(constraints, mixed);
  }
  if (distance !== "variance" || variant === "paper") return measureDistances(constraints, statistics);
  return Float64Array.from(constraints.groups, ({ km, bins }, g) => {
    const variance = modelVariance(withStart(base.subarray(g * T, (g + 1) * T)), km.atRisk);
    const mean = withStart(statistics.subarray(g * T, (g + 1) * T));
    return (distanceVariance(mean, km.survival, variance, { bins }) as { value: number }).value;
  });
}

const MULTIPLIERS = [0.7, 1.3, 0, 2.1];

function prepareAll(cohort: LogitCohort, distance: DistanceName, variant: ConstraintVariant): Constraints {
  const { binned, groups } = cohort;
  return prepareConstraints({
    binned,
    groups,
    distance,
    variant,
    blocks: 4,
    minimumEvents: 0,
    minimumSupport: 0,
  });
}

describe.each(EVERY)("$distance, $variant", ({ distance, variant }) => {
  test.each([
    [60, 6],
    [75, 11],
  ])("central differences, N %i T %i", (N, T) => {
    const cohort = createCohort(N, T, 60 + T);
    const { logits } = cohort;
    const constraints = prepareAll(cohort, distance, variant);
    const base = statisticsOf(constraints, logits);
    const dLogits = new Float64Array(N * T).fill(1);
    const curves = createCurveWorkspace(N, T);
    const distances = groupDistances(constraints, logits, MULTIPLIERS, curves, dLogits, 2);
    expectEntries(distances, measureDistances(constraints, base), 1e-15, "distance");
    const value = (moved: Float64Array) => {
      const frozen = frozenDistances(constraints, base, statisticsOf(constraints, moved));
      return frozen.reduce((sum, distance, g) => sum + MULTIPLIERS[g] * distance, 0);
    };
    const gradient = dLogits.map((d) => (d - 1) / 2);
    expectEntries(gradient, centralDifferences(logits, value), DIFFERENCE_TOLERANCE, "dLogits");
    const single = groupDistances(constraints, Float32Array.from(logits), MULTIPLIERS, curves, null, 1);
    expectEntries(single, distances, 1e-6, "float32");
  });

  test("batches of a partition, at a fixed cache, make up the gradient of all rows", () => {
    const cohort = createCohort(50, 7, 71);
    const { N, T, logits } = cohort;
    const constraints = prepareAll(cohort, distance, variant);
    const curves = createCurveWorkspace(N, T);
    fillCurves(logits, N, T, curves);
    const statistics = measureStatistics(constraints, curves);
    const gradient = distanceGradients(constraints, statistics, MULTIPLIERS);
    const whole = new Float64Array(N * T);
    backThroughStatistics(constraints, gradient, curves, null, whole, 1);
    const summed = new Float64Array(N * T);
    const order = Int32Array.from({ length: N }, (_, k) => (k * 7) % N);
    for (let from = 0; from < N; from += 16) {
      const batch = order.subarray(from, from + 16); // the last one has two rows
      const part = createCurveWorkspace(16, T);
      const partLogits = new Float64Array(16 * T);
      batch.forEach((row, k) => {
        partLogits.set(logits.subarray(row * T, (row + 1) * T), k * T);
      });
      fillCurves(partLogits, batch.length, T, part);
      const dLogits = new Float64Array(16 * T);
      backThroughStatistics(constraints, gradient, part, batch, dLogits, 1);
      batch.forEach((row, k) => {
        for (let t = 0; t < T; t++) summed[row * T + t] += (dLogits[k * T + t] * batch.length) / N;
      });
    }
    expectEntries(summed, whole, 1e-13, "dLogits");
  });

  test("a cache whose rows are replaced batch by batch equals the statistics of all rows", () => {
    const cohort = createCohort(50, 7, 72);
    const { N, T, logits } = cohort;
    const constraints = prepareAll(cohort, distance, variant);
    const random = createRandom(5);
    const current = logits.slice();
    const cache = createStatisticsCache(constraints);
    const batches = [0, 1, 2].map((r) => rowsWhere(N, (row) => row % 3 === r));
    const replace = (rows: Int32Array) => {
      const part = createCurveWorkspace(rows.length, T);
      const gathered = new Float64Array(rows.length * T);
      rows.forEach((row, k) => {
        gathered.set(current.subarray(row * T, (row + 1) * T), k * T);
      });
      fillCurves(gathered, rows.length, T, part);
      replaceRows(constraints, cache, part, rows);
    };
    batches.forEach(replace);
    expectEntries(readStatistics(constraints, cache), statisticsOf(constraints, current), 1e-13, "filled");
    for (const rows of [batches[1], batches[2], batches[1]]) {
      for (const row of rows) for (let t = 0; t < T; t++) current[row * T + t] += random.normal();
      replace(rows);
    }
    expectEntries(readStatistics(constraints, cache), statisticsOf(constraints, current), 1e-13, "replaced");
    const other = prepareConstraints({
      binned: cohort.binned,
      groups: [{ name: "late", rows: rowsWhere(N, (row) => row > 30) }, cohort.groups[1]],
      distance,
      variant,
      blocks: constraints.blocks,
    });
    const regrouped = regroupCache(other, cache);
    expectEntries(readStatistics(other, regrouped), statisticsOf(other, current), 1e-13, "regrouped");
    emptyCache(cache);
    batches.forEach(replace);
    expectEntries(readStatistics(constraints, cache), statisticsOf(constraints, current), 1e-13, "refreshed");
  });
});

test("rows that belong to the same groups are one combination, in whatever overlap", () => {
  const { N, groups, binned } = createCohort(30, 5, 81);
  const { memberships } = prepareConstraints({ binned, groups, distance: "l2", variant: "paper" });
  const { combinationOf, groupsOf, order } = memberships;
  for (let row = 0; row < N; row++) {
    const expected = groups.flatMap(({ rows }, g) => (rows.includes(row) ? [g] : []));
    expect(groupsOf[combinationOf[row]]).toEqual(expected);
  }
  expect(Array.from(order).sort((a, b) => a - b)).toEqual(Array.from({ length: N }, (_, row) => row));
  const runs = Array.from(order, (row) => combinationOf[row]).filter(
    (c, k, all) => k === 0 || c !== all[k - 1],
  );
  expect(new Set(runs).size).toBe(runs.length);
});
