// X-Cal, the ranked probability score and the ranking kernel: by hand, against slow twins, and by central differences.
import { describe, expect, test } from "vitest";
import type { BinnedRightCensored } from "../../src/data/outcomes/outcomes.ts";
import { survivalCurves } from "../../src/objectives/curves.ts";
import { rankedProbability, rankingKernel } from "../../src/objectives/rps.ts";
import { XCAL_CERTAIN, xcalPenalty } from "../../src/objectives/xcal.ts";
import { rankedProbabilityScore } from "../../src/stats/scores/rps.ts";
import { createCohort, expectEntries, expectGradientOf } from "./gradient-checks.ts";

const logit = (F: number) => Math.log(F / (1 - F));

function oneBin(failed: number[], event: number[]) {
  return {
    logits: Float64Array.from(failed, logit),
    binned: { T: 1, bin: new Int32Array(failed.length).fill(1), event: Uint8Array.from(event) },
  };
}

describe("X-Cal", () => {
  const penalty = (failed: number[], event: number[], bins: number, gamma = 1e4) => {
    const { logits, binned } = oneBin(failed, event);
    return xcalPenalty(logits, binned, { bins, gamma }, null, 1);
  };

  test("worked by hand: events spread evenly, or all in one of four bins", () => {
    expect(penalty([1 / 8, 3 / 8, 5 / 8, 7 / 8], [1, 1, 1, 1], 4)).toBeLessThan(1e-30);
    expectEntries([penalty([0.1, 0.1], [1, 1], 4)], [9 / 16 + 3 / 16], 1e-12);
    // The ends belong: F = 0 to the first bin, F = 1 to the last.
    expectEntries([penalty([1e-17, 1e-17], [1, 1], 4)], [3 / 4], 1e-12);
    expectEntries([penalty([1 - 1e-16], [1], 4)], [3 / 4], 1e-12);
  });

  test("worked by hand: a censored row's mass lies evenly beyond F", () => {
    // F = 1/4 of two bins: (1/2 − 1/4)/(3/4) = 1/3 in the first, 2/3 in the second.
    expectEntries([penalty([1 / 4], [0], 2)], [2 / 36], 1e-12);
  });

  test("a censored row with F just above 1 − 1e-4 counts as an event, just below it does not", () => {
    // γ = 50 leaves the bins below F a visible share of 1/(1−F).
    const above = XCAL_CERTAIN + 1e-9;
    expect(penalty([above, 0.3], [0, 1], 5, 50)).toBe(penalty([above, 0.3], [1, 1], 5, 50));
    const below = XCAL_CERTAIN - 1e-9;
    const gap = penalty([below, 0.3], [0, 1], 5, 50) - penalty([below, 0.3], [1, 1], 5, 50);
    expect(Math.abs(gap)).toBeGreaterThan(1e-3);
    const certain = { T: 1, bin: Int32Array.of(1), event: Uint8Array.of(0) };
    const dLogits = new Float64Array(1);
    expectEntries([xcalPenalty(Float64Array.of(800), certain, { bins: 4 }, dLogits, 1)], [3 / 4], 1e-12);
    expect(dLogits[0]).toBe(0);
  });

  test("central differences", () => {
    const { logits, binned } = createCohort(21, 6, 21);
    expectGradientOf(
      (z, dLogits, scale) => xcalPenalty(z, binned, { bins: 5, gamma: 20 }, dLogits, scale),
      logits,
    );
  });

  test("no rows, and no bins", () => {
    const { binned, logits } = oneBin([], []);
    expect(xcalPenalty(logits, binned, {}, null, 1)).toBe(0);
    expect(() => xcalPenalty(logits, binned, { bins: 0 }, null, 1)).toThrow(
      "X-Cal needs at least one bin: 0",
    );
  });
});

describe("ranked probability score", () => {
  test("is that of the audit", () => {
    const { N, T, logits, binned } = createCohort(33, 8, 31);
    const survival = new Float64Array(N * T);
    survivalCurves(logits, N, T, survival);
    const score = rankedProbabilityScore({ N, T, survival }, binned);
    if ("absent" in score) throw new Error(score.absent);
    expectEntries([rankedProbability(logits, binned, null, 1)], [score.meanPerRow], 1e-14);
  });

  test("central differences", () => {
    const { logits, binned } = createCohort(15, 7, 32);
    expectGradientOf((z, dLogits, scale) => rankedProbability(z, binned, dLogits, scale), logits);
  });
});

function allPairs(logits: Float64Array, { T, bin, event }: BinnedRightCensored, sigma: number): number {
  const N = bin.length;
  const S = new Float64Array(N * T);
  survivalCurves(logits, N, T, S);
  let sum = 0;
  let pairs = 0;
  for (let i = 0; i < N; i++) {
    for (let j = 0; j < N; j++) {
      if (event[i] === 0 || event[j] === 0 || bin[i] >= bin[j]) continue;
      const t = bin[i] - 1;
      sum += Math.exp((S[i * T + t] - S[j * T + t]) / sigma);
      pairs++;
    }
  }
  return sum / pairs;
}

describe("ranking kernel", () => {
  test.each([1, 0.1, 0.002])("all pairs one by one, σ %d", (sigma) => {
    const { logits, binned } = createCohort(60, 9, 41);
    const slow = allPairs(logits, binned, sigma);
    expectEntries([rankingKernel(logits, binned, { sigma }, null, 1)], [slow], 1e-11);
  });

  test("σ so small that e^{1/σ} overflows, but every pair is in order", () => {
    // The one who dies first has S = 1/4 where the other has 3/4: e^{−(1/2)/σ} underflows to 0, and nothing is NaN.
    const logits = Float64Array.of(Math.log(3), 0, -Math.log(3), 0);
    const binned = { T: 2, bin: Int32Array.of(1, 2), event: Uint8Array.of(1, 1) };
    const dLogits = new Float64Array(4);
    expect(rankingKernel(logits, binned, { sigma: 1e-4 }, dLogits, 1)).toBe(0);
    expect(dLogits.every((d) => Math.abs(d) === 0)).toBe(true);
  });

  test("central differences", () => {
    const { logits, binned } = createCohort(14, 6, 42);
    expectGradientOf((z, dLogits, scale) => rankingKernel(z, binned, { sigma: 0.5 }, dLogits, scale), logits);
  });

  test("no pairs, and no σ", () => {
    const { logits, binned } = createCohort(6, 4, 43, 0);
    expect(rankingKernel(logits, binned, { sigma: 1 }, new Float64Array(24), 1)).toBe(0);
    expect(() => rankingKernel(logits, binned, { sigma: 0 }, null, 1)).toThrow("sigma is not positive: 0");
  });
});
