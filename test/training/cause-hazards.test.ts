// Repair of several causes, under late entry and with weights: fractions by hand, a slow twin in which time goes on
// within a bin, and what any repair must keep. Truth: simulated people, test/stats/simulated-causes.ts.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { type CauseCurves, causeCurves, survivalOf } from "../../src/data/curves/cause-curves.ts";
import type { BoostGroup } from "../../src/repair/boost-input.ts";
import { applyCauseHazards, type CauseHazardBoost, fitCauseHazards } from "../../src/repair/cause-hazards.ts";
import { applyHazardBoost, fitHazardBoost } from "../../src/repair/hazard-boost.ts";
import { boostCurves, fitBoost } from "../../src/repair/mcboost.ts";
import { meanIncidence, observedIncidences, supportOfCauses } from "../../src/stats/causes/binned-causes.ts";
import { simulateCauses } from "../stats/simulated-causes.ts";
import { hazardsTimes } from "../planted-hazards.ts";
import { randomCohort } from "../stats/simulated-cohort.ts";

const LOG_TWO = Math.log(2);

describe("by hand", () => {
  const curves = causeCurves({
    N: 2,
    T: 2,
    causes: ["a", "b"],
    incidence: [0.25, 0.25, 0.25, 0.5, 0, 0, 0, 0],
  });

  test("cause a twice as high: S' = (1/2)^(3/2), of which a has two thirds; then b alone", () => {
    const boost: CauseHazardBoost = {
      kind: "cause hazards",
      T: 2,
      causes: ["a", "b"],
      hazards: [hazardsTimes(2, "g", LOG_TWO), hazardsTimes(2, "g", null)],
    };
    const { incidence } = applyCauseHazards(boost, curves, [{ name: "g", rows: [0, 1] }]);
    const S = 0.5 ** 1.5;
    // In bin 2 only b steps, from 1/4 to 1/2 of everyone: half of those left, as before.
    const expected = [(2 / 3) * (1 - S), (2 / 3) * (1 - S), (1 / 3) * (1 - S), (1 / 3) * (1 - S) + S / 2];
    expected.forEach((F, k) => {
      expect(incidence[k]).toBeCloseTo(F, 15);
    });
    expect(Array.from(incidence.subarray(4))).toEqual([0, 0, 0, 0]);
  });

  test("exposure: −log S by parts, half of the bin of an event of whichever cause; none before entry", () => {
    const both = causeCurves({
      N: 3,
      T: 2,
      causes: ["a", "b"],
      incidence: Array(3)
        .fill([1, 1, 1, 2].map((F) => F / 4))
        .flat(),
    });
    const outcomes = {
      T: 2,
      bin: Int32Array.of(1, 2, 2),
      event: Uint8Array.of(1, 0, 1),
      cause: Uint8Array.of(2, 0, 1),
    };
    const groups = [{ name: "all", rows: [0, 1, 2] }];
    const [a, b] = fitCauseHazards({ curves: both, outcomes, groups }, { timeBuckets: 1 }).hazards;
    expect([a.groups[0].events, b.groups[0].events]).toEqual([1, 1]);
    // Bin 1: log 2, half of it each cause's; bin 2: log 2, all of it b's.
    expect(a.groups[0].expected).toBeCloseTo((LOG_TWO / 2) * (0.5 + 1 + 1), 14);
    expect(b.groups[0].expected).toBeCloseTo((LOG_TWO / 2) * (0.5 + 1 + 1) + LOG_TWO * (0 + 1 + 0.5), 14);
    const late = { ...outcomes, firstBin: Int32Array.of(2, 2, 1) };
    const [lateA, lateB] = fitCauseHazards(
      { curves: both, outcomes: late, groups },
      { timeBuckets: 1 },
    ).hazards;
    // The first enters and leaves in bin 1: neither it nor its event counts.
    expect([lateA.groups[0].events, lateB.groups[0].events]).toEqual([1, 0]);
    expect(lateA.groups[0].expected).toBeCloseTo(LOG_TWO / 2, 14);
    expect(lateB.groups[0].expected).toBeCloseTo(LOG_TWO / 2 + LOG_TWO * 1.5, 14);
  });

  test("curves of other causes, or another grid, are refused", () => {
    const boost = {
      kind: "cause hazards",
      T: 2,
      causes: ["b", "a"],
      hazards: [hazardsTimes(2, "g", null), hazardsTimes(2, "g", null)],
    } as const;
    expect(() => applyCauseHazards(boost, curves)).toThrow("the boost is of other causes: b, a");
    expect(() => applyCauseHazards({ ...boost, T: 3 }, curves)).toThrow("3 and 2 bins");
  });
});

/**
 * The repair as continuous time has it: inside a bin everyone's hazards are constant, those of each cause are multiplied
 * by its ratio, and the chance of each cause is the integral of its hazard times survival, here in closed form.
 */
function repairSlowly(
  curves: CauseCurves,
  ratioOf: (row: number, cause: number, t: number) => number,
): Float64Array {
  const { N, K, T, incidence } = curves;
  const repaired = new Float64Array(N * K * T);
  for (let i = 0; i < N; i++) {
    const at = (k: number, t: number) => (t < 0 ? 0 : incidence[(i * K + k) * T + t]);
    const left = (t: number) =>
      1 - Array.from({ length: K }, (_, k) => at(k, t)).reduce((sum, F) => sum + F, 0);
    let S = 1;
    for (let t = 0; t < T; t++) {
      const total = -Math.log(left(t) / left(t - 1));
      const steps = Array.from({ length: K }, (_, k) => at(k, t) - at(k, t - 1));
      const all = steps.reduce((sum, one) => sum + one, 0);
      const hazards = steps.map((step, k) => (all > 0 ? total * (step / all) * ratioOf(i, k, t) : 0));
      const rate = hazards.reduce((sum, one) => sum + one, 0);
      hazards.forEach((hazard, k) => {
        const before = t === 0 ? 0 : repaired[(i * K + k) * T + t - 1];
        repaired[(i * K + k) * T + t] = before + (rate > 0 ? (S * hazard * -Math.expm1(-rate)) / rate : 0);
      });
      S *= Math.exp(-rate);
    }
  }
  return repaired;
}

describe("any repair of causes", () => {
  test("is the slow twin's; no incidence falls or leaves [0, 1], and all with survival make 1", () => {
    const seeds = fc.record({ seed: fc.integer({ min: 1, max: 1e6 }), T: fc.integer({ min: 6, max: 12 }) });
    const property = fc.property(seeds, ({ seed, T }) => {
      const { curves, outcomes, groups } = simulateCauses(60, T, seed);
      const boost = fitCauseHazards({ curves, outcomes, groups }, { doubt: 0, timeBuckets: 3 });
      const again = JSON.parse(JSON.stringify(boost)) as CauseHazardBoost;
      const repaired = applyCauseHazards(again, curves, groups);
      const logRatio = (row: number, k: number, t: number) => {
        const { blocks, updates } = boost.hazards[k];
        const b = blocks.findIndex(({ first, last }) => t + 1 >= first && t + 1 <= last);
        return updates.reduce(
          (sum, { group, logRatios }) => sum + (groups[group].rows.includes(row) ? logRatios[b] : 0),
          0,
        );
      };
      const slow = repairSlowly(curves, (row, k, t) => Math.exp(logRatio(row, k, t)));
      let most = 0;
      for (let at = 0; at < slow.length; at++)
        most = Math.max(most, Math.abs(slow[at] - repaired.incidence[at]));
      expect(causeCurves(repaired)).toBeDefined();
      // S' by itself, a product over the bins, and Σ F'.
      const { survival } = survivalOf(repaired);
      for (let i = 0; i < curves.N; i++) {
        let S = 1;
        for (let t = 0; t < T; t++) {
          const F = (k: number, from: Float64Array, s: number) => (s < 0 ? 0 : from[(i * 2 + k) * T + s]);
          const left = (s: number) => 1 - F(0, curves.incidence, s) - F(1, curves.incidence, s);
          const steps = [0, 1].map((k) => F(k, curves.incidence, t) - F(k, curves.incidence, t - 1));
          const ratio =
            steps.reduce((sum, step, k) => sum + step * Math.exp(logRatio(i, k, t)), 0) /
            (steps[0] + steps[1]);
          S *= (left(t) / left(t - 1)) ** ratio;
          const sum = F(0, repaired.incidence, t) + F(1, repaired.incidence, t) + S;
          most = Math.max(most, Math.abs(sum - 1), Math.abs(survival[i * T + t] - S));
        }
      }
      expect(most).toBeLessThan(1e-12);
    });
    fc.assert(property, { numRuns: 6, seed: 5 });
  });

  test("of one cause it is the repair of survival", () => {
    const { curves, outcomes, groups } = simulateCauses(300, 10, 4, { causes: 1 });
    const { cause: _, ...plain } = outcomes;
    const survival = survivalOf(curves);
    const one = fitHazardBoost({ curves: survival, outcomes: plain, groups });
    const boost = fitCauseHazards({ curves, outcomes, groups });
    boost.hazards[0].updates.forEach(({ logRatios }, g) => {
      logRatios.forEach((a, b) => {
        expect(a).toBeCloseTo(one.updates[g].logRatios[b], 12);
      });
    });
    const repaired = survivalOf(applyCauseHazards(boost, curves, groups)).survival;
    applyHazardBoost(one, survival, groups).survival.forEach((S, k) => {
      expect(Math.abs(S - repaired[k])).toBeLessThan(1e-12);
    });
  });
});

/** The hazards of one cause times `ratio` in the rows that `isOff`, in the curves: their events stay as drawn. */
function distort(
  curves: CauseCurves,
  ratios: readonly number[],
  isOff: (row: number) => boolean,
): CauseCurves {
  return { ...curves, incidence: repairSlowly(curves, (row, k) => (isOff(row) ? ratios[k] : 1)) };
}

test("in sample each cause's mean incidence is outside its slack before the repair, and within it after", () => {
  const { curves, outcomes, groups } = simulateCauses(1800, 12, 8);
  const [, , high] = groups;
  const off = distort(curves, [0.6, 1.6], (row) => high.rows.includes(row));
  const boost = fitCauseHazards({ curves: off, outcomes, groups }, { doubt: 0 });
  const repaired = applyCauseHazards(boost, off, groups);
  const observed = observedIncidences(outcomes, 2, high.rows);
  const bins = supportOfCauses(outcomes, high.rows);
  const gap = (predicted: CauseCurves, k: number) => {
    const mean = meanIncidence(predicted, k + 1, high.rows) as Float64Array;
    let [squares, variance] = [0, 0];
    for (let t = 1; t <= bins; t++) {
      squares += (mean[t] - observed[k].incidence[t]) ** 2 / bins;
      variance += observed[k].variance[t] / bins;
    }
    return squares / variance;
  };
  for (const k of [0, 1]) {
    // In units of the mean variance of Aalen-Johansen: the slack is one.
    expect(gap(off, k)).toBeGreaterThan(9);
    expect(gap(repaired, k)).toBeLessThan(1);
  }
});

test("right curves: events less exposure have mean 0 under censoring and entry that depend on the features", () => {
  const T = 20;
  const z: number[] = [];
  for (let seed = 1; seed <= 25; seed++) {
    const { curves, outcomes, groups } = simulateCauses(600, T, seed);
    const [, low, high] = groups;
    const random = createRandom(seed, 3);
    const isHigh = new Set(high.rows);
    // Those of the group at risk enter later and leave earlier.
    const firstBin = Int32Array.from(outcomes.bin, (_, row) =>
      isHigh.has(row) ? 1 + random.integer(12) : 1 + random.integer(3),
    );
    const bin = outcomes.bin.slice();
    const event = outcomes.event.slice();
    const cause = outcomes.cause.slice();
    bin.forEach((own, row) => {
      const leaves = isHigh.has(row) ? 8 + random.integer(12) : 15 + random.integer(6);
      if (leaves >= own) return;
      bin[row] = leaves;
      event[row] = 0;
      cause[row] = 0;
    });
    // Only people who get to their entry are seen.
    const seen = Int32Array.from(bin.keys()).filter((row) => firstBin[row] <= bin[row]);
    const named = [low, high].map(({ name, rows }) => ({
      name,
      rows: rows.filter((row) => seen.includes(row)),
    }));
    const late = { T, bin, event, cause, firstBin };
    const { hazards } = fitCauseHazards({ curves, outcomes: late, groups: named }, { timeBuckets: 2 });
    for (const { groups: found } of hazards)
      for (const { events, expected } of found) z.push((events - expected) / Math.sqrt(expected));
  }
  const mean = z.reduce((sum, one) => sum + one, 0) / z.length;
  // 100 of them: a standard error of 0.1.
  expect(Math.abs(mean)).toBeLessThan(0.25);
  expect(z.reduce((sum, one) => sum + one * one, 0) / z.length).toBeLessThan(1.4);
});

/** Every row as often as its weight says, with the same groups. */
function repeatRows(weight: readonly number[], groups: readonly BoostGroup[]) {
  const rows = weight.flatMap((times, row) => Array<number>(times).fill(row));
  const repeated = groups.map(({ name, rows: own }) => {
    const members = new Set(Array.from(own));
    return { name, rows: [...rows.keys()].filter((place) => members.has(rows[place])) };
  });
  return { rows, groups: repeated };
}

describe("weights and entry", () => {
  const N = 200;
  const T = 8;
  const { curves, binned } = randomCohort(N, T, 3);
  const groups = [
    { name: "even", rows: Array.from({ length: N / 2 }, (_, k) => 2 * k) },
    { name: "first", rows: Array.from({ length: 80 }, (_, k) => k) },
  ];
  const pick = (rows: readonly number[]) => ({
    curves: {
      N: rows.length,
      T,
      survival: Float64Array.from(
        rows.flatMap((row) => Array.from(curves.survival.subarray(row * T, (row + 1) * T))),
      ),
    },
    outcomes: {
      T,
      bin: Int32Array.from(rows, (row) => binned.bin[row]),
      event: Uint8Array.from(rows, (row) => binned.event[row]),
    },
  });
  const weight = Float64Array.from({ length: N }, (_, row) => 1 + (row % 3));

  test("a weight of 2 counts events and exposure as the row twice, and doubling all weights changes no ratio", () => {
    const weighed = fitHazardBoost({ curves, outcomes: { ...binned, weight }, groups });
    const { rows, groups: repeated } = repeatRows(Array.from(weight), groups);
    const twice = fitHazardBoost({ ...pick(rows), groups: repeated });
    weighed.groups.forEach(({ events, expected }, g) => {
      expect(events).toBe(twice.groups[g].events);
      expect(expected).toBeCloseTo(twice.groups[g].expected, 10);
    });
    const plain = fitHazardBoost({ curves, outcomes: binned, groups });
    const doubled = fitHazardBoost({
      curves,
      outcomes: { ...binned, weight: new Float64Array(N).fill(2) },
      groups,
    });
    plain.updates.forEach(({ logRatios }, g) => {
      logRatios.forEach((a, b) => {
        expect(doubled.updates[g].logRatios[b]).toBeCloseTo(a, 12);
      });
    });
  });

  test("MCBoostSurv with weights is that of repeated rows, to the last update", () => {
    const settings = { rounds: 12, minimumFollowed: 1, scale: "hazard", censoring: "group" } as const;
    const weighed = boostCurves({ curves, outcomes: { ...binned, weight }, groups }, settings);
    const { rows, groups: repeated } = repeatRows(Array.from(weight), groups);
    const twice = boostCurves({ ...pick(rows), groups: repeated }, settings);
    expect(weighed.boost.updates).toHaveLength(twice.boost.updates.length);
    rows.forEach((row, place) => {
      for (let t = 0; t < T; t++)
        expect(
          Math.abs(weighed.curves.survival[row * T + t] - twice.curves.survival[place * T + t]),
        ).toBeLessThan(1e-10);
    });
    const ones = new Float64Array(N).fill(1);
    const doubt = { ...settings, doubt: 1 };
    const sure = fitBoost({ curves, outcomes: { ...binned, weight: ones }, groups }, doubt);
    const plain = fitBoost({ curves, outcomes: binned, groups }, doubt);
    expect(sure.updates.length).toBe(plain.updates.length);
    sure.updates.forEach(({ correlation }, k) => {
      expect(correlation).toBeCloseTo(plain.updates[k].correlation, 12);
    });
  });

  test("a curve next to 0 at entry is read as a share of what it was there", () => {
    const survival = Float64Array.of(1e-9, 1e-9 / 2, 1e-9 / 8, 1, 1 / 2, 1 / 8);
    const outcomes = {
      T: 3,
      bin: Int32Array.of(3, 3),
      event: Uint8Array.of(1, 1),
      firstBin: Int32Array.of(2, 2),
    };
    const both = [0, 1].map((row) => ({ name: `row ${row}`, rows: [row] }));
    const late = fitHazardBoost({ curves: { N: 2, T: 3, survival }, outcomes, groups: both });
    for (const { expected } of late.groups) expect(expected).toBeCloseTo(2 * LOG_TWO, 14);
    const repaired = applyHazardBoost(late, { N: 2, T: 3, survival }, both).survival;
    for (const t of [1, 2]) expect(repaired[t] / repaired[0]).toBeCloseTo(repaired[3 + t] / repaired[3], 14);
  });

  test("an entry of 0 is none", () => {
    const firstBin = new Int32Array(N).fill(1);
    expect(fitHazardBoost({ curves, outcomes: { ...binned, firstBin }, groups })).toEqual(
      fitHazardBoost({ curves, outcomes: binned, groups }),
    );
  });

  test("MCBoostSurv refuses entry, the R package's form and the ridge auditor weights", () => {
    const late = { ...binned, firstBin: new Int32Array(N).fill(1) };
    expect(() => fitBoost({ curves, outcomes: late, groups })).toThrow(
      "MCBoostSurv does not take late entry",
    );
    const heavy = { ...binned, weight };
    expect(() => fitBoost({ curves, outcomes: heavy, groups }, { reference: true })).toThrow(
      "the R package takes no weights",
    );
    const features = { N, D: 1, values: new Float64Array(N) };
    expect(() => fitBoost({ curves, outcomes: heavy, features }, { auditor: "ridge" })).toThrow(
      "the ridge auditor takes no weights",
    );
  });
});
