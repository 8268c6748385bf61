/**
 * What went wrong on a device, which is known only some time after it was asked for: the first failure is kept, and
 * every later call is refused with it.
 */
import { BackendError } from "../../core/errors.ts";
import type { GpuDevice } from "./gpu.ts";

export interface DeviceState {
  /** Throws what went wrong earlier, if anything did. */
  check(): void;
  /** Keeps a failure, unless there is one already, and gives the one that is kept. */
  fail(error: BackendError): BackendError;
  close(): void;
}

export function createLostError(what: string): BackendError {
  return new BackendError(`the graphics device was lost: ${what}`, {
    code: "device.lost",
    hint: "go on from the last checkpoint on the processor: --resume <checkpoint> --backend wasm",
  });
}

function createDeviceError(message: string): BackendError {
  if (!/out of memory|allocat/i.test(message)) {
    return new BackendError(`the graphics device refused: ${message}`, { code: "device.failed" });
  }
  return new BackendError("the graphics device has too little memory", {
    code: "device.memory",
    hint: "fewer rows a step (--batch), bins or hidden units, or --backend wasm",
  });
}

export function watchDevice(device: GpuDevice): DeviceState {
  let failure: BackendError | null = null;
  let closed = false;
  function fail(error: BackendError): BackendError {
    failure ??= error;
    return failure;
  }
  device.lost.then(({ message }) => {
    if (!closed) fail(createLostError(message || "no reason was given"));
  });
  device.addEventListener("uncapturederror", ({ error }) => fail(createDeviceError(error.message)));
  return {
    check() {
      if (closed) throw new BackendError("this backend is closed", { code: "backend.closed" });
      if (failure !== null) throw failure;
    },
    fail,
    close() {
      if (closed) return;
      closed = true;
      device.destroy();
    },
  };
}
