// The parameters a description promises, against those of the network that is built from it.
import { describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { createNetwork } from "../../src/models/networks/create-network.ts";
import type { NetworkSpec, SingleNetworkSpec } from "../../src/models/networks/list.ts";
import {
  countParameters,
  listParameters,
  networkSpecSchema,
  parameterShapes,
} from "../../src/models/networks/network-spec.ts";

const baselineHazard = [0.1, 0.2, 0.3, 0.4];
const sizes = { D: 3, T: 4 };
const specs: NetworkSpec[] = [
  { kind: "drsa", ...sizes },
  { kind: "drsa", ...sizes, H: 1 },
  { kind: "anchored", ...sizes, baselineHazard },
  { kind: "anchored", ...sizes, H: 5, baselineHazard },
  { kind: "anchored", ...sizes, H: 0, baselineHazard },
  { kind: "anchored", ...sizes, H: 5, baselineHazard, lstm: false },
  { kind: "mlp", ...sizes },
  { kind: "mlp", ...sizes, hidden: [] },
  { kind: "mlp", ...sizes, hidden: [7, 2], baselineHazard },
  { kind: "linear", ...sizes },
  { kind: "linear", ...sizes, baselineHazard },
  {
    kind: "mean",
    ...sizes,
    members: [
      { kind: "linear", ...sizes },
      { kind: "anchored", ...sizes, H: 2, baselineHazard },
    ],
  },
];

const causes = 2;
const hazards = [...baselineHazard, 0.4, 0.3, 0.2, 0.1];
const singles: SingleNetworkSpec[] = [
  { kind: "drsa", ...sizes, causes, H: 5 },
  { kind: "anchored", ...sizes, causes, H: 5, baselineHazard: hazards, groups: 2 },
  { kind: "anchored", ...sizes, causes, H: 0, baselineHazard: hazards },
  { kind: "mlp", ...sizes, causes, hidden: [7], baselineHazard: hazards },
  { kind: "linear", ...sizes, causes },
];
const members = singles.slice(1, 3);
const ofCauses: NetworkSpec[] = [
  ...singles,
  { kind: "mean", ...sizes, causes, members },
  { kind: "held", ...sizes, causes, base: singles[4], blocks: [1, 4], chances: 0 },
  {
    kind: "held",
    ...sizes,
    causes,
    base: { kind: "mean", ...sizes, causes, members },
    blocks: [2, 4],
    chances: 2,
  },
];

describe("a network's description", () => {
  test("causes come before the shape of one event", () => {
    const shapesOf = (spec: NetworkSpec) => Object.fromEntries(parameterShapes(spec));
    expect(shapesOf(singles[1])).toMatchObject({
      "lstm.output": [2, 5],
      "lstm.outputBias": [2],
      baseline: [2, 4],
      skip: [2, 3],
      groupOffsets: [2, 2, 6],
    });
    expect(shapesOf(singles[3])).toMatchObject({ "dense1.weight": [8, 7], "dense1.bias": [8] });
    expect(shapesOf(ofCauses[7])).toMatchObject({
      "held.baseline": [2, 4],
      "held.coefficients": [2, 5, 2],
      "held.membership": [2, 4],
    });
  });

  test.each([
    [{ kind: "drsa", ...sizes, causes: 1 }, /expected number to be >=2/],
    [{ kind: "drsa", ...sizes, causes: 256 }, /expected number to be <=255/],
    [{ kind: "drsa", ...sizes, causes: 2.5 }, /expected int/],
    [{ kind: "linear", ...sizes, causes, baselineHazard }, /expected one baseline hazard a bin/],
    [{ kind: "linear", ...sizes, baselineHazard: hazards }, /expected one baseline hazard a bin/],
    [
      { kind: "mlp", ...sizes, causes, baselineHazard: hazards.map((h) => 2 * h) },
      /sum over the causes is below 1/,
    ],
    [{ kind: "mean", ...sizes, members: singles }, /members with the same number of causes/],
    [
      { kind: "held", ...sizes, base: singles[0], blocks: [4], chances: 0 },
      /network with the same number of causes/,
    ],
  ])("%j is refused", (spec, message) => {
    expect(networkSpecSchema.safeParse(spec).error?.message).toMatch(message);
  });

  test.each([...specs, ...ofCauses])("%j", (spec) => {
    const { parameters } = createNetwork(createReferenceBackend(), spec, 1);
    expect([...parameterShapes(spec)]).toEqual(parameters.map(({ name, shape }) => [name, shape]));
    expect(listParameters(spec)).toEqual(
      parameters.map(({ name, shape, decays }) => ({ name, shape, decays })),
    );
    expect(countParameters(spec)).toBe(parameters.reduce((sum, { values }) => sum + values.length, 0));
    expect(networkSpecSchema.parse(JSON.parse(JSON.stringify(spec)))).toEqual(spec);
  });

  test.each([
    [[], /expected 1 to 100 networks/],
    [Array.from({ length: 101 }, () => ({ kind: "linear", ...sizes })), /expected 1 to 100 networks/],
    [[{ kind: "linear", D: 3, T: 5 }], /expected members with the same features and time bins/],
    [[{ kind: "mean", ...sizes, members: [{ kind: "linear", ...sizes }] }], /kind/],
    ["two", /expected 1 to 100 networks/],
  ])("a mean of %j is none", (members, message) => {
    const result = networkSpecSchema.safeParse({ kind: "mean", ...sizes, members });
    expect(result.error?.message).toMatch(message);
  });
});
