/**
 * Creates a network from its description, which is plain JSON and the same on every backend, so a network trained on
 * one can be opened on another.
 */
import type { Backend } from "../../compute/backend.ts";
import { FormatError } from "../../core/errors.ts";
import { createHeld } from "./held.ts";
import { findNetwork, NETWORK_NAMES, type NetworkSpec, type SingleNetworkSpec } from "./list.ts";
import { createMean } from "./mean.ts";
import type { Network, NetworkDefinition } from "./network.ts";

/** The same description, seed and precision give the same parameters. */
export function createNetwork(backend: Backend, spec: NetworkSpec, seed: number): Network {
  if (spec.kind === "held") return createHeld(backend, spec, createNetwork(backend, spec.base, seed));
  if (spec.kind !== "mean") return requireNetwork(spec.kind).create(backend, spec, seed);
  return createMean(
    backend,
    spec.members.map((member) => createNetwork(backend, member, seed)),
  );
}

/** The definition of a kind, or an error that lists the known kinds. */
export function requireNetwork(kind: string): NetworkDefinition<SingleNetworkSpec> {
  const found = findNetwork(kind);
  if (found !== null) return found;
  const have = [...NETWORK_NAMES, "mean", "held"].join(", ");
  throw new FormatError(`unknown network: ${JSON.stringify(kind)} (have ${have})`, {
    code: "network.unknown",
  });
}
