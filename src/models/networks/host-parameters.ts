/**
 * A network's parameters as the host works on them: weights and gradients in mirrors (compute/memory.ts), in the
 * backend's own precision. The optimiser, the norm clip and the average of weights run here. Gradients are pulled after
 * a backward pass and weights pushed after a step; where memory is shared, neither does anything. A device with its own
 * optimiser replaces this.
 */
import type { Floats } from "../../compute/backend.ts";
import { type HostMirror, mirrorArray } from "../../compute/memory.ts";
import type { Network, ParameterShape } from "./network.ts";
import { findParameters, type ParameterValues } from "./parameters.ts";

/** One array of weights with its gradient, accessible to the host. */
export interface HostParameter extends ParameterShape {
  readonly values: Floats;
  readonly gradient: Floats;
}

/** The parameters of a network where this thread can read and write them. */
export interface HostParameters {
  readonly list: readonly HostParameter[];
  /** A copy of the weights. */
  read(): ParameterValues;
  /** Writes all weights, on the device too, or none when anything does not fit. */
  write(from: Readonly<Record<string, ArrayLike<number>>>): void;
  /** Copies the gradients from the backend. */
  pullGradients(): Promise<void>;
  /** Copies the values to the backend. */
  pushValues(): void;
}

/** Mirrors a network's parameters on any backend; where memory is shared, nothing is copied. */
export async function mirrorParameters(
  network: Pick<Network, "backend" | "parameters">,
): Promise<HostParameters> {
  const { backend, parameters } = network;
  const values = parameters.map((one) => mirrorArray(backend, one.values));
  const gradients = parameters.map((one) => mirrorArray(backend, one.gradient));
  const list = parameters.map(
    ({ name, shape, decays }, k): HostParameter => ({
      name,
      shape,
      decays,
      values: values[k].values,
      gradient: gradients[k].values,
    }),
  );
  const pull = async (mirrors: readonly HostMirror[]) => {
    for (const mirror of mirrors) await mirror.pull();
  };
  const pushValues = () => {
    for (const mirror of values) mirror.push();
  };
  await pull(values);
  return {
    list,
    read: () => Object.fromEntries(list.map((one) => [one.name, Array.from(one.values)])),
    write(from) {
      findParameters(list, from).forEach((found, k) => {
        list[k].values.set(found);
      });
      pushValues();
    },
    pullGradients: () => pull(gradients),
    pushValues,
  };
}
