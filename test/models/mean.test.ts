// The mean of networks: fractions worked by hand, and hazards of nearly 0 and 1.
import { expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { BackendError } from "../../src/core/errors.ts";
import { createNetwork } from "../../src/models/networks/create-network.ts";
import type { LinearSpec } from "../../src/models/networks/linear.ts";
import type { Network } from "../../src/models/networks/network.ts";
import { survivalCurves } from "../../src/objectives/curves.ts";
import { place } from "../compute/problems.ts";

const backend = createReferenceBackend();

async function logitsOf(network: Network, x: readonly number[], N: number) {
  const logits = place(backend, new Array(N * network.T).fill(7)); // overwritten, not added to
  await network.forward(place(backend, x), N, logits, null);
  return backend.read(logits);
}

/** Parameters by the end of their name. */
function setAll(network: Network, name: string, values: ArrayLike<number>): void {
  for (const one of network.parameters.filter((parameter) => parameter.name.endsWith(name))) {
    backend.write(one.values, values);
  }
}

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
  const logits = await logitsOf(mean, [0, 3], 2);
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
    setAll(member, "skip", slopes);
    setAll(mean, `${m + 1}.skip`, slopes);
  });
  const x = [0, 0, 1, 2, -3, 0.5, 40, -40];
  const curvesOf = async (network: Network) => {
    const logits = await logitsOf(network, x, 4);
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
  const logits = await logitsOf(mean, [0], 1);
  expect(Math.exp(logits[0]) / 2e-12).toBeCloseTo(1, 11);
  setAll(mean, "baseline", [900, 900]);
  expect([...(await logitsOf(mean, [0], 1))]).toEqual([69, 69]);
  setAll(mean, "baseline", [-900, -900]);
  expect([...(await logitsOf(mean, [0], 1))]).toEqual([-69, -69]);
});

test("it is not trained as a whole", async () => {
  const mean = meanOf([[0.5], [0.2]]);
  expect(() => mean.createActivations()).toThrow(BackendError);
  await expect(mean.backward({ rows: 1 }, backend.allocate(1))).rejects.toThrow(BackendError);
});
