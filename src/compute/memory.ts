/**
 * A backend's memory as those who use a backend see it. A scope is memory for one piece of work: everything allocated
 * through it is freed at once when it ends, so that a long-lived backend can train and predict any number of times in
 * the memory of the largest piece. A mirror is an array as the host reads and writes it: the array itself where memory
 * is shared, and pulling and pushing do nothing; elsewhere a copy, pulled before it is read and pushed after it is
 * written. This is the one place that knows the difference.
 */
import type { Backend, DeviceArray, Floats, LstmTape, PassShape } from "./backend.ts";

/** Computes as the backend it was opened on does; scopes can be opened on scopes. */
export class BackendScope implements Backend {
  readonly #lender: Backend;
  readonly #taken = new Set<DeviceArray | LstmTape>();

  constructor(lender: Backend) {
    this.#lender = lender;
  }

  get name() {
    return this.#lender.name;
  }
  get precision() {
    return this.#lender.precision;
  }
  get threads() {
    return this.#lender.threads;
  }
  get adapter() {
    return this.#lender.adapter;
  }
  /** What it allocates is released by whoever opened it, not by the scope. */
  get training() {
    return this.#lender.training;
  }

  get rowKernels() {
    return this.#lender.rowKernels;
  }

  /** Frees everything not yet released: nothing may use it after this. The backend stays open. */
  end(): void {
    for (const memory of this.#taken) this.#lender.release(memory);
    this.#taken.clear();
  }

  allocate(length: number) {
    const array = this.#lender.allocate(length);
    this.#taken.add(array);
    return array;
  }
  createTape() {
    const tape = this.#lender.createTape();
    this.#taken.add(tape);
    return tape;
  }
  release(memory: DeviceArray | LstmTape) {
    this.#lender.release(memory);
    this.#taken.delete(memory);
  }

  rowsAtOnce(pass: PassShape) {
    return this.#lender.rowsAtOnce(pass);
  }
  read(...given: Parameters<Backend["read"]>) {
    return this.#lender.read(...given);
  }
  write(...given: Parameters<Backend["write"]>) {
    this.#lender.write(...given);
  }
  clear(...given: Parameters<Backend["clear"]>) {
    this.#lender.clear(...given);
  }
  view(array: DeviceArray) {
    return this.#lender.view(array);
  }
  gatherRows(...given: Parameters<Backend["gatherRows"]>) {
    this.#lender.gatherRows(...given);
  }
  lstmForward(...given: Parameters<Backend["lstmForward"]>) {
    return this.#lender.lstmForward(...given);
  }
  lstmBackward(...given: Parameters<Backend["lstmBackward"]>) {
    return this.#lender.lstmBackward(...given);
  }
  denseForward(...given: Parameters<Backend["denseForward"]>) {
    return this.#lender.denseForward(...given);
  }
  denseBackward(...given: Parameters<Backend["denseBackward"]>) {
    return this.#lender.denseBackward(...given);
  }
  additiveForward(...given: Parameters<Backend["additiveForward"]>) {
    return this.#lender.additiveForward(...given);
  }
  additiveBackward(...given: Parameters<Backend["additiveBackward"]>) {
    return this.#lender.additiveBackward(...given);
  }
  /** Closes the backend that the scope was opened on. */
  close() {
    return this.#lender.close();
  }
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
