import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { prepareConstraints } from "../../src/objectives/constraints.ts";
import { createCurveWorkspace, fillCurves } from "../../src/objectives/curves.ts";
import type { DistanceName } from "../../src/objectives/distances/list.ts";
import { groupDistances, measureDistances } from "../../src/objectives/distances.ts";
import { measureStatistics } from "../../src/objectives/group-statistics.ts";
import { resolveSlack } from "../../src/objectives/slack.ts";
import { buildStrata, carryMultipliers, measureRisks, stratumEdges } from "../../src/objectives/strata.ts";
import {
  centralDifferences,
  createCohort,
  DIFFERENCE_TOLERANCE,
  expectEntries,
  rowsWhere,
} from "./gradient-checks.ts";

test("worked by hand: risk and expected events of a row", () => {
  const curves = createCurveWorkspace(1, 3);
  fillCurves(Float64Array.of(0, -Math.log(3), Math.log(3)), 1, 3, curves);
  const { risk, expectedEvents } = measureRisks(curves, {
    T: 3,
    bin: Int32Array.of(2),
    event: Uint8Array.of(0),
  });
  expectEntries(risk, [29 / 32], 1e-15);
  expectEntries(expectedEvents, [3 / 4], 1e-15);
});

describe("edges and merging, by hand", () => {
  const risk = Float64Array.of(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8);
  const expectedEvents = new Float64Array(8).fill(1);
  const all = { name: "all", rows: rowsWhere(8, () => true) };

  test("quantiles, rows of equal risk together", () => {
    expect(Array.from(stratumEdges(risk, 4))).toEqual([0.2, 0.4, 0.6]);
    expect(Array.from(stratumEdges(risk, 3))).toEqual([0.3, 0.6]);
    expect(Array.from(stratumEdges(risk, 1))).toEqual([]);
    const tied = { risk: Float64Array.of(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.7, 0.8), expectedEvents };
    const cells = buildStrata(tied, [all], { K: 4, minimumExpectedEvents: 1 });
    expect(cells.map(({ name, rows }) => ({ name, rows: Array.from(rows) }))).toEqual([
      { name: "all, risk 1 of 4", rows: [0, 1, 2, 3, 4, 5] },
      { name: "all, risk 2–4 of 4", rows: [6, 7] },
    ]);
  });

  test("nothing to merge", () => {
    const cells = buildStrata({ risk, expectedEvents }, [all], { K: 4, minimumExpectedEvents: 2 });
    expect(cells.map(({ name }) => name)).toEqual([1, 2, 3, 4].map((k) => `all, risk ${k} of 4`));
    expect(cells.map(({ rows }) => Array.from(rows))).toEqual([
      [0, 1],
      [2, 3],
      [4, 5],
      [6, 7],
    ]);
    expect(cells.map(({ group, first, last }) => ({ group, first, last }))).toEqual(
      [1, 2, 3, 4].map((k) => ({ group: "all", first: k, last: k })),
    );
  });

  test("the cell that expects least joins its lesser neighbour, the lower one when equal", () => {
    const expected = Float64Array.of(4, 4, 1, 1, 3, 3, 5, 5); // cells of 8, 2, 6, 10
    const at = (minimumExpectedEvents: number) =>
      buildStrata({ risk, expectedEvents: expected }, [all], { K: 4, minimumExpectedEvents }).map(
        ({ first, last, expectedEvents: sum }) => [first, last, sum],
      );
    expect(at(3)).toEqual([
      [1, 1, 8],
      [2, 3, 8],
      [4, 4, 10],
    ]);
    // Both of 8 are least; the first of them has one neighbour.
    expect(at(9)).toEqual([
      [1, 3, 16],
      [4, 4, 10],
    ]);
    expect(at(27)).toEqual([[1, 4, 26]]);
    const even = Float64Array.of(5, 5, 1, 1, 5, 5, 5, 5);
    const tie = buildStrata({ risk, expectedEvents: even }, [all], { K: 4, minimumExpectedEvents: 3 });
    expect(tie.map(({ first, last }) => [first, last])).toEqual([
      [1, 2],
      [3, 3],
      [4, 4],
    ]);
  });

  test("a group too small for two cells stays the group", () => {
    const few = { name: "few", rows: Int32Array.of(1, 6) };
    const nobody = { name: "nobody", rows: new Int32Array(0) };
    const cells = buildStrata({ risk, expectedEvents }, [few, nobody], { K: 4 });
    expect(cells.map(({ name, rows }) => ({ name, rows: Array.from(rows) }))).toEqual([
      { name: "few", rows: [1, 6] },
      { name: "nobody", rows: [] },
    ]);
  });

  test("strata that are none", () => {
    expect(() => buildStrata({ risk, expectedEvents }, [all], { K: 0 })).toThrow(
      "the number of risk strata is not a positive integer: 0",
    );
    expect(() => stratumEdges(new Float64Array(0), 2)).toThrow("no rows to cut into risk strata");
  });
});

test("cells partition every group in order of risk, and expect enough unless the whole group does not", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 7 }), (seed, K) => {
      const { N, T, logits, binned, groups } = createCohort(90, 5, seed);
      const curves = createCurveWorkspace(N, T);
      fillCurves(logits, N, T, curves);
      const risks = measureRisks(curves, binned);
      const cells = buildStrata(risks, groups, { K });
      for (const { name, rows } of groups) {
        const own = cells.filter(({ group }) => group === name);
        const members = own.flatMap((cell) => Array.from(cell.rows)).sort((a, b) => a - b);
        expect(members).toEqual(Array.from(rows));
        own.forEach((cell, k) => {
          expect(cell.first).toBe(k === 0 ? 1 : own[k - 1].last + 1);
          expect(cell.expectedEvents >= 10 || own.length === 1).toBe(true);
          if (k === 0 || own[k - 1].rows.length === 0 || cell.rows.length === 0) return;
          const highest = Math.max(...Array.from(own[k - 1].rows, (row) => risks.risk[row]));
          expect(Math.min(...Array.from(cell.rows, (row) => risks.risk[row]))).toBeGreaterThan(highest);
        });
        expect(own[own.length - 1].last).toBe(K);
      }
    }),
    { seed: 4, numRuns: 60 },
  );
});

test("multipliers follow their strata when cells merge and split", () => {
  const cell = (group: string, first: number, last: number) => ({
    name: `${group} ${first}`,
    rows: new Int32Array(0),
    group,
    first,
    last,
    expectedEvents: 10,
  });
  const before = [cell("a", 1, 1), cell("a", 2, 4), cell("b", 1, 4)];
  const after = [cell("a", 1, 2), cell("a", 3, 4), cell("b", 1, 3), cell("b", 4, 4), cell("c", 1, 4)];
  expect(Array.from(carryMultipliers(before, [1, 3, 5], after))).toEqual([2, 3, 5, 5, 0]);
});

describe("cells as constrained groups", () => {
  test.each<DistanceName>(["l2", "atRisk"])("central differences, %s", (distance) => {
    const { N, T, logits, binned, groups } = createCohort(80, 6, 14);
    const curves = createCurveWorkspace(N, T);
    fillCurves(logits, N, T, curves);
    const cells = buildStrata(measureRisks(curves, binned), groups, { K: 3 });
    expect(cells.length).toBeGreaterThan(groups.length);
    const constraints = prepareConstraints({
      binned,
      groups: cells,
      distance,
      variant: "default",
      minimumEvents: 0,
      minimumSupport: 0,
      blocks: 3,
    });
    const multipliers = cells.map((_, g) => 0.5 + g / 4);
    const dLogits = new Float64Array(N * T);
    groupDistances(constraints, logits, multipliers, curves, dLogits, 1);
    const base = measureStatistics(constraints, curves);
    const value = (moved: Float64Array) => {
      fillCurves(moved, N, T, curves);
      const statistics = measureStatistics(constraints, curves);
      // No gradient through V: the second three of every six.
      const mixed = statistics.map((now, k) => (distance === "atRisk" && k % 6 >= 3 ? base[k] : now));
      const distances = measureDistances(constraints, mixed);
      return distances.reduce((sum, distance, g) => sum + multipliers[g] * distance, 0);
    };
    expectEntries(dLogits, centralDifferences(logits, value), DIFFERENCE_TOLERANCE, "dLogits");
  });

  test("a model that swaps the curves of low and high risks keeps every group mean, and its cells see it", () => {
    // 200 people per type on two bins: of the low risks 20 die in each bin, of the high risks 100 and then 50.
    const half = 200;
    const N = 2 * half;
    const bin = Int32Array.from({ length: N }, (_, row) => (row % half < (row < half ? 20 : 100) ? 1 : 2));
    const event = Uint8Array.from(bin, (t, row) => (t === 1 || row % half < (row < half ? 40 : 150) ? 1 : 0));
    const binned = { T: 2, bin, event };
    const logit = (h: number) => Math.log(h / (1 - h));
    const low = [logit(0.1), logit(20 / 180)];
    const high = [logit(0.5), logit(0.5)];
    const right = Float64Array.from({ length: 2 * N }, (_, k) => (k < N ? low : high)[k % 2]);
    const swapped = Float64Array.from({ length: 2 * N }, (_, k) => (k < N ? high : low)[k % 2]);
    const everyone = [{ name: "all", rows: rowsWhere(N, () => true) }];
    const curves = createCurveWorkspace(N, 2);
    const satisfied = (logits: Float64Array, K: number) => {
      fillCurves(logits, N, 2, curves);
      const groups = K === 1 ? everyone : buildStrata(measureRisks(curves, binned), everyone, { K });
      const constraints = prepareConstraints({ binned, groups, distance: "l2", variant: "default" });
      const slack = resolveSlack(constraints, "auto");
      const distances = measureDistances(constraints, measureStatistics(constraints, curves));
      return Array.from(distances, (distance, g) => distance <= slack[g]);
    };
    expect(satisfied(right, 1)).toEqual([true]);
    expect(satisfied(swapped, 1)).toEqual([true]);
    expect(satisfied(right, 2)).toEqual([true, true]);
    expect(satisfied(swapped, 2)).toEqual([false, false]);
  });
});
