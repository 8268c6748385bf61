// Hazards, incidences and conditional logits of several causes: worked by hand, against slow twins and by differences.
import { describe, expect, test } from "vitest";
import { createRandom } from "../../../src/core/random.ts";
import {
  backThroughConditional,
  backThroughFreeCurves,
  fillCauseCurves,
  fillFreeCurves,
  incidenceCurves,
  survivalOfCauses,
} from "../../../src/objectives/causes/cause-curves.ts";
import { fillCurves, sigmoid, survivalCurves } from "../../../src/objectives/curves.ts";
import { centralDifferences, DIFFERENCE_TOLERANCE, expectEntries } from "../gradient-checks.ts";

/** u_k = z_k − log(1 + Σ_{j≠k} e^{z_j}), as it is written. */
function fillConditional(
  z: Float64Array,
  { N, K, T }: { readonly N: number; readonly K: number; readonly T: number },
  out: Float64Array,
): void {
  for (let n = 0; n < N; n++) {
    for (let t = 0; t < T; t++) {
      const at = (k: number) => (n * K + k) * T + t;
      for (let k = 0; k < K; k++) {
        let others = 1;
        for (let j = 0; j < K; j++) if (j !== k) others += Math.exp(z[at(j)]);
        out[at(k)] = z[at(k)] - Math.log(others);
      }
    }
  }
}

function drawLogits(length: number, seed: number, spread = 2): Float64Array {
  const random = createRandom(seed, 8);
  return Float64Array.from({ length }, () => spread * random.normal() - 1);
}

test("worked by hand: two causes with hazards 1/4 and 1/4, then 1/2 and 1/3", () => {
  // e^z = h_k / (1 − Σ h): 1/2 and 1/2, then 3 and 2.
  const logits = Float64Array.of(Math.log(1 / 2), Math.log(3), Math.log(1 / 2), Math.log(2));
  const shape = { N: 1, K: 2, T: 2 };
  const incidence = new Float64Array(4);
  incidenceCurves(logits, shape, incidence);
  expectEntries(incidence, [1 / 4, 1 / 4 + 1 / 4, 1 / 4, 1 / 4 + 1 / 6], 1e-15);
  const survival = new Float64Array(2);
  survivalOfCauses(logits, shape, survival);
  expectEntries(survival, [1 / 2, 1 / 12], 1e-15);
  const conditional = new Float64Array(4);
  fillConditional(logits, shape, conditional);
  expectEntries(conditional.map(sigmoid), [1 / 4, 1 / 2, 1 / 4, 1 / 3], 1e-15);
});

describe.each([2, 3, 5])("%i causes", (K) => {
  const shape = { N: 7, K, T: 40 };

  test.each([1, 5, 30])("incidences and survival add up to 1, spread %d", (spread) => {
    const logits = drawLogits(shape.N * K * shape.T, 3 * K, spread);
    const incidence = new Float64Array(logits.length);
    const survival = new Float64Array(shape.N * shape.T);
    incidenceCurves(logits, shape, incidence);
    survivalOfCauses(logits, shape, survival);
    for (let n = 0; n < shape.N; n++) {
      for (let t = 0; t < shape.T; t++) {
        let sum = survival[n * shape.T + t];
        for (let k = 0; k < K; k++) sum += incidence[(n * K + k) * shape.T + t];
        expect(Math.abs(sum - 1)).toBeLessThan(1e-12);
      }
    }
  });

  test("a gradient by conditional logits is that by logits", () => {
    const small = { N: 2, K, T: 3 };
    const logits = drawLogits(2 * K * 3, K);
    const pull = drawLogits(logits.length, 90 + K);
    const value = (z: Float64Array) => {
      const u = new Float64Array(z.length);
      fillConditional(z, small, u);
      return u.reduce((sum, one, k) => sum + pull[k] * one, 0);
    };
    const u = new Float64Array(logits.length);
    fillConditional(logits, small, u);
    const curves = { hazard: new Float64Array(u.length), survival: new Float64Array(u.length) };
    const twin = { hazard: new Float64Array(u.length), survival: new Float64Array(u.length) };
    fillCauseCurves(logits, small, curves);
    fillCurves(u, small.N * K, small.T, twin);
    expectEntries(curves.hazard, twin.hazard, 1e-13);
    expectEntries(curves.survival, twin.survival, 1e-13);
    const dLogits = new Float64Array(logits.length).fill(1);
    backThroughConditional(curves.hazard, pull, small, dLogits);
    expectEntries(
      dLogits.map((d) => d - 1),
      centralDifferences(logits, value),
      DIFFERENCE_TOLERANCE,
    );
  });
});

describe.each([1, 2, 3, 5])("incidences of %i causes", (K) => {
  test("the way back from them is their gradient, added to what is there", () => {
    const shape = { N: 3, K, T: 6 };
    const logits = drawLogits(3 * K * 6, 20 + K);
    const pull = drawLogits(logits.length, 30 + K);
    const curves = { hazard: new Float64Array(logits.length), survival: new Float64Array(logits.length) };
    const incidence = new Float64Array(logits.length);
    fillFreeCurves(logits, shape, curves);
    incidenceCurves(logits, shape, incidence);
    expect(curves.survival).toEqual(incidence.map((one) => 1 - one));
    const hazards = { hazard: new Float64Array(logits.length), survival: new Float64Array(logits.length) };
    fillCauseCurves(logits, shape, hazards);
    expect(curves.hazard).toEqual(hazards.hazard);
    const dLogits = new Float64Array(logits.length).fill(1);
    backThroughFreeCurves(curves.hazard, pull, shape, dLogits);
    const value = (z: Float64Array) => {
      incidenceCurves(z, shape, incidence);
      return incidence.reduce((sum, one, k) => sum - pull[k] * one, 0);
    };
    expectEntries(
      dLogits.map((d) => d - 1),
      centralDifferences(logits, value),
      DIFFERENCE_TOLERANCE,
    );
  });
});

test("the way back by hand: two causes with hazards 1/4 and 1/4, then 1/2 and 1/3", () => {
  // F_1(2) = h_1(1) + S(1) h_1(2), S(1) = 1 − h_1(1) − h_2(1); dh_k/dz_j = h_k (1[k = j] − h_j).
  // By z_1(1): 3/16 − 1/8 · 1/2 (S(1) falls by 1/2 · 1/4); by z_2(1): −1/16 − 1/8 · 1/2.
  // By z_1(2): 1/2 · 1/4; by z_2(2): −1/2 · 1/6.
  const hazard = Float64Array.of(1 / 4, 1 / 2, 1 / 4, 1 / 3);
  const dLogits = new Float64Array(4);
  backThroughFreeCurves(hazard, Float64Array.of(0, -1, 0, 0), { N: 1, K: 2, T: 2 }, dLogits);
  expectEntries(dLogits, [1 / 8, 1 / 8, -1 / 8, -1 / 12], 1e-15);
});

test("one cause is an ordinary hazard", () => {
  const logits = drawLogits(60, 4);
  const shape = { N: 3, K: 1, T: 20 };
  const conditional = new Float64Array(60);
  fillConditional(logits, shape, conditional);
  expectEntries(conditional, logits, 1e-15);
  const [plain, ofCauses] = [new Float64Array(60), new Float64Array(60)];
  survivalCurves(logits, 3, 20, plain);
  survivalOfCauses(logits, shape, ofCauses);
  expectEntries(ofCauses, plain, 1e-14);
});

test("logits far out keep their digits", () => {
  const logits = Float64Array.of(800, -800, 790, -900);
  const incidence = new Float64Array(4);
  incidenceCurves(logits, { N: 1, K: 4, T: 1 }, incidence);
  const share = 1 / (1 + Math.exp(-10));
  expectEntries(incidence, [share, 0, 1 - share, 0], 1e-12);
  const curves = { hazard: new Float64Array(4), survival: new Float64Array(4) };
  fillCauseCurves(logits, { N: 1, K: 4, T: 1 }, curves);
  expect(curves.hazard).toEqual(incidence);
});
