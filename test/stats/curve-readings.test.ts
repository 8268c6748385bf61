// Risks, quantiles and restricted means of piecewise linear curves: fractions by hand, R, and how they fit together.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { isAbsent } from "../../src/core/measured.ts";
import { equalTimeGrid, restrictedMeanTime, type TimeGrid } from "../../src/data/outcomes/time-grid.ts";
import {
  quantileTimes,
  restrictedMeanTimes,
  riskAt,
  survivalAtTimes,
} from "../../src/stats/curve-readings.ts";
import oracle from "../oracles/curve-readings.json" with { type: "json" };

const grid = equalTimeGrid(4, 8); // edges 0 2 4 6 8
/** Two people; the second has the event for certain by the second edge. */
const curves = { N: 2, T: 4, survival: [9 / 10, 1 / 2, 1 / 2, 1 / 4, 1 / 2, 0, 0, 0] };
const uneven: TimeGrid = { kind: "quantile", T: 2, edges: Float64Array.of(0, 1, 5) };
const bent = { N: 1, T: 2, survival: [4 / 5, 2 / 5] };

function expectClose(given: ArrayLike<number>, expected: readonly number[], tolerance = 1e-14): void {
  expect(given.length).toBe(expected.length);
  for (const [k, value] of expected.entries())
    expect(Math.abs(given[k] - value), `entry ${k}: ${given[k]} and ${value}`).toBeLessThanOrEqual(tolerance);
}

describe("by hand", () => {
  test("the risk by a time", () => {
    const first = [0, 1 / 20, 1 / 10, 3 / 10, 1 / 2, 1 / 2, 5 / 8, 3 / 4];
    const second = [0, 1 / 4, 1 / 2, 3 / 4, 1, 1, 1, 1];
    const times = [0, 1, 2, 3, 4, 5, 7, 8];
    expectClose(riskAt(curves, grid, times), [...first, ...second]);
    expectClose(survivalAtTimes(bent, uneven, [1 / 2, 3]), [9 / 10, 3 / 5]);
    expect(riskAt(curves, grid, [])).toEqual(new Float64Array(0));
  });

  test("the time by which a share has had the event", () => {
    const given = quantileTimes(curves, grid, [1 / 20, 1 / 4, 1 / 2, 3 / 5, 3 / 4]);
    // 2 + 2 (0.9 − 0.75) / 0.4 and 6 + 2 (0.5 − 0.4) / 0.25; the flat stretch from 4 to 6 is reached at 4
    expectClose(given as number[], [1, 11 / 4, 4, 34 / 5, 8, 1 / 5, 1, 2, 12 / 5, 3]);
    expect(quantileTimes(bent, uneven, [1 / 2])).toEqual([expect.closeTo(4, 14)]); // 1 + 4 (0.8 − 0.5) / 0.4
  });

  test("a share that is not reached by the horizon is absent, with the reason", () => {
    expect(quantileTimes(curves, grid, [0.875])).toEqual([
      { absent: "survival is still 0.25 at the horizon 8, above 0.125" },
      7 / 2,
    ]);
  });

  test("the mean time up to a limit", () => {
    const to = (until: number) => restrictedMeanTimes(curves, grid, until);
    expectClose(to(0), [0, 0]);
    expectClose(to(1), [39 / 40, 7 / 8]); // (1 + 0.95) / 2 and (1 + 0.75) / 2
    expectClose(to(2), [19 / 10, 3 / 2]);
    expectClose(to(3), [27 / 10, 15 / 8]); // 1.9 + (0.9 + 0.7) / 2 and 1.5 + (0.5 + 0.25) / 2
    expectClose(to(7), [379 / 80, 2]); // 1.9 + 1.4 + 1 + (0.5 + 0.375) / 2
    expectClose(to(8), [101 / 20, 2]);
    expectClose(restrictedMeanTimes(bent, uneven, 3), [23 / 10]); // 0.9 + 2 (0.8 + 0.6) / 2
    expectClose(restrictedMeanTimes(bent, uneven, 5), [33 / 10]);
    expect(restrictedMeanTime([1, 1, 1, 1], grid, 9)).toEqual({ absent: "time 9 is after the horizon 8" });
  });
});

test("R's approxfun, uniroot and integrate on the lung study", () => {
  const { edges, times, shares, until } = oracle;
  const T = edges.length - 1;
  const lung: TimeGrid = { kind: "quantile", T, edges: Float64Array.from(edges) };
  for (const { survival, risk, quantile, mean } of oracle.curves) {
    const one = { N: 1, T, survival };
    expectClose(riskAt(one, lung, times), risk);
    expectClose(
      until.flatMap((end) => [...restrictedMeanTimes(one, lung, end)]),
      mean,
      1e-10,
    );
    const given = quantileTimes(one, lung, shares).map((time) => (isAbsent(time) ? null : time));
    expect(given.map((time) => time === null)).toEqual(quantile.map((time) => time === null));
    expectClose(
      given.map((time) => time ?? 0),
      quantile.map((time) => time ?? 0),
      1e-9,
    );
  }
});

/** A curve that falls in every bin, and a grid of bins of any width. */
const curveArbitrary = fc
  .array(
    fc.tuple(fc.double({ min: 1e-3, max: 0.6, noNaN: true }), fc.double({ min: 0.01, max: 50, noNaN: true })),
    { minLength: 1, maxLength: 12 },
  )
  .map((bins) => {
    let [S, edge] = [1, 0];
    const survival = bins.map(([hazard]) => (S *= 1 - hazard));
    const edges = Float64Array.of(0, ...bins.map(([, width]) => (edge += width)));
    const own: TimeGrid = { kind: "quantile", T: bins.length, edges };
    return { one: { N: 1, T: bins.length, survival }, own };
  });
const share = fc.double({ min: 1e-3, max: 0.999, noNaN: true });

describe("how they fit together", () => {
  test("the risk at an edge is 1 − S there, exactly, and 0 at time 0", () => {
    const property = fc.property(curveArbitrary, ({ one, own }) => {
      const expected = [0, ...one.survival.map((S) => 1 - S)];
      expect([...riskAt(one, own, own.edges)]).toEqual(expected);
    });
    fc.assert(property, { seed: 31, numRuns: 300 });
  });

  test("a quantile inverts the risk", () => {
    const property = fc.property(curveArbitrary, share, ({ one, own }, p) => {
      const [time] = quantileTimes(one, own, [p]);
      if (isAbsent(time)) expect(1 - one.survival[one.T - 1]).toBeLessThan(p);
      else expect(riskAt(one, own, [time])[0]).toBeCloseTo(p, 10);
    });
    fc.assert(property, { seed: 32, numRuns: 300 });
  });

  test("a restricted mean lies between 0 and its limit and grows with it, by S at the limit", () => {
    const property = fc.property(curveArbitrary, share, share, ({ one, own }, a, b) => {
      const horizon = own.edges[own.T];
      const [early, late] = [a * horizon, b * horizon].sort((x, y) => x - y);
      const [before] = restrictedMeanTimes(one, own, early);
      const [after] = restrictedMeanTimes(one, own, late);
      const slack = 1e-12 * horizon;
      expect(before).toBeGreaterThan(0);
      expect(before).toBeLessThanOrEqual(early + slack);
      const [first, last] = survivalAtTimes(one, own, [early, late]);
      expect(after - before).toBeGreaterThanOrEqual((late - early) * last - slack);
      expect(after - before).toBeLessThanOrEqual((late - early) * first + slack);
    });
    fc.assert(property, { seed: 33, numRuns: 300 });
  });
});

describe("what is refused", () => {
  test.each([
    [() => riskAt(curves, grid, [-1]), "time.invalid", "time is not a number from 0 up: -1"],
    [() => riskAt(curves, grid, [Number.NaN]), "time.invalid", "time is not a number from 0 up: NaN"],
    [
      () => riskAt(curves, grid, [2, 8.5]),
      "time.horizon",
      "time after the horizon: 8.5 (the curves end at 8)",
    ],
    [
      () => restrictedMeanTimes(curves, grid, 9),
      "time.horizon",
      "end of a restricted mean after the horizon: 9 (the curves end at 8)",
    ],
    [() => quantileTimes(curves, grid, [1.5]), "share.invalid", "share is not between 0 and 1: 1.5"],
    [() => riskAt(curves, uneven, [1]), "grid.mismatch", "curves of 4 bins on a time grid of 2"],
  ])("%#", (call, code, message) => {
    expect(call).toThrow(InputError);
    expect(call).toThrow(expect.objectContaining({ code, message }));
  });
});
