// The parameters a description promises, against those of the network that is built from it.
import { describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { createNetwork } from "../../src/models/networks/create-network.ts";
import type { NetworkSpec } from "../../src/models/networks/list.ts";
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

describe("a network's description", () => {
  test.each(specs)("%j", (spec) => {
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
