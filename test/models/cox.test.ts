// The Cox fit against R's coxph (test/oracles/cox/cox.R), against fractions worked by hand, and at the edges of what
// can be fitted.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { isAbsent, type Measured } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import { robustCox } from "../../src/models/cox/coefficients.ts";
import {
  type ChiSquareTest,
  type CoxOptions,
  fitCox,
  fitCoxInPlace,
  requireCurves,
} from "../../src/models/cox/cox.ts";
import { testProportionalHazards } from "../../src/models/cox/proportional.ts";
import { loadCoxFixture, RECIPES, type TypedCoxInput } from "./cox-designs.ts";

interface FitOracle {
  readonly coef: readonly number[];
  readonly se: readonly number[];
  readonly loglik_null: number;
  readonly loglik: number;
  readonly vcov?: readonly (readonly number[])[];
  readonly lr: number;
  readonly score: number;
  readonly wald: number;
  readonly theta?: number;
}

const oracle = JSON.parse(readFileSync(new URL("../oracles/cox/cox.json", import.meta.url), "utf8"));

const COEFFICIENT = 1e-10; // absolute; R's own last step is about 1e-11 from the maximum
const LIKELIHOOD = 1e-12; // relative
const STATISTIC = 1e-10; // relative

function expectNear(actual: ArrayLike<number>, expected: readonly number[], tolerance: number): void {
  expect(actual.length).toBe(expected.length);
  expected.forEach((value, i) => {
    expect(Math.abs(actual[i] - value), `entry ${i}: ${actual[i]} against ${value}`).toBeLessThanOrEqual(
      tolerance,
    );
  });
}

const relative = (actual: number, expected: number) => Math.abs(actual / expected - 1);
const chiSquare = (result: Measured<ChiSquareTest>) => (isAbsent(result) ? Number.NaN : result.chiSquare);

function expectFit(input: TypedCoxInput, options: CoxOptions, expected: FitOracle) {
  const model = fitCox(input, options);
  expect(model.warnings).toEqual([]);
  expect(model.converged).toBe(true);
  expectNear(model.coefficients, expected.coef, COEFFICIENT);
  expectNear(model.standardErrors, expected.se, COEFFICIENT);
  expect(relative(model.logLikelihood, expected.loglik)).toBeLessThan(LIKELIHOOD);
  if (expected.loglik_null !== undefined)
    expect(relative(model.logLikelihoodNull, expected.loglik_null)).toBeLessThan(LIKELIHOOD);
  if (expected.vcov) {
    expectNear(model.covariance, expected.vcov.flat(), COEFFICIENT);
    expect(relative(chiSquare(model.tests.likelihoodRatio), expected.lr)).toBeLessThan(STATISTIC);
    expect(relative(chiSquare(model.tests.score), expected.score)).toBeLessThan(STATISTIC);
    expect(relative(chiSquare(model.tests.wald), expected.wald)).toBeLessThan(STATISTIC);
  }
  return model;
}

describe.each(Object.keys(RECIPES).filter((name) => oracle[name]))("coxph on %s", (name) => {
  const expected = oracle[name];
  test.each(["efron", "breslow"] as const)("%s ties: raw and binned times, weights, ridge", async (ties) => {
    const { bin, ...input } = await loadCoxFixture(name);
    expect(input.names).toEqual(expected.columns);
    const model = expectFit(input, { ties }, expected[ties]);
    expect(model.n).toBe(expected.n);
    expect(model.events).toBe(expected.events);
    expectFit({ ...input, time: bin }, { ties }, expected[`binned_${ties}`]);
    if (expected[`weighted_${ties}`]) {
      const weights = input.time.map((_, i) => 0.5 * (1 + (i % 4)));
      expectFit(input, { ties, weights }, expected[`weighted_${ties}`]);
      const ridge: FitOracle = expected[`ridge_${ties}`];
      expectFit(input, { ties, ridge: ridge.theta ?? Number.NaN }, ridge);
    }
  });
});

describe("worked by hand", () => {
  // L = e/(2e+1) · 1/(1+e) · e/e with e = exp β: the score is zero at e² = 1/2.
  const input: TypedCoxInput = {
    time: Float64Array.of(1, 2, 3),
    event: Uint8Array.of(1, 1, 1),
    x: Float64Array.of(1, 0, 1),
    D: 1,
  };

  test.each(["efron", "breslow"] as const)("three rows, %s", (ties) => {
    const model = fitCox(input, { ties });
    const e = Math.SQRT1_2;
    expect(model.coefficients[0]).toBeCloseTo(-Math.LN2 / 2, 14);
    expect(model.logLikelihood).toBeCloseTo(Math.log(e / (2 * e + 1) / (1 + e)), 14);
    expect(model.logLikelihoodNull).toBeCloseTo(-Math.log(6), 14);
    // information = p(1−p) summed over the risk sets, p the weighted share of x = 1
    const information = (2 * e) / (2 * e + 1) ** 2 + e / (1 + e) ** 2;
    expect(model.standardErrors[0]).toBeCloseTo(1 / Math.sqrt(information), 13);
    // at β = 0: score 1 − 2/3 − 1/2, information 2/9 + 1/4
    expect(chiSquare(model.tests.score)).toBeCloseTo((1 / 6) ** 2 / (17 / 36), 14);
    expect(model.names).toEqual(["x1"]);
  });

  test("no covariates: the null model, its likelihood −log of the risk sets", () => {
    const model = fitCox({ ...input, x: new Float64Array(0), D: 0 });
    expect(model.logLikelihood).toBeCloseTo(-Math.log(6), 14);
    expect(model.logLikelihoodNull).toBe(model.logLikelihood);
    expect(model.coefficients.length).toBe(0);
    expect(model.tests.wald).toEqual({ absent: "no covariates" });
    expect(Array.from(model.baseline.cumulativeHazardAtMeans)).toEqual([
      1 / 3,
      1 / 3 + 1 / 2,
      1 / 3 + 1 / 2 + 1,
    ]);
    expect(model.warnings).toEqual([]);
  });

  test("Breslow with whole weights is Breslow with repeated rows; weight 0 leaves a row out", async () => {
    const { time, event, x } = await loadCoxFixture("tiny_heavy_ties");
    const weights = Array.from(time, (_, i) => i % 3);
    const rows = weights.flatMap((weight, row) => Array<number>(weight).fill(row));
    const repeated = {
      time: Float64Array.from(rows, (row) => time[row]),
      event: Uint8Array.from(rows, (row) => event[row]),
      x: Float64Array.from(rows, (row) => x[row]),
      D: 1,
    };
    const weighted = fitCox({ time, event, x, D: 1 }, { ties: "breslow", weights });
    const plain = fitCox(repeated, { ties: "breslow" });
    expect(weighted.coefficients[0]).toBeCloseTo(plain.coefficients[0], 12);
    expect(weighted.standardErrors[0]).toBeCloseTo(plain.standardErrors[0], 12);
    expect(weighted.logLikelihood).toBeCloseTo(plain.logLikelihood, 11);
    expect(weighted.n).toBe(16);
  });
});

describe("what cannot be estimated", () => {
  test("columns determined by earlier ones: as R, no coefficient, and a warning with the name", async () => {
    const { time, event, x } = await loadCoxFixture("lung");
    const expected = oracle.aliased;
    const wide = Float64Array.from(
      Array.from(time).flatMap((_, i) => {
        const [age, sex, ecog] = x.subarray(3 * i, 3 * i + 3);
        return [age, 2 * age - 3, sex, 1, age + sex, ecog];
      }),
    );
    const model = fitCox({ time, event, x: wide, D: 6, names: expected.columns });
    const kept = [0, 2, 5];
    expect(Array.from(model.coefficients, Number.isNaN)).toEqual([false, true, false, true, true, false]);
    expectNear(
      kept.map((j) => model.coefficients[j]),
      kept.map((j) => expected.coef[j]),
      COEFFICIENT,
    );
    expectNear(
      kept.map((j) => model.standardErrors[j]),
      kept.map((j) => expected.se[j]),
      COEFFICIENT,
    );
    expect(Array.from(model.standardErrors, Number.isNaN)).toEqual([false, true, false, true, true, false]);
    expect(relative(model.logLikelihood, expected.loglik)).toBeLessThan(LIKELIHOOD);
    expect(model.tests.score).toMatchObject({ df: expected.df });
    expect(relative(chiSquare(model.tests.score), expected.score)).toBeLessThan(STATISTIC);
    expect(relative(chiSquare(model.tests.wald), expected.wald)).toBeLessThan(STATISTIC);
    expect(model.warnings).toEqual(
      ["twice", "one", "mix"].map(
        (name) => `column "${name}" is constant or determined by the columns before it: no coefficient`,
      ),
    );
  });

  test("a constant column whose mean is rounded", () => {
    const time = Float64Array.from({ length: 30 }, (_, i) => i);
    const model = fitCox({
      time,
      event: new Uint8Array(30).fill(1),
      x: new Float64Array(30).fill(0.1),
      D: 1,
    });
    expect(model.coefficients[0]).toBeNaN();
    expect(model.tests.wald).toEqual({ absent: "no estimable covariate" });
  });

  test("a coefficient on its way to infinity: R's value of the others, R's likelihood, and a warning", async () => {
    const { time, event, x } = await loadCoxFixture("tiny_heavy_ties");
    const expected = oracle.monotone;
    const wide = Float64Array.from(Array.from(time).flatMap((_, i) => [x[i], expected.z[i]]));
    const model = fitCox({ time, event, x: wide, D: 2, names: ["x", "z"] });
    expect(model.warnings).toEqual([
      'the coefficient of "z" runs to infinity: the likelihood keeps growing with it',
    ]);
    expect(model.infinite).toEqual([1]);
    expect(Array.from(model.standardErrors, Number.isNaN)).toEqual([false, true]);
    expect(model.tests.wald).toEqual({ absent: "a coefficient is infinite" });
    expect(model.coefficients[0]).toBeCloseTo(expected.coef[0], 8);
    expect(model.coefficients[1]).toBeGreaterThan(20);
    expect(Math.abs(model.logLikelihood - expected.loglik)).toBeLessThan(1e-7);
  });

  test("a likelihood that goes to 1: one event, the largest x", async () => {
    const { time, event, x } = await loadCoxFixture("tiny_single_event");
    const model = fitCox({ time, event, x, D: 1, names: ["x"] });
    expect(model.warnings).toHaveLength(1);
    expect(model.warnings[0]).toContain('"x"');
    expect(model.logLikelihood).toBeGreaterThan(-1e-8);
  });

  test.each([1e6, 1e9, 1e12])("a value of %d beside 0 … 6 is fitted, not lost", (outlier) => {
    // The first to die has the outlier: its risk set contributes nothing, and the maximum is that of the other 99
    // (R: coxph(Surv(t, e) ~ x, d[-1, ]) gives 0.0250251048253599, se 0.0504817737088937).
    const N = 100;
    const time = Float64Array.from({ length: N }, (_, i) => i + 1);
    const x = time.map((t) => (t < 2 ? outlier : t % 7));
    const model = fitCox({ time, event: new Uint8Array(N).fill(1), x, D: 1 });
    expect(model.warnings).toEqual([]);
    expect(model.coefficients[0]).toBeCloseTo(0.0250251048253599, 13);
    expect(model.standardErrors[0]).toBeCloseTo(0.0504817737088937, 13);
  });

  test("a value far out in a row that lives longest holds its coefficient near 0, not at infinity", () => {
    const N = 40;
    const time = Float64Array.from({ length: N }, (_, i) => i + 1);
    const event = Uint8Array.from(time, (t) => (t < N ? 1 : 0));
    // Without the last row the score at 0 is positive; with it, β ends where exp(1e9 β) is about 1e-9.
    const x = time.map((t) => (t === N ? 1e9 : -(t % 10)));
    const model = fitCox({ time, event, x, D: 1 });
    const without = fitCox({ time: time.slice(0, -1), event: event.slice(0, -1), x: x.slice(0, -1), D: 1 });
    expect(without.coefficients[0]).toBeGreaterThan(0);
    expect(model.infinite).toEqual([]);
    expect(model.converged).toBe(true);
    expect(model.coefficients[0]).toBeLessThan(0);
    expect(model.coefficients[0]).toBeGreaterThan(-1e-7);
  });

  test("a category without events in its reference: both levels run to infinity, the rest is the limit", () => {
    const random = createRandom(8);
    const N = 120;
    const level = Array.from({ length: N }, (_, i) => i % 3);
    const z = Array.from({ length: N }, () => random.normal());
    const time = Float64Array.from(z, (value) => -Math.log(1 - random.uniform()) * Math.exp(-value));
    const event = Uint8Array.from(level, (g) => (g === 0 ? 0 : 1));
    const x = Float64Array.from(level.flatMap((g, i) => [g === 1 ? 1 : 0, g === 2 ? 1 : 0, z[i]]));
    const model = fitCox({ time, event, x, D: 3, names: ["g1", "g2", "z"] });
    expect(model.warnings).toEqual([
      'the coefficients of "g1", "g2" run to infinity: the likelihood keeps growing with them',
    ]);
    const rows = level.flatMap((g, i) => (g === 0 ? [] : [i]));
    const limit = fitCox({
      time: Float64Array.from(rows, (i) => time[i]),
      event: Uint8Array.from(rows, () => 1),
      x: Float64Array.from(rows.flatMap((i) => [x[3 * i], z[i]])),
      D: 2,
    });
    expect(model.coefficients[2]).toBeCloseTo(limit.coefficients[1], 9);
    expect(model.standardErrors[2]).toBeCloseTo(limit.standardErrors[1], 9);
    expect(model.coefficients[0] - model.coefficients[1]).toBeCloseTo(limit.coefficients[0], 9);
  });

  test("a ridge penalty makes both estimable", async () => {
    const { time, event, x } = await loadCoxFixture("tiny_single_event");
    const wide = Float64Array.from(Array.from(x).flatMap((value) => [value, value]));
    const model = fitCox({ time, event, x: wide, D: 2 }, { ridge: 0.1 });
    expect(model.warnings).toEqual([]);
    expect(model.coefficients[0]).toBeCloseTo(model.coefficients[1], 10);
    expect(model.tests.likelihoodRatio).toEqual({ absent: "fitted with a ridge penalty" });
  });

  test("nearly collinear columns are estimated, not called infinite", () => {
    const random = createRandom(5);
    const N = 400;
    const x = new Float64Array(2 * N);
    const time = new Float64Array(N);
    for (let i = 0; i < N; i++) {
      x[2 * i] = random.normal();
      x[2 * i + 1] = x[2 * i] + 1e-4 * random.normal();
      time[i] = -Math.log(1 - random.uniform()) * Math.exp(-x[2 * i]);
    }
    const model = fitCox({ time, event: new Uint8Array(N).fill(1), x, D: 2 });
    expect(model.warnings).toEqual([]);
    expect(model.coefficients[0] + model.coefficients[1]).toBeCloseTo(1, 0);
  });

  test("too few iterations", async () => {
    const input = await loadCoxFixture("lung");
    const model = fitCox(input, { maxIterations: 2 });
    expect(model.converged).toBe(false);
    expect(model.warnings).toEqual(["Newton's method did not converge in 2 iterations"]);
  });
});

describe("a fit that curves are made from", () => {
  test("must have converged, and have hazards that are numbers", async () => {
    const input = await loadCoxFixture("lung");
    expect(() => requireCurves(fitCox(input, { maxIterations: 2 }))).toThrow(
      "the Cox fit did not converge in 2 iterations",
    );
    const model = fitCox(input);
    expect(() => requireCurves(model)).not.toThrow();
    const endless = { time: Float64Array.of(1, 2), cumulativeHazardAtMeans: Float64Array.of(1, Infinity) };
    expect(() => requireCurves({ ...model, baseline: endless })).toThrow(
      "the baseline hazard of the Cox fit is not a number above 0: Infinity",
    );
  });
});

describe("refusals", () => {
  const good: TypedCoxInput = {
    time: Float64Array.of(1, 2, 3),
    event: Uint8Array.of(1, 0, 1),
    x: Float64Array.of(1, 2, 1),
    D: 1,
    names: ["age"],
  };
  const refusal = (change: Partial<TypedCoxInput>, options: CoxOptions = {}): InputError => {
    try {
      fitCox({ ...good, ...change }, options);
    } catch (error) {
      if (error instanceof InputError) return error;
      throw error;
    }
    throw new Error("not refused");
  };

  test("messages say what was wrong and where", () => {
    expect(refusal({ event: new Uint8Array(3) }).message).toBe(
      "no events among 3 rows: a Cox model needs at least one",
    );
    const missing = refusal({ x: Float64Array.of(1, Number.NaN, Number.NaN) });
    expect(missing.message).toBe('column "age" is not a finite number: NaN');
    expect(missing.where).toBe("rows 2 and 3");
    expect(refusal({ time: Float64Array.of(1, Number.POSITIVE_INFINITY, 2) }).where).toBe("row 2");
    expect(refusal({ event: Uint8Array.of(1, 0, 2) }).message).toBe("event is neither 0 nor 1: 2");
    expect(refusal({ x: Float64Array.of(1, 2) }).message).toBe(
      "x has 2 entries, expected 3 rows × 1 columns",
    );
    expect(refusal({ names: ["a", "b"] }).message).toBe("2 names for 1 columns");
    expect(refusal({}, { weights: [1, -1, 1] }).message).toBe("weight is not ≥ 0: -1");
    expect(refusal({}, { weights: [0, 1, 0] }).code).toBe("outcome.noEvents");
    expect(refusal({}, { ridge: -1 }).code).toBe("cox.ridge");
    const none = { time: new Float64Array(0), event: new Uint8Array(0), x: new Float64Array(0) };
    expect(refusal(none).message).toBe("no rows: a Cox model needs at least one");
  });
});

describe("invariance", () => {
  const tables = fc.record({
    seed: fc.integer({ min: 1, max: 1e6 }),
    N: fc.integer({ min: 30, max: 60 }),
    ties: fc.constantFrom("efron" as const, "breslow" as const),
    distinct: fc.constantFrom(5, 1000),
  });
  const simulate = (seed: number, N: number, distinct: number): TypedCoxInput => {
    const random = createRandom(seed);
    const x = Float64Array.from({ length: 2 * N }, () => random.normal());
    const time = Float64Array.from({ length: N }, () => 1 + random.integer(distinct));
    const event = Uint8Array.from({ length: N }, () => (random.uniform() < 0.7 ? 1 : 0));
    return { time, event, x, D: 2 };
  };

  test("order of rows, units and origin of columns, scale of time", () => {
    fc.assert(
      fc.property(tables, ({ seed, N, ties, distinct }) => {
        const input = simulate(seed, N, distinct);
        const model = fitCox(input, { ties });
        const moved = fitCox(
          {
            time: input.time.map((time) => 3 * time + 1).reverse(),
            event: input.event.slice().reverse(),
            x: Float64Array.from(input.x, (_, at) => {
              const row = N - 1 - Math.floor(at / 2);
              return at % 2 === 0 ? 1e-6 * input.x[2 * row] : 1e6 - input.x[2 * row + 1] / 8;
            }),
            D: 2,
          },
          { ties },
        );
        expect(moved.coefficients[0] * 1e-6).toBeCloseTo(model.coefficients[0], 9);
        expect(moved.coefficients[1] / -8).toBeCloseTo(model.coefficients[1], 9);
        expect(moved.logLikelihood).toBeCloseTo(model.logLikelihood, 8);
      }),
      { numRuns: 40, seed: 1 },
    );
  });
});

describe.each(["efron", "breslow"] as const)("a design whose memory is taken, %s", (ties) => {
  test.each([1, 3])("gives the fit of a copy, with %d strata", (strata) => {
    const random = createRandom(12);
    const [N, D] = [400, 3];
    const time = Float64Array.from({ length: N }, () => 1 + random.integer(60));
    const event = Uint8Array.from({ length: N }, () => random.integer(2));
    const x = Float64Array.from({ length: N * D }, () => random.normal());
    const of = Int32Array.from({ length: N }, () => random.integer(strata));
    const input = { time, event, D, strata: of };
    const copied = fitCox({ ...input, x }, { ties });
    const { fit, prepared } = fitCoxInPlace({ ...input, x: x.slice() }, { ties });
    expect(fit).toEqual(copied);
    const terms = [{ name: "x1", columns: [0] }];
    expect(testProportionalHazards(prepared, fit, terms, "km")).toEqual(
      testProportionalHazards({ ...input, x }, fit, terms, "km"),
    );
    const cluster = Array.from({ length: N }, (_, row) => row % 100);
    expect(robustCox(prepared, fit, cluster)).toEqual(robustCox({ ...input, x }, fit, cluster));
  });
});
