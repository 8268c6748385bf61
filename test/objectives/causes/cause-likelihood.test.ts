// The likelihood of several causes: worked by hand, by differences, and as one kind of event where there is one.
import { expect, test } from "vitest";
import { createRandom } from "../../../src/core/random.ts";
import type { BinnedOutcomes } from "../../../src/data/outcomes/outcomes.ts";
import { causeLikelihood, causeLikelihoodOf } from "../../../src/objectives/causes/cause-likelihood.ts";
import { fillCauseCurves } from "../../../src/objectives/causes/cause-curves.ts";
import { discreteLikelihood } from "../../../src/objectives/likelihood.ts";
import { createCohort, expectEntries, expectGradientOf } from "../gradient-checks.ts";

/** A cohort in which some enter late, one within the bin of its event, and people have weights. */
function drawCauses(
  N: number,
  K: number,
  T: number,
  seed: number,
): BinnedOutcomes & { logits: Float64Array } {
  const random = createRandom(seed, 9);
  const bin = Int32Array.from({ length: N }, () => 1 + random.integer(T));
  const cause = Uint8Array.from({ length: N }, () => random.integer(K + 1));
  return {
    T,
    bin,
    cause,
    event: cause.map((one) => (one > 0 ? 1 : 0)),
    firstBin: bin.map((last, n) => (n === 0 ? last + 1 : 1 + random.integer(last))),
    weight: Float64Array.from({ length: N }, () => 0.2 + random.uniform()),
    logits: Float64Array.from({ length: N * K * T }, () => random.normal() - 1.5),
  };
}

test("worked by hand: hazards 1/4 and 1/4, then 1/2 and 1/3", () => {
  const logits = Float64Array.of(Math.log(1 / 2), Math.log(3), Math.log(1 / 2), Math.log(2));
  const loss = (bin: number, cause: number, firstBin = 1) =>
    causeLikelihood(
      logits,
      {
        T: 2,
        bin: Int32Array.of(bin),
        event: Uint8Array.of(cause > 0 ? 1 : 0),
        cause: Uint8Array.of(cause),
        firstBin: Int32Array.of(firstBin),
      },
      2,
      null,
      1,
    );
  expectEntries(
    [loss(1, 0), loss(1, 2), loss(2, 1), loss(2, 2), loss(2, 0), loss(2, 1, 2), loss(2, 1, 3)],
    [Math.log(2), Math.log(4), Math.log(4), Math.log(6), Math.log(12), Math.log(2), 0],
    1e-15,
  );
});

test.each([
  [9, 2, 5],
  [6, 3, 11],
])("central differences, N %i K %i T %i", (N, K, T) => {
  const { logits, ...binned } = drawCauses(N, K, T, N);
  expectGradientOf((z, dLogits, scale) => causeLikelihood(z, binned, K, dLogits, scale), logits);
});

test.each([2, 3])("from hazards, the same loss and gradient, %i causes", (K) => {
  const { logits, ...binned } = drawCauses(40, K, 30, 7);
  const curves = { hazard: new Float64Array(logits.length), survival: new Float64Array(logits.length) };
  fillCauseCurves(logits, { N: 40, K, T: 30 }, curves);
  const [plain, known] = [new Float64Array(logits.length), new Float64Array(logits.length)];
  const loss = causeLikelihood(logits, binned, K, plain, 1);
  expectEntries([causeLikelihoodOf(curves.hazard, binned, K, known)], [loss], 1e-13);
  expectEntries(known, plain, 1e-13);
});

test("from hazards, a person who survives next to nothing", () => {
  const T = 400;
  const bins = { T, bin: Int32Array.of(T), event: Uint8Array.of(0), cause: Uint8Array.of(0) };
  const hazard = new Float64Array(2 * T).fill(0.495);
  const loss = causeLikelihoodOf(hazard, bins, 2, new Float64Array(2 * T));
  expectEntries([loss], [-T * Math.log(1 - 0.99)], 1e-12);
});

test("one cause is one kind of event", () => {
  const { logits, binned, N, T } = createCohort(13, 7, 2);
  const dPlain = new Float64Array(N * T);
  const dCause = new Float64Array(N * T);
  const plain = discreteLikelihood(logits, binned, { tail: false }, dPlain, 1);
  const ofCause = causeLikelihood(logits, { ...binned, cause: binned.event }, 1, dCause, 1);
  expectEntries([ofCause], [plain], 1e-14);
  expectEntries(dCause, dPlain, 1e-13);
});

test("outcomes without causes are refused", () => {
  const { logits, binned } = createCohort(3, 4, 2);
  expect(() => causeLikelihood(logits, binned, 1, null, 1)).toThrow(/hold no causes/);
});
