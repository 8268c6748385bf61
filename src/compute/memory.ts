/**
 * A backend's memory as those who use a backend see it. A scope is memory for one piece of work: everything allocated
 * through it is freed at once when it ends, so that a long-lived backend can train and predict any number of times in
 * the memory of the largest piece. A mirror is an array as the host reads and writes it: the array itself where memory
 * is shared, and pulling and pushing do nothing; elsewhere a copy, pulled before it is read and pushed after it is
 * written. This is the one place that knows the difference.
 */
import type { Backend, DeviceArray, Floats, LstmTape } from "./backend.ts";

/** Computes as the backend it was opened on does, which `close` closes; scopes can be opened on scopes. */
export interface BackendScope extends Backend {
  /** Frees everything not yet released: nothing may use it after this. The backend stays open. */
  end(): void;
}

export function openScope(lender: Backend): BackendScope {
  const taken = new Set<DeviceArray | LstmTape>();
  function take<Memory extends DeviceArray | LstmTape>(memory: Memory): Memory {
    taken.add(memory);
    return memory;
  }
  return {
    ...lender,
    allocate: (length) => take(lender.allocate(length)),
    createTape: () => take(lender.createTape()),
    release(memory) {
      lender.release(memory);
      taken.delete(memory);
    },
    end() {
      for (const memory of taken) lender.release(memory);
      taken.clear();
    },
  };
}

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
