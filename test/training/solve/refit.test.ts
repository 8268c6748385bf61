// The start below the held layer learns from all rows of the last solve, and what training added to it stays.
import { expect, test } from "vitest";
import { finishTurns } from "../../../src/core/progress.ts";
import { createRandom } from "../../../src/core/random.ts";
import { logitsOfHazards } from "../../../src/models/networks/initialise.ts";
import { fitAdditiveStart } from "../../../src/models/start/additive-start.ts";
import { type RefitInput, refitStart } from "../../../src/training/solve/refit.ts";

const [N, T, D, told] = [3000, 12, 3, 1];
/** Of these the first are training rows. */
const TRAINED = 2200;

/** Two features, the second without effect, and a group whose hazard is higher late. */
function draw() {
  const random = createRandom(3);
  const x = new Float64Array(N * D);
  const bin = new Int32Array(N).fill(T);
  const event = new Uint8Array(N);
  for (let i = 0; i < N; i++) {
    x.set([random.normal(), random.normal(), random.uniform() < 0.4 ? 1 : 0], i * D);
    for (let t = 0; t < T && event[i] === 0; t++) {
      const late = x[i * D + 2] === 1 && t >= T / 2 ? 0.8 : 0;
      bin[i] = t + 1;
      if (random.uniform() < 0.04 * Math.exp(0.5 * x[i * D] + late)) event[i] = 1;
    }
  }
  return { x, binned: { T, bin, event } };
}

const { x, binned } = draw();
const first = fitAdditiveStart({
  T,
  bin: binned.bin.subarray(0, TRAINED),
  event: binned.event.subarray(0, TRAINED),
  x: x.subarray(0, TRAINED * D),
  D,
  groups: told,
});
const spec = {
  kind: "anchored",
  D,
  T,
  H: 1,
  groups: told,
  baselineHazard: Array.from(first.baselineHazard),
} as const;
const start = {
  baseline: Array.from(logitsOfHazards(T, first.baselineHazard)),
  skip: Array.from(first.slopes),
  groupOffsets: Array.from(first.offsets),
  "lstm.output": [0],
};
const rows = { binned: { T, bin: new Int32Array(), event: new Uint8Array() }, groups: [] };
const input: RefitInput = {
  // Only whether there are any is asked for: the rows are gathered.
  validation: rows as unknown as RefitInput["validation"],
  start,
  spec,
  told,
  splines: [],
  precisions: first.precisions,
  solvedOn: "training and validation rows",
};
const gathered = { binned, groups: [], x, D, logits: new Float64Array(), first: new Float64Array() };
const trained = {
  ...start,
  skip: start.skip.map((slope, d) => slope + (d === 1 ? 0.3 : 0)),
  "lstm.output": [0.7],
};
const source = { spec, parameters: trained, precisions: first.precisions, splines: [] };

test("the start is that of all rows, on the network's knots; what training added to it stays", () => {
  const refitted = finishTurns(refitStart(input, { gathered, parameters: trained, source }));
  const alone = fitAdditiveStart({ ...binned, x, D, groups: told, knotHazard: spec.baselineHazard });
  const parameters = refitted?.parameters ?? {};
  expect(Object.keys(parameters)).toEqual(Object.keys(trained));
  expect(parameters["lstm.output"]).toEqual([0.7]);
  parameters.skip.forEach((slope, d) => {
    expect(slope).toBeCloseTo(alone.slopes[d] + (d === 1 ? 0.3 : 0), 3);
  });
  parameters.groupOffsets.forEach((offset, k) => {
    expect(offset).toBeCloseTo(alone.offsets[k], 2);
  });
  logitsOfHazards(T, alone.baselineHazard).forEach((logit, t) => {
    expect(parameters.baseline[t]).toBeCloseTo(logit, 2);
  });
  // The rows it had not seen have moved it.
  expect(Math.abs(alone.slopes[0] - first.slopes[0])).toBeGreaterThan(0.004);
  expect(refitted?.precisions?.level).toHaveLength(told + 1);
});

test.each([
  ["no start", { start: null }],
  ["no validation rows", { validation: null }],
  ["a solve on the training rows", { solvedOn: "training rows" }],
] as const)("%s: nothing to fit again", (_, change) => {
  expect(
    finishTurns(refitStart({ ...input, ...change }, { gathered, parameters: trained, source })),
  ).toBeNull();
});
