import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { isAbsent } from "../../src/core/measured.ts";
import type { RightCensored } from "../../src/data/outcomes/outcomes.ts";
import { readOutcomes } from "../../src/data/outcomes/read-outcomes.ts";
import {
  binningGap,
  binOutcomes,
  DEFAULT_BINS,
  equalTimeGrid,
  findBin,
  fitTimeGrid,
  interpolateCurve,
  medianTime,
  quantileTime,
  type TimeGrid,
} from "../../src/data/outcomes/time-grid.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import oracle from "../oracles/encode-and-grid.json" with { type: "json" };

const observe = (time: readonly number[], event: readonly number[]): RightCensored => ({
  time: Float64Array.from(time),
  event: Uint8Array.from(event),
});

/** Random outcomes with many ties, zeros and at least one positive time. */
const outcomesArbitrary = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 1 })), {
    minLength: 1,
    maxLength: 60,
  })
  .map((rows) => observe([...rows.map(([time]) => time / 4), 10.25], [...rows.map(([, event]) => event), 1]));

describe("equal bins", () => {
  test("default to 102 up to the largest training time", () => {
    const grid = fitTimeGrid(observe([3, 51, 20], [1, 0, 1]));
    expect(grid.kind).toBe("equal");
    expect(grid.T).toBe(DEFAULT_BINS);
    expect(grid.edges.length).toBe(103);
    expect([grid.edges[0], grid.edges[1], grid.edges[101], grid.edges[102]]).toEqual([0, 0.5, 50.5, 51]);
  });

  test("end at the horizon to the last bit, so that an event there is one", () => {
    const horizon = 102.5833;
    expect((102 * horizon) / 102).toBeLessThan(horizon);
    const grid = fitTimeGrid(observe([horizon, 20], [1, 0]));
    expect(grid.edges[102]).toBe(horizon);
    expect([...binOutcomes(observe([horizon, 20], [1, 0]), grid).event]).toEqual([1, 0]);
  });

  test("are finer where people are under observation for a small part of the clock", () => {
    // Ages at entry and exit: the clock runs for 80 years, people are seen for 27 of them.
    const people = (entry: number[], time: number[], id?: number[]) => ({
      ...observe(
        time,
        time.map(() => 1),
      ),
      entry: Float64Array.from(entry),
      ...(id && { id: Int32Array.from(id) }),
    });
    const defaultOf = (...rows: Parameters<typeof people>) => fitTimeGrid(people(...rows)).T;
    expect(defaultOf([53, 60, 40], [80, 78, 67])).toBe(3 * DEFAULT_BINS);
    expect(defaultOf([79, 70], [80, 71])).toBe(4 * DEFAULT_BINS);
    expect(defaultOf([0, 10, 30], [80, 60, 70])).toBe(DEFAULT_BINS);
    // The rows of one person count together.
    expect(defaultOf([0, 20, 40, 60], [20, 40, 60, 80], [1, 1, 1, 1])).toBe(DEFAULT_BINS);
    expect(defaultOf([0, 20, 40, 60], [20, 40, 60, 80])).toBe(4 * DEFAULT_BINS);
    expect(fitTimeGrid(people([79, 70], [80, 71]), { T: 10 }).T).toBe(10);
  });

  test("put an exact edge in the bin it closes, for every whole-number edge", () => {
    for (const width of [1, 2, 7, 61]) {
      const grid = equalTimeGrid(102, 102 * width);
      for (let k = 1; k <= 102; k++) expect(findBin(grid, k * width)).toBe(k);
    }
  });

  test("which dividing first gets wrong: 7 of 102 in 102 bins would fall in bin 8", () => {
    expect(Math.ceil((7 / 102) * 102)).toBe(8);
    expect(findBin(equalTimeGrid(102, 102), 7)).toBe(7);
    expect(Math.ceil((118 / 204) * 102)).toBe(60);
    expect(findBin(equalTimeGrid(102, 204), 118)).toBe(59);
  });

  test("take time 0 into bin 1, just after an edge into the next, after the horizon into T", () => {
    const grid = equalTimeGrid(4, 8);
    expect([0, 1, 2, 2.001, 6, 6.5, 8, 8.5, 1e9].map((time) => findBin(grid, time))).toEqual([
      1, 1, 1, 2, 3, 4, 4, 4, 4,
    ]);
  });

  test("make a censoring at T of an event after the horizon, and keep one at the horizon", () => {
    const outcomes = observe([0, 4, 8, 8.5, 9, 3], [1, 1, 1, 1, 0, 0]);
    const binned = binOutcomes(outcomes, fitTimeGrid(outcomes, { T: 4, horizon: 8 }));
    expect(binned.T).toBe(4);
    expect([...binned.bin]).toEqual([1, 2, 4, 4, 4, 2]);
    expect([...binned.event]).toEqual([1, 1, 1, 0, 0, 0]);
    expect([...outcomes.event]).toEqual([1, 1, 1, 1, 0, 0]);
  });
});

describe("quantile bins", () => {
  test("have their edges at quantiles of the event times, and about equal events in each", () => {
    const time = Array.from({ length: 100 }, (_, i) => i + 1);
    const outcomes = observe([...time, 150, 160], [...time.map(() => 1), 0, 0]);
    const grid = fitTimeGrid(outcomes, { T: 4, kind: "quantile" });
    expect([...grid.edges]).toEqual([0, 25, 50, 75, 160]);
    const { bin, event } = binOutcomes(outcomes, grid);
    const events = [0, 0, 0, 0];
    bin.forEach((t, i) => {
      events[t - 1] += event[i];
    });
    expect(events).toEqual([25, 25, 25, 25]);
  });

  test("ignore censored times and events after the horizon", () => {
    const outcomes = observe([1, 2, 3, 4, 5, 6, 2.5, 2.6, 2.7], [1, 1, 1, 1, 1, 1, 0, 0, 0]);
    expect([...fitTimeGrid(outcomes, { T: 2, kind: "quantile", horizon: 4 }).edges]).toEqual([0, 2, 4]);
  });

  test("are fewer where event times are tied, and T says so", () => {
    const outcomes = observe([0, 0, 0, 5, 5, 5, 5, 5, 9, 9], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    const grid = fitTimeGrid(outcomes, { T: 10, kind: "quantile" });
    expect(grid.T).toBe(2);
    expect([...grid.edges]).toEqual([0, 5, 9]);
  });

  test("need an event", () => {
    const outcomes = observe([1, 2], [0, 0]);
    expect(() => fitTimeGrid(outcomes, { kind: "quantile" })).toThrow(InputError);
    expect(() => fitTimeGrid(outcomes, { kind: "quantile" })).toThrow("no event up to the horizon 2");
  });

  test("always ascend strictly, and hold each time between the edges of its bin", () => {
    const property = fc.property(outcomesArbitrary, fc.integer({ min: 1, max: 30 }), (outcomes, T) => {
      const grid = fitTimeGrid(outcomes, { T, kind: "quantile" });
      expect(grid.T).toBeLessThanOrEqual(T);
      expect(grid.edges[0]).toBe(0);
      expect(grid.edges[grid.T]).toBe(10.25);
      for (let t = 1; t <= grid.T; t++) expect(grid.edges[t]).toBeGreaterThan(grid.edges[t - 1]);
      const { bin } = binOutcomes(outcomes, grid);
      bin.forEach((t, i) => {
        const slow = Math.max(
          grid.edges.findIndex((edge) => outcomes.time[i] <= edge),
          1,
        );
        expect(t).toBe(slow);
      });
    });
    fc.assert(property, { seed: 11, numRuns: 200 });
  });
});

describe("curves at raw times", () => {
  const grid = equalTimeGrid(4, 8); // edges 0 2 4 6 8
  const curve = [0.9, 0.5, 0.5, 0.25];

  test("are piecewise linear from 1 at time 0", () => {
    const times = [0, 1, 2, 3, 4, 5, 7, 8];
    const expected = [1, 0.95, 0.9, 0.7, 0.5, 0.5, 0.375, 0.25];
    expect(times.map((time) => interpolateCurve(curve, grid, time))).toEqual(expected);
  });

  test("are absent after the horizon", () => {
    expect(interpolateCurve(curve, grid, 8.01)).toEqual({ absent: "time 8.01 is after the horizon 8" });
    expect(() => interpolateCurve(curve, grid, -1)).toThrow("time is not a number from 0 up: -1");
    expect(() => interpolateCurve(curve, grid, Number.NaN)).toThrow(InputError);
  });

  test("equal the curve at every edge exactly, on odd grids too", () => {
    const edges = fc.array(fc.double({ min: 0.01, max: 100, noNaN: true }), { minLength: 1, maxLength: 20 });
    const property = fc.property(edges, fc.double({ min: 0.1, max: 1e4, noNaN: true }), (times, horizon) => {
      const values = times.map((_, t) => 1 / (t + 2));
      const quantile: TimeGrid = fitTimeGrid(
        observe(
          times,
          times.map(() => 1),
        ),
        {
          T: times.length,
          kind: "quantile",
        },
      );
      for (const odd of [equalTimeGrid(times.length, horizon), quantile]) {
        for (let t = 1; t <= odd.T; t++)
          expect(interpolateCurve(values, odd, odd.edges[t])).toBe(values[t - 1]);
        expect(interpolateCurve(values, odd, 0)).toBe(1);
      }
    });
    fc.assert(property, { seed: 12, numRuns: 300 });
  });

  test("give the median at the first time that half have had the event", () => {
    expect(medianTime(curve, grid)).toBe(4);
    expect(medianTime([0.8, 0.4, 0.1, 0], grid)).toBeCloseTo(3.5, 14); // 2 + 2·(0.8 − 0.5)/(0.8 − 0.4)
    expect(medianTime([0, 0, 0, 0], grid)).toBe(1);
  });

  test("give any quantile, and say why there is none", () => {
    expect(quantileTime(curve, grid, 0)).toBe(0);
    expect(quantileTime(curve, grid, 0.75)).toBe(8);
    expect(quantileTime(curve, grid, 0.25)).toBeCloseTo(2.75, 14); // 2 + 2·(0.9 − 0.75)/(0.9 − 0.5)
    expect(quantileTime(curve, grid, 0.8)).toEqual({
      absent: "survival is still 0.25 at the horizon 8, above 0.19999999999999996",
    });
    expect(isAbsent(quantileTime([1, 1, 1, 1], grid, 0.5))).toBe(true);
    expect(() => quantileTime(curve, grid, 1.5)).toThrow("share is not between 0 and 1: 1.5");
  });

  test("and quantiles are each other's inverse", () => {
    const drops = fc.array(fc.double({ min: 0.01, max: 0.5, noNaN: true }), { minLength: 5, maxLength: 5 });
    const property = fc.property(drops, fc.double({ min: 0, max: 1, noNaN: true }), (hazards, p) => {
      let survival = 1;
      const falling = hazards.map((hazard) => {
        survival *= 1 - hazard;
        return survival;
      });
      const five = equalTimeGrid(5, 3);
      const time = quantileTime(falling, five, p);
      if (isAbsent(time)) expect(falling[4]).toBeGreaterThan(1 - p);
      else expect(interpolateCurve(falling, five, time)).toBeCloseTo(1 - p, 12);
    });
    fc.assert(property, { seed: 13, numRuns: 300 });
  });
});

describe("binningGap", () => {
  test("by hand: a censoring rounded up into the bin of a later event stays at risk too long", () => {
    // Raw: 3/4 survive time 1, the censoring at 1.5 leaves, and one of the two left has the event at time 2.
    const outcomes = observe([1, 1.5, 2, 4], [1, 0, 1, 0]);
    const gap = binningGap(outcomes, equalTimeGrid(2, 4));
    expect(gap.raw).toBeCloseTo((3 / 4) * (1 / 2), 15);
    expect(gap.binned).toBeCloseTo(1 / 2, 15); // both events in bin 1, four at risk
    // Greenwood: S² (1/(4·3) + 1/(2·1))
    expect(gap.standardError).toBeCloseTo((3 / 8) * Math.sqrt(1 / 12 + 1 / 2), 15);
    expect(gap.exceedsHalfStandardError).toBe(false);
  });

  test("counts no event after the horizon", () => {
    const gap = binningGap(observe([1, 5, 9, 9], [1, 1, 1, 0]), equalTimeGrid(4, 4));
    expect(gap).toMatchObject({ raw: 0.75, binned: 0.75, exceedsHalfStandardError: false });
  });

  test("stays defined when the last person has the event, and without events", () => {
    const last = binningGap(observe([1, 2], [1, 1]), equalTimeGrid(2, 2));
    expect(last.raw).toBe(0);
    expect(last.standardError).toBeCloseTo(Math.sqrt(1 / 2) / 2, 15);
    const none = binningGap(observe([1, 2], [0, 0]), equalTimeGrid(2, 2));
    expect(none).toEqual({ raw: 1, binned: 1, standardError: 0, exceedsHalfStandardError: false });
  });

  test.each([
    { name: "nwtco", time: "edrel", event: "rel", exceeds: [true, false] },
    { name: "flchain", time: "futime", event: "death", exceeds: [true, true] },
  ] as const)("equals R's survfit on $name at T = 10 and 102", async ({ name, time, event, exceeds }) => {
    const bytes = readFileSync(new URL(`../../datasets/${name}/${name}.csv`, import.meta.url));
    const outcomes = readOutcomes(await readTable(tableSourceFromBytes(name, bytes)), { time, event });
    oracle[name].binned.forEach((expected, i) => {
      const gap = binningGap(outcomes, fitTimeGrid(outcomes, { T: expected.T }));
      expect(gap.raw).toBeCloseTo(oracle[name].raw.survival, 13);
      expect(gap.standardError).toBeCloseTo(oracle[name].raw.standardError, 13);
      expect(gap.binned).toBeCloseTo(expected.survival, 13);
      expect(gap.exceedsHalfStandardError).toBe(exceeds[i]);
    });
  });
});

describe("what cannot be a grid or a time", () => {
  test.each([
    [{ T: 0 }, "number of time bins is not a whole number from 1 to 20000: 0"],
    [{ T: 2.5 }, "number of time bins is not a whole number from 1 to 20000: 2.5"],
    [{ horizon: 0 }, "horizon is not a positive number: 0"],
    [{ horizon: Number.NaN }, "horizon is not a positive number: NaN"],
    [
      { horizon: Number.POSITIVE_INFINITY, kind: "quantile" as const },
      "horizon is not a positive number: Infinity",
    ],
  ])("%o is refused", (options, message) => {
    expect(() => fitTimeGrid(observe([1, 2], [1, 1]), options)).toThrow(message);
  });

  test("rows are named", () => {
    expect.assertions(2);
    try {
      binOutcomes(observe([1, -2, 3, Number.NaN], [1, 1, 1, 1]), equalTimeGrid(2, 2));
    } catch (error) {
      expect(error).toBeInstanceOf(InputError);
      expect(error).toMatchObject({ message: "time is not a number from 0 up: -2", where: "rows 2 and 4" });
    }
  });

  test("no rows, or only times of 0, have no horizon", () => {
    expect(() => fitTimeGrid(observe([], []))).toThrow("no training rows");
    expect(() => fitTimeGrid(observe([0, 0], [1, 0]))).toThrow("every training time is 0");
  });
});
