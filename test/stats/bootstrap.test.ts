import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { type GapReference, measureGap } from "../../src/stats/calibration/gap-norms.ts";
import {
  type BootstrapOptions,
  bootstrapScores,
  bootstrapWeights,
  type GroupBootstrap,
  pairedDifference,
  percentileInterval,
  quantile,
  replicatesOf,
} from "../../src/stats/scores/bootstrap.ts";
import { evaluate, readScoreValues } from "../../src/stats/scores/evaluate-scores.ts";
import { type PreparedScores, prepareScores } from "../../src/stats/scores/prepared-scores.ts";
import { scoreCurves } from "../../src/stats/scores/scores.ts";
import { present } from "./prediction-oracles.ts";
import { drawCohort, randomCohort, trueConcordance, trueGap } from "./simulated-cohort.ts";

function runAll(groups: readonly PreparedScores[], options: BootstrapOptions): readonly GroupBootstrap[] {
  const steps = bootstrapScores(groups, options);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

describe("bootstrapWeights", () => {
  it("draws as many rows as there are, the same for the same seed and replicate only", () => {
    const weights = bootstrapWeights(1000, 42, 7);
    expect(weights.reduce((sum, w) => sum + w, 0)).toBe(1000);
    expect(bootstrapWeights(1000, 42, 7)).toEqual(weights);
    expect(bootstrapWeights(1000, 42, 8)).not.toEqual(weights);
    expect(bootstrapWeights(1000, 43, 7)).not.toEqual(weights);
  });

  it("leaves out (1 − 1/N)^N of the rows and varies as a multinomial does", () => {
    let absent = 0;
    let squares = 0;
    const N = 500;
    for (let r = 0; r < 400; r++) {
      for (const w of bootstrapWeights(N, 1, r)) {
        if (w === 0) absent++;
        squares += (w - 1) ** 2;
      }
    }
    const rows = 400 * N;
    // Standard error of each share is at most √(1/rows) ≈ .0022; e^−1 and 1 − 1/N are the expectations.
    expect(Math.abs(absent / rows - (1 - 1 / N) ** N)).toBeLessThan(3 * 0.0022);
    expect(Math.abs(squares / rows - (1 - 1 / N))).toBeLessThan(0.015);
  });
});

describe("quantile", () => {
  it("is R's type 7", () => {
    // quantile(c(3, 1, 4, 1.5, 9), c(0, .1, .25, .5, .975, 1))
    const values = [3, 1, 4, 1.5, 9];
    expect([0, 0.1, 0.25, 0.5, 0.975, 1].map((p) => quantile(values, p))).toEqual([1, 1.2, 1.5, 3, 8.5, 9]);
    expect(quantile([5], 0.3)).toBe(5);
    expect(quantile([], 0.5)).toBeNaN();
  });

  it("gives the central percentile interval", () => {
    const values = Float64Array.from({ length: 101 }, (_, k) => 100 - k);
    expect(percentileInterval(values, 0.5)).toEqual({ lower: 25, upper: 75 });
    const { lower, upper } = percentileInterval(values);
    expect(lower).toBeCloseTo(2.5, 12);
    expect(upper).toBeCloseTo(97.5, 12);
  });
});

describe("gap norms", () => {
  const reference: GapReference = {
    gap: new Float64Array(5),
    probabilityBin: Uint8Array.of(10, 10, 9, 9, 3),
    precision: Float64Array.of(0, 100, 50, 0, 20),
    supportedBins: 2,
  };

  it("are these sums, by hand", () => {
    const gap = [0, 0.1, -0.2, 0.3, -0.4];
    const all = measureGap(gap, reference, 4);
    // Bins {0, .1}, {−.2, .3}, {−.4}: |.1| + |.1| + |−.4| over five t.
    expect(all.ece).toBeCloseTo(0.6 / 5, 15);
    expect(all.l2Root).toBeCloseTo(Math.sqrt(0.3 / 4), 15);
    expect(all.variance).toBeCloseTo(10, 12);
    const supported = measureGap(gap, reference, 2);
    expect(supported.ece).toBeCloseTo(0.3 / 3, 15);
    expect(supported.l2Root).toBeCloseTo(Math.sqrt(0.05 / 2), 15);
    expect(measureGap(gap, reference, 0)).toEqual({
      ece: Number.NaN,
      l2Root: Number.NaN,
      variance: Number.NaN,
    });
    expect(measureGap(gap, { ...reference, precision: new Float64Array(5) }, 4).variance).toBeNaN();
  });

  it("obey the triangle inequality and scale, which the upper bound rests on", () => {
    const curve = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(curve, curve, fc.double({ min: -3, max: 3, noNaN: true }), (a, b, factor) => {
        const norm = (gap: number[]) => Object.values(measureGap(gap, reference, 4));
        const sum = norm(a.map((value, t) => value + b[t]));
        const scaled = norm(a.map((value) => factor * value));
        norm(a).forEach((size, k) => {
          expect(sum[k]).toBeLessThanOrEqual(size + norm(b)[k] + 1e-12);
          expect(scaled[k]).toBeCloseTo(Math.abs(factor) * size, 9);
        });
      }),
      { seed: 5, numRuns: 200 },
    );
  });

  it("equal the scores of their names at the estimate", () => {
    for (const seed of [1, 2, 3]) {
      const { curves, binned } = randomCohort(80, 12, seed);
      const { reference: own } = prepareScores("all", curves, binned);
      const scores = scoreCurves("all", curves, binned);
      const all = measureGap(own.gap, own, 12);
      expect(all.ece).toBeCloseTo(scores.paper.ece ?? Number.NaN, 14);
      expect(all.l2Root ** 2).toBeCloseTo(scores.paper.distanceL2 ?? Number.NaN, 14);
      expect(all.variance).toBeCloseTo(scores.paper.distanceVariance ?? Number.NaN, 12);
      const supported = measureGap(own.gap, own, own.supportedBins);
      expect(own.supportedBins).toBe(scores.supported.bins);
      expect(supported.ece).toBeCloseTo(scores.ece ?? Number.NaN, 14);
      expect(supported.l2Root ** 2).toBeCloseTo(scores.distanceL2 ?? Number.NaN, 14);
      expect(supported.variance).toBeCloseTo(scores.distanceVariance ?? Number.NaN, 12);
    }
  });
});

describe("bootstrapScores", () => {
  const { curves, binned } = randomCohort(120, 10, 4);
  const half = Int32Array.from({ length: 60 }, (_, k) => 2 * k);
  const groups = [prepareScores("all", curves, binned), prepareScores("even", curves, binned, half)];

  it("gives the same where a group is too large for tables of its concordance", () => {
    const tied = randomCohort(90, 8, 6, 5);
    const [kept, none] = [undefined, 0].map((most) => {
      const prepared = [
        prepareScores("all", tied.curves, tied.binned, undefined, most),
        prepareScores("some", tied.curves, tied.binned, [1, 5, 7, 20, 21, 60, 61, 62, 80], most),
      ];
      expect(prepared.map(({ concordance }) => concordance === null)).toEqual([most === 0, most === 0]);
      return runAll(prepared, { replicates: 20, seed: 2 });
    });
    expect(none.map(({ values }) => values)).toEqual(kept.map(({ values }) => values));
  });

  it("reports every replicate and returns intervals around the estimate", () => {
    const steps = bootstrapScores(groups, { replicates: 50, seed: 3 });
    const seen: number[] = [];
    let step = steps.next();
    for (; !step.done; step = steps.next()) {
      expect(step.value.total).toBe(50);
      seen.push(step.value.done);
    }
    expect(seen).toEqual(Array.from({ length: 50 }, (_, k) => k + 1));
    for (const { name, intervals, estimate, absent } of step.value) {
      const scores = readScoreValues(estimate);
      expect(absent, name).toEqual({});
      expect(intervals).toMatchObject({ level: 0.95, replicates: 50 });
      for (const field of ["concordance", "concordanceHalfTies", "ibs", "rps"] as const) {
        expect(intervals[field].lower).toBeLessThan(scores[field]);
        expect(intervals[field].upper).toBeGreaterThan(scores[field]);
      }
      expect(intervals.ece.upper).toBeGreaterThan(scores.ece);
      expect(intervals.distanceL2Root.estimate).toBeCloseTo(Math.sqrt(scores.distanceL2), 12);
      expect(intervals.distanceL2Root.upper).toBeGreaterThan(Math.sqrt(scores.distanceL2));
      expect(intervals.distanceVariance.upper).toBeGreaterThan(scores.distanceVariance);
      expect(intervals.paper.ece.upper).toBeGreaterThan(scores.paperEce);
      expect(intervals.supported).toEqual({
        ece: intervals.ece,
        distanceL2Root: intervals.distanceL2Root,
        distanceVariance: intervals.distanceVariance,
      });
    }
  });

  it("gives the bound estimate + quantile of the moved gaps, and the percentile interval of the values", () => {
    const [all] = runAll(groups, { replicates: 40, seed: 9, level: 0.8 });
    const drawn = Array.from({ length: 40 }, (_, r) =>
      readScoreValues(evaluate(groups[0], bootstrapWeights(120, 9, r))),
    );
    const estimate = readScoreValues(evaluate(groups[0], new Uint8Array(120).fill(1)));
    const concordances = drawn.map((values) => values.concordance);
    expect(all.intervals.concordance).toEqual(percentileInterval(concordances, 0.8));
    const bound =
      Math.sqrt(estimate.distanceL2) +
      quantile(
        drawn.map((values) => values.gapL2Root),
        0.8,
      );
    expect(all.intervals.distanceL2Root.upper).toBeCloseTo(bound, 14);
  });

  it("shares each resample between groups, so a group's rows drawn alone are the rows drawn in the whole", () => {
    const [all, even] = runAll(groups, { replicates: 20, seed: 1 });
    const alone = runAll([groups[1]], { replicates: 20, seed: 1 })[0];
    expect(Array.from(alone.values)).toEqual(Array.from(even.values));
    expect(Array.from(replicatesOf(all, "n"))).toEqual(new Array(20).fill(120));
    const sizes = replicatesOf(even, "n");
    for (let r = 0; r < 20; r++) {
      const weights = bootstrapWeights(120, 1, r);
      expect(sizes[r]).toBe(half.reduce((sum, row) => sum + weights[row], 0));
    }
  });

  it("scales the RPS, a sum over rows, to the group's own size", () => {
    const [, even] = runAll(groups, { replicates: 30, seed: 2 });
    const perRow = replicatesOf(even, "rps").map((value) => value / 60);
    const weights = bootstrapWeights(120, 2, 4);
    const rows = Array.from(half).flatMap((row) => Array.from({ length: weights[row] }, () => row));
    const plain = scoreCurves("even", curves, binned, rows);
    expect(perRow[4]).toBeCloseTo((plain.rps ?? Number.NaN) / plain.n, 12);
  });

  it("gives no interval where too many resamples lose the score, and says so", () => {
    const few = { ...binned, event: Uint8Array.from(binned.event, (_, row) => (row === 6 ? 1 : 0)) };
    const [group] = runAll([prepareScores("one event", curves, few)], { replicates: 100, seed: 1 });
    expect(group.intervals.concordance).toEqual({ lower: null, upper: null });
    expect(group.absent.concordance).toMatch(/^undefined in \d+ of 100 resamples$/);
    // The gap exists in every resample.
    expect(group.intervals.ece.upper).toBeGreaterThan(0);
    const [empty] = runAll([prepareScores("nobody", curves, binned, [])], { replicates: 5, seed: 1 });
    expect(empty.absent["supported.ece"]).toBe("the score itself is absent");
    expect(empty.intervals.distanceL2Root).toEqual({ estimate: null, upper: null });
  });

  it("refuses nonsense", () => {
    const other = prepareScores("other", randomCohort(7, 4, 1).curves, randomCohort(7, 4, 1).binned);
    expect(() => runAll(groups, { replicates: 0, seed: 1 })).toThrow("not a positive whole number: 0");
    expect(() => runAll(groups, { replicates: 5, seed: 1, level: 1 })).toThrow(
      "confidence level outside (0, 1): 1",
    );
    expect(() => runAll([...groups, other], { replicates: 5, seed: 1 })).toThrow(
      "groups come from different tables",
    );
  });
});

describe("pairedDifference", () => {
  const { curves, binned } = randomCohort(150, 8, 11);
  const worse = {
    ...curves,
    survival: curves.survival.map((S, k) => (Math.floor(k / 8) % 2 === 0 ? S : S * S)),
  };
  const options = { replicates: 60, seed: 4 };
  const [first] = runAll([prepareScores("model", curves, binned)], options);
  const [second] = runAll([prepareScores("other", worse, binned)], options);

  it("is 0 for a model against itself", () => {
    expect(present(pairedDifference(first, first, "ibs"))).toEqual({ estimate: 0, lower: 0, upper: 0 });
  });

  it("is narrower than if the two were resampled apart", () => {
    const difference = present(pairedDifference(first, second, "ibs"));
    const a = readScoreValues(first.estimate).ibs;
    const b = readScoreValues(second.estimate).ibs;
    expect(difference.estimate).toBe(a - b);
    const [apart] = runAll([prepareScores("other", worse, binned)], { ...options, seed: 5 });
    const own = replicatesOf(first, "ibs");
    const others = replicatesOf(apart, "ibs");
    const unpaired = percentileInterval(own.map((value, r) => value - others[r]));
    expect(difference.upper - difference.lower).toBeLessThan(0.8 * (unpaired.upper - unpaired.lower));
    expect(() => pairedDifference(first, apart, "ibs")).toThrow("replicates are not paired");
  });
});

describe("coverage over audits of a known truth", () => {
  const AUDITS = 100;
  const N = 150;
  const T = 12;

  /** Audits of samples from the same population, predictions a fixed distortion of the truth. */
  function audit(predict: (S: number) => number) {
    return Array.from({ length: AUDITS }, (_, k) => {
      const { curves, binned } = drawCohort(N, T, createRandom(2026, k), predict);
      const prepared = prepareScores("all", curves, binned);
      return { prepared, result: runAll([prepared], { replicates: 100, seed: k })[0] };
    });
  }

  let perfect: ReturnType<typeof audit> = [];
  beforeAll(() => {
    perfect = audit((S) => S);
  });

  it("of the upper bounds is at least 90 % for a distorted model, in every norm, and the bounds are not idle", () => {
    const distort = (S: number) => S ** 1.4;
    const gap = trueGap(T, distort);
    const covered = { ece: 0, l2Root: 0, variance: 0, supportedL2Root: 0 };
    let largest = 0;
    for (const { prepared, result } of audit(distort)) {
      const { reference } = prepared;
      const { intervals } = result;
      const truth = measureGap(gap, reference, T);
      const supported = measureGap(gap, reference, reference.supportedBins);
      if (truth.ece <= (intervals.ece.upper ?? 0)) covered.ece++;
      if (truth.l2Root <= (intervals.distanceL2Root.upper ?? 0)) covered.l2Root++;
      if (truth.variance <= (intervals.distanceVariance.upper ?? 0)) covered.variance++;
      if (supported.l2Root <= (intervals.supported.distanceL2Root.upper ?? 0)) covered.supportedL2Root++;
      largest = Math.max(largest, (intervals.supported.distanceL2Root.upper ?? 1) / supported.l2Root);
    }
    for (const [norm, count] of Object.entries(covered)) {
      expect(count, norm).toBeGreaterThanOrEqual(0.9 * AUDITS);
    }
    expect(largest).toBeLessThan(4);
  });

  it("of the concordance's percentile interval is near its level", () => {
    const truth = trueConcordance(T);
    let covered = 0;
    for (const { result } of perfect) {
      const { intervals } = result;
      if ((intervals.concordance.lower ?? 1) <= truth && truth <= (intervals.concordance.upper ?? 0))
        covered++;
    }
    expect(covered).toBeGreaterThanOrEqual(0.9 * AUDITS);
  });

  it("of a percentile interval for the L2 distance would be nil at a perfect model, which is why there is none", () => {
    let covered = 0;
    let bounded = 0;
    for (const { result: group } of perfect) {
      if (percentileInterval(replicatesOf(group, "distanceL2")).lower <= 0) covered++;
      if ((group.intervals.distanceL2Root.upper ?? 0) < 0.15) bounded++;
    }
    expect(covered).toBe(0);
    expect(bounded).toBeGreaterThanOrEqual(0.9 * AUDITS);
  });
});
