import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { namesOf } from "../../src/core/names.ts";
import { bootstrapWeights } from "../../src/stats/scores/bootstrap.ts";
import { evaluate, readScoreValues, type ScoreField } from "../../src/stats/scores/evaluate-scores.ts";
import { METRICS } from "../../src/stats/scores/metrics.ts";
import { prepareScores } from "../../src/stats/scores/prepared-scores.ts";
import { type Scores, scoreCurves } from "../../src/stats/scores/scores.ts";
import { expectRelative, loadPredictions, PREDICTION_NAMES } from "./prediction-oracles.ts";
import { randomCohort } from "./simulated-cohort.ts";

/** Where each fast field stands in the plain record. */
const PLAIN: Readonly<Partial<Record<ScoreField, (scores: Scores) => number | null>>> = {
  n: (s) => s.n,
  events: (s) => s.events,
  ...Object.fromEntries(namesOf(METRICS).map((name) => [name, (s: Scores) => s[name]])),
  dCalibrationChi2: (s) => s.dCalibration.chi2,
  logrankExpected: (s) => s.logrank.expected,
  logrankChi2: (s) => s.logrank.chi2,
  logrankIndividualExpected: (s) => s.logrankIndividual.expected,
  logrankIndividualVariance: (s) => s.logrankIndividual.variance,
  logrankIndividualChi2: (s) => s.logrankIndividual.chi2,
  supportedBins: (s) => s.supported.bins,
  paperEce: (s) => s.paper.ece,
  paperDistanceL2: (s) => s.paper.distanceL2,
  paperDistanceVariance: (s) => s.paper.distanceVariance,
  paperTotalScore: (s) => s.paper.totalScore,
};

function expectSameScores(fast: Float64Array, plain: Scores, what: string): void {
  const values = readScoreValues(fast);
  for (const [field, read] of Object.entries(PLAIN)) {
    const expected = read(plain);
    const actual = values[field as ScoreField];
    if (expected === null) {
      // Expected events and their variance are plain sums, 0 where the test is absent.
      const nothing = Number.isNaN(actual) || actual === 0;
      expect(nothing, `${what}: ${field} is ${actual} where the plain form is absent`).toBe(true);
    } else {
      expect(
        Math.abs(actual - expected),
        `${what}: ${field} ${actual} against ${expected}`,
      ).toBeLessThanOrEqual(1e-10 * Math.max(1, Math.abs(expected)));
    }
  }
}

/** The rows as a draw with these multiplicities holds them. */
function repeatRows(weights: ArrayLike<number>, rows: ArrayLike<number>): number[] {
  return Array.from(rows).flatMap((row) => Array.from({ length: weights[row] }, () => row));
}

describe("scoreCurves against R", () => {
  for (const name of PREDICTION_NAMES) {
    it(`gives the oracle's scores of ${name}, overall and by subgroup`, async () => {
      const { curves, binned, groups } = await loadPredictions(name);
      for (const { name: group, scores, weights } of groups) {
        const rows = Int32Array.from({ length: curves.N }, (_, row) => row).filter(
          (row) => weights?.[row] !== 0,
        );
        const own = scoreCurves(group, curves, binned, rows);
        const compare = (actual: number | null, expected: number, tolerance: number, what: string) =>
          expectRelative(actual ?? Number.NaN, expected, tolerance, `${name}, ${group}: ${what}`);
        expect(own.n).toBe(scores.n);
        expect(own.absent).toEqual({});
        compare(own.concordance, scores.C_td, 1e-14, "concordance");
        compare(own.paper.ece, scores.ECE, 1e-10, "ece");
        compare(own.paper.distanceL2, scores.L2_distance, 1e-10, "distanceL2");
        compare(own.paper.distanceVariance, scores.variance_adjusted_max, 1e-10, "distanceVariance");
        compare(own.ibs, scores.IBS.mean_t1_tau_G_reverse, 1e-12, "ibs");
        compare(own.rps, scores.RPS.sum_cens_t_le_c, 1e-12, "rps");
        compare(own.dCalibration.chi2, scores.Dcal.chisq, 1e-10, "D-calibration");
        compare(own.paper.totalScore, scores.total_score, 1e-12, "total score");
      }
    });
  }
});

describe("evaluate", () => {
  it("equals the plain form on physically repeated rows, to 1e-10, for every score", () => {
    fc.assert(
      fc.property(
        fc.record({
          N: fc.integer({ min: 1, max: 90 }),
          T: fc.integer({ min: 1, max: 14 }),
          seed: fc.integer({ min: 0, max: 1e6 }),
          // Few distinct survival values make ties between events and later rows, and curves that reach 0.
          ties: fc.constantFrom(0, 0, 7),
          share: fc.constantFrom(1, 0.4),
        }),
        ({ N, T, seed, ties, share }) => {
          const { curves, binned } = randomCohort(N, T, seed, ties);
          const rows = Int32Array.from({ length: N }, (_, row) => row).filter(
            (row) => (row * 7919) % 100 < share * 100,
          );
          const prepared = prepareScores("group", curves, binned, rows);
          const weights = bootstrapWeights(N, seed, 1);
          const plain = scoreCurves("group", curves, binned, repeatRows(weights, rows));
          expectSameScores(evaluate(prepared, weights), plain, `N ${N}, T ${T}, seed ${seed}`);
        },
      ),
      { seed: 20261115, numRuns: 300 },
    );
  });

  it("does so at the size of a real table, on curves with many ties", async () => {
    const { curves, binned } = await loadPredictions("nwtco_stride500_strat");
    const rows = Int32Array.from({ length: curves.N }, (_, row) => row);
    const prepared = prepareScores("all", curves, binned);
    expect(prepared.concordance?.notAbove.length).toBeGreaterThan(0);
    for (const replicate of [0, 1, 2]) {
      const weights = bootstrapWeights(curves.N, 5, replicate);
      const plain = scoreCurves("all", curves, binned, repeatRows(weights, rows));
      expectSameScores(evaluate(prepared, weights), plain, `replicate ${replicate}`);
      // Pairs are counted, not summed: equal to the last bit.
      expect(readScoreValues(evaluate(prepared, weights)).concordance).toBe(plain.concordance);
    }
  });

  it("reads float32 curves like their float64 values", () => {
    const { curves, binned } = randomCohort(60, 10, 3);
    const single = Float32Array.from(curves.survival);
    const weights = bootstrapWeights(60, 1, 0);
    const a = evaluate(prepareScores("a", { ...curves, survival: single }, binned), weights);
    const b = evaluate(
      prepareScores("b", { ...curves, survival: Float64Array.from(single) }, binned),
      weights,
    );
    expect(Array.from(a)).toEqual(Array.from(b));
  });

  it("does not look at rows outside the group", () => {
    const { curves, binned } = randomCohort(40, 8, 9);
    const rows = Int32Array.of(3, 4, 5, 11, 12, 13, 20, 21, 35, 36, 37, 38, 39);
    const prepared = prepareScores("few", curves, binned, rows);
    const once = evaluate(prepared, new Uint8Array(40).fill(1));
    const loud = evaluate(
      prepared,
      Float64Array.from({ length: 40 }, (_, row) => (rows.includes(row) ? 1 : 99)),
    );
    expect(Array.from(loud)).toEqual(Array.from(once));
    // Taken once, the gap has not moved.
    expect(readScoreValues(once).gapL2Root).toBeLessThan(1e-15);
  });

  it("refuses a row outside the table, weights of another length, and NaN by row", () => {
    const { curves, binned } = randomCohort(5, 4, 1);
    expect(() => prepareScores("g", curves, binned, [0, 5])).toThrow("row outside the table of 5 rows: 6");
    expect(() => evaluate(prepareScores("g", curves, binned), [1, 1])).toThrow(
      "weights: 2 values for 5 rows",
    );
    const broken = curves.survival.slice();
    broken[2 * 4 + 1] = Number.NaN;
    expect(() => prepareScores("g", { ...curves, survival: broken }, binned)).toThrow(
      "a predicted survival is not a number: row 3",
    );
  });
});

describe("scores that cannot be computed", () => {
  const paths = (value: unknown, prefix = ""): string[] => {
    if (value === null) return [prefix];
    if (typeof value !== "object") return [];
    return Object.entries(value as object)
      .filter(([key]) => prefix !== "" || (key !== "absent" && key !== "noiseFloor" && key !== "departure"))
      .flatMap(([key, entry]) => paths(entry, prefix === "" ? key : `${prefix}.${key}`));
  };
  const explained = (scores: Scores) => {
    for (const path of paths(scores)) {
      const reason = scores.absent[path] ?? scores.absent[path.split(".")[0]];
      expect(reason, `${path} is null without a reason`).toBeTypeOf("string");
    }
    expect(JSON.stringify(scores)).not.toContain("NaN");
  };

  it("are null with a reason for no rows", () => {
    const { curves, binned } = randomCohort(5, 4, 1);
    const scores = scoreCurves("empty", curves, binned, []);
    explained(scores);
    expect(scores).toMatchObject({
      n: 0,
      events: 0,
      concordance: null,
      ece: null,
      supported: { bins: 0, ece: null },
    });
    expect(scores.absent.concordance).toBe("no comparable pairs");
    expect(scores.absent.ibs).toBe("no rows");
    expect(scores.absent["supported.ece"]).toBe("no rows to average");
  });

  it("are null with a reason for rows without events", () => {
    const { curves, binned } = randomCohort(30, 4, 1);
    const scores = scoreCurves("censored", curves, { ...binned, event: new Uint8Array(30) });
    explained(scores);
    expect(scores.absent).toEqual({
      concordance: "no comparable pairs",
      concordanceHalfTies: "no comparable pairs",
      distanceVariance: "no bin with a defined, positive variance",
      "paper.distanceVariance": "no bin with a defined, positive variance",
      "paper.totalScore": "no comparable pairs",
      "supported.distanceVariance": "no bin with a defined, positive variance",
      totalScore: "no comparable pairs",
    });
    expect(scores.ece).toBeGreaterThan(0);
  });

  it("over the support are null when ten are never at risk; the paper's are there", () => {
    const { curves, binned } = randomCohort(9, 4, 1);
    const scores = scoreCurves("nine", curves, binned);
    explained(scores);
    expect(scores.supported).toEqual({ bins: 0, ece: null, distanceL2: null, distanceVariance: null });
    expect(scores.absent["supported.ece"]).toBe("no bin with follow-up");
    expect(scores).toMatchObject({ ece: null, distanceL2: null, totalScore: null });
    expect(scores.paper.ece).toBeGreaterThan(0);
  });
});
