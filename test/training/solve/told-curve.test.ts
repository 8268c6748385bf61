// The curve that a group would have if the model were told of it, and what holding an unseen group to it does.
import { expect, test } from "vitest";
import { drawToldCurve } from "../../../src/training/solve/curves/told-curve.ts";

const logit = (h: number) => Math.log(h / (1 - h));

test("with many people the offsets give each block the events that were observed", () => {
  // Two blocks of two bins, everyone at hazard .1; a fifth has the event in each bin of the first block, none after.
  const N = 20_000;
  const logits = new Float64Array(4 * N).fill(logit(0.1));
  const bin = Int32Array.from({ length: N }, (_, n) => (n % 5 === 0 ? 1 : n % 5 === 1 ? 2 : 4));
  const curve = drawToldCurve(
    { rows: Int32Array.from({ length: N }, (_, n) => n), observed: Float64Array.of((2 * N) / 5, 0) },
    { bin, logits, first: Float64Array.from({ length: N + 1 }, (_, n) => 4 * n) },
    [
      { first: 1, last: 2 },
      { first: 3, last: 4 },
    ],
  );
  // One hazard for both bins: .4 N events among N + .8 N at risk.
  const h = 0.4 / 1.8;
  expect(curve[0]).toBeCloseTo(1 - h, 3);
  expect(curve[1]).toBeCloseTo((1 - h) ** 2, 3);
  expect(curve[3]).toBeCloseTo((1 - h) ** 2, 2);
});

test("one person's event among few moves the offset as its prior of precision 1 says", () => {
  // σ(z + δ) + δ = 1 at z = 0: δ = .3985…, worked by bisection.
  let [low, high] = [0, 1];
  for (let k = 0; k < 60; k++) {
    const middle = (low + high) / 2;
    if (1 / (1 + Math.exp(-middle)) + middle > 1) high = middle;
    else low = middle;
  }
  const [survived] = drawToldCurve(
    { rows: Int32Array.of(0), observed: Float64Array.of(1) },
    { bin: Int32Array.of(1), logits: Float64Array.of(0), first: Float64Array.of(0, 1) },
    [{ first: 1, last: 1 }],
  );
  expect(survived).toBeCloseTo(1 / (1 + Math.exp(low)), 9);
});

test("censored people count for the time they were seen", () => {
  // Half are censored after the first bin, and nobody dies there; in the second, half of those left do.
  const N = 10_000;
  const bin = Int32Array.from({ length: N }, (_, n) => (n % 2 === 0 ? 1 : 2));
  const curve = drawToldCurve(
    { rows: Int32Array.from({ length: N }, (_, n) => n), observed: Float64Array.of(0, N / 4) },
    {
      bin,
      logits: new Float64Array(2 * N).fill(logit(0.2)),
      first: Float64Array.from({ length: N + 1 }, (_, n) => 2 * n),
    },
    [
      { first: 1, last: 1 },
      { first: 2, last: 2 },
    ],
  );
  expect(curve[0]).toBeCloseTo(1, 2);
  expect(curve[1] / curve[0]).toBeCloseTo(0.5, 2);
});

test("people of weight w are as rows written w times, in the curve and in what was observed", () => {
  const blocks = [
    { first: 1, last: 2 },
    { first: 3, last: 3 },
  ];
  const bin = Int32Array.of(1, 3, 2, 3, 2);
  const weight = Float64Array.of(2, 1, 3, 1, 2);
  const logits = Float64Array.from({ length: 15 }, (_, k) => -1.5 + ((k * 7) % 5) / 4);
  // Events of rows 0 and 2 in the first block, of row 3 in the second.
  const observed = Float64Array.of(5, 1);
  const offsets = (N: number) => Float64Array.from({ length: N + 1 }, (_, n) => 3 * n);
  const own = Int32Array.of(0, 1, 2, 3, 4);
  const weighed = drawToldCurve({ rows: own, observed }, { bin, logits, first: offsets(5), weight }, blocks);
  const copies = Array.from(own).flatMap((row) => Array<number>(weight[row]).fill(row));
  const written = drawToldCurve(
    { rows: Int32Array.from(copies.keys()), observed },
    {
      bin: Int32Array.from(copies, (row) => bin[row]),
      logits: Float64Array.from(copies.flatMap((row) => Array.from(logits.subarray(3 * row, 3 * row + 3)))),
      first: offsets(copies.length),
    },
    blocks,
  );
  written.forEach((S, t) => {
    expect(weighed[t]).toBeCloseTo(S, 12);
  });
});
