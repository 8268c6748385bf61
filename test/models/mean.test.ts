// The mean of networks: fractions worked by hand, and hazards of nearly 0 and 1.
import { expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { BackendError } from "../../src/core/errors.ts";
import { createNetwork, type LinearSpec } from "../../src/models/networks/create-network.ts";
import { survivalCurves } from "../../src/objectives/curves.ts";

const backend = createReferenceBackend();

/** Members that know a baseline hazard only. */
function meanOf(hazards: readonly (readonly number[])[]) {
  const T = hazards[0].length;
  const members = hazards.map((baselineHazard): LinearSpec => ({ kind: "linear", D: 1, T, baselineHazard }));
  return createNetwork(backend, { kind: "mean", D: 1, T, members }, 1);
}

test("hazards 1/2, 1/2 and 1/4, 1/5: alive 5/8 and 17/40, so odds of 3/5 and 8/17", async () => {
  const mean = meanOf([
    [1 / 2, 1 / 2],
    [1 / 4, 1 / 5],
  ]);
  const logits = new Float64Array(4).fill(7);
  await mean.forward(new Float64Array([0, 3]), 2, logits);
  const odds = Array.from(logits, Math.exp);
  [3 / 5, 8 / 17, 3 / 5, 8 / 17].forEach((value, k) => {
    expect(odds[k]).toBeCloseTo(value, 14);
  });
  const survival = new Float64Array(4);
  survivalCurves(logits, 2, 2, survival);
  expect(survival[1]).toBeCloseTo(17 / 40, 14);
});

test("the mean curve is the mean of the members' curves at any x", async () => {
  const specs: LinearSpec[] = [0.05, 0.2, 0.6].map((h) => ({
    kind: "linear",
    D: 2,
    T: 5,
    baselineHazard: [h, h / 2, h, h / 3, h],
  }));
  const members = specs.map((spec) => createNetwork(backend, spec, 1));
  const mean = createNetwork(backend, { kind: "mean", D: 2, T: 5, members: specs }, 1);
  members.forEach((member, m) => {
    const slopes = [0.5 * m, -1 + m];
    member.parameters.find(({ name }) => name === "skip")?.values.set(slopes);
    mean.parameters.find(({ name }) => name === `${m + 1}.skip`)?.values.set(slopes);
  });
  const x = new Float64Array([0, 0, 1, 2, -3, 0.5, 40, -40]);
  const curvesOf = async (network: (typeof members)[number]) => {
    const logits = new Float64Array(20);
    await network.forward(x, 4, logits);
    const survival = new Float64Array(20);
    survivalCurves(logits, 4, 5, survival);
    return survival;
  };
  const each = await Promise.all(members.map(curvesOf));
  (await curvesOf(mean)).forEach((value, k) => {
    expect(Math.abs(value - (each[0][k] + each[1][k] + each[2][k]) / 3)).toBeLessThan(1e-15);
  });
});

test("hazards of 1e-12 keep their digits, and logits stay finite where all have died", async () => {
  const mean = meanOf([
    [1e-12, 0.5],
    [3e-12, 0.5],
  ]);
  const logits = new Float64Array(2);
  await mean.forward(new Float64Array(1), 1, logits);
  expect(Math.exp(logits[0]) / 2e-12).toBeCloseTo(1, 11);
  for (const one of mean.parameters.filter(({ name }) => name.endsWith("baseline"))) one.values.fill(900);
  await mean.forward(new Float64Array(1), 1, logits);
  expect([...logits]).toEqual([69, 69]);
  for (const one of mean.parameters.filter(({ name }) => name.endsWith("baseline"))) one.values.fill(-900);
  await mean.forward(new Float64Array(1), 1, logits);
  expect([...logits]).toEqual([-69, -69]);
});

test("it is not trained as a whole", async () => {
  const mean = meanOf([[0.5], [0.2]]);
  await expect(mean.backward(new Float64Array(1), 1, new Float64Array(1))).rejects.toThrow(BackendError);
});
