/** The WebGPU backend in a page or one of its workers. It shares no memory, so the page need not be isolated. */
import type { Gpu } from "../compute/webgpu/gpu.ts";
import { openOn, type WebGpuBackendOptions } from "../compute/webgpu/open-device.ts";
import type { WebGpuBackend } from "../compute/webgpu/webgpu-backend.ts";
import { BackendError } from "../core/errors.ts";

const HINT = "the wasm backend computes on the processor";

/** Opens the graphics device of a page; close the backend when done. */
export async function openWebGpuBackend(options: WebGpuBackendOptions = {}): Promise<WebGpuBackend> {
  const { gpu } = navigator as unknown as { readonly gpu?: Gpu };
  if (gpu === undefined) {
    throw new BackendError("this browser does not have WebGPU, or not on this page", {
      code: "gpu.unsupported",
      hint: `serve the page over https or from localhost; ${HINT}`,
    });
  }
  return openOn(gpu, options, HINT);
}
