// The prior of the output layer is the start's: a level and a shape cost in the layer what they cost at the start.
import { expect, test } from "vitest";
import { GROUP_KNOTS } from "../../../src/models/networks/group-offsets.ts";
import { createLayout, offsetAt } from "../../../src/training/solve/layout.ts";
import { createPrior } from "../../../src/training/solve/prior.ts";

const T = 12;
const blocks = [
  { first: 1, last: 4 },
  { first: 5, last: 8 },
  { first: 9, last: 12 },
];
const layout = createLayout(blocks, new Float64Array(T).fill(20), { dense: 2, shaped: 1 });
const spec = { kind: "linear", D: 3, T, groups: 1, baselineHazard: Array<number>(T).fill(0.05) } as const;
const precisions = { slopes: 4, splines: 9, level: [2, 0.1], shape: [3, 0.1] };
const parameters = { baseline: Array<number>(T).fill(-3), skip: [0.5, -0.25, 0], groupOffsets: [] };
const source = { spec, parameters, precisions, splines: [1] };

test("a group's level costs what the same offset at every knot costs the start", () => {
  const { precision } = createPrior(layout, 1, source);
  // The start: ½ λ (Σ a)²/K with a the same at K knots.
  const level = 0.3;
  const atStart = (precisions.level[0] * (GROUP_KNOTS * level) ** 2) / GROUP_KNOTS / 2;
  expect((precision[layout.dense] * level * level) / 2).toBeCloseTo(atStart, 12);
});

test("a group's shape costs as much over all blocks as over all knots", () => {
  const { precision } = createPrior(layout, 1, source);
  const ofBlocks = blocks.reduce((sum, _, b) => sum + precision[offsetAt(layout, b, 0)], 0);
  expect(ofBlocks).toBeCloseTo(precisions.shape[0] * GROUP_KNOTS, 12);
});

test("slopes and splines are shrunk around minus what the network below has", () => {
  const { precision, centre } = createPrior(layout, 1, source);
  expect(Array.from(precision.subarray(0, 2))).toEqual([4, 9]);
  expect(Array.from(centre.subarray(0, 2))).toEqual([-0.5, 0.25]);
});
