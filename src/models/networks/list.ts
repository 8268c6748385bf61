/**
 * All networks in one list, from which names, descriptions, file schemas, parameters and creation derive. A new network
 * is its own file and a line here; code that must handle each kind separately (files/onnx/predictor.ts) then fails to
 * compile until it does. The mean of networks and the held network are made of these and are not
 * among them.
 */
import { anchored } from "./anchored.ts";
import { drsa } from "./drsa.ts";
import type { HeldSpec } from "./held.ts";
import { linear } from "./linear.ts";
import type { MeanSpec } from "./mean.ts";
import { mlp } from "./mlp.ts";
import type { NetworkDefinition } from "./network.ts";

/** The default first. */
export const NETWORKS = [anchored, drsa, mlp, linear] as const;

type Definitions = typeof NETWORKS;

/** A network that is trained by itself. */
export type SingleNetworkSpec = Parameters<Definitions[number]["create"]>[1];

/** Everything needed to rebuild a network, as plain data. */
export type NetworkSpec = SingleNetworkSpec | MeanSpec | HeldSpec;

export type NetworkName = Definitions[number]["kind"];

/** The values of --network. */
export const NETWORK_NAMES: readonly NetworkName[] = NETWORKS.map(({ kind }) => kind);

/** The definition of a kind; null for one that is not in the list. */
export function findNetwork(kind: string): NetworkDefinition<SingleNetworkSpec> | null {
  const found = NETWORKS.find((one) => one.kind === kind);
  // Each definition takes only its own kind of description, which is the kind it was found by.
  return (found as NetworkDefinition<SingleNetworkSpec> | undefined) ?? null;
}
