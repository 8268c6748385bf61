// The parameters a description promises, against those of the network that is built from it.
import { describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { createNetwork, type NetworkSpec } from "../../src/models/create-network.ts";
import { networkSpecSchema, parameterShapes } from "../../src/models/network-spec.ts";

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
];

describe("a network's description", () => {
  test.each(specs)("%j", (spec) => {
    const { parameters } = createNetwork(createReferenceBackend(), spec, 1);
    expect([...parameterShapes(spec)]).toEqual(parameters.map(({ name, shape }) => [name, shape]));
    expect(networkSpecSchema.parse(JSON.parse(JSON.stringify(spec)))).toEqual(spec);
  });
});
