import { describe, expect, test } from "vitest";
import { NumericalError } from "../../src/core/errors.ts";
import { discreteLikelihood, logOneMinusSurvival } from "../../src/objectives/likelihood.ts";
import { createCohort, expectEntries, expectGradientOf } from "./gradient-checks.ts";

const one = (T: number, bin: number, event: number) => ({
  T,
  bin: Int32Array.of(bin),
  event: Uint8Array.of(event),
});

test("worked by hand: hazards 1/2, 1/4, 3/4", () => {
  const logits = Float64Array.of(0, -Math.log(3), Math.log(3));
  const loss = (bin: number, event: number, tail: boolean) =>
    discreteLikelihood(logits, one(3, bin, event), { tail }, null, 1);
  // S = 1/2, 3/8, 3/32; an event in bin 2 has probability 1/2 · 1/4.
  expectEntries([loss(2, 1, false)], [Math.log(8)], 1e-15);
  expectEntries([loss(2, 1, true)], [Math.log(8) - Math.log(29 / 32)], 1e-15);
  expectEntries([loss(3, 1, false)], [Math.log(32 / 9)], 1e-15);
  for (const tail of [true, false]) {
    expectEntries([loss(1, 0, tail)], [Math.log(2)], 1e-15);
    expectEntries([loss(3, 0, tail)], [Math.log(32 / 3)], 1e-15);
  }
});

describe.each([true, false])("tail %s", (tail) => {
  test.each([
    [17, 6],
    [1, 1],
    [5, 23],
  ])("central differences, N %i T %i", (N, T) => {
    const { logits, binned } = createCohort(N, T, 10 + N);
    expectGradientOf((z, dLogits, scale) => discreteLikelihood(z, binned, { tail }, dLogits, scale), logits);
  });

  test("more bins than the largest float has doublings", () => {
    const T = 2500;
    const dLogits = new Float64Array(T);
    const loss = discreteLikelihood(new Float64Array(T), one(T, T, 1), { tail }, dLogits, 1);
    expectEntries([loss], [T * Math.LN2], 1e-13, "loss");
    expectEntries(dLogits, new Float64Array(T).fill(0.5).fill(-0.5, T - 1), 1e-13, "dLogits");
  });
});

describe("the tail term at both ends", () => {
  test("log(1 − e^−H)", () => {
    expectEntries([logOneMinusSurvival(1e-200)], [-200 * Math.LN10], 1e-15);
    expectEntries([logOneMinusSurvival(Math.LN2)], [-Math.LN2], 1e-15);
    expectEntries([logOneMinusSurvival(50)], [-Math.exp(-50)], 1e-15);
    expectEntries([logOneMinusSurvival(0)], [-300 * Math.LN10], 1e-15);
    expect(logOneMinusSurvival(1e6)).toBe(-0);
  });

  test("S(T) at 1: −log(1−S) is −log of the summed hazards, and its gradient shares 1 among the bins", () => {
    const logits = Float64Array.of(-50, -51, -52);
    const dLogits = new Float64Array(3);
    const binned = one(3, 1, 1);
    const loss = discreteLikelihood(logits, binned, { tail: true }, dLogits, 1);
    const total = Math.exp(-50) + Math.exp(-51) + Math.exp(-52);
    expectEntries([loss], [50 - Math.log(total)], 1e-15);
    const share = (z: number) => Math.exp(z) / total;
    expectEntries(dLogits, [-1 - share(-50), -share(-51), -share(-52)], 1e-14);
  });

  test("hazards that have underflowed: a large finite loss, no NaN", () => {
    const dLogits = new Float64Array(2);
    const loss = discreteLikelihood(Float64Array.of(-800, -900), one(2, 1, 1), { tail: true }, dLogits, 1);
    expectEntries([loss], [800 + 300 * Math.LN10], 1e-15);
    expect(Array.from(dLogits)).toEqual([-1, 0]);
  });

  test("S(T) at 0: the term and its gradient vanish", () => {
    const logits = Float64Array.of(-1, 900, 900);
    const with_ = new Float64Array(3);
    const without = new Float64Array(3);
    const loss = discreteLikelihood(logits, one(3, 1, 1), { tail: true }, with_, 1);
    expect(loss).toBe(discreteLikelihood(logits, one(3, 1, 1), { tail: false }, without, 1));
    expect(with_).toEqual(without);
  });
});

test("an event in a bin of certain death keeps the digits of its small loss", () => {
  const dLogits = new Float64Array(1);
  const loss = discreteLikelihood(Float64Array.of(60), one(1, 1, 1), { tail: false }, dLogits, 1);
  expectEntries([loss], [Math.exp(-60)], 1e-15);
  expectEntries(dLogits, [-Math.exp(-60)], 1e-15);
});

test("logits that are not numbers stop the training with a reason, no rows cost nothing", () => {
  const options = { tail: false };
  expect(() => discreteLikelihood(Float64Array.of(Number.NaN), one(1, 1, 1), options, null, 1)).toThrow(
    NumericalError,
  );
  const none = { T: 3, bin: new Int32Array(0), event: new Uint8Array(0) };
  expect(discreteLikelihood(new Float64Array(0), none, options, new Float64Array(0), 1)).toBe(0);
});
