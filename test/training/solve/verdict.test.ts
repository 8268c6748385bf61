// The test of a group on fresh rows: worked by hand, and its level on simulated counts.
import { describe, expect, test } from "vitest";
import { createRandom } from "../../../src/core/random.ts";
import { adjustFresh, type GroupVerdict, testFresh } from "../../../src/training/solve/verdict.ts";

describe("testFresh", () => {
  test("two blocks by hand", () => {
    // 4²/8/(1 + 8/24) + 3²/9/(1 + 9/9) = 1.5 + 0.5 = 2, two degrees of freedom: p = e^−1.
    const { distance, p } = testFresh({ D: [4, -3], V: [8, 9], solveV: [24, 9] });
    expect(distance).toBeCloseTo((16 / 8 + 9 / 9) / 2, 12);
    expect(p).toBeCloseTo(Math.exp(-1), 12);
  });

  test("blocks too small for χ² are taken together", () => {
    // 1 + 1 + 2 ≥ 3 in one block with D = 2, and 2 left over join it: 3²/6/(1 + 6/6) = .75, one degree of freedom.
    const { p } = testFresh({ D: [1, 0, 1, 1], V: [1, 1, 2, 2], solveV: [2, 1, 2, 1] });
    expect(p).toBeCloseTo(0.3864762307712327, 10);
  });

  test("a group that nobody follows is not tested", () => {
    expect(testFresh({ D: [0], V: [0], solveV: [5] })).toEqual({ distance: 0, p: 1 });
  });

  test("a right model is rejected about as often as it should be, with few events too", () => {
    const random = createRandom(5);
    const [draws, rows, blocks, hazard] = [4000, 26, 10, 0.05];
    let rejected = 0;
    for (let draw = 0; draw < draws; draw++) {
      const D = new Float64Array(blocks);
      const V = new Float64Array(blocks);
      let left = rows;
      for (let b = 0; b < blocks; b++) {
        V[b] = left * hazard * (1 - hazard);
        D[b] = -left * hazard;
        for (let n = left; n > 0; n--) {
          if (random.uniform() >= hazard) continue;
          D[b]++;
          left--;
        }
      }
      if (testFresh({ D, V, solveV: V.map(() => 1e6) }).p < 0.05) rejected++;
    }
    // About ten events a draw; three standard errors of 5 % are one percent.
    expect(rejected / draws).toBeGreaterThan(0.03);
    expect(rejected / draws).toBeLessThan(0.065);
  });
});

test("p-values are adjusted among the groups that have one", () => {
  const verdict = (p: number | null): GroupVerdict => ({
    group: "g",
    told: true,
    n: 10,
    events: 10,
    slack: 1,
    distance: { solve: 0, fresh: null },
    fresh: p === null ? null : { p, adjusted: p },
    status: "met",
    reachable: null,
    price: 0,
    reason: null,
  });
  const adjusted = adjustFresh([verdict(0.01), verdict(null), verdict(0.2)]);
  expect(adjusted.map(({ fresh }) => fresh?.adjusted ?? null)).toEqual([0.02, null, 0.2]);
});
