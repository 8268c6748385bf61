/**
 * Memory for one piece of work: everything allocated through a scope is freed at once when the scope ends. A long-lived
 * backend can thus train and predict any number of times in the memory of the largest piece. A scope computes as the
 * backend it was opened on does, and scopes can be opened on scopes.
 */
import type { Backend, DeviceArray, LstmTape, PassShape } from "./backend.ts";

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
