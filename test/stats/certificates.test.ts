// Certificates against fractions worked by hand, plain forms of the formulas, numeric derivatives and a direct
// bootstrap.
import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import type { Curves } from "../../src/data/curves/curves.ts";
import type { BinnedRightCensored } from "../../src/data/outcomes/outcomes.ts";
import { meanCurve } from "../../src/stats/calibration/calibration.ts";
import { boundOfTheorem, certify } from "../../src/stats/certificates/certificates.ts";
import {
  boundExactly,
  chooseRates,
  expectedSupport,
  type FollowUp,
  furthestInBand,
  raiseHazardLimit,
  spreadRates,
  survivalBand,
  tallyFollowUp,
} from "../../src/stats/certificates/exact.ts";
import {
  boundByMultipliers,
  createInfluence,
  drawSigns,
  type TightGroup,
} from "../../src/stats/certificates/tight.ts";
import { kaplanMeierBinned } from "../../src/stats/kaplan-meier.ts";
import { quantile } from "../../src/stats/scores/bootstrap.ts";

interface Cohort {
  readonly curves: Curves;
  readonly outcomes: BinnedRightCensored;
}

const T = 12;

/** Curves of a proportional-hazards law, outcomes drawn from them, censoring by chance alone. */
function drawCohort(N: number, seed: number): Cohort {
  const random = createRandom(seed, 31);
  const survival = new Float64Array(N * T);
  const bin = new Int32Array(N);
  const event = new Uint8Array(N);
  for (let i = 0; i < N; i++) {
    const risk = 0.9 * Math.exp(0.5 * random.normal());
    for (let t = 1; t <= T; t++) survival[i * T + t - 1] = Math.exp((-risk * t) / T);
    const u = random.uniform();
    let dies = 1;
    while (dies <= T && survival[i * T + dies - 1] >= u) dies++;
    const leaves = 1 + random.integer(2 * T);
    event[i] = dies <= leaves && dies <= T ? 1 : 0;
    bin[i] = Math.min(dies, leaves, T);
  }
  return { curves: { N, T, survival }, outcomes: { T, bin, event } };
}

function everyRow(N: number): Int32Array {
  return Int32Array.from({ length: N }, (_, row) => row);
}

function tightGroup({ curves, outcomes }: Cohort, rows: Int32Array, last: number): TightGroup {
  const mean = meanCurve(curves, undefined, rows) as Float64Array;
  return { rows, mean, km: kaplanMeierBinned(outcomes, undefined, rows), last };
}

describe("the exact band", () => {
  test("two bins by hand: one event of four, then one of three, λ = 2", () => {
    // a = α/(3·1 λ): log 1/a = log 3/α. Upper: −log(1 − 2/4) − log(1 − 2/3) = log 2 + log 3; lower: log 3/2 + log 5/3 =
    // log 5/2.
    const alpha = 0.3;
    const band = survivalBand(
      { atRisk: Float64Array.of(4, 4, 3), events: Float64Array.of(0, 1, 1) },
      Float64Array.of(2),
      alpha,
    );
    const cost = Math.log(10);
    const highest = [(Math.log(2) + cost) / 2, (Math.log(6) + cost) / 2];
    // P(Bin(4, η) ≤ 1) = 0.05 and P(Bin(3, η) ≤ 1) = 0.05: R's binom.test gives 0.75139 and 0.86465 as upper limits.
    const eta = [0.751395, 0.86465];
    const r = eta.map((limit) => -Math.log(1 - limit) / limit);
    expect(band.lower[0]).toBe(1);
    expect(band.upper[0]).toBe(1);
    expect(band.lower[1]).toBeCloseTo(Math.exp(-r[0] * highest[0]), 6);
    expect(band.lower[2]).toBeCloseTo(Math.exp(-r[1] * highest[1]), 6);
    // Λ_L = (log 3/2 − log 10)/2 < 0, then (log 5/2 − log 10)/2 < 0: nothing below 1 can be said.
    expect(band.upper[1]).toBe(1);
    expect(band.upper[2]).toBe(1);
    const many = survivalBand(
      { atRisk: Float64Array.of(80, 80), events: Float64Array.of(0, 60) },
      Float64Array.of(40),
      alpha,
    );
    // (60 log 3/2 − log 10)/40
    expect(many.upper[1]).toBeCloseTo(Math.exp(-(60 * Math.log(1.5) - Math.log(10)) / 40), 14);
  });

  test("a λ above the number at risk says nothing, and nobody at risk leaves no lower limit", () => {
    const followed = { atRisk: Float64Array.of(20, 20, 8, 0), events: Float64Array.of(0, 1, 1, 0) };
    const band = survivalBand(followed, Float64Array.of(10), 0.05);
    expect(band.lower[1]).toBeGreaterThan(0);
    expect(band.lower[2]).toBe(0);
    expect(band.lower[3]).toBe(0);
    expect(band.upper[3]).toBe(band.upper[2]);
    expect(survivalBand(followed, Float64Array.of(8), 0.05).lower[2]).toBe(0);
    expect(survivalBand(followed, Float64Array.of(7.9), 0.05).lower[2]).toBeGreaterThan(0);
  });

  test("Clopper-Pearson limits are those of the binomial tail", () => {
    // None of k: 1 − a^{1/k}.
    expect(raiseHazardLimit(0, 0, 10, 0.001)).toBeCloseTo(1 - 0.001 ** 0.1, 12);
    expect(raiseHazardLimit(0.9, 0, 10, 0.001)).toBe(0.9);
    expect(raiseHazardLimit(0.2, 5, 5, 0.001)).toBe(1);
    expect(raiseHazardLimit(0.2, 0, 0, 0.001)).toBe(1);
    const limit = raiseHazardLimit(0.01, 3, 40, 0.01);
    let tail = 0;
    let choose = 1;
    for (let k = 0; k <= 3; k++) {
      tail += choose * limit ** k * (1 - limit) ** (40 - k);
      choose = (choose * (40 - k)) / (k + 1);
    }
    expect(tail).toBeCloseTo(0.01, 12);
  });

  test("the formulas of the method, term by term", () => {
    const alpha = 0.05;
    const { curves, outcomes } = drawCohort(150, 3);
    const trained = tallyFollowUp(drawCohort(400, 4).outcomes, everyRow(400));
    const followed = tallyFollowUp(outcomes, everyRow(150));
    const mean = meanCurve(curves) as Float64Array;
    const a = alpha / 12;
    const last = expectedSupport(trained, 150);
    const at = (t: number) => {
      let sum = 0;
      for (let s = 1; s <= t; s++) sum += trained.events[s] / trained.atRisk[s] ** 2;
      const ratio = 150 / 400;
      return Math.min(Math.sqrt((2 * Math.log(1 / a)) / (sum / ratio)), 0.6 * ratio * trained.atRisk[t]);
    };
    const rates = [0.4, 0.75, 0.9, 1].map((place) => at(Math.ceil(place * last)));
    const found = chooseRates(trained, 150, last, a);
    rates.forEach((rate, j) => {
      expect(found[j]).toBeCloseTo(rate, 10);
    });
    let squares = 0;
    for (let t = 1; t <= last; t++) {
      let hazard = 0;
      let eta = 0;
      for (let s = 1; s <= t; s++) {
        hazard += followed.events[s] / followed.atRisk[s];
        eta = Math.max(eta, raiseHazardLimit(0, followed.events[s], followed.atRisk[s], alpha / (3 * T)));
      }
      const over = (rate: number) => {
        let sum = Math.log(1 / a);
        for (let s = 1; s <= t; s++) {
          if (rate >= followed.atRisk[s]) return Number.POSITIVE_INFINITY;
          const share = rate / followed.atRisk[s];
          sum += followed.events[s] * (-Math.log(1 - share) - share);
        }
        return sum / rate;
      };
      const under = (rate: number) => {
        let sum = Math.log(1 / a);
        for (let s = 1; s <= t; s++) {
          const share = rate / followed.atRisk[s];
          sum += followed.events[s] * (share - Math.log(1 + share));
        }
        return sum / rate;
      };
      const upper = hazard + Math.min(...rates.map(over));
      const lower = Math.max(0, ...rates.map((rate) => hazard - under(rate)));
      const r = -Math.log(1 - eta) / eta;
      const furthest = Math.max(mean[t] - Math.exp(-r * upper), Math.exp(-lower) - mean[t]);
      squares += furthest ** 2;
    }
    const bounds = boundExactly(mean, followed, { alpha, trained, last });
    expect(bounds.sample).toBeCloseTo(Math.sqrt(squares / last), 11);
    // The population's: the band at 3α/4, and (½ + √(log(4/α)/2))/√n for the mean curve.
    const wider = boundExactly(mean, followed, { alpha: 0.75 * alpha, trained, last }).sample;
    expect(bounds.population).toBeCloseTo(
      wider + (0.5 + Math.sqrt(Math.log(4 / alpha) / 2)) / Math.sqrt(150),
      12,
    );
  });

  test("the furthest curve of a band by hand", () => {
    const band = { lower: Float64Array.of(1, 0.5, 0.25), upper: Float64Array.of(1, 1, 0.75) };
    // max(0.75 − 0.5, 1 − 0.75) = 1/4 and max(0.25, 0.25) = 1/4; then 1/2 and 1/4.
    expect(furthestInBand([1, 0.75, 0.5], band, 2)).toBe(0.25);
    expect(furthestInBand([1, 1, 0.5], band, 2)).toBeCloseTo(Math.sqrt((1 / 4 + 1 / 16) / 2), 15);
  });

  test("without training rows λ goes from half of the group to 0.6 of ten in equal ratios", () => {
    const rates = spreadRates(6000);
    expect(rates[0]).toBe(3000);
    expect(rates[3]).toBeCloseTo(6, 10);
    expect(rates[1] / rates[0]).toBeCloseTo(rates[3] / rates[2], 12);
    expect(Array.from(spreadRates(5))).toEqual([6, 6, 6, 6]);
  });

  test("the support expected of the audit is the training rows' scaled to its size", () => {
    const trained: FollowUp = {
      n: 100,
      atRisk: Float64Array.of(100, 100, 60, 40, 39, 10),
      events: new Float64Array(6),
    };
    expect(expectedSupport(trained, 100)).toBe(5);
    expect(expectedSupport(trained, 25)).toBe(3);
    expect(expectedSupport(trained, 9)).toBe(0);
  });
});

describe("the tight bound", () => {
  test("the influence is the derivative of mean − Kaplan-Meier in the weight of a row", () => {
    const cohort = drawCohort(40, 8);
    const rows = everyRow(40).filter((row) => row % 3 !== 0);
    const group = tightGroup(cohort, rows, 8);
    const writeInfluence = createInfluence(cohort.curves, cohort.outcomes, group);
    const gapAt = (weights: Float64Array) => {
      const mean = meanCurve(cohort.curves, weights, rows) as Float64Array;
      const km = kaplanMeierBinned(cohort.outcomes, weights, rows);
      return mean.map((m, t) => m - km.survival[t]);
    };
    const influence = new Float64Array(8);
    const step = 1e-5;
    for (const row of rows) {
      writeInfluence(row, influence, 0);
      const nudged = (sign: number) =>
        gapAt(new Float64Array(40).fill(1).map((one, k) => (k === row ? one + sign * step : one)));
      const [up, down] = [nudged(1), nudged(-1)];
      for (let t = 1; t <= 8; t++) {
        // The derivative of a functional of the empirical distribution, whose weights are 1/n.
        expect(influence[t - 1]).toBeCloseTo((rows.length * (up[t] - down[t])) / (2 * step), 6);
      }
    }
  });

  test("influences sum to nothing", () => {
    const cohort = drawCohort(60, 2);
    const group = tightGroup(cohort, everyRow(60), 9);
    const write = createInfluence(cohort.curves, cohort.outcomes, group);
    const sum = new Float64Array(9);
    const one = new Float64Array(9);
    for (let row = 0; row < 60; row++) {
      write(row, one, 0);
      for (let t = 0; t < 9; t++) sum[t] += one[t];
    }
    for (const total of sum) expect(total).toBeCloseTo(0, 10);
  });

  test("all draws at once are the draws one by one", () => {
    const cohort = drawCohort(90, 5);
    const draws = 64;
    const seed = 11;
    const alpha = 0.1;
    const groups = [
      tightGroup(cohort, everyRow(90), 10),
      tightGroup(
        cohort,
        everyRow(90).filter((row) => row % 2 === 0),
        9,
      ),
      tightGroup(
        cohort,
        everyRow(90).filter((row) => row < 60),
        7,
      ),
    ];
    const { sign, column } = drawSigns(90, draws, seed);
    const parity = (bits: number) => [...bits.toString(2)].filter((bit) => bit === "1").length % 2;
    const largest = new Float64Array(draws);
    const scales = groups.map((group) => {
      const { rows, last } = group;
      const n = rows.length;
      const influences = Array.from(rows, (row) => {
        const out = new Float64Array(last);
        createInfluence(cohort.curves, cohort.outcomes, group)(row, out, 0);
        return out;
      });
      const norm = (values: readonly number[]) =>
        Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / last);
      const bins = Array.from({ length: last }, (_, t) => t);
      const scale = norm(
        bins.map((t) => Math.sqrt(influences.reduce((sum, one) => sum + one[t] ** 2, 0)) / n),
      );
      for (let b = 0; b < draws; b++) {
        const z = bins.map(
          (t) =>
            influences.reduce((sum, one, i) => {
              const w = sign[rows[i]] * (parity(b & column[rows[i]]) === 1 ? -1 : 1);
              return sum + w * one[t];
            }, 0) / n,
        );
        largest[b] = Math.max(largest[b], norm(z) / scale);
      }
      return scale;
    });
    const q = quantile(largest, 1 - alpha);
    const bounds = boundByMultipliers(cohort.curves, cohort.outcomes, groups, { alpha, draws, seed });
    expect(bounds.quantile).toBeCloseTo(q, 11);
    groups.forEach(({ mean, km, last }, g) => {
      let sum = 0;
      for (let t = 1; t <= last; t++) sum += (mean[t] - km.survival[t]) ** 2;
      const distance = Math.sqrt(sum / last);
      expect(bounds.groups[g].distance).toBeCloseTo(distance, 13);
      expect(bounds.groups[g].upper).toBeCloseTo(distance + scales[g] * q, 11);
    });
  });

  test("its quantile agrees with a bootstrap of independent normal weights", () => {
    const cohort = drawCohort(200, 6);
    const group = tightGroup(cohort, everyRow(200), 10);
    const write = createInfluence(cohort.curves, cohort.outcomes, group);
    const random = createRandom(77, 1);
    const influences = Array.from({ length: 200 }, (_, row) => {
      const out = new Float64Array(10);
      write(row, out, 0);
      return out;
    });
    const found = Float64Array.from({ length: 2000 }, () => {
      const z = new Float64Array(10);
      for (const one of influences) {
        const w = random.normal();
        for (let t = 0; t < 10; t++) z[t] += w * one[t];
      }
      return Math.sqrt(z.reduce((sum, value) => sum + value * value, 0) / 10) / 200;
    });
    const { groups, quantile: q } = boundByMultipliers(cohort.curves, cohort.outcomes, [group], {
      alpha: 0.05,
      draws: 4096,
      seed: 3,
    });
    // Both are quantiles of thousands of draws, with standard errors of about 2 %: three of their difference.
    expect(Math.abs(q * groups[0].scale - quantile(found, 0.95)) / quantile(found, 0.95)).toBeLessThan(0.08);
  });

  test("a weight is the row's in every group, and other draws of it are uncorrelated", () => {
    const { sign, column } = drawSigns(20_000, 32, 5);
    expect(Math.abs(sign.reduce((sum: number, one) => sum + one, 0))).toBeLessThan(5 * Math.sqrt(20_000));
    const counts = new Float64Array(32);
    for (const k of column) counts[k]++;
    for (const count of counts) expect(Math.abs(count - 625)).toBeLessThan(5 * 25);
  });
});

describe("certify", () => {
  const { curves, outcomes } = drawCohort(300, 9);
  const groups = [
    { name: "all", rows: everyRow(300) },
    { name: "even", rows: everyRow(300).filter((row) => row % 2 === 0) },
    { name: "few", rows: everyRow(300).filter((row) => row < 14) },
    { name: "none", rows: new Int32Array() },
  ];

  test("every group has its bounds or the reason why not", () => {
    const { groups: found, alpha, theorem1, assumes } = certify(curves, outcomes, groups, { alpha: 0.05 });
    expect(alpha).toBe(0.05);
    expect(found.map(({ name }) => name)).toEqual(["all", "even", "few", "none"]);
    for (const one of found.slice(0, 2)) {
      expect(one.basis).toBe("audited rows");
      expect(one.tight as number).toBeGreaterThan(one.distance as number);
      expect(one.exact as number).toBeGreaterThan(one.tight as number);
      expect(one.exactPopulation as number).toBeGreaterThan(one.exact as number);
      expect(one.absent).toEqual({});
    }
    expect(found[2].tight).toBeNull();
    expect(found[2].absent.tight).toMatch(/fewer than 10 events/);
    expect(found[3]).toMatchObject({ distance: null, exact: null, exactPopulation: null, tight: null });
    expect(found[3].absent).toEqual({
      distance: "no rows",
      exact: "no rows",
      exactPopulation: "no rows",
      tight: "no rows",
    });
    expect(theorem1.vacuous).toBe(true);
    expect(assumes.join(" ")).toMatch(/before these rows were seen.*censoring is independent/s);
  });

  test("over groups the exact bound takes α/G", () => {
    const alone = certify(curves, outcomes, groups.slice(0, 1), { alpha: 0.05 / 4 }).groups[0].exact;
    expect(certify(curves, outcomes, groups, { alpha: 0.05 }).groups[0].exact).toBe(alone);
  });

  test("with training rows the bins and λ are theirs", () => {
    const trained = drawCohort(900, 10).outcomes;
    const followUp = [tallyFollowUp(trained, everyRow(900)), null, null, null];
    const found = certify(curves, outcomes, groups, { alpha: 0.05, followUp }).groups;
    expect(found.map(({ basis }) => basis)).toEqual([
      "training rows",
      "audited rows",
      "audited rows",
      "audited rows",
    ]);
    expect(found[0].bins).toBe(expectedSupport(followUp[0] as FollowUp, 300));
    const mean = meanCurve(curves) as Float64Array;
    const options = { alpha: 0.05 / 4, trained: followUp[0] as FollowUp, last: found[0].bins };
    const followed = tallyFollowUp(outcomes, everyRow(300));
    expect(found[0].exact).toBe(boundExactly(mean, followed, options).sample);
    // Outcomes turned about move neither the bins nor λ.
    const turned = { ...outcomes, event: outcomes.event.map((one) => 1 - one) };
    expect(certify(curves, turned, groups, { alpha: 0.05, followUp }).groups[0].bins).toBe(found[0].bins);
  });

  test("Theorem 1 with one data set is vacuous whatever its constants", () => {
    // nwtco, 12 groups and τ = 102 bins: δ = 0.05/38, 1 + log(4·2·102/δ) = 14.338, of which the root is 3.79.
    const { rhoOverB, ...nwtco } = boundOfTheorem(0.05, 12, 102);
    expect(rhoOverB).toBeCloseTo(Math.sqrt(1 + Math.log((8 * 38 * 102) / 0.05)), 14);
    expect(rhoOverB.toFixed(2)).toBe("3.79");
    expect(nwtco).toEqual({ copies: 1, vacuous: true });
    expect(boundOfTheorem(0.999, 0, 1).rhoOverB).toBeGreaterThan(1);
  });

  test("the theorem's τ is the number of time bins of the curves", () => {
    const { theorem1 } = certify(curves, outcomes, groups, { alpha: 0.05 });
    expect(theorem1).toEqual(boundOfTheorem(0.05, groups.length, curves.T));
  });

  test("what cannot be asked is refused", () => {
    expect(() => certify(curves, outcomes, groups, { alpha: 1 })).toThrow(/outside \(0, 1\): 1/);
    expect(() => certify(curves, outcomes, groups, { alpha: 0.05, draws: 500 })).toThrow(/power of two: 500/);
    expect(() => certify(curves, outcomes, groups, { alpha: 0.05, followUp: [] })).toThrow(
      /for 0 groups, and 4/,
    );
  });

  test("300 audits of a model that is off: bounds hold for all groups together", () => {
    // By the level 0.2 about 60 may fail; these bounds are wider than they need be, so hardly any does.
    let exactMissed = 0;
    let tightMissed = 0;
    const audits = 300;
    // Kaplan-Meier of a very large sample of the same law stands for the truth.
    const truth = kaplanMeierBinned(drawCohort(200_000, 1).outcomes).survival;
    for (let audit = 0; audit < audits; audit++) {
      const drawn = drawCohort(120, 1000 + audit);
      const survival = drawn.curves.survival.map((S) => S - 0.1);
      const off = { N: 120, T, survival };
      const halves = [groups[0], groups[1]].map(({ name, rows }) => ({
        name,
        rows: rows.filter((row) => row < 120),
      }));
      const found = certify(off, drawn.outcomes, halves, { alpha: 0.2, seed: audit, draws: 256 }).groups;
      const missed = (bound: (g: number) => number, mean: (g: number) => ArrayLike<number>) =>
        found.some(({ bins }, g) => {
          let sum = 0;
          for (let t = 1; t <= bins; t++) sum += (mean(g)[t] - truth[t]) ** 2;
          return Math.sqrt(sum / bins) > bound(g);
        });
      const means = halves.map(({ rows }) => meanCurve(off, undefined, rows) as Float64Array);
      const shifted = truth.map((S) => S - 0.1);
      exactMissed += missed(
        (g) => found[g].exact as number,
        (g) => means[g],
      )
        ? 1
        : 0;
      tightMissed += missed(
        (g) => found[g].tight ?? Number.POSITIVE_INFINITY,
        () => shifted,
      )
        ? 1
        : 0;
    }
    // 60 + 3 √(300·0.2·0.8) = 80.8
    expect(exactMissed).toBeLessThanOrEqual(80);
    expect(tightMissed).toBeLessThanOrEqual(80);
  });
});
