/**
 * One of a network's K causes as a network of its own: z_k alone. Of a network that is trained by itself it has the
 * same shape without causes and the parameters of that cause, with everything inside shared; of any network it is a
 * view that runs the whole and takes one cause's logits. So what works on hazards of one kind of event works on each
 * cause.
 */
import type { Backend, DeviceArray } from "../../compute/backend.ts";
import { mirrorArray } from "../../compute/memory.ts";
import { countNumbers } from "../../compute/shapes.ts";
import { BackendError } from "../../core/errors.ts";
import { createNetwork } from "./create-network.ts";
import { createHeld } from "./held.ts";
import type { NetworkSpec, SingleNetworkSpec } from "./list.ts";
import type { Network } from "./network.ts";
import { listParameters } from "./network-spec.ts";
import { type ParameterValues, writeParameters } from "./parameters.ts";

/** The description of one cause's network. Its hazards are those of all causes, by which knots are placed. */
export function causeSpec(spec: SingleNetworkSpec): SingleNetworkSpec {
  const { causes, ...alone } = spec;
  if (causes === undefined || !("baselineHazard" in alone) || alone.baselineHazard === undefined) {
    return alone as SingleNetworkSpec;
  }
  const { baselineHazard: hazards, T } = alone;
  const total = Array.from({ length: T }, (_, t) =>
    Array.from({ length: causes }, (_one, k) => hazards[k * T + t]).reduce((sum, one) => sum + one, 0),
  );
  return { ...alone, baselineHazard: total } as SingleNetworkSpec;
}

/** The parameters of cause k (from 0): its part of those that differ between causes, the others as they are. */
export function causeParameters(
  spec: SingleNetworkSpec,
  parameters: ParameterValues,
  k: number,
): ParameterValues {
  return Object.fromEntries(
    listParameters(causeSpec(spec)).map(({ name, shape }) => {
      const values = parameters[name];
      const size = countNumbers(shape);
      return [name, values.length === size ? values : values.slice(k * size, (k + 1) * size)];
    }),
  );
}

/** The parameters of all causes from those of each. */
export function joinCauseParameters(
  spec: SingleNetworkSpec,
  ofCauses: readonly ParameterValues[],
): ParameterValues {
  return Object.fromEntries(
    listParameters(spec).map(({ name, shape }) => {
      const isShared = ofCauses[0][name].length === countNumbers(shape);
      return [name, isShared ? ofCauses[0][name] : ofCauses.flatMap((one) => one[name])];
    }),
  );
}

/** The logits of cause k of a network of several. */
export function viewCause(whole: Network, k: number): Network {
  const { D, T, K, backend } = whole;
  let own: DeviceArray = backend.allocate(0);
  return {
    ...whole,
    K: 1,
    createActivations: refuseTraining,
    async forward(x, N, logits) {
      if (own.length < N * K * T) {
        backend.release(own);
        own = backend.allocate(N * K * T);
      }
      await whole.forward(x, N, own, null);
      const all = mirrorArray(backend, own);
      await all.pull();
      const picked = new Float64Array(N * T);
      for (let n = 0; n < N; n++) {
        picked.set(all.values.subarray((n * K + k) * T, (n * K + k + 1) * T), n * T);
      }
      backend.write(logits, picked);
    },
    backward: async () => refuseTraining(),
    D,
  };
}

/** Opens networks of cause k: those of several causes as a view, with a layer of that cause alone on top. */
export function openCause(
  backend: Backend,
  k: number,
): (spec: NetworkSpec, parameters: ParameterValues) => Network {
  const open = (spec: NetworkSpec): { readonly network: Network; readonly written: Network } => {
    if (spec.kind === "held") {
      const base = open(spec.base);
      const network = createHeld(backend, spec, base.network);
      return { network, written: network };
    }
    const network = createNetwork(backend, spec, 0);
    return { network: network.K === 1 ? network : viewCause(network, k), written: network };
  };
  return (spec, parameters) => {
    const { network, written } = open(spec);
    writeParameters(written, parameters);
    return network;
  };
}

function refuseTraining(): never {
  throw new BackendError("one cause of a network is not trained by itself", { code: "network.cause" });
}
