import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import {
  NOISE_METRICS,
  noiseFloor,
  simultaneousNoiseFloor,
} from "../../src/stats/calibration/noise-floor.ts";
import { scoreCurves } from "../../src/stats/scores/scores.ts";
import { loadPredictions, present } from "./prediction-oracles.ts";
import { drawCounts } from "./draw-counts.ts";
import { type Cohort, drawCohort, randomCohort } from "./simulated-cohort.ts";

function cohortOf(bins: number[], events: number[], curves: number[][]): Cohort {
  const T = curves[0].length;
  return {
    curves: { N: bins.length, T, survival: Float64Array.from(curves.flat()) },
    binned: { T, bin: Int32Array.from(bins), event: Uint8Array.from(events) },
  };
}

const everyRow = (N: number) => Int32Array.from({ length: N }, (_, row) => row);

/** How often a bin was drawn, as a share of the draws (the observed outcome left out). */
function shareOf(counts: Float64Array, bin: number, T: number, draws: number): number {
  let sum = 0;
  for (let draw = 1; draw <= draws; draw++) sum += counts[draw * (T + 1) + bin];
  return sum / draws;
}

describe("drawOutcomes", () => {
  const DRAWS = 20_000;
  // Four standard errors of a share at its worst, ½.
  const NOISE = 4 * Math.sqrt(0.25 / DRAWS);

  it("draws a censored row's event from its curve, up to its own censoring and not beyond", () => {
    const { curves, binned } = cohortOf([2], [0], [[0.9, 0.6, 0.1]]);
    const [{ events, censored }] = drawCounts(curves, binned, [[0]], { draws: DRAWS, seed: 1 });
    expect(Math.abs(shareOf(events, 1, 3, DRAWS) - 0.1)).toBeLessThan(NOISE);
    // Bin 2 counts although the row is censored in bin 2: events come first.
    expect(Math.abs(shareOf(events, 2, 3, DRAWS) - 0.3)).toBeLessThan(NOISE);
    expect(Math.abs(shareOf(censored, 2, 3, DRAWS) - 0.6)).toBeLessThan(NOISE);
    expect(
      shareOf(events, 3, 3, DRAWS) + shareOf(censored, 3, 3, DRAWS) + shareOf(censored, 1, 3, DRAWS),
    ).toBe(0);
  });

  it("draws the censoring of a row with an event from the group's, given it came no earlier", () => {
    // Censorings in bins 1, 2, 3, 3; the event in bin 2 leaves before the censoring of bin 2.
    // Reverse ties: G(1) = 4/5, G(2) = 4/5 · 2/3, G(3) = 0. Given C ≥ 2: P(2) = 1/3, P(3) = 2/3.
    const bins = [1, 2, 3, 3, 2];
    const events = [0, 0, 0, 0, 1];
    const sure = [1, 1, 1];
    const { curves, binned } = cohortOf(bins, events, [sure, sure, sure, sure, sure]);
    const [drawn] = drawCounts(curves, binned, [everyRow(5)], { draws: DRAWS, seed: 1 });
    // The curves never fall, so nobody has an event, and the first four stay where they are.
    expect(drawn.events.subarray(4).every((count) => count === 0)).toBe(true);
    expect(shareOf(drawn.censored, 1, 3, DRAWS)).toBe(1);
    expect(Math.abs(shareOf(drawn.censored, 2, 3, DRAWS) - (1 + 1 / 3))).toBeLessThan(NOISE);
    expect(Math.abs(shareOf(drawn.censored, 3, 3, DRAWS) - (2 + 2 / 3))).toBeLessThan(NOISE);
  });

  it("leaves a row uncensored to the end of the grid where the group has no censoring", () => {
    const { curves, binned } = cohortOf(
      [1, 2],
      [1, 1],
      [
        [0.8, 0.5],
        [0.8, 0.5],
      ],
    );
    const [{ events, censored }] = drawCounts(curves, binned, [[0, 1]], { draws: DRAWS, seed: 3 });
    expect(Math.abs(shareOf(events, 1, 2, DRAWS) - 0.4)).toBeLessThan(2 * NOISE);
    expect(Math.abs(shareOf(events, 2, 2, DRAWS) - 0.6)).toBeLessThan(2 * NOISE);
    expect(Math.abs(shareOf(censored, 2, 2, DRAWS) - 1)).toBeLessThan(2 * NOISE);
    expect(shareOf(censored, 1, 2, DRAWS)).toBe(0);
  });

  it("keeps what was observed at index 0, and every row's totals of hazard", () => {
    const { curves, binned } = cohortOf(
      [1, 2, 2],
      [1, 0, 1],
      [
        [0.5, 0.25],
        [0.9, 0.9],
        [0.8, 0.2],
      ],
    );
    const [drawn] = drawCounts(curves, binned, [everyRow(3)], { draws: 1, seed: 1 });
    expect(Array.from(drawn.events.subarray(0, 3))).toEqual([0, 1, 1]);
    expect(Array.from(drawn.censored.subarray(0, 3))).toEqual([0, 0, 1]);
    // h: .5 | .1, 0 | .2, .75.
    expect(drawn.expected[0]).toBeCloseTo(0.5 + 0.1 + 0.95, 14);
    expect(drawn.variance[0]).toBeCloseTo(0.25 + 0.09 + 0.16 + 0.1875, 14);
  });

  it("draws for overlapping groups at once what it draws for each alone, in any order of their rows", () => {
    const { curves, binned } = randomCohort(40, 6, 5);
    const groups = [everyRow(40), [3, 4, 5, 20], [20, 3, 5, 4], [7, 7, 31], []];
    const options = { draws: 30, seed: 4 };
    const together = drawCounts(curves, binned, groups, options);
    groups.forEach((rows, g) => {
      const [alone] = drawCounts(curves, binned, [rows], options);
      for (const key of ["events", "censored", "expected", "variance"] as const)
        expect(together[g][key]).toEqual(alone[key]);
    });
    expect(together[2].events).toEqual(together[1].events);
    expect(together[3].events.reduce((sum, one) => sum + one)).toBeGreaterThan(0);
  });
});

describe("noiseFloor", () => {
  it("is the expectation of the ECE under the model, by hand", () => {
    // One row, one bin, S = .7, no censoring: Kaplan-Meier is 0 with probability .3, else 1. ECE = ½|KM − .7|.
    const { curves, binned } = cohortOf([1], [1], [[0.7]]);
    const draws = 20_000;
    const [{ floor, paper }] = simultaneousNoiseFloor(curves, binned, [{ name: "one" }], {
      draws,
      seed: 1,
    }).groups;
    const noise = present(paper.noise);
    expect(Math.abs(noise.floor - (0.3 * 0.35 + 0.7 * 0.15))).toBeLessThan((4 * 0.0917) / Math.sqrt(draws));
    expect(noise.critical).toBeCloseTo(0.35, 12);
    // Observed: the event, ECE .35, reached by 3 in 10 draws.
    expect(noise.observed).toBeCloseTo(0.35, 12);
    expect(Math.abs(noise.p - 0.3)).toBeLessThan((4 * 0.46) / Math.sqrt(draws));
    // One person is no support: over the bins with ten at risk there is no ECE, and so no floor.
    expect(floor).toEqual({ absent: "the metric itself is undefined on these rows" });
  });

  it("observes what the scores observe", () => {
    const { curves, binned } = randomCohort(70, 9, 5);
    const rows = everyRow(70).filter((row) => row % 3 !== 0);
    const { metrics } = present(noiseFloor(curves, binned, rows, { draws: 5, seed: 1 }));
    const scores = scoreCurves("rows", curves, binned, rows);
    const expected = {
      ece: scores.ece,
      distanceL2: scores.distanceL2,
      distanceVariance: scores.distanceVariance,
      logrankIndividual: scores.logrankIndividual.chi2,
      paperEce: scores.paper.ece,
      paperDistanceL2: scores.paper.distanceL2,
      paperDistanceVariance: scores.paper.distanceVariance,
    };
    for (const metric of NOISE_METRICS) {
      expect(present(metrics[metric]).observed, metric).toBeCloseTo(expected[metric] ?? Number.NaN, 12);
    }
  });

  it("finds Cox curves of nwtco and flchain within their noise and distorted ones far outside", async () => {
    for (const name of ["nwtco_stride500", "flchain_stride500"]) {
      const honest = await loadPredictions(`${name}_cox`);
      const distorted = await loadPredictions(`${name}_miscal`);
      const good = present(noiseFloor(honest.curves, honest.binned, undefined, { seed: 1 }));
      const bad = present(noiseFloor(distorted.curves, distorted.binned, undefined, { seed: 1 }));
      expect(good.p).toBeGreaterThan(0.5);
      // Kaplan-Meier's standard error at the end is about .016 (nwtco, S = .85, 500 rows); the mean of |N(0,1)| is .8.
      expect(good.ece).toBeGreaterThan(0.009);
      expect(good.ece).toBeLessThan(0.014);
      expect(bad.p).toBeLessThan(0.005);
      expect(bad.eceCritical).toBeLessThan(0.04);
    }
  });

  it("rejects a perfect model about one time in twenty, its p-values uniform", () => {
    const AUDITS = 200;
    let rejected = 0;
    let sum = 0;
    let rejectedLogrank = 0;
    for (let k = 0; k < AUDITS; k++) {
      const { curves, binned } = drawCohort(150, 20, createRandom(99, k), (S) => S);
      const floor = present(noiseFloor(curves, binned, undefined, { draws: 99, seed: k }));
      if (floor.p <= 0.05) rejected++;
      if (present(floor.metrics.logrankIndividual).p <= 0.05) rejectedLogrank++;
      sum += floor.p;
    }
    const threeErrors = 3 * Math.sqrt((0.05 * 0.95) / AUDITS);
    expect(Math.abs(rejected / AUDITS - 0.05)).toBeLessThan(threeErrors);
    expect(Math.abs(rejectedLogrank / AUDITS - 0.05)).toBeLessThan(threeErrors);
    expect(Math.abs(sum / AUDITS - 0.505)).toBeLessThan(3 * Math.sqrt(1 / 12 / AUDITS));
  });

  it("rejects a distorted model", () => {
    const { curves, binned } = drawCohort(400, 20, createRandom(7), (S) => S ** 1.8);
    const floor = present(noiseFloor(curves, binned, undefined, { draws: 199, seed: 1 }));
    expect(floor.p).toBeLessThan(0.01);
    expect(present(floor.metrics.distanceL2).p).toBeLessThan(0.01);
    expect(present(floor.metrics.logrankIndividual).p).toBeLessThan(0.01);
  });

  it("is absent for no rows and refuses nonsense", () => {
    const { curves, binned } = randomCohort(5, 4, 1);
    expect(noiseFloor(curves, binned, [], { seed: 1 })).toEqual({ absent: "no rows to average" });
    expect(() => noiseFloor(curves, binned, undefined, { seed: 1, draws: 0 })).toThrow(
      "positive whole number: 0",
    );
    const few = noiseFloor(curves, binned, undefined, { seed: 1, draws: 3 });
    expect(few).toEqual({ absent: "the metric itself is undefined on these rows" });
  });
});

describe("simultaneousNoiseFloor", () => {
  const { curves, binned } = drawCohort(300, 15, createRandom(3), (S) => S);
  const even = everyRow(300).filter((row) => row % 2 === 0);
  const early = everyRow(300).filter((row) => row < 120);
  const groups = [{ name: "all" }, { name: "even", rows: even }, { name: "early", rows: early }];

  it("gives every group the floor it has alone, and the smallest adjusted p-value as the joint one", () => {
    const together = simultaneousNoiseFloor(curves, binned, groups, { draws: 60, seed: 2 });
    expect(together.groups.map((group) => group.name)).toEqual(["all", "even", "early"]);
    expect(together.groups[2].floor).toEqual(noiseFloor(curves, binned, early, { draws: 60, seed: 2 }));
    const adjusted = together.groups.map((group) => present(group.adjustedP));
    together.groups.forEach((group, g) => {
      expect(adjusted[g]).toBeGreaterThanOrEqual(present(group.floor).p);
    });
    expect(together.p).toBe(Math.min(...adjusted));
  });

  it("finds the one bad group and leaves the good one alone", () => {
    // The first 120 people's curves are too low; the later 180 are right.
    const survival = curves.survival.map((S, k) => (k < 120 * 15 ? S ** 2 : S));
    const late = everyRow(300).filter((row) => row >= 120);
    const { groups: found, p } = simultaneousNoiseFloor(
      { ...curves, survival },
      binned,
      [
        { name: "early", rows: early },
        { name: "late", rows: late },
        { name: "nobody", rows: [] },
      ],
      { draws: 199, seed: 2 },
    );
    expect(p).toBe(1 / 200);
    expect(present(found[0].adjustedP)).toBe(1 / 200);
    expect(present(found[1].adjustedP)).toBeGreaterThan(0.1);
    expect(found[2].adjustedP).toEqual({ absent: "no rows to average" });
  });

  it("keeps its level over groups of a perfect model", () => {
    const AUDITS = 150;
    let rejected = 0;
    for (let k = 0; k < AUDITS; k++) {
      const sample = drawCohort(120, 12, createRandom(555, k), (S) => S);
      const some = [0, 1, 2, 3].map((part) => ({
        name: `part ${part}`,
        rows: everyRow(120).filter((row) => row % 4 === part || row % 3 === 0),
      }));
      const { p } = simultaneousNoiseFloor(sample.curves, sample.binned, some, { draws: 59, seed: k });
      if (present(p) <= 0.05) rejected++;
    }
    expect(Math.abs(rejected / AUDITS - 0.05)).toBeLessThan(3 * Math.sqrt((0.05 * 0.95) / AUDITS));
  });
});
