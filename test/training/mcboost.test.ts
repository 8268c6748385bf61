// Worked tables with fractions by hand; the reference's faults one by one; a cohort with a planted group; properties.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isAbsent, type Measured } from "../../src/core/measured.ts";
import { createRandom, shuffle } from "../../src/core/random.ts";
import type { Curves } from "../../src/data/curves/curves.ts";
import type { BinnedRightCensored } from "../../src/data/outcomes/outcomes.ts";
import {
  applyBoost,
  type Boost,
  type BoostGroup,
  type BoostInput,
  boostCurves,
  fitBoost,
} from "../../src/repair/mcboost.ts";
import {
  auditRidge,
  measureTargets,
  predictRidge,
  SMALLEST_CENSORING_SURVIVAL,
  weighCensoring,
} from "../../src/repair/mcboost-auditors.ts";
import { distanceL2, meanCurve } from "../../src/stats/calibration/calibration.ts";
import { kaplanMeierBinned } from "../../src/stats/kaplan-meier.ts";
import { brierBinned } from "../../src/stats/scores/brier.ts";
import { randomCohort } from "../stats/simulated-cohort.ts";

const EXACT = 1e-14; // a handful of roundings

function present<T>(value: Measured<T>): T {
  if (isAbsent(value)) throw new Error(value.absent);
  return value;
}

function expectClose(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance = EXACT) {
  expect(actual.length).toBe(expected.length);
  let worst = 0;
  for (let k = 0; k < expected.length; k++) {
    if (!(Math.abs(actual[k] - expected[k]) <= Math.abs(actual[worst] - expected[worst]))) worst = k;
  }
  if (expected.length === 0) return;
  const message = `entry ${worst}: ${actual[worst]} for ${expected[worst]}`;
  expect(Math.abs(actual[worst] - expected[worst]), message).toBeLessThan(tolerance);
}

function tableOf(curve: readonly number[], bins: readonly number[], events: readonly number[]) {
  const N = bins.length;
  const T = curve.length;
  const curves: Curves = {
    N,
    T,
    survival: Float64Array.from({ length: N * T }, (_, k) => curve[k % T]),
  };
  const outcomes: BinnedRightCensored = { T, bin: Int32Array.from(bins), event: Uint8Array.from(events) };
  return { curves, outcomes };
}

function rowOf(curves: Curves, row: number) {
  return Array.from(curves.survival.slice(row * curves.T, (row + 1) * curves.T));
}

/** Everything in one cell. */
function wholeOf(T: number) {
  return { fromBin: 1, toBin: T, low: 0, high: 1 };
}

// Four people, three bins: A dies in bin 1, B is censored in bin 2, C dies and D is censored in bin 3. G, events of a
// bin before its censorings: 1 after bin 1, 2/3 after bin 2, 0 after bin 3. Two are followed past bin 2, nobody past 3.
// weight × residual:   t = 1   3/4, −1/4, −1/4, −1/4      mean 0    = 3/4 − KM
//                      t = 2   1/2,    0, −3/4, −3/4      mean −1/4 = 1/2 − KM
const FOUR = tableOf([3 / 4, 1 / 2, 1 / 4], [1, 2, 3, 3], [1, 0, 1, 0]);
const ALL: BoostGroup = { name: "all", rows: [0, 1, 2, 3] };
const EARLY: BoostGroup = { name: "A and B", rows: [0, 1] };
const LATE: BoostGroup = { name: "C and D", expression: "letter in {C, D}", rows: [2, 3] };

describe("one round by hand", () => {
  const input: BoostInput = { ...FOUR, groups: [ALL, EARLY, LATE] };
  const options = { rounds: 1, minimumFollowed: 1 };

  test("targets: the mean over the cell's audited columns", () => {
    const weights = weighCensoring(FOUR.outcomes, { minimumFollowed: 1, reference: false });
    expect(weights.auditedBins).toBe(2);
    const { survival } = FOUR.curves;
    const audited = {
      outcomes: FOUR.outcomes,
      survival: Float64Array.from(survival),
      located: Float64Array.from(survival),
    };
    const rows = Int32Array.of(0, 1, 2, 3);
    expectClose(measureTargets(audited, weights, wholeOf(3), rows).target, [5 / 8, -1 / 8, -1 / 2, -1 / 2]);
    const late = { ...wholeOf(3), fromBin: 2 };
    expectClose(measureTargets(audited, weights, late, rows).target, [1 / 2, 0, -3 / 4, -3 / 4]);
    // The last range holds its upper end, the others do not.
    const ends = { ...audited, located: new Float64Array(12).fill(1) };
    expect(measureTargets(ends, weights, { ...wholeOf(3), low: 0.6 }, rows).rows).toHaveLength(4);
    const below = { ...audited, located: new Float64Array(12).fill(0.6) };
    expect(measureTargets(below, weights, { ...wholeOf(3), high: 0.6 }, rows).rows).toHaveLength(0);
    // Only S(1) = 3/4 is in [0.6, 1]: the entry outside counts as 0 and the divisor stays 2.
    const high = { ...wholeOf(3), low: 0.6 };
    expectClose(measureTargets(audited, weights, high, rows).target, [3 / 8, -1 / 8, -1 / 8, -1 / 8]);
  });

  test("the largest correlation is C and D's in the late cell, −3/8, and they are raised by exp(0.075)", () => {
    const { boost, curves } = boostCurves(input, options);
    expect(boost.stopped).toBe("rounds");
    expect(boost.skipped).toEqual([]);
    expect(boost.updates).toHaveLength(1);
    const [update] = boost.updates;
    expect(update.cell).toEqual({ fromBin: 2, toBin: 3, low: 0, high: 1 });
    expect(update.auditor).toMatchObject({ kind: "group", group: 2 });
    expect(boost.groups[2]).toEqual({ name: "C and D", expression: "letter in {C, D}" });
    expectClose([update.correlation, boost.history[0]], [-3 / 8, 3 / 8]);
    if (update.auditor.kind === "group") expectClose([update.auditor.value], [-3 / 4]);
    const raised = Math.exp(0.075);
    expect(rowOf(curves, 0)).toEqual([3 / 4, 1 / 2, 1 / 4]);
    expect(rowOf(curves, 1)).toEqual([3 / 4, 1 / 2, 1 / 4]);
    expectClose(rowOf(curves, 2), [3 / 4, raised / 2, raised / 4]);
    expectClose(rowOf(curves, 3), [3 / 4, raised / 2, raised / 4]);
    // What is left: C and D's late residual is 3/2·(raised/2 − 1); the history ends with the fitted curves.
    expectClose([boost.history[1]], [(3 / 4) * (1 - raised / 2)]);
  });

  test("additive: S − η·h", () => {
    const { curves } = boostCurves(input, { ...options, multiplicative: false });
    expectClose(rowOf(curves, 3), [3 / 4, 0.575, 0.325]);
  });

  test("a raised curve is clipped at 1 and held by the bins before it; one at 0 can be raised", () => {
    const { curves } = boostCurves({ ...FOUR, groups: [LATE] }, { ...options, step: 2 });
    // exp(1.5)/2 and exp(1.5)/4 are above 1, and then above S(1).
    expect(rowOf(curves, 2)).toEqual([3 / 4, 3 / 4, 3 / 4]);
    const zero = tableOf([3 / 4, 0, 0], [1, 2, 3, 3], [1, 0, 1, 0]);
    const lifted = boostCurves({ ...zero, groups: [LATE] }, options);
    expectClose(rowOf(lifted.curves, 2), [3 / 4, 1e-4 * Math.exp(0.15), 1e-4 * Math.exp(0.15)]);
    const whole = boostCurves({ ...FOUR, groups: [LATE] }, { ...options, timeBuckets: 1, step: 2 });
    expectClose(rowOf(whole.curves, 2), [1, 1, Math.exp(1) / 4]);
  });

  test("ridge: slope −4/5 and intercept 3/20 at penalty 1/4, correlation 21/80", () => {
    const features = { N: 4, D: 2, values: [0, 7, 0, 7, 1, 7, 1, 7] };
    const { boost, curves } = boostCurves(
      { ...FOUR, features },
      { ...options, auditor: "ridge", ridgePenalty: 1 / 4 },
    );
    const [{ cell, auditor, correlation }] = boost.updates;
    expect(cell.fromBin).toBe(2);
    if (auditor.kind !== "ridge") throw new Error("not a ridge auditor");
    expectClose([auditor.intercept, ...auditor.coefficients, correlation], [3 / 20, -4 / 5, 0, 21 / 80]);
    expectClose(rowOf(curves, 0), [3 / 4, Math.exp(-0.015) / 2, Math.exp(-0.015) / 4]);
    expectClose(rowOf(curves, 2), [3 / 4, Math.exp(0.065) / 2, Math.exp(0.065) / 4]);
    const applied = applyBoost(boost, FOUR.curves, { features });
    expect(applied.survival).toEqual(curves.survival);
  });
});

describe("what the residual estimates", () => {
  test("one curve for everyone: the mean residual is S − Kaplan-Meier at every audited bin, not with G(T_i)", () => {
    const { curves, binned } = randomCohort(300, 8, 5);
    const km = kaplanMeierBinned(binned);
    const survival = Float64Array.from(curves.survival, (_, k) => 1 - (k % 8) / 9);
    const audited = { outcomes: binned, survival, located: survival };
    const everyone = Int32Array.from({ length: 300 }, (_, row) => row);
    const gapsOf = (reference: boolean) => {
      const weights = weighCensoring(binned, { minimumFollowed: 10, reference });
      return Float64Array.from({ length: 7 }, (_, k) => {
        const cell = { fromBin: k + 1, toBin: k + 1, low: 0, high: 1 };
        const { target } = measureTargets(audited, weights, cell, everyone);
        return target.reduce((sum, value) => sum + value, 0) / 300;
      });
    };
    const expected = Float64Array.from({ length: 7 }, (_, k) => survival[k] - km.survival[k + 1]);
    expectClose(gapsOf(false), expected, 1e-12);
    const wrong = gapsOf(true).map((gap, k) => Math.abs(gap - expected[k]));
    expect(Math.max(...wrong)).toBeGreaterThan(0.03);
  });

  test("G is floored at 1e-4, and nothing is audited past the last bin with enough rows followed past it", () => {
    // 20,000 censored in bin 1, one followed to bin 2: G(1) = 1/20001.
    const bin = new Int32Array(20001).fill(1);
    bin[0] = 2;
    const outcomes = { T: 2, bin, event: new Uint8Array(20001) };
    const weights = weighCensoring(outcomes, { minimumFollowed: 1, reference: false });
    expect(weights.alive[1]).toBe(1 / SMALLEST_CENSORING_SURVIVAL);
    expect(weights.auditedBins).toBe(1);
    expect(weighCensoring(outcomes, { minimumFollowed: 2, reference: false }).auditedBins).toBe(0);
    const curves = { N: 20001, T: 2, survival: new Float64Array(40002).fill(0.5) };
    const boost = fitBoost({ curves, outcomes, groups: [{ name: "all", rows: [0, 1] }] });
    expect(boost).toMatchObject({ stopped: "unaudited", updates: [], history: [], auditedBins: 0 });
  });

  test("a group followed for less time: the pooled censoring curve pulls it down, its own does not", () => {
    // Twenty each, two die in every bin, so S = 1 − t/10 is right; the long are censored in bin 4, the short in bin 2.
    const long = {
      bin: [1, 1, 2, 2, 3, 3, ...Array(14).fill(4)],
      event: [1, 1, 1, 1, 1, 1, ...Array(14).fill(0)],
    };
    const short = { bin: [1, 1, 2, 2, ...Array(16).fill(2)], event: [1, 1, 1, 1, ...Array(16).fill(0)] };
    const { curves, outcomes } = tableOf(
      [0.9, 0.8, 0.7, 0.6],
      [...long.bin, ...short.bin],
      [...long.event, ...short.event],
    );
    const groups = [{ name: "short", rows: Array.from({ length: 20 }, (_, i) => 20 + i) }];
    const pooled = fitBoost({ curves, outcomes, groups }, { rounds: 1 });
    // At t = 2 and 3 four of the short are known dead and nobody is known alive: their residual is 4/20·S.
    expectClose([pooled.updates[0].correlation], [(((4 / 20) * (0.8 + 0.7)) / 2) * (20 / 40)]);
    expect(pooled.updates[0].cell).toEqual({ fromBin: 2, toBin: 4, low: 0, high: 1 });
    const own = fitBoost({ curves, outcomes, groups }, { rounds: 1, censoring: "group" });
    expect(own).toMatchObject({ stopped: "tolerance", updates: [] });
    expect(own.history[0]).toBeLessThan(EXACT);
  });

  test("the ridge auditor is stationary: residual mean 0, moments = penalty × slope; spare features harm nothing", () => {
    const random = createRandom(3);
    const N = 60;
    const D = 4;
    const values = new Float64Array(N * D);
    const target = new Float64Array(N);
    for (let i = 0; i < N; i++) {
      values[i * D] = 5 + 2 * random.normal();
      values[i * D + 1] = 100 * random.normal() + values[i * D];
      values[i * D + 2] = 3;
      values[i * D + 3] = 1 - 2 * values[i * D];
      target[i] = random.normal() + 0.3 * values[i * D];
    }
    const rows = Int32Array.from({ length: N }, (_, row) => row);
    for (const penalty of [0, 0.01, 2]) {
      const features = { N, D, values };
      const [{ auditor, correlation }] = auditRidge({ rows, target }, features, wholeOf(1), penalty, N);
      if (auditor.kind !== "ridge") throw new Error("not a ridge auditor");
      const h = Float64Array.from(rows, (row) => predictRidge(auditor, features, row));
      expect(Math.abs(h.reduce((sum, value, i) => sum + value - target[i], 0))).toBeLessThan(1e-10);
      expectClose([correlation], [h.reduce((sum, value, i) => sum + value * target[i], 0) / N], 1e-12);
      expect(correlation).toBeGreaterThan(0);
      for (let j = 0; j < D; j++) {
        const column = Float64Array.from(rows, (row) => values[row * D + j]);
        const mean = column.reduce((sum, x) => sum + x, 0) / N;
        const sd = Math.sqrt(column.reduce((sum, x) => sum + (x - mean) ** 2, 0) / N);
        if (sd === 0) {
          expect(auditor.coefficients[j]).toBe(0);
          continue;
        }
        const moment = column.reduce((sum, x, i) => sum + ((x - mean) / sd) * (target[i] - h[i]), 0) / N;
        expectClose([moment], [penalty * auditor.coefficients[j] * sd], 1e-10);
      }
    }
  });
});

describe("the faults of the reference, only on request", () => {
  test("(a) its time ranges collapse: early too high and late too low cancel and nothing is seen", () => {
    // One of four dies in bin 1, three in bin 3: KM 3/4, 3/4, 0. Gaps +1/8, −1/8 and 0.
    const table = tableOf([7 / 8, 5 / 8, 0], [1, 3, 3, 3], [1, 1, 1, 1]);
    const input = { ...table, groups: [ALL] };
    const faulty = boostCurves(input, { reference: true, minimumFollowed: 1 });
    expect(faulty.boost).toMatchObject({ stopped: "tolerance", updates: [] });
    expect(faulty.boost.history[0]).toBeLessThan(EXACT);
    expect(faulty.curves.survival).toEqual(table.curves.survival);
    const { boost, curves } = boostCurves(input, { rounds: 2, minimumFollowed: 1 });
    expectClose(boost.history.slice(0, 2), [1 / 8, 1 / 8]);
    expect(boost.updates.map(({ cell }) => [cell.fromBin, cell.toBin])).toEqual([
      [1, 1],
      [2, 3],
    ]);
    expectClose(rowOf(curves, 1), [
      (7 / 8) * Math.exp(-1 / 80),
      (5 / 8) * Math.exp(1 / 80),
      1e-4 * Math.exp(1 / 80),
    ]);
  });

  test("(b) its sign turns a step up into a step down in training, and prediction forgets the sign", () => {
    // Four, group C and D. The reference audits all three bins and weighs C by 1/G(3) = 3, G simple: 1, 2/3, 1/3.
    // Targets −1/12 (C: −1/4 − 3/4 + 3/4) and −1/3 (D): correlation −5/48, and the auditor predicts just that.
    const input = { ...FOUR, groups: [LATE] };
    const faulty = boostCurves(input, { rounds: 1, reference: true });
    const [update] = faulty.boost.updates;
    expect(update.sign).toBe(-1);
    expectClose([update.correlation], [-5 / 48]);
    if (update.auditor.kind === "group") expectClose([update.auditor.value], [-5 / 48]);
    // Its curves are too low, and training lowers them further.
    expectClose(rowOf(faulty.curves, 2), [1, Math.exp(-5 / 480) / 2, 0]);
    const predicted = applyBoost(faulty.boost, FOUR.curves, { groups: [LATE] });
    expectClose(rowOf(predicted, 2), [1, Math.exp(5 / 480) / 2, 0]);
    // Corrected: up, in training and in prediction alike (worked out above).
    const { boost, curves } = boostCurves(input, { rounds: 1, minimumFollowed: 1 });
    expect(boost.updates[0].sign).toBe(1);
    expectClose([rowOf(curves, 2)[1]], [Math.exp(0.075) / 2]);
    expect(applyBoost(boost, FOUR.curves, { groups: [LATE] }).survival).toEqual(curves.survival);
  });

  test("(c) its evaluation on all rows fails; corrected, rows outside the cell count as 0", () => {
    const options = { correlateOver: "all", timeBuckets: 1, probabilityBuckets: 2, rounds: 1 } as const;
    // Two people at 0.9, who die in bin 2, and two at 0.1, of whom one dies in bin 1: audited at t = 1 only, edge 0.5.
    const table = tableOf([0.9, 0.5], [2, 2, 1, 2], [1, 1, 1, 1]);
    for (const row of [2, 3]) table.curves.survival.set([0.1, 0.05], row * 2);
    const input = { ...table, groups: [{ name: "low", rows: [2, 3] }] };
    expect(() => fitBoost(input, { ...options, reference: true })).toThrow(
      expect.objectContaining({ code: "option.invalid", hint: "the reference fails on it (eval_fulldata)" }),
    );
    // The low pair's targets are 0.1 and −0.9: mean −2/5 over the two rows of their cell, −1/5 over all four.
    const inCell = fitBoost(input, { ...options, correlateOver: "cell", minimumFollowed: 1 });
    const overAll = fitBoost(input, { ...options, minimumFollowed: 1 });
    expectClose([inCell.updates[0].correlation, overAll.updates[0].correlation], [-2 / 5, -1 / 5]);
    expect(inCell.updates[0].cell).toEqual({ fromBin: 1, toBin: 2, low: 0, high: 0.5 });
    expect(overAll.updates[0].cell).toEqual(wholeOf(2));
  });

  test("(d) it moves all of a row that has one entry in the cell", () => {
    // One of two dies in bin 1, the other in bin 4: KM 1/2, 1/2, 1/2, 0 and gaps 0.4, 0.3, −0.2, 0.1.
    const table = tableOf([0.9, 0.8, 0.3, 0.1], [1, 4], [1, 1]);
    const input = { ...table, groups: [{ name: "both", rows: [0, 1] }] };
    const options = { rounds: 1, timeBuckets: 1, probabilityBuckets: 2, minimumFollowed: 1 };
    // Corrected: bins 1–3, edge 0.6, the upper cell has (0.4 + 0.3)/3.
    const { boost, curves } = boostCurves(input, options);
    expectClose([boost.updates[0].cell.low, boost.updates[0].correlation], [0.6, 7 / 30]);
    const down = Math.exp(-7 / 300);
    expectClose(rowOf(curves, 0), [0.9 * down, 0.8 * down, 0.3, 0.1]);
    // Reference: bins 1–4, edge 0.5, (0.4 + 0.3)/4; bin 3 moves too, and bins 1 and 4 are overwritten.
    const faulty = boostCurves(input, { ...options, reference: true });
    expectClose([faulty.boost.updates[0].cell.low, faulty.boost.updates[0].correlation], [0.5, 7 / 40]);
    const all = Math.exp(-7 / 400);
    expectClose(rowOf(faulty.curves, 0), [1, 0.8 * all, 0.3 * all, 0]);
  });

  test("its other ways: equal residuals teach nothing; cells are read from the first curves", () => {
    const table = tableOf([0.5, 0.5, 0.5], [3, 3, 3, 3], [1, 1, 1, 1]);
    const input = { ...table, groups: [ALL] };
    expect(fitBoost(input, { reference: true }).history).toEqual([0]);
    expect(fitBoost(input, { minimumFollowed: 1 }).history[0]).toBe(0.5);
    // (d) again with a step of 3: S(1) and S(2) fall to 0.447 and 0.397, below the edge 0.6, and the upper cell is
    // empty.
    const upper = tableOf([0.9, 0.8, 0.3, 0.1], [1, 4], [1, 1]);
    const steps = { rounds: 2, step: 3, timeBuckets: 1, probabilityBuckets: 2, minimumFollowed: 1 };
    const both = { ...upper, groups: [{ name: "both", rows: [0, 1] }] };
    const second = fitBoost(both, steps).updates[1];
    expect(second.cell).toEqual(wholeOf(4));
    expectClose([second.correlation], [(1.7 * Math.exp(-0.7) + 0.3 - 1.5) / 3]);
    // The reference still counts S(2) = 0.8·exp(−0.525) = 0.473 in its upper cell, [0.5, 1].
    const stale = fitBoost(both, { ...steps, reference: true }).updates[1];
    expect(stale.cell.low).toBe(0.5);
    expectClose([stale.correlation], [(0.8 * Math.exp(-0.525)) / 4]);
  });
});

interface Simulated {
  readonly predicted: Curves;
  readonly truth: Curves;
  readonly outcomes: BinnedRightCensored;
  readonly groups: readonly BoostGroup[];
  readonly features: { readonly N: number; readonly D: number; readonly values: Float64Array };
}

/**
 * A quarter is "planted": the model takes their hazard to be `factor` times what it is; "other" and "some" overlap with
 * it.
 */
function simulate(N: number, seed: number, factor: number): Simulated {
  const T = 20;
  const random = createRandom(seed, 41);
  const truth = new Float64Array(N * T);
  const predicted = new Float64Array(N * T);
  const bin = new Int32Array(N);
  const event = new Uint8Array(N);
  const values = new Float64Array(N * 3);
  const members: number[][] = [[], [], [], []];
  for (let i = 0; i < N; i++) {
    const planted = random.uniform() < 0.25;
    const some = random.uniform() < 0.4;
    const x = random.normal();
    values.set([planted ? 1 : 0, some ? 1 : 0, x], i * 3);
    members[0].push(i);
    members[planted ? 1 : 2].push(i);
    if (some) members[3].push(i);
    const rate = Math.exp(0.5 * x - 0.6 + (some ? 0.3 : 0));
    for (let t = 1; t <= T; t++) {
      truth[i * T + t - 1] = Math.exp((-rate * t) / T);
      predicted[i * T + t - 1] = Math.exp((-rate * (planted ? factor : 1) * t) / T);
    }
    const u = random.uniform();
    let dies = 1;
    while (dies <= T && truth[i * T + dies - 1] > u) dies++;
    const leaves = Math.min(1 + random.integer(2 * T), T);
    event[i] = dies <= leaves ? 1 : 0;
    bin[i] = Math.min(dies, leaves);
  }
  const names = ["all", "planted", "other", "some"];
  return {
    predicted: { N, T, survival: predicted },
    truth: { N, T, survival: truth },
    outcomes: { T, bin, event },
    groups: names.map((name, k) => ({ name, rows: members[k] })),
    features: { N, D: 3, values },
  };
}

function distancesToTruth(curves: Curves, cohort: Simulated): number[] {
  return cohort.groups.map(({ rows }) => {
    const mean = present(meanCurve(curves, undefined, rows));
    return present(distanceL2(mean, present(meanCurve(cohort.truth, undefined, rows))));
  });
}

describe("a planted group", () => {
  const calibration = simulate(3000, 1, 1.8);
  const heldOut = simulate(4000, 2, 1.8);
  const input = { ...calibration, curves: calibration.predicted };
  const before = distancesToTruth(heldOut.predicted, heldOut);
  const ibsBefore = present(brierBinned(heldOut.predicted, heldOut.outcomes)).ibs;
  const byCells = { rounds: 200, timeBuckets: 4, probabilityBuckets: 3 } as const;
  /** Fitted once for the tests that ask for it. */
  const fitted = new Map<object, ReturnType<typeof fitBoost>>();
  const fitOnce = (options: NonNullable<Parameters<typeof fitBoost>[1]>) => {
    const boost = fitted.get(options) ?? fitBoost(input, options);
    fitted.set(options, boost);
    return boost;
  };

  test.each([
    ["group, defaults", {}, 0.6],
    ["group, 100 rounds", { rounds: 100 }, 0.1],
    ["group, its own censoring curve", { rounds: 100, censoring: "group" }, 0.1],
    ["group, additive", { rounds: 100, multiplicative: false }, 0.1],
    ["group, four by three cells", byCells, 0.2],
    ["ridge", { rounds: 100, auditor: "ridge" }, 0.1],
  ] as const)("%s: its held-out distance to the truth falls, nobody else pays", (_, options, share) => {
    const boost = fitOnce(options);
    const boosted = applyBoost(boost, heldOut.predicted, heldOut);
    const after = distancesToTruth(boosted, heldOut);
    expect(after[1]).toBeLessThan(share * before[1]);
    // "other" was at the truth to begin with; the noise of 3000 rows may cost it 0.015 r.m.s.
    expect(before[2]).toBe(0);
    for (const k of [0, 2, 3]) expect(Math.sqrt(after[k])).toBeLessThan(Math.sqrt(before[k]) + 0.015);
    const { ibs } = present(brierBinned(boosted, heldOut.outcomes));
    expect(ibs).toBeLessThan(1.01 * ibsBefore);
    expect(boost.history.at(-1)).toBeLessThan(boost.history[0]);
  });

  test("the reference moves it away from the truth in training", () => {
    const { curves } = boostCurves(input, { rounds: 100, reference: true });
    // Planted curves are too low, correlations negative, every step goes down.
    const inside = (all: Curves) => ({
      ...all,
      survival: all.survival.filter((_, k) => k % all.T > 0 && k % all.T < all.T - 1),
      T: all.T - 2,
    });
    const of = { ...calibration, truth: inside(calibration.truth) };
    const start = distancesToTruth(inside(calibration.predicted), of)[1];
    expect(distancesToTruth(inside(curves), of)[1]).toBeGreaterThan(start);
  });

  test("correlations over the rows of a cell spend their rounds on the sparsest cells", () => {
    const distance = (correlateOver: "all" | "cell") => {
      // Over all is the default.
      const boost = correlateOver === "all" ? fitOnce(byCells) : fitOnce({ ...byCells, correlateOver });
      return Math.sqrt(distancesToTruth(applyBoost(boost, heldOut.predicted, heldOut), heldOut)[1]);
    };
    expectClose([Math.sqrt(before[1]), distance("cell"), distance("all")], [0.15, 0.137, 0.035], 6e-4);
  });

  test("curves that are right stop at once when the tolerance is the noise of their rows", () => {
    const right = simulate(3000, 3, 1);
    const boost = fitBoost({ ...right, curves: right.predicted }, { tolerance: 0.02 });
    expect(boost).toMatchObject({ stopped: "tolerance", updates: [] });
    expect(boost.history).toHaveLength(1);
    expect(applyBoost(boost, heldOut.predicted).survival).toEqual(heldOut.predicted.survival);
  });

  test("everyone's Kaplan-Meier has no residual at all", () => {
    const { survival } = kaplanMeierBinned(calibration.outcomes);
    const { curves } = tableOf(Array.from(survival.slice(1)), Array.from(calibration.outcomes.bin), []);
    const boost = fitBoost(
      { curves, outcomes: calibration.outcomes, groups: calibration.groups.slice(0, 1) },
      { timeBuckets: 5 },
    );
    expect(boost).toMatchObject({ stopped: "tolerance", updates: [] });
    expect(boost.history[0]).toBeLessThan(1e-12);
  });

  test("a tolerance reached on the way stops the boost there", () => {
    const boost = fitBoost(input, { rounds: 1000, tolerance: 0.01 });
    expect(boost.stopped).toBe("tolerance");
    expect(boost.history).toHaveLength(boost.updates.length + 1);
    for (const largest of boost.history.slice(0, -1)) expect(largest).toBeGreaterThanOrEqual(0.01);
    expect(boost.history.at(-1)).toBeLessThan(0.01);
  });
});

describe("edges", () => {
  test("an update that moves nobody gives way to the next largest; when none is left the boost is stuck", () => {
    // Three die in bin 1, curves are at the floor: max(S, 1e-4)·exp(−η·h) comes to rest just below it, never at the
    // truth.
    const floor = tableOf([1e-4, 1e-4, 1e-4], [1, 1, 1, 3], [1, 1, 1, 1]);
    const dead = { name: "dead", rows: [0, 1, 2] };
    const options = { rounds: 500, tolerance: 0, timeBuckets: 1, minimumFollowed: 1 };
    const alone = fitBoost({ ...floor, groups: [dead] }, options);
    expect(alone.stopped).toBe("stuck");
    expect(alone.updates.length).toBeLessThan(5);
    expect(alone.history).toHaveLength(alone.updates.length + 1);
    // A survivor at 1 − 1e-6 has a smaller correlation all along, and gets its turn once the dead have come to rest.
    floor.curves.survival.set([1 - 1e-6, 1 - 1e-6, 1 - 1e-6], 9);
    const groups = [dead, { name: "survivor", rows: [3] }];
    const { boost, curves } = boostCurves({ ...floor, groups }, { ...options, step: 2 });
    const turns = boost.updates.map(({ auditor }) => (auditor.kind === "group" ? auditor.group : -1));
    expect(turns.slice(-2)).toEqual([0, 1]);
    expect(turns.indexOf(1)).toBe(turns.length - 1);
    expect(boost.history[turns.length - 1]).toBeGreaterThan(
      10 * Math.abs(boost.updates[turns.length - 1].correlation),
    );
    expect(boost.stopped).toBe("stuck");
    expect(rowOf(curves, 3)).toEqual([1, 1, 1]);
  });

  test("groups without usable rows are named and left alone", () => {
    const table = tableOf([3 / 4, 1 / 2, 1 / 4], [1, 2, 3, 3, 1], [1, 0, 1, 0, 0]);
    const groups = [{ name: "nobody", rows: [] }, { name: "lost", rows: [4] }, LATE];
    const boost = fitBoost({ ...table, groups }, { minimumFollowed: 1 });
    expect(boost.skipped).toEqual([
      { name: "nobody", reason: "no rows" },
      { name: "lost", reason: "every row is censored in the first bin" },
    ]);
    expect(boost.updates.length).toBe(25);
    for (const { auditor } of boost.updates) expect(auditor).toMatchObject({ group: 2 });
    const small = fitBoost({ ...table, groups }, { minimumFollowed: 2, censoring: "group" });
    expect(small.skipped[1].reason).toBe("too few rows are followed past the first bin");
    // New rows need only the groups that updates speak of, under their names.
    expect(applyBoost(boost, table.curves, { groups: [LATE] }).N).toBe(5);
    expect(() => applyBoost(boost, table.curves, { groups: groups.slice(0, 2) })).toThrow(
      'missing group: "C and D" (have nobody, lost)',
    );
  });

  test("more ranges than bins, one bin, zero rounds", () => {
    const many = fitBoost({ ...FOUR, groups: [ALL] }, { timeBuckets: 9, minimumFollowed: 1, rounds: 1 });
    expect(many.updates[0].cell).toEqual({ fromBin: 2, toBin: 3, low: 0, high: 1 });
    const one = tableOf([0.5], [1, 1], [1, 0]);
    const pair = [{ name: "pair", rows: [0, 1] }];
    expect(fitBoost({ ...one, groups: pair }, { minimumFollowed: 1 }).stopped).toBe("unaudited");
    const none = fitBoost({ ...FOUR, groups: [ALL, LATE] }, { rounds: 0, minimumFollowed: 1 });
    expect(none).toMatchObject({ stopped: "rounds", updates: [] });
    expectClose(none.history, [3 / 8]);
  });

  test.each([
    [{ step: 0 }, "step cannot be 0"],
    [{ rounds: 1.5 }, "rounds cannot be 1.5"],
    [{ timeBuckets: 0 }, "timeBuckets cannot be 0"],
    [{ tolerance: Number.NaN }, "tolerance cannot be NaN"],
    [{ ridgePenalty: -1 }, "ridgePenalty cannot be -1"],
    [{ auditor: "ridge", censoring: "group" }, "censoring cannot be group"],
    [{ reference: true, censoring: "group" }, "censoring cannot be group"],
    [{ auditor: "ridge" }, 'the "ridge" auditor needs features'],
  ] as const)("refuses %o", (options, message) => {
    expect(() => fitBoost({ ...FOUR, groups: [ALL] }, options)).toThrow(message);
  });

  test("refuses curves, groups and features that cannot be meant", () => {
    const bad = { ...FOUR.curves, survival: Float64Array.from(FOUR.curves.survival) };
    bad.survival[4] = 1.5;
    bad.survival[9] = Number.NaN;
    const groups = [ALL];
    expect(() => fitBoost({ ...FOUR, curves: bad, groups })).toThrow("survival outside [0, 1]: rows 2 and 4");
    expect(() => fitBoost(FOUR)).toThrow("no groups to audit");
    expect(() => fitBoost({ ...FOUR, groups: [ALL, ALL] })).toThrow('two groups have the same name: "all"');
    expect(() => fitBoost({ ...FOUR, groups: [{ name: "g", rows: [4] }] })).toThrow("a row outside 0…3: 4");
    const features = { N: 4, D: 1, values: [1, 2, Number.NaN, 4] };
    expect(() => fitBoost({ ...FOUR, features }, { auditor: "ridge" })).toThrow(
      "features are not finite: row 3",
    );
    const short = { N: 3, D: 1, values: [1, 2, 3] };
    expect(() => fitBoost({ ...FOUR, features: short }, { auditor: "ridge" })).toThrow("for 4 rows");
    const boost = fitBoost({ ...FOUR, groups }, { minimumFollowed: 1 });
    expect(() => applyBoost(boost, { N: 1, T: 2, survival: new Float64Array(2) })).toThrow("3 and 2 bins");
    const ridge = fitBoost(
      { ...FOUR, features: { N: 4, D: 1, values: [0, 0, 1, 1] } },
      { auditor: "ridge", minimumFollowed: 1 },
    );
    const wide = { N: 4, D: 2, values: new Float64Array(8) };
    expect(() => applyBoost(ridge, FOUR.curves, { features: wide })).toThrow(
      "2 columns where the boost has 1",
    );
  });
});

/**
 * The definition, cell by cell on a full matrix of weighted residuals: the largest |correlation| of the first round.
 */
function slowLargest(input: BoostInput & { groups: readonly BoostGroup[] }, over: "all" | "cell"): number {
  const { curves, outcomes, groups } = input;
  const { N, T, survival } = curves;
  const count = (holds: (i: number) => boolean) =>
    Array.from(outcomes.bin).reduce((sum, _, i) => sum + (holds(i) ? 1 : 0), 0);
  const G = [1];
  for (let t = 1; t <= T; t++) {
    const lost = count((i) => outcomes.bin[i] === t && outcomes.event[i] === 0);
    const later = count((i) => outcomes.bin[i] > t);
    G.push(G[t - 1] * (lost === 0 ? 1 : later / (later + lost)));
  }
  let last = T;
  while (count((i) => outcomes.bin[i] > last) < 10) last--;
  const weighted = (i: number, t: number) => {
    const S = survival[i * T + t - 1];
    if (outcomes.bin[i] > t) return (S - 1) / G[t];
    return outcomes.event[i] === 1 ? S / G[outcomes.bin[i] - 1] : 0;
  };
  const half = Math.floor(last / 2);
  let largest = 0;
  for (const [from, to] of [
    [1, last],
    [1, half],
    [half + 1, last],
  ]) {
    const entries: number[] = [];
    for (let i = 0; i < N; i++) for (let t = from; t <= to; t++) entries.push(survival[i * T + t - 1]);
    const middle = (Math.min(...entries) + Math.max(...entries)) / 2;
    const ranges =
      to - from + 1 === last && from === 1
        ? [[0, 2]]
        : [
            [0, middle],
            [middle, 2],
          ];
    for (const [low, high] of ranges) {
      const within = (i: number, t: number) =>
        survival[i * T + t - 1] >= low && survival[i * T + t - 1] < high;
      const rowIn = (i: number) => {
        for (let t = from; t <= to; t++) if (within(i, t)) return true;
        return false;
      };
      const rows = Array.from({ length: N }, (_, i) => i).filter(rowIn);
      for (const group of groups) {
        let sum = 0;
        for (const i of rows) {
          if (!Array.from(group.rows).includes(i)) continue;
          for (let t = from; t <= to; t++) if (within(i, t)) sum += weighted(i, t) / (to - from + 1);
        }
        largest = Math.max(largest, Math.abs(sum / (over === "cell" ? rows.length : N)));
      }
    }
  }
  return largest;
}

describe("properties", () => {
  const scenario = fc.record({
    N: fc.integer({ min: 30, max: 80 }),
    T: fc.integer({ min: 2, max: 9 }),
    seed: fc.integer({ min: 0, max: 1e6 }),
    step: fc.constantFrom(0.1, 1, 20),
    timeBuckets: fc.integer({ min: 1, max: 4 }),
    probabilityBuckets: fc.integer({ min: 1, max: 3 }),
    auditor: fc.constantFrom("group", "ridge"),
    multiplicative: fc.boolean(),
    reference: fc.boolean(),
  });

  function draw({ N, T, seed }: { N: number; T: number; seed: number }) {
    const { curves, binned } = randomCohort(N, T, seed);
    const random = createRandom(seed, 9);
    const groups: BoostGroup[] = [{ name: "all", rows: Array.from({ length: N }, (_, i) => i) }];
    for (let g = 0; g < 3; g++) {
      const rows: number[] = [];
      for (let i = 0; i < N; i++) if (random.uniform() < 0.3) rows.push(i);
      groups.push({ name: `g${g}`, rows });
    }
    const values = Float64Array.from({ length: N * 2 }, () => random.normal());
    return { curves, outcomes: binned, groups, features: { N, D: 2, values } };
  }

  test("curves stay decreasing in [0, 1]; replaying the stored updates gives them back to the bit, also from JSON", () => {
    fc.assert(
      fc.property(scenario, (options) => {
        const input = draw(options);
        const given = input.curves.survival.slice();
        const { boost, curves } = boostCurves(input, options);
        expect(input.curves.survival).toEqual(given);
        let decreasing = true;
        for (let k = 0; k < curves.survival.length; k++) {
          const before = k % curves.T === 0 ? 1 : curves.survival[k - 1];
          decreasing &&= curves.survival[k] >= 0 && curves.survival[k] <= before;
        }
        expect(decreasing).toBe(true);
        expect(boost.history).toHaveLength(boost.auditedBins > 0 ? boost.updates.length + 1 : 0);
        const stored = JSON.parse(JSON.stringify(boost)) as Boost;
        expect(stored).toEqual(boost);
        const replayed = applyBoost(stored, input.curves, input);
        if (boost.updates.every(({ sign }) => sign === 1)) expect(replayed.survival).toEqual(curves.survival);
        else expect(options.reference && options.auditor === "group").toBe(true);
      }),
      { seed: 11, numRuns: 120 },
    );
  });

  test("the order of the rows does not matter", () => {
    fc.assert(
      fc.property(scenario, (options) => {
        const input = draw(options);
        const { N, T } = input.curves;
        const order = Int32Array.from({ length: N }, (_, i) => i);
        shuffle(order, createRandom(options.seed, 3));
        const place = new Int32Array(N);
        order.forEach((row, k) => {
          place[row] = k;
        });
        const shuffled = {
          curves: {
            N,
            T,
            survival: Float64Array.from(
              { length: N * T },
              (_, k) => input.curves.survival[order[Math.floor(k / T)] * T + (k % T)],
            ),
          },
          outcomes: {
            T,
            bin: order.map((row) => input.outcomes.bin[row]),
            event: Uint8Array.from(order, (row) => input.outcomes.event[row]),
          },
          groups: input.groups.map(({ name, rows }) => ({
            name,
            rows: Array.from(rows, (row) => place[row]),
          })),
          features: {
            N,
            D: 2,
            values: Float64Array.from(
              { length: N * 2 },
              (_, k) => input.features.values[order[k >> 1] * 2 + (k & 1)],
            ),
          },
        };
        // Ten rounds of moderate steps: a huge one can amplify the last bit of a sum.
        const settings = { ...options, rounds: 10, step: Math.min(options.step, 1) };
        const plain = boostCurves(input, settings);
        const other = boostCurves(shuffled, settings);
        expect(other.boost.updates.map(({ cell }) => cell)).toEqual(
          plain.boost.updates.map(({ cell }) => cell),
        );
        expectClose(other.boost.history, plain.boost.history, 1e-11);
        for (let row = 0; row < N; row++) {
          expectClose(rowOf(other.curves, place[row]), rowOf(plain.curves, row), 1e-10);
        }
      }),
      { seed: 12, numRuns: 80 },
    );
  });

  test("equal correlations: the first group, whatever the last bits of the sums", () => {
    // Everyone has the Kaplan-Meier curve, so a group and its complement have opposite correlations.
    const { binned } = randomCohort(80, 6, 4);
    const km = kaplanMeierBinned(binned);
    const order = Int32Array.from({ length: 80 }, (_, i) => i);
    const random = createRandom(21);
    for (let draws = 0; draws < 40; draws++) {
      shuffle(order, random);
      const { curves, outcomes } = tableOf(
        Array.from(km.survival.slice(1)),
        Array.from(order, (row) => binned.bin[row]),
        Array.from(order, (row) => binned.event[row]),
      );
      const rowsWhere = (holds: (row: number) => boolean) =>
        Array.from(order.keys()).filter((k) => holds(order[k]));
      const groups = [
        { name: "first", rows: rowsWhere((row) => row < 30) },
        { name: "rest", rows: rowsWhere((row) => row >= 30) },
      ];
      for (const listed of [groups, groups.toReversed()]) {
        const boost = fitBoost({ curves, outcomes, groups: listed }, { rounds: 1, timeBuckets: 1 });
        expect(boost.updates[0].auditor).toMatchObject({ group: 0 });
      }
    }
  });

  test("the first round agrees with the definition spelled out", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e6 }), fc.integer({ min: 4, max: 9 }), (seed, T) => {
        const input = draw({ N: 60, T, seed });
        for (const correlateOver of ["all", "cell"] as const) {
          const boost = fitBoost(input, { rounds: 0, probabilityBuckets: 2, correlateOver });
          if (boost.auditedBins < 2) return;
          expectClose(boost.history, [slowLargest(input, correlateOver)], 1e-12);
        }
      }),
      { seed: 13, numRuns: 60 },
    );
  });
});
