// One risk per person: worked by hand, against the mean cumulative hazard at people's own times, and in Cox's order.
import { expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import type { Curves } from "../../src/data/curves/curves.ts";
import { concordanceHarrell } from "../../src/stats/concordance/concordance.ts";
import { atRiskShare, LEAST_SURVIVAL, mortalityRisk } from "../../src/stats/mortality-risk.ts";

const curvesOf = (rows: readonly (readonly number[])[]): Curves => ({
  N: rows.length,
  T: rows[0].length,
  survival: Float64Array.from(rows.flat()),
});

test("by hand: half of the rows left in the second bin, a quarter in the third", () => {
  const share = atRiskShare({ T: 3, bin: [1, 1, 2, 3], event: [1, 0, 1, 0] });
  expect([...share]).toEqual([1, 1 / 2, 1 / 4]);
  const [risk] = mortalityRisk(curvesOf([[1 / 2, 1 / 4, 1 / 16]]), share);
  // Hazards 1/2, 1/2, 3/4: log 2 · (1 + 1/2 + 2/4).
  expect(risk).toBeCloseTo(2 * Math.log(2), 14);
});

test("is the mean over people of the cumulative hazard at their own times", () => {
  const random = createRandom(3);
  const [T, N] = [7, 40];
  const bin = Array.from({ length: N }, () => 1 + random.integer(T));
  const event = bin.map(() => (random.uniform() < 0.5 ? 1 : 0));
  const rows = Array.from({ length: 5 }, () => {
    let survival = 1;
    return Array.from({ length: T }, () => {
      survival *= 1 - 0.4 * random.uniform();
      return survival;
    });
  });
  const risk = mortalityRisk(curvesOf(rows), atRiskShare({ T, bin, event }));
  rows.forEach((curve, i) => {
    const slow = bin.reduce((sum, last) => sum - Math.log(curve[last - 1]), 0) / N;
    expect(risk[i]).toBeCloseTo(slow, 13);
  });
});

test("under proportional hazards people stand in the order of their linear predictor", () => {
  const random = createRandom(8);
  const base = [0.1, 0.05, 0.3, 0.02];
  const predictor = Array.from({ length: 30 }, () => 2 * random.normal());
  const rows = predictor.map((eta) => {
    let cumulative = 0;
    return base.map((hazard) => {
      cumulative += hazard * Math.exp(eta);
      return Math.exp(-cumulative);
    });
  });
  const risk = mortalityRisk(curvesOf(rows), [1, 0.8, 0.3, 0]);
  const order = (values: ArrayLike<number>) =>
    Array.from(values, (_, i) => i).sort((a, b) => values[a] - values[b]);
  expect(order(risk)).toEqual(order(predictor));
});

test("a tail in which nobody was left does not decide who is first", () => {
  const early = [0.5, 0.5, 0.5];
  const late = [0.9, 0.9, 0.0001];
  const outcomes = { time: [1, 2], event: [1, 1] };
  const c = (share: readonly number[]) =>
    concordanceHarrell(outcomes, mortalityRisk(curvesOf([early, late]), share)).c;
  expect([c([1, 0.5, 0.01]), c([1, 1, 1])]).toEqual([1, 0]);
});

test("a curve that has reached 0 has a finite risk; weights of another grid are refused", () => {
  const [gone, nearly] = mortalityRisk(
    curvesOf([
      [0, 0],
      [LEAST_SURVIVAL, LEAST_SURVIVAL / 2],
    ]),
    [1, 1],
  );
  expect([gone, nearly]).toEqual([-Math.log(LEAST_SURVIVAL), -Math.log(LEAST_SURVIVAL)]);
  expect(() => mortalityRisk(curvesOf([[1, 1]]), [1])).toThrow("a weight for each of 1 bins");
});
