/**
 * An array of a backend as the host reads and writes it. Where memory is shared, the mirror is the array itself, and
 * pulling and pushing do nothing. Where it is not, the mirror is a copy, pulled before it is read and pushed after it
 * is written. This is the one place that knows the difference: objectives, the optimiser and the mean of networks work
 * on mirrors on any backend.
 */
import type { Backend, DeviceArray, Floats } from "./backend.ts";

export interface HostMirror {
  /** In the backend's own precision. */
  readonly values: Floats;
  /** From the device to `values`. */
  pull(): Promise<void>;
  /** From `values` to the device. */
  push(): void;
}

/** A copy holds zeros until it is pulled. */
export function mirrorArray(backend: Backend, array: DeviceArray): HostMirror {
  const view = backend.view(array);
  if (view !== null) return { values: view, pull: async () => {}, push: () => {} };
  const values =
    backend.precision === "f32" ? new Float32Array(array.length) : new Float64Array(array.length);
  return {
    values,
    pull: async () => values.set(await backend.read(array)),
    push: () => backend.write(array, values),
  };
}
