// What a point of the frontier costs, against curves, pairs and Brier scores worked out the long way.
import { expect, test } from "vitest";
import { createRandom } from "../../../src/core/random.ts";
import { createLayout, offsetAt } from "../../../src/training/solve/layout.ts";
import { scorePoint } from "../../../src/training/solve/price.ts";
import type { GatheredRows } from "../../../src/training/solve/rows.ts";

const [N, T, D] = [40, 4, 3];
const random = createRandom(5);
const bin = Int32Array.from({ length: N }, () => 1 + Math.floor(T * random.uniform()));
// Nobody is censored, so that the Brier score needs no weights.
const binned = { T, bin, event: new Uint8Array(N).fill(1) };
// Two plain columns, then membership of one told group.
const x = Float64Array.from({ length: N * D }, (_, k) =>
  k % D === 2 ? Number(k % 2 === 0) : random.uniform() - 0.5,
);
const gathered: GatheredRows = {
  binned,
  groups: [],
  x,
  D,
  logits: Float64Array.from({ length: N * T }, () => 2 * random.uniform() - 2),
  first: Float64Array.from({ length: N + 1 }, (_, n) => n * T),
};
const blocks = [
  { first: 1, last: 2 },
  { first: 3, last: 4 },
];
const layout = createLayout(blocks, new Float64Array(T).fill(10), { dense: 2, shaped: 2 });
const theta = new Float64Array(layout.at[blocks.length]).map(() => random.uniform() - 0.5);
const chance = new Float64Array(N).map(() => random.uniform());

/** S(t|x) from the definition of the layer. */
function survivalOf(n: number): number[] {
  let alive = 1;
  return Array.from({ length: T }, (_, t) => {
    const b = layout.blockOf[t];
    const own = x[n * D] * theta[0] + x[n * D + 1] * theta[1];
    const told = x[n * D + 2] * (theta[2] + theta[offsetAt(layout, b, 0)]);
    const blind = chance[n] * (theta[3] + theta[offsetAt(layout, b, 1)]);
    const level = theta[layout.at[b] + layout.binOf[t]];
    alive /= 1 + Math.exp(gathered.logits[n * T + t] + own + told + blind + level);
    return alive;
  });
}

test("C counts the pairs, and the Brier score is the mean squared error over rows and bins", () => {
  const { concordance, ibs } = scorePoint(layout, { blocks, dense: 2, told: 1 }, gathered, [chance], theta);
  const curves = Array.from({ length: N }, (_, n) => survivalOf(n));
  let pairs = 0;
  let right = 0;
  for (let i = 0; i < N; i++) {
    for (let j = 0; j < N; j++) {
      if (bin[i] >= bin[j]) continue;
      pairs++;
      if (curves[i][bin[i] - 1] < curves[j][bin[i] - 1]) right++;
    }
  }
  expect(concordance).toBeCloseTo(right / pairs, 12);
  let sum = 0;
  curves.forEach((curve, n) => {
    curve.forEach((S, t) => {
      sum += (Number(bin[n] > t + 1) - S) ** 2;
    });
  });
  expect(ibs).toBeCloseTo(sum / (N * T), 12);
});

test("rows that compare nobody have no C", () => {
  const same = { ...gathered, binned: { T, bin: new Int32Array(N).fill(2), event: new Uint8Array(N) } };
  const scores = scorePoint(layout, { blocks, dense: 2, told: 1 }, same, [chance], theta);
  expect(scores.concordance).toBeNull();
});
